/* The instance of a caller's operator, its forward and its backward. */
#include "api/custom/caller.h"

#include <stdio.h>

#include "base/memory/mem.h"

/* ---- the instance ---- */

/* Shapes and dtypes of the arguments and the auxiliary states, as create_operator takes them. */
typedef struct inputs {
    int count;
    unsigned **shapes;
    int *ndims, *dtypes;
    size_t bytes;
} inputs;

static int inputs_begin(inputs *v, int count, mxl_array *const *in)
{
    size_t axes = 0;
    unsigned *size;

    for (int i = 0; i < count; i++)
        axes += (size_t)in[i]->ndim;
    v->count = count;
    v->bytes = ((size_t)count + 1) * (sizeof(*v->shapes) + 2 * sizeof(int)) + axes * sizeof(*size);
    v->shapes = mxl_alloc(v->bytes);
    if (v->shapes == NULL)
        return -1;
    v->ndims = (int *)(v->shapes + count + 1);
    v->dtypes = v->ndims + count;
    size = (unsigned *)(v->dtypes + count);
    for (int i = 0; i < count; i++) {
        v->ndims[i] = in[i]->ndim;
        v->dtypes[i] = in[i]->dtype;
        v->shapes[i] = size;
        for (int k = 0; k < in[i]->ndim; k++)
            *size++ = (unsigned)in[i]->shape[k];
    }
    return 0;
}

static int create(api_caller_op *o, const mxl_custom_arrays *arrays)
{
    struct MXCallbackList list = {0};
    mxl_callback before;
    char device[32];
    inputs v;
    int done;

    if (inputs_begin(&v, o->custom.num_arguments + o->custom.num_aux, arrays->in) != 0)
        return -1;
    snprintf(device, sizeof(device), "cpu(%d)", mxl_device_id(arrays->out[0]->device));
    api_caller_enter(&before);
    done = API_CALL_BACK(o->prop[kCustomOpPropCreateOperator], CustomOpCreateFunc, device, v.count,
                         v.shapes, v.ndims, v.dtypes, &list);
    mxl_free(v.shapes, v.bytes);
    if (api_caller_leave(&before, done, o, "create_operator") != 0)
        return -1;
    api_caller_take(o->op, API_OP_CALLBACKS, &list);
    if (o->op[kCustomOpForward].run == NULL || o->op[kCustomOpBackward].run == NULL)
        return mxl_error("Custom: create_operator of operator \"%.100s\" gave no forward or no "
                         "backward",
                         o->name);
    return 0;
}

/* ---- forward and backward ---- */

/* The arguments of both: arrays as new handles that the callee frees, their tags, and the requests
 * of those that it writes. */
typedef struct given {
    int count;
    void **handles;
    int *tags, *reqs;
    size_t bytes;
} given;

static int given_begin(given *v, int count, int num_reqs)
{
    size_t size = (size_t)count, reqs = (size_t)num_reqs;

    v->count = 0;
    v->bytes = size * (sizeof(void *) + sizeof(int)) + (reqs + 1) * sizeof(int);
    v->handles = mxl_alloc(v->bytes);
    if (v->handles == NULL)
        return -1;
    v->tags = (int *)(v->handles + size);
    v->reqs = v->tags + size;
    return 0;
}

/* Appends arrays. `alias`: without their edges, so that what the callee attaches to its handle is
 * not attached to the caller's array. NULL becomes an array without a shape. */
static int give(given *v, int tag, int count, mxl_array **arrays, bool alias)
{
    for (int i = 0; i < count; i++) {
        mxl_array *array = arrays[i];

        if (array == NULL)
            array = mxl_array_new_none();
        else if (alias)
            array = mxl_array_alias(array);
        else
            mxl_array_retain(array);
        if (array == NULL)
            return -1;
        v->tags[v->count] = tag;
        v->handles[v->count] = api_handle(array);
        if (v->handles[v->count] == NULL)
            return -1;
        v->count++;
    }
    return 0;
}

/* Calls back, or, if not all arrays could be given, frees their handles. */
static int hand_over(given *v, const api_caller_op *o, int which, const mxl_custom_arrays *a,
                     int status)
{
    mxl_callback before;
    int done;

    if (status == 0) {
        mxl_callback_enter(&before, a->record, a->training);
        done = API_CALL_BACK(o->op[which], CustomOpFBFunc, v->count, v->handles, v->tags, v->reqs,
                             a->training);
        status =
            api_caller_leave(&before, done, o, which == kCustomOpForward ? "forward" : "backward");
    } else {
        while (--v->count >= 0)
            mxl_handle_free(MXL_KIND_ARRAY, api_number(v->handles[v->count]));
    }
    mxl_free(v->handles, v->bytes);
    return status;
}

int api_caller_forward(mxl_custom *c, const mxl_custom_arrays *a)
{
    api_caller_op *o = api_caller_of(c);
    given v;
    int status;

    if (create(o, a) != 0 ||
        given_begin(&v, c->num_arguments + c->num_outputs + c->num_aux, c->num_outputs) != 0)
        return -1;
    for (int i = 0; i < c->num_outputs; i++)
        v.reqs[i] = MXL_GRAD_WRITE;
    status = give(&v, API_TAG_IN, c->num_arguments, a->in, true);
    if (status == 0)
        status = give(&v, API_TAG_OUT, c->num_outputs, a->out, true);
    if (status == 0)
        status = give(&v, API_TAG_AUX, c->num_aux, c->aux, true);
    return hand_over(&v, o, kCustomOpForward, a, status);
}

int api_caller_backward(mxl_custom *c, const mxl_custom_arrays *a)
{
    bool alias = !a->record;
    given v;
    int status;

    if (given_begin(&v, 2 * (c->num_outputs + c->num_arguments) + c->num_aux, c->num_arguments) !=
        0)
        return -1;
    for (int i = 0; i < c->num_arguments; i++)
        v.reqs[i] = a->wants[i] ? MXL_GRAD_WRITE : MXL_GRAD_NULL;
    status = give(&v, API_TAG_OUT_GRAD, c->num_outputs, a->out_grad, alias);
    if (status == 0)
        status = give(&v, API_TAG_IN, c->num_arguments, a->in, alias);
    if (status == 0)
        status = give(&v, API_TAG_OUT, c->num_outputs, a->out, alias);
    if (status == 0)
        status = give(&v, API_TAG_IN_GRAD, c->num_arguments, a->in_grad, alias);
    if (status == 0)
        status = give(&v, API_TAG_AUX, c->num_aux, c->aux, true);
    return hand_over(&v, api_caller_of(c), kCustomOpBackward, a, status);
}
