/* Sparse arrays: made, their parts read and written; and copies between arrays of any storage type.
 * Called by bindings. */
#include "api/common.h"

#include "array/copy.h"
#include "array/sparse/sparse.h"

/* ---- creation ---- */

/* The index arrays that a caller announces: aux 0 of row_sparse is the indices, of csr the indptr,
 * before the indices. */
typedef struct announced {
    int count;
    int types[2];
    int64_t sizes[2];
} announced;

static int read_announced(const char *function, mxl_stype stype, uint32_t count, const int *types,
                          const int *ndims, const int64_t *shapes, announced *aux)
{
    int wanted = stype == MXL_CSR ? 2 : 1;

    if (count != (uint32_t)wanted || types == NULL || ndims == NULL)
        return mxl_error("%s: %u index arrays are announced, %s has %d", function, count,
                         mxl_stype_name(stype), wanted);
    aux->count = wanted;
    for (int i = 0; i < wanted; i++) {
        int64_t given = ndims[i] == 1 && shapes != NULL ? shapes[i] : 0;

        if (ndims[i] < 0 || ndims[i] > 1)
            return mxl_error("%s: index array %d has %d dimensions; it has one", function, i,
                             ndims[i]);
        if (!mxl_dtype_valid(types[i]) || mxl_dtype_is_float(types[i]) || types[i] == MXL_BOOL)
            return mxl_error("%s: index array %d cannot be of dtype %d: int64 and int32 are usual",
                             function, i, types[i]);
        if (given < 0)
            return mxl_error("%s: index array %d has size %lld", function, i, (long long)given);
        aux->types[i] = types[i];
        aux->sizes[i] = given;
    }
    return 0;
}

/* Zeros of the announced sizes, which the caller fills next. */
static mxl_array *make_sparse(mxl_stype stype, int dtype, int ndim, const int64_t *shape,
                              const announced *aux)
{
    bool is_csr = stype == MXL_CSR;
    int64_t rows[MXL_MAX_NDIM];

    rows[0] = aux->sizes[is_csr];
    for (int i = 1; i < ndim; i++)
        rows[i] = shape[i];
    return mxl_array_new_sparse(
        stype, dtype, ndim, shape,
        mxl_parts_new(is_csr, mxl_array_zeros(dtype, is_csr ? 1 : ndim, rows),
                      mxl_array_zeros(aux->types[is_csr], 1, &aux->sizes[is_csr]),
                      is_csr ? mxl_array_zeros(aux->types[0], 1, &aux->sizes[0]) : NULL));
}

static int create_sparse(const char *function, int stype, int ndim, const int64_t *shape,
                         int device_type, int device_id, int dtype, const announced *aux,
                         NDArrayHandle *out)
{
    mxl_device device;
    mxl_array *array;

    if (mxl_device_of(device_type, device_id, &device) != 0)
        return mxl_error_prefix(function);
    if (!mxl_dtype_valid(dtype))
        return mxl_error("%s: unknown dtype %d; 0 to %d are known", function, dtype,
                         MXL_DTYPE_COUNT - 1);
    array = make_sparse((mxl_stype)stype, dtype, ndim, shape, aux);
    if (array == NULL)
        return mxl_error_prefix(function);
    array->device = device;
    *out = api_handle(array);
    return *out == NULL ? -1 : 0;
}

static int check_kind(const char *function, int stype, int64_t ndim, const void *shape)
{
    if (stype != MXL_ROW_SPARSE && stype != MXL_CSR)
        return mxl_error("%s: storage type %d; 1 is row_sparse, 2 is csr", function, stype);
    if (stype == MXL_CSR ? ndim != 2 : ndim < 1 || ndim > MXL_MAX_NDIM)
        return mxl_error("%s: %s has %s, not %lld dimensions", function, mxl_stype_name(stype),
                         stype == MXL_CSR ? "2" : "1 to 32", (long long)ndim);
    return shape == NULL ? api_null(function, "shape") : 0;
}

