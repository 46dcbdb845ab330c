/* Shapes, dtypes and storage types of a caller's operator, by its callbacks. */
#include "api/custom/caller.h"

#include <limits.h>

#include "base/memory/mem.h"

/* What the callbacks fill, of each array: the arguments, the outputs, the auxiliary states. */
typedef struct described {
    int count;
    int *ndims, **shapes, *dtypes, *stypes;
    int *sizes; /* of the arguments */
    size_t bytes;
} described;

/* The place of an input among all arrays. */
static int place_of(const mxl_custom *c, int input)
{
    return input < c->num_arguments ? input : input + c->num_outputs;
}

static int described_begin(described *d, const mxl_custom *c, const mxl_infer *infer)
{
    size_t count = (size_t)infer->num_inputs + (size_t)infer->num_outputs, sizes = 0;

    for (int i = 0; i < c->num_arguments; i++)
        sizes += (size_t)infer->in[i]->ndim;
    d->count = (int)count;
    d->bytes = count * (sizeof(int *) + 3 * sizeof(int)) + sizes * sizeof(int);
    d->shapes = mxl_alloc_zero(d->bytes);
    if (d->shapes == NULL)
        return -1;
    d->ndims = (int *)(d->shapes + count);
    d->dtypes = d->ndims + count;
    d->stypes = d->dtypes + count;
    d->sizes = d->stypes + count;
    return 0;
}

/* Sets what is known before: shapes of the arguments, dtypes and storage types of all inputs. */
static int describe_inputs(described *d, const api_caller_op *o, const mxl_infer *infer)
{
    int *size = d->sizes;

    for (int i = 0; i < d->count; i++)
        d->dtypes[i] = d->stypes[i] = -1;
    for (int i = 0; i < infer->num_inputs; i++) {
        const mxl_array *in = infer->in[i];
        int at = place_of(&o->custom, i);

        d->dtypes[at] = in->dtype;
        d->stypes[at] = 0;
        if (i >= o->custom.num_arguments)
            continue;
        d->ndims[at] = in->ndim;
        d->shapes[at] = size;
        for (int k = 0; k < in->ndim; k++) {
            if (in->shape[k] > INT_MAX)
                return mxl_error("Custom: size %lld of input %d does not fit the int that operator "
                                 "\"%.100s\" is given",
                                 (long long)in->shape[k], i, o->name);
            *size++ = (int)in->shape[k];
        }
    }
    return 0;
}

static int ask_described(described *d, const api_caller_op *o)
{
    const api_callback *types = &o->prop[kCustomOpPropInferType];
    const api_callback *stypes = &o->prop[kCustomOpPropInferStorageType];
    mxl_callback before;
    int done;

    api_caller_enter(&before);
    done = API_CALL_BACK(o->prop[kCustomOpPropInferShape], CustomOpInferShapeFunc, d->count,
                         d->ndims, d->shapes);
    if (api_caller_leave(&before, done, o, "infer_shape") != 0)
        return -1;
    if (types->run != NULL) {
        api_caller_enter(&before);
        done = API_CALL_BACK(*types, CustomOpInferTypeFunc, d->count, d->dtypes);
        if (api_caller_leave(&before, done, o, "infer_type") != 0)
            return -1;
    } else { /* one dtype for all */
        for (int i = 0; i < o->custom.num_outputs; i++)
            d->dtypes[o->custom.num_arguments + i] =
                o->custom.num_arguments > 0 ? d->dtypes[0] : MXL_F32;
    }
    if (stypes->run == NULL)
        return 0;
    api_caller_enter(&before);
    done = API_CALL_BACK(*stypes, CustomOpInferStorageTypeFunc, d->count, d->stypes);
    return api_caller_leave(&before, done, o, "infer_storage_type");
}

/* The shape that infer_shape gave for one array. */
static int shape_at(const described *d, const api_caller_op *o, int at, mxl_shape *shape)
{
    int ndim = d->ndims[at];

    if (ndim < 0 || ndim > MXL_MAX_NDIM || (ndim > 0 && d->shapes[at] == NULL))
        return mxl_error("Custom: infer_shape of operator \"%.100s\" gave %d axes for array %d",
                         o->name, ndim, at);
    shape->ndim = ndim;
    for (int k = 0; k < ndim; k++)
        shape->dim[k] = d->shapes[at][k];
    return mxl_shape_count(ndim, shape->dim) < 0 ? mxl_error_prefix("Custom") : 0;
}

/* An operator may refine what is unknown; an array's shape and dtype are known. */
static int check_input(const described *d, const api_caller_op *o, const mxl_array *in, int i)
{
    int at = place_of(&o->custom, i);
    mxl_shape shape;

    if (shape_at(d, o, at, &shape) != 0)
        return -1;
    if (!mxl_shape_same(in->ndim, in->shape, shape.ndim, shape.dim))
        return mxl_error("Custom: infer_shape of operator \"%.100s\" expects shape %s of input %d, "
                         "given %s",
                         o->name, MXL_SHAPE_TEXT(shape.ndim, shape.dim), i, MXL_SHAPE_OF(in));
    if (d->dtypes[at] != in->dtype)
        return mxl_error("Custom: infer_type of operator \"%.100s\" expects %s of input %d, given "
                         "%s",
                         o->name, mxl_dtype_name(d->dtypes[at]), i, mxl_dtype_name(in->dtype));
    return 0;
}

static int take_described(const described *d, const api_caller_op *o, mxl_infer *infer)
{
    for (int i = 0; i < d->count; i++) {
        if (d->stypes[i] > 0)
            return mxl_error("Custom: infer_storage_type of operator \"%.100s\" wants sparse "
                             "arrays, there are dense ones alone",
                             o->name);
    }
    for (int i = 0; i < infer->num_inputs; i++) {
        if (check_input(d, o, infer->in[i], i) != 0)
            return -1;
    }
    for (int i = 0; i < infer->num_outputs; i++) {
        int at = o->custom.num_arguments + i;

        if (shape_at(d, o, at, &infer->out_shape[i]) != 0)
            return -1;
        infer->out_dtype[i] = d->dtypes[at];
        if (!mxl_dtype_valid(infer->out_dtype[i]))
            return mxl_error("Custom: infer_type of operator \"%.100s\" gave no dtype for output "
                             "%d",
                             o->name, i);
    }
    return 0;
}

int api_caller_infer(mxl_custom *custom, mxl_infer *infer)
{
    const api_caller_op *o = api_caller_of(custom);
    described d;
    int status;

    if (described_begin(&d, custom, infer) != 0)
        return -1;
    status = describe_inputs(&d, o, infer);
    if (status == 0)
        status = ask_described(&d, o);
    if (status == 0)
        status = take_described(&d, o, infer);
    mxl_free(d.shapes, d.bytes);
    return status;
}
