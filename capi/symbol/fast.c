/* See fast.h. */
#include "symbol/fast.h"

#include <stdatomic.h>

#include "base/map.h"
#include "base/memory/mem.h"
#include "engine/run/run.h"
#include "symbol/passes/passes.h"

/* The arrays that depend on no variable, of a mode of shapes. */
typedef struct values {
    bool legacy_shape;
    size_t bytes;
    int count;
    mxl_array *array[];
} values;

struct mxl_fast_program {
    mxl_program program;
    atomic_bool off;
    mxl_symbol *shown;      /* kept; the graph with its constants; NULL: that of `program` */
    mxl_program constants;  /* what makes them; has no graph if there are none */
    _Atomic(values *) made; /* NULL: not yet */
    size_t bytes;
    int variables;
    int from[]; /* [variables]: which input of the first program each is; -1, -2 ...: constants */
};

static void free_values(values *v)
{
    for (int i = 0; v != NULL && i < v->count; i++)
        mxl_array_release(v->array[i]);
    if (v != NULL)
        mxl_free(v, v->bytes);
}

void mxl_fast_free(struct mxl_fast_program *fast)
{
    if (fast == NULL)
        return;
    free_values(atomic_load(&fast->made));
    if (fast->constants.graph.symbol != NULL)
        mxl_program_end(&fast->constants);
    mxl_program_end(&fast->program);
    mxl_symbol_release(fast->shown);
    mxl_free(fast, fast->bytes);
}

/* Numbers the variables of a walk, in its order; -1 with the error set. */
static int number_variables(const mxl_node_walk *walk, mxl_map *numbers)
{
    int variables = 0;

    for (int n = 0; n < walk->count; n++) {
        void **slot;

        if (walk->node[n]->op != NULL)
            continue;
        slot = mxl_map_put(numbers, walk->node[n]);
        if (slot == NULL)
            return -1;
        *slot = (void *)(intptr_t)variables++;
    }
    return variables;
}

/* The program of a graph that passes have changed, whose variables had these numbers before. */
static struct mxl_fast_program *make(mxl_symbol *symbol, mxl_symbol *constants,
                                     const mxl_map *numbers, int variables)
{
    size_t bytes = sizeof(struct mxl_fast_program) + (size_t)variables * sizeof(int);
    struct mxl_fast_program *fast = mxl_alloc_zero(bytes);
    int at = 0;

    if (fast == NULL)
        return NULL;
    fast->bytes = bytes;
    if (mxl_program_begin(&fast->program, symbol) != 0 ||
        mxl_program_keep_forms(&fast->program) != 0 ||
        (constants != NULL && mxl_program_begin(&fast->constants, constants) != 0)) {
        mxl_fast_free(fast);
        return NULL;
    }
    for (int n = 0; n < fast->program.graph.walk.count; n++) {
        const mxl_graph_node *node = fast->program.graph.walk.node[n];

        if (node->op == NULL)
            fast->from[at++] = (int)(intptr_t)*mxl_map_find(numbers, node);
    }
    fast->variables = at;
    return fast;
}

/* 1: something has changed. */
static int run_passes(mxl_symbol *symbol)
{
    /* Dense layers take normalisations before these take functions. */
    static int (*const passes[])(mxl_symbol *) = {
        mxl_pass_layers,         mxl_pass_swap, mxl_pass_dense, mxl_pass_fuse,
#ifndef MXL_WITHOUT_SEQUENCES
        mxl_pass_attention,
#endif
#ifndef MXL_WITHOUT_QUANTIZED
        mxl_pass_join_quantized,
#endif
    };
    int changed = 0;

    for (size_t i = 0; i < sizeof(passes) / sizeof(*passes) && changed >= 0; i++) {
        int status = passes[i](symbol);

        changed = status < 0 ? -1 : changed | status;
    }
    return changed;
}

/* Whether nodes do more than compute: write into inputs, or call the user's functions. A run of the
 * program behind a failed one of the fast program would do that twice. */
static bool acts(const mxl_program *program)
{
    const mxl_node_walk *walk = &program->graph.walk;

    for (int n = 0; n < walk->count; n++) {
        const mxl_graph_node *node = walk->node[n];
        const mxl_call call = {
            .op = node->op, .params = node->params, .num_inputs = node->num_inputs};

        for (int i = 0; node->op != NULL && i < node->num_inputs; i++) {
            if (mxl_run_mutates(&call, i))
                return true;
        }
    }
    return program->calls_out;
}

/* The program of a graph that passes have changed (`changed`: 1; 0 if only constants may be taken
 * out of it); NULL in *made if that changes nothing. -1 with the error set. */
static int make_of(mxl_symbol *copy, int changed, bool folds, mxl_map *numbers, int variables,
                   struct mxl_fast_program **made)
{
    mxl_symbol *shown = NULL, *constants = NULL;
    int status = changed;

