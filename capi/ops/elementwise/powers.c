/* Roots, powers and logarithms of one array, except those of unary.c. */
#include "ops/elementwise/elementwise.h"

static const double LN_2 = 0.69314718055994530942, LN_10 = 2.30258509299404568402;

/* ---- exponential and logarithms ---- */

MXL_MATH_KERNELS(expm1, MXL_UNARY_LOOP, mxl_loop_expm1(x));

/* dx = dy * (y + 1) */
MXL_DX_OF_Y(expm1, mxl_mul(s, dy, mxl_add_scalar(s, y, 1)))

MXL_UNARY(expm1, "e^x - 1 of each element, accurate near 0.", .sparse = &mxl_sparse_keeps_zeros,
          .aliases = MXL_ALIASES("_sparse_expm1"), .numpy_name = "_npi_expm1", MXL_RULE_OF_Y(expm1),
          .promotion = &mxl_promotes_floats);

MXL_MATH_KERNELS(log10, MXL_UNARY_LOOP, mxl_loop_log10(x));

/* dx = dy / (x ln 10) */
MXL_DX_OF_X(log10, mxl_mul_scalar(s, mxl_div(s, dy, x), 1 / LN_10))

static MXL_UNARY(log10, "Logarithm to the base 10 of each element; -inf at 0, NaN below.",
                 .aliases = MXL_ALIASES("_sparse_log10"), .numpy_name = "_npi_log10",
                 MXL_RULE_OF_X(log10), .promotion = &mxl_promotes_floats);

MXL_MATH_KERNELS(log2, MXL_UNARY_LOOP, mxl_loop_log2(x));

/* dx = dy / (x ln 2) */
MXL_DX_OF_X(log2, mxl_mul_scalar(s, mxl_div(s, dy, x), 1 / LN_2))

static MXL_UNARY(log2, "Logarithm to the base 2 of each element; -inf at 0, NaN below.",
                 .aliases = MXL_ALIASES("_sparse_log2"), .numpy_name = "_npi_log2",
                 MXL_RULE_OF_X(log2), .promotion = &mxl_promotes_floats);

MXL_MATH_KERNELS(log1p, MXL_UNARY_LOOP, mxl_loop_log1p(x));

/* dx = dy / (1 + x) */
MXL_DX_OF_X(log1p, mxl_div(s, dy, mxl_add_scalar(s, x, 1)))

static MXL_UNARY(log1p, "log(1 + x) of each element, accurate near 0; -inf at -1, NaN below.",
                 .sparse = &mxl_sparse_keeps_zeros, .aliases = MXL_ALIASES("_sparse_log1p"),
                 .numpy_name = "_npi_log1p", MXL_RULE_OF_X(log1p),
                 .promotion = &mxl_promotes_floats);

/* ---- roots and reciprocals ---- */

MXL_PLAIN_KERNELS(rsqrt, MXL_UNARY_LOOP, mxl_loop_rsqrt(x));

/* dx = -dy * y^3 / 2 */
MXL_DX_OF_Y(rsqrt, mxl_mul(s, dy, mxl_mul_scalar(s, mxl_mul(s, y, mxl_square(s, y)), -0.5)))

MXL_UNARY(rsqrt, "1 / sqrt(x) of each element x; NaN below 0.",
          .aliases = MXL_ALIASES("_sparse_rsqrt"), MXL_RULE_OF_Y(rsqrt),
          .promotion = &mxl_promotes_floats);

MXL_MATH_KERNELS(cbrt, MXL_UNARY_LOOP, mxl_loop_cbrt(x));

/* dx = dy / (3 y^2) */
MXL_DX_OF_Y(cbrt, mxl_div(s, dy, mxl_mul_scalar(s, mxl_square(s, y), 3)))

static MXL_UNARY(cbrt, "Cube root of each element, negative ones too.",
                 .sparse = &mxl_sparse_keeps_zeros, .aliases = MXL_ALIASES("_sparse_cbrt"),
                 .numpy_name = "_npi_cbrt", MXL_RULE_OF_Y(cbrt));

MXL_MATH_KERNELS(rcbrt, MXL_UNARY_LOOP, mxl_loop_rcbrt(x));

/* dx = -dy * y^4 / 3 */
MXL_DX_OF_Y(rcbrt, mxl_mul(s, dy, mxl_mul_scalar(s, mxl_square(s, mxl_square(s, y)), -1.0 / 3)))

static MXL_UNARY(rcbrt, "Reciprocal of the cube root of each element.", MXL_RULE_OF_Y(rcbrt));

MXL_PLAIN_KERNELS(reciprocal, MXL_UNARY_LOOP, 1 / x);

/* dx = -dy * y^2 */
MXL_DX_OF_Y(reciprocal, mxl_mul(s, dy, mxl_negative(s, mxl_square(s, y))))

MXL_UNARY(reciprocal, "1 / x of each element.", MXL_RULE_OF_Y(reciprocal),
          .numpy_name = "_npi_reciprocal", .promotion = &mxl_promotes_floats);

/* ---- angles in other units ---- */

static const double DEGREES = 57.29577951308232087680;

MXL_PLAIN_KERNELS(degrees, MXL_UNARY_LOOP, x *DEGREES);

/* dx = dy * 180 / pi */
MXL_DX(degrees, mxl_mul_scalar(s, dy, DEGREES))

static MXL_UNARY(degrees, "Each element, an angle in radians, in degrees.",
                 .sparse = &mxl_sparse_keeps_zeros, .aliases = MXL_ALIASES("_sparse_degrees"),
                 .numpy_name = "_npi_degrees", .grad = degrees_grad,
                 .promotion = &mxl_promotes_floats);

MXL_PLAIN_KERNELS(radians, MXL_UNARY_LOOP, x / DEGREES);

/* dx = dy * pi / 180 */
MXL_DX(radians, mxl_mul_scalar(s, dy, 1 / DEGREES))

static MXL_UNARY(radians, "Each element, an angle in degrees, in radians.",
                 .sparse = &mxl_sparse_keeps_zeros, .aliases = MXL_ALIASES("_sparse_radians"),
                 .numpy_name = "_npi_radians", .grad = radians_grad,
                 .promotion = &mxl_promotes_floats);

const mxl_op *const mxl_ops_powers[] = {
    &mxl_op_expm1,   &mxl_op_log10,   &mxl_op_log2,  &mxl_op_log1p,
    &mxl_op_rsqrt,   &mxl_op_cbrt,    &mxl_op_rcbrt, &mxl_op_reciprocal,
    &mxl_op_degrees, &mxl_op_radians, NULL,
};
