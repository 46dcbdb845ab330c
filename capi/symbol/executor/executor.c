/* Executors: binding arrays, forward and backward. */
#include "symbol/executor/executor.h"

#include <string.h>

#include "array/copy.h"
#include "array/sparse/sparse.h"
#include "base/memory/mem.h"
#include "engine/backward/backward.h"
#include "engine/backward/heads.h"
#include "engine/run/builtin_ops.h"
#include "engine/run/generator.h"
#include "symbol/infer.h"
#include "symbol/passes/passes.h"
#include "symbol/passes/remat.h"
#include "symbol/stypes.h"

/* ---- life ---- */

static void drop_heads(mxl_executor *e)
{
    for (int i = 0; i < e->outputs; i++) {
        mxl_array_release(e->head[i]);
        e->head[i] = NULL;
    }
}

static void executor_free(mxl_ref *ref)
{
    mxl_executor *e = (mxl_executor *)ref;

    mxl_executor_drop_watches(e);
    if (e->arg != NULL) {
        drop_heads(e);
        for (int i = 0; i < e->args; i++) {
            mxl_array_release(e->arg[i]);
            mxl_array_release(e->grad[i]);
            mxl_array_release(e->converted[i]);
            mxl_array_release(e->variable[i]);
        }
        for (int i = 0; i < e->aux; i++)
            mxl_array_release(e->state[i]);
        for (int i = 0; i < e->outputs; i++)
            mxl_array_release(e->output[i]);
        mxl_free(e->arg, e->bytes);
    }
    mxl_program_end(&e->program);
    mxl_free(e, sizeof(*e));
}

/* Which variables an operator writes into. */
static int mark_states(mxl_executor *e)
{
    const mxl_indexed *graph = &e->program.graph;
    bool *mutated = mxl_alloc_zero((size_t)graph->entries + 1);
    int variable = 0;

    if (mutated == NULL)
        return -1;
    for (int n = 0; n < graph->walk.count; n++) {
        for (int i = 0; i < graph->walk.node[n]->num_inputs; i++) {
            if (mxl_graph_node_mutates(graph->walk.node[n], i))
                mutated[graph->input[graph->args[n] + i]] = true;
        }
    }
    for (int n = 0; n < graph->walk.count; n++) {
        if (graph->walk.node[n]->op == NULL) {
            e->is_state[variable] = mutated[graph->first[n]];
            e->aux += e->is_state[variable];
            variable++;
        }
    }
    e->args = variable - e->aux;
    mxl_free(mutated, (size_t)graph->entries + 1);
    return 0;
}

/* One block for all lists. */
static int make_lists(mxl_executor *e)
{
    size_t variables = 0, outputs = (size_t)e->program.graph.symbol->count;
    mxl_array **list;

    for (int n = 0; n < e->program.graph.walk.count; n++)
        variables += e->program.graph.walk.node[n]->op == NULL;
    e->bytes = (6 * variables + 2 * outputs + 1) * sizeof(*list) +
               variables * (sizeof(*e->req) + sizeof(*e->is_state));
    list = mxl_alloc_zero(e->bytes);
    if (list == NULL)
        return -1;
    e->arg = list;
    e->grad = list + variables;
    e->variable = list + 2 * variables;
    e->state = list + 3 * variables;
    e->input = list + 4 * variables;
    e->converted = list + 5 * variables;
    e->output = list + 6 * variables;
    e->head = e->output + outputs;
    e->req = (mxl_grad_req *)(e->head + outputs);
    e->is_state = (bool *)(e->req + variables);
    return mark_states(e);
}

mxl_executor *mxl_executor_new(const mxl_symbol *symbol)
{
    mxl_executor *e = mxl_alloc_zero(sizeof(*e));
    mxl_symbol *copy = e != NULL ? mxl_symbol_copy(symbol) : NULL;

    if (copy == NULL || mxl_pass_repeats(copy) < 0) {
        mxl_symbol_release(copy);
        mxl_free(e, sizeof(*e));
        return NULL;
    }
    mxl_ref_init(&e->ref, executor_free);
    atomic_flag_clear(&e->busy);
    if (mxl_program_begin(&e->program, copy) != 0 || mxl_program_keep(&e->program) != 0 ||
        (mxl_remat_wanted() && mxl_remat_begin(&e->program) != 0) || make_lists(e) != 0) {
        mxl_ref_release(&e->ref);
        e = NULL;
    } else {
        e->outputs = copy->count;
        e->program.lasting = true;
    }
    mxl_symbol_release(copy);
    return e;
}

