/* Element-wise functions of one array: kernel, vjp and descriptor of each, one after another. */
#include "ops/elementwise/elementwise.h"

/* ---- exponential and logarithm ---- */

MXL_MATH_KERNELS(exp, MXL_UNARY_LOOP, mxl_loop_exp(x));

/* dx = dy * y */
MXL_DX_OF_Y(exp, mxl_mul(s, dy, y))

MXL_UNARY(exp, "Exponential of each element: y = e^x.", .aliases = MXL_ALIASES("_sparse_exp"),
          .numpy_name = "_npi_exp", MXL_RULE_OF_Y(exp), .promotion = &mxl_promotes_floats);

MXL_MATH_KERNELS(log, MXL_UNARY_LOOP, mxl_loop_log(x));

/* dx = dy / x */
MXL_DX_OF_X(log, mxl_div(s, dy, x))

MXL_UNARY(log, "Natural logarithm of each element; -inf at 0, NaN below.",
          .aliases = MXL_ALIASES("_sparse_log"), .numpy_name = "_npi_log", MXL_RULE_OF_X(log),
          .promotion = &mxl_promotes_floats);

/* ---- activations ---- */

MXL_MATH_KERNELS(tanh, MXL_UNARY_LOOP, mxl_loop_tanh(x));

/* dx = dy * (1 - y^2) */
MXL_DX_OF_Y(tanh, mxl_mul(s, dy, mxl_one_minus(s, mxl_square(s, y))))

MXL_GRAD_KERNEL(tanh, MXL_FLOAT_KERNELS, mxl_grad_out, y * (1 - x * x))

MXL_UNARY(tanh, "Hyperbolic tangent of each element.", .sparse = &mxl_sparse_keeps_zeros,
          .aliases = MXL_ALIASES("_sparse_tanh"), .numpy_name = "_npi_tanh", MXL_RULE_OF_Y(tanh),
          .grad_kernel = tanh_grad_kernel, .promotion = &mxl_promotes_floats);

MXL_MATH_KERNELS(sigmoid, MXL_UNARY_LOOP, mxl_loop_sigmoid(x));

/* dx = dy * y * (1 - y) */
MXL_DX_OF_Y(sigmoid, mxl_mul(s, dy, mxl_mul(s, y, mxl_one_minus(s, y))))

MXL_GRAD_KERNEL(sigmoid, MXL_FLOAT_KERNELS, mxl_grad_out, y * (x * (1 - x)))

MXL_UNARY(sigmoid, "Logistic function of each element: y = 1 / (1 + e^-x).",
          .aliases = MXL_ALIASES("_sparse_sigmoid"), .numpy_name = "_npx_sigmoid",
          MXL_RULE_OF_Y(sigmoid), .grad_kernel = sigmoid_grad_kernel,
          .promotion = &mxl_promotes_floats);

/* NaN stays NaN, -0 becomes 0. */
MXL_ARITH_OPCODE(relu, MXL_UNARY_LOOP, MXL_CODE_RELU, x <= 0 ? 0 : x);

/* dx = dy where y > 0, else 0 */
MXL_DX_OF_Y(relu, mxl_mul(s, dy, mxl_positive(s, y)))

MXL_GRAD_OPCODE(relu, MXL_CODE_GATE, mxl_grad_out, y *(x > 0 ? 1 : x != x ? x : 0))

MXL_UNARY(relu, "Rectified linear unit: y = max(x, 0) for each element; its gradient at 0 is 0.",
          .sparse = &mxl_sparse_keeps_zeros, .aliases = MXL_ALIASES("_sparse_relu"),
          .numpy_name = "_npx_relu", MXL_RULE_OF_Y(relu), .grad_kernel = relu_grad_kernel,
          .u64_loop = mxl_same_u64);

/* PyTorch's: -0 stays. */
MXL_ARITH_OPCODE(relu_cut, MXL_UNARY_LOOP, MXL_CODE_RELU_CUT, x < 0 ? 0 : x);

/* dx = 0 where y <= 0, whatever dy is there; else dy */
MXL_DX_OF_Y(relu_cut, mxl_zero_where(s, mxl_apply_scalar(s, &mxl_op_lesser_equal_scalar, y, 0), dy))

