/* one_hot: a position as a row that is on there and off everywhere else. */
#include "ops/build.h"

#include <stddef.h>

#include "base/mem.h"
#include "kernel/cast.h"
#include "kernel/gather.h"

typedef struct one_hot_params {
    int64_t depth;
    double on_value, off_value;
    int dtype;
} one_hot_params;

static const mxl_input one_hot_inputs[] = {
    {.name = "indices", .doc = "Which position is on; of any dtype."},
    {0},
};

static const char *const one_hot_dtypes[] = {"bfloat16", "float16", "float32", "float64", "int32",
                                             "int64",    "int8",    "uint8",   NULL};

static const mxl_param one_hot_table[] = {
    {.name = "depth",
     .type = MXL_P_INT,
     .offset = offsetof(one_hot_params, depth),
     .doc = "Extent of the new last axis.",
     .min = 0,
     .has_min = true},
    {.name = "on_value",
     .type = MXL_P_FLOAT,
     .offset = offsetof(one_hot_params, on_value),
     .def = "1",
     .type_text = "double, optional, default=1",
     .doc = "The element at the index."},
    {.name = "off_value",
     .type = MXL_P_FLOAT,
     .offset = offsetof(one_hot_params, off_value),
     .def = "0",
     .type_text = "double, optional, default=0",
     .doc = "Every other element."},
    {.name = "dtype",
     .type = MXL_P_DTYPE,
     .offset = offsetof(one_hot_params, dtype),
     .def = "float32",
     .values = one_hot_dtypes,
     .doc = "dtype of the result."},
    {0},
};

static int one_hot_infer(mxl_infer *infer)
{
    const one_hot_params *p = infer->params;
    const mxl_array *index = infer->in[0];
    mxl_shape *out = &infer->out_shape[0];

    if (p->depth < 0)
        return mxl_error("%s: depth is %lld; it must not be negative", infer->op->name,
                         (long long)p->depth);
    if (index->ndim == MXL_MAX_NDIM)
        return mxl_error("%s: the result would have more than %d axes", infer->op->name,
                         MXL_MAX_NDIM);
    mxl_shape_set(out, index->ndim, index->shape);
    out->dim[out->ndim++] = p->depth;
    infer->out_dtype[0] = p->dtype;
    return 0;
}

static int one_hot_compute(const mxl_call *call)
{
    const one_hot_params *p = call->params;
    const mxl_array *index = call->in[0];
    uint64_t on = 0, off = 0;
    size_t bytes = (size_t)index->size * sizeof(int64_t);
    int64_t *at = mxl_alloc(bytes);
    int status;

    if (at == NULL)
        return -1;
    mxl_cast_scalar(p->on_value, p->dtype, &on);
    mxl_cast_scalar(p->off_value, p->dtype, &off);
    status = mxl_index_resolve(index->dtype, mxl_array_read(index), index->size, p->depth,
                               MXL_INDEX_KEEP, at);
    if (status == 0)
        mxl_one_hot(mxl_dtype_size(p->dtype), index->size, p->depth, at, &on, &off,
                    mxl_array_write(call->out[0]));
    mxl_free(at, bytes);
    return status;
}

static const mxl_op op_one_hot = {
    .name = "one_hot",
    .aliases = MXL_ALIASES("_npx_one_hot"),
    .doc = "A new last axis that is on_value at each index, and off_value everywhere else.",
    .inputs = one_hot_inputs,
    .params = one_hot_table,
    .params_size = sizeof(one_hot_params),
    .infer = one_hot_infer,
    .compute = one_hot_compute,
    .grad = mxl_grad_zero,
};

const mxl_op *const mxl_ops_one_hot[] = {&op_one_hot, NULL};