int MXNDArrayCreateSparseEx(int storage_type, const uint32_t *shape, uint32_t ndim, int dev_type,
                            int dev_id, int delay_alloc, int dtype, uint32_t num_aux, int *aux_type,
                            uint32_t *aux_ndims, const uint32_t *aux_shape, NDArrayHandle *out)
{
    int64_t wide[MXL_MAX_NDIM], sizes[2] = {0};
    int ndims[2] = {0};
    announced aux;

    (void)delay_alloc;
    API_NEED(out);
    *out = NULL;
    if (check_kind(__func__, storage_type, ndim, shape) != 0)
        return -1;
    for (uint32_t i = 0; i < ndim; i++)
        wide[i] = shape[i];
    for (uint32_t i = 0, at = 0; i < num_aux && i < 2 && aux_ndims != NULL; i++) {
        ndims[i] = aux_ndims[i] > 1 ? 2 : (int)aux_ndims[i];
        if (ndims[i] == 1 && aux_shape != NULL)
            sizes[i] = aux_shape[at++];
    }
    if (read_announced(__func__, (mxl_stype)storage_type, num_aux, aux_type,
                       aux_ndims == NULL ? NULL : ndims, sizes, &aux) != 0)
        return -1;
    return create_sparse(__func__, storage_type, (int)ndim, wide, dev_type, dev_id, dtype, &aux,
                         out);
}

int MXNDArrayCreateSparseEx64(int storage_type, const int64_t *shape, int ndim, int dev_type,
                              int dev_id, int delay_alloc, int dtype, uint32_t num_aux,
                              int *aux_type, int *aux_ndims, const int64_t *aux_shape,
                              NDArrayHandle *out)
{
    int64_t sizes[2] = {0};
    announced aux;

    (void)delay_alloc;
    API_NEED(out);
    *out = NULL;
    if (check_kind(__func__, storage_type, ndim, shape) != 0)
        return -1;
    for (uint32_t i = 0, at = 0; i < num_aux && i < 2 && aux_ndims != NULL; i++) {
        if (aux_ndims[i] == 1 && aux_shape != NULL)
            sizes[i] = aux_shape[at++];
    }
    if (read_announced(__func__, (mxl_stype)storage_type, num_aux, aux_type, aux_ndims, sizes,
                       &aux) != 0)
        return -1;
    return create_sparse(__func__, storage_type, ndim, shape, dev_type, dev_id, dtype, &aux, out);
}

/* ---- parts ---- */

int MXNDArrayGetDataNDArray(NDArrayHandle handle, NDArrayHandle *out)
{
    mxl_array *array, *copy;
    mxl_parts *parts;

    API_NEED(out);
    *out = NULL;
    array = api_pin_any(handle, __func__);
    if (array == NULL)
        return -1;
    parts = mxl_array_is_sparse(array) ? mxl_array_parts(array) : NULL;
    copy = mxl_array_copy(parts != NULL ? parts->data : array);
    mxl_parts_release(parts);
    api_unpin(handle);
    *out = copy != NULL ? api_handle(copy) : NULL;
    return *out != NULL ? 0 : mxl_error_prefix(__func__);
}

/* Index array i of a sparse array, a new reference. */
static mxl_array *pin_aux(const char *function, NDArrayHandle handle, int64_t i)
{
    mxl_array *array = api_pin_any(handle, function), *aux = NULL;
    mxl_parts *parts;

    if (array == NULL)
        return NULL;
    if (!mxl_array_is_sparse(array) || i < 0 || i > (array->stype == MXL_CSR)) {
        (void)mxl_error("%s: the array is %s; it has no index array %lld", function,
                        mxl_array_is_dense(array) ? "dense" : mxl_stype_name(array->stype),
                        (long long)i);
    } else {
        parts = mxl_array_parts(array);
        aux = parts->indptr != NULL && i == 0 ? parts->indptr : parts->indices;
        mxl_array_retain(aux);
        mxl_parts_release(parts);
    }
    api_unpin(handle);
    return aux;
}

static int give_aux(const char *function, NDArrayHandle handle, int64_t i, NDArrayHandle *out)
{
    mxl_array *aux, *copy;

    *out = NULL;
    aux = pin_aux(function, handle, i);
    if (aux == NULL)
        return -1;
    copy = mxl_array_copy(aux);
    mxl_array_release(aux);
    *out = copy != NULL ? api_handle(copy) : NULL;
    return *out != NULL ? 0 : mxl_error_prefix(function);
}

static int give_aux_type(const char *function, NDArrayHandle handle, int64_t i, int *out_type)
{
    mxl_array *aux = pin_aux(function, handle, i);

    if (aux == NULL)
        return -1;
    *out_type = aux->dtype;
    mxl_array_release(aux);
    return 0;
}

int MXNDArrayGetAuxNDArray(NDArrayHandle handle, uint32_t i, NDArrayHandle *out)
{
    API_NEED(out);
    return give_aux(__func__, handle, i, out);
}

int MXNDArrayGetAuxNDArray64(NDArrayHandle handle, int64_t i, NDArrayHandle *out)
{
    API_NEED(out);
    return give_aux(__func__, handle, i, out);
}

