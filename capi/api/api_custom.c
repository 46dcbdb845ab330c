/* MXCustomFunctionRecord: a node whose vjp is a caller's callback. */
#include "api/common.h"

#include "base/memory/mem.h"
#include "engine/backward/callback.h"
#include "engine/backward/grad.h"
#include "engine/tape/rebase.h"
#include "engine/tape/tape.h"

/* The caller's callbacks; counted, retained by the node. */
typedef struct custom {
    mxl_ref ref;
    CustomFunctionBwdFunc backward;
    CustomFunctionDelFunc release;
    void *backward_context, *release_context;
} custom;

static void custom_release(mxl_ref *ref)
{
    custom *c = (custom *)ref;

    if (c->release != NULL)
        c->release(c->release_context);
    mxl_free(c, sizeof(*c));
}

/* ---- backward ---- */

/* The callback's arguments: grad_outputs, then arrays for the input gradients, as new handles that
 * it frees. `inputs` are our own references to the latter. */
typedef struct callback_args {
    int num_heads, num_inputs;
    void **handles;
    int *reqs;
    mxl_array **inputs;
} callback_args;

static size_t args_bytes(const callback_args *a)
{
    return (size_t)(a->num_heads + a->num_inputs) * sizeof(void *) +
           (size_t)a->num_inputs * (sizeof(mxl_array *) + sizeof(int));
}

/* Fills the handles; after a failure none is left. */
static int args_fill(callback_args *a, mxl_grad *g)
{
    int count = 0;

    for (int i = 0; i < a->num_heads + a->num_inputs; i++) {
        int input = i - a->num_heads;
        mxl_array *array;

        if (input < 0) {
            array = mxl_grad_output_grad(g, i);
        } else {
            const mxl_meta *meta = mxl_grad_in_meta(g, input);

            array = mxl_scope_own(g->s, mxl_array_zeros(meta->dtype, meta->ndim, meta->shape));
            a->inputs[input] = array;
            a->reqs[input] = mxl_grad_wants(g, input) ? MXL_GRAD_WRITE : MXL_GRAD_NULL;
        }
        if (array == NULL)
            break;
        mxl_array_retain(array);
        a->handles[i] = api_handle(array);
        if (a->handles[i] == NULL)
            break;
        count++;
    }
    if (count == a->num_heads + a->num_inputs)
        return 0;
    api_handles_free(a->handles, (size_t)count);
    return -1;
}

_Thread_local const mxl_grad *api_running_vjp;

/* Runs the callback with the flags of this backward, then restores the thread's flags. */
static int call_back(const custom *c, const callback_args *a, const mxl_grad *g)
{
    const mxl_grad *outer = api_running_vjp;
    mxl_callback before;
    int done;

    mxl_callback_enter(&before, g->s->mode.record, g->s->mode.training);
    api_running_vjp = g;
    done = c->backward(a->num_heads, a->num_inputs, a->handles, a->reqs, g->s->mode.training,
                       c->backward_context);
    api_running_vjp = outer;
    return mxl_callback_leave(&before, !done, "the backward callback of a custom function");
}

static int custom_grad(mxl_grad *g)
{
    const custom *c = (const custom *)g->node->payload;
    callback_args a = {.num_heads = g->num_outputs, .num_inputs = g->num_inputs};
    size_t bytes = args_bytes(&a);
    int status = -1;

    a.handles = mxl_alloc(bytes);
    if (a.handles == NULL)
        return -1;
    a.inputs = (mxl_array **)(a.handles + a.num_heads + a.num_inputs);
    a.reqs = (int *)(a.inputs + a.num_inputs);
    if (args_fill(&a, g) == 0)
        status = call_back(c, &a, g);
    for (int i = 0; i < a.num_inputs && status == 0; i++)
        status = mxl_grad_set(g, i, a.inputs[i]);
    mxl_free(a.handles, bytes);
    return status;
}

static int check_output(const mxl_grad *g, const mxl_array *array, int output)
{
    const mxl_meta *meta;

    if (g == NULL)
        return mxl_error("MXLCustomFunctionOutput: no backward callback is running on this thread");
    if (output < 0 || output >= g->num_outputs)
        return mxl_error("MXLCustomFunctionOutput: output %d of a function with %d", output,
                         g->num_outputs);
    meta = mxl_grad_out_meta(g, output);
    if (array->storage == NULL || array->dtype != meta->dtype ||
        !mxl_shape_same(array->ndim, array->shape, meta->ndim, meta->shape))
        return mxl_error(
            "MXLCustomFunctionOutput: the array has not the shape and dtype of output %d", output);
    return 0;
}

NDArrayHandle MXLCustomFunctionOutput(NDArrayHandle array, int output)
{
    const mxl_grad *g = api_running_vjp;
    mxl_array *value = api_pin_for(array, __func__), *alias = NULL;

    if (value == NULL)
        return NULL;
    if (check_output(g, value, output) == 0)
        alias = mxl_array_alias(value);
    api_unpin(array);
    if (alias == NULL)
        return NULL;
    if (g->s->mode.record || g->node->dialect->views) {
        mxl_edge edge = {&g->node->ref, output};

        if (g->outer == NULL) {
            mxl_array_set_edge(alias, edge);
        } else if (mxl_rebase_edge(g->outer, alias) != 0) { /* a part of the array that it edits */
            mxl_array_release(alias);
            return NULL;
        }
    }
    return api_handle(alias);
}

