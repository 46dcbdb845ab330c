/* Element-wise functions of one array: kernel, vjp and descriptor of each, one after another. */
#include "ops/elementwise/elementwise.h"

/* ---- exponential and logarithm ---- */

MXL_MATH_KERNELS(exp, MXL_UNARY_LOOP, mxl_loop_exp(x));

/* dx = dy * y */
static int exp_grad(mxl_grad *g)
{
    return mxl_grad_set(g, 0, mxl_mul(g->s, g->grad_output[0], mxl_grad_out(g, 0)));
}

MXL_GRAD_KERNEL(exp, MXL_FLOAT_KERNELS, mxl_grad_out, y * x)

MXL_UNARY_OP_FAST(mxl_op_exp, "exp", MXL_ALIASES("_sparse_exp"),
                  "Exponential of each element: y = e^x.", exp_kernels, exp_grad, mxl_saves_output,
                  exp_grad_kernel);

MXL_MATH_KERNELS(log, MXL_UNARY_LOOP, mxl_loop_log(x));

/* dx = dy / x */
static int log_grad(mxl_grad *g)
{
    return mxl_grad_set(g, 0, mxl_div(g->s, g->grad_output[0], mxl_grad_in(g, 0)));
}

MXL_GRAD_KERNEL(log, MXL_FLOAT_KERNELS, mxl_grad_in, y / x)

MXL_UNARY_OP_FAST(mxl_op_log, "log", MXL_ALIASES("_sparse_log"),
                  "Natural logarithm of each element; -inf at 0, NaN below.", log_kernels, log_grad,
                  mxl_saves_input, log_grad_kernel);

/* ---- activations ---- */

MXL_MATH_KERNELS(tanh, MXL_UNARY_LOOP, mxl_loop_tanh(x));

/* dx = dy * (1 - y^2) */
static int tanh_grad(mxl_grad *g)
{
    mxl_array *y = mxl_grad_out(g, 0);

    return mxl_grad_set(g, 0,
                        mxl_mul(g->s, g->grad_output[0], mxl_one_minus(g->s, mxl_square(g->s, y))));
}

MXL_GRAD_KERNEL(tanh, MXL_FLOAT_KERNELS, mxl_grad_out, y * (1 - x * x))

MXL_UNARY_OP_FAST(mxl_op_tanh, "tanh", MXL_ALIASES("_sparse_tanh"),
                  "Hyperbolic tangent of each element.", tanh_kernels, tanh_grad, mxl_saves_output,
                  tanh_grad_kernel);

MXL_MATH_KERNELS(sigmoid, MXL_UNARY_LOOP, mxl_loop_sigmoid(x));

/* dx = dy * y * (1 - y) */
static int sigmoid_grad(mxl_grad *g)
{
    mxl_array *y = mxl_grad_out(g, 0);

    return mxl_grad_set(g, 0,
                        mxl_mul(g->s, g->grad_output[0], mxl_mul(g->s, y, mxl_one_minus(g->s, y))));
}

MXL_GRAD_KERNEL(sigmoid, MXL_FLOAT_KERNELS, mxl_grad_out, y * (x * (1 - x)))

MXL_UNARY_OP_FAST(mxl_op_sigmoid, "sigmoid", MXL_ALIASES("_sparse_sigmoid"),
                  "Logistic function of each element: y = 1 / (1 + e^-x).", sigmoid_kernels,
                  sigmoid_grad, mxl_saves_output, sigmoid_grad_kernel);

/* NaN stays NaN, -0 becomes 0. */
MXL_ARITH_KERNELS(relu, MXL_UNARY_LOOP, x <= 0 ? 0 : x);

/* dx = dy where y > 0, else 0 */
static int relu_grad(mxl_grad *g)
{
    return mxl_grad_set(g, 0,
                        mxl_mul(g->s, g->grad_output[0], mxl_positive(g->s, mxl_grad_out(g, 0))));
}

MXL_GRAD_KERNEL(relu, MXL_FLOAT_KERNELS, mxl_grad_out, y *(x > 0 ? 1 : x != x ? x : 0))

