/* Embeddings by rows: _contrib_SparseEmbedding, which Embedding is where its gradient or its weight
 * is row_sparse, and the gradient, which has the rows that the indices name. */
#include "ops/sparse/embed_rows.h"

#include <string.h>

#include "base/memory/mem.h"
#include "kernel/index/gather.h"
#include "kernel/sparse/group.h"
#include "kernel/sparse/numbers.h"
#include "op/sparse_forms.h"

typedef struct embed_params {
    int64_t input_dim, output_dim;
    int dtype, deterministic;
} embed_params;

/* The indices as positions of so many rows, followed by room for `more` lists of as many; NULL with
 * the error set. */
static int64_t *rows_named(const mxl_op *op, const mxl_array *index, int64_t rows,
                           mxl_index_mode mode, int more)
{
    int64_t *at = mxl_alloc((size_t)index->size * (size_t)(1 + more) * sizeof(*at));

    if (at != NULL &&
        mxl_index_resolve(index->dtype, mxl_array_read(index), index->size, rows, mode, at) != 0) {
        mxl_free(at, (size_t)index->size * (size_t)(1 + more) * sizeof(*at));
        at = NULL;
        mxl_error_prefix(op->name);
    }
    return at;
}

/* ---- the gradient ---- */

typedef struct embed_grad_params {
    int64_t rows;
} embed_grad_params;

static bool grad_stypes(mxl_stypes *call)
{
    call->out[0] = MXL_ROW_SPARSE;
    return mxl_stypes_all(call, MXL_DENSE);
}

/* Sums what `data` has for each row; lists: the positions, then room for two more. New parts. */
static mxl_parts *sum_rows(const mxl_array *data, int64_t n, int64_t *lists, int64_t columns)
{
    int64_t *distinct = lists + n, *group = distinct + n;
    int64_t found = mxl_sparse_group(n, lists, distinct, group), shape[2] = {found, columns};
    mxl_array *sums = found < 0 ? NULL : mxl_array_zeros(data->dtype, 2, shape);
    mxl_array *indices = sums == NULL ? NULL : mxl_array_new(MXL_I64, 1, shape);

    if (indices != NULL) {
        memcpy(mxl_array_write(indices), distinct, (size_t)found * sizeof(*distinct));
        if (mxl_scatter_add(data->dtype, 1, found, columns, mxl_array_write(sums), n, group,
                            mxl_array_read(data)) != 0) {
            mxl_array_release(indices);
            indices = NULL;
        }
    }
    return mxl_parts_new(false, sums, indices, NULL);
}

static int grad_compute(const mxl_call *call)
{
    const mxl_array *data = call->in[0], *index = call->in[1];
    mxl_array *out = call->out[0];
    int64_t *lists = rows_named(call->op, index, out->shape[0], MXL_INDEX_RAISE, 2);
    mxl_parts *parts;

    if (lists == NULL)
        return -1;
    parts = sum_rows(data, index->size, lists, out->shape[1]);
    mxl_free(lists, 3 * (size_t)index->size * sizeof(*lists));
    if (parts == NULL)
        return mxl_error_prefix(call->op->name);
    mxl_array_set_parts(out, parts);
    mxl_parts_release(parts);
    return 0;
}

/* ddata = the rows of dy that the indices name */
static int grad_grad(mxl_grad *g)
{
    if (!mxl_grad_wants(g, 0))
        return 0;
    return mxl_grad_set(g, 0, mxl_take_rows(g->s, g->grad_output[0], mxl_grad_in(g, 1)));
}

static const mxl_sparse_forms grad_forms = {.stypes = grad_stypes, .compute = grad_compute};

static const mxl_op op_embed_grad = {
    .name = "_mxl_embedding_grad",
    .doc = "The rows that the indices name, each the sum of what data has for it; row_sparse.",
    MXL_INPUTS(MXL_INPUT(data, "What is summed."),
               MXL_INPUT(indices, "The row of each, of any dtype; out of bounds is an error.")),
    MXL_ONLY_PARAM(int64_t, rows, MXL_P_INT, MXL_REQUIRED, "How many rows the result has."),
    MXL_SHAPES("data[*S,C] indices[*S] -> [rows,C]"),
    .dtypes = "A.>A",
    .compute = grad_compute,
    .grad = grad_grad,
    .saves = mxl_saves_index,
    .sparse = &grad_forms,
    .makes_sparse = true,
};

