/* norm, moments and cumsum: reductions with their own vjps, and cumulative sums. */
#include <stddef.h>

#include "array/copy.h"
#include "kernel/reduce/moments.h"
#include "kernel/reduce/scan.h"
#include "ops/reduce/reduce_ops.h"
#include "ops/sparse/forms.h"

static const char *const sum_dtypes[] = {"None",  "float16", "float32", "float64",
                                         "int32", "int64",   "int8",    NULL};

/* ---- norm ---- */

typedef struct norm_params {
    mxl_reduce_params reduce;
    int64_t ord;
    int out_dtype;
} norm_params;

static int norm_infer(mxl_infer *infer)
{
    const norm_params *p = infer->params;
    int dtype = infer->in[0]->dtype;

    if (p->ord != 1 && p->ord != 2)
        return mxl_error("norm: ord must be 1 or 2, got %lld", (long long)p->ord);
    if (p->out_dtype != MXL_DTYPE_UNKNOWN && p->out_dtype != dtype)
        return mxl_error("norm: out_dtype is %s, it must be the array's, %s",
                         mxl_dtype_name(p->out_dtype), mxl_dtype_name(dtype));
    return mxl_reduce_infer(infer);
}

static int norm_compute(const mxl_call *call)
{
    const norm_params *p = call->params;

    return mxl_reduce_call(call, p->ord == 1 ? MXL_REDUCE_NORM1 : MXL_REDUCE_NORM2);
}

/* Zeros add nothing to the norm of all elements. */
static bool norm_stypes(mxl_stypes *call)
{
    return call->in[0] != MXL_DENSE && ((const norm_params *)call->params)->reduce.axis.n <= 0;
}

static int norm_sparse(const mxl_call *call)
{
    mxl_parts *parts = mxl_sparse_read(call->in[0]);
    mxl_call stored = *call;
    int status;

    if (parts == NULL)
        return -1;
    stored.in = &parts->data;
    status = norm_compute(&stored);
    mxl_parts_release(parts);
    return status;
}

static const mxl_sparse_forms norm_forms = {.stypes = norm_stypes, .compute = norm_sparse};

/* ord 1: dx = dy sign(x). ord 2: dx = dy x / y, which is NaN where y is 0, as in 1.9.1. */
static int norm_grad(mxl_grad *g)
{
    const norm_params *p = g->params;
    mxl_array *x = mxl_grad_in(g, 0), *dy = mxl_reduce_back(g, g->grad_output[0]), *y;

    if (p->ord == 1)
        return mxl_grad_set(g, 0, mxl_mul(g->s, dy, mxl_sign(g->s, x)));
    y = mxl_reduce_back(g, mxl_grad_out(g, 0));
    return mxl_grad_set(g, 0, mxl_mul(g->s, mxl_div(g->s, dy, y), x));
}

/* The array's dtype, which out_dtype repeats. */
static int norm_dtypes(mxl_rule *rule)
{
    int dtype = ((const norm_params *)rule->params)->out_dtype;

    if (mxl_rule_say_dtype(rule, rule->in[0], dtype) != 0)
        return -1;
    return mxl_rule_said_dtypes(rule, "A>A");
}

static void norm_saves(mxl_saves *saves)
{
    saves->in[0] = true;
    saves->out[0] = ((const norm_params *)saves->params)->ord == 2;
}

static const mxl_op op_norm = {
    .name = "norm",
    .aliases = MXL_ALIASES("_sparse_norm"),
    .doc = "Norm over axes: of vectors along one axis, of all elements together along several.",
    MXL_PARAMS_OF(norm_params,
                  MXL_PARAM(norm_params, ord, MXL_P_INT, "2",
                            "1: the sum of magnitudes; 2: the root of the sum of squares."),
                  MXL_PARAM_AS("axis", norm_params, reduce.axis, MXL_P_OPT_SHAPE, "None",
                               "The axes to reduce, counted from either end; none named: all."),
                  MXL_PARAM(norm_params, out_dtype, MXL_P_DTYPE, "None",
                            "The dtype of the result, which must be the array's.",
                            .values = sum_dtypes),
                  MXL_PARAM_AS("keepdims", norm_params, reduce.keepdims, MXL_P_BOOL, "0",
                               "Whether the reduced axes stay, with extent 1.")),
    .infer = norm_infer,
    .complete_dtypes = norm_dtypes,
    .compute = norm_compute,
    .sparse = &norm_forms,
    .grad = norm_grad,
    .saves = norm_saves,
};

/* ---- moments ---- */

static int moments_infer(mxl_infer *infer)
{
    if (((const mxl_reduce_params *)infer->params)->axis.n < 1)
        return mxl_error("moments: axes must name at least one axis; for all of them name all");
    if (infer->in[0]->dtype == MXL_BOOL)
        return mxl_error("moments: dtype bool is not supported");
    if (mxl_reduce_infer(infer) != 0)
        return -1;
    infer->out_shape[1] = infer->out_shape[0];
    infer->out_dtype[1] = infer->out_dtype[0];
    return 0;
}

static int moments_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0];
    bool reduced[MXL_MAX_NDIM];

    if (mxl_reduce_axes(call->op->name, call->params, x->ndim, reduced) != 0)
        return -1;
    return mxl_moments(x->dtype, x->ndim, x->shape, x->strides, reduced, mxl_array_read(x),
                       mxl_array_write(call->out[0]), mxl_array_write(call->out[1]));
}