MXL_UNARY_OP_FAST(mxl_op_relu, "relu", MXL_ALIASES("_sparse_relu"),
                  "Rectified linear unit: y = max(x, 0) for each element; its gradient at 0 is 0.",
                  relu_kernels, relu_grad, mxl_saves_output, relu_grad_kernel);

/* ---- powers and signs ---- */

MXL_MATH_KERNELS(sqrt, MXL_UNARY_LOOP, mxl_loop_sqrt(x));

/* dx = dy / (2 y) */
static int sqrt_grad(mxl_grad *g)
{
    mxl_array *y = mxl_grad_out(g, 0);

    return mxl_grad_set(g, 0, mxl_div(g->s, g->grad_output[0], mxl_mul_scalar(g->s, y, 2)));
}

MXL_GRAD_KERNEL(sqrt, MXL_FLOAT_KERNELS, mxl_grad_out, y / (x * 2))

MXL_UNARY_OP_FAST(mxl_op_sqrt, "sqrt", MXL_ALIASES("_sparse_sqrt"),
                  "Square root of each element; NaN below 0.", sqrt_kernels, sqrt_grad,
                  mxl_saves_output, sqrt_grad_kernel);

MXL_ARITH_KERNELS(square, MXL_UNARY_LOOP, x * x);

/* dx = dy * 2 x */
static int square_grad(mxl_grad *g)
{
    mxl_array *x = mxl_grad_in(g, 0);

    return mxl_grad_set(g, 0, mxl_mul(g->s, g->grad_output[0], mxl_mul_scalar(g->s, x, 2)));
}

MXL_GRAD_KERNEL(square, MXL_FLOAT_KERNELS, mxl_grad_in, y * (x * 2))

MXL_UNARY_OP_FAST(mxl_op_square, "square", MXL_ALIASES("_sparse_square"), "Square of each element.",
                  square_kernels, square_grad, mxl_saves_input, square_grad_kernel);

MXL_ARITH_KERNELS(negative, MXL_UNARY_LOOP, -x);

/* dx = -dy */
static int negative_grad(mxl_grad *g)
{
    return mxl_grad_set(g, 0, mxl_negative(g->s, g->grad_output[0]));
}

MXL_UNARY_OP(mxl_op_negative, "negative", MXL_ALIASES("_sparse_negative"),
             "Each element with its sign turned.", negative_kernels, negative_grad, NULL);

MXL_ARITH_KERNELS(abs, MXL_UNARY_LOOP, x < 0 ? -x : x + 0);

/* dx = dy * sign(x), 0 where x is NaN */
static int abs_grad(mxl_grad *g)
{
    return mxl_grad_set(g, 0, mxl_mul(g->s, g->grad_output[0], mxl_sign(g->s, mxl_grad_in(g, 0))));
}

MXL_GRAD_KERNEL(abs, MXL_FLOAT_KERNELS, mxl_grad_in, y *(x > 0 ? 1 : x < 0 ? -1 : 0))

MXL_UNARY_OP_FAST(mxl_op_abs, "abs", MXL_ALIASES("_sparse_abs"),
                  "Absolute value of each element; its gradient at 0 is 0.", abs_kernels, abs_grad,
                  mxl_saves_input, abs_grad_kernel);

/* ---- step functions, which only vjps use ---- */

MXL_ARITH_KERNELS(positive, MXL_UNARY_LOOP, x > 0 ? 1 : x != x ? x : 0);

MXL_UNARY_OP(mxl_op_positive, "_mxl_positive", NULL,
             "1 where the element is above 0, NaN stays, else 0.", positive_kernels, mxl_grad_zero,
             NULL);

const mxl_op *const mxl_ops_unary[] = {
    &mxl_op_exp,    &mxl_op_log,      &mxl_op_tanh, &mxl_op_sigmoid,  &mxl_op_relu, &mxl_op_sqrt,
    &mxl_op_square, &mxl_op_negative, &mxl_op_abs,  &mxl_op_positive, NULL,
};
