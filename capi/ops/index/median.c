/* _mxl_median: the position of the middle element of each row, without sorting. */
#include <stddef.h>

#include "kernel/sort/select.h"
#include "ops/build.h"

typedef struct median_params {
    int64_t axis;
} median_params;

static int median_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0];
    int axis = mxl_shape_axis(((const median_params *)infer->params)->axis, x->ndim);

    if (axis < 0)
        return mxl_error_prefix(infer->op->name);
    if (x->shape[axis] == 0)
        return mxl_error("%s: axis %d has no elements", infer->op->name, axis);
    mxl_shape_set(&infer->out_shape[0], x->ndim, x->shape);
    infer->out_shape[0].dim[axis] = 1;
    infer->out_dtype[0] = MXL_I64;
    return 0;
}

static int median_compute(const mxl_call *call)
{
    const median_params *p = call->params;
    const mxl_array *x = call->in[0];
    mxl_split along = mxl_shape_split(p->axis, x->ndim, x->shape);

    return mxl_select(&(mxl_select_job){.dtype = x->dtype,
                                        .outer = along.outer,
                                        .n = along.n,
                                        .inner = along.inner,
                                        .k = (along.n - 1) / 2,
                                        .in = mxl_array_read(x),
                                        .out = mxl_array_write(call->out[0])});
}

static const mxl_op op_median = {
    .name = "_mxl_median",
    .doc = "The index of the median of each row along an axis, as int64: of two middle elements "
           "that of the lower one, of a row with NaN that of the first NaN.",
    MXL_PARAMS_OF(median_params,
                  MXL_PARAM(median_params, axis, MXL_P_INT, "-1",
                            "The axis, counted from either end; it stays, with size 1.")),
    .infer = median_infer,
    .compute = median_compute,
};

const mxl_op *const mxl_ops_median[] = {&op_median, NULL};
