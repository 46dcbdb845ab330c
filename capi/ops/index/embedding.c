/* Composites of ops/index/take.h's operators: batch_take, Embedding, fill_element_0index,
 * _contrib_index_copy. */
#include <stddef.h>

#include "op/sparse_forms.h"
#include "ops/index/take.h"
#include "ops/sparse/embed_rows.h"

/* The result, or NULL with the operator's name prefixed to the error of its parts. */
static mxl_array *named(const mxl_call *call, mxl_array *result)
{
    if (result == NULL)
        mxl_error_prefix(call->op->name);
    return result;
}

/* ---- batch_take ---- */

static int batch_take_infer(mxl_infer *infer)
{
    const mxl_array *a = infer->in[0], *index = infer->in[1];
    int64_t rows;

    if (a->ndim < 2)
        return mxl_error("%s: the array must have two axes or more, got %d", infer->op->name,
                         a->ndim);
    rows = mxl_shape_size(a->ndim - 1, a->shape);
    if (index->size != rows)
        return mxl_error("%s: %lld indices for %lld rows", infer->op->name, (long long)index->size,
                         (long long)rows);
    if (rows > 0 && a->size == 0)
        return mxl_error("IndexError: %s: the rows have no elements", infer->op->name);
    mxl_shape_set(&infer->out_shape[0], index->ndim, index->shape);
    infer->out_dtype[0] = a->dtype;
    return 0;
}

static mxl_array *batch_take_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *a = call->in[0], *index = call->in[1];
    mxl_array *found = mxl_pick_last(s, a, mxl_reshape(s, index, a->ndim - 1, a->shape));

    return named(call, mxl_reshape(s, found, index->ndim, index->shape));
}

static const mxl_op op_batch_take = {
    .name = "batch_take",
    .doc = "One element of each row, chosen by the index: out[i] = a[i, indices[i]].",
    MXL_INPUTS(MXL_INPUT(a, "The array to take from, of two axes or more."),
               MXL_INPUT(indices,
                         "A position along the last axis for each row, of any dtype; out of bounds "
                         "means the first or the last.")),
    .infer = batch_take_infer,
    .dtypes = "An>A",
    .compose = batch_take_compose,
};

/* ---- Embedding ---- */

typedef struct embedding_params {
    int64_t input_dim, output_dim;
    int dtype, sparse_grad;
} embedding_params;

static bool embedding_stypes(mxl_stypes *call)
{
    return call->in[0] == MXL_DENSE && call->in[1] == MXL_ROW_SPARSE;
}

static void embedding_grad_stypes(const mxl_stypes *call, const int8_t *out_grad, int8_t *in_grad)
{
    (void)out_grad;
    if (((const embedding_params *)call->params)->sparse_grad)
        in_grad[1] = MXL_ROW_SPARSE;
}

static const mxl_sparse_forms embedding_forms = {.stypes = embedding_stypes,
                                                 .grad_stypes = embedding_grad_stypes};

static mxl_array *embedding_compose(mxl_scope *s, const mxl_call *call)
{
    const embedding_params *p = call->params;
    mxl_array *index = call->in[0], *weight = call->in[1];

    if (p->sparse_grad || mxl_array_is_sparse(weight))
        return named(call, mxl_embed_rows(s, index, weight));
    return named(call, mxl_take_rows(s, weight, index));
}

const mxl_op mxl_op_embedding = {
    .name = "Embedding",
    .aliases = MXL_ALIASES("_npx_embedding", "_sparse_Embedding"),
    .doc = "The rows of the weight that data names, as a last axis: out[...] = weight[data[...]].",
    MXL_INPUTS(
        MXL_INPUT(data, "Which rows of the weight, of any shape and dtype; out of bounds means the "
                        "first or the last."),
        MXL_INPUT(weight, "The rows, of shape (input_dim, output_dim).")),
    MXL_PARAMS_OF(
        embedding_params,
        MXL_PARAM(embedding_params, input_dim, MXL_P_INT, MXL_REQUIRED,
                  "How many rows the weight has.", MXL_AT_LEAST(1)),
        MXL_PARAM(embedding_params, output_dim, MXL_P_INT, MXL_REQUIRED, "The length of a row.",
                  MXL_AT_LEAST(1)),
        MXL_PARAM(
            embedding_params, dtype, MXL_P_DTYPE, "float32",
            "For symbols: the dtype of a weight that is not there yet. Here the weight's decides.",
            .values = mxl_number_names),
        MXL_PARAM(
            embedding_params, sparse_grad, MXL_P_BOOL, "0",
            "Whether the gradient of the weight is row_sparse, with the rows that data names.")),
    MXL_SHAPES("data[*S] weight[input_dim,output_dim] -> [*S,output_dim]"),
    .dtypes = ".T>T",
    .compose = embedding_compose,
    .sparse = &embedding_forms,
};

/* ---- fill_element_0index ---- */

static mxl_array *fill_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *rhs = call->in[2];
    const int64_t row[2] = {1, rhs->shape[0]};
    mxl_array *indices[2] = {mxl_reshape(s, mxl_positions(s, rhs), 2, row),
                             mxl_reshape(s, mxl_cast(s, rhs, MXL_I64), 2, row)};

    return named(call, mxl_scatter_set(s, call->in[0], call->in[1], mxl_concat(s, 2, indices, 0)));
}

static const mxl_op op_fill_element = {
    .name = "fill_element_0index",
    .doc = "The matrix with one element of each row replaced: out[i, rhs[i]] = mhs[i].",
    MXL_INPUTS(
        MXL_INPUT(lhs, "A matrix.", .type_text = "NDArray"),
        MXL_INPUT(mhs, "One element for each row, of its dtype.", .type_text = "NDArray"),
        MXL_INPUT(rhs,
                  "The position in each row, of any dtype; negative numbers count from the end.",
                  .type_text = "NDArray")),
    MXL_SHAPES("lhs[N,M] mhs[N] rhs[N] -> [N,M]"),
    .dtypes = "AAe>A",
    .compose = fill_compose,
};

/* ---- _contrib_index_copy ---- */

static mxl_array *copy_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *index = call->in[1];
    const int64_t row[2] = {1, index->shape[0]};

    return named(call, mxl_scatter_set(s, call->in[0], call->in[2], mxl_reshape(s, index, 2, row)));
}

static const mxl_op op_index_copy = {
    .name = "_contrib_index_copy",
    .doc = "old_tensor with the rows of new_tensor at the rows that the index names; where it "
           "names one twice, the last one stays.",
    MXL_INPUTS(
        MXL_INPUT(old_tensor, "The array to copy."),
        MXL_INPUT(
            index_vector,
            "Which rows of the first axis, of any dtype; negative numbers count from the end."),
        MXL_INPUT(new_tensor, "The rows to write, of the same dtype.")),
    MXL_SHAPES("old_tensor[N,*S] index_vector[M] new_tensor[M,*S] -> [N,*S]"),
    .dtypes = "A.A>A",
    .compose = copy_compose,
};

const mxl_op *const mxl_ops_embedding[] = {
    &op_batch_take, &mxl_op_embedding, &op_fill_element, &op_index_copy, NULL,
};
