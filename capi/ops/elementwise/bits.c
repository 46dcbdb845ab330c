/* Bitwise functions of integers, and of bool if the result is one: and, or, xor, not, shifts; and
 * the least common multiple. Gradients are zero. */
#include "ops/elementwise/elementwise.h"

/* Loops only of integers; byte loops serve bool too if BOOL_ROW names them. */
#define INTEGER_KERNELS(name, ROW, BOOL_ROW, ...)                                                  \
    ROW(name##_u8, u8, __VA_ARGS__)                                                                \
    ROW(name##_i8, i8, __VA_ARGS__)                                                                \
    ROW(name##_i32, i32, __VA_ARGS__)                                                              \
    ROW(name##_i64, i64, __VA_ARGS__)                                                              \
    static const mxl_kernels name##_kernels = {.row = {[MXL_U8] = name##_u8,                       \
                                                       [MXL_I8] = name##_i8,                       \
                                                       [MXL_I32] = name##_i32,                     \
                                                       [MXL_I64] = name##_i64,                     \
                                                       [MXL_BOOL] = BOOL_ROW},                     \
                                               .weight = 1}

/* Bytes are computed as 32-bit numbers; the store cuts higher bits off. A negative shift, or one by
 * all bits or more, counts as one by all bits. */
#define SHIFTS(T, U, BITS)                                                                         \
    static inline T left_##T(T x, T y)                                                             \
    {                                                                                              \
        return y < 0 || y >= BITS ? 0 : (T)((U)x << y);                                            \
    }                                                                                              \
                                                                                                   \
    static inline T right_##T(T x, T y)                                                            \
    {                                                                                              \
        return x >> (y < 0 || y >= BITS ? BITS - 1 : y);                                           \
    }

SHIFTS(int32_t, uint32_t, 32)
SHIFTS(int64_t, uint64_t, 64)

#define BY_WIDTH(name, x, y) _Generic((x), int32_t: name##_int32_t, int64_t: name##_int64_t)(x, y)

INTEGER_KERNELS(bitwise_and, MXL_BINARY_LOOP, bitwise_and_u8, x & y);
INTEGER_KERNELS(bitwise_or, MXL_BINARY_LOOP, bitwise_or_u8, x | y);
INTEGER_KERNELS(bitwise_xor, MXL_BINARY_LOOP, bitwise_xor_u8, x ^ y);
INTEGER_KERNELS(left_shift, MXL_BINARY_LOOP, NULL, BY_WIDTH(left, x, y));
INTEGER_KERNELS(right_shift, MXL_BINARY_LOOP, NULL, BY_WIDTH(right, x, y));
MXL_BINARY_LOOP(right_u64, u64, y >= 64 ? 0 : x >> y)

MXL_UNARY_LOOP(logical_not_bool, u8, x == 0)
INTEGER_KERNELS(bitwise_not, MXL_UNARY_LOOP, logical_not_bool, ~x);

/* The least common multiple, of the sizes; 0 if one is 0. */
static inline int64_t lcm_of(int64_t x, int64_t y)
{
    uint64_t a = mxl_size_of(x), b = mxl_size_of(y), largest = mxl_gcd(a, b);

    return largest == 0 ? 0 : (int64_t)(a / largest * b);
}

MXL_BINARY_LOOP(lcm_u8, u8, (uint8_t)lcm_of(x, y))
MXL_BINARY_LOOP(lcm_i8, i8, (int8_t)lcm_of(x, y))
MXL_BINARY_LOOP(lcm_i32, i32, (int32_t)lcm_of(x, y))
MXL_BINARY_LOOP(lcm_i64, i64, lcm_of(x, y))
static const mxl_kernels lcm_kernels = {.row = {[MXL_U8] = lcm_u8,
                                                [MXL_I8] = lcm_i8,
                                                [MXL_I32] = lcm_i32,
                                                [MXL_I64] = lcm_i64,
                                                [MXL_BOOL] = bitwise_and_u8},
                                        .weight = 1};

MXL_BINARY(lcm, "_npi_lcm", mxl_infer_broadcast, lcm,
           "The least common multiple of two integers; of bool where both are True.",
           .grad = mxl_grad_zero);
/* Bits of integers; those but the shifts of bool too. */
static const mxl_promotion bits = {.as_is = MXL_SET_INTEGERS | MXL_SET_BOOL,
                                   .refused = MXL_SET_FLOATS};
static const mxl_promotion shifts = {.as_is = MXL_SET_INTEGERS,
                                     .refused = MXL_SET_FLOATS | MXL_SET_BOOL};

MXL_BINARY(and, "_npi_bitwise_and", mxl_infer_broadcast, bitwise_and,
           "The bits that both integers have; of bool where both are True.", .grad = mxl_grad_zero,
           .promotion = &bits, .u64 = MXL_U64_WRAPS);
MXL_BINARY(or, "_npi_bitwise_or", mxl_infer_broadcast, bitwise_or,
           "The bits that either integer has; of bool where either is True.", .grad = mxl_grad_zero,
           .promotion = &bits, .u64 = MXL_U64_WRAPS);
MXL_BINARY(xor, "_npi_bitwise_xor", mxl_infer_broadcast, bitwise_xor,
           "The bits that one of two integers has; of bool where both differ.",
           .grad = mxl_grad_zero, .promotion = &bits, .u64 = MXL_U64_WRAPS);
static MXL_BINARY(left, "_mxl_left_shift", mxl_infer_broadcast, left_shift,
                  "The bits of lhs moved up by rhs; 0 where rhs is negative or too large.",
                  .grad = mxl_grad_zero, .promotion = &shifts, .u64 = MXL_U64_WRAPS);
static MXL_BINARY(right, "_mxl_right_shift", mxl_infer_broadcast, right_shift,
                  "The bits of lhs moved down by rhs, the sign kept; where rhs is negative or too "
                  "large the sign alone is left.",
                  .grad = mxl_grad_zero, .promotion = &shifts, .u64_loop = right_u64);
static MXL_UNARY_AS(not, "_npi_bitwise_not", bitwise_not,
                    "The bits that an integer has not; of bool the opposite.",
                    MXL_INPUTS(MXL_INPUT(x, "Integers, or booleans.")), .grad = mxl_grad_zero,
                    .u64 = MXL_U64_WRAPS);

const mxl_op *const mxl_ops_bits[] = {&mxl_op_and,  &mxl_op_or,    &mxl_op_xor, &mxl_op_not,
                                      &mxl_op_left, &mxl_op_right, &mxl_op_lcm, NULL};
