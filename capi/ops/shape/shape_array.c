/* shape_array and size_array: an array's shape and its number of elements, as data. */
#include "ops/build.h"

static int shape_array_infer(mxl_infer *infer)
{
    return mxl_infer_set(infer, MXL_I64, 1, (int64_t[]){infer->in[0]->ndim});
}

static int shape_array_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0];
    int64_t *out = mxl_array_write(call->out[0]);

    for (int axis = 0; axis < x->ndim; axis++)
        out[axis] = x->shape[axis];
    return 0;
}

static const mxl_op op_shape_array = {
    .name = "shape_array",
    .aliases = MXL_ALIASES("_npx_shape_array"),
    .doc = "The array's shape: a vector of int64, one element an axis. Its gradient is zero.",
    .infer = shape_array_infer,
    .dtypes = ">l",
    .compute = shape_array_compute,
    .grad = mxl_grad_zero,
};

static int size_array_infer(mxl_infer *infer)
{
    return mxl_infer_set(infer, MXL_I64, 1, (int64_t[]){1});
}

static int size_array_compute(const mxl_call *call)
{
    *(int64_t *)mxl_array_write(call->out[0]) = call->in[0]->size;
    return 0;
}

static const mxl_op op_size_array = {
    .name = "size_array",
    .doc = "How many elements the array has: a vector of one int64. Its gradient is zero.",
    .infer = size_array_infer,
    .dtypes = ">l",
    .compute = size_array_compute,
    .grad = mxl_grad_zero,
};

const mxl_op *const mxl_ops_shape_array[] = {&op_shape_array, &op_size_array, NULL};
