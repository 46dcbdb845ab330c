/* _mxl_cumprod, cumulative products; and the linear recurrence _mxl_scan_linear, for their
 * gradients of any order. */
#include <stddef.h>
#include <string.h>

#include "array/batch/batched.h"
#include "array/copy.h"
#include "base/half.h"
#include "kernel/copy/cast.h"
#include "kernel/copy/strided_copy.h"
#include "kernel/reduce/scan.h"
#include "ops/shape/movement.h"

typedef struct scan_params {
    int64_t axis;
    int flag; /* exclusive or reverse */
} scan_params;

#define SCAN_AXIS                                                                                  \
    MXL_PARAM(scan_params, axis, MXL_P_INT, "-1", "The axis, counted from either end.")

#define SCAN_FLAG(text, meaning) MXL_PARAM_AS(text, scan_params, flag, MXL_P_BOOL, "0", meaning)

static int scan_infer(mxl_infer *infer)
{
    const scan_params *p = infer->params;

    if (mxl_infer_same(infer) != 0)
        return -1;
    if (infer->in[0]->dtype == MXL_BOOL)
        return mxl_error("%s: dtype bool is not supported", infer->op->name);
    if (mxl_shape_axis(p->axis, infer->in[0]->ndim) < 0)
        return mxl_error_prefix(infer->op->name);
    return 0;
}

/* Elements one position further along the axis, the last one gone and 1 in front. */
static void shift_ones(const mxl_array *x, const mxl_split *a, mxl_array *out)
{
    size_t width = mxl_dtype_size(x->dtype), row = (size_t)a->inner * width;
    const char *from = mxl_array_read(x);
    char *to = mxl_array_write(out);
    uint64_t one = 0;

    if (x->size == 0)
        return;
    mxl_cast_scalar(1, x->dtype, &one);
    for (int64_t o = 0; o < a->outer; o++, from += a->n * (int64_t)row, to += a->n * (int64_t)row) {
        memcpy(to + row, from, (size_t)(a->n - 1) * row);
        mxl_fill(width, to, &one, a->inner);
    }
}

/* Elements one position further along the axis, or back, the last one gone and 0 in its place. */
static mxl_array *shift(mxl_grad *g, mxl_array *x, bool back)
{
    int axis;
    int64_t n;

    if (x == NULL)
        return NULL;
    axis = mxl_shape_axis(((const scan_params *)g->params)->axis, x->ndim);
    n = x->shape[axis];
    if (n < 2)
        return mxl_zeros_like(g->s, x);
    return mxl_slice_put(g->s, mxl_slice_axis(g->s, x, axis, back ? 1 : 0, back ? n : n - 1), axis,
                         back ? 0 : 1, x->ndim, x->shape);
}

static mxl_array *scan_call(mxl_grad *g, const mxl_op *op, bool flag, mxl_array *x,
                            mxl_array *factors)
{
    scan_params p = {((const scan_params *)g->params)->axis, flag};
    mxl_array *inputs[2] = {x, factors};

    return mxl_scope_call(g->s, op, &p, factors == NULL ? 1 : 2, inputs);
}

static const mxl_op op_linear, op_cumprod;

/* ---- _mxl_scan_linear ---- */

static int linear_infer(mxl_infer *infer)
{
    if (!mxl_dtype_is_float(infer->in[0]->dtype))
        return mxl_error("%s: takes floats, got %s", infer->op->name,
                         mxl_dtype_name(infer->in[0]->dtype));
    return scan_infer(infer);
}

static int linear_compute(const mxl_call *call)
{
    const scan_params *p = call->params;
    const mxl_array *x = call->in[0];
    mxl_split a = mxl_shape_split(p->axis, x->ndim, x->shape);

    mxl_scan_linear(x->dtype, a.outer, a.n, a.inner, p->flag != 0, mxl_array_read(x),
                    mxl_array_read(call->in[1]), mxl_array_write(call->out[0]));
    return 0;
}

/* y[i] = x[i] + f[i] y[i - 1]: dx runs from the other end, dx[i] = dy[i] + f[i + 1] dx[i + 1], and
 * df[i] = dx[i] y[i - 1]. Reversed, y[i] = x[i] + f[i + 1] y[i + 1], df[i] = dx[i - 1] y[i]. */
static int linear_grad(mxl_grad *g)
{
    bool reverse = ((const scan_params *)g->params)->flag != 0;
    mxl_array *dx = scan_call(g, &op_linear, !reverse, g->grad_output[0], mxl_grad_in(g, 1)), *y;

    if (mxl_grad_set(g, 0, dx) != 0)
        return -1;
    if (!mxl_grad_wants(g, 1))
        return 0;
    y = mxl_grad_out(g, 0);
    if (reverse)
        dx = shift(g, dx, false);
    else
        y = shift(g, y, false);
    return mxl_grad_set(g, 1, mxl_mul(g->s, dx, y));
}

