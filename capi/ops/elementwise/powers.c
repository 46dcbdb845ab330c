/* Roots, powers and logarithms of one array, except those of unary.c. */
#include "ops/elementwise/elementwise.h"

static const double LN_2 = 0.69314718055994530942, LN_10 = 2.30258509299404568402;

/* ---- exponential and logarithms ---- */

MXL_MATH_KERNELS(expm1, MXL_UNARY_LOOP, mxl_loop_expm1(x));

/* dx = dy * (y + 1) */
static int expm1_grad(mxl_grad *g)
{
    return mxl_grad_times(g, 0, mxl_add_scalar(g->s, mxl_grad_out(g, 0), 1));
}

static MXL_UNARY(expm1, "e^x - 1 of each element, accurate near 0.",
                 .aliases = MXL_ALIASES("_sparse_expm1"), .grad = expm1_grad,
                 .saves = mxl_saves_output);

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

static MXL_UNARY(log10, "Logarithm to the base 10 of each element; -inf at 0, NaN below.",
                 .aliases = MXL_ALIASES("_sparse_log10"), .grad = log10_grad,
                 .saves = mxl_saves_input);

MXL_MATH_KERNELS(log2, MXL_UNARY_LOOP, mxl_loop_log2(x));

static int log2_grad(mxl_grad *g)
{
    return log_base_grad(g, LN_2);
}

static MXL_UNARY(log2, "Logarithm to the base 2 of each element; -inf at 0, NaN below.",
                 .aliases = MXL_ALIASES("_sparse_log2"), .grad = log2_grad,
                 .saves = mxl_saves_input);

MXL_MATH_KERNELS(log1p, MXL_UNARY_LOOP, mxl_loop_log1p(x));

/* dx = dy / (1 + x) */
static int log1p_grad(mxl_grad *g)
{
    return mxl_grad_over(g, 0, mxl_add_scalar(g->s, mxl_grad_in(g, 0), 1));
}

static MXL_UNARY(log1p, "log(1 + x) of each element, accurate near 0; -inf at -1, NaN below.",
                 .aliases = MXL_ALIASES("_sparse_log1p"), .grad = log1p_grad,
                 .saves = mxl_saves_input);

/* ---- roots and reciprocals ---- */

MXL_MATH_KERNELS(rsqrt, MXL_UNARY_LOOP, mxl_loop_rsqrt(x));

/* dx = -dy * y^3 / 2 */
static int rsqrt_grad(mxl_grad *g)
{
    mxl_array *y = mxl_grad_out(g, 0);
    mxl_array *cube = mxl_mul(g->s, y, mxl_square(g->s, y));

    return mxl_grad_times(g, 0, mxl_mul_scalar(g->s, cube, -0.5));
}

MXL_UNARY(rsqrt, "Reciprocal of the square root of each element; NaN below 0.",
          .aliases = MXL_ALIASES("_sparse_rsqrt"), .grad = rsqrt_grad, .saves = mxl_saves_output);

MXL_MATH_KERNELS(cbrt, MXL_UNARY_LOOP, mxl_loop_cbrt(x));

/* dx = dy / (3 y^2) */
static int cbrt_grad(mxl_grad *g)
{
    mxl_array *y = mxl_grad_out(g, 0);

    return mxl_grad_over(g, 0, mxl_mul_scalar(g->s, mxl_square(g->s, y), 3));
}

static MXL_UNARY(cbrt, "Cube root of each element, negative ones too.",
                 .aliases = MXL_ALIASES("_sparse_cbrt"), .grad = cbrt_grad,
                 .saves = mxl_saves_output);

MXL_MATH_KERNELS(rcbrt, MXL_UNARY_LOOP, mxl_loop_rcbrt(x));

/* dx = -dy * y^4 / 3 */
static int rcbrt_grad(mxl_grad *g)
{
    mxl_array *fourth = mxl_square(g->s, mxl_square(g->s, mxl_grad_out(g, 0)));

    return mxl_grad_times(g, 0, mxl_mul_scalar(g->s, fourth, -1.0 / 3));
}

static MXL_UNARY(rcbrt, "Reciprocal of the cube root of each element.", .grad = rcbrt_grad,
                 .saves = mxl_saves_output);

MXL_MATH_KERNELS(reciprocal, MXL_UNARY_LOOP, 1 / x);

/* dx = -dy * y^2 */
static int reciprocal_grad(mxl_grad *g)
{
    mxl_array *derivative = mxl_negative(g->s, mxl_square(g->s, mxl_grad_out(g, 0)));

    return mxl_grad_times(g, 0, derivative);
}

MXL_UNARY(reciprocal, "1 / x of each element.", .grad = reciprocal_grad, .saves = mxl_saves_output);

/* ---- angles in other units ---- */

static const double DEGREES = 57.29577951308232087680;

MXL_MATH_KERNELS(degrees, MXL_UNARY_LOOP, x * DEGREES);

/* dx = dy * 180 / pi */
static int degrees_grad(mxl_grad *g)
{
    return mxl_grad_set(g, 0, mxl_mul_scalar(g->s, g->grad_output[0], DEGREES));
}

static MXL_UNARY(degrees, "Each element, an angle in radians, in degrees.",
                 .aliases = MXL_ALIASES("_sparse_degrees"), .grad = degrees_grad);

MXL_MATH_KERNELS(radians, MXL_UNARY_LOOP, x / DEGREES);

/* dx = dy * pi / 180 */
static int radians_grad(mxl_grad *g)
{
    return mxl_grad_set(g, 0, mxl_mul_scalar(g->s, g->grad_output[0], 1 / DEGREES));
}

static MXL_UNARY(radians, "Each element, an angle in degrees, in radians.",
                 .aliases = MXL_ALIASES("_sparse_radians"), .grad = radians_grad);

const mxl_op *const mxl_ops_powers[] = {
    &mxl_op_expm1,   &mxl_op_log10,   &mxl_op_log2,  &mxl_op_log1p,
    &mxl_op_rsqrt,   &mxl_op_cbrt,    &mxl_op_rcbrt, &mxl_op_reciprocal,
    &mxl_op_degrees, &mxl_op_radians, NULL,
};
