/* Running a graph: one mxl_invoke for each node. An array is released once no node reads it. */
#include "symbol/program.h"

#include <string.h>

#include "base/memory/mem.h"
#include "base/profile/profile.h"
#include "symbol/control/control.h"
#include "symbol/fast.h"
#include "symbol/infer.h"
#include "symbol/passes/passes.h"
#include "symbol/passes/remat.h"
#include "symbol/passes/train.h"
#include "ops/build.h"
#include "ops/custom.h"

static size_t list_bytes(const mxl_program *program)
{
    return ((size_t)program->graph.entries + (size_t)program->graph.walk.count + 1) * sizeof(int);
}

/* Who reads each entry last, and which outputs are read at all. */
static void note_readers(mxl_program *program)
{
    const mxl_indexed *graph = &program->graph;

    for (int e = 0; e < graph->entries; e++)
        program->last[e] = -1;
    for (int n = 0; n < graph->walk.count; n++) {
        program->wanted[n] = graph->walk.node[n]->visible;
        for (int i = graph->args[n]; i < graph->args[n + 1]; i++)
            program->last[graph->input[i]] = n;
    }
    for (int i = 0; i < graph->symbol->count; i++)
        program->last[graph->head[i]] = graph->walk.count;
    for (int n = 0; n < graph->walk.count; n++) {
        for (int i = program->wanted[n]; i < graph->walk.node[n]->outputs; i++) {
            if (program->last[graph->first[n] + i] >= 0) /* hidden outputs are all or none */
                program->wanted[n] = graph->walk.node[n]->outputs;
        }
    }
}

/* Whether a node creates an array with sizes of 0, which the graph is to complete. */
static bool creates_by_shape(const mxl_graph_node *node)
{
    mxl_tuple shape;

    if (node->op == NULL || !mxl_op_creates(node->op))
        return false;
    shape = mxl_op_shape_parameter(node->op, node->params);
    for (int i = 0; i < shape.n; i++) {
        if (shape.v[i] <= 0)
            return true;
    }
    return false;
}

/* Of the lists of pointers for the nodes. */
static size_t node_bytes(const mxl_program *program)
{
    return ((size_t)program->graph.walk.count + 1) * sizeof(void *);
}

/* Programs for the graphs that nodes run. */
static int make_controls(mxl_program *program)
{
    const mxl_node_walk *walk = &program->graph.walk;

    for (int n = 0; n < walk->count; n++) {
        if (walk->node[n]->op == NULL || walk->node[n]->op->graphs == 0)
            continue;
        if (program->control == NULL)
            program->control = mxl_alloc_zero(node_bytes(program));
        if (program->control == NULL)
            return -1;
        program->control[n] = mxl_control_new(walk->node[n]);
        if (program->control[n] == NULL)
            return mxl_error_prefix(walk->node[n]->name);
        program->calls_out |= mxl_control_calls_out(program->control[n]);
    }
    return 0;
}

int mxl_program_begin(mxl_program *program, mxl_symbol *symbol)
{
    *program = (mxl_program){0};
    if (mxl_pass_check() != 0 || mxl_indexed_begin(&program->graph, symbol) != 0)
        return -1;
    program->last = mxl_alloc(list_bytes(program));
    if (program->last == NULL) {
        mxl_indexed_end(&program->graph);
        return -1;
    }
    program->wanted = program->last + program->graph.entries;
    note_readers(program);
    for (int n = 0; n < program->graph.walk.count; n++) {
        program->by_shape |= creates_by_shape(program->graph.walk.node[n]);
        program->calls_out |= program->graph.walk.node[n]->held != NULL;
    }
    if (make_controls(program) == 0)
        return 0;
    mxl_program_end(program);
    return -1;
}

int mxl_program_keep_forms(mxl_program *program)
{
    if (program->kept == NULL)
        program->kept = mxl_alloc_zero(node_bytes(program));
    for (int n = 0; n < program->graph.walk.count && program->control != NULL; n++) {
        if (program->control[n] != NULL && mxl_control_keep(program->control[n]) != 0)
            return -1;
    }
    return program->kept != NULL ? 0 : -1;
}

int mxl_program_keep(mxl_program *program)
{
    if (mxl_program_keep_forms(program) != 0 || mxl_fast_begin(program) != 0)
        return -1;
    return mxl_train_begin(program);
}

