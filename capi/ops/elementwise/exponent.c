/* Powers of two arrays, and of a number to the power of an array; and the operators of their
 * gradients, which are 0 where the power is constant: x^0, and 0^y for y >= 0. */
#include "ops/elementwise/elementwise.h"

extern const mxl_op mxl_op_integer_power;
static const mxl_op mxl_op_power_derivative, mxl_op_log_base;

/* ---- the derivatives ---- */

/* 1 where the element is 0 or NaN, else 0 */
static mxl_array *no_sign(mxl_scope *s, mxl_array *a)
{
    mxl_array *above = mxl_apply_scalar(s, &mxl_op_greater_scalar, a, 0);
    mxl_array *below = mxl_apply_scalar(s, &mxl_op_lesser_scalar, a, 0);

    return mxl_one_minus(s, mxl_add(s, above, below));
}

/* The broadcast array, with 1 where the condition holds: a divisor for vjps. */
static mxl_array *one_where(mxl_scope *s, mxl_array *condition, mxl_array *a)
{
    mxl_array *wide;

    if (condition == NULL)
        return NULL;
    wide = mxl_broadcast_to(s, a, condition->ndim, condition->shape);
    return mxl_where(s, condition, mxl_apply(s, &mxl_op_ones_like, wide), wide);
}

MXL_FLOAT_KERNELS(derivative, MXL_BINARY_LOOP, y == 0 ? 0 : y * mxl_loop_pow(x, y - 1));

/* da = dy * b * derivative(a, b - 1), db = dy * a^(b - 1) * (1 + b log(a)). Where b is 0 and a has
 * no powers below 0, a counts as 1, so that da is 0. */
static int derivative_grad(mxl_grad *g)
{
    mxl_array *a = mxl_grad_in(g, 0), *b = mxl_grad_in(g, 1);
    mxl_array *less = mxl_add_scalar(g->s, b, -1), *part;

    part = mxl_apply_scalar(g->s, &mxl_op_equal_scalar, b, 0);
    a = one_where(g->s, mxl_mul(g->s, no_sign(g->s, a), part), a);
    if (mxl_grad_wants(g, 0)) {
        part = mxl_mul(g->s, b, mxl_apply2(g->s, &mxl_op_power_derivative, a, less));
        if (mxl_grad_times(g, 0, part) != 0)
            return -1;
    }
    if (!mxl_grad_wants(g, 1))
        return 0;
    part = mxl_mul(g->s, b, mxl_apply2(g->s, &mxl_op_log_base, a, less));
    part = mxl_mul(g->s, mxl_apply2(g->s, &mxl_op_broadcast_power, a, less),
                   mxl_add_scalar(g->s, part, 1));
    return mxl_grad_times(g, 1, part);
}

static MXL_BINARY(power_derivative, "_mxl_power_derivative", mxl_infer_broadcast, derivative,
                  "rhs * lhs^(rhs - 1), and 0 where rhs is 0: the slope of a power along lhs.",
                  .grad = derivative_grad, .saves = mxl_saves_inputs);

MXL_FLOAT_KERNELS(log_base, MXL_BINARY_LOOP, x == 0 && y >= 0 ? 0 : mxl_loop_log(x));

/* da = dy / a, but 0 where the logarithm is */
static int log_base_grad(mxl_grad *g)
{
    mxl_array *a = mxl_grad_in(g, 0), *da;
    mxl_array *at_zero =
        mxl_mul(g->s, mxl_apply_scalar(g->s, &mxl_op_equal_scalar, a, 0),
                mxl_apply_scalar(g->s, &mxl_op_greater_equal_scalar, mxl_grad_in(g, 1), 0));

    da = mxl_div(g->s, g->grad_output[0], one_where(g->s, at_zero, a));
    return mxl_grad_set(g, 0, mxl_zero_where(g->s, at_zero, da));
}

static MXL_BINARY(
    log_base, "_mxl_power_log", mxl_infer_broadcast, log_base,
    "log(lhs), and 0 where lhs is 0 and rhs not below 0: by it a power grows along its exponent.",
    .grad = log_base_grad, .saves = mxl_saves_inputs);

/* ---- power ---- */

MXL_MATH_KERNELS(power, MXL_BINARY_LOOP, mxl_loop_pow(x, y));

/* da = dy * derivative(a, b), db = dy * log(a) * y */
static int power_grad(mxl_grad *g)
{
    mxl_scope *s = g->s;
    mxl_array *a = mxl_real(s, mxl_grad_in(g, 0)), *b = mxl_real(s, mxl_grad_in(g, 1)), *part;
    mxl_array *dy = mxl_real(s, g->grad_output[0]), *y;

    if (mxl_grad_wants(g, 0)) {
        part = mxl_apply2(s, &mxl_op_power_derivative, a, b);
        if (mxl_grad_set(g, 0, mxl_mul(s, dy, part)) != 0)
            return -1;
    }
    if (!mxl_grad_wants(g, 1))
        return 0;
    y = mxl_grad_out(g, 0);
    if (y != NULL && !mxl_dtype_is_float(y->dtype)) /* it may have wrapped */
        y = mxl_apply2(s, &mxl_op_broadcast_power, a, b);
    part = mxl_mul(s, mxl_apply2(s, &mxl_op_log_base, a, b), y);
    return mxl_grad_set(g, 1, mxl_mul(s, dy, part));
}