const mxl_graph_node *mxl_executor_variable(const mxl_executor *e, int i, bool is_state)
{
    const mxl_node_walk *walk = &e->program.graph.walk;
    int variable = 0;

    for (int n = 0; n < walk->count; n++) {
        if (walk->node[n]->op == NULL && e->is_state[variable++] == is_state && i-- == 0)
            return walk->node[n];
    }
    return NULL;
}

/* ---- binding ---- */

static void put(mxl_array **to, mxl_array *array)
{
    if (array != NULL)
        mxl_array_retain(array);
    mxl_array_release(*to);
    *to = array;
}

mxl_array *mxl_executor_leaf(const mxl_array *arg, mxl_array *grad, mxl_grad_req req)
{
    mxl_array *variable = mxl_array_alias(arg);
    mxl_leaf *spare = NULL;

    if (variable == NULL || mxl_array_reserve_leaf(variable, &spare) != 0) {
        mxl_array_release(variable);
        return NULL;
    }
    mxl_array_set_leaf(variable, req, grad, spare);
    return variable;
}

int mxl_executor_set_arg(mxl_executor *e, int i, mxl_array *arg, mxl_array *grad, mxl_grad_req req)
{
    mxl_array *variable = NULL, *converted = NULL;

    if (grad == NULL)
        req = MXL_GRAD_NULL;
    if (req != MXL_GRAD_NULL && (grad->dtype != arg->dtype || !mxl_array_same_shape(grad, arg))) {
        if (grad->size != arg->size || !grad->contiguous)
            return mxl_error("%s has shape %s, its gradient %s",
                             mxl_executor_variable(e, i, false)->name, MXL_SHAPE_OF(arg),
                             MXL_SHAPE_OF(grad));
        converted = mxl_array_zeros(arg->dtype, arg->ndim, arg->shape);
        if (converted == NULL)
            return -1;
    }
    if (req != MXL_GRAD_NULL)
        variable = mxl_executor_leaf(arg, converted != NULL ? converted : grad,
                                     converted != NULL ? MXL_GRAD_WRITE : req);
    if (req != MXL_GRAD_NULL && variable == NULL) {
        mxl_array_release(converted);
        return -1;
    }
    put(&e->arg[i], arg);
    put(&e->grad[i], grad);
    mxl_array_release(e->converted[i]);
    e->converted[i] = converted;
    mxl_array_release(e->variable[i]);
    e->variable[i] = variable;
    e->req[i] = req;
    e->program.exact |= req != MXL_GRAD_NULL;
    return 0;
}

int mxl_executor_set_state(mxl_executor *e, int i, mxl_array *state)
{
    put(&e->state[i], state);
    return 0;
}

void mxl_executor_list_inputs(mxl_executor *e)
{
    int arg = 0, state = 0;

    for (int i = 0; i < e->args + e->aux; i++) {
        if (e->is_state[i]) {
            e->input[i] = e->state[state++];
        } else {
            e->input[i] = e->variable[arg] != NULL ? e->variable[arg] : e->arg[arg];
            arg++;
        }
    }
}

/* Zeros of a storage type. */
static mxl_array *zeros(int stype, int dtype, const mxl_shape *shape)
{
    return stype == MXL_DENSE ? mxl_array_zeros(dtype, shape->ndim, shape->dim)
                              : mxl_array_sparse_zeros(stype, dtype, shape->ndim, shape->dim);
}

/* An array of zeros for each output; one without a shape where that depends on values. */
static int make_outputs(mxl_executor *e, const mxl_facts *facts, const int8_t *stypes)
{
    for (int i = 0; i < e->outputs; i++) {
        int entry = e->program.graph.head[i];
        const mxl_shape *shape = &facts->shape[entry];
        int dtype = facts->dtype[entry];

        e->output[i] =
            mxl_shape_known(shape)
                ? zeros(stypes[entry], dtype != MXL_DTYPE_UNKNOWN ? dtype : MXL_F32, shape)
                : mxl_array_new_none();
        if (e->output[i] == NULL)
            return -1;
        if (e->output[i]->storage == NULL) { /* a dense array, of which callers may ask */
            e->output[i]->stype = MXL_DENSE;
            e->output[i]->dtype = dtype != MXL_DTYPE_UNKNOWN ? dtype : MXL_F32;
        }
    }
    return 0;
}

/* Says of the outputs where they are. */
static int place_outputs(mxl_executor *e, const mxl_places *places)
{
    const mxl_indexed *graph = &e->program.graph;
    size_t bytes = ((size_t)graph->entries + 1) * sizeof(mxl_device);
    mxl_device *devices = mxl_alloc(bytes);
    int status;

    if (devices == NULL)
        return -1;
    status = mxl_place_entries(places, graph, e->input, devices);
    for (int i = 0; i < e->outputs && status == 0; i++)
        e->output[i]->device = devices[graph->head[i]];
    mxl_free(devices, bytes);
    return status;
}

