/* Operators that exist for sparse arrays: _sparse_retain, _square_sum, _contrib_getnnz. */
#include "ops/build.h"

#include <string.h>

#include "array/copy.h"
#include "base/error.h"
#include "kernel/index/gather.h"
#include "kernel/sparse/csr_parts.h"
#include "kernel/sparse/numbers.h"
#include "kernel/sparse/pack.h"
#include "ops/reduce/reduce_ops.h"
#include "ops/sparse/forms.h"

/* ---- _sparse_retain ---- */

static bool retain_stypes(mxl_stypes *call)
{
    call->out[0] = MXL_ROW_SPARSE;
    return call->in[0] != MXL_CSR && call->in[1] == MXL_DENSE;
}

/* The rows that are asked for, as an array of one axis. */
static mxl_array *asked_rows(const mxl_call *call)
{
    const mxl_array *index = call->in[1];
    mxl_array *rows = mxl_array_new(MXL_I64, 1, &index->size);

    if (rows != NULL &&
        mxl_index_resolve(index->dtype, mxl_array_read(index), index->size, call->in[0]->shape[0],
                          MXL_INDEX_RAISE, mxl_array_write(rows)) == 0)
        return rows;
    mxl_array_release(rows);
    (void)mxl_error_prefix(call->op->name);
    return NULL;
}

/* Their values: zeros where the array stores none. */
static mxl_array *values_of(const mxl_array *array, const mxl_array *rows)
{
    mxl_parts *parts;
    mxl_array *places, *values = NULL;

    if (mxl_array_is_dense(array))
        return mxl_sparse_rows_at(array, rows->size, mxl_array_read(rows));
    parts = mxl_sparse_ordered(array);
    places = parts == NULL ? NULL : mxl_array_new(MXL_I64, 1, &rows->size);
    if (places != NULL) {
        const int64_t *row = mxl_array_read(rows), *stored = mxl_array_read(parts->indices);
        int64_t *place = mxl_array_write(places);

        for (int64_t k = 0; k < rows->size; k++)
            place[k] = mxl_sparse_find(stored, mxl_parts_stored(parts), row[k]);
        values = mxl_sparse_rows_at(parts->data, rows->size, place);
    }
    mxl_array_release(places);
    mxl_parts_release(parts);
    return values;
}

/* Of an array that stores nothing the result does not either, as in 1.9.1. */
static int retain_compute(const mxl_call *call)
{
    mxl_array *rows = asked_rows(call);
    bool nothing = false;

    if (rows == NULL)
        return -1;
    if (mxl_array_is_sparse(call->in[0])) {
        mxl_parts *parts = mxl_array_parts(call->in[0]);

        nothing = mxl_parts_stored(parts) == 0;
        mxl_parts_release(parts);
    }
    if (nothing) {
        mxl_array_release(rows);
        return 0;
    }
    return mxl_sparse_give(call->out[0],
                           mxl_parts_new(false, values_of(call->in[0], rows), rows, NULL));
}

/* dx = the same rows of dy */
static int retain_grad(mxl_grad *g)
{
    mxl_array *pair[2] = {g->grad_output[0], mxl_grad_in(g, 1)};

    return mxl_grad_wants(g, 0) ? mxl_grad_set(g, 0, mxl_scope_call(g->s, g->op, NULL, 2, pair))
                                : 0;
}

static void retain_grad_stypes(const mxl_stypes *call, const int8_t *out_grad, int8_t *in_grad)
{
    (void)call;
    (void)out_grad;
    in_grad[0] = MXL_ROW_SPARSE;
}

static const mxl_sparse_forms retain_forms = {
    .stypes = retain_stypes, .compute = retain_compute, .grad_stypes = retain_grad_stypes};

static const mxl_op op_retain = {
    .name = "_sparse_retain",
    .doc =
        "A row_sparse array that stores the rows of data which indices name, in their order, and "
        "no others.",
    MXL_INPUTS(MXL_INPUT(data, "The array, usually row_sparse."),
               MXL_INPUT(indices, "Numbers of rows, of any dtype.")),
    MXL_SHAPES("data[N,*S] indices[*I] -> [N,*S]"),
    .dtypes = "A.>A",
    .compute = retain_compute,
    .sparse = &retain_forms,
    .makes_sparse = true,
    .grad = retain_grad,
    .saves = mxl_saves_index,
};

/* ---- _square_sum ---- */

/* The axis of a matrix that is reduced; -1: there is another number of them. */
static int only_axis(const mxl_reduce_params *p)
{
    int64_t axis = p->axis.n == 1 ? p->axis.v[0] : -3;

    if (axis < -2 || axis > 1)
        return -1;
    axis += axis < 0 ? 2 : 0;
    return (int)(p->exclude ? 1 - axis : axis);
}

static bool square_sum_stypes(mxl_stypes *call)
{
    const mxl_reduce_params *p = call->params;
    int axis = only_axis(p);

    if (call->in[0] != MXL_ROW_SPARSE || axis < 0 ||
        (call->arrays != NULL && call->arrays[0]->ndim != 2))
        return false;
    call->out[0] = axis == 1 && p->keepdims ? MXL_ROW_SPARSE : MXL_DENSE;
    return true;
}

