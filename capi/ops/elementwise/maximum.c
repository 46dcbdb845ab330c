/* Maximum, minimum and hypot of two arrays (broadcast_* and of equal shapes) and of an array and a
 * number. */
#include "ops/elementwise/elementwise.h"

extern const mxl_op mxl_op_broadcast_maximum, mxl_op_broadcast_minimum, mxl_op_broadcast_hypot;

/* da = dy * derivative by a, db = dy * derivative by b; an unwanted derivative may be NULL */
static int set_derivatives(mxl_grad *g, mxl_array *of_a, mxl_array *of_b)
{
    if (mxl_grad_wants(g, 0) && mxl_grad_times(g, 0, of_a) != 0)
        return -1;
    if (mxl_grad_wants(g, 1) && mxl_grad_times(g, 1, of_b) != 0)
        return -1;
    return 0;
}

/* ---- maximum and minimum: where both are equal, the gradient is the first one's ---- */

MXL_ARITH_KERNELS(maximum, MXL_BINARY_LOOP, x > y || x != x ? x : y);
MXL_ARITH_KERNELS(minimum, MXL_BINARY_LOOP, x < y || x != x ? x : y);

/* da = dy where a >= b, db = dy where a < b */
static int maximum_grad(mxl_grad *g)
{
    mxl_array *a = mxl_grad_in(g, 0), *b = mxl_grad_in(g, 1);

    return set_derivatives(g, mxl_apply2(g->s, &mxl_op_greater_equal, a, b),
                           mxl_apply2(g->s, &mxl_op_lesser, a, b));
}

/* da = dy where a <= b, db = dy where a > b */
static int minimum_grad(mxl_grad *g)
{
    mxl_array *a = mxl_grad_in(g, 0), *b = mxl_grad_in(g, 1);

    return set_derivatives(g, mxl_apply2(g->s, &mxl_op_lesser_equal, a, b),
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

/* ---- hypot ---- */

MXL_MATH_KERNELS(hypot, MXL_BINARY_LOOP, mxl_loop_hypot(x, y));

/* da = dy * a / y, db = dy * b / y */
static int hypot_grad(mxl_grad *g)
{
    mxl_array *y = mxl_grad_out(g, 0);
    mxl_array *of_a = mxl_grad_wants(g, 0) ? mxl_div(g->s, mxl_grad_in(g, 0), y) : NULL;
    mxl_array *of_b = mxl_grad_wants(g, 1) ? mxl_div(g->s, mxl_grad_in(g, 1), y) : NULL;

    return set_derivatives(g, of_a, of_b);
}

static void hypot_saves(mxl_saves *saves)
{
    saves->in[0] = saves->wants[0];
    saves->in[1] = saves->wants[1];
    saves->out[0] = true;
}

MXL_BINARY_PAIR(hypot, "_", "sqrt(lhs^2 + rhs^2), without overflow on the way.", NULL,
                MXL_ALIASES("_Hypot"), .grad = hypot_grad, .saves = hypot_saves);

MXL_MATH_KERNELS(hypot_scalar, MXL_SCALAR_LOOP, mxl_loop_hypot(x, s));

/* dx = dy * x / y */
static int hypot_scalar_grad(mxl_grad *g)
{
    mxl_array *derivative = mxl_div(g->s, mxl_grad_in(g, 0), mxl_grad_out(g, 0));

    return mxl_grad_times(g, 0, derivative);
}

MXL_SCALAR(hypot_scalar, "sqrt(data^2 + scalar^2), without overflow on the way.",
           .aliases = MXL_ALIASES("_HypotScalar", "_npi_hypot_scalar"), .grad = hypot_scalar_grad,
           .saves = mxl_saves_input_and_output);

const mxl_op *const mxl_ops_extremum[] = {
    &mxl_op_broadcast_maximum, &mxl_op_same_maximum,
    &mxl_op_maximum_scalar,    &mxl_op_broadcast_minimum,
    &mxl_op_same_minimum,      &mxl_op_minimum_scalar,
    &mxl_op_broadcast_hypot,   &mxl_op_same_hypot,
    &mxl_op_hypot_scalar,      NULL,
};
