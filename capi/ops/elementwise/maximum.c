/* Maximum and minimum of two arrays (broadcast_* and of equal shapes), of an array and a number,
 * and PyTorch's. */
#include "ops/elementwise/elementwise.h"

extern const mxl_op mxl_op_broadcast_maximum, mxl_op_broadcast_minimum, mxl_op_maximum_scalar;

/* da = dy where `wins` holds for a and b, db = dy where `loses` does */
static int choice_grad(mxl_grad *g, const mxl_op *wins, const mxl_op *loses)
{
    mxl_array *a = mxl_grad_in(g, 0), *b = mxl_grad_in(g, 1);

    return mxl_grad_times_both(g, mxl_apply2(g->s, wins, a, b), mxl_apply2(g->s, loses, a, b));
}

/* PyTorch's: dx = 0 where x is not selected, dy / 2 where both are equal, else dy; the same for y.
 * `loses` computes where the first of two is not selected. Beside a NaN both are selected. The
 * selection is constant. */
static int share_grad(mxl_grad *g, const mxl_op *loses)
{
    mxl_array *in[2] = {mxl_grad_decides(g, 0), mxl_grad_decides(g, 1)};
    mxl_array *even = mxl_equal(g->s, in[0], in[1]);
    mxl_array *share = mxl_mul_scalar(g->s, g->grad_output[0], 0.5);

    share = mxl_where(g->s, even, share, g->grad_output[0]);
    for (int i = 0; i < 2; i++) {
        if (mxl_grad_wants(g, i) &&
            mxl_grad_set(
                g, i, mxl_zero_where(g->s, mxl_apply2(g->s, loses, in[i], in[1 - i]), share)) != 0)
            return -1;
    }
    return 0;
}

/* One function: x is selected where `x ABOVE y`, as the comparisons `wins` and `loses` name it. Of
 * equal elements the gradient is the first one's, but PyTorch's share it. */
#define EXTREMUM(id, CODE, ABOVE, wins, loses, text, same_alias, scalar_alias, share_name, node)   \
    MXL_ARITH_OPCODE(id, MXL_BINARY_LOOP, CODE, x ABOVE y || x != x ? x : y);                      \
    MXL_ARITH_OPCODE(id##_scalar, MXL_NUMBER_LOOP, CODE, &id##_kernels);                           \
                                                                                                   \
    static int id##_grad(mxl_grad *g)                                                              \
    {                                                                                              \
        return choice_grad(g, &mxl_op_##wins##_equal, &mxl_op_##loses);                            \
    }                                                                                              \
                                                                                                   \
    static int share_##id##_grad(mxl_grad *g)                                                      \
    {                                                                                              \
        return share_grad(g, &mxl_op_##loses);                                                     \
    }                                                                                              \
                                                                                                   \
    MXL_DX_OF_X(                                                                                   \
        id##_scalar,                                                                               \
        mxl_mul(s, dy, mxl_apply_scalar(s, &mxl_op_##wins##_equal_scalar, x, mxl_grad_scalar(g)))) \
                                                                                                   \
    MXL_SPARSE_PAIR(id, "_", "The " text " of two elements, NaN if one is.",                       \
                    MXL_ALIASES("_npi_" #id), NULL, MXL_ALIASES(same_alias), &mxl_sparse_merged,   \
                    .grad = id##_grad, .saves = mxl_saves_inputs, .node_name = node,               \
                    .promotion = &mxl_promotes_numbers, .u64 = MXL_U64_ORDERED);                   \
    MXL_SCALAR(id##_scalar, "The " text " of data and scalar, NaN if one is.",                     \
               .aliases = MXL_ALIASES(scalar_alias, "_npi_" #id "_scalar"),                        \
               .grad = id##_scalar_grad, .saves = mxl_saves_input,                                 \
               MXL_OF_TWO(mxl_op_broadcast_##id, false));                                          \
    static MXL_BINARY(share_##id, share_name, mxl_infer_broadcast, id,                             \
                      "The " text " of two elements, NaN if one is.", .grad = share_##id##_grad,   \
                      .saves = mxl_saves_inputs, .promotion = &mxl_promotes_numbers,               \
                      .u64 = MXL_U64_ORDERED)

EXTREMUM(maximum, MXL_CODE_MAX, >, greater, lesser, "larger", "_Maximum", "_MaximumScalar",
         "_mxl_maximum", "MaximumBackward0");
EXTREMUM(minimum, MXL_CODE_MIN, <, lesser, greater, "smaller", "_Minimum", "_MinimumScalar",
         "_mxl_minimum", "MinimumBackward0");

const mxl_op *const mxl_ops_maximum[] = {
    &mxl_op_broadcast_maximum, &mxl_op_same_maximum,  &mxl_op_maximum_scalar,
    &mxl_op_broadcast_minimum, &mxl_op_same_minimum,  &mxl_op_minimum_scalar,
    &mxl_op_share_maximum,     &mxl_op_share_minimum, NULL,
};