/* The storage types of all entries, by those of the arrays; a list to free, or NULL. */
static int8_t *entry_stypes(const mxl_executor *e)
{
    const mxl_indexed *graph = &e->program.graph;
    int8_t *stypes = mxl_alloc_zero((size_t)graph->entries + 1);
    int variable = 0;

    if (stypes == NULL)
        return NULL;
    for (int n = 0; n < graph->walk.count; n++) {
        if (graph->walk.node[n]->op == NULL)
            stypes[graph->first[n]] = e->input[variable++]->stype;
    }
    if (mxl_stypes_infer(graph, stypes) == 0)
        return stypes;
    mxl_free(stypes, (size_t)graph->entries + 1);
    return NULL;
}

static int finish_outputs(mxl_executor *e, const mxl_facts *facts)
{
    int8_t *stypes = entry_stypes(e);
    int status;

    if (stypes == NULL)
        return -1;
    status = make_outputs(e, facts, stypes);
    mxl_free(stypes, (size_t)e->program.graph.entries + 1);
    return status;
}

int mxl_executor_finish(mxl_executor *e, const mxl_places *places, bool legacy_shape)
{
    const mxl_indexed *graph = &e->program.graph;
    mxl_facts facts;
    int status, variable = 0;

    mxl_executor_list_inputs(e);
    if (mxl_facts_begin(&facts, graph, legacy_shape) != 0)
        return -1;
    status = 0;
    for (int n = 0; n < graph->walk.count && status == 0; n++) {
        const mxl_array *input;
        mxl_shape shape;

        if (graph->walk.node[n]->op != NULL)
            continue;
        input = e->input[variable++];
        mxl_shape_set(&shape, input->ndim, input->shape);
        facts.dtype[graph->first[n]] = input->dtype;
        status = mxl_facts_say_shape(&facts, graph->first[n], &shape);
    }
    if (status == 0)
        status = mxl_infer_dtypes(&facts);
    if (status == 0)
        status = mxl_infer_shapes(&facts);
    if (status == 0)
        status = finish_outputs(e, &facts);
    mxl_facts_end(&facts);
    return status == 0 ? place_outputs(e, places) : -1;
}

/* ---- running ---- */

/* The results as the caller sees them: outputs keep their identity and get new values. */
static int show_results(mxl_executor *e, mxl_array *const *results)
{
    for (int i = 0; i < e->outputs; i++) {
        mxl_array *out = e->output[i], *result = results[i];

        if (out->storage != NULL && out->stype == result->stype && out->dtype == result->dtype &&
            mxl_array_same_shape(out, result)) {
            if (mxl_array_copy_into(out, result) != 0)
                return -1;
            continue;
        }
        result = mxl_array_alias(result);
        if (result == NULL)
            return -1;
        result->device = out->device;
        if (out->storage == NULL) {
            mxl_array_become(out, result);
        } else {
            mxl_array_release(out);
            e->output[i] = result;
        }
    }
    return 0;
}

static bool wants_gradients(const mxl_executor *e)
{
    for (int i = 0; i < e->args; i++) {
        if (e->req[i] != MXL_GRAD_NULL)
            return true;
    }
    return false;
}

/* -1 with the error set while another thread runs the executor. */
static int enter(mxl_executor *e)
{
    return atomic_flag_test_and_set_explicit(&e->busy, memory_order_acquire)
               ? mxl_error("the executor is being run by another thread")
               : 0;
}

static int leave(mxl_executor *e, int status)
{
    atomic_flag_clear_explicit(&e->busy, memory_order_release);
    return status;
}

int mxl_executor_first_of(mxl_array *old, int dtype, const mxl_shape *shape, mxl_array **out)
{
    *out = NULL;
    if (old->storage == NULL || old->dtype != dtype || !old->contiguous ||
        mxl_shape_size(shape->ndim, shape->dim) > old->size)
        return 0;
    *out = mxl_array_view(old, 0, shape->ndim, shape->dim);
    if (*out == NULL)
        return -1;
    mxl_array_release_base(*out);
    return 0;
}

int mxl_executor_share_outputs(mxl_executor *e, mxl_executor *from)
{
    int status = enter(from);

    if (status != 0)
        return -1;
    for (int i = 0; i < e->outputs && status == 0; i++) {
        const mxl_array *own = e->output[i];
        mxl_array *shared;
        mxl_shape shape;

        if (own->storage == NULL)
            continue;
        mxl_shape_set(&shape, own->ndim, own->shape);
        status = mxl_executor_first_of(from->output[i], own->dtype, &shape, &shared);
        if (status != 0 || shared == NULL)
            continue;
        shared->device = own->device;
        mxl_array_release(e->output[i]);
        e->output[i] = shared;
    }
    return leave(from, status);
}