/* dx = (dmean + 2 (x - mean) dvar) / count: the variance does not change with the mean to first
 * order */
static int moments_grad(mxl_grad *g)
{
    mxl_array *away, *sum;

    away = mxl_sub(g->s, mxl_grad_in(g, 0), mxl_reduce_back(g, mxl_grad_out(g, 0)));
    sum = mxl_mul(g->s, mxl_mul_scalar(g->s, away, 2),
                  mxl_reduce_back(g, mxl_grad_output_grad(g, 1)));
    sum = mxl_add(g->s, sum, mxl_reduce_back(g, mxl_grad_output_grad(g, 0)));
    return mxl_grad_set(g, 0, mxl_div_scalar(g->s, sum, mxl_reduce_count(g)));
}

static const mxl_op op_moments = {
    .name = "moments",
    .inputs = mxl_inputs_data,
    .doc = "Mean and variance over axes: two results.",
    MXL_PARAMS_OF(mxl_reduce_params,
                  MXL_PARAM_AS("axes", mxl_reduce_params, axis, MXL_P_OPT_SHAPE, "None",
                               "The axes to reduce, counted from either end; at least one."),
                  MXL_PARAM(mxl_reduce_params, keepdims, MXL_P_BOOL, "0",
                            "Whether the reduced axes stay, with extent 1.")),
    .arity = mxl_arity_two,
    .infer = moments_infer,
    .compute = moments_compute,
    .grad = moments_grad,
    .saves = mxl_saves_input_and_output,
};

/* ---- cumsum ---- */

typedef struct cumsum_params {
    int64_t axis;
    int dtype;
} cumsum_params;

static int cumsum_infer(mxl_infer *infer)
{
    const cumsum_params *p = infer->params;
    const mxl_array *x = infer->in[0];
    mxl_shape *out = &infer->out_shape[0];

    infer->out_dtype[0] = x->dtype == MXL_BOOL ? MXL_I64 : x->dtype;
    if (p->dtype != MXL_DTYPE_UNKNOWN)
        infer->out_dtype[0] = p->dtype;
    if (p->axis == MXL_NONE) {
        mxl_shape_set(out, 1, &x->size);
        return 0;
    }
    if (mxl_shape_axis(p->axis, x->ndim) < 0)
        return mxl_error_prefix("cumsum");
    mxl_shape_set(out, x->ndim, x->shape);
    return 0;
}

static int cumsum_compute(const mxl_call *call)
{
    const cumsum_params *p = call->params;
    const mxl_array *x = call->in[0];
    mxl_array *out = call->out[0];
    mxl_split along = mxl_shape_split(p->axis, x->ndim, x->shape);

    if (out->dtype != x->dtype) {
        if (mxl_array_copy_into(out, x) != 0)
            return -1;
        x = out;
    }
    mxl_scan_sum(out->dtype, along.outer, along.n, along.inner, mxl_array_read(x),
                 mxl_array_write(out));
    return 0;
}

static const mxl_op op_cumsum;

/* dx = the sums of dy from each position to the end */
static int cumsum_grad(mxl_grad *g)
{
    const cumsum_params *p = g->params;
    const mxl_meta *x = mxl_grad_in_meta(g, 0), *y = mxl_grad_out_meta(g, 0);
    cumsum_params along = {.axis = 0, .dtype = MXL_DTYPE_UNKNOWN};
    mxl_array *dy;

    if (p->axis != MXL_NONE)
        along.axis = mxl_shape_axis(p->axis, y->ndim);
    dy = mxl_reverse(g->s, g->grad_output[0], (int)along.axis);
    dy = mxl_scope_call(g->s, &op_cumsum, &along, 1, &dy);
    dy = mxl_reverse(g->s, dy, (int)along.axis);
    return mxl_grad_set(g, 0, mxl_reshape(g->s, dy, x->ndim, x->shape));
}

/* Without an axis the result is a running sum of all elements in a row. */
static int cumsum_complete(mxl_rule *rule)
{
    bool flat = ((const cumsum_params *)rule->params)->axis == MXL_NONE;

    return flat ? 0 : mxl_rule_said_shapes(rule, "A>A");
}

static const mxl_op op_cumsum = {
    .name = "_np_cumsum",
    .aliases = MXL_ALIASES("cumsum"),
    .doc = "Running sums along an axis: each element plus all before it.",
    MXL_INPUTS(MXL_INPUT(a, "Input array, of any shape.")),
    MXL_PARAMS_OF(
        cumsum_params,
        MXL_PARAM(cumsum_params, axis, MXL_P_OPT_INT, "None",
                  "The axis to sum along, counted from either end; None: the flattened array."),
        MXL_PARAM(
            cumsum_params, dtype, MXL_P_DTYPE, "None",
            "The dtype of the result, in which the elements are added; None: the array's, int64 "
            "for bool.",
            .values = sum_dtypes)),
    .infer = cumsum_infer,
    .complete_shapes = cumsum_complete,
    .dtypes = "A>s",
    .compute = cumsum_compute,
    .u64 = MXL_U64_WRAPS,
    .grad = cumsum_grad,
};

const mxl_op *const mxl_ops_norm[] = {&op_norm, &op_moments, &op_cumsum, NULL};
