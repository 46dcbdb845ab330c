/* MXLBackward, queries and callbacks while a backward runs, and variables without a buffer. */
#include "api/autograd/node.h"

#include "base/memory/mem.h"
#include "engine/backward/backward.h"
#include "engine/tape/rebase.h"

/* ---- variables ---- */

/* True if a recorded operator made the array, or if it is another array's saved tensor: its
 * gradient flows elsewhere. In MXNet's front end an operator that a backward has released does not
 * count. */
static bool is_made(mxl_array *array)
{
    const mxl_node *node;
    mxl_edge edge;
    bool made;

    if (mxl_array_leaf(array) != NULL)
        return false;
    edge = mxl_array_edge(array);
    node = mxl_edge_node(edge);
    made = node != NULL ? mxl_tape_recorded(array, node->dialect) : edge.target != NULL;
    mxl_ref_release(edge.target);
    return made;
}

static int set_requires_grad(const char *function, mxl_array *array, bool flag)
{
    mxl_leaf *spare;

    if (mxl_rebase_refresh(array) != 0)
        return mxl_error_prefix(function);
    if (is_made(array))
        return mxl_error("%s: a recorded operator made the array; it is no variable and cannot "
                         "become one, but a detached copy can",
                         function);
    if (flag && !mxl_dtype_is_float(array->dtype))
        return mxl_error(
            "%s: the array is %s; only arrays of floating-point numbers have gradients", function,
            mxl_dtype_name(array->dtype));
    if (flag && mxl_storage_is_frozen(array->storage))
        return mxl_error(
            "%s: the array was made in inference mode, and only there may it require a "
            "gradient; use a copy",
            function);
    if (mxl_array_leaf(array) != NULL) {
        mxl_array_request(array, flag);
        return 0;
    }
    if (!flag)
        return 0;
    if (mxl_array_reserve_leaf(array, &spare) != 0)
        return mxl_error_prefix(function);
    mxl_array_set_leaf(array, MXL_GRAD_ADD, NULL, spare);
    return 0;
}

int MXLNDArraySetRequiresGrad(NDArrayHandle array, int flag)
{
    mxl_array *value = api_pin_defined(array, __func__);
    int status;

    if (value == NULL)
        return -1;
    status = set_requires_grad(__func__, value, flag != 0);
    api_unpin(array);
    return status;
}

static int check_grad(const char *function, const mxl_array *variable, const mxl_array *grad)
{
    if (grad->storage == NULL || grad->dtype != variable->dtype ||
        !mxl_array_same_shape(grad, variable))
        return mxl_error("%s: the gradient has shape %s and dtype %s, the array %s and %s",
                         function, MXL_SHAPE_OF(grad),
                         grad->storage == NULL ? "none" : mxl_dtype_name(grad->dtype),
                         MXL_SHAPE_OF(variable), mxl_dtype_name(variable->dtype));
    if (grad->storage == variable->storage)
        return mxl_error("%s: the array and its gradient share memory", function);
    return 0;
}

static int set_grad(const char *function, mxl_array *variable, mxl_array *grad)
{
    mxl_leaf *leaf = mxl_array_leaf(variable);

    if (leaf == NULL)
        return mxl_error("%s: the array is not a variable", function);
    if (grad != NULL && check_grad(function, variable, grad) != 0)
        return -1;
    mxl_leaf_set_grad(leaf, grad);
    return 0;
}

int MXLNDArraySetGrad(NDArrayHandle array, NDArrayHandle grad)
{
    mxl_array *variable = api_pin_for(array, __func__), *value = NULL;
    int status = -1;

    if (variable == NULL)
        return -1;
    if (grad != NULL)
        value = api_pin_for(grad, __func__);
    if (grad == NULL || value != NULL)
        status = set_grad(__func__, variable, value);
    if (value != NULL)
        api_unpin(grad);
    api_unpin(array);
    return status;
}

/* ---- backward ---- */

/* The edges of one list; targets retained. */
static int take_edges(const char *what, int count, const MXLNodeHandle *nodes, const int *outputs,
                      mxl_edge *edges)
{
    for (int i = 0; i < count; i++) {
        const api_node *n = api_node_pin(nodes[i], "MXLBackward");
        int num;

        if (n == NULL)
            return -1;
        num = api_node_accumulates(n) ? 1 : api_node_recorded(n)->num_outputs;
        if (outputs[i] >= 0 && outputs[i] < num) {
            edges[i].target = n->edge.target;
            edges[i].output = api_node_accumulates(n) ? MXL_PLACE_LEAF : outputs[i];
            mxl_ref_retain(edges[i].target);
        } else {
            mxl_error("MXLBackward: %s %d is output %d of a node with %d", what, i, outputs[i],
                      num);
        }
        api_unpin(nodes[i]);
        if (edges[i].target == NULL)
            return -1;
    }
    return 0;
}

