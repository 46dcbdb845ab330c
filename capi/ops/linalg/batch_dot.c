/* Products of many matrices: batch_dot, pair by pair, and khatri_rao, column by column. */
#include "ops/linalg/linalg.h"

/* ---- batch_dot ---- */

static const char *batch_shapes(const void *params)
{
    static const char *const texts[2][2] = {
        {NULL, "lhs[*X,L,M,K] rhs[*X,L,N,K] -> [*X,L,M,N]"},
        {"lhs[*X,L,K,M] rhs[*X,L,K,N] -> [*X,L,M,N]", "lhs[*X,L,K,M] rhs[*X,L,N,K] -> [*X,L,M,N]"}};
    const mxl_dot_params *p = params;

    return texts[p->transpose_a != 0][p->transpose_b != 0];
}

static int batch_compute(const mxl_call *call)
{
    const mxl_dot_params *p = call->params;

    return mxl_linalg_multiply(call, p->transpose_a, p->transpose_b, call->in[0]->ndim - 2);
}

const mxl_op mxl_op_batch_dot = {
    .name = "batch_dot",
    .aliases = MXL_ALIASES("_npx_batch_dot"),
    .doc = "Matrix products, pair by pair: the last two axes are matrices, all others count them.",
    .inputs = mxl_inputs_lhs_rhs,
    MXL_DOT_PARAMS("Whether the matrices of lhs are transposed.",
                   "Whether the matrices of rhs are transposed."),
    MXL_SHAPES("lhs[*X,L,M,K] rhs[*X,L,K,N] -> [*X,L,M,N]"),
    .shapes_of = batch_shapes,
    .dtypes = "F*>F",
    .compute = batch_compute,
    .low = true,
    .u64 = MXL_U64_WRAPS,
    .grad = mxl_grad_factors_of_op,
    .saves = mxl_saves_other,
    .node_name = "BmmBackward0",
};

mxl_array *mxl_batch_dot(mxl_scope *s, mxl_array *a, mxl_array *b, bool transpose_a,
                         bool transpose_b)
{
    mxl_dot_params params = {.transpose_a = transpose_a, .transpose_b = transpose_b};

    return mxl_scope_call(s, &mxl_op_batch_dot, &params, 2, (mxl_array *[]){a, b});
}

/* ---- khatri_rao ---- */

static int rao_infer(mxl_infer *infer)
{
    const mxl_array *first = infer->in[0];
    int64_t rows = 1;

    if (mxl_check_float(infer->op, first) != 0)
        return -1;
    for (int i = 0; i < infer->num_inputs; i++) {
        const mxl_array *x = infer->in[i];

        if (mxl_check_dtypes(infer->op, first, x) != 0)
            return -1;
        if (x->ndim != 2 || first->ndim != 2 || x->shape[1] != first->shape[1])
            return mxl_error(
                "khatri_rao: matrices must have equal numbers of columns, got shape %s",
                MXL_SHAPE_OF(x));
        if (__builtin_mul_overflow(rows, x->shape[0], &rows))
            return mxl_error("khatri_rao: the result is too large");
    }
    return mxl_infer_set(infer, first->dtype, 2, (int64_t[]){rows, first->shape[1]});
}

/* (m, 1, k) times (1, n, k), as (m n, k); and so on with the next. */
static mxl_array *rao_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *all = call->in[0];

    if (call->num_inputs == 1)
        return mxl_scope_call(s, &mxl_op_copy, NULL, 1, &all);
    for (int i = 1; i < call->num_inputs && all != NULL; i++) {
        mxl_array *next = call->in[i];
        const int64_t left[3] = {all->shape[0], 1, all->shape[1]};
        const int64_t right[3] = {1, next->shape[0], next->shape[1]};
        const int64_t both[2] = {all->shape[0] * next->shape[0], all->shape[1]};

        all = mxl_mul(s, mxl_reshape(s, all, 3, left), mxl_reshape(s, next, 3, right));
        all = mxl_reshape(s, all, 2, both);
    }
    return all;
}

static const mxl_op op_khatri_rao = {
    .name = "khatri_rao",
    .doc = "Of each column of the matrices the Kronecker product.",
    MXL_INPUTS(MXL_INPUT(args, "The matrices, all with as many columns.")),
    .key_var_num_args = "num_args",
    .arity = mxl_arity_given,
    .infer = rao_infer,
    .compose = rao_compose,
};

const mxl_op *const mxl_ops_batch_dot[] = {&mxl_op_batch_dot, &op_khatri_rao, NULL};
