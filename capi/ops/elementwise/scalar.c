/* Element-wise functions of an array and a number. The number is converted to the array's dtype,
 * which the result has too. Integers with is_int=0, and booleans, are computed in another dtype, as
 * in 1.9.1. */
#include "ops/elementwise/elementwise.h"

#include "array/copy.h"

#include <math.h>
#include <stddef.h>

const mxl_param mxl_params_scalar[] = {
    MXL_PARAM(mxl_scalar_params, scalar, MXL_P_FLOAT, "1", "The number.", .type_name = "double"),
    MXL_PARAM(mxl_scalar_params, is_int, MXL_P_BOOL, "1",
              "Whether the number counts as an integer: then an integer array keeps its dtype, "
              "otherwise its result is float64."),
    {0},
};

int mxl_scalar_dtype(int dtype, const mxl_scalar_params *params)
{
    if (mxl_dtype_is_float(dtype))
        return dtype;
    if (!params->is_int)
        return MXL_F64;
    return dtype == MXL_BOOL ? MXL_I64 : dtype;
}

int mxl_scalar_infer(mxl_infer *infer)
{
    if (mxl_infer_same(infer) != 0)
        return -1;
    infer->out_dtype[0] = mxl_scalar_dtype(infer->in[0]->dtype, infer->params);
    return 0;
}

const char *mxl_scalar_dtypes(const void *params)
{
    return ((const mxl_scalar_params *)params)->is_int ? "A>s" : "A>r";
}

int mxl_scalar_compute(const mxl_call *call)
{
    int dtype = mxl_scalar_dtype(call->in[0]->dtype, call->params);
    mxl_call cast = *call;
    mxl_array *input;
    int status;

    if (dtype == call->in[0]->dtype)
        return mxl_run_loops(call);
    input = mxl_array_new(dtype, call->in[0]->ndim, call->in[0]->shape);
    if (input == NULL)
        return -1;
    cast.in = &input;
    status = mxl_array_copy_into(input, call->in[0]);
    if (status == 0)
        status = mxl_run_loops(&cast);
    mxl_array_release(input);
    return status;
}

MXL_ARITH_OPCODE(plus_scalar, MXL_SCALAR_LOOP, MXL_CODE_ADD, x + s);
MXL_SCALAR(plus_scalar, "data + scalar.", .sparse = &mxl_sparse_if_zero_stays,
           .aliases = MXL_ALIASES("_PlusScalar"), .numpy_name = "_npi_add_scalar",
           .grad = mxl_grad_pass, .node_name = "AddBackward0", .node_slots = "0-",
           MXL_OF_TWO(mxl_op_broadcast_add, false));

MXL_ARITH_OPCODE(minus_scalar, MXL_SCALAR_LOOP, MXL_CODE_SUB, x - s);
static MXL_SCALAR(minus_scalar, "data - scalar.", .sparse = &mxl_sparse_if_zero_stays,
                  .aliases = MXL_ALIASES("_MinusScalar"), .numpy_name = "_npi_subtract_scalar",
                  .grad = mxl_grad_pass, .node_name = "SubBackward0", .node_slots = "0-",
                  MXL_OF_TWO(mxl_op_broadcast_sub, false));

static MXL_SCALAR_AS(scatter_plus_scalar, "_scatter_plus_scalar", plus_scalar,
                     "data + scalar, of a sparse array where it stores something.",
                     .sparse = &mxl_sparse_scattered, .grad = mxl_grad_pass);
static MXL_SCALAR_AS(scatter_minus_scalar, "_scatter_minus_scalar", minus_scalar,
                     "data - scalar, of a sparse array where it stores something.",
                     .sparse = &mxl_sparse_scattered, .grad = mxl_grad_pass);

MXL_ARITH_OPCODE(rminus_scalar, MXL_SCALAR_LOOP, MXL_CODE_RSUB, s - x);

/* dx = -dy */
MXL_DX(rminus, mxl_negative(s, dy))

MXL_SCALAR(rminus_scalar, "scalar - data.", .aliases = MXL_ALIASES("_RMinusScalar"),
           .numpy_name = "_npi_rsubtract_scalar", .grad = rminus_grad, .node_name = "RsubBackward1",
           MXL_OF_TWO(mxl_op_broadcast_sub, true));

