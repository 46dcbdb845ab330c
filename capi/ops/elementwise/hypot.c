/* The length of a vector of two elements: of two arrays, and of an array and a number. */
#include "ops/elementwise/elementwise.h"

extern const mxl_op mxl_op_broadcast_hypot;

/* Of doubles it is the C library's, one at a time. */
#define HYPOT_KERNELS(name, ROW, ...)                                                              \
    ROW(name##_f32, f32, __VA_ARGS__)                                                              \
    ROW(name##_f64, f64p, __VA_ARGS__)                                                             \
    ROW##_VIA(name, f16) ROW##_VIA(name, u8) ROW##_VIA(name, i32) ROW##_VIA(name, i8)              \
        ROW##_VIA(name, i64) MXL_NUMERIC_TABLE(name)

HYPOT_KERNELS(hypot, MXL_BINARY_LOOP, mxl_loop_hypot(x, y));

/* da = dy * a / y, db = dy * b / y; of integers zero */
static int hypot_grad(mxl_grad *g)
{
    mxl_array *y, *of_a, *of_b;

    if (!mxl_dtype_is_float(mxl_grad_in_meta(g, 0)->dtype))
        return 0;
    y = mxl_grad_out(g, 0);
    of_a = mxl_grad_wants(g, 0) ? mxl_div(g->s, mxl_grad_in(g, 0), y) : NULL;
    of_b = mxl_grad_wants(g, 1) ? mxl_div(g->s, mxl_grad_in(g, 1), y) : NULL;
    return mxl_grad_times_both(g, of_a, of_b);
}

static void hypot_saves(mxl_saves *saves)
{
    saves->in[0] = saves->wants[0];
    saves->in[1] = saves->wants[1];
    saves->out[0] = true;
}

static const mxl_promotion hypot_promotion = {.as_is = MXL_SET_FLOATS,
                                              .refused = MXL_SET_INTEGERS | MXL_SET_BOOL};

MXL_SPARSE_PAIR(hypot, "_", "sqrt(lhs^2 + rhs^2), without overflow on the way.",
                MXL_AS_NUMPY("_npi_hypot"), NULL, MXL_ALIASES("_Hypot"), &mxl_sparse_merged,
                .grad = hypot_grad, .saves = hypot_saves, .promotion = &hypot_promotion);

HYPOT_KERNELS(hypot_scalar, MXL_SCALAR_LOOP, mxl_loop_hypot(x, s));

/* dx = dy * x / y; of integers zero */
static int hypot_scalar_grad(mxl_grad *g)
{
    if (!mxl_dtype_is_float(mxl_grad_in_meta(g, 0)->dtype))
        return 0;
    return mxl_grad_times(g, 0, mxl_div(g->s, mxl_grad_in(g, 0), mxl_grad_out(g, 0)));
}

MXL_SCALAR(hypot_scalar, "sqrt(data^2 + scalar^2), without overflow on the way.",
           .aliases = MXL_ALIASES("_HypotScalar", "_npi_hypot_scalar"), .grad = hypot_scalar_grad,
           .saves = mxl_saves_input_and_output);

const mxl_op *const mxl_ops_hypot[] = {&mxl_op_broadcast_hypot, &mxl_op_same_hypot,
                                       &mxl_op_hypot_scalar, NULL};
