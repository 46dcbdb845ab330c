/* Sparse forms that operators of several families share; see forms.h. */
#include "ops/sparse/forms.h"

#include <string.h>

#include "array/copy.h"
#include "engine/run/invoke.h"

mxl_array *mxl_sparse_apply(const mxl_op *op, const void *params, int count,
                            mxl_array *const *inputs)
{
    mxl_mode mode = {.dialect = &mxl_dialect_mxnet};
    mxl_array *out = NULL;

    return mxl_invoke(op, params, count, inputs, 1, &out, mode) == 0 ? out : NULL;
}

int mxl_sparse_give(mxl_array *out, mxl_parts *parts)
{
    if (parts == NULL)
        return -1;
    mxl_array_set_parts(out, parts);
    mxl_parts_release(parts);
    return 0;
}

int mxl_sparse_give_data(mxl_array *out, const mxl_parts *like, mxl_array *data)
{
    mxl_array_retain(like->indices);
    if (like->indptr != NULL)
        mxl_array_retain(like->indptr);
    return mxl_sparse_give(out,
                           mxl_parts_new(like->indptr != NULL, data, like->indices, like->indptr));
}

mxl_csr mxl_sparse_csr(const mxl_parts *parts)
{
    return (mxl_csr){parts->indptr->size - 1, mxl_array_read(parts->indptr),
                     mxl_array_read(parts->indices), mxl_array_read(parts->data)};
}

static int64_t row_elements(const mxl_array *array)
{
    int64_t size = 1;

    for (int i = 1; i < array->ndim; i++)
        size *= array->shape[i];
    return size;
}

mxl_array *mxl_sparse_rows_at(const mxl_array *data, int64_t count, const int64_t *positions)
{
    int64_t shape[MXL_MAX_NDIM];
    mxl_array *rows;

    memcpy(shape, data->shape, (size_t)data->ndim * sizeof(*shape));
    shape[0] = count;
    rows = mxl_array_new(data->dtype, data->ndim, shape);
    if (rows != NULL)
        mxl_sparse_gather_or_zero(mxl_dtype_size(data->dtype) * (size_t)row_elements(data), count,
                                  positions, mxl_array_read(data), mxl_array_write(rows));
    return rows;
}

/* ---- what keeps zeros ---- */

static bool as_first(mxl_stypes *call)
{
    call->out[0] = call->in[0];
    return call->in[0] != MXL_DENSE;
}

static int keeps_zeros(const mxl_call *call)
{
    mxl_parts *parts = mxl_sparse_read(call->in[0]);
    int status;

    if (parts == NULL)
        return -1;
    status = mxl_sparse_give_data(call->out[0], parts,
                                  mxl_sparse_apply(call->op, call->params, 1, &parts->data));
    mxl_parts_release(parts);
    return status;
}

/* A product with the derivative keeps the zeros of a gradient that is stored as the array is. */
static void grad_as_first(const mxl_stypes *call, const int8_t *out_grad, int8_t *in_grad)
{
    if (out_grad[0] == call->in[0])
        in_grad[0] = call->in[0];
}

const mxl_sparse_forms mxl_sparse_keeps_zeros = {
    .stypes = as_first, .compute = keeps_zeros, .grad_stypes = grad_as_first};

/* ---- copies ---- */

static bool as_given(mxl_stypes *call)
{
    call->out[0] = call->given[0] != MXL_STYPE_NONE ? call->given[0] : call->in[0];
    return true;
}

static int copies(const mxl_call *call)
{
    return mxl_array_copy_into(call->out[0], call->in[0]);
}

/* The gradient is passed on. */
static void grad_as_arrived(const mxl_stypes *call, const int8_t *out_grad, int8_t *in_grad)
{
    (void)call;
    in_grad[0] = out_grad[0];
}

const mxl_sparse_forms mxl_sparse_copies = {
    .stypes = as_given, .compute = copies, .grad_stypes = grad_as_arrived};

/* ---- an array and a number ---- */

const mxl_sparse_forms mxl_sparse_scaled = {
    .stypes = as_first, .compute = keeps_zeros, .grad_stypes = grad_as_arrived};

static bool as_first_into_same(mxl_stypes *call)
{
    return (call->given[0] == MXL_STYPE_NONE || call->given[0] == call->in[0]) && as_first(call);
}

const mxl_sparse_forms mxl_sparse_scattered = {
    .stypes = as_first_into_same, .compute = keeps_zeros, .grad_stypes = grad_as_arrived};

/* The operator on one 0 tells. */
static bool zero_stays(mxl_stypes *call)
{
    double zero = 0;
    const void *in = &zero;
    const int64_t step = 0;

    call->op->kernels->row[MXL_F64](&zero, &in, &step, 1, call->params);
    return zero == 0 && as_first(call);
}

const mxl_sparse_forms mxl_sparse_if_zero_stays = {
    .stypes = zero_stays, .compute = keeps_zeros, .grad_stypes = grad_as_arrived};

/* ---- zeros ---- */

static bool as_given_or_first(mxl_stypes *call)
{
    call->out[0] = call->num_inputs > 0 ? call->in[0] : call->given[0];
    return call->out[0] != MXL_DENSE;
}

static int nothing(const mxl_call *call)
{
    (void)call;
    return 0;
}

const mxl_sparse_forms mxl_sparse_stores_nothing = {.stypes = as_given_or_first,
                                                    .compute = nothing};
