/* Element-wise functions of two arrays: broadcast_* by NumPy's rule, elemwise_* of equal shapes.
 * The vjps ignore broadcasting: the engine sums each gradient to its input's shape. */
#include "array/copy.h"
#include "ops/elementwise/elementwise.h"

MXL_ARITH_OPCODE(add, MXL_BINARY_LOOP, MXL_CODE_ADD, x + y);

/* dx_i = dy */
static int add_grad(mxl_grad *g)
{
    for (int i = 0; i < g->num_inputs; i++) {
        if (mxl_grad_set(g, i, g->grad_output[0]) != 0)
            return -1;
    }
    return 0;
}

MXL_SPARSE_PAIR(add, "elemwise_", "Sum of two arrays.",
                MXL_ALIASES("_sparse_broadcast_add", "_sparse_broadcast_plus", "broadcast_plus"),
                NULL, MXL_ALIASES("_Plus", "_add", "_plus", "_sparse_elemwise_add"),
                &mxl_sparse_added, .grad = add_grad, .node_name = "AddBackward0",
                .promotion = &mxl_promotes_numbers, .u64 = MXL_U64_WRAPS);

/* 1.9.1's operator for adding gradients, which has no gradient there. */
static MXL_BINARY(grad_add, "_grad_add", mxl_infer_same, add,
                  "Sum of two arrays. The shapes must be equal.", .sparse = &mxl_sparse_added,
                  .grad = add_grad, .node_name = "AddBackward0", .u64 = MXL_U64_WRAPS);

/* Truth values have no difference. */
static int sub_check(const mxl_operands *operands)
{
    for (int i = 0; i < 2; i++) {
        if (operands->given[i]->dtype == MXL_BOOL)
            return mxl_error("%s: truth values have no difference; `^` says where they differ, `~` "
                             "inverts a mask",
                             operands->op->name);
    }
    return 0;
}

static const mxl_promotion sub_promotion = {.as_is = MXL_SET_NUMBERS, .check = sub_check};

MXL_ARITH_OPCODE(sub, MXL_BINARY_LOOP, MXL_CODE_SUB, x - y);

/* da = dy, db = -dy */
static int sub_grad(mxl_grad *g)
{
    if (mxl_grad_set(g, 0, g->grad_output[0]) != 0)
        return -1;
    if (!mxl_grad_wants(g, 1))
        return 0;
    return mxl_grad_set(g, 1, mxl_negative(g->s, g->grad_output[0]));
}

MXL_SPARSE_PAIR(sub, "elemwise_", "Difference of two arrays.",
                MXL_ALIASES("_sparse_broadcast_minus", "_sparse_broadcast_sub", "broadcast_minus"),
                NULL, MXL_ALIASES("_Minus", "_minus", "_sparse_elemwise_sub", "_sub"),
                &mxl_sparse_added, .grad = sub_grad, .node_name = "SubBackward0",
                .promotion = &sub_promotion, .u64 = MXL_U64_WRAPS);

MXL_ARITH_OPCODE(mul, MXL_BINARY_LOOP, MXL_CODE_MUL, x * y);

static const mxl_op mxl_op_same_mul;

/* dy times the other factor: as csr where that is one, and this one is not. */
static int mul_grad_of(mxl_grad *g, int i)
{
    mxl_array *pair[2] = {g->grad_output[0], mxl_grad_in(g, 1 - i)};

    if (g->op == &mxl_op_same_mul && mxl_grad_in_meta(g, i)->stype == MXL_DENSE &&
        pair[1] != NULL && pair[1]->stype == MXL_CSR)
        return mxl_grad_set(g, i, mxl_scope_call(g->s, g->op, NULL, 2, pair));
    return mxl_grad_times(g, i, pair[1]);
}

/* da = dy * b, db = dy * a */
static int mul_grad(mxl_grad *g)
{
    if (mxl_grad_wants(g, 0) && mul_grad_of(g, 0) != 0)
        return -1;
    return mxl_grad_wants(g, 1) ? mul_grad_of(g, 1) : 0;
}