/* The shapes of all entries, for shapes of the inputs. */
typedef struct mxl_known_shapes {
    mxl_facts facts;
    size_t bytes;
    int count;
    mxl_shape input[];
} known_shapes;

static void free_shapes(known_shapes *known)
{
    if (known == NULL)
        return;
    mxl_facts_end(&known->facts);
    mxl_free(known, known->bytes);
}

void mxl_program_end(mxl_program *program)
{
    if (program->kept != NULL) {
        for (int n = 0; n < program->graph.walk.count; n++)
            mxl_kept_free(atomic_load(&program->kept[n]));
        mxl_free(program->kept, node_bytes(program));
    }
    program->kept = NULL;
    mxl_fast_end(program);
    mxl_train_end(program);
    mxl_remat_end(program->remat);
    program->remat = NULL;
    for (int n = 0; n < program->graph.walk.count && program->control != NULL; n++)
        mxl_control_free(program->control[n]);
    mxl_free(program->control, program->control != NULL ? node_bytes(program) : 0);
    program->control = NULL;
    free_shapes(atomic_exchange(&program->shapes, NULL));
    if (program->last != NULL)
        mxl_free(program->last, list_bytes(program));
    program->last = NULL;
    mxl_indexed_end(&program->graph);
}

/* ---- a run ---- */

typedef struct running {
    const mxl_program *program;
    mxl_mode mode;
    const mxl_monitor *monitor;
    mxl_array **value;    /* [entries]: kept, NULL where it is not there yet or no more */
    mxl_array **in;       /* room for the inputs of a node */
    known_shapes *shapes; /* where arrays are created by them */
    mxl_remat_run *remat; /* NULL: results are kept for backward */
    size_t bytes;
} running;

/* Of `count` outputs that there are. Those that 1.9.1 has beyond them (pool1_workspace) are for its
 * backward alone: zeros stand for them. -1 with the error set. */
static int report(const running *r, int n, int output, int count)
{
    mxl_array *const *made = r->value + r->program->graph.first[n];
    mxl_entry entry = {r->program->graph.walk.node[n], output, 0};
    mxl_array *shown = output < count ? made[output] : mxl_array_zeros_like(made[0]);
    mxl_str name = {0};

    if (shown == NULL)
        return -1;
    mxl_entry_name(&entry, &name);
    if (!name.failed)
        r->monitor->call(r->monitor->payload, entry.node, name.text != NULL ? name.text : "",
                         shown);
    mxl_str_clear(&name);
    if (output >= count)
        mxl_array_release(shown);
    return 0;
}

/* How many outputs of a node are reported. */
static int reported(const running *r, const mxl_graph_node *node)
{
    if (r->monitor == NULL)
        return 0;
    return r->monitor->visible && !r->mode.record ? node->visible : mxl_graph_node_total(node);
}

/* The same of the inputs of node n, and of variables among them. */
static void report_operands(const running *r, int n)
{
    const mxl_graph_node *node = r->program->graph.walk.node[n];
    mxl_str name = {0};
    char room[MXL_NAME];

    for (int i = 0; i < node->num_inputs; i++) {
        const mxl_graph_node *from = node->inputs[i].node;

        if (r->monitor->variables && from->op == NULL)
            r->monitor->call(r->monitor->payload, from, from->name, r->in[i]);
        mxl_str_clear(&name);
        mxl_str_addf(&name, "%s_%s", node->name, mxl_graph_node_operand(node, i, room));
        if (!name.failed)
            r->monitor->call(r->monitor->payload, node, name.text, r->in[i]);
    }
    mxl_str_clear(&name);
}

/* The parameters of a node. One that creates an array gets the shape that the graph gives it; one
 * of Custom gets an operator of its own for each run, which is the state of that run. */
static const void *params_of(const running *r, int n, mxl_arena *arena)
{
    const mxl_graph_node *node = r->program->graph.walk.node[n];
    const mxl_shape *shape;
    const mxl_param *param;
    int64_t *dims;
    void *params;

    if (node->held != NULL) {
        const void *own = mxl_graph_node_call_params(node, arena);

        if (own != NULL && r->program->lasting)
            mxl_custom_of(node->op, own)->lasting = mxl_custom_of(node->op, node->params);
        return own;
    }
    if (!r->program->by_shape || !creates_by_shape(node))
        return node->params;
    shape = &r->shapes->facts.shape[r->program->graph.first[n]];
    if (!r->mode.legacy_shape || !mxl_shape_known(shape))
        return node->params;
    params = mxl_arena_alloc(arena, node->params_bytes);
    dims = mxl_arena_alloc(arena, sizeof(shape->dim));
    if (params == NULL || dims == NULL)
        return NULL;
    mxl_params_copy(node->op, params, node->params);
    memcpy(dims, shape->dim, sizeof(shape->dim));
    param = mxl_param_find(node->op, "shape");
    *(mxl_tuple *)(void *)((char *)params + param->offset) = (mxl_tuple){shape->ndim, dims};
    return params;
}

