/* Maximum, minimum, hypot, mod and power of two arrays (broadcast_* and of equal shapes) and of an
 * array and a number. */
#include "ops/elementwise.h"

/* One function as its two operators of arrays; the second is called _maximum, alias _Maximum. */
#define ARRAYS(verb, broadcast_aliases, same_alias, text, op_grad, op_saves)                       \
    MXL_BINARY_OP(mxl_op_broadcast_##verb, "broadcast_" #verb, broadcast_aliases,                  \
                  text " The shapes are broadcast by NumPy's rule.", mxl_infer_broadcast,          \
                  verb##_kernels, op_grad, op_saves);                                              \
    static MXL_BINARY_OP(op_same_##verb, "_" #verb, MXL_ALIASES(same_alias),                       \
                         text " The shapes must be equal.", mxl_infer_same, verb##_kernels,        \
                         op_grad, op_saves)

extern const mxl_op mxl_op_broadcast_maximum, mxl_op_broadcast_minimum, mxl_op_broadcast_hypot,
    mxl_op_broadcast_mod;

static void save_both(mxl_saves *saves)
{
    saves->in[0] = saves->in[1] = true;
}

/* da = dy * slope of a, db = dy * slope of b; a slope that is not wanted may be NULL */
static int set_slopes(mxl_grad *g, mxl_array *of_a, mxl_array *of_b)
{
    if (mxl_grad_wants(g, 0) && mxl_grad_set(g, 0, mxl_mul(g->s, g->head[0], of_a)) != 0)
        return -1;
    if (mxl_grad_wants(g, 1) && mxl_grad_set(g, 1, mxl_mul(g->s, g->head[0], of_b)) != 0)
        return -1;
    return 0;
}

/* ---- maximum and minimum: where both are equal, the gradient is the first one's ---- */

MXL_ARITH_KERNELS(maximum, MXL_BINARY_ROW, x > y || x != x ? x : y);
MXL_ARITH_KERNELS(minimum, MXL_BINARY_ROW, x < y || x != x ? x : y);

/* da = dy where a >= b, db = dy where a < b */
static int maximum_grad(mxl_grad *g)
{
    mxl_array *a = mxl_grad_in(g, 0), *b = mxl_grad_in(g, 1);

    return set_slopes(g, mxl_apply2(g->s, &mxl_op_greater_equal, a, b),
                      mxl_apply2(g->s, &mxl_op_lesser, a, b));
}

/* da = dy where a <= b, db = dy where a > b */
static int minimum_grad(mxl_grad *g)
{
    mxl_array *a = mxl_grad_in(g, 0), *b = mxl_grad_in(g, 1);

    return set_slopes(g, mxl_apply2(g->s, &mxl_op_lesser_equal, a, b),
                      mxl_apply2(g->s, &mxl_op_greater, a, b));
}

ARRAYS(maximum, MXL_ALIASES("_npi_maximum"), "_Maximum",
       "The larger of two elements, NaN if one is.", maximum_grad, save_both);
ARRAYS(minimum, MXL_ALIASES("_npi_minimum"), "_Minimum",
       "The smaller of two elements, NaN if one is.", minimum_grad, save_both);

MXL_ARITH_KERNELS(maximum_scalar, MXL_SCALAR_ROW, x > s || x != x ? x : s);
MXL_ARITH_KERNELS(minimum_scalar, MXL_SCALAR_ROW, x < s || x != x ? x : s);

/* dx = dy where x >= s */
static int maximum_scalar_grad(mxl_grad *g)
{
    mxl_array *slope =
        mxl_apply_scalar(g->s, &mxl_op_greater_equal_scalar, mxl_grad_in(g, 0), mxl_grad_scalar(g));

    return mxl_grad_set(g, 0, mxl_mul(g->s, g->head[0], slope));
}

/* dx = dy where x <= s */
static int minimum_scalar_grad(mxl_grad *g)
{
    mxl_array *slope =
        mxl_apply_scalar(g->s, &mxl_op_lesser_equal_scalar, mxl_grad_in(g, 0), mxl_grad_scalar(g));

    return mxl_grad_set(g, 0, mxl_mul(g->s, g->head[0], slope));
}

static MXL_SCALAR_OP(op_maximum_scalar, "_maximum_scalar",
                     MXL_ALIASES("_MaximumScalar", "_npi_maximum_scalar"),
                     "The larger of data and scalar, NaN if one is.", maximum_scalar_kernels,
                     maximum_scalar_grad, mxl_saves_input);
MXL_SCALAR_OP(mxl_op_minimum_scalar, "_minimum_scalar",
              MXL_ALIASES("_MinimumScalar", "_npi_minimum_scalar"),
              "The smaller of data and scalar, NaN if one is.", minimum_scalar_kernels,
              minimum_scalar_grad, mxl_saves_input);

/* ---- hypot ---- */

MXL_MATH_KERNELS(hypot, MXL_BINARY_ROW, mxl_row_hypot(x, y));

/* da = dy * a / y, db = dy * b / y */
static int hypot_grad(mxl_grad *g)
{
    mxl_array *y = mxl_grad_out(g, 0);
    mxl_array *of_a = mxl_grad_wants(g, 0) ? mxl_div(g->s, mxl_grad_in(g, 0), y) : NULL;
    mxl_array *of_b = mxl_grad_wants(g, 1) ? mxl_div(g->s, mxl_grad_in(g, 1), y) : NULL;

    return set_slopes(g, of_a, of_b);
}

static void hypot_saves(mxl_saves *saves)
{
    saves->in[0] = saves->wants[0];
    saves->in[1] = saves->wants[1];
    saves->out[0] = true;
}

ARRAYS(hypot, NULL, "_Hypot", "sqrt(lhs^2 + rhs^2), without overflow on the way.", hypot_grad,
       hypot_saves);

MXL_MATH_KERNELS(hypot_scalar, MXL_SCALAR_ROW, mxl_row_hypot(x, s));

/* dx = dy * x / y */
static int hypot_scalar_grad(mxl_grad *g)
{
    mxl_array *slope = mxl_div(g->s, mxl_grad_in(g, 0), mxl_grad_out(g, 0));

    return mxl_grad_set(g, 0, mxl_mul(g->s, g->head[0], slope));
}

static void hypot_scalar_saves(mxl_saves *saves)
{
    saves->in[0] = saves->out[0] = true;
}

static MXL_SCALAR_OP(op_hypot_scalar, "_hypot_scalar",
                     MXL_ALIASES("_HypotScalar", "_npi_hypot_scalar"),
                     "sqrt(data^2 + scalar^2), without overflow on the way.", hypot_scalar_kernels,
                     hypot_scalar_grad, hypot_scalar_saves);

/* ---- mod: the remainder has the divisor's sign; by 0 it is 0 ---- */

#define REMAINDER(x, y)                                                                            \
    _Generic((x),                                                                                  \
        float: modulo_f32,                                                                         \
        double: modulo_f64,                                                                        \
        int32_t: modulo_i32,                                                                       \
        int64_t: modulo_i64)(x, y)

static inline float modulo_f32(float x, float y)
{
    float r;

    if (y == 0)
        return 0;
    r = fmodf(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static inline double modulo_f64(double x, double y)
{
    double r;

    if (y == 0)
        return 0;
    r = fmod(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static inline int32_t modulo_i32(int32_t x, int32_t y)
{
    int32_t r;

    if (y == 0 || y == -1)
        return 0;
    r = x % y;
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static inline int64_t modulo_i64(int64_t x, int64_t y)
{
    int64_t r;

    if (y == 0 || y == -1)
        return 0;
    r = x % y;
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

MXL_ARITH_KERNELS(mod, MXL_BINARY_ROW, REMAINDER(x, y));

/* da = dy, db = -dy * floor(a / b) */
static int mod_grad(mxl_grad *g)
{
    mxl_array *quotient;

    if (mxl_grad_set(g, 0, g->head[0]) != 0)
        return -1;
    if (!mxl_grad_wants(g, 1))
        return 0;
    quotient = mxl_div(g->s, mxl_grad_in(g, 0), mxl_grad_in(g, 1));
    quotient = mxl_negative(g->s, mxl_apply(g->s, &mxl_op_floor, quotient));
    return mxl_grad_set(g, 1, mxl_mul(g->s, g->head[0], quotient));
}

static void mod_saves(mxl_saves *saves)
{
    saves->in[0] = saves->in[1] = saves->wants[1];
}

ARRAYS(mod, NULL, "_Mod", "lhs modulo rhs: a remainder with the sign of rhs, and 0 where rhs is 0.",
       mod_grad, mod_saves);

MXL_ARITH_KERNELS(mod_scalar, MXL_SCALAR_ROW, REMAINDER(x, s));
MXL_ARITH_KERNELS(rmod_scalar, MXL_SCALAR_ROW, REMAINDER(s, x));

static MXL_SCALAR_OP(op_mod_scalar, "_mod_scalar", MXL_ALIASES("_ModScalar"),
                     "data modulo scalar: a remainder with the sign of scalar, and 0 if that is 0.",
                     mod_scalar_kernels, mxl_grad_pass, NULL);

/* dx = -dy * floor(s / x) */
static int rmod_scalar_grad(mxl_grad *g)
{
    mxl_array *quotient = mxl_rdiv_scalar(g->s, mxl_grad_in(g, 0), mxl_grad_scalar(g));

    quotient = mxl_negative(g->s, mxl_apply(g->s, &mxl_op_floor, quotient));
    return mxl_grad_set(g, 0, mxl_mul(g->s, g->head[0], quotient));
}

static MXL_SCALAR_OP(
    op_rmod_scalar, "_rmod_scalar", MXL_ALIASES("_RModScalar"),
    "scalar modulo data: a remainder with the sign of data, and 0 where that is 0.",
    rmod_scalar_kernels, rmod_scalar_grad, mxl_saves_input);

/* ---- power ---- */

MXL_MATH_KERNELS(power, MXL_BINARY_ROW, mxl_row_pow(x, y));

/* da = dy * b * a^(b - 1), db = dy * log(a) * y */
static int power_grad(mxl_grad *g)
{
    mxl_array *a = mxl_grad_in(g, 0), *of_a = NULL, *of_b = NULL;

    if (mxl_grad_wants(g, 0)) {
        mxl_array *b = mxl_grad_in(g, 1);
        mxl_array *less = mxl_add_scalar(g->s, b, -1);

        of_a = mxl_mul(g->s, b, mxl_apply2(g->s, &mxl_op_broadcast_power, a, less));
    }
    if (mxl_grad_wants(g, 1))
        of_b = mxl_mul(g->s, mxl_apply(g->s, &mxl_op_log, a), mxl_grad_out(g, 0));
    return set_slopes(g, of_a, of_b);
}

static void power_saves(mxl_saves *saves)
{
    saves->in[0] = true;
    saves->in[1] = saves->wants[0];
    saves->out[0] = saves->wants[1];
}

ARRAYS(power, NULL, "_Power", "lhs raised to the power of rhs.", power_grad, power_saves);

MXL_MATH_KERNELS(rpower_scalar, MXL_SCALAR_ROW, mxl_row_pow(s, x));

/* dx = dy * log(s) * y */
static int rpower_scalar_grad(mxl_grad *g)
{
    mxl_array *slope = mxl_mul_scalar(g->s, mxl_grad_out(g, 0), log(mxl_grad_scalar(g)));

    return mxl_grad_set(g, 0, mxl_mul(g->s, g->head[0], slope));
}

static MXL_SCALAR_OP(op_rpower_scalar, "_rpower_scalar", MXL_ALIASES("_RPowerScalar"),
                     "scalar raised to the power of data.", rpower_scalar_kernels,
                     rpower_scalar_grad, mxl_saves_output);

const mxl_op *const mxl_ops_extremum[] = {
    &mxl_op_broadcast_maximum,
    &op_same_maximum,
    &op_maximum_scalar,
    &mxl_op_broadcast_minimum,
    &op_same_minimum,
    &mxl_op_minimum_scalar,
    &mxl_op_broadcast_hypot,
    &op_same_hypot,
    &op_hypot_scalar,
    &mxl_op_broadcast_mod,
    &op_same_mod,
    &op_mod_scalar,
    &op_rmod_scalar,
    &mxl_op_broadcast_power,
    &op_same_power,
    &op_rpower_scalar,
    NULL,
};