/* Writes the second product over dy. */
static int mul_grad_kernel(mxl_grad *g)
{
    if (!mxl_grad_wants(g, 0) || !mxl_grad_wants(g, 1)) {
        int wanted = mxl_grad_wants(g, 0) ? 0 : 1;

        return mxl_grad_set(g, wanted, mxl_grad_loop(g, &mul_kernels, mxl_grad_in(g, 1 - wanted)));
    }
    if (mxl_grad_times(g, 0, mxl_grad_in(g, 1)) != 0)
        return -1;
    return mxl_grad_set(g, 1, mxl_grad_loop(g, &mul_kernels, mxl_grad_in(g, 0)));
}

MXL_SPARSE_PAIR(mul, "elemwise_", "Product of two arrays, element by element.",
                MXL_ALIASES("_sparse_broadcast_mul"), &mxl_sparse_by_dense,
                MXL_ALIASES("_Mul", "_mul", "_sparse_elemwise_mul"), &mxl_sparse_multiplied,
                .grad = mul_grad, .grad_kernel = mul_grad_kernel, .saves = mxl_saves_other,
                .node_name = "MulBackward0", .promotion = &mxl_promotes_numbers,
                .u64 = MXL_U64_WRAPS);

MXL_ARITH_OPCODE(div, MXL_BINARY_LOOP, MXL_CODE_DIV, mxl_quotient(x, y));
MXL_BINARY_LOOP(div_u64, u64, y == 0 ? 0 : x / y)

void mxl_quotient_u64(void *out, const void *const *in, const int64_t *step, int64_t n,
                      const void *params)
{
    div_u64(out, in, step, n, params);
}

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

MXL_SPARSE_PAIR(
    div, "elemwise_",
    "Quotient of two arrays; of integers cut towards zero, and 0 where the divisor is 0.",
    MXL_ALIASES("_sparse_broadcast_div"), &mxl_sparse_by_dense,
    MXL_ALIASES("_Div", "_div", "_sparse_elemwise_div"), NULL, .grad = div_grad, .saves = div_saves,
    .node_name = "DivBackward0", .promotion = &mxl_promotes_floats, .u64_loop = mxl_quotient_u64);

static MXL_BINARY(scatter_div, "_scatter_elemwise_div", mxl_infer_same, div,
                  "Quotient of two arrays of one shape; of a row_sparse lhs in the rows that it "
                  "stores.",
                  .sparse = &mxl_sparse_by_rows, .grad = div_grad, .saves = div_saves);

/* ---- add_n ---- */

/* Sums from left to right, into the output. */
static int add_n_compute(const mxl_call *call)
{
    mxl_array *pair[2] = {call->in[0], NULL};

    if (call->num_inputs == 1)
        return mxl_array_copy_into(call->out[0], call->in[0]);
    for (int i = 1; i < call->num_inputs; i++) {
        pair[1] = call->in[i];
        if (mxl_run_kernels(call, &add_kernels, 2, pair, call->out[0]) != 0)
            return -1;
        pair[0] = call->out[0];
    }
    return 0;
}

const mxl_op mxl_op_add_n = {
    .name = "add_n",
    .aliases = MXL_ALIASES("ElementWiseSum", "_sparse_ElementWiseSum", "_sparse_add_n"),
    .doc = "Sum of any number of arrays of one shape and dtype.",
    MXL_INPUTS(MXL_INPUT(args, "The arrays to add, of one shape and dtype.")),
    .key_var_num_args = "num_args",
    .arity = mxl_arity_given,
    .infer = mxl_infer_same,
    .compute = add_n_compute,
    .u64 = MXL_U64_WRAPS,
    .sparse = &mxl_sparse_summed,
    .grad = add_grad,
};

const mxl_op *const mxl_op_add_alike = &mxl_op_same_add;
const mxl_op *const mxl_op_mul_alike = &mxl_op_same_mul;

const mxl_op *const mxl_ops_binary[] = {
    &mxl_op_broadcast_add, &mxl_op_same_add, &mxl_op_broadcast_sub, &mxl_op_same_sub,
    &mxl_op_broadcast_mul, &mxl_op_same_mul, &mxl_op_broadcast_div, &mxl_op_same_div,
    &mxl_op_scatter_div,   &mxl_op_grad_add, &mxl_op_add_n,         NULL,
};
