/* The choice of what is computed again, and recipes for it. */
#include "symbol/passes/remat.h"

#include <string.h>

#include "array/copy.h"
#include "array/remake.h"
#include "base/env.h"
#include "base/memory/mem.h"
#include "engine/run/run.h"
#include "symbol/fast.h"

/* How many operators in a row are computed again at most. What they give is in memory together, so
 * a long chain of residual sums would be there as a whole when its end is asked for. */
enum { LONGEST = 6 };

/* ---- the graph ---- */

struct mxl_remat {
    size_t bytes;
    bool *cheap; /* [nodes] */
    bool *saved; /* [entries]: a rule reads it, as an input or an output of its node */
    bool *stays; /* [entries]: others than nodes of the tape may read it */
};

static bool is_cheap(const mxl_graph_node *node)
{
    const mxl_op *op = node->op;

    if (op == NULL || node->num_inputs == 0 || node->visible != 1 || node->held != NULL ||
        op->graphs > 0 || op->fails_late || (op->draws && node->outputs > 1))
        return false;
    for (int i = 0; i < node->num_inputs; i++) {
        const mxl_call call = {.op = op, .params = node->params, .num_inputs = node->num_inputs};

        if (mxl_run_mutates(&call, i))
            return false;
    }
    return op->cheap || op->kernels != NULL || op->plan != NULL;
}

/* Marks what the rule of a node reads if gradients of all inputs are wanted. Of a composite, which
 * is recorded as its parts, nothing is known. */
static int mark_saved(mxl_remat *remat, const mxl_indexed *graph, int n)
{
    const mxl_graph_node *node = graph->walk.node[n];
    size_t in = (size_t)node->num_inputs, count = 2 * in + (size_t)node->outputs;
    bool *flags;
    mxl_saves saves = {.op = node->op,
                       .params = node->params,
                       .num_inputs = node->num_inputs,
                       .num_outputs = node->outputs,
                       .training = true};

    if (node->op->saves == NULL)
        return 0;
    flags = mxl_alloc_zero(count + 1);
    if (flags == NULL)
        return -1;
    memset(flags, 1, in);
    saves.wants = flags;
    saves.in = flags + in;
    saves.out = flags + 2 * in;
    node->op->saves(&saves);
    for (int i = 0; i < node->num_inputs; i++)
        remat->saved[graph->input[graph->args[n] + i]] |= saves.in[i];
    for (int i = 0; i < node->outputs; i++)
        remat->saved[graph->first[n] + i] |= saves.out[i];
    mxl_free(flags, count + 1);
    return 0;
}

static int look_at(mxl_remat *remat, const mxl_indexed *graph)
{
    for (int n = 0; n < graph->walk.count; n++) {
        const mxl_graph_node *node = graph->walk.node[n];

        if (node->op == NULL)
            continue;
        remat->cheap[n] = is_cheap(node);
        if (mark_saved(remat, graph, n) != 0)
            return -1;
        for (int i = graph->args[n]; i < graph->args[n + 1]; i++)
            remat->stays[graph->input[i]] |= node->held != NULL || node->op->graphs > 0;
    }
    for (int i = 0; i < graph->symbol->count; i++)
        remat->stays[graph->head[i]] = true;
    return 0;
}

int mxl_remat_begin(mxl_program *program)
{
    const mxl_indexed *graph = &program->graph;
    size_t nodes = (size_t)graph->walk.count, entries = (size_t)graph->entries;
    size_t bytes = sizeof(mxl_remat) + nodes + 2 * entries;
    mxl_remat *remat = mxl_alloc_zero(bytes);

    if (remat == NULL)
        return -1;
    remat->bytes = bytes;
    remat->cheap = (bool *)(remat + 1);
    remat->saved = remat->cheap + nodes;
    remat->stays = remat->saved + entries;
    if (look_at(remat, graph) != 0) {
        mxl_remat_end(remat);
        return -1;
    }
    program->remat = remat;
    return program->trains != NULL ? mxl_remat_begin(mxl_fast_inner(program->trains)) : 0;
}

