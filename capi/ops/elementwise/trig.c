/* Trigonometric and hyperbolic functions of one array, and their inverses. */
#include "kernel/math/circular.h"
#include "ops/elementwise/elementwise.h"

/* ---- circular; numbers beyond the limit are computed one by one ---- */

#define LIMIT(x) _Generic((x), float: MXL_CIRCULAR_F32, default: MXL_CIRCULAR_F64)

MXL_MATH_KERNELS(sin, MXL_NEAR_LOOP, LIMIT(x), mxl_loop_sin(x), mxl_far_sin(x));

/* dx = dy * cos(x) */
MXL_DX_OF_X(sin, mxl_mul(s, dy, mxl_apply(s, &mxl_op_cos, x)))

MXL_UNARY(sin, "Sine of each element, in radians.", .sparse = &mxl_sparse_keeps_zeros,
          .aliases = MXL_ALIASES("_sparse_sin"), .numpy_name = "_npi_sin", MXL_RULE_OF_X(sin),
          .promotion = &mxl_promotes_floats);

MXL_MATH_KERNELS(cos, MXL_NEAR_LOOP, LIMIT(x), mxl_loop_cos(x), mxl_far_cos(x));

/* dx = -dy * sin(x) */
MXL_DX_OF_X(cos, mxl_mul(s, dy, mxl_negative(s, mxl_apply(s, &mxl_op_sin, x))))

MXL_UNARY(cos, "Cosine of each element, in radians.", .aliases = MXL_ALIASES("_sparse_cos"),
          .numpy_name = "_npi_cos", MXL_RULE_OF_X(cos), .promotion = &mxl_promotes_floats);

MXL_MATH_KERNELS(tan, MXL_NEAR_LOOP, LIMIT(x), mxl_loop_tan(x), mxl_far_tan(x));

/* dx = dy * (1 + y^2) */
MXL_DX_OF_Y(tan, mxl_mul(s, dy, mxl_add_scalar(s, mxl_square(s, y), 1)))

static MXL_UNARY(tan, "Tangent of each element, in radians.", .sparse = &mxl_sparse_keeps_zeros,
                 .aliases = MXL_ALIASES("_sparse_tan"), .numpy_name = "_npi_tan",
                 MXL_RULE_OF_Y(tan), .promotion = &mxl_promotes_floats);

MXL_MATH_KERNELS(arcsin, MXL_UNARY_LOOP, mxl_loop_asin(x));

/* 1 / sqrt(1 - x^2) */
static mxl_array *arcsin_derivative(mxl_scope *s, mxl_array *x)
{
    return mxl_apply(s, &mxl_op_rsqrt, mxl_one_minus(s, mxl_square(s, x)));
}

/* dx = dy / sqrt(1 - x^2) */
MXL_DX_OF_X(arcsin, mxl_mul(s, dy, arcsin_derivative(s, x)))

static MXL_UNARY(arcsin,
                 "Inverse sine of each element, from -pi/2 to pi/2; NaN outside of [-1, 1].",
                 .sparse = &mxl_sparse_keeps_zeros, .aliases = MXL_ALIASES("_sparse_arcsin"),
                 .numpy_name = "_npi_arcsin", MXL_RULE_OF_X(arcsin), .node_name = "AsinBackward0",
                 .promotion = &mxl_promotes_floats);

MXL_MATH_KERNELS(arccos, MXL_UNARY_LOOP, mxl_loop_acos(x));

/* dx = -dy / sqrt(1 - x^2) */
MXL_DX_OF_X(arccos, mxl_mul(s, dy, mxl_negative(s, arcsin_derivative(s, x))))

static MXL_UNARY(arccos, "Inverse cosine of each element, from 0 to pi; NaN outside of [-1, 1].",
                 .aliases = MXL_ALIASES("_sparse_arccos"), .numpy_name = "_npi_arccos",
                 MXL_RULE_OF_X(arccos), .node_name = "AcosBackward0",
                 .promotion = &mxl_promotes_floats);

MXL_MATH_KERNELS(arctan, MXL_UNARY_LOOP, mxl_loop_atan(x));

/* dx = dy / (1 + x^2) */
MXL_DX_OF_X(arctan, mxl_div(s, dy, mxl_add_scalar(s, mxl_square(s, x), 1)))

static MXL_UNARY(arctan, "Inverse tangent of each element, from -pi/2 to pi/2.",
                 .sparse = &mxl_sparse_keeps_zeros, .aliases = MXL_ALIASES("_sparse_arctan"),
                 .numpy_name = "_npi_arctan", MXL_RULE_OF_X(arctan), .node_name = "AtanBackward0",
                 .promotion = &mxl_promotes_floats);

/* ---- hyperbolic ---- */

MXL_MATH_KERNELS(sinh, MXL_UNARY_LOOP, mxl_loop_sinh(x));

/* dx = dy * cosh(x) */
MXL_DX_OF_X(sinh, mxl_mul(s, dy, mxl_apply(s, &mxl_op_cosh, x)))

MXL_UNARY(sinh, "Hyperbolic sine of each element.", .sparse = &mxl_sparse_keeps_zeros,
          .aliases = MXL_ALIASES("_sparse_sinh"), .numpy_name = "_npi_sinh", MXL_RULE_OF_X(sinh),
          .promotion = &mxl_promotes_floats);

MXL_MATH_KERNELS(cosh, MXL_UNARY_LOOP, mxl_loop_cosh(x));

/* dx = dy * sinh(x) */
MXL_DX_OF_X(cosh, mxl_mul(s, dy, mxl_apply(s, &mxl_op_sinh, x)))

