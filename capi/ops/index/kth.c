/* _mxl_kth and _mxl_median: the position of the k-th element of each row, without sorting. */
#include <stddef.h>

#include "kernel/sort/select.h"
#include "ops/build.h"

typedef struct kth_params {
    int64_t axis;
    int64_t k; /* _mxl_kth */
} kth_params;

#define KTH_AXIS                                                                                   \
    MXL_PARAM(kth_params, axis, MXL_P_INT, "-1",                                                   \
              "The axis, counted from either end; it stays, with extent 1.")

static const mxl_param median_table[] = {KTH_AXIS, {0}};
static const mxl_param kth_table[] = {
    KTH_AXIS,
    MXL_PARAM(kth_params, k, MXL_P_INT, MXL_REQUIRED,
              "Which element of each row, counted from 1, the smallest.",
              .type_text = "long, required"),
    {0},
};

static int median_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0];
    int axis = mxl_shape_axis(((const kth_params *)infer->params)->axis, x->ndim);

    if (axis < 0)
        return mxl_error_prefix(infer->op->name);
    if (x->shape[axis] == 0)
        return mxl_error("%s: axis %d has no elements", infer->op->name, axis);
    mxl_shape_set(&infer->out_shape[0], x->ndim, x->shape);
    infer->out_shape[0].dim[axis] = 1;
    infer->out_dtype[0] = MXL_I64;
    return 0;
}

static int kth_infer(mxl_infer *infer)
{
    const kth_params *p = infer->params;
    const mxl_array *x = infer->in[0];
    int64_t n;

    if (median_infer(infer) != 0)
        return -1;
    n = x->shape[mxl_shape_axis(p->axis, x->ndim)];
    if (p->k < 1 || p->k > n)
        return mxl_error("%s: k is %lld, a row has %lld elements", infer->op->name, (long long)p->k,
                         (long long)n);
    return 0;
}

static int find(const mxl_call *call, bool median)
{
    const kth_params *p = call->params;
    const mxl_array *x = call->in[0];
    mxl_split along = mxl_shape_split(p->axis, x->ndim, x->shape);

    return mxl_select(&(mxl_select_job){.dtype = x->dtype,
                                        .outer = along.outer,
                                        .n = along.n,
                                        .inner = along.inner,
                                        .k = median ? (along.n - 1) / 2 : p->k - 1,
                                        .first_nan = median,
                                        .in = mxl_array_read(x),
                                        .out = mxl_array_write(call->out[0])});
}

static int kth_compute(const mxl_call *call)
{
    return find(call, false);
}

static int median_compute(const mxl_call *call)
{
    return find(call, true);
}

static const mxl_op op_kth = {
    .name = "_mxl_kth",
    .doc = "Where the k-th smallest element of each row along an axis is, as int64; of equal "
           "elements the earlier one counts as smaller, a NaN as larger than every number.",
    .inputs = mxl_inputs_data,
    MXL_PARAMS(kth_params, kth_table),
    .infer = kth_infer,
    .compute = kth_compute,
};

static const mxl_op op_median = {
    .name = "_mxl_median",
    .doc = "Where the element in the middle of each row along an axis is, the lower one of two, "
           "as int64; of a row with NaN the first of those.",
    .inputs = mxl_inputs_data,
    MXL_PARAMS(kth_params, median_table),
    .infer = median_infer,
    .compute = median_compute,
};

const mxl_op *const mxl_ops_kth[] = {&op_kth, &op_median, NULL};