static int give_grads(int count, mxl_array **arrays, NDArrayHandle *grads)
{
    int status = 0;

    for (int i = 0; i < count; i++) {
        if (arrays[i] == NULL)
            continue;
        if (status != 0) {
            mxl_array_release(arrays[i]);
            continue;
        }
        grads[i] = api_handle(arrays[i]);
        status = grads[i] == NULL ? -1 : 0;
    }
    for (int i = 0; i < count && status != 0; i++) {
        mxl_handle_free(MXL_KIND_ARRAY, api_number(grads[i]));
        grads[i] = NULL;
    }
    return status;
}

/* Runs the backward with all arguments converted. `arrays` are the head gradients, followed by
 * space for results. */
static int run_backward(int num_roots, int num_inputs, const mxl_edge *edges, mxl_array **arrays,
                        const MXLBackwardOptions *options, NDArrayHandle *grads)
{
    bool returns = num_inputs > 0 && !options->accumulate_grad;
    mxl_backward_args args = {
        .num_heads = num_roots,
        .roots = edges,
        .head_grads = arrays,
        .num_variables = num_inputs,
        .wanted = edges + num_roots,
        .grads = returns ? arrays + num_roots : NULL,
        .retain_graph = options->keep_graph != 0,
        .create_graph = options->create_graph != 0,
        .training = options->training != 0,
        .allow_unreachable = options->allow_unreachable != 0,
        .as_arrived = true,
        .dialect = options->dialect == MXL_DIALECT_TORCH ? &mxl_dialect_torch : &mxl_dialect_mxnet};
    int status = mxl_backward(&args);

    if (status == 0 && returns)
        status = give_grads(num_inputs, args.grads, grads);
    return status;
}

int MXLBackward(int num_roots, const MXLNodeHandle *nodes, const int *outputs,
                const NDArrayHandle *head_grads, const MXLBackwardOptions *options, int num_inputs,
                const MXLNodeHandle *input_nodes, const int *input_outputs, NDArrayHandle *grads)
{
    size_t count = 0, bytes;
    mxl_edge *edges;
    mxl_array **arrays;
    int status = -1;

    API_NEED(nodes);
    API_NEED(outputs);
    API_NEED(options);
    if (num_roots <= 0 || num_inputs < 0)
        return mxl_error("MXLBackward: %d roots and %d inputs", num_roots, num_inputs);
    if (options->dialect != MXL_DIALECT_MXNET && options->dialect != MXL_DIALECT_TORCH)
        return mxl_error("MXLBackward: unknown dialect %d", options->dialect);
    if (num_inputs > 0) {
        API_NEED(input_nodes);
        API_NEED(input_outputs);
        if (!options->accumulate_grad)
            API_NEED(grads);
    }
    for (int i = 0; i < num_inputs && !options->accumulate_grad; i++)
        grads[i] = NULL;
    count = (size_t)num_roots + (size_t)num_inputs;
    bytes = count * (sizeof(*edges) + sizeof(*arrays));
    edges = mxl_alloc_zero(bytes);
    if (edges == NULL)
        return mxl_error_prefix(__func__);
    arrays = (mxl_array **)(edges + count);
    if (take_edges("root", num_roots, nodes, outputs, edges) == 0 &&
        take_edges("input", num_inputs, input_nodes, input_outputs, edges + num_roots) == 0 &&
        (head_grads == NULL ||
         api_pin_many(__func__, "head gradient", num_roots, head_grads, arrays, true) == 0)) {
        status = run_backward(num_roots, num_inputs, edges, arrays, options, grads);
        if (head_grads != NULL)
            api_unpin_many(num_roots, head_grads);
    }
    for (size_t i = 0; i < count; i++)
        mxl_ref_release(edges[i].target);
    mxl_free(edges, bytes);
    return status;
}

int MXLBackwardQueue(MXLCallback callback, void *payload, MXLReleaseFunction release)
{
    mxl_queued queued = {callback, payload, release};

    API_NEED(callback);
    return mxl_backward_queue(&queued) == 0 ? 0 : mxl_error_prefix(__func__);
}

int MXLBackwardState(int *out)
{
    API_NEED(out);
    *out = mxl_backward_state();
    return 0;
}

int MXLThreadGetOrigin(uint64_t *out)
{
    const mxl_state *state;

    API_NEED(out);
    state = api_own_state(__func__);
    if (state == NULL)
        return -1;
    *out = (uint64_t)(uintptr_t)(state->origin != NULL ? state->origin : state);
    return 0;
}
