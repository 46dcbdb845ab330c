/* Element-wise functions of two arrays: broadcast_* by NumPy's rule, elemwise_* of equal shapes.
 * The vjps ignore broadcasting: the engine sums each gradient to its input's shape. */
#include "ops/build.h"

/* Defines the two operators of one function. */
#define BINARY(symbol, verb, broadcast_aliases, elemwise_aliases, text, op_grad, op_saves,         \
               op_grad_kernel)                                                                     \
    const mxl_op mxl_op_broadcast_##symbol = {                                                     \
        .name = "broadcast_" verb,                                                                 \
        .aliases = broadcast_aliases,                                                              \
        .doc = text " The shapes are broadcast by NumPy's rule.",                                  \
        .inputs = mxl_inputs_lhs_rhs,                                                              \
        .params = mxl_params_none,                                                                 \
        .infer = mxl_infer_broadcast,                                                              \
        .compute = mxl_run_loops,                                                                  \
        .kernels = &symbol##_kernels,                                                              \
        .grad = op_grad,                                                                           \
        .saves = op_saves,                                                                         \
        .grad_kernel = op_grad_kernel,                                                             \
    };                                                                                             \
    static const mxl_op op_elemwise_##symbol = {                                                   \
        .name = "elemwise_" verb,                                                                  \
        .aliases = elemwise_aliases,                                                               \
        .doc = text " The shapes must be equal.",                                                  \
        .inputs = mxl_inputs_lhs_rhs,                                                              \
        .params = mxl_params_none,                                                                 \
        .infer = mxl_infer_same,                                                                   \
        .compute = mxl_run_loops,                                                                  \
        .kernels = &symbol##_kernels,                                                              \
        .grad = op_grad,                                                                           \
        .saves = op_saves,                                                                         \
        .grad_kernel = op_grad_kernel,                                                             \
    }

MXL_ARITH_KERNELS(add, MXL_BINARY_LOOP, x + y);

/* da = dy, db = dy */
static int add_grad(mxl_grad *g)
{
    if (mxl_grad_set(g, 0, g->grad_output[0]) != 0)
        return -1;
    return mxl_grad_set(g, 1, g->grad_output[0]);
}

BINARY(add, "add", MXL_ALIASES("_sparse_broadcast_add", "_sparse_broadcast_plus", "broadcast_plus"),
       MXL_ALIASES("_Plus", "_add", "_plus", "_sparse_elemwise_add"), "Sum of two arrays.",
       add_grad, NULL, NULL);

/* 1.9.1's operator for adding gradients, which has no gradient there. */
static const mxl_op op_grad_add = {
    .name = "_grad_add",
    .doc = "Sum of two arrays. The shapes must be equal.",
    .inputs = mxl_inputs_lhs_rhs,
    .params = mxl_params_none,
    .infer = mxl_infer_same,
    .compute = mxl_run_loops,
    .kernels = &add_kernels,
    .grad = add_grad,
};

MXL_ARITH_KERNELS(sub, MXL_BINARY_LOOP, x - y);

/* da = dy, db = -dy */
static int sub_grad(mxl_grad *g)
{
    if (mxl_grad_set(g, 0, g->grad_output[0]) != 0)
        return -1;
    if (!mxl_grad_wants(g, 1))
        return 0;
    return mxl_grad_set(g, 1, mxl_negative(g->s, g->grad_output[0]));
}

BINARY(sub, "sub",
       MXL_ALIASES("_sparse_broadcast_minus", "_sparse_broadcast_sub", "broadcast_minus"),
       MXL_ALIASES("_Minus", "_minus", "_sparse_elemwise_sub", "_sub"), "Difference of two arrays.",
       sub_grad, NULL, NULL);

MXL_ARITH_KERNELS(mul, MXL_BINARY_LOOP, x * y);

/* da = dy * b, db = dy * a */
static int mul_grad(mxl_grad *g)
{
    if (mxl_grad_wants(g, 0) &&
        mxl_grad_set(g, 0, mxl_mul(g->s, g->grad_output[0], mxl_grad_in(g, 1))) != 0)
        return -1;
    if (mxl_grad_wants(g, 1) &&
        mxl_grad_set(g, 1, mxl_mul(g->s, g->grad_output[0], mxl_grad_in(g, 0))) != 0)
        return -1;
    return 0;
}

/* Writes the second product over dy. */
static int mul_grad_kernel(mxl_grad *g)
{
    if (!mxl_grad_wants(g, 0) || !mxl_grad_wants(g, 1)) {
        int wanted = mxl_grad_wants(g, 0) ? 0 : 1;

        return mxl_grad_set(g, wanted, mxl_grad_loop(g, &mul_kernels, mxl_grad_in(g, 1 - wanted)));
    }
    if (mxl_grad_set(g, 0, mxl_mul(g->s, g->grad_output[0], mxl_grad_in(g, 1))) != 0)
        return -1;
    return mxl_grad_set(g, 1, mxl_grad_loop(g, &mul_kernels, mxl_grad_in(g, 0)));
}

BINARY(mul, "mul", MXL_ALIASES("_sparse_broadcast_mul"),
       MXL_ALIASES("_Mul", "_mul", "_sparse_elemwise_mul"),
       "Product of two arrays, element by element.", mul_grad, mxl_saves_other, mul_grad_kernel);

MXL_ARITH_KERNELS(div, MXL_BINARY_LOOP, mxl_quotient(x, y));

/* da = dy / b, db = -dy * a / b^2 */
static int div_grad(mxl_grad *g)
{
    mxl_array *b = mxl_grad_in(g, 1), *da = mxl_div(g->s, g->grad_output[0], b);

    if (mxl_grad_set(g, 0, da) != 0)
        return -1;
    if (!mxl_grad_wants(g, 1))
        return 0;
    return mxl_grad_set(g, 1,
                        mxl_negative(g->s, mxl_div(g->s, mxl_mul(g->s, da, mxl_grad_in(g, 0)), b)));
}

/* b always; a only if b's gradient is wanted */
static void div_saves(mxl_saves *saves)
{
    saves->in[0] = saves->wants[1];
    saves->in[1] = true;
}

BINARY(div, "div", MXL_ALIASES("_sparse_broadcast_div"),
       MXL_ALIASES("_Div", "_div", "_sparse_elemwise_div"),
       "Quotient of two arrays; of integers cut towards zero, and 0 where the divisor is 0.",
       div_grad, div_saves, NULL);

const mxl_op *const mxl_ops_binary[] = {
    &mxl_op_broadcast_add, &op_elemwise_add,
    &mxl_op_broadcast_sub, &op_elemwise_sub,
    &mxl_op_broadcast_mul, &op_elemwise_mul,
    &mxl_op_broadcast_div, &op_elemwise_div,
    &op_grad_add,          NULL,
};
