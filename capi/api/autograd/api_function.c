/* For PyTorch's front end: nodes whose vjp is a caller's function (MXLFunctionRecord), and strides.
 */
#include "api/common.h"

#include <string.h>

#include "api/autograd/function.h"
#include "api/prepared.h"
#include "base/memory/mem.h"
#include "engine/backward/callback.h"
#include "engine/backward/grad.h"
#include "engine/tape/rebase.h"
#include "engine/tape/tape.h"

/* The caller's function; counted, retained by the node. */
typedef struct function {
    mxl_ref ref;
    MXLFunctionRule rule;
    void *payload;
    MXLReleaseFunction forget, release; /* may be NULL */
} function;

static void function_release(mxl_ref *ref)
{
    function *f = (function *)ref;

    if (f->release != NULL)
        f->release(f->payload);
    mxl_free(f, sizeof(*f));
}

static void function_release_saved(mxl_ref *payload)
{
    const function *f = (const function *)payload;

    if (f->forget != NULL)
        f->forget(f->payload);
}

/* ---- its vjp ---- */

/* Calls the function with the flags of this backward, then restores the thread's flags. */
static int call_vjp(const function *f, mxl_grad *g, NDArrayHandle *heads, const int *wants,
                    NDArrayHandle *results)
{
    const mxl_grad *outer = api_running_vjp;
    mxl_callback before;
    int status;

    mxl_callback_enter(&before, g->s->mode.record, g->s->mode.training);
    api_running_vjp = g;
    status = f->rule(f->payload, g->num_outputs, heads, g->num_inputs, wants, results);
    api_running_vjp = outer;
    return mxl_callback_leave(&before, status != 0, "the rule of a function");
}

/* Takes one result as the gradient of input i, and frees its handle. */
static int take_result(mxl_grad *g, int i, NDArrayHandle handle)
{
    mxl_array *array = api_pin_defined(handle, "the rule of a function");
    int status = -1;

    if (array != NULL) {
        mxl_array_retain(array);
        api_unpin(handle);
        status = mxl_grad_set(g, i, mxl_scope_own(g->s, array));
    }
    mxl_callback_free(handle);
    return status;
}

static int take_results(mxl_grad *g, NDArrayHandle *results, int status)
{
    for (int i = 0; i < g->num_inputs; i++) {
        if (results[i] == NULL)
            continue;
        if (status == 0)
            status = take_result(g, i, results[i]);
        else
            mxl_callback_free(results[i]);
    }
    return status;
}

static int function_grad(mxl_grad *g)
{
    const function *f = (const function *)g->node->payload;
    size_t count = (size_t)g->num_outputs + (size_t)g->num_inputs;
    size_t bytes = count * sizeof(NDArrayHandle) + (size_t)g->num_inputs * sizeof(int);
    NDArrayHandle *handles = mxl_alloc(bytes);
    int *wants, status = -1;

    if (handles == NULL)
        return -1;
    memset(handles, 0, bytes);
    wants = (int *)(handles + count);
    for (int i = 0; i < g->num_inputs; i++)
        wants[i] = mxl_grad_wants(g, i);
    if (api_handles(g->grad_output, (size_t)g->num_outputs, handles) == 0) {
        status = call_vjp(f, g, handles, wants, handles + g->num_outputs);
        status = take_results(g, handles + g->num_outputs, status);
    }
    mxl_free(handles, bytes);
    return status;
}

static const mxl_input function_inputs[] = {MXL_INPUT(data, "Inputs of the function."), {0}};

/* Only on the tape: MXLFunctionRecord makes it; it is never invoked by name. */
static const mxl_op op_function = {
    .name = "_Function",
    .doc = "A function whose rule is a caller's.",
    .inputs = function_inputs,
    .grad = function_grad,
    .forget = function_release_saved,
};

bool api_function_payload(const mxl_node *node, void **payload, MXLReleaseFunction *release)
{
    const function *f = (const function *)node->payload;

    if (node->op != &op_function || !mxl_ref_is_unique(&f->ref))
        return false;
    *payload = f->payload;
    *release = f->release;
    return true;
}

/* ---- recording ---- */

