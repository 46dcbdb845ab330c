/* Sparse forms of element-wise operators of two arrays; see forms.h. The dense operator runs on the
 * values of both at the places of the result. */
#include "ops/build.h"

#include <string.h>

#include "array/copy.h"
#include "kernel/sparse/merge.h"
#include "kernel/sparse/pack.h"
#include "ops/sparse/forms.h"

static mxl_array *apply_to(const mxl_call *call, mxl_array *a, mxl_array *b)
{
    mxl_array *pair[2] = {a, b};

    return a == NULL || b == NULL ? NULL : mxl_sparse_apply(call->op, call->params, 2, pair);
}

/* The operator on two arrays, whose references it takes over. */
static mxl_array *apply_once(const mxl_call *call, mxl_array *a, mxl_array *b)
{
    mxl_array *out = apply_to(call, a, b);

    mxl_array_release(a);
    mxl_array_release(b);
    return out;
}

static bool same_index(const mxl_array *a, const mxl_array *b)
{
    return a == b || (a->size == b->size && memcmp(mxl_array_read(a), mxl_array_read(b),
                                                   (size_t)a->size * sizeof(int64_t)) == 0);
}

/* New parts with the indices of `like` and other data, whose reference is taken over. */
static mxl_parts *parts_like(const mxl_parts *like, mxl_array *data)
{
    mxl_array_retain(like->indices);
    if (like->indptr != NULL)
        mxl_array_retain(like->indptr);
    return mxl_parts_new(like->indptr != NULL, data, like->indices, like->indptr);
}

/* ---- two row_sparse ---- */

static mxl_parts *merge_rows(const mxl_call *call, const mxl_parts *a, const mxl_parts *b)
{
    int64_t na = mxl_parts_stored(a), nb = mxl_parts_stored(b), most = na + nb, found;
    mxl_array *positions, *at, *data = NULL;
    int64_t *in_a;

    if (same_index(a->indices, b->indices))
        return parts_like(a, apply_to(call, a->data, b->data));
    at = mxl_array_new(MXL_I64, 1, &most);
    positions = mxl_array_new(MXL_I64, 2, (int64_t[]){2, most});
    if (at != NULL && positions != NULL) {
        in_a = mxl_array_write(positions);
        found = mxl_sparse_union(mxl_array_read(a->indices), na, mxl_array_read(b->indices), nb,
                                 mxl_array_write(at), in_a, in_a + most);
        data = apply_once(call, mxl_sparse_rows_at(a->data, found, in_a),
                          mxl_sparse_rows_at(b->data, found, in_a + most));
        if (data != NULL && found < most) {
            mxl_array *view = mxl_array_view(at, 0, 1, &found);

            mxl_array_release(at);
            at = view == NULL ? NULL : mxl_array_copy(view);
            mxl_array_release(view);
        }
    }
    mxl_array_release(positions);
    return mxl_parts_new(false, data, at, NULL);
}

/* ---- two csr ---- */

/* The parts without elements that are 0; takes the reference over. */
static mxl_parts *without_zeros(mxl_parts *parts)
{
    size_t width = mxl_dtype_size(parts->data->dtype);
    bool is_float = mxl_dtype_is_float(parts->data->dtype);
    int64_t stored = mxl_parts_stored(parts), rows = parts->indptr->size - 1, both[2], kept, k = 0;
    const void *values = mxl_array_read(parts->data);
    const int64_t *old = mxl_array_read(parts->indptr), *columns = mxl_array_read(parts->indices);
    mxl_array *data, *indices, *indptr;
    mxl_parts *made;

    kept = mxl_sparse_count(width, is_float, 1, stored, values, both);
    if (kept == stored)
        return parts;
    data = mxl_array_new(parts->data->dtype, 1, &kept);
    indices = mxl_array_new(MXL_I64, 1, &kept);
    indptr = mxl_array_new(MXL_I64, 1, parts->indptr->shape);
    if (data != NULL && indices != NULL && indptr != NULL) {
        int64_t *at = mxl_array_write(indices), *begins = mxl_array_write(indptr);

        mxl_sparse_take(width, is_float, 1, stored, values, mxl_array_write(data), at);
        begins[0] = 0;
        for (int64_t row = 0; row < rows; row++) {
            for (; k < kept && at[k] < old[row + 1]; k++)
                at[k] = columns[at[k]];
            begins[row + 1] = k;
        }
    }
    made = mxl_parts_new(true, data, indices, indptr);
    mxl_parts_release(parts);
    return made;
}

