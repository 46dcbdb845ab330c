/* Soft steps of PyTorch's that are one node of a graph: _mxl_silu and _mxl_softplus. mxlite.torch
 * calls them. */
#include <math.h>
#include <stddef.h>

#include "ops/elementwise/elementwise.h"

/* ---- x sigmoid(x) ---- */

MXL_FLOAT_KERNELS(silu, MXL_UNARY_LOOP, x * mxl_loop_sigmoid(x));

/* dx = dy s (1 + x (1 - s)), s = sigmoid(x) */
static mxl_array *silu_slope(mxl_scope *s, mxl_array *x)
{
    mxl_array *share = mxl_apply(s, &mxl_op_sigmoid, x);
    mxl_array *rest = mxl_add_scalar(s, mxl_negative(s, share), 1);

    return mxl_mul(s, share, mxl_add_scalar(s, mxl_mul(s, x, rest), 1));
}

MXL_DX_OF_X(silu, mxl_mul(s, dy, silu_slope(s, x)))

MXL_GRAD_KERNEL(silu, MXL_FLOAT_KERNELS, mxl_grad_in,
                y * mxl_loop_sigmoid(x) * (x * (1 - mxl_loop_sigmoid(x)) + 1))

static MXL_UNARY_AS(silu, "_mxl_silu", silu, "x sigmoid(x) of each element.", MXL_RULE_OF_X(silu),
                    .grad_kernel = silu_grad_kernel);

/* ---- log(1 + e^(beta x)) / beta ---- */

typedef struct softplus_params {
    double beta, threshold;
} softplus_params;

static mxl_array *number(mxl_scope *s, mxl_array *x, double value)
{
    return mxl_mul_scalar(s, mxl_apply(s, &mxl_op_ones_like, x), value);
}

#define NUMBER(member) (((const softplus_params *)params)->member)
#define OF_P(member)   _Generic((x), float: (float)NUMBER(member), default: NUMBER(member))
#define SCALED         (x * OF_P(beta))
MXL_FLOAT_KERNELS(softplus, MXL_UNARY_LOOP,
                  SCALED > OF_P(threshold) ? x : mxl_loop_softrelu(SCALED) / OF_P(beta));

/* dx = dy above the threshold, else dy sigmoid(beta x); at the threshold a constant, of which the
 * derivative is 0. */
static int softplus_grad(mxl_grad *g)
{
    const softplus_params *p = g->params;
    mxl_scope *s = g->s;
    mxl_array *y, *above, *from, *top, *slope;

    if (!mxl_grad_wants(g, 0))
        return 0;
    y = mxl_mul_scalar(s, mxl_grad_in(g, 0), p->beta);
    above = mxl_apply_scalar(s, &mxl_op_greater_scalar, y, p->threshold);
    from = mxl_apply_scalar(s, &mxl_op_greater_equal_scalar, y, p->threshold);
    top = mxl_where(s, above, number(s, y, 1), number(s, y, 1 / (1 + exp(-p->threshold))));
    slope = mxl_where(s, from, top, mxl_apply(s, &mxl_op_sigmoid, y));
    return mxl_grad_times(g, 0, slope);
}

static const mxl_op op_softplus = {
    .name = "_mxl_softplus",
    .doc =
        "log(1 + e^(beta data)) / beta of each element; data itself where beta data is above the "
        "threshold.",
    MXL_PARAMS_OF(
        softplus_params,
        MXL_PARAM(softplus_params, beta, MXL_P_FLOAT, "1", "The factor.", .type_name = "double"),
        MXL_PARAM(softplus_params, threshold, MXL_P_FLOAT, "20",
                  "Above it the function is the identity.", .type_name = "double")),
    .infer = mxl_infer_float_same,
    MXL_LOOPS(softplus),
    .grad = softplus_grad,
    .saves = mxl_saves_input,
};

const mxl_op *const mxl_ops_soft[] = {&mxl_op_silu, &op_softplus, NULL};