/* ---- the operator ---- */

static int embed_grad(mxl_grad *g)
{
    const embed_params *p = g->params;

    if (!mxl_grad_wants(g, 1))
        return 0;
    return mxl_grad_set(g, 1,
                        mxl_scope_call(g->s, &op_embed_grad, &(embed_grad_params){p->input_dim}, 2,
                                       (mxl_array *[]){g->grad_output[0], mxl_grad_in(g, 0)}));
}

static int embed_compute(const mxl_call *call)
{
    const mxl_array *index = call->in[0], *weight = call->in[1];
    int64_t *at = rows_named(call->op, index, weight->shape[0], MXL_INDEX_CLIP, 0);

    if (at == NULL)
        return -1;
    mxl_take(1, weight->shape[0], weight->shape[1] * (int64_t)mxl_dtype_size(weight->dtype),
             mxl_array_read(weight), index->size, at, mxl_array_write(call->out[0]));
    mxl_free(at, (size_t)index->size * sizeof(*at));
    return 0;
}

static bool embed_stypes(mxl_stypes *call)
{
    return call->in[0] == MXL_DENSE && call->in[1] == MXL_ROW_SPARSE;
}

/* A row that is not stored is zeros. */
static int embed_stored(const mxl_call *call)
{
    const mxl_array *index = call->in[0], *weight = call->in[1];
    mxl_parts *parts = mxl_sparse_read(weight);
    int64_t *at =
        parts == NULL ? NULL : rows_named(call->op, index, weight->shape[0], MXL_INDEX_RAISE, 0);

    if (at != NULL) {
        mxl_sparse_take_rows((size_t)weight->shape[1] * mxl_dtype_size(weight->dtype),
                             mxl_parts_stored(parts), mxl_array_read(parts->indices),
                             mxl_array_read(parts->data), index->size, at,
                             mxl_array_write(call->out[0]));
        mxl_free(at, (size_t)index->size * sizeof(*at));
    }
    mxl_parts_release(parts);
    return at == NULL ? -1 : 0;
}

static void embed_grad_stypes(const mxl_stypes *call, const int8_t *out_grad, int8_t *in_grad)
{
    (void)call, (void)out_grad;
    in_grad[1] = MXL_ROW_SPARSE;
}

static const mxl_sparse_forms embed_forms = {
    .stypes = embed_stypes, .compute = embed_stored, .grad_stypes = embed_grad_stypes};

static const mxl_op op_embed = {
    .name = "_contrib_SparseEmbedding",
    .doc = "Embedding with a row_sparse gradient of the weight: it has the rows that data names.",
    MXL_INPUTS(
        MXL_INPUT(data, "Which rows of the weight, of any shape and dtype. Out of bounds means the "
                        "first or the last of a dense weight, and is an error for the gradient."),
        MXL_INPUT(weight, "The rows, of shape (input_dim, output_dim), dense or row_sparse.")),
    MXL_PARAMS_OF(
        embed_params,
        MXL_PARAM(embed_params, input_dim, MXL_P_INT, MXL_REQUIRED, "How many rows the weight has.",
                  MXL_AT_LEAST(1)),
        MXL_PARAM(embed_params, output_dim, MXL_P_INT, MXL_REQUIRED, "The length of a row.",
                  MXL_AT_LEAST(1)),
        MXL_PARAM(
            embed_params, dtype, MXL_P_DTYPE, "float32",
            "For symbols: the dtype of a weight that is not there yet. Here the weight's decides.",
            .values = mxl_number_names),
        MXL_PARAM(embed_params, deterministic, MXL_P_BOOL, "0",
                  "Of no effect: gradients are always summed in the order of data.")),
    MXL_SHAPES("data[*S] weight[input_dim,output_dim] -> [*S,output_dim]"),
    .dtypes = ".T>T",
    .compute = embed_compute,
    .grad = embed_grad,
    .saves = mxl_saves_input,
    .sparse = &embed_forms,
};

mxl_array *mxl_embed_rows(mxl_scope *s, mxl_array *index, mxl_array *weight)
{
    embed_params p = {.input_dim = weight->shape[0], .output_dim = weight->shape[1]};

    return mxl_scope_call(s, &op_embed, &p, 2, (mxl_array *[]){index, weight});
}

const mxl_op *const mxl_ops_embed_rows[] = {&op_embed_grad, &op_embed, NULL};