void mxl_remat_end(mxl_remat *remat)
{
    if (remat != NULL)
        mxl_free(remat, remat->bytes);
}

bool mxl_remat_wanted(void)
{
    return mxl_env_number("MXNET_BACKWARD_DO_MIRROR", 0) > 0;
}

/* ---- recipes ---- */

typedef struct recipe recipe;

/* An input: an array, or, where nothing keeps that, a recipe. */
typedef struct ingredient {
    mxl_array *array; /* kept; an alias without an edge */
    uint64_t version; /* of its storage */
    bool may_change;  /* a statistic that backward moves, which the call does not read */
    recipe *of;       /* kept */
} ingredient;

/* A call that is made once more. */
struct recipe {
    mxl_remake remake;
    size_t bytes;
    const mxl_op *op;
    const void *params; /* behind the list */
    mxl_mode mode;
    int num_inputs, num_outputs;
    ingredient in[];
};

static void recipe_free(mxl_ref *ref)
{
    recipe *r = (recipe *)ref;

    for (int i = 0; i < r->num_inputs; i++) {
        mxl_array_release(r->in[i].array);
        mxl_ref_release(r->in[i].of == NULL ? NULL : &r->in[i].of->remake.ref);
    }
    mxl_free(r, r->bytes);
}

static int make(mxl_remake *remake, mxl_storage *storage);

/* Of a node, without its inputs; NULL with the error set. */
static recipe *recipe_new(const mxl_graph_node *node, int num_outputs, mxl_mode mode)
{
    size_t head = sizeof(recipe) + (size_t)node->num_inputs * sizeof(ingredient);
    size_t room = (head + 15) & ~(size_t)15;
    size_t params = node->op->params_size > 0 ? mxl_params_bytes(node->op, node->params) : 0;
    recipe *r = mxl_alloc_zero(room + params);

    if (r == NULL)
        return NULL;
    mxl_ref_init(&r->remake.ref, recipe_free);
    r->remake.make = make;
    r->bytes = room + params;
    r->op = node->op;
    r->mode = mode;
    r->mode.record = false;
    r->num_inputs = node->num_inputs;
    r->num_outputs = num_outputs;
    if (params > 0) {
        mxl_params_copy(node->op, (char *)r + room, node->params);
        r->params = (char *)r + room;
    }
    return r;
}

static mxl_array *follow(const recipe *r);

/* The array of input i; a new reference, NULL with the error set. */
static mxl_array *ingredient_get(const recipe *r, int i)
{
    const ingredient *from = &r->in[i];

    if (from->of != NULL)
        return follow(from->of);
    if (!from->may_change && mxl_storage_version(from->array->storage) != from->version)
        return mxl_error_null(
            "%s: its input %d was edited in place before backward, which computes "
            "its result again (remat); edit it after backward, or a copy",
            r->op->name, i);
    mxl_array_retain(from->array);
    return from->array;
}

/* Makes the call: result 0, a new reference, or NULL with the error set. At most LONGEST deep. */
static mxl_array *follow(const recipe *r)
{
    size_t count = (size_t)r->num_inputs + (size_t)r->num_outputs;
    mxl_array **list = mxl_alloc_zero(count * sizeof(*list)), **out, *result = NULL;
    int status = 0;

    if (list == NULL)
        return NULL;
    out = list + r->num_inputs;
    for (int i = 0; i < r->num_inputs && status == 0; i++) {
        list[i] = ingredient_get(r, i);
        status = list[i] != NULL ? 0 : -1;
    }
    if (status == 0)
        status = mxl_invoke(r->op, r->params, r->num_inputs, list, r->num_outputs, out, r->mode);
    if (status == 0) {
        result = out[0];
        out[0] = NULL;
    }
    for (size_t i = 0; i < count; i++)
        mxl_array_release(list[i]);
    mxl_free(list, count * sizeof(*list));
    return result;
}