static void power_saves(mxl_saves *saves)
{
    saves->in[0] = saves->in[1] = true;
    saves->out[0] = saves->wants[1];
}

/* An exponent of integers that is a number is 0 or more, and one that their dtype holds. */
static int power_check(const mxl_operands *operands)
{
    int bits = (int)mxl_dtype_size(operands->dtype) * 8 - !mxl_dtype_is_unsigned(operands->dtype);
    int64_t exponent;

    if (mxl_dtype_is_float(operands->dtype) || operands->number != 2)
        return 0;
    exponent = *(const int64_t *)mxl_array_read(operands->given[1]);
    if (exponent < 0)
        return mxl_error("%s: the exponent of integers is 0 or more, got %lld", operands->op->name,
                         (long long)exponent);
    if (bits < 64 && exponent >> bits != 0)
        return mxl_error("%s: the number %lld is outside the range of %s", operands->op->name,
                         (long long)exponent, mxl_dtype_name(operands->dtype));
    return 0;
}

static const mxl_promotion power_promotion = {.as_is = MXL_SET_FLOATS,
                                              .refused = MXL_SET_BOOL,
                                              .of_integers = &mxl_op_integer_power,
                                              .check = power_check};

MXL_BINARY_PAIR(power, "_", "lhs raised to the power of rhs.", NULL, MXL_ALIASES("_Power"),
                .grad = power_grad, .saves = power_saves, .node_name = "PowBackward1",
                .promotion = &power_promotion);

MXL_MATH_KERNELS(rpower_scalar, MXL_SCALAR_LOOP, mxl_loop_pow(s, x));

/* dx = dy * log(s) * y */
static int rpower_scalar_grad(mxl_grad *g)
{
    double s = mxl_grad_scalar(g);
    mxl_array *y = mxl_grad_out(g, 0), *derivative;

    if (y != NULL && !mxl_dtype_is_float(y->dtype)) {
        derivative = mxl_mul_scalar(g->s, mxl_real(g->s, y), trunc(s) == 0 ? 0 : log(trunc(s)));
        return mxl_grad_set(g, 0, mxl_mul(g->s, mxl_real(g->s, g->grad_output[0]), derivative));
    }
    if (s == 0) {
        mxl_array *x = mxl_grad_in(g, 0);

        derivative = mxl_apply2(g->s, &mxl_op_log_base, mxl_zeros_like(g->s, x), x);
        derivative = mxl_mul(g->s, derivative, y);
    } else {
        derivative = mxl_mul_scalar(g->s, y, log(s));
    }
    return mxl_grad_times(g, 0, derivative);
}

static void rpower_scalar_saves(mxl_saves *saves)
{
    saves->in[0] = ((const mxl_scalar_params *)saves->params)->scalar == 0;
    saves->out[0] = true;
}

MXL_SCALAR(rpower_scalar, "scalar raised to the power of data.",
           .aliases = MXL_ALIASES("_RPowerScalar"), .numpy_name = "_npi_rpower_scalar",
           .grad = rpower_scalar_grad, .saves = rpower_scalar_saves, .node_name = "PowBackward2",
           MXL_OF_TWO(mxl_op_broadcast_power, true));

/* ---- of integers: repeated multiplication, modulo 2 to their bits ---- */

/* Negative powers are truncated towards 0; those of 0 are 0 too. */
static inline uint64_t raised_unsigned(uint64_t base, uint64_t y)
{
    uint64_t product = 1;

    for (; y > 0; y >>= 1, base *= base)
        product *= (y & 1) != 0 ? base : 1;
    return product;
}

static inline int64_t raised(int64_t x, int64_t y)
{
    if (y < 0)
        return x == 1 ? 1 : x != -1 ? 0 : y % 2 == 0 ? 1 : -1;
    return (int64_t)raised_unsigned((uint64_t)x, (uint64_t)y);
}

MXL_BINARY_LOOP(raise_u8, u8, raised(x, y))
MXL_BINARY_LOOP(raise_i8, i8, raised(x, y))
MXL_BINARY_LOOP(raise_i32, i32, raised(x, y))
MXL_BINARY_LOOP(raise_i64, i64, raised(x, y))
MXL_BINARY_LOOP(raise_u64, u64, raised_unsigned(x, y))

static const mxl_kernels raise_kernels = {
    .row = {[MXL_U8] = raise_u8, [MXL_I8] = raise_i8, [MXL_I32] = raise_i32, [MXL_I64] = raise_i64},
    .weight = 8};

MXL_BINARY(integer_power, "_mxl_integer_power", mxl_infer_broadcast, raise,
           "lhs raised to the power of rhs, integers: exact modulo 2 to their bits.",
           .grad = mxl_grad_zero, .u64_loop = raise_u64);

const mxl_op *const mxl_ops_exponent[] = {
    &mxl_op_broadcast_power,
    &mxl_op_same_power,
    &mxl_op_rpower_scalar,
    &mxl_op_power_derivative,
    &mxl_op_log_base,
    &mxl_op_integer_power,
    NULL,
};
