/* Roots, powers and logarithms of one array, except those of unary.c. */
#include "ops/elementwise/elementwise.h"

static const double LN_2 = 0.69314718055994530942, LN_10 = 2.30258509299404568402;

/* ---- exponential and logarithms ---- */

MXL_MATH_KERNELS(expm1, MXL_UNARY_LOOP, mxl_loop_expm1(x));

/* dx = dy * (y + 1) */
static int expm1_grad(mxl_grad *g)
{
    return mxl_grad_set(
        g, 0, mxl_mul(g->s, g->grad_output[0], mxl_add_scalar(g->s, mxl_grad_out(g, 0), 1)));
}

static MXL_UNARY_OP(op_expm1, "expm1", MXL_ALIASES("_sparse_expm1"),
                    "e^x - 1 of each element, accurate near 0.", expm1_kernels, expm1_grad,
                    mxl_saves_output);

/* dx = dy / (x ln b) */
static int log_base_grad(mxl_grad *g, double ln_base)
{
    mxl_array *dx = mxl_div(g->s, g->grad_output[0], mxl_grad_in(g, 0));

    return mxl_grad_set(g, 0, mxl_mul_scalar(g->s, dx, 1 / ln_base));
}

MXL_MATH_KERNELS(log10, MXL_UNARY_LOOP, mxl_loop_log10(x));

static int log10_grad(mxl_grad *g)
{
    return log_base_grad(g, LN_10);
}

static MXL_UNARY_OP(op_log10, "log10", MXL_ALIASES("_sparse_log10"),
                    "Logarithm to the base 10 of each element; -inf at 0, NaN below.",
                    log10_kernels, log10_grad, mxl_saves_input);

MXL_MATH_KERNELS(log2, MXL_UNARY_LOOP, mxl_loop_log2(x));

static int log2_grad(mxl_grad *g)
{
    return log_base_grad(g, LN_2);
}

static MXL_UNARY_OP(op_log2, "log2", MXL_ALIASES("_sparse_log2"),
                    "Logarithm to the base 2 of each element; -inf at 0, NaN below.", log2_kernels,
                    log2_grad, mxl_saves_input);

MXL_MATH_KERNELS(log1p, MXL_UNARY_LOOP, mxl_loop_log1p(x));

/* dx = dy / (1 + x) */
static int log1p_grad(mxl_grad *g)
{
    return mxl_grad_set(
        g, 0, mxl_div(g->s, g->grad_output[0], mxl_add_scalar(g->s, mxl_grad_in(g, 0), 1)));
}

static MXL_UNARY_OP(op_log1p, "log1p", MXL_ALIASES("_sparse_log1p"),
                    "log(1 + x) of each element, accurate near 0; -inf at -1, NaN below.",
                    log1p_kernels, log1p_grad, mxl_saves_input);

/* ---- roots and reciprocals ---- */

MXL_MATH_KERNELS(rsqrt, MXL_UNARY_LOOP, mxl_loop_rsqrt(x));

/* dx = -dy * y^3 / 2 */
static int rsqrt_grad(mxl_grad *g)
{
    mxl_array *y = mxl_grad_out(g, 0);
    mxl_array *cube = mxl_mul(g->s, y, mxl_square(g->s, y));

    return mxl_grad_set(g, 0, mxl_mul(g->s, g->grad_output[0], mxl_mul_scalar(g->s, cube, -0.5)));
}

MXL_UNARY_OP(mxl_op_rsqrt, "rsqrt", MXL_ALIASES("_sparse_rsqrt"),
             "Reciprocal of the square root of each element; NaN below 0.", rsqrt_kernels,
             rsqrt_grad, mxl_saves_output);

MXL_MATH_KERNELS(cbrt, MXL_UNARY_LOOP, mxl_loop_cbrt(x));

/* dx = dy / (3 y^2) */
static int cbrt_grad(mxl_grad *g)
{
    mxl_array *y = mxl_grad_out(g, 0);

    return mxl_grad_set(
        g, 0, mxl_div(g->s, g->grad_output[0], mxl_mul_scalar(g->s, mxl_square(g->s, y), 3)));
}

static MXL_UNARY_OP(op_cbrt, "cbrt", MXL_ALIASES("_sparse_cbrt"),
                    "Cube root of each element, negative ones too.", cbrt_kernels, cbrt_grad,
                    mxl_saves_output);

MXL_MATH_KERNELS(rcbrt, MXL_UNARY_LOOP, mxl_loop_rcbrt(x));

/* dx = -dy * y^4 / 3 */
static int rcbrt_grad(mxl_grad *g)
{
    mxl_array *fourth = mxl_square(g->s, mxl_square(g->s, mxl_grad_out(g, 0)));

    return mxl_grad_set(g, 0,
                        mxl_mul(g->s, g->grad_output[0], mxl_mul_scalar(g->s, fourth, -1.0 / 3)));
}

static MXL_UNARY_OP(op_rcbrt, "rcbrt", NULL, "Reciprocal of the cube root of each element.",
                    rcbrt_kernels, rcbrt_grad, mxl_saves_output);

MXL_MATH_KERNELS(reciprocal, MXL_UNARY_LOOP, 1 / x);

/* dx = -dy * y^2 */
static int reciprocal_grad(mxl_grad *g)
{
    mxl_array *derivative = mxl_negative(g->s, mxl_square(g->s, mxl_grad_out(g, 0)));

    return mxl_grad_set(g, 0, mxl_mul(g->s, g->grad_output[0], derivative));
}

MXL_UNARY_OP(mxl_op_reciprocal, "reciprocal", NULL, "1 / x of each element.", reciprocal_kernels,
             reciprocal_grad, mxl_saves_output);

/* ---- angles in other units ---- */

static const double DEGREES = 57.29577951308232087680;

MXL_MATH_KERNELS(degrees, MXL_UNARY_LOOP, x * DEGREES);

/* dx = dy * 180 / pi */
static int degrees_grad(mxl_grad *g)
{
    return mxl_grad_set(g, 0, mxl_mul_scalar(g->s, g->grad_output[0], DEGREES));
}

static MXL_UNARY_OP(op_degrees, "degrees", MXL_ALIASES("_sparse_degrees"),
                    "Each element, an angle in radians, in degrees.", degrees_kernels, degrees_grad,
                    NULL);

MXL_MATH_KERNELS(radians, MXL_UNARY_LOOP, x / DEGREES);

/* dx = dy * pi / 180 */
static int radians_grad(mxl_grad *g)
{
    return mxl_grad_set(g, 0, mxl_mul_scalar(g->s, g->grad_output[0], 1 / DEGREES));
}

static MXL_UNARY_OP(op_radians, "radians", MXL_ALIASES("_sparse_radians"),
                    "Each element, an angle in degrees, in radians.", radians_kernels, radians_grad,
                    NULL);

const mxl_op *const mxl_ops_powers[] = {
    &op_expm1, &op_log10,          &op_log2,    &op_log1p,   &mxl_op_rsqrt, &op_cbrt,
    &op_rcbrt, &mxl_op_reciprocal, &op_degrees, &op_radians, NULL,
};
