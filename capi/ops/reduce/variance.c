/* The variance over axes and its root, the standard deviation, divided by the number of elements
 * less a correction. */
#include <math.h>
#include <stddef.h>

#include "array/copy.h"
#include "kernel/reduce/moments.h"
#include "ops/elementwise/elementwise.h"
#include "ops/reduce/reduce_ops.h"

typedef struct variance_params {
    mxl_reduce_params reduce;
    double correction;
    int root, sure;
} variance_params;

/* How many elements one of the result is of; -1 with the error set. */
static int64_t count_of(const char *name, const variance_params *p, const mxl_array *x)
{
    bool reduced[MXL_MAX_NDIM];
    int64_t count = 1;

    if (mxl_reduce_axes(name, &p->reduce, x->ndim, reduced) != 0)
        return -1;
    for (int i = 0; i < x->ndim; i++)
        count *= reduced[i] ? x->shape[i] : 1;
    return count;
}

static int variance_infer(mxl_infer *infer)
{
    const variance_params *p = infer->params;

    if (!mxl_dtype_is_float(infer->in[0]->dtype))
        return mxl_error("%s: takes floating dtypes, got %s", p->root ? "std" : "var",
                         mxl_dtype_name(infer->in[0]->dtype));
    if (mxl_reduce_infer(infer) != 0)
        return -1;
    if (p->sure && (double)count_of(infer->op->name, p, infer->in[0]) <= p->correction)
        return mxl_error("%s: there are no more elements than the correction, %g",
                         p->root ? "std" : "var", p->correction);
    return 0;
}

/* What squares are divided by, of `count` elements: 0 where none is left. */
static double divisor(const variance_params *p, double count)
{
    return count > p->correction ? count - p->correction : 0;
}

/* ---- compute ---- */

/* Writes the mean of the squares of distances from the mean to a float64 array. Squares of large
 * numbers have room if they are float64 themselves. */
static int mean_squares(const mxl_call *call, mxl_array *found)
{
    const variance_params *p = call->params;
    int dtype = p->root || call->in[0]->dtype == MXL_F16 ? MXL_F64 : call->in[0]->dtype;
    mxl_array *wide = call->in[0]->dtype == dtype ? NULL : mxl_array_copy_as(call->in[0], dtype);
    mxl_array *mean = mxl_array_new(dtype, found->ndim, found->shape);
    mxl_array *squares = mxl_array_new(dtype, found->ndim, found->shape);
    const mxl_array *x = wide != NULL ? wide : call->in[0];
    bool reduced[MXL_MAX_NDIM];
    int status = -1;

    if (x->dtype == dtype && mean != NULL && squares != NULL &&
        mxl_reduce_axes(call->op->name, &p->reduce, x->ndim, reduced) == 0)
        status = mxl_moments(dtype, x->ndim, x->shape, x->strides, reduced, mxl_array_read(x),
                             mxl_array_write(mean), mxl_array_write(squares));
    if (status == 0)
        status = mxl_array_copy_into(found, squares);
    mxl_array_release(mean);
    mxl_array_release(squares);
    mxl_array_release(wide);
    return status;
}

static int variance_compute(const mxl_call *call)
{
    const variance_params *p = call->params;
    mxl_array *out = call->out[0], *found;
    double count, over, *v;
    int status;

    if (out->size == 0)
        return 0;
    count = (double)call->in[0]->size / (double)out->size;
    over = divisor(p, count);
    found = mxl_array_new(MXL_F64, out->ndim, out->shape);
    status = found == NULL ? -1 : mean_squares(call, found);
    v = found == NULL ? NULL : mxl_array_write(found);
    for (int64_t i = 0; i < out->size && status == 0; i++) {
        double squares = over > 0 ? v[i] * (count / over) : v[i] / 0.0;

        v[i] = p->root ? sqrt(squares) : squares;
    }
    if (status == 0)
        status = mxl_array_copy_into(out, found);
    mxl_array_release(found);
    return status;
}

/* ---- the vjp ---- */

/* The mean over the reduced axes, which keep size 1. */
static mxl_array *mean_of(mxl_grad *g, mxl_array *x)
{
    mxl_reduce_params params = ((const variance_params *)g->params)->reduce;

    if (x == NULL || x->ndim == 0)
        return x;
    params.keepdims = 1;
    return mxl_scope_call(g->s, &mxl_op_mean, &params, 1, &x);
}