/* The sums of rows where they belong, among zeros. */
static void put_sums(mxl_array *out, const mxl_parts *parts, const mxl_array *sums)
{
    size_t width = mxl_dtype_size(out->dtype);
    char *to = mxl_array_write(out);

    memset(to, 0, (size_t)out->size * width);
    mxl_sparse_put_rows(width, mxl_parts_stored(parts), mxl_array_read(parts->indices),
                        mxl_array_read(sums), to);
}

/* Of the stored rows. */
static int square_sum_sparse(const mxl_call *call)
{
    mxl_array *out = call->out[0], *sums = NULL;
    mxl_parts *parts = mxl_sparse_ordered(call->in[0]);
    int status = -1;

    if (parts != NULL)
        sums = mxl_sparse_apply(call->op, call->params, 1, &parts->data);
    if (sums != NULL && mxl_array_is_sparse(out)) {
        mxl_array_retain(sums);
        status = mxl_sparse_give_data(out, parts, sums);
    } else if (sums != NULL && only_axis(call->params) == 0) {
        status = mxl_array_copy_into(out, sums);
    } else if (sums != NULL) {
        put_sums(out, parts, sums);
        status = 0;
    }
    mxl_array_release(sums);
    mxl_parts_release(parts);
    return status;
}

static mxl_array *square_sum_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *squares = mxl_square(s, call->in[0]);

    return mxl_scope_call(s, &mxl_op_sum, call->params, 1, &squares);
}

/* dx = 2 x dy, expanded; stored as x is */
static int square_sum_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    mxl_array *dy =
        mxl_broadcast_to(g->s, mxl_reduce_back(g, g->grad_output[0]), x->ndim, x->shape);

    return mxl_grad_set(
        g, 0, mxl_mul_scalar(g->s, mxl_apply2(g->s, mxl_op_mul_alike, mxl_grad_in(g, 0), dy), 2));
}

static void square_sum_grad_stypes(const mxl_stypes *call, const int8_t *out_grad, int8_t *in_grad)
{
    (void)out_grad;
    in_grad[0] = call->in[0];
}

static const mxl_sparse_forms square_sum_forms = {.stypes = square_sum_stypes,
                                                  .compute = square_sum_sparse,
                                                  .grad_stypes = square_sum_grad_stypes};

static const mxl_op op_square_sum = {
    .name = "_square_sum",
    .doc =
        "Sum of squares over axes. Of a row_sparse matrix the sums of rows, if their axis stays, "
        "are row_sparse.",
    MXL_PARAMS(mxl_reduce_params, mxl_reduce_table),
    .infer = mxl_reduce_infer,
    .compose = square_sum_compose,
    .sparse = &square_sum_forms,
    .grad = square_sum_grad,
    .saves = mxl_saves_input,
};

/* ---- _contrib_getnnz ---- */

static int nnz_infer(mxl_infer *infer)
{
    int64_t axis = *(const int64_t *)infer->params, one = 1;
    const mxl_array *m = infer->in[0];

    if (m->ndim != 2)
        return mxl_error("_contrib_getnnz: takes a csr matrix, got %d axes", m->ndim);
    if (axis == MXL_NONE)
        return mxl_infer_set(infer, MXL_I64, 1, &one);
    if (axis != 0 && axis != 1)
        return mxl_error("_contrib_getnnz: axis is None, 0 or 1, got %lld", (long long)axis);
    return mxl_infer_set(infer, MXL_I64, 1, &m->shape[1 - axis]);
}

static int nnz_refuse(const mxl_call *call)
{
    return mxl_error("_contrib_getnnz: takes a csr matrix, got one that is stored as %s",
                     mxl_stype_name(call->in[0]->stype));
}

static bool nnz_stypes(mxl_stypes *call)
{
    return call->in[0] == MXL_CSR;
}

static int nnz_compute(const mxl_call *call)
{
    int64_t axis = *(const int64_t *)call->params, *out = mxl_array_write(call->out[0]);
    mxl_parts *parts = mxl_sparse_read(call->in[0]);
    mxl_csr m;

    if (parts == NULL)
        return -1;
    m = mxl_sparse_csr(parts);
    if (axis == MXL_NONE)
        out[0] = mxl_parts_stored(parts);
    else if (axis == 0)
        mxl_sparse_column_counts(&m, call->in[0]->shape[1], out);
    for (int64_t row = 0; row < m.rows && axis == 1; row++)
        out[row] = m.indptr[row + 1] - m.indptr[row];
    mxl_parts_release(parts);
    return 0;
}

static const mxl_sparse_forms nnz_forms = {.stypes = nnz_stypes, .compute = nnz_compute};

static const mxl_op op_getnnz = {
    .name = "_contrib_getnnz",
    .doc = "How many elements a csr matrix stores, those that are 0 too: in all, or in each column "
           "or row.",
    MXL_ONLY_PARAM(int64_t, axis, MXL_P_OPT_INT, "None",
                   "None: in all; 0: in each column; 1: in each row."),
    .infer = nnz_infer,
    .dtypes = ".>l",
    .compute = nnz_refuse,
    .sparse = &nnz_forms,
    .grad = mxl_grad_zero,
};

const mxl_op *const mxl_ops_sparse_rows[] = {&op_retain, &op_square_sum, &op_getnnz, NULL};
