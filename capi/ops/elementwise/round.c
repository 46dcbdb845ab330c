/* Signs, roundings and the logical not. Their gradients are zero. Integers are returned unchanged
 * by roundings. */
#include "ops/elementwise/elementwise.h"

/* An integer, or a floating number through fn (fnf for float). */
#define WHOLE(x, fn)                                                                               \
    _Generic((x), float: fn##f, double: fn, int32_t: whole_i32, int64_t: whole_i64)(x)

static inline int32_t whole_i32(int32_t x)
{
    return x;
}

static inline int64_t whole_i64(int64_t x)
{
    return x;
}

/* To the nearest integer; halves go down, as in 1.9.1. */
static inline float nearestf(float x)
{
    return x - floorf(x) <= ceilf(x) - x ? floorf(x) : ceilf(x);
}

static inline double nearest(double x)
{
    return x - floor(x) <= ceil(x) - x ? floor(x) : ceil(x);
}

/* Of uint64 those that change no integer. */
void mxl_same_u64(void *out, const void *const *in, const int64_t *step, int64_t n,
                  const void *params)
{
    (void)step, (void)params;
    if (out != in[0])
        memcpy(out, in[0], (size_t)n * sizeof(uint64_t));
}

void mxl_sign_u64(void *out, const void *const *in, const int64_t *step, int64_t n,
                  const void *params)
{
    const uint64_t *x = in[0];
    uint64_t *y = out;

    (void)step, (void)params;
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] != 0;
}

MXL_ARITH_KERNELS(sign, MXL_UNARY_LOOP, x > 0 ? 1 : x < 0 ? -1 : 0);
MXL_UNARY(sign, "Sign of each element: -1, 0 or 1; 0 for NaN.", .sparse = &mxl_sparse_keeps_zeros,
          .aliases = MXL_ALIASES("_sparse_sign"), .numpy_name = "_npi_sign", .grad = mxl_grad_zero,
          .u64_loop = mxl_sign_u64);

MXL_ARITH_KERNELS(ceil, MXL_UNARY_LOOP, WHOLE(x, ceil));
static MXL_UNARY(ceil, "The smallest integer that is not below each element.",
                 .sparse = &mxl_sparse_keeps_zeros, .aliases = MXL_ALIASES("_sparse_ceil"),
                 .numpy_name = "_npi_ceil", .grad = mxl_grad_zero, .u64_loop = mxl_same_u64);

MXL_ARITH_KERNELS(floor, MXL_UNARY_LOOP, WHOLE(x, floor));
MXL_UNARY(floor, "The largest integer that is not above each element.",
          .sparse = &mxl_sparse_keeps_zeros, .aliases = MXL_ALIASES("_sparse_floor"),
          .numpy_name = "_npi_floor", .grad = mxl_grad_zero, .u64_loop = mxl_same_u64);

MXL_ARITH_KERNELS(rint, MXL_UNARY_LOOP, WHOLE(x, nearest));
static MXL_UNARY(rint, "Each element rounded to the nearest integer; halves go down.",
                 .sparse = &mxl_sparse_keeps_zeros, .aliases = MXL_ALIASES("_sparse_rint"),
                 .numpy_name = "_npi_rint", .grad = mxl_grad_zero, .u64_loop = mxl_same_u64);

MXL_ARITH_KERNELS(round, MXL_UNARY_LOOP, WHOLE(x, round));
static MXL_UNARY(round, "Each element rounded to the nearest integer; halves go away from 0.",
                 .sparse = &mxl_sparse_keeps_zeros, .aliases = MXL_ALIASES("_sparse_round"),
                 .grad = mxl_grad_zero, .u64_loop = mxl_same_u64);

MXL_ARITH_KERNELS(round_even, MXL_UNARY_LOOP, WHOLE(x, rint));
MXL_UNARY_AS(round_even, "_mxl_round_even", round_even,
             "Each element rounded to the nearest integer; halves go to even ones.",
             .grad = mxl_grad_zero, .u64_loop = mxl_same_u64);

MXL_ARITH_KERNELS(trunc, MXL_UNARY_LOOP, WHOLE(x, trunc));
MXL_UNARY(trunc, "Each element without its fraction.", .sparse = &mxl_sparse_keeps_zeros,
          .aliases = MXL_ALIASES("_sparse_trunc"), .numpy_name = "_npi_trunc",
          .grad = mxl_grad_zero, .u64_loop = mxl_same_u64);
static MXL_UNARY_AS(fix, "fix", trunc, "Each element rounded to the nearest integer towards 0.",
                    .sparse = &mxl_sparse_keeps_zeros, .aliases = MXL_ALIASES("_sparse_fix"),
                    .numpy_name = "_npi_fix", .grad = mxl_grad_zero, .u64_loop = mxl_same_u64);

MXL_ARITH_KERNELS(logical_not, MXL_UNARY_LOOP, x == 0 ? 1 : 0);
MXL_UNARY(logical_not, "1 where the element is 0, else 0, in its dtype.", .grad = mxl_grad_zero,
          .u64 = MXL_U64_WRAPS);

/* ---- straight-through: the gradient of the identity ---- */

static MXL_UNARY_AS(round_ste, "_contrib_round_ste", round,
                    "round of each element, with the gradient of the identity.",
                    .aliases = MXL_ALIASES("_sparse__contrib_round_ste"), .grad = mxl_grad_pass);
static MXL_UNARY_AS(sign_ste, "_contrib_sign_ste", sign,
                    "sign of each element, with the gradient of the identity.",
                    .aliases = MXL_ALIASES("_sparse__contrib_sign_ste"), .grad = mxl_grad_pass);

MXL_ARITH_KERNELS(same, MXL_SCALAR_LOOP, ((void)s, x));

/* dx = dy * s */
MXL_DX(multiplier, mxl_mul_scalar(s, dy, mxl_grad_scalar(g)))

static MXL_SCALAR_AS(gradient_multiplier, "_contrib_gradientmultiplier", same,
                     "data as it is; its gradient is multiplied with scalar.",
                     .grad = multiplier_grad);

const mxl_op *const mxl_ops_round[] = {
    &mxl_op_sign,
    &mxl_op_ceil,
    &mxl_op_floor,
    &mxl_op_rint,
    &mxl_op_round,
    &mxl_op_round_even,
    &mxl_op_trunc,
    &mxl_op_fix,
    &mxl_op_logical_not,
    &mxl_op_round_ste,
    &mxl_op_sign_ste,
    &mxl_op_gradient_multiplier,
    NULL,
};