/* Each element less the mean: exactly 0 where all are equal, as their rounded sum need not be. */
static mxl_array *distances(mxl_grad *g, mxl_array *x)
{
    mxl_scope *s = g->s;
    mxl_array *away = mxl_sub(s, x, mean_of(g, x)), *rest = mean_of(g, away);

    return mxl_sub(s, away, mxl_where(s, mxl_equal(s, rest, rest), rest, mxl_zeros_like(s, rest)));
}

/* dx = 2 dy (x - mean) / (count - correction). Where nothing is left to divide by, infinite; NaN
 * where x is the mean. */
static mxl_array *of_variance(mxl_grad *g, mxl_array *x, double count, bool whole)
{
    const variance_params *p = g->params;
    mxl_array *dy = mxl_reduce_back(g, g->grad_output[0]), *apart;

    if (!whole || divisor(p, count) > 0)
        return mxl_mul(g->s, mxl_mul_scalar(g->s, dy, 2 / (count - p->correction)),
                       distances(g, x));
    apart = mxl_one_minus(g->s, mxl_equal(g->s, x, mean_of(g, x)));
    return mxl_mul(g->s, dy, mxl_mul_scalar(g->s, apart, INFINITY));
}

/* dx = dy (x - mean) / (y (count - correction)), 0 where y is 0. Where nothing is left to divide
 * by, y is infinite or NaN: over axes 0 times that if the correction is above the count, else NaN.
 */
static mxl_array *of_deviation(mxl_grad *g, mxl_array *x, double count, bool whole)
{
    const variance_params *p = g->params;
    mxl_scope *s = g->s;
    mxl_array *dy = mxl_reduce_back(g, g->grad_output[0]);
    mxl_array *y = mxl_reduce_back(g, mxl_grad_out(g, 0)), *away = distances(g, x), *part;
    double over = divisor(p, count);

    if (over == 0)
        return mxl_mul(s, mxl_div(s, dy, y),
                       mxl_mul_scalar(s, away, !whole && count < p->correction ? 0 : NAN));
    part = mxl_div(s, dy, mxl_mul_scalar(s, y, over));
    part = mxl_where(s, mxl_equal(s, y, mxl_zeros_like(s, y)), mxl_zeros_like(s, y), part);
    return mxl_mul(s, part, away);
}

static int variance_grad(mxl_grad *g)
{
    const variance_params *p = g->params;
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    bool whole = p->reduce.axis.n <= 0 || x->ndim == 0;
    double count = mxl_shape_size(x->ndim, x->shape) == 0 ? 0 : mxl_reduce_count(g);
    mxl_array *in = mxl_grad_in(g, 0);

    return mxl_grad_set(
        g, 0, p->root ? of_deviation(g, in, count, whole) : of_variance(g, in, count, whole));
}

static void variance_saves(mxl_saves *saves)
{
    saves->in[0] = true;
    saves->out[0] = ((const variance_params *)saves->params)->root != 0;
}

static const mxl_op op_variance = {
    .name = "_mxl_variance",
    .inputs = mxl_inputs_data,
    .doc =
        "The variance over axes, or its root: the sum of the squares of distances from the mean, "
        "divided by the number of elements less a correction.",
    MXL_PARAMS_OF(variance_params,
                  MXL_PARAM_AS("axis", variance_params, reduce.axis, MXL_P_OPT_SHAPE, "None",
                               "The axes to reduce, counted from either end; none named: all."),
                  MXL_PARAM_AS("keepdims", variance_params, reduce.keepdims, MXL_P_BOOL, "0",
                               "Whether the reduced axes stay, with extent 1."),
                  MXL_PARAM(variance_params, correction, MXL_P_FLOAT, "1",
                            "What the number of elements is reduced by.", .type_name = "double"),
                  MXL_PARAM(variance_params, root, MXL_P_BOOL, "0",
                            "Whether the result is the standard deviation."),
                  MXL_PARAM(variance_params, sure, MXL_P_BOOL, "0",
                            "Whether it is an error where nothing is left to divide by.")),
    .infer = variance_infer,
    .compute = variance_compute,
    .grad = variance_grad,
    .saves = variance_saves,
    .strided = true,
};

const mxl_op *const mxl_ops_variance[] = {&op_variance, NULL};