MXL_GRAD_OPCODE(relu_cut, MXL_CODE_PASS, mxl_grad_out, x <= 0 ? 0 : y)

static MXL_UNARY_AS(relu_cut, "_mxl_relu", relu_cut,
                    "max(x, 0); where that is 0 no gradient passes, not even an infinite one.",
                    MXL_RULE_OF_Y(relu_cut), .grad_kernel = relu_cut_grad_kernel,
                    .u64_loop = mxl_same_u64);

/* ---- powers and signs ---- */

MXL_PLAIN_KERNELS(sqrt, MXL_UNARY_LOOP, mxl_loop_sqrt(x));

/* dx = dy / (2 y) */
MXL_DX_OF_Y(sqrt, mxl_div(s, dy, mxl_mul_scalar(s, y, 2)))

MXL_GRAD_KERNEL(sqrt, MXL_FLOAT_KERNELS, mxl_grad_out, y / (x * 2))

MXL_UNARY(sqrt, "Square root of each element; NaN below 0.", .sparse = &mxl_sparse_keeps_zeros,
          .aliases = MXL_ALIASES("_sparse_sqrt"), .numpy_name = "_npi_sqrt", MXL_RULE_OF_Y(sqrt),
          .grad_kernel = sqrt_grad_kernel, .promotion = &mxl_promotes_floats);

MXL_ARITH_OPCODE(square, MXL_UNARY_LOOP, MXL_CODE_SQUARE, x * x);

/* dx = dy * 2 x */
MXL_DX_OF_X(square, mxl_mul(s, dy, mxl_mul_scalar(s, x, 2)))

MXL_GRAD_KERNEL(square, MXL_FLOAT_KERNELS, mxl_grad_in, y * (x * 2))

MXL_UNARY(square, "Square of each element.", .sparse = &mxl_sparse_keeps_zeros,
          .aliases = MXL_ALIASES("_sparse_square"), .numpy_name = "_npi_square",
          MXL_RULE_OF_X(square), .grad_kernel = square_grad_kernel, .u64 = MXL_U64_WRAPS);

MXL_ARITH_OPCODE(negative, MXL_UNARY_LOOP, MXL_CODE_NEGATIVE, -x);

/* dx = -dy */
MXL_DX(negative, mxl_negative(s, dy))

MXL_UNARY(negative, "Each element with its sign turned.", .sparse = &mxl_sparse_keeps_zeros,
          .aliases = MXL_ALIASES("_sparse_negative"), .numpy_name = "_npi_negative",
          .grad = negative_grad, .node_name = "NegBackward0", .u64 = MXL_U64_WRAPS);

MXL_ARITH_KERNELS(abs, MXL_UNARY_LOOP, x < 0 ? -x : x + 0);

/* dx = dy * sign(x), 0 where x is NaN */
MXL_DX_OF_X(abs, mxl_mul(s, dy, mxl_sign(s, x)))

MXL_GRAD_KERNEL(abs, MXL_FLOAT_KERNELS, mxl_grad_in, y *(x > 0 ? 1 : x < 0 ? -1 : 0))

MXL_UNARY(abs, "Absolute value of each element; its gradient at 0 is 0.",
          .sparse = &mxl_sparse_keeps_zeros, .aliases = MXL_ALIASES("_npi_abs", "_sparse_abs"),
          .numpy_name = "_npi_absolute", MXL_RULE_OF_X(abs), .grad_kernel = abs_grad_kernel,
          .u64_loop = mxl_same_u64);

/* ---- step functions, which only vjps use ---- */

MXL_ARITH_KERNELS(positive, MXL_UNARY_LOOP, x > 0 ? 1 : x != x ? x : 0);

MXL_UNARY_AS(positive, "_mxl_positive", positive,
             "1 where the element is above 0, NaN stays, else 0.",
             .sparse = &mxl_sparse_keeps_zeros, .grad = mxl_grad_zero, .u64_loop = mxl_sign_u64);

const mxl_op *const mxl_ops_unary[] = {
    &mxl_op_exp,      &mxl_op_log,      &mxl_op_tanh,     &mxl_op_sigmoid,
    &mxl_op_relu,     &mxl_op_relu_cut, &mxl_op_sqrt,     &mxl_op_square,
    &mxl_op_negative, &mxl_op_abs,      &mxl_op_positive, NULL,
};
