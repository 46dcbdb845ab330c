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

MXL_ARITH_KERNELS(sign, MXL_UNARY_LOOP, x > 0 ? 1 : x < 0 ? -1 : 0);
MXL_UNARY_OP(mxl_op_sign, "sign", MXL_ALIASES("_sparse_sign"),
             "Sign of each element: -1, 0 or 1; 0 for NaN.", sign_kernels, mxl_grad_zero, NULL);

MXL_ARITH_KERNELS(ceil, MXL_UNARY_LOOP, WHOLE(x, ceil));
static MXL_UNARY_OP(op_ceil, "ceil", MXL_ALIASES("_sparse_ceil"),
                    "The smallest integer that is not below each element.", ceil_kernels,
                    mxl_grad_zero, NULL);

MXL_ARITH_KERNELS(floor, MXL_UNARY_LOOP, WHOLE(x, floor));
MXL_UNARY_OP(mxl_op_floor, "floor", MXL_ALIASES("_sparse_floor"),
             "The largest integer that is not above each element.", floor_kernels, mxl_grad_zero,
             NULL);

MXL_ARITH_KERNELS(rint, MXL_UNARY_LOOP, WHOLE(x, nearest));
static MXL_UNARY_OP(op_rint, "rint", MXL_ALIASES("_sparse_rint"),
                    "Each element rounded to the nearest integer; halves go down.", rint_kernels,
                    mxl_grad_zero, NULL);

MXL_ARITH_KERNELS(round, MXL_UNARY_LOOP, WHOLE(x, round));
static MXL_UNARY_OP(op_round, "round", MXL_ALIASES("_sparse_round"),
                    "Each element rounded to the nearest integer; halves go away from 0.",
                    round_kernels, mxl_grad_zero, NULL);

MXL_ARITH_KERNELS(trunc, MXL_UNARY_LOOP, WHOLE(x, trunc));
static MXL_UNARY_OP(op_trunc, "trunc", MXL_ALIASES("_sparse_trunc"),
                    "Each element without its fraction.", trunc_kernels, mxl_grad_zero, NULL);
static MXL_UNARY_OP(op_fix, "fix", MXL_ALIASES("_sparse_fix"),
                    "Each element rounded to the nearest integer towards 0.", trunc_kernels,
                    mxl_grad_zero, NULL);

MXL_ARITH_KERNELS(logical_not, MXL_UNARY_LOOP, x == 0 ? 1 : 0);
static MXL_UNARY_OP(op_logical_not, "logical_not", NULL,
                    "1 where the element is 0, else 0, in its dtype.", logical_not_kernels,
                    mxl_grad_zero, NULL);

/* ---- straight-through: the gradient of the identity ---- */

static MXL_UNARY_OP(op_round_ste, "_contrib_round_ste", MXL_ALIASES("_sparse__contrib_round_ste"),
                    "round of each element, with the gradient of the identity.", round_kernels,
                    mxl_grad_pass, NULL);
static MXL_UNARY_OP(op_sign_ste, "_contrib_sign_ste", MXL_ALIASES("_sparse__contrib_sign_ste"),
                    "sign of each element, with the gradient of the identity.", sign_kernels,
                    mxl_grad_pass, NULL);

MXL_ARITH_KERNELS(same, MXL_SCALAR_LOOP, ((void)s, x));

/* dx = dy * s */
static int multiplier_grad(mxl_grad *g)
{
    return mxl_grad_set(g, 0, mxl_mul_scalar(g->s, g->grad_output[0], mxl_grad_scalar(g)));
}

static MXL_SCALAR_OP(op_gradient_multiplier, "_contrib_gradientmultiplier", NULL,
                     "data as it is; its gradient is multiplied with scalar.", same_kernels,
                     multiplier_grad, NULL);

const mxl_op *const mxl_ops_round[] = {
    &mxl_op_sign,
    &op_ceil,
    &mxl_op_floor,
    &op_rint,
    &op_round,
    &op_trunc,
    &op_fix,
    &op_logical_not,
    &op_round_ste,
    &op_sign_ste,
    &op_gradient_multiplier,
    NULL,
};