/* Places that are left over hold zeros, for which the operator gives 0: they go with other zeros.
 */
static mxl_parts *merge_elements(const mxl_call *call, const mxl_parts *a, const mxl_parts *b)
{
    mxl_csr of_a = mxl_sparse_csr(a), of_b = mxl_sparse_csr(b);
    mxl_array *indptr = mxl_array_new(MXL_I64, 1, a->indptr->shape), *indices, *x, *y;
    int64_t stored;

    if (indptr == NULL)
        return NULL;
    mxl_sparse_merge_rows(&of_a, &of_b, mxl_array_write(indptr));
    stored = ((const int64_t *)mxl_array_read(indptr))[of_a.rows];
    indices = mxl_array_new(MXL_I64, 1, &stored);
    x = mxl_array_new(a->data->dtype, 1, &stored);
    y = mxl_array_new(b->data->dtype, 1, &stored);
    if (indices != NULL && x != NULL && y != NULL)
        mxl_sparse_merge(mxl_dtype_size(x->dtype), &of_a, &of_b, mxl_array_read(indptr),
                         mxl_array_write(indices), mxl_array_write(x), mxl_array_write(y));
    return mxl_parts_new(true, apply_once(call, x, y), indices, indptr);
}

static mxl_parts *merge_csr(const mxl_call *call, const mxl_parts *a, const mxl_parts *b)
{
    mxl_parts *made = same_index(a->indptr, b->indptr) && same_index(a->indices, b->indices)
                          ? parts_like(a, apply_to(call, a->data, b->data))
                          : merge_elements(call, a, b);

    return made == NULL ? NULL : without_zeros(made);
}

static bool merged_stypes(mxl_stypes *call)
{
    call->out[0] = call->in[0];
    return call->in[0] == call->in[1] && call->in[0] != MXL_DENSE;
}

static int merge(const mxl_call *call)
{
    mxl_parts *a = mxl_sparse_ordered(call->in[0]);
    mxl_parts *b = a == NULL ? NULL : mxl_sparse_ordered(call->in[1]), *made = NULL;

    if (b != NULL)
        made = b->indptr == NULL ? merge_rows(call, a, b) : merge_csr(call, a, b);
    mxl_parts_release(a);
    mxl_parts_release(b);
    return mxl_sparse_give(call->out[0], made);
}

const mxl_sparse_forms mxl_sparse_merged = {.stypes = merged_stypes, .compute = merge};

/* The gradients are dy, of which one is turned. */
static void sum_grad_stypes(const mxl_stypes *call, const int8_t *out_grad, int8_t *in_grad)
{
    for (int i = 0; i < call->num_inputs; i++)
        in_grad[i] = out_grad[0];
}

const mxl_sparse_forms mxl_sparse_added = {
    .stypes = merged_stypes, .compute = merge, .grad_stypes = sum_grad_stypes};

/* ---- sparse and dense ---- */

/* The dense array's values at the places of the parts; it broadcasts to the csr's shape. */
static mxl_array *values_at(const mxl_parts *parts, const mxl_array *dense)
{
    mxl_array *values;

    if (parts->indptr == NULL)
        return mxl_sparse_rows_at(dense, mxl_parts_stored(parts), mxl_array_read(parts->indices));
    values = mxl_array_new(dense->dtype, 1, parts->indices->shape);
    if (values != NULL) {
        mxl_csr pattern = mxl_sparse_csr(parts);
        int64_t columns = dense->ndim == 0 ? 1 : dense->shape[dense->ndim - 1];
        int64_t rows = dense->ndim < 2 ? 1 : dense->shape[dense->ndim - 2];

        mxl_sparse_pick(mxl_dtype_size(dense->dtype), &pattern, mxl_array_read(dense),
                        rows == 1 ? 0 : columns, columns == 1 ? 0 : 1, mxl_array_write(values));
    }
    return values;
}

