/* Operators that copy, cast or block: _copy, _copyto, Cast, BlockGrad; and those with
 * which the engine brings a gradient to its input's shape: _mxl_sum_to and _mxl_broadcast_to. */
#include "ops/batch/rules.h"
#include "ops/build.h"

#include <string.h>

#include "array/copy.h"
#include "array/expression.h"
#include "kernel/copy/strided_copy.h"
#include "kernel/reduce/reduce.h"
#include "ops/sparse/forms.h"

static int copy_compute(const mxl_call *call)
{
    return mxl_array_copy_into(call->out[0], call->in[0]);
}

/* A copy has its input's device, even a pinned or shared one. */
static int copy_infer(mxl_infer *infer)
{
    if (mxl_infer_same(infer) != 0)
        return -1;
    infer->device = infer->in[0]->device;
    return 0;
}

const mxl_op mxl_op_copy = {
    .name = "_copy",
    .aliases = MXL_ALIASES("identity"),
    .numpy_name = "_np_copy",
    .doc = "A copy of the array.",
    .infer = copy_infer,
    .shapes = "A>A",
    .compute = copy_compute,
    .any_dtype = true,
    .grad = mxl_grad_pass,
    .sparse = &mxl_sparse_copies,
    .in_place = true,
    .strided = true,
    .keeps_layout = true,
    .node_name = "CopyBackwards",
    .along = true,
};

/* out= gives the dtype. */
static int copyto_infer(mxl_infer *infer)
{
    int given = infer->out_dtype[0];

    infer->out_dtype[0] = MXL_DTYPE_UNKNOWN;
    if (mxl_infer_same(infer) != 0)
        return -1;
    if (given == MXL_DTYPE_UNKNOWN)
        return mxl_error("_copyto: writes into an array that is given, and none with a dtype was");
    infer->out_dtype[0] = given;
    return 0;
}

static const mxl_op op_copyto = {
    .name = "_copyto",
    .aliases = MXL_ALIASES("_npi_copyto"),
    .doc = "Copies the array into the one given as output, casting where the dtypes differ.",
    MXL_INPUTS(MXL_INPUT(data, "The array to copy.", .type_text = "NDArray")),
    .infer = copyto_infer,
    .shapes = "A>A",
    .dtypes = ".>.",
    .compute = copy_compute,
    .any_dtype = true,
    .grad = mxl_grad_pass,
    .sparse = &mxl_sparse_copies,
    .in_place = true,
    .needs_out = true,
    MXL_BATCH(mxl_vmap_copyto),
};

/* ---- Cast ---- */

const char *const mxl_dtype_names[] = {"bfloat16", "bool",  "float16", "float32", "float64",
                                       "int32",    "int64", "int8",    "uint8",   NULL};
const char *const mxl_number_names[] = {"bfloat16", "float16", "float32", "float64", "int32",
                                        "int64",    "int8",    "uint8",   NULL};
const char *const mxl_float_names[] = {"None", "float16", "float32", "float64", NULL};

static int cast_infer(mxl_infer *infer)
{
    if (copy_infer(infer) != 0)
        return -1;
    infer->out_dtype[0] = *(const int *)infer->params;
    return 0;
}

/* dx = dy, which the engine casts back to the input's dtype */
const mxl_op mxl_op_cast = {
    .name = "Cast",
    .aliases = MXL_ALIASES("_npi_cast", "_npx_cast", "cast"),
    .doc = "The array in another dtype. Floating numbers are cut towards zero to become integers.",
    MXL_ONLY_PARAM(int, dtype, MXL_P_DTYPE, MXL_REQUIRED, "The dtype of the result.",
                   .values = mxl_dtype_names),
    .infer = cast_infer,
    .shapes = "A>A",
    .compute = copy_compute,
    .any_dtype = true,
    .grad = mxl_grad_pass,
    .strided = true,
    .keeps_layout = true,
    .node_name = "ToCopyBackward0",
    .along = true,
};

const mxl_op mxl_op_block_grad = {
    .name = "BlockGrad",
    .aliases = MXL_ALIASES("_sparse_stop_gradient", "stop_gradient"),
    .doc = "A copy of the array through which no gradient flows: its gradient is zero.",
    .infer = mxl_infer_same,
    .compute = copy_compute,
    .any_dtype = true,
    .sparse = &mxl_sparse_copies,
    .grad = mxl_grad_zero,
    .in_place = true,
    .along = true,
};

/* ---- sums and broadcasts to a shape ---- */

static int shape_infer(mxl_infer *infer)
{
    return mxl_infer_to(infer, *(const mxl_tuple *)infer->params);
}

/* Marks the dimensions of `from` along which `to` (aligned at the last dimension) has size 1 or no
 * dimension; -1 if `to` does not broadcast to `from`. */
static int reduced_axes(const char *name, int from_ndim, const int64_t *from, int to_ndim,
                        const int64_t *to, bool *reduced)
{
    int lead = from_ndim - to_ndim;

    for (int i = 0; i < from_ndim; i++) {
        int64_t extent = i < lead ? 1 : to[i - lead];

        reduced[i] = extent == 1 && from[i] != 1;
        if (!reduced[i] && extent != from[i])
            lead = -1;
        if (lead < 0)
            break;
    }
    if (lead < 0) {
        return mxl_error("%s: shapes %s and %s do not match by broadcasting", name,
                         MXL_SHAPE_TEXT(to_ndim, to), MXL_SHAPE_TEXT(from_ndim, from));
    }
    return 0;
}

static int sum_to_compute(const mxl_call *call)
{
    mxl_array *in = call->in[0];
    mxl_array *out = call->out[0];
    bool reduced[MXL_MAX_NDIM];

    if (in->size == out->size)
        return mxl_array_copy_into(out, in);
    if (reduced_axes(call->op->name, in->ndim, in->shape, out->ndim, out->shape, reduced) != 0)
        return -1;
    if (mxl_defers(in->size) &&
        mxl_defer_reduction(MXL_REDUCE_SUM, call->op->name, in, reduced, out))
        return 0;
    return mxl_reduce(MXL_REDUCE_SUM, in->dtype, in->ndim, in->shape, in->strides, reduced,
                      mxl_array_read(in), mxl_array_write(out));
}

/* dx = dy broadcast back, or reshaped if nothing was summed */
static int sum_to_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0), *y = mxl_grad_out_meta(g, 0);

    if (mxl_shape_size(x->ndim, x->shape) == mxl_shape_size(y->ndim, y->shape))
        return mxl_grad_set(g, 0, mxl_reshape(g->s, g->grad_output[0], x->ndim, x->shape));
    return mxl_grad_set(g, 0, mxl_broadcast_to(g->s, g->grad_output[0], x->ndim, x->shape));
}

const mxl_op mxl_op_sum_to = {
    .name = "_mxl_sum_to",
    .doc = "Sums the axes that broadcasting `shape` to the array's shape enlarges.",
    MXL_ONLY_PARAM(mxl_tuple, shape, MXL_P_SHAPE, MXL_REQUIRED, "Shape of the result."),
    .infer = shape_infer,
    .compute = sum_to_compute,
    .u64 = MXL_U64_WRAPS,
    .grad = sum_to_grad,
    .node_name = "SumBackward1",
};

const mxl_op *const mxl_ops_cast[] = {
    &mxl_op_copy, &op_copyto, &mxl_op_cast, &mxl_op_block_grad, &mxl_op_sum_to, NULL,
};