/* Nobody reads the entry any more. */
static void drop(running *r, int entry)
{
    if (r->remat != NULL)
        mxl_remat_left(r->remat, entry, r->value[entry]);
    mxl_array_release(r->value[entry]);
    r->value[entry] = NULL;
}

/* Releases the arrays that node n is the last to read, and results that no one reads. */
static void release_read(running *r, int n)
{
    const mxl_indexed *graph = &r->program->graph;

    for (int i = graph->args[n]; i < graph->args[n + 1]; i++) {
        int entry = graph->input[i];

        if (r->program->last[entry] == n)
            drop(r, entry);
    }
    for (int entry = graph->first[n]; entry < graph->first[n + 1]; entry++) {
        if (r->program->last[entry] < 0)
            drop(r, entry);
    }
}

/* Whether a node casts a parameter, whose dtype its attribute tells, in predictions. */
static bool is_cast_parameter(const running *r, const mxl_graph_node *node)
{
    const mxl_graph_node *from = node->num_inputs == 1 ? node->inputs[0].node : node;

    return node->op->keeps_result && from->op == NULL && !r->mode.record && !r->mode.training &&
           mxl_attrs_get(&from->attrs, "__dtype__") != NULL;
}

/* Whether what node n keeps may be of use in the next run: its input 1 is a variable, or a cast of
 * one, and nothing is recorded, after which it would change. */
static bool keeps(const running *r, int n)
{
    const mxl_graph_node *node = r->program->graph.walk.node[n], *from;

    if (r->program->kept == NULL || !node->op->keeps_form || r->mode.record || r->mode.training ||
        node->num_inputs < 2 || !r->in[1]->contiguous)
        return false;
    from = node->inputs[1].node;
    return from->op == NULL || is_cast_parameter(r, from);
}

/* The same for a result: of a cast of a parameter that nodes alone read. */
static bool keeps_result(const running *r, int n)
{
    const mxl_program *program = r->program;

    return program->kept != NULL && is_cast_parameter(r, program->graph.walk.node[n]) &&
           r->in[0]->contiguous &&
           program->last[program->graph.first[n]] < program->graph.walk.count;
}

/* mxl_invoke with what the node has kept, which this run takes: another thread that runs the node
 * meanwhile makes its own. */
static int invoke_keeping(running *r, int n, const void *params, int count)
{
    const mxl_graph_node *node = r->program->graph.walk.node[n];
    mxl_kept *kept = atomic_exchange(&r->program->kept[n], NULL);
    int status;

    if (kept == NULL)
        kept = mxl_alloc_zero(sizeof(*kept));
    if (kept == NULL)
        return -1;
    status = mxl_invoke_keeping(node->op, params, node->num_inputs, r->in, count,
                                r->value + r->program->graph.first[n], r->mode, kept);
    mxl_kept_free(atomic_exchange(&r->program->kept[n], kept));
    return status;
}

static void release_result(void *array)
{
    mxl_array_release(array);
}

/* The result of the run before, if the input is as it was, or mxl_invoke's, which is kept. */
static int invoke_once(running *r, int n, const void *params)
{
    const mxl_graph_node *node = r->program->graph.walk.node[n];
    mxl_array **result = r->value + r->program->graph.first[n];
    mxl_kept *room = atomic_exchange(&r->program->kept[n], NULL), *kept;
    int status = 0;

    if (room == NULL)
        room = mxl_alloc_zero(sizeof(*room));
    if (room == NULL)
        return -1;
    kept = mxl_kept_of(room, 1, r->in);
    if (kept != NULL && kept->form != NULL) {
        *result = kept->form;
        mxl_array_retain(*result);
    } else {
        status = mxl_invoke(node->op, params, 1, r->in, 1, result, r->mode);
        if (status == 0 && kept != NULL) {
            mxl_array_retain(*result);
            kept->form = *result;
            kept->free = release_result;
        }
    }
    mxl_kept_free(atomic_exchange(&r->program->kept[n], room));
    return status;
}