int MXNDArrayGetAuxType(NDArrayHandle handle, uint32_t i, int *out_type)
{
    API_NEED(out_type);
    return give_aux_type(__func__, handle, i, out_type);
}

int MXNDArrayGetAuxType64(NDArrayHandle handle, int64_t i, int *out_type)
{
    API_NEED(out_type);
    return give_aux_type(__func__, handle, i, out_type);
}

int MXNDArraySyncCheckFormat(NDArrayHandle handle, bool full_check)
{
    mxl_array *array = api_pin_any(handle, __func__);
    int status = 0;

    if (array == NULL)
        return -1;
    if (mxl_array_is_sparse(array) && mxl_sparse_check(array, full_check) != 0)
        status = mxl_error_prefix(__func__);
    api_unpin(handle);
    return status;
}

/* ---- copies ---- */

/* True if writing to `to` would overwrite elements of `from` that are still to be read. */
static bool overlap(const mxl_array *to, const mxl_array *from)
{
    int64_t to_end = to->offset + to->size * (int64_t)mxl_dtype_size(to->dtype);
    int64_t from_end = from->offset + from->size * (int64_t)mxl_dtype_size(from->dtype);

    return to->storage == from->storage && to->offset < from_end && from->offset < to_end;
}

static int copy_array(const char *function, mxl_array *to, mxl_array *from)
{
    mxl_array *own = NULL;
    int status;

    if (to->storage == NULL && mxl_array_define(to, from->dtype, from->ndim, from->shape) != 0)
        return -1;
    if (!mxl_array_same_shape(to, from))
        return mxl_error("%s: handle_src has shape %s, handle_dst %s", function, MXL_SHAPE_OF(from),
                         MXL_SHAPE_OF(to));
    if (mxl_array_check_writable(to) != 0)
        return mxl_error_prefix(function);
    if (mxl_array_is_dense(to) && overlap(to, from)) {
        own = mxl_array_new(from->dtype, from->ndim, from->shape);
        if (own == NULL || mxl_array_copy_into(own, from) != 0) {
            mxl_array_release(own);
            return -1;
        }
        from = own;
    }
    status = mxl_array_copy_into(to, from);
    mxl_array_release(own);
    return status;
}

/* Puts a copy of `from` in the place of one part of a sparse array: -1 the data, others as aux
 * arrays are counted. Sizes may contradict one another until the last part is written. */
static int copy_part(const char *function, mxl_array *to, mxl_array *from, int i)
{
    bool is_csr = to->stype == MXL_CSR;
    mxl_parts *old, *made;
    mxl_array *part[3], *copy;

    if (i > is_csr)
        return mxl_error("%s: i is %d; %s has %d index arrays", function, i,
                         mxl_stype_name(to->stype), 1 + is_csr);
    old = mxl_array_parts(to);
    part[0] = old->data;
    part[1] = is_csr ? old->indptr : old->indices;
    part[2] = is_csr ? old->indices : NULL;
    copy = mxl_array_copy_as(from, part[i + 1]->dtype);
    for (int k = 0; k < 3; k++) {
        if (part[k] != NULL && k != i + 1)
            mxl_array_retain(part[k]);
    }
    part[i + 1] = copy;
    made = mxl_parts_new(is_csr, part[0], part[is_csr ? 2 : 1], is_csr ? part[1] : NULL);
    mxl_parts_release(old);
    if (made == NULL)
        return -1;
    mxl_array_set_parts(to, made);
    mxl_parts_release(made);
    return 0;
}

static int copy_from(const char *function, mxl_array *to, mxl_array *from, int i)
{
    bool sparse = mxl_array_is_sparse(to);

    if (i < -1 || (i >= 0 && !sparse))
        return mxl_error("%s: i is %d; -1 copies the whole array, or the data of a sparse one",
                         function, i);
    if (sparse && mxl_array_is_dense(from))
        return copy_part(function, to, from, i);
    if (i >= 0)
        return mxl_error("%s: i is %d, and handle_src is not dense", function, i);
    return copy_array(function, to, from);
}

int MXNDArraySyncCopyFromNDArray(NDArrayHandle handle_dst, NDArrayHandle handle_src, int i)
{
    mxl_array *from, *to;
    int status;

    to = api_pin_for(handle_dst, __func__);
    if (to == NULL)
        return -1;
    from = api_pin_any(handle_src, __func__);
    status = from == NULL ? -1 : copy_from(__func__, to, from, i);
    if (from != NULL)
        api_unpin(handle_src);
    api_unpin(handle_dst);
    return status;
}