static void linear_saves(mxl_saves *saves)
{
    saves->in[1] = true;
    saves->out[0] = saves->wants[1];
}

static const mxl_op op_linear = {
    .name = "_mxl_scan_linear",
    .doc = "out[i] = data[i] + factors[i] out[i - 1] along an axis; reversed data[i] + factors[i + "
           "1] out[i + 1].",
    MXL_INPUTS(MXL_INPUT(data, "The term to add at each position."),
               MXL_INPUT(factors, "The factor of the result at the position before; that of the "
                                  "first position is not read.")),
    MXL_PARAMS_OF(scan_params, SCAN_AXIS,
                  SCAN_FLAG("reverse", "Whether the recurrence runs from the end.")),
    .infer = linear_infer,
    .compute = linear_compute,
    .grad = linear_grad,
    .saves = linear_saves,
    .along = true,
};

/* ---- _mxl_cumprod ---- */

static int cumprod_compute(const mxl_call *call)
{
    const scan_params *p = call->params;
    const mxl_array *x = call->in[0];
    mxl_array *out = call->out[0];
    mxl_split a = mxl_shape_split(p->axis, x->ndim, x->shape);

    if (p->flag) {
        shift_ones(x, &a, out);
        x = out;
    }
    mxl_scan_product(x->dtype, a.outer, a.n, a.inner, mxl_array_read(x), mxl_array_write(out));
    return 0;
}

/* Whether an element is 0; -1 with the error set. Only of floats is it asked. */
static int has_zero(mxl_array *x)
{
    bool batched = x != NULL && (mxl_array_is_batched(x) || mxl_array_is_meta(x));
    mxl_array *flat = x == NULL || batched ? NULL : mxl_array_contiguous(x);
    const void *data;
    int found = 0;

    if (batched)
        return 1; /* the way that holds for all numbers */
    if (flat == NULL)
        return -1;
    data = mxl_array_read(flat);
    for (int64_t i = 0; i < flat->size; i++)
        found |= flat->dtype == MXL_F32   ? ((const float *)data)[i] == 0
                 : flat->dtype == MXL_F64 ? ((const double *)data)[i] == 0
                                          : (((const mxl_half *)data)[i] & 0x7FFF) == 0;
    mxl_array_release(flat);
    return found;
}

/* dx[i] = the sum over k >= i of dy[k] y[k], divided by x[i]: as in PyTorch its derivative reads y.
 * If x has zeros, and for exclusive products: the product before i, times the sum over k >= i of
 * dy[k] x[i + 1] ... x[k]. That sum is a linear recurrence from the end; for exclusive products it
 * begins at dy[i + 1]. */
static int cumprod_grad(mxl_grad *g)
{
    bool exclusive = ((const scan_params *)g->params)->flag != 0;
    mxl_array *x = mxl_grad_in(g, 0), *dy = g->grad_output[0], *ones;
    int zero = exclusive ? 1 : has_zero(x);

    if (zero < 0)
        return -1;
    if (zero == 0) {
        ones = mxl_apply(g->s, &mxl_op_ones_like, x);
        dy = scan_call(g, &op_linear, true, mxl_mul(g->s, dy, mxl_grad_out(g, 0)), ones);
        return mxl_grad_set(g, 0, mxl_div(g->s, dy, x));
    }
    if (exclusive)
        dy = shift(g, dy, true);
    dy = scan_call(g, &op_linear, true, dy, x);
    return mxl_grad_set(g, 0, mxl_mul(g->s, scan_call(g, &op_cumprod, true, x, NULL), dy));
}

static void cumprod_saves(mxl_saves *saves)
{
    saves->in[0] = true;
    saves->out[0] = ((const scan_params *)saves->params)->flag == 0;
}

static const mxl_op op_cumprod = {
    .name = "_mxl_cumprod",
    .doc = "Running products along an axis: each element times all before it.",
    MXL_PARAMS_OF(
        scan_params, SCAN_AXIS,
        SCAN_FLAG("exclusive",
                  "Whether an element's product is that of the elements before it alone.")),
    .infer = scan_infer,
    .compute = cumprod_compute,
    .u64 = MXL_U64_WRAPS,
    .grad = cumprod_grad,
    .saves = cumprod_saves,
};

mxl_array *mxl_products_before(mxl_scope *s, mxl_array *a, int axis)
{
    scan_params p = {axis, true};

    return mxl_scope_call(s, &op_cumprod, &p, 1, &a);
}

const mxl_op *const mxl_ops_cumprod[] = {&op_cumprod, &op_linear, NULL};
