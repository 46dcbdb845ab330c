/* Shared rules of arity, shape, dtype and saved values. */
#include "op/op.h"

const mxl_input mxl_inputs_data[] = {MXL_INPUT(data, "Input array, of any shape."), {0}};

int mxl_infer_set(mxl_infer *infer, int dtype, int ndim, const int64_t *shape)
{
    for (int i = 0; i < infer->num_outputs; i++) {
        mxl_shape_set(&infer->out_shape[i], ndim, shape);
        infer->out_dtype[i] = dtype;
    }
    return 0;
}

int mxl_check_dtypes(const mxl_op *op, const mxl_array *a, const mxl_array *b)
{
    if (a->dtype == b->dtype)
        return 0;
    return mxl_error("%s: inputs have dtypes %s and %s; they must be the same", op->name,
                     mxl_dtype_name(a->dtype), mxl_dtype_name(b->dtype));
}

int mxl_check_float(const mxl_op *op, const mxl_array *x)
{
    if (mxl_dtype_is_float(x->dtype))
        return 0;
    return mxl_error("%s: takes floating-point input, got %s", op->name, mxl_dtype_name(x->dtype));
}

int mxl_check_full_float(const mxl_op *op, const mxl_array *x)
{
    if (x->dtype == MXL_F32 || x->dtype == MXL_F64)
        return 0;
    return mxl_error("%s: takes float32 or float64, got %s", op->name, mxl_dtype_name(x->dtype));
}

int mxl_check_axis(const mxl_op *op, int64_t axis, int ndim)
{
    int found = mxl_shape_axis(axis, ndim);

    return found < 0 ? mxl_error_prefix(op->name) : found;
}

int mxl_check_digits(const char *op_name, double number, int dtype)
{
    if (dtype != MXL_U64 || !(number > 0x1p53 && number <= 0x1p64))
        return 0;
    return mxl_error("%s: a number beyond 2^53 has lost digits; uint64 needs it as an array",
                     op_name);
}

int mxl_check_list(const char *op_name, const char *what, mxl_tuple list, int count, int64_t least)
{
    if (list.n != 0 && list.n != count)
        return mxl_error("%s: %s must have an entry for each of %d spatial axes, got %d", op_name,
                         what, count, list.n);
    for (int i = 0; i < list.n; i++)
        if (list.v[i] < least || list.v[i] > INT32_MAX)
            return mxl_error("%s: %s must be from %lld to %d, got %lld", op_name, what,
                             (long long)least, (int)INT32_MAX, (long long)list.v[i]);
    return 0;
}

static int check_dtypes(const mxl_infer *infer)
{
    for (int i = 1; i < infer->num_inputs; i++)
        if (mxl_check_dtypes(infer->op, infer->in[0], infer->in[i]) != 0)
            return -1;
    return 0;
}

/* Whether all sizes that are known of both, in a meta run, are the same. */
static bool may_be_same(const mxl_array *a, const mxl_array *b)
{
    for (int i = 0; i < a->ndim && a->ndim == b->ndim; i++) {
        if (mxl_sizes_differ(a->shape[i], b->shape[i]))
            return false;
    }
    return a->ndim == b->ndim;
}

static int check_shapes(const mxl_infer *infer)
{
    const mxl_array *first = infer->in[0];

    for (int i = 1; i < infer->num_inputs; i++) {
        const mxl_array *other = infer->in[i];

        if (!mxl_array_same_shape(first, other) && !may_be_same(first, other))
            return mxl_error("%s: inputs have shapes %s and %s; they must be the same",
                             infer->op->name, MXL_SHAPE_OF(first), MXL_SHAPE_OF(other));
    }
    return 0;
}

int mxl_infer_like_first(mxl_infer *infer)
{
    if (infer->num_inputs < 1)
        return mxl_error("%s: takes at least one input, got none", infer->op->name);
    return mxl_infer_set(infer, infer->in[0]->dtype, infer->in[0]->ndim, infer->in[0]->shape);
}

int mxl_infer_same(mxl_infer *infer)
{
    return check_dtypes(infer) != 0 || check_shapes(infer) != 0 ? -1 : mxl_infer_like_first(infer);
}