int mxl_executor_forward(mxl_executor *e, mxl_mode mode, const mxl_monitor *monitor)
{
    uint64_t before[2], after[2];
    mxl_monitor watching;
    int status;

    if (enter(e) != 0)
        return -1;
    drop_heads(e);
    mxl_executor_drop_watches(e);
    e->has_run = false;
    mode.record = mode.training && wants_gradients(e);
    if (monitor != NULL && mode.record) {
        watching = *monitor;
        watching.watch = mxl_executor_watches(e);
        if (watching.watch == NULL)
            return leave(e, -1);
        monitor = &watching;
    }
    mxl_random_get(before);
    status = mxl_program_run(&e->program, e->input, e->head, mode, monitor);
    mxl_random_get(after);
    e->training = mode.training;
    e->repeatable = memcmp(before, after, sizeof(before)) == 0 && !e->program.calls_out;
    if (status == 0)
        status = show_results(e, e->head);
    if (!mode.record || status != 0)
        drop_heads(e);
    e->has_run = status == 0;
    return leave(e, status);
}

/* Runs a forward again, recorded: one without training, which costs nothing until its gradients are
 * asked for, or one whose graph a backward has released. One that never ran, too: in 1.9.1 a
 * gradient that reads inputs alone needs no forward. */
static int record_again(mxl_executor *e, mxl_mode mode)
{
    mode.record = true;
    if (e->has_run)
        mode.training = e->training;
    return mxl_program_run(&e->program, e->input, e->head, mode, NULL);
}

/* Head gradients have the shapes of the outputs, except where their values do not matter. */
static int check_heads(const mxl_executor *e, mxl_array *const *given)
{
    for (int i = 0; i < e->outputs && given != NULL; i++) {
        mxl_edge edge;
        bool ignored;

        if (given[i] == NULL ||
            (given[i]->storage != NULL && mxl_array_same_shape(given[i], e->output[i])))
            continue;
        edge = mxl_array_edge(e->head[i]);
        ignored = edge.target == NULL || mxl_head_ignores(edge);
        mxl_ref_release(edge.target);
        if (!ignored)
            return mxl_error("head gradient %d has shape %s, output %d has %s", i,
                             MXL_SHAPE_OF(given[i]), i, MXL_SHAPE_OF(e->output[i]));
    }
    return 0;
}

/* Puts the gradient that arrived in e->converted[i] into the caller's array. */
static int convert_gradient(const mxl_executor *e, int i, mxl_mode mode)
{
    const mxl_builtin_ops *builtin = mxl_builtin_ops_get();
    mxl_array *from = e->converted[i], *to = e->grad[i], *cast = NULL;
    mxl_array *shaped = mxl_array_view(to, 0, from->ndim, from->shape);
    int status = builtin != NULL && shaped != NULL ? 0 : -1;

    if (status == 0 && e->req[i] != MXL_GRAD_ADD)
        status = mxl_array_copy_into(shaped, from);
    else if (status == 0)
        status = mxl_invoke(builtin->cast, &to->dtype, 1, &from, 1, &cast, mode);
    if (status == 0 && cast != NULL) {
        mxl_array *pair[2] = {shaped, cast};

        status = mxl_invoke(mxl_builtin_sum(builtin, to->dtype), NULL, 2, pair, 1, &shaped, mode);
    }
    mxl_array_release(cast);
    mxl_array_release(shaped);
    return status;
}

static int convert_gradients(const mxl_executor *e, mxl_mode mode)
{
    int status = 0;

    mode.record = false;
    for (int i = 0; i < e->args && status == 0; i++) {
        if (e->converted[i] != NULL)
            status = convert_gradient(e, i, mode);
    }
    return status;
}

int mxl_executor_backward(mxl_executor *e, mxl_array *const *head_grads, mxl_mode mode,
                          const mxl_monitor *monitor)
{
    mxl_backward_args args = {.num_heads = e->outputs,
                              .heads = e->head,
                              .head_grads = head_grads,
                              .retain_graph = !e->repeatable,
                              .allow_constants = true,
                              .training = mode.training,
                              .dialect = mode.dialect};
    int status;

    if (!wants_gradients(e) || e->outputs == 0)
        return 0;
    if (enter(e) != 0)
        return -1;
    status = e->head[0] == NULL ? record_again(e, mode) : 0;
    if (status == 0)
        status = check_heads(e, head_grads);
    if (status == 0)
        status = mxl_backward(&args);
    if (status == 0)
        status = convert_gradients(e, mode);
    if (status == 0 && monitor != NULL)
        status = mxl_executor_show_gradients(e, monitor);
    if (e->repeatable || !e->has_run)
        drop_heads(e);
    return leave(e, status);
}