static bool is_input(const mxl_call *call, const mxl_array *array)
{
    for (int i = 0; i < call->num_inputs; i++) {
        if (call->in[i] == array)
            return true;
    }
    return false;
}

/* Attaches the outputs to the node. If an output is an edited view, its base is attached to a new
 * node too, and the view's edge is made at the next read. */
static int attach(mxl_call *call, mxl_node *node)
{
    mxl_array *view = NULL;
    mxl_node *slices = NULL;
    int status;

    for (int i = 0; i < call->num_outputs; i++) {
        if (!is_input(call, call->out[i]))
            continue;
        if (mxl_rebase_check("MXLFunctionRecord", call->out[i], node->dialect) != 0)
            return -1;
        if (call->out[i]->base != NULL)
            view = call->out[i];
    }
    if (view != NULL && call->num_outputs > 1)
        return mxl_error("MXLFunctionRecord: a view is edited by a function with %d outputs, which "
                         "cannot be followed",
                         call->num_outputs);
    if (view != NULL) {
        slices = mxl_rebase_slices(view, node, call->num_inputs, call->in, node->dialect);
        if (slices == NULL)
            return -1;
    }
    status = mxl_node_attach(node, call->num_outputs, call->out);
    if (slices != NULL) {
        if (status == 0)
            status = mxl_rebase_finish(view, slices);
        mxl_ref_release(&slices->ref);
    }
    return status;
}

/* Checks that arrays have a shape, and that outputs are new or edited inputs. */
static int check(const mxl_call *call, const mxl_dialect *dialect)
{
    for (int i = 0; i < call->num_inputs; i++) {
        if (call->in[i]->storage == NULL)
            return mxl_error("MXLFunctionRecord: input %d has no shape yet", i);
    }
    for (int i = 0; i < call->num_outputs; i++) {
        if (call->out[i]->storage == NULL)
            return mxl_error("MXLFunctionRecord: output %d has no shape yet", i);
        if (mxl_tape_recorded(call->out[i], dialect) && !is_input(call, call->out[i]))
            return mxl_error("MXLFunctionRecord: output %d is attached to a node already, and is "
                             "no edited input",
                             i);
    }
    return 0;
}

/* 1: a node was made; 0: no gradient flows to any input; -1 with the error set. */
static int record(mxl_call *call, function *f, const mxl_dialect *dialect)
{
    bool any = false;
    mxl_node *node;
    int status;

    if (check(call, dialect) != 0)
        return -1;
    for (int i = 0; i < call->num_inputs; i++) {
        if (dialect->rebase && mxl_rebase_view(call->in[i], dialect) != 0)
            return mxl_error_prefix("MXLFunctionRecord");
        any = any || mxl_tape_recorded(call->in[i], dialect);
    }
    for (int i = 0; i < call->num_outputs; i++) {
        if (!is_input(call, call->out[i]))
            mxl_rebase_note_output(call->out[i]);
    }
    if (!any) {
        mxl_tape_freeze(call->num_inputs, call->in, call->num_outputs, call->out, dialect);
        return 0;
    }
    node = mxl_node_new(call, dialect);
    if (node == NULL)
        return -1;
    node->payload = &f->ref;
    mxl_ref_retain(node->payload);
    status = attach(call, node);
    mxl_ref_release(&node->ref);
    return status == 0 ? 1 : -1;
}