static const mxl_input custom_inputs[] = {MXL_INPUT(data, "Inputs of the function."), {0}};

/* Only on the tape: MXCustomFunctionRecord makes it; it is never invoked by name. */
static const mxl_op op_custom = {
    .name = "_CustomFunction",
    .doc = "A function whose gradient is a callback of the caller's.",
    .inputs = custom_inputs,
    .grad = custom_grad,
};

/* ---- recording ---- */

static int check_outputs(int count, mxl_array **outputs)
{
    for (int i = 0; i < count; i++) {
        if (outputs[i]->storage == NULL)
            return mxl_error("MXCustomFunctionRecord: output %d has no shape yet", i);
        if (mxl_tape_recorded(outputs[i], &mxl_dialect_mxnet))
            return mxl_error(
                "MXCustomFunctionRecord: output %d is recorded already or has a gradient "
                "attached; a custom function returns new arrays",
                i);
    }
    return 0;
}

static int record(mxl_call *call, custom *c)
{
    bool any = false;
    mxl_node *node;
    int status;

    for (int i = 0; i < call->num_inputs; i++) {
        if (call->in[i]->storage == NULL)
            return mxl_error("MXCustomFunctionRecord: input %d has no shape yet", i);
        if (mxl_rebase_refresh(call->in[i]) != 0)
            return -1;
        any = any || mxl_tape_recorded(call->in[i], &mxl_dialect_mxnet);
    }
    if (check_outputs(call->num_outputs, call->out) != 0)
        return -1;
    for (int i = 0; i < call->num_outputs; i++)
        mxl_rebase_note_output(call->out[i]);
    if (!any) {
        mxl_tape_freeze(call->num_inputs, call->in, call->num_outputs, call->out,
                        &mxl_dialect_mxnet);
        return 0;
    }
    node = mxl_node_new(call, &mxl_dialect_mxnet);
    if (node == NULL)
        return -1;
    node->payload = &c->ref;
    mxl_ref_retain(node->payload);
    status = mxl_node_attach(node, call->num_outputs, call->out);
    mxl_ref_release(&node->ref);
    return status;
}

static custom *custom_new(const struct MXCallbackList *callbacks)
{
    custom *c;

    if (callbacks->num_callbacks <= kCustomFunctionDelete || callbacks->callbacks == NULL ||
        callbacks->contexts == NULL || callbacks->callbacks[kCustomFunctionBackward] == NULL)
        return mxl_error_null(
            "MXCustomFunctionRecord: the callbacks must be a backward and a delete "
            "function, with their contexts");
    c = mxl_alloc(sizeof(*c));
    if (c == NULL)
        return NULL;
    mxl_ref_init(&c->ref, custom_release);
    c->backward =
        (CustomFunctionBwdFunc)(void (*)(void))callbacks->callbacks[kCustomFunctionBackward];
    c->backward_context = callbacks->contexts[kCustomFunctionBackward];
    /* A failing call leaves the callbacks to the caller. */
    c->release = NULL;
    c->release_context = callbacks->contexts[kCustomFunctionDelete];
    return c;
}

int MXCustomFunctionRecord(int num_inputs, NDArrayHandle *inputs, int num_outputs,
                           NDArrayHandle *outputs, struct MXCallbackList *callbacks)
{
    mxl_call call = {.op = &op_custom, .num_inputs = num_inputs, .num_outputs = num_outputs};
    size_t bytes;
    custom *c;
    int status = -1;

    API_NEED(inputs);
    API_NEED(outputs);
    API_NEED(callbacks);
    if (num_inputs <= 0 || num_outputs <= 0)
        return mxl_error("MXCustomFunctionRecord: a function has inputs and outputs, got %d and %d",
                         num_inputs, num_outputs);
    if (!mxl_state_get()->recording)
        return mxl_error("MXCustomFunctionRecord: the thread is not recording, so the function "
                         "cannot be added to the graph");
    c = custom_new(callbacks);
    if (c == NULL)
        return -1;
    call.training = mxl_state_get()->training;
    bytes = ((size_t)num_inputs + (size_t)num_outputs) * sizeof(mxl_array *);
    call.in = mxl_alloc(bytes);
    if (call.in != NULL &&
        api_pin_many(__func__, "input", num_inputs, inputs, call.in, false) == 0) {
        call.out = call.in + num_inputs;
        if (api_pin_many(__func__, "output", num_outputs, outputs, call.out, false) == 0) {
            status = record(&call, c);
            api_unpin_many(num_outputs, outputs);
        }
        api_unpin_many(num_inputs, inputs);
    }
    mxl_free(call.in, bytes);
    if (status == 0)
        c->release =
            (CustomFunctionDelFunc)(void (*)(void))callbacks->callbacks[kCustomFunctionDelete];
    mxl_ref_release(&c->ref);
    return status;
}