/* Watches the gradients of a node's results, where a monitor will ask for them. */
static int watch_results(const running *r, int n, int count)
{
    int first = r->program->graph.first[n];

    if (r->monitor == NULL || r->monitor->watch == NULL || !r->mode.record)
        return 0;
    for (int i = 0; i < count; i++) {
        if (mxl_grad_watch_set(&r->monitor->watch[first + i], r->value[first + i]) != 0)
            return -1;
    }
    return 0;
}

static int run_node(running *r, int n)
{
    const mxl_indexed *graph = &r->program->graph;
    const mxl_graph_node *node = graph->walk.node[n];
    int count = r->monitor != NULL ? node->outputs : r->program->wanted[n], status = -1;
    int shown = reported(r, node);
    mxl_arena arena;
    const void *params;

    mxl_arena_init(&arena);
    params = params_of(r, n, &arena);
    for (int i = 0; i < node->num_inputs; i++)
        r->in[i] = r->value[graph->input[graph->args[n] + i]];
    if (r->monitor != NULL && r->monitor->operands)
        report_operands(r, n);
    if (node->op->graphs > 0)
        status =
            mxl_control_run(r->program->control[n], r->in, r->value + graph->first[n], r->mode);
    else if (params != NULL && keeps(r, n))
        status = invoke_keeping(r, n, params, count);
    else if (params != NULL && keeps_result(r, n))
        status = invoke_once(r, n, params);
    else if (params != NULL)
        status = mxl_invoke(node->op, params, node->num_inputs, r->in, count,
                            r->value + graph->first[n], r->mode);
    mxl_arena_clear(&arena);
    if (status != 0 || watch_results(r, n, count) != 0)
        return mxl_error_prefix(node->name);
    for (int i = 0; i < shown && status == 0; i++)
        status = report(r, n, i, count);
    if (status == 0 && r->remat != NULL)
        status = mxl_remat_ran(r->remat, n, r->in, r->value);
    release_read(r, n);
    return status;
}

/* The same while the profiler runs: the node has a record by its own name, around that of its
 * operator. */
static int run_measured(running *r, int n)
{
    int64_t begin = mxl_profile_now(), end;
    mxl_profile_entry *entry;

    if (run_node(r, n) != 0)
        return -1;
    end = mxl_profile_now();
    entry = mxl_profile_find(MXL_PROFILE_SPAN, "node", r->program->graph.walk.node[n]->name);
    if (entry != NULL)
        mxl_profile_duration(entry, begin, end);
    return 0;
}

static int run_nodes(running *r, mxl_array *const *inputs)
{
    int (*run)(running *, int) = mxl_profile_runs() ? run_measured : run_node;

    const mxl_indexed *graph = &r->program->graph;
    int input = 0;

    for (int n = 0; n < graph->walk.count; n++) {
        if (graph->walk.node[n]->op != NULL)
            continue;
        r->value[graph->first[n]] = inputs[input];
        mxl_array_retain(inputs[input++]);
    }
    for (int n = 0; n < graph->walk.count; n++) {
        if (graph->walk.node[n]->op != NULL && run(r, n) != 0)
            return -1;
    }
    return 0;
}

/* A head that is an input, or another head, becomes an array of its own. */
static mxl_array *take_head(const running *r, int i)
{
    const mxl_indexed *graph = &r->program->graph;
    mxl_array *value = r->value[graph->head[i]], *copy = NULL;
    bool own = graph->symbol->entry[i].node->op != NULL;

    for (int k = 0; k < i; k++)
        own &= graph->head[k] != graph->head[i];
    if (own) {
        mxl_array_retain(value);
        return value;
    }
    return mxl_invoke(&mxl_op_copy, NULL, 1, &value, 1, &copy, r->mode) == 0 ? copy : NULL;
}

static int take_heads(const running *r, mxl_array **out)
{
    for (int i = 0; i < r->program->graph.symbol->count; i++) {
        out[i] = take_head(r, i);
        if (out[i] != NULL)
            continue;
        while (i-- > 0) {
            mxl_array_release(out[i]);
            out[i] = NULL;
        }
        return -1;
    }
    return 0;
}