MXL_ARITH_OPCODE(mul_scalar, MXL_SCALAR_LOOP, MXL_CODE_MUL, x * s);

/* dx = dy * s */
MXL_DX(mul, mxl_mul_scalar(s, dy, mxl_grad_scalar(g)))

MXL_SCALAR(mul_scalar, "data * scalar.", .sparse = &mxl_sparse_scaled,
           .aliases = MXL_ALIASES("_MulScalar"), .numpy_name = "_npi_multiply_scalar",
           .grad = mul_grad, .node_name = "MulBackward0", .node_slots = "0-",
           MXL_OF_TWO(mxl_op_broadcast_mul, false));

MXL_ARITH_OPCODE(div_scalar, MXL_SCALAR_LOOP, MXL_CODE_DIV, mxl_quotient(x, s));

/* dx = dy / s */
MXL_DX(div, mxl_scope_call(s, g->op, g->params, 1, &dy))

MXL_SCALAR(div_scalar, "data / scalar; of integers cut towards zero, and 0 where the scalar is 0.",
           .sparse = &mxl_sparse_scaled, .aliases = MXL_ALIASES("_DivScalar"), .grad = div_grad,
           .node_name = "DivBackward0", .node_slots = "0-",
           MXL_OF_TWO(mxl_op_broadcast_div, false));

MXL_ARITH_OPCODE(rdiv_scalar, MXL_SCALAR_LOOP, MXL_CODE_RDIV, mxl_quotient(s, x));

/* dx = -dy * s / x^2 */
MXL_DX_OF_X(rdiv, mxl_mul(s, dy, mxl_mul_scalar(s, mxl_pow_scalar(s, x, -2), -mxl_grad_scalar(g))))

MXL_SCALAR(rdiv_scalar,
           "scalar / data; of integers cut towards zero, and 0 where the element is 0.",
           .aliases = MXL_ALIASES("_RDivScalar"), MXL_RULE_OF_X(rdiv),
           MXL_OF_TWO(mxl_op_broadcast_div, true));

MXL_MATH_KERNELS(power_scalar, MXL_SCALAR_LOOP, mxl_loop_pow(x, s));

/* dx = dy * s * x^(s - 1); x^0 is 1 everywhere */
static int power_grad(mxl_grad *g)
{
    double s = mxl_grad_scalar(g);
    mxl_array *derivative;

    if (s == 0)
        return mxl_grad_set(g, 0, mxl_zeros_like(g->s, g->grad_output[0]));
    derivative = mxl_mul_scalar(g->s, mxl_pow_scalar(g->s, mxl_grad_in(g, 0), s - 1), s);

    return mxl_grad_times(g, 0, derivative);
}

MXL_SCALAR(power_scalar, "data raised to the power of scalar.",
           .aliases = MXL_ALIASES("_PowerScalar"), .numpy_name = "_npi_power_scalar",
           .grad = power_grad, .saves = mxl_saves_input, .node_name = "PowBackward0",
           MXL_OF_TWO(mxl_op_broadcast_power, false));

/* ---- division by the root of the last dimension's size ---- */

static mxl_array *root_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *x = call->in[0];

    if (x->ndim < 1)
        return mxl_error_null("%s: needs an array with at least one axis, got none",
                              call->op->name);
    if (x->dtype == MXL_BOOL)
        return mxl_error_null("%s: takes numbers, got %s", call->op->name,
                              mxl_dtype_name(x->dtype));
    return mxl_div_scalar(s, x, sqrt((double)x->shape[x->ndim - 1]));
}

static const mxl_op op_div_sqrt_dim = {
    .name = "_contrib_div_sqrt_dim",
    .doc = "Each element divided by the square root of the last extent, taken in the array's "
           "dtype; it keeps products of long rows in range.",
    .shapes = "A>A",
    .compose = root_compose,
};

const mxl_op *const mxl_ops_scalar[] = {
    &mxl_op_plus_scalar,
    &mxl_op_minus_scalar,
    &mxl_op_rminus_scalar,
    &mxl_op_mul_scalar,
    &mxl_op_div_scalar,
    &mxl_op_rdiv_scalar,
    &mxl_op_power_scalar,
    &mxl_op_scatter_plus_scalar,
    &mxl_op_scatter_minus_scalar,
    &op_div_sqrt_dim,
    NULL,
};