MXL_UNARY(cosh, "Hyperbolic cosine of each element.", .aliases = MXL_ALIASES("_sparse_cosh"),
          .numpy_name = "_npi_cosh", MXL_RULE_OF_X(cosh), .promotion = &mxl_promotes_floats);

MXL_MATH_KERNELS(arcsinh, MXL_UNARY_LOOP, mxl_loop_asinh(x));

/* dx = dy / sqrt(x^2 + 1), without intermediate overflow */
MXL_DX_OF_X(arcsinh, mxl_div(s, mxl_real(s, dy),
                             mxl_apply_scalar(s, &mxl_op_hypot_scalar, mxl_real(s, x), 1)))

static MXL_UNARY(arcsinh, "Inverse hyperbolic sine of each element.",
                 .sparse = &mxl_sparse_keeps_zeros, .aliases = MXL_ALIASES("_sparse_arcsinh"),
                 .numpy_name = "_npi_arcsinh", MXL_RULE_OF_X(arcsinh),
                 .node_name = "AsinhBackward0", .promotion = &mxl_promotes_floats);

MXL_MATH_KERNELS(arccosh, MXL_UNARY_LOOP, mxl_loop_acosh(x));

/* dx = dy / sqrt(x^2 - 1) */
MXL_DX_OF_X(arccosh,
            mxl_mul(s, dy, mxl_apply(s, &mxl_op_rsqrt, mxl_add_scalar(s, mxl_square(s, x), -1))))

static MXL_UNARY(arccosh, "Inverse hyperbolic cosine of each element; NaN below 1.",
                 .aliases = MXL_ALIASES("_sparse_arccosh"), .numpy_name = "_npi_arccosh",
                 MXL_RULE_OF_X(arccosh), .node_name = "AcoshBackward0",
                 .promotion = &mxl_promotes_floats);

MXL_MATH_KERNELS(arctanh, MXL_UNARY_LOOP, mxl_loop_atanh(x));

/* dx = dy / (1 - x^2) */
MXL_DX_OF_X(arctanh, mxl_div(s, mxl_real(s, dy), mxl_one_minus(s, mxl_square(s, mxl_real(s, x)))))

static MXL_UNARY(arctanh, "Inverse hyperbolic tangent of each element; NaN outside of [-1, 1].",
                 .sparse = &mxl_sparse_keeps_zeros, .aliases = MXL_ALIASES("_sparse_arctanh"),
                 .numpy_name = "_npi_arctanh", MXL_RULE_OF_X(arctanh),
                 .node_name = "AtanhBackward0", .promotion = &mxl_promotes_floats);

/* ---- _npi_arctan2 ---- */

/* Computed from the quotient that is at most 1, which neither overflows nor is NaN for two zeros or
 * two infinities. */
#define ANGLE(T, D)                                                                                \
    MXL_INLINE T angle_##T(int level, T y, T x)                                                    \
    {                                                                                              \
        const T pi = (T)3.14159265358979323846, a = fabs(x), b = fabs(y);                          \
        const T quotient = a == b ? (T)(a != 0) : b < a ? b / a : a / b;                           \
        T angle = mxl_atan_##D(level, quotient);                                                   \
                                                                                                   \
        angle = b > a ? pi / 2 - angle : angle;                                                    \
        angle = __builtin_signbit(x) ? pi - angle : angle;                                         \
        return copysign(angle, y);                                                                 \
    }

ANGLE(float, f32)
ANGLE(double, f64)

#define ANGLE_OF(y, x) _Generic((x), float: angle_float, double: angle_double)(level, y, x)

MXL_FLOAT_KERNELS(atan2, MXL_BINARY_LOOP, ANGLE_OF(x, y));

/* da = dy b / (a^2 + b^2), db = -dy a / (a^2 + b^2); both 0 where a = b = 0 */
static int atan2_grad(mxl_grad *g)
{
    mxl_array *a = mxl_grad_in(g, 0), *b = mxl_grad_in(g, 1);
    mxl_array *square = mxl_add(g->s, mxl_square(g->s, a), mxl_square(g->s, b));
    mxl_array *part = mxl_where(g->s, square, square, mxl_add_scalar(g->s, square, 1));

    part = mxl_div(g->s, g->grad_output[0], part);
    if (mxl_grad_wants(g, 0) && mxl_grad_set(g, 0, mxl_mul(g->s, part, b)) != 0)
        return -1;
    if (!mxl_grad_wants(g, 1))
        return 0;
    return mxl_grad_set(g, 1, mxl_mul(g->s, mxl_negative(g->s, part), a));
}

const mxl_op mxl_op_atan2 = {
    .name = "_npi_arctan2",
    .doc = "The angle of the point (x2, x1), between -pi and pi.",
    MXL_INPUTS(MXL_INPUT(x1, "The heights."), MXL_INPUT(x2, "The widths, of the same dtype.")),
    .infer = mxl_infer_broadcast,
    MXL_LOOPS(atan2),
    .grad = atan2_grad,
    .saves = mxl_saves_inputs,
    .promotion = &mxl_promotes_floats,
};

const mxl_op *const mxl_ops_trig[] = {
    &mxl_op_sin,     &mxl_op_cos,   &mxl_op_tan,  &mxl_op_arcsin,  &mxl_op_arccos,
    &mxl_op_arctan,  &mxl_op_sinh,  &mxl_op_cosh, &mxl_op_arcsinh, &mxl_op_arccosh,
    &mxl_op_arctanh, &mxl_op_atan2, NULL,
};