/* The bytes of a storage that were let go. */
static int make(mxl_remake *remake, mxl_storage *storage)
{
    mxl_array *made = follow((recipe *)remake);
    const void *from;

    if (made == NULL)
        return -1;
    from = mxl_array_read(made);
    if (mxl_ref_is_unique(&made->ref) && mxl_ref_is_unique(&made->storage->ref) &&
        made->storage->bytes == storage->bytes && mxl_storage_is_exchangeable(made->storage) &&
        mxl_storage_extra(made->storage) != NULL) {
        mxl_storage_commit_from(storage, made->storage);
    } else {
        mxl_storage_commit(storage);
        memcpy(storage->data, from, storage->bytes);
    }
    mxl_array_release(made);
    return 0;
}

/* ---- one run ---- */

/* What becomes of an entry. */
typedef enum fate {
    KEPT,  /* a variable, or a node saves it */
    GONE,  /* no node saves it: a recipe that reads it must keep it */
    LOOSE, /* the same, but it can be computed again */
    AGAIN  /* a node saves it, and its bytes are let go */
} fate;

typedef struct entry {
    fate fate;
    int length;         /* LOOSE, AGAIN: of the longest chain that computes it */
    int64_t price;      /* LOOSE: bytes that are kept for that alone */
    recipe *recipe;     /* kept; LOOSE, AGAIN, until nobody reads the entry */
    mxl_array *waiting; /* kept; AGAIN: read by all, and expressions wait for it */
} entry;

struct mxl_remat_run {
    const mxl_remat *remat;
    const mxl_indexed *graph;
    mxl_mode mode;
    size_t bytes;
    int first, end; /* of entries that wait */
    entry entry[];
};

mxl_remat_run *mxl_remat_run_begin(const mxl_program *program, mxl_mode mode)
{
    size_t bytes = sizeof(mxl_remat_run) + (size_t)program->graph.entries * sizeof(entry);
    mxl_remat_run *run = mxl_alloc_zero(bytes);

    if (run == NULL)
        return NULL;
    run->remat = program->remat;
    run->graph = &program->graph;
    run->mode = mode;
    run->bytes = bytes;
    run->first = program->graph.entries;
    return run;
}

static int64_t bytes_of(const mxl_array *array)
{
    return array->size * (int64_t)mxl_dtype_size(array->dtype);
}

/* Whether the call gives the same from the same bytes, and these lie as they do later. */
static bool is_plain(int count, mxl_array *const *arrays)
{
    for (int i = 0; i < count; i++) {
        if (!mxl_array_is_dense(arrays[i]) || !arrays[i]->contiguous)
            return false;
    }
    return true;
}

/* Whether backward moves input i, a statistic. */
static bool may_change(const mxl_graph_node *node, int i, bool training)
{
    bool flags[3 * 8] = {false};
    mxl_saves saves = {.op = node->op,
                       .params = node->params,
                       .num_inputs = node->num_inputs,
                       .num_outputs = node->outputs,
                       .wants = flags,
                       .in = flags + 8,
                       .out = flags + 16,
                       .training = training};

    if (!node->op->grad_updates || node->op->is_state == NULL || node->num_inputs > 8 ||
        node->outputs > 8 || !node->op->is_state(node->params, i))
        return false;
    node->op->saves(&saves);
    return saves.in[i];
}

/* Gives a recipe its inputs: arrays that are kept anyway or for it alone, recipes of others. */
static int gather(const mxl_remat_run *run, recipe *r, int n, mxl_array *const *in)
{
    const mxl_indexed *graph = run->graph;

    for (int i = 0; i < r->num_inputs; i++) {
        const entry *from = &run->entry[graph->input[graph->args[n] + i]];

        if (from->fate == LOOSE) {
            r->in[i].of = from->recipe;
            mxl_ref_retain(&from->recipe->remake.ref);
            continue;
        }
        r->in[i].array = mxl_array_alias(in[i]);
        if (r->in[i].array == NULL)
            return -1;
        r->in[i].version = mxl_storage_version(in[i]->storage);
        r->in[i].may_change = may_change(graph->walk.node[n], i, run->mode.training);
    }
    return 0;
}