    if (folds) {
        int more;

        shown = mxl_symbol_copy(copy);
        more = shown != NULL ? mxl_pass_constants(copy, &constants, numbers) : -1;
        status = more < 0 ? -1 : status | more;
    }
    if (status > 0) {
        variables += constants != NULL ? constants->count : 0;
        *made = make(copy, constants, numbers, variables);
        status = *made != NULL ? 0 : -1;
    }
    if (*made != NULL && constants != NULL) {
        (*made)->shown = shown;
        shown = NULL;
    }
    mxl_symbol_release(constants);
    mxl_symbol_release(shown);
    return status;
}

int mxl_fast_make(const mxl_program *program, int (*passes)(mxl_symbol *symbol), bool folds,
                  struct mxl_fast_program **made)
{
    mxl_symbol *copy;
    mxl_map numbers = {0};
    mxl_node_walk walk = {0};
    int status = -1, variables = -1;

    *made = NULL;
    if (acts(program))
        return 0;
    copy = mxl_symbol_copy(program->graph.symbol);
    if (copy != NULL && mxl_walk_begin(&walk, copy) == 0)
        variables = number_variables(&walk, &numbers);
    if (variables >= 0)
        status = passes(copy);
    if (status >= 0)
        status = make_of(copy, status, folds, &numbers, variables, made);
    mxl_map_clear(&numbers);
    mxl_walk_end(&walk);
    mxl_symbol_release(copy);
    return status;
}

int mxl_fast_begin(mxl_program *program)
{
    return mxl_fast_make(program, run_passes, true, &program->fast);
}

void mxl_fast_end(mxl_program *program)
{
    mxl_fast_free(program->fast);
    program->fast = NULL;
}

/* NULL: there is none, or it is not to run. */
static struct mxl_fast_program *fast_of(const mxl_program *program)
{
    struct mxl_fast_program *fast = program->exact ? NULL : program->fast;

    return fast != NULL && !atomic_load_explicit(&fast->off, memory_order_relaxed) ? fast : NULL;
}

void mxl_fast_turn_off(const mxl_program *program)
{
    atomic_store_explicit(&program->fast->off, true, memory_order_relaxed);
}

const mxl_symbol *mxl_fast_symbol(const mxl_program *program)
{
    const struct mxl_fast_program *fast = fast_of(program);

    if (fast == NULL)
        return program->graph.symbol;
    return fast->shown != NULL ? fast->shown : fast->program.graph.symbol;
}

/* The constants, which the first run makes; NULL with the error set, or without one of another mode
 * of shapes. */
static const values *values_of(struct mxl_fast_program *fast, mxl_mode mode)
{
    int count = fast->constants.graph.symbol->count;
    values *v = atomic_load_explicit(&fast->made, memory_order_acquire), *none = NULL;

    if (v != NULL)
        return v->legacy_shape == mode.legacy_shape ? v : NULL;
    v = mxl_alloc_zero(sizeof(*v) + (size_t)count * sizeof(*v->array));
    if (v == NULL)
        return NULL;
    v->bytes = sizeof(*v) + (size_t)count * sizeof(*v->array);
    v->legacy_shape = mode.legacy_shape;
    if (mxl_program_run(&fast->constants, NULL, v->array, mode, NULL) != 0) {
        free_values(v);
        return NULL;
    }
    v->count = count;
    for (int i = 0; i < count; i++)
        (void)mxl_array_read(v->array[i]); /* it is computed before others see it */
    if (atomic_compare_exchange_strong(&fast->made, &none, v))
        return v;
    free_values(v); /* another thread was first */
    return none->legacy_shape == mode.legacy_shape ? none : NULL;
}

mxl_program *mxl_fast_inner(struct mxl_fast_program *fast)
{
    return &fast->program;
}

mxl_fast_result mxl_fast_call(struct mxl_fast_program *fast, mxl_array *const *inputs,
                              mxl_array **out, mxl_mode mode)
{
    const values *constants = NULL;
    mxl_array **list;
    size_t bytes;
    bool done;

    for (int i = 0; i < fast->variables; i++) {
        if (fast->from[i] >= 0 && inputs[fast->from[i]]->stype != MXL_DENSE)
            return MXL_FAST_NOT;
    }
    if (fast->constants.graph.symbol != NULL) {
        constants = values_of(fast, mode);
        if (constants == NULL)
            return MXL_FAST_NOT;
    }
    bytes = ((size_t)fast->variables + 1) * sizeof(*list);
    list = mxl_alloc(bytes);
    if (list == NULL)
        return MXL_FAST_NOT;
    for (int i = 0; i < fast->variables; i++)
        list[i] = fast->from[i] >= 0 ? inputs[fast->from[i]] : constants->array[-1 - fast->from[i]];
    done = mxl_program_run(&fast->program, list, out, mode, NULL) == 0;
    mxl_free(list, bytes);
    return done ? MXL_FAST_DONE : MXL_FAST_FAILED;
}

mxl_fast_result mxl_fast_run(const mxl_program *program, mxl_array *const *inputs, mxl_array **out,
                             mxl_mode mode, const mxl_monitor *monitor)
{
    struct mxl_fast_program *fast = fast_of(program);

    if (fast == NULL || mode.record || mode.training || monitor != NULL)
        return MXL_FAST_NOT;
    return mxl_fast_call(fast, inputs, out, mode);
}