int mxl_infer_float_same(mxl_infer *infer)
{
    return mxl_infer_same(infer) != 0 ? -1 : mxl_check_float(infer->op, infer->in[0]);
}

int mxl_infer_to(mxl_infer *infer, mxl_tuple shape)
{
    if (mxl_shape_count(shape.n, shape.v) < 0)
        return mxl_error_prefix(infer->op->name);
    return mxl_infer_set(infer, infer->in[0]->dtype, shape.n, shape.v);
}

int mxl_infer_append(mxl_infer *infer, int ndim, const int64_t *dims)
{
    mxl_shape *out = &infer->out_shape[0];

    if (out->ndim + ndim > MXL_MAX_NDIM)
        return mxl_error("%s: the result would have more than %d axes", infer->op->name,
                         MXL_MAX_NDIM);
    for (int i = 0; i < ndim; i++)
        out->dim[out->ndim++] = dims[i];
    return 0;
}

int mxl_infer_broadcast(mxl_infer *infer)
{
    const mxl_array *a, *b;
    mxl_shape shape;

    if (infer->num_inputs != 2)
        return mxl_error("%s: takes 2 inputs, got %d", infer->op->name, infer->num_inputs);
    a = infer->in[0];
    b = infer->in[1];
    if (a->dtype != b->dtype)
        return check_dtypes(infer);
    if (infer->num_outputs == 1 && mxl_array_same_shape(a, b)) { /* the commonest, without a loop */
        mxl_shape_set(&infer->out_shape[0], a->ndim, a->shape);
        infer->out_dtype[0] = a->dtype;
        return 0;
    }
    if (mxl_shape_broadcast(&shape, a->ndim, a->shape, b->ndim, b->shape) != 0)
        return mxl_error_prefix(infer->op->name);
    return mxl_infer_set(infer, a->dtype, shape.ndim, shape.dim);
}

static bool is_scalar(const mxl_array *array)
{
    return array != NULL && array->storage != NULL && array->ndim == 0;
}

void mxl_infer_legacy(mxl_infer *infer, int i, const mxl_array *given)
{
    static const int64_t one[] = {1};

    if (infer->out_shape[i].ndim != 0 || !infer->legacy_shape || infer->op->keeps_scalars ||
        is_scalar(given))
        return;
    for (int k = 0; k < infer->num_inputs; k++) {
        if (is_scalar(infer->in[k]))
            return;
    }
    mxl_shape_set(&infer->out_shape[i], 1, one);
}

int mxl_arity_two(const void *params, mxl_arity *arity)
{
    (void)params;
    arity->inputs = 1;
    arity->outputs = arity->visible = 2;
    return 0;
}

int mxl_arity_hidden(const void *params, mxl_arity *arity)
{
    (void)mxl_arity_two(params, arity);
    arity->visible = 1;
    return 0;
}

int mxl_arity_given(const void *params, mxl_arity *arity)
{
    (void)params;
    if (arity->inputs < 1)
        arity->inputs = 1;
    return 0;
}

void mxl_saves_input(mxl_saves *saves)
{
    saves->in[0] = true;
}

void mxl_saves_second(mxl_saves *saves)
{
    saves->in[1] = true;
}

void mxl_saves_inputs(mxl_saves *saves)
{
    for (int i = 0; i < saves->num_inputs; i++)
        saves->in[i] = true;
}

void mxl_saves_output(mxl_saves *saves)
{
    saves->out[0] = true;
}

void mxl_saves_outputs(mxl_saves *saves)
{
    for (int i = 0; i < saves->num_outputs; i++)
        saves->out[i] = true;
}

void mxl_saves_input_and_output(mxl_saves *saves)
{
    saves->in[0] = saves->out[0] = true;
}

void mxl_saves_index(mxl_saves *saves)
{
    saves->in[1] = saves->wants[0];
}

void mxl_saves_other(mxl_saves *saves)
{
    saves->in[0] = saves->in[0] || saves->wants[1];
    saves->in[1] = saves->in[1] || saves->wants[0];
}