/* How much must be kept for a node's result to be computed again, and in how many calls. */
static void weigh(const mxl_remat_run *run, int n, mxl_array *const *in, entry *result)
{
    const mxl_indexed *graph = run->graph;

    result->length = 1;
    for (int i = graph->args[n]; i < graph->args[n + 1]; i++) {
        const entry *from = &run->entry[graph->input[i]];

        if (from->fate == GONE)
            result->price += bytes_of(in[i - graph->args[n]]);
        if (from->fate == LOOSE)
            result->price += from->price;
        if (from->length >= result->length && from->fate >= LOOSE)
            result->length = from->length + 1;
    }
}

/* Lets what waited go, where no expression needs it any more. */
static void let_go(mxl_remat_run *run, bool forced)
{
    int first = run->graph->entries, end = 0;

    for (int e = run->first; e < run->end; e++) {
        entry *waits = &run->entry[e];

        if (waits->waiting == NULL)
            continue;
        if (forced && mxl_storage_waits(waits->waiting->storage))
            mxl_storage_settle(waits->waiting->storage, true);
        if (mxl_storage_waits(waits->waiting->storage)) {
            first = e < first ? e : first;
            end = e + 1;
            continue;
        }
        (void)mxl_remake_later(waits->waiting->storage, &waits->recipe->remake);
        mxl_array_release(waits->waiting);
        waits->waiting = NULL;
        mxl_ref_release(&waits->recipe->remake.ref);
        waits->recipe = NULL;
    }
    run->first = first;
    run->end = end;
}

int mxl_remat_ran(mxl_remat_run *run, int n, mxl_array *const *in, mxl_array *const *value)
{
    const mxl_indexed *graph = run->graph;
    const mxl_graph_node *node = graph->walk.node[n];
    int at = graph->first[n], count = 0;
    entry *result = &run->entry[at];

    let_go(run, false);
    for (int i = 0; i < node->outputs; i++) {
        count += value[at + i] != NULL;
        run->entry[at + i].fate =
            run->remat->saved[at + i] || run->remat->stays[at + i] ? KEPT : GONE;
    }
    if (!run->remat->cheap[n] || run->remat->stays[at] || !is_plain(node->num_inputs, in) ||
        !is_plain(1, value + at))
        return 0;
    weigh(run, n, in, result);
    if (result->length > LONGEST ||
        (result->fate == KEPT &&
         (bytes_of(value[at]) <= result->price || value[at]->storage->bytes < MXL_OWN_BLOCK)))
        return 0;
    result->recipe = recipe_new(node, count, run->mode);
    if (result->recipe == NULL || gather(run, result->recipe, n, in) != 0)
        return -1;
    result->fate = result->fate == KEPT ? AGAIN : LOOSE;
    return 0;
}

void mxl_remat_left(mxl_remat_run *run, int e, mxl_array *array)
{
    entry *left = &run->entry[e];

    if (left->recipe == NULL)
        return;
    if (left->fate == AGAIN && array != NULL) {
        left->waiting = array;
        mxl_array_retain(array);
        run->first = e < run->first ? e : run->first;
        run->end = e >= run->end ? e + 1 : run->end;
        return;
    }
    mxl_ref_release(&left->recipe->remake.ref);
    left->recipe = NULL;
}

void mxl_remat_run_end(mxl_remat_run *run)
{
    if (run == NULL)
        return;
    let_go(run, true);
    for (int e = 0; e < run->graph->entries; e++) {
        if (run->entry[e].recipe != NULL)
            mxl_ref_release(&run->entry[e].recipe->remake.ref);
    }
    mxl_free(run, run->bytes);
}
