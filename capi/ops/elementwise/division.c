/* Remainders and rounded quotients: MXNet's mod; PyTorch's remainder, fmod and rounding divisions.
 */
#include "ops/elementwise/elementwise.h"

static const mxl_op mxl_op_remainder;

#define BY_TYPE(name, x, y)                                                                        \
    _Generic((x),                                                                                  \
        float: name##_float,                                                                       \
        double: name##_double,                                                                     \
        int32_t: name##_int32_t,                                                                   \
        int64_t: name##_int64_t)(x, y)

/* Remainders with the sign of the divisor and of the dividend; quotients rounded down and towards
 * 0. For divisor 0 the remainders are NaN, the quotients x / 0. */
#define OF_FLOATS(T)                                                                               \
    static inline T rest_##T(T x, T y)                                                             \
    {                                                                                              \
        T r = fmod(x, y);                                                                          \
                                                                                                   \
        return r != 0 && (r < 0) != (y < 0) ? r + y : r;                                           \
    }                                                                                              \
                                                                                                   \
    static inline T part_##T(T x, T y)                                                             \
    {                                                                                              \
        return fmod(x, y);                                                                         \
    }                                                                                              \
                                                                                                   \
    static inline T floor_##T(T x, T y)                                                            \
    {                                                                                              \
        T r = fmod(x, y), quotient = (x - r) / y, whole;                                           \
                                                                                                   \
        if (y == 0)                                                                                \
            return x / y;                                                                          \
        if (r != 0 && (r < 0) != (y < 0))                                                          \
            quotient -= 1;                                                                         \
        if (quotient == 0)                                                                         \
            return copysign((T)0, x / y);                                                          \
        whole = floor(quotient);                                                                   \
        return quotient - whole > (T)0.5 ? whole + 1 : whole;                                      \
    }                                                                                              \
                                                                                                   \
    static inline T trunc_##T(T x, T y)                                                            \
    {                                                                                              \
        return trunc(x / y);                                                                       \
    }

OF_FLOATS(float)
OF_FLOATS(double)

/* For divisor 0 all are 0. */
#define OF_INTEGERS(T)                                                                             \
    static inline T part_##T(T x, T y)                                                             \
    {                                                                                              \
        return y == 0 || y == -1 ? 0 : x % y;                                                      \
    }                                                                                              \
                                                                                                   \
    static inline T rest_##T(T x, T y)                                                             \
    {                                                                                              \
        T r = part_##T(x, y);                                                                      \
                                                                                                   \
        return r != 0 && (r < 0) != (y < 0) ? r + y : r;                                           \
    }                                                                                              \
                                                                                                   \
    static inline T trunc_##T(T x, T y)                                                            \
    {                                                                                              \
        return mxl_quotient(x, y);                                                                 \
    }                                                                                              \
                                                                                                   \
    static inline T floor_##T(T x, T y)                                                            \
    {                                                                                              \
        T r = part_##T(x, y);                                                                      \
                                                                                                   \
        return trunc_##T(x, y) - (r != 0 && (r < 0) != (y < 0));                                   \
    }

OF_INTEGERS(int32_t)
OF_INTEGERS(int64_t)

/* Of uint64 both remainders are one, and both quotients. */
MXL_BINARY_LOOP(rest_u64, u64, y == 0 ? 0 : x % y)

/* da = dy, db = -dy * the quotient by an operator, rounded down if `floors` */
static int rest_grad(mxl_grad *g, const mxl_op *divide, bool floors)
{
    mxl_array *quotient;

    if (mxl_grad_set(g, 0, g->grad_output[0]) != 0)
        return -1;
    if (!mxl_grad_wants(g, 1))
        return 0;
    quotient = mxl_apply2(g->s, divide, mxl_grad_in(g, 0), mxl_grad_in(g, 1));
    if (floors)
        quotient = mxl_apply(g->s, &mxl_op_floor, quotient);
    return mxl_grad_times(g, 1, mxl_negative(g->s, quotient));
}

static void rest_saves(mxl_saves *saves)
{
    saves->in[0] = saves->in[1] = saves->wants[1];
}

/* Divisions that round have no truth values, and no 0 beside integers. */
static const mxl_promotion rounding = {
    .as_is = MXL_SET_FLOATS, .refused = MXL_SET_BOOL, .check = mxl_check_divisor};

/* ---- mod: the remainder has the divisor's sign; for divisor 0 it is 0 ---- */

MXL_ARITH_KERNELS(mod, MXL_BINARY_LOOP, y == 0 ? 0 : BY_TYPE(rest, x, y));

/* db = -dy * floor(a / b); of integers zero */
static int mod_grad(mxl_grad *g)
{
    if (!mxl_dtype_is_float(mxl_grad_in_meta(g, 0)->dtype))
        return 0;
    return rest_grad(g, &mxl_op_broadcast_div, true);
}

MXL_BINARY_PAIR(mod, "_", "lhs modulo rhs: a remainder with the sign of rhs, and 0 where rhs is 0.",
                NULL, MXL_ALIASES("_Mod"), .grad = mod_grad, .saves = rest_saves,
                .node_name = "RemainderBackward1", .promotion = &rounding, .u64_loop = rest_u64);

MXL_ARITH_KERNELS(mod_scalar, MXL_NUMBER_LOOP, &mod_kernels);
MXL_ARITH_KERNELS(rmod_scalar, MXL_NUMBER_FIRST_LOOP, &mod_kernels);

/* dx = dy; of integers zero */
static int mod_scalar_grad(mxl_grad *g)
{
    return mxl_dtype_is_float(mxl_grad_in_meta(g, 0)->dtype) ? mxl_grad_pass(g) : 0;
}

static MXL_SCALAR(mod_scalar,
                  "data modulo scalar: a remainder with the sign of scalar, and 0 if that is 0.",
                  .aliases = MXL_ALIASES("_ModScalar"), .numpy_name = "_npi_mod_scalar",
                  .grad = mod_scalar_grad, .node_name = "RemainderBackward0",
                  MXL_OF_TWO(mxl_op_broadcast_mod, false));

/* dx = -dy * floor(s / x); of integers zero */
static int rmod_scalar_grad(mxl_grad *g)
{
    mxl_array *quotient;

    if (!mxl_dtype_is_float(mxl_grad_in_meta(g, 0)->dtype))
        return 0;
    quotient = mxl_rdiv_scalar(g->s, mxl_grad_in(g, 0), mxl_grad_scalar(g));
    quotient = mxl_negative(g->s, mxl_apply(g->s, &mxl_op_floor, quotient));
    return mxl_grad_times(g, 0, quotient);
}

static MXL_SCALAR(rmod_scalar,
                  "scalar modulo data: a remainder with the sign of data, and 0 where that is 0.",
                  .aliases = MXL_ALIASES("_RModScalar"), .numpy_name = "_npi_rmod_scalar",
                  .grad = rmod_scalar_grad, .saves = mxl_saves_input,
                  MXL_OF_TWO(mxl_op_broadcast_mod, true));

/* ---- PyTorch's ---- */

MXL_ARITH_KERNELS(floor_divide, MXL_BINARY_LOOP, BY_TYPE(floor, x, y));
static MXL_BINARY(floor_divide, "_mxl_floor_divide", mxl_infer_broadcast, floor_divide,
                  "lhs / rhs rounded down; NaN where lhs is infinite; of integers 0 by 0.",
                  .grad = mxl_grad_zero, .promotion = &rounding, .u64_loop = mxl_quotient_u64);

MXL_ARITH_KERNELS(trunc_divide, MXL_BINARY_LOOP, BY_TYPE(trunc, x, y));
static MXL_BINARY(trunc_divide, "_mxl_trunc_divide", mxl_infer_broadcast, trunc_divide,
                  "lhs / rhs without its fraction; of integers 0 by 0.", .grad = mxl_grad_zero,
                  .promotion = &rounding, .u64_loop = mxl_quotient_u64);

MXL_ARITH_KERNELS(remainder, MXL_BINARY_LOOP, BY_TYPE(rest, x, y));
MXL_ARITH_KERNELS(remainder_scalar, MXL_NUMBER_LOOP, &remainder_kernels);
MXL_ARITH_KERNELS(part, MXL_BINARY_LOOP, BY_TYPE(part, x, y));

/* db = -dy * floor_divide(a, b) */
static int remainder_grad(mxl_grad *g)
{
    return rest_grad(g, &mxl_op_floor_divide, false);
}

/* db = -dy * trunc_divide(a, b) */
static int fmod_grad(mxl_grad *g)
{
    return rest_grad(g, &mxl_op_trunc_divide, false);
}

static MXL_BINARY(remainder, "_mxl_remainder", mxl_infer_broadcast, remainder,
                  "The remainder of lhs / rhs, with the sign of rhs; by 0 NaN, for integers 0.",
                  .grad = remainder_grad, .saves = rest_saves, .promotion = &rounding,
                  .u64_loop = rest_u64);
static MXL_SCALAR_AS(remainder_scalar, "_mxl_remainder_scalar", remainder_scalar,
                     "The remainder of data / scalar, with the sign of scalar; by 0 NaN.",
                     .grad = mxl_grad_pass, MXL_OF_TWO(mxl_op_remainder, false));
static MXL_BINARY(fmod, "_mxl_fmod", mxl_infer_broadcast, part,
                  "The remainder of lhs / rhs, with the sign of lhs; by 0 NaN, for integers 0.",
                  .grad = fmod_grad, .saves = rest_saves, .promotion = &rounding,
                  .u64_loop = rest_u64);

const mxl_op *const mxl_ops_division[] = {
    &mxl_op_broadcast_mod, &mxl_op_same_mod,
    &mxl_op_mod_scalar,    &mxl_op_rmod_scalar,
    &mxl_op_floor_divide,  &mxl_op_trunc_divide,
    &mxl_op_remainder,     &mxl_op_remainder_scalar,
    &mxl_op_fmod,          NULL,
};