int MXLFunctionRecord(MXLCallHandle like, int num_inputs, const NDArrayHandle *inputs,
                      int num_outputs, const NDArrayHandle *outputs, MXLFunctionRule rule,
                      void *payload, MXLReleaseFunction forget, MXLReleaseFunction release,
                      int *taken)
{
    const api_prepared *prepared = api_prepared_get(like);
    mxl_call call = {.op = &op_function, .num_inputs = num_inputs, .num_outputs = num_outputs};
    size_t bytes;
    function *f;
    int status = -1;

    API_NEED(taken);
    *taken = 0;
    API_NEED(inputs);
    API_NEED(outputs);
    API_NEED(rule);
    if (prepared == NULL)
        return -1;
    if (prepared->kind == API_PLAIN)
        return mxl_error("MXLFunctionRecord: the call was not made by MXLPrepareAs");
    if (num_inputs < 0 || num_outputs <= 0)
        return mxl_error("MXLFunctionRecord: %d inputs and %d outputs", num_inputs, num_outputs);
    if (num_inputs == 0 || !api_prepared_mode(prepared).record)
        return 0;
    f = mxl_alloc(sizeof(*f));
    if (f == NULL)
        return -1;
    *f = (function){.rule = rule, .payload = payload};
    mxl_ref_init(&f->ref, function_release);
    bytes = ((size_t)num_inputs + (size_t)num_outputs) * sizeof(mxl_array *);
    call.in = mxl_alloc(bytes);
    if (call.in != NULL &&
        api_pin_many(__func__, "input", num_inputs, (void *const *)inputs, call.in, false) == 0) {
        call.out = call.in + num_inputs;
        if (api_pin_many(__func__, "output", num_outputs, (void *const *)outputs, call.out,
                         false) == 0) {
            status = record(&call, f, &prepared->dialect);
            if (status > 0) { /* not earlier: a failing call leaves the payload to the caller */
                f->forget = forget;
                f->release = release;
                *taken = 1;
            }
            api_unpin_many(num_outputs, (void *const *)outputs);
        }
        api_unpin_many(num_inputs, (void *const *)inputs);
    }
    mxl_free(call.in, bytes);
    mxl_ref_release(&f->ref);
    return status < 0 ? -1 : 0;
}

/* ---- arrays ---- */

int MXLNDArrayCheckEdit(NDArrayHandle array)
{
    mxl_array *a = api_pin_defined(array, __func__);
    int status;

    if (a == NULL)
        return -1;
    status = mxl_state_get()->grad_off || !mxl_rebase_tracked(a, &mxl_dialect_torch)
                 ? 0
                 : mxl_rebase_check("an edit in place", a, &mxl_dialect_torch);
    api_unpin(array);
    return status;
}

int MXLNDArrayNoteReturned(NDArrayHandle array)
{
    mxl_array *a = api_pin_defined(array, __func__);

    if (a == NULL)
        return -1;
    mxl_rebase_note_output(a);
    api_unpin(array);
    return 0;
}

int MXLNDArrayGetStrides(NDArrayHandle array, int room, int64_t *strides, int64_t *offset)
{
    mxl_array *a = api_pin_defined(array, __func__);
    int ndim;

    if (a == NULL)
        return -1;
    ndim = a->ndim;
    for (int i = 0; i < ndim && i < room && strides != NULL; i++)
        strides[i] = a->strides[i];
    if (offset != NULL)
        *offset = a->offset / (int64_t)mxl_dtype_size(a->dtype);
    api_unpin(array);
    return ndim;
}

int MXLNDArrayIsContiguous(NDArrayHandle array)
{
    mxl_array *a = api_pin_defined(array, __func__);
    int found;

    if (a == NULL)
        return -1;
    found = a->contiguous;
    api_unpin(array);
    return found;
}

int MXLNDArrayGetAddress(NDArrayHandle array, void **address)
{
    mxl_array *a;
    int status;

    API_NEED(address);
    *address = NULL;
    a = api_pin_defined(array, __func__);
    if (a == NULL)
        return -1;
    status = mxl_array_is_meta(a) ? mxl_array_refuse_read(__func__, a) : 0;
    if (status == 0 && a->size > 0)
        *address = mxl_array_address(a);
    api_unpin(array);
    return status;
}

NDArrayHandle MXLNDArrayGetMemory(NDArrayHandle array, uint64_t *number)
{
    mxl_array *a, *whole;
    int64_t size;

    if (number == NULL) {
        (void)api_null(__func__, "number");
        return NULL;
    }
    *number = 0;
    a = api_pin_defined(array, __func__);
    if (a == NULL)
        return NULL;
    size = (int64_t)(a->storage->bytes / mxl_dtype_size(a->dtype));
    mxl_ref_retain(&a->storage->ref);
    whole = mxl_array_over(a->storage, a->dtype, 1, &size);
    if (whole != NULL) {
        whole->device = a->device;
        whole->stype = mxl_array_is_meta(a) ? MXL_META : MXL_DENSE;
        *number = (uint64_t)(uintptr_t)a->storage;
    }
    api_unpin(array);
    return whole == NULL ? NULL : api_handle(whole);
}