/* Whether shapes that were found before are those for the inputs. */
static bool are_for(const known_shapes *known, const running *r, mxl_array *const *inputs)
{
    if (known == NULL || known->facts.legacy_shape != r->mode.legacy_shape)
        return false;
    for (int i = 0; i < known->count; i++) {
        const mxl_shape *shape = &known->input[i];

        if (shape->ndim != inputs[i]->ndim ||
            memcmp(shape->dim, inputs[i]->shape, (size_t)shape->ndim * sizeof(*shape->dim)) != 0)
            return false;
    }
    return true;
}

/* Room for shapes, with those of the inputs; NULL with the error set. */
static known_shapes *new_shapes(const running *r, mxl_array *const *inputs)
{
    const mxl_node_walk *walk = &r->program->graph.walk;
    known_shapes *known;
    size_t bytes = sizeof(*known);
    int count = 0;

    for (int n = 0; n < walk->count; n++)
        count += walk->node[n]->op == NULL;
    bytes += (size_t)count * sizeof(known->input[0]);
    known = mxl_alloc(bytes);
    if (known == NULL)
        return NULL;
    known->bytes = bytes;
    known->count = count;
    for (int i = 0; i < count; i++)
        mxl_shape_set(&known->input[i], inputs[i]->ndim, inputs[i]->shape);
    if (mxl_facts_begin(&known->facts, &r->program->graph, r->mode.legacy_shape) == 0)
        return known;
    mxl_free(known, bytes);
    return NULL;
}

/* Shapes of all entries, from those of the inputs; the run takes those of the last one. */
static int infer_shapes(running *r, mxl_array *const *inputs)
{
    const mxl_indexed *graph = &r->program->graph;
    int input = 0, status = 0;

    if (!r->program->by_shape)
        return 0;
    r->shapes = atomic_exchange(&((mxl_program *)(uintptr_t)r->program)->shapes, NULL);
    if (are_for(r->shapes, r, inputs))
        return 0;
    free_shapes(r->shapes);
    r->shapes = new_shapes(r, inputs);
    if (r->shapes == NULL)
        return -1;
    for (int n = 0; n < graph->walk.count && status == 0; n++) {
        if (graph->walk.node[n]->op == NULL)
            status =
                mxl_facts_say_shape(&r->shapes->facts, graph->first[n], &r->shapes->input[input++]);
    }
    return status == 0 ? mxl_infer_shapes(&r->shapes->facts) : status;
}

/* Leaves the shapes for the next run if they are complete. */
static void leave_shapes(running *r, bool complete)
{
    if (r->shapes != NULL && complete)
        r->shapes = atomic_exchange(&((mxl_program *)(uintptr_t)r->program)->shapes, r->shapes);
    free_shapes(r->shapes);
}

static int most_inputs(const mxl_indexed *graph)
{
    int most = 1;

    for (int n = 0; n < graph->walk.count; n++)
        most = graph->walk.node[n]->num_inputs > most ? graph->walk.node[n]->num_inputs : most;
    return most;
}

int mxl_program_run(const mxl_program *program, mxl_array *const *inputs, mxl_array **out,
                    mxl_mode mode, const mxl_monitor *monitor)
{
    size_t entries = (size_t)program->graph.entries;
    running r = {.program = program, .mode = mode, .monitor = monitor};
    mxl_fast_result fast = mxl_fast_run(program, inputs, out, mode, monitor);
    int status;

    if (fast == MXL_FAST_DONE || mxl_train_run(program, inputs, out, mode, monitor))
        return 0;
    r.bytes = (entries + (size_t)most_inputs(&program->graph)) * sizeof(mxl_array *);
    r.value = mxl_alloc_zero(r.bytes);
    if (r.value == NULL)
        return -1;
    r.in = r.value + entries;
    status = infer_shapes(&r, inputs);
    if (status == 0 && program->remat != NULL && mode.record && !mode.meta && monitor == NULL &&
        !mode.dialect->views) {
        r.remat = mxl_remat_run_begin(program, mode);
        status = r.remat != NULL ? 0 : -1;
    }
    if (status == 0)
        status = run_nodes(&r, inputs);
    if (status == 0)
        status = take_heads(&r, out);
    for (size_t e = 0; e < entries; e++)
        mxl_array_release(r.value[e]);
    mxl_remat_run_end(r.remat);
    leave_shapes(&r, status == 0);
    mxl_free(r.value, r.bytes);
    if (fast == MXL_FAST_FAILED && status == 0)
        mxl_fast_turn_off(program);
    return status;
}
