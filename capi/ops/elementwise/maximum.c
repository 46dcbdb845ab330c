/* Maximum and minimum of two arrays (broadcast_* and of equal shapes) and of an array and a number.
 */
#include "ops/elementwise/elementwise.h"

extern const mxl_op mxl_op_broadcast_maximum, mxl_op_broadcast_minimum;

/* ---- maximum and minimum: where both are equal, the gradient is the first one's ---- */

MXL_ARITH_KERNELS(maximum, MXL_BINARY_LOOP, x > y || x != x ? x : y);
MXL_ARITH_KERNELS(minimum, MXL_BINARY_LOOP, x < y || x != x ? x : y);

/* da = dy where a >= b, db = dy where a < b */
static int maximum_grad(mxl_grad *g)
{
    mxl_array *a = mxl_grad_in(g, 0), *b = mxl_grad_in(g, 1);

    return mxl_grad_times_both(g, mxl_apply2(g->s, &mxl_op_greater_equal, a, b),
                               mxl_apply2(g->s, &mxl_op_lesser, a, b));
}

/* da = dy where a <= b, db = dy where a > b */
static int minimum_grad(mxl_grad *g)
{
    mxl_array *a = mxl_grad_in(g, 0), *b = mxl_grad_in(g, 1);

    return mxl_grad_times_both(g, mxl_apply2(g->s, &mxl_op_lesser_equal, a, b),
                               mxl_apply2(g->s, &mxl_op_greater, a, b));
}

MXL_BINARY_PAIR(maximum, "_", "The larger of two elements, NaN if one is.",
                MXL_ALIASES("_npi_maximum"), MXL_ALIASES("_Maximum"), .grad = maximum_grad,
                .saves = mxl_saves_inputs);
MXL_BINARY_PAIR(minimum, "_", "The smaller of two elements, NaN if one is.",
                MXL_ALIASES("_npi_minimum"), MXL_ALIASES("_Minimum"), .grad = minimum_grad,
                .saves = mxl_saves_inputs);

MXL_ARITH_KERNELS(maximum_scalar, MXL_SCALAR_LOOP, x > s || x != x ? x : s);
MXL_ARITH_KERNELS(minimum_scalar, MXL_SCALAR_LOOP, x < s || x != x ? x : s);

/* dx = dy where x >= s */
static int maximum_scalar_grad(mxl_grad *g)
{
    mxl_array *derivative =
        mxl_apply_scalar(g->s, &mxl_op_greater_equal_scalar, mxl_grad_in(g, 0), mxl_grad_scalar(g));

    return mxl_grad_times(g, 0, derivative);
}

/* dx = dy where x <= s */
static int minimum_scalar_grad(mxl_grad *g)
{
    mxl_array *derivative =
        mxl_apply_scalar(g->s, &mxl_op_lesser_equal_scalar, mxl_grad_in(g, 0), mxl_grad_scalar(g));

    return mxl_grad_times(g, 0, derivative);
}

static MXL_SCALAR(maximum_scalar, "The larger of data and scalar, NaN if one is.",
                  .aliases = MXL_ALIASES("_MaximumScalar", "_npi_maximum_scalar"),
                  .grad = maximum_scalar_grad, .saves = mxl_saves_input);
MXL_SCALAR(minimum_scalar, "The smaller of data and scalar, NaN if one is.",
           .aliases = MXL_ALIASES("_MinimumScalar", "_npi_minimum_scalar"),
           .grad = minimum_scalar_grad, .saves = mxl_saves_input);

/* ---- PyTorch's: equal elements share the gradient ---- */

/* dx = 0 where x is not selected, dy / 2 where both are equal, else dy; the same for y. `loses`
 * computes where the first of two is not selected. Beside a NaN both are selected. The selection is
 * constant. */
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

static int share_max_grad(mxl_grad *g)
{
    return share_grad(g, &mxl_op_lesser);
}

static int share_min_grad(mxl_grad *g)
{
    return share_grad(g, &mxl_op_greater);
}

/* NaN is selected before every number. */
MXL_ARITH_KERNELS(share_max, MXL_BINARY_LOOP, x != x ? x : y != y ? y : x > y ? x : y);
MXL_ARITH_KERNELS(share_min, MXL_BINARY_LOOP, x != x ? x : y != y ? y : x < y ? x : y);
static MXL_BINARY(share_max, "_mxl_maximum", mxl_infer_broadcast, share_max,
                  "The greater of two elements, NaN before all.", .grad = share_max_grad,
                  .saves = mxl_saves_inputs);
static MXL_BINARY(share_min, "_mxl_minimum", mxl_infer_broadcast, share_min,
                  "The smaller of two elements, NaN before all.", .grad = share_min_grad,
                  .saves = mxl_saves_inputs);

const mxl_op *const mxl_ops_extremum[] = {
    &mxl_op_broadcast_maximum, &mxl_op_same_maximum, &mxl_op_maximum_scalar,
    &mxl_op_broadcast_minimum, &mxl_op_same_minimum, &mxl_op_minimum_scalar,
    &mxl_op_share_max,         &mxl_op_share_min,    NULL,
};