/* The operator at the places of the sparse operand. */
static int by_dense(const mxl_call *call)
{
    int sparse = mxl_array_is_sparse(call->in[0]) ? 0 : 1;
    mxl_parts *parts = mxl_sparse_read(call->in[sparse]);
    mxl_array *values, *data = NULL;
    int status;

    if (parts == NULL)
        return -1;
    values = values_at(parts, call->in[1 - sparse]);
    if (values != NULL)
        data =
            sparse == 0 ? apply_to(call, parts->data, values) : apply_to(call, values, parts->data);
    mxl_array_release(values);
    status = mxl_sparse_give_data(call->out[0], parts, data);
    mxl_parts_release(parts);
    return status;
}

static bool multiplied_stypes(mxl_stypes *call)
{
    bool has_dense = call->in[0] == MXL_DENSE || call->in[1] == MXL_DENSE;

    call->out[0] = call->in[0] != MXL_DENSE ? call->in[0] : call->in[1];
    return (has_dense || call->in[0] == call->in[1]) && call->out[0] != MXL_DENSE;
}

static int multiply(const mxl_call *call)
{
    return mxl_array_is_dense(call->in[0]) || mxl_array_is_dense(call->in[1]) ? by_dense(call)
                                                                              : merge(call);
}

/* As csr where the other factor is one, and this one is not. */
static void multiplied_grad_stypes(const mxl_stypes *call, const int8_t *out_grad, int8_t *in_grad)
{
    (void)out_grad;
    for (int i = 0; i < 2; i++) {
        if (call->in[i] == MXL_DENSE && call->in[1 - i] == MXL_CSR)
            in_grad[i] = MXL_CSR;
    }
}

const mxl_sparse_forms mxl_sparse_multiplied = {
    .stypes = multiplied_stypes, .compute = multiply, .grad_stypes = multiplied_grad_stypes};

static bool by_dense_stypes(mxl_stypes *call)
{
    const mxl_array *csr, *dense;

    call->out[0] = MXL_CSR;
    if (call->in[0] != MXL_CSR || call->in[1] != MXL_DENSE)
        return false;
    if (call->arrays == NULL)
        return true;
    csr = call->arrays[0];
    dense = call->arrays[1];
    if (dense->ndim > 2)
        return false;
    for (int i = 1; i <= dense->ndim; i++) {
        int64_t size = dense->shape[dense->ndim - i];

        if (size != 1 && size != csr->shape[2 - i])
            return false;
    }
    return true;
}

const mxl_sparse_forms mxl_sparse_by_dense = {.stypes = by_dense_stypes, .compute = by_dense};

/* ---- the rows of the first ---- */

static bool by_rows_stypes(mxl_stypes *call)
{
    call->out[0] = MXL_ROW_SPARSE;
    return call->in[0] == MXL_ROW_SPARSE &&
           (call->given[0] == MXL_STYPE_NONE || call->given[0] == MXL_ROW_SPARSE);
}

static int by_rows(const mxl_call *call)
{
    mxl_call dense = *call;
    mxl_array *in[2] = {call->in[0], call->in[1]};
    int status;

    if (mxl_array_is_dense(in[1]))
        return by_dense(call);
    in[1] = mxl_array_cast_storage(in[1], MXL_DENSE);
    if (in[1] == NULL)
        return -1;
    dense.in = in;
    status = by_dense(&dense);
    mxl_array_release(in[1]);
    return status;
}

const mxl_sparse_forms mxl_sparse_by_rows = {.stypes = by_rows_stypes, .compute = by_rows};

/* ---- any number ---- */

static bool summed_stypes(mxl_stypes *call)
{
    call->out[0] = MXL_ROW_SPARSE;
    return mxl_stypes_all(call, MXL_ROW_SPARSE);
}

/* From left to right. */
static int sum_rows(const mxl_call *call)
{
    mxl_call pair = *call;
    mxl_parts *sum = mxl_sparse_ordered(call->in[0]);

    pair.op = &mxl_op_broadcast_add;
    pair.params = NULL;
    for (int i = 1; i < call->num_inputs && sum != NULL; i++) {
        mxl_parts *next = mxl_sparse_ordered(call->in[i]);
        mxl_parts *made = next == NULL ? NULL : merge_rows(&pair, sum, next);

        mxl_parts_release(next);
        mxl_parts_release(sum);
        sum = made;
    }
    return mxl_sparse_give(call->out[0], sum);
}

const mxl_sparse_forms mxl_sparse_summed = {
    .stypes = summed_stypes, .compute = sum_rows, .grad_stypes = sum_grad_stypes};
