/* Conversions between dense and sparse arrays, and copies into sparse ones; see sparse.h. */
#include "array/batch/batched.h"
#include "array/sparse/sparse.h"

#include <string.h>

#include "array/copy.h"
#include "base/error.h"
#include "kernel/sparse/pack.h"

/* Rows of an array that is stored by rows, and elements of one. */
static int64_t row_size(const mxl_array *array)
{
    int64_t size = 1;

    for (int i = 1; i < array->ndim; i++)
        size *= array->shape[i];
    return size;
}

/* ---- from dense ---- */

static mxl_array *rows_of(const mxl_array *dense)
{
    size_t width = mxl_dtype_size(dense->dtype);
    bool is_float = mxl_dtype_is_float(dense->dtype);
    int64_t row = row_size(dense), shape[MXL_MAX_NDIM], found;
    const void *in = mxl_array_read(dense);
    mxl_array *data, *indices;

    memcpy(shape, dense->shape, sizeof(*shape) * (size_t)dense->ndim);
    found = shape[0] = mxl_sparse_find_rows(width, is_float, dense->shape[0], row, in, NULL);
    data = mxl_array_new(dense->dtype, dense->ndim, shape);
    indices = mxl_array_new(MXL_I64, 1, &found);
    if (data != NULL && indices != NULL) {
        int64_t *at = mxl_array_write(indices);

        (void)mxl_sparse_find_rows(width, is_float, dense->shape[0], row, in, at);
        mxl_sparse_gather_rows(width * (size_t)row, found, at, in, mxl_array_write(data));
    }
    return mxl_array_new_sparse(MXL_ROW_SPARSE, dense->dtype, dense->ndim, dense->shape,
                                mxl_parts_new(false, data, indices, NULL));
}

static mxl_array *elements_of(const mxl_array *dense)
{
    size_t width = mxl_dtype_size(dense->dtype);
    bool is_float = mxl_dtype_is_float(dense->dtype);
    int64_t bounds = dense->shape[0] + 1, found;
    const void *in = mxl_array_read(dense);
    mxl_array *indptr = mxl_array_new(MXL_I64, 1, &bounds), *data, *indices;

    if (indptr == NULL)
        return NULL;
    found = mxl_sparse_count(width, is_float, dense->shape[0], dense->shape[1], in,
                             mxl_array_write(indptr));
    data = mxl_array_new(dense->dtype, 1, &found);
    indices = mxl_array_new(MXL_I64, 1, &found);
    if (data != NULL && indices != NULL)
        mxl_sparse_take(width, is_float, dense->shape[0], dense->shape[1], in,
                        mxl_array_write(data), mxl_array_write(indices));
    return mxl_array_new_sparse(MXL_CSR, dense->dtype, 2, dense->shape,
                                mxl_parts_new(true, data, indices, indptr));
}

static mxl_array *from_dense(const mxl_array *array, mxl_stype stype)
{
    mxl_array *straight, *made;

    if (stype == MXL_CSR ? array->ndim != 2 : array->ndim < 1)
        return mxl_array_sparse_zeros(stype, array->dtype, array->ndim, array->shape); /* refuses */
    straight = mxl_array_contiguous((mxl_array *)(size_t)array);
    if (straight == NULL)
        return NULL;
    made = stype == MXL_CSR ? elements_of(straight) : rows_of(straight);
    mxl_array_release(straight);
    return made;
}

/* ---- to dense ---- */

static mxl_array *to_dense(const mxl_array *array)
{
    mxl_parts *parts = mxl_sparse_read(array);
    size_t width = mxl_dtype_size(array->dtype);
    mxl_array *dense = NULL;

    if (parts != NULL)
        dense = mxl_array_zeros(array->dtype, array->ndim, array->shape);
    if (dense != NULL && parts->indptr != NULL)
        mxl_sparse_put(width, array->shape[0], array->shape[1], mxl_array_read(parts->data),
                       mxl_array_read(parts->indptr), mxl_array_read(parts->indices),
                       mxl_array_write(dense));
    else if (dense != NULL)
        mxl_sparse_put_rows(width * (size_t)row_size(array), mxl_parts_stored(parts),
                            mxl_array_read(parts->indices), mxl_array_read(parts->data),
                            mxl_array_write(dense));
    if (dense != NULL)
        dense->device = array->device;
    mxl_parts_release(parts);
    return dense;
}

/* ---- any ---- */

/* A sparse array of the same parts, with data of its own in the dtype; new. */
static mxl_array *copy_sparse(const mxl_array *array, int dtype)
{
    mxl_parts *parts = mxl_array_parts(array);
    mxl_array *made = mxl_array_new_sparse(
        array->stype, dtype, array->ndim, array->shape,
        mxl_parts_new(parts->indptr != NULL, mxl_array_copy_as(parts->data, dtype),
                      mxl_array_copy(parts->indices),
                      parts->indptr == NULL ? NULL : mxl_array_copy(parts->indptr)));

    mxl_parts_release(parts);
    return made;
}

mxl_array *mxl_array_cast_storage(const mxl_array *array, mxl_stype stype)
{
    mxl_array *made, *dense;

    if (mxl_batched_refuse("another storage type", array) != 0)
        return NULL;
    if (array->stype == stype && stype != MXL_DENSE) {
        made = copy_sparse(array, array->dtype);
    } else if (stype == MXL_DENSE) {
        return mxl_array_is_dense(array) ? mxl_array_copy(array) : to_dense(array);
    } else if (mxl_array_is_dense(array)) {
        made = from_dense(array, stype);
    } else {
        dense = to_dense(array);
        made = dense == NULL ? NULL : from_dense(dense, stype);
        mxl_array_release(dense);
    }
    if (made != NULL)
        made->device = array->device;
    return made;
}

int mxl_sparse_copy_into(mxl_array *dst, const mxl_array *src)
{
    mxl_array *made = mxl_array_cast_storage(src, dst->stype);
    mxl_parts *parts;
    int status = 0;

    if (made == NULL)
        return -1;
    if (!mxl_array_same_shape(dst, src)) {
        status = mxl_error("copy: an array of shape %s into one of shape %s", MXL_SHAPE_OF(src),
                           MXL_SHAPE_OF(dst));
    } else if (mxl_array_is_dense(dst)) {
        status = mxl_array_copy_into(dst, made);
    } else {
        if (made->dtype != dst->dtype) {
            mxl_array *cast = copy_sparse(made, dst->dtype);

            mxl_array_release(made);
            made = cast;
        }
        if (made == NULL)
            return -1;
        parts = mxl_array_parts(made);
        mxl_array_set_parts(dst, parts);
        mxl_parts_release(parts);
    }
    mxl_array_release(made);
    return status;
}

int mxl_sparse_move_into(mxl_array *dst, mxl_array *src)
{
    mxl_parts *parts = mxl_array_parts(src);
    int status = 0;

    if (dst->stype == src->stype && dst->dtype == src->dtype && mxl_array_same_shape(dst, src) &&
        mxl_array_is_unique(parts->data))
        mxl_array_set_parts(dst, parts);
    else
        status = mxl_sparse_copy_into(dst, src);
    mxl_parts_release(parts);
    return status;
}
