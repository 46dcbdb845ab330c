/* Parts of sparse arrays: made, exchanged, checked. (Conversions: convert.c.) */
#include "array/sparse/sparse.h"

#include "array/copy.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "base/system/threads.h"

const char *mxl_stype_name(int stype)
{
    static const char *const names[] = {"default", "row_sparse", "csr"};

    return stype < MXL_DENSE || stype > MXL_CSR ? "undefined" : names[stype];
}

/* ---- parts ---- */

static void parts_release(mxl_ref *ref)
{
    mxl_parts *parts = (mxl_parts *)ref;

    mxl_array_release(parts->data);
    mxl_array_release(parts->indices);
    mxl_array_release(parts->indptr);
    mxl_free(parts, sizeof(*parts));
}

mxl_parts *mxl_parts_new(bool is_csr, mxl_array *data, mxl_array *indices, mxl_array *indptr)
{
    bool whole = data != NULL && indices != NULL && is_csr == (indptr != NULL);
    mxl_parts *parts = whole ? mxl_alloc(sizeof(*parts)) : NULL;

    if (parts == NULL) {
        mxl_array_release(data);
        mxl_array_release(indices);
        mxl_array_release(indptr);
        return NULL;
    }
    mxl_ref_init(&parts->ref, parts_release);
    parts->data = data;
    parts->indices = indices;
    parts->indptr = indptr;
    atomic_init(&parts->checked, false);
    return parts;
}

static int check_ndim(mxl_stype stype, int ndim)
{
    if (stype == MXL_CSR ? ndim == 2 : ndim >= 1)
        return 0;
    return mxl_error("an array of %d dimension%s cannot be stored as %s, which has %s", ndim,
                     ndim == 1 ? "" : "s", mxl_stype_name(stype),
                     stype == MXL_CSR ? "two" : "at least one");
}

mxl_array *mxl_array_new_sparse(mxl_stype stype, int dtype, int ndim, const int64_t *shape,
                                mxl_parts *parts)
{
    mxl_storage *storage =
        parts == NULL || check_ndim(stype, ndim) != 0 || mxl_shape_count(ndim, shape) < 0
            ? NULL
            : mxl_storage_new(0);
    mxl_extra *extra = storage == NULL ? NULL : mxl_storage_extra(storage);
    mxl_array *array;

    if (extra == NULL) {
        if (storage != NULL)
            mxl_storage_release(storage);
        mxl_parts_release(parts);
        return NULL;
    }
    extra->parts = &parts->ref;
    array = mxl_array_over(storage, dtype, ndim, shape);
    if (array == NULL)
        return NULL;
    array->stype = (int8_t)stype;
    array->contiguous = false;
    return array;
}

mxl_array *mxl_array_sparse_zeros(mxl_stype stype, int dtype, int ndim, const int64_t *shape)
{
    int64_t none[MXL_MAX_NDIM] = {0}, bounds;
    bool is_csr = stype == MXL_CSR;

    if (check_ndim(stype, ndim) != 0)
        return NULL;
    for (int i = 1; i < ndim && !is_csr; i++)
        none[i] = shape[i];
    bounds = shape[0] + 1;
    return mxl_array_new_sparse(
        stype, dtype, ndim, shape,
        mxl_parts_new(is_csr, mxl_array_new(dtype, is_csr ? 1 : ndim, none),
                      mxl_array_new(MXL_I64, 1, none),
                      is_csr ? mxl_array_zeros(MXL_I64, 1, &bounds) : NULL));
}

/* ---- those of an array ---- */

static mxl_extra *lock_parts(const mxl_array *array)
{
    mxl_extra *extra = atomic_load_explicit(&array->storage->extra, memory_order_acquire);

    while (atomic_flag_test_and_set_explicit(&extra->parts_locked, memory_order_acquire))
        mxl_thread_yield();
    return extra;
}

mxl_parts *mxl_array_parts(const mxl_array *array)
{
    mxl_extra *extra = lock_parts(array);
    mxl_parts *parts = (mxl_parts *)extra->parts;

    mxl_ref_retain(&parts->ref);
    atomic_flag_clear_explicit(&extra->parts_locked, memory_order_release);
    return parts;
}

void mxl_array_set_parts(mxl_array *array, mxl_parts *parts)
{
    mxl_extra *extra = lock_parts(array);
    mxl_ref *old = extra->parts;

    mxl_ref_retain(&parts->ref);
    extra->parts = &parts->ref;
    mxl_storage_bump(array->storage);
    atomic_flag_clear_explicit(&extra->parts_locked, memory_order_release);
    mxl_ref_release(old);
}

/* ---- checks ---- */

static int check_sizes(const mxl_array *array, const mxl_parts *parts)
{
    int64_t stored = mxl_parts_stored(parts);
    const char *name = mxl_stype_name(array->stype);

    if (parts->indices->ndim != 1 || parts->data->ndim == 0 || parts->data->shape[0] != stored)
        return mxl_error("%s: data of shape %s and indices of shape %s do not go "
                         "together",
                         name, MXL_SHAPE_OF(parts->data), MXL_SHAPE_OF(parts->indices));
    if (array->stype == MXL_CSR) {
        const mxl_array *indptr = parts->indptr;

        if (parts->data->ndim != 1 || indptr->ndim != 1 ||
            indptr->size != (indptr->size == 0 && stored == 0 ? 0 : array->shape[0] + 1))
            return mxl_error("csr: indptr of shape %s and data of shape %s do not go "
                             "with shape %s",
                             MXL_SHAPE_OF(indptr), MXL_SHAPE_OF(parts->data), MXL_SHAPE_OF(array));
        return 0;
    }
    if (!mxl_shape_same(array->ndim - 1, array->shape + 1, parts->data->ndim - 1,
                        parts->data->shape + 1))
        return mxl_error("row_sparse: rows of data of shape %s do not go with shape %s",
                         MXL_SHAPE_OF(parts->data), MXL_SHAPE_OF(array));
    return 0;
}

static int check_indptr(const int64_t *indptr, int64_t rows, int64_t stored)
{
    if (indptr[0] != 0 || indptr[rows] != stored)
        return mxl_error("csr: indptr goes from %lld to %lld, in place of 0 to %lld, "
                         "the number of elements",
                         (long long)indptr[0], (long long)indptr[rows], (long long)stored);
    for (int64_t i = 0; i < rows; i++) {
        if (indptr[i + 1] < indptr[i])
            return mxl_error("csr: indptr falls from %lld to %lld after row %lld",
                             (long long)indptr[i], (long long)indptr[i + 1], (long long)i);
    }
    return 0;
}

static int check_range(const mxl_array *array, const int64_t *indices, int64_t stored)
{
    int64_t limit = array->shape[array->stype == MXL_CSR];

    for (int64_t k = 0; k < stored; k++) {
        if (indices[k] < 0 || indices[k] >= limit)
            return mxl_error("%s: index %lld is out of range for shape %s",
                             mxl_stype_name(array->stype), (long long)indices[k],
                             MXL_SHAPE_OF(array));
    }
    return 0;
}

static int check_order(const mxl_array *array, const mxl_parts *parts)
{
    const int64_t *indices = mxl_array_read(parts->indices);
    const int64_t *indptr = parts->indptr == NULL ? NULL : mxl_array_read(parts->indptr);
    int64_t rows = indptr == NULL ? 1 : array->shape[0];

    for (int64_t i = 0; i < rows; i++) {
        int64_t begin = indptr == NULL ? 0 : indptr[i];
        int64_t end = indptr == NULL ? mxl_parts_stored(parts) : indptr[i + 1];

        for (int64_t k = begin + 1; k < end; k++) {
            if (indices[k] <= indices[k - 1])
                return mxl_error("%s: index %lld follows %lld: indices must ascend, "
                                 "without repetition",
                                 mxl_stype_name(array->stype), (long long)indices[k],
                                 (long long)indices[k - 1]);
        }
    }
    return 0;
}

/* ---- parts for kernels ---- */

/* An index array as int64 in C order; new. */
static mxl_array *wide_index(mxl_array *index)
{
    return index->dtype == MXL_I64 ? mxl_array_contiguous(index)
                                   : mxl_array_copy_as(index, MXL_I64);
}

static mxl_array *wide_indptr(mxl_array *indptr, int64_t rows)
{
    int64_t bounds = rows + 1;

    return indptr->size == 0 ? mxl_array_zeros(MXL_I64, 1, &bounds) : wide_index(indptr);
}

static bool is_plain_part(const mxl_array *part)
{
    return part == NULL || (part->dtype == MXL_I64 && part->contiguous && part->size > 0);
}

/* The same parts as kernels want them; takes the reference over. */
static mxl_parts *straighten(const mxl_array *array, mxl_parts *parts)
{
    mxl_parts *made;

    if (is_plain_part(parts->indices) && is_plain_part(parts->indptr) && parts->data->contiguous)
        return parts;
    made = mxl_parts_new(
        parts->indptr != NULL, mxl_array_contiguous(parts->data), wide_index(parts->indices),
        parts->indptr == NULL ? NULL : wide_indptr(parts->indptr, array->shape[0]));
    mxl_parts_release(parts);
    return made;
}

mxl_parts *mxl_sparse_read(const mxl_array *array)
{
    mxl_parts *given = mxl_array_parts(array), *parts;
    bool checked = atomic_load_explicit(&given->checked, memory_order_acquire);

    if (!checked && check_sizes(array, given) != 0) {
        mxl_parts_release(given);
        return NULL;
    }
    mxl_ref_retain(&given->ref);
    parts = straighten(array, given);
    if (parts != NULL && !checked &&
        ((parts->indptr != NULL && check_indptr(mxl_array_read(parts->indptr), array->shape[0],
                                                mxl_parts_stored(parts)) != 0) ||
         check_range(array, mxl_array_read(parts->indices), mxl_parts_stored(parts)) != 0)) {
        mxl_parts_release(parts);
        parts = NULL;
    }
    if (parts != NULL)
        atomic_store_explicit(&given->checked, true, memory_order_release);
    mxl_parts_release(given);
    return parts;
}

mxl_parts *mxl_sparse_edit(mxl_array *array)
{
    mxl_parts *parts = mxl_sparse_read(array), *made;

    /* The array's own reference and this one. */
    if (parts == NULL || (atomic_load_explicit(&parts->ref.count, memory_order_acquire) <= 2 &&
                          mxl_array_is_unique(parts->data)))
        return parts;
    mxl_array_retain(parts->indices);
    if (parts->indptr != NULL)
        mxl_array_retain(parts->indptr);
    made = mxl_parts_new(parts->indptr != NULL, mxl_array_copy(parts->data), parts->indices,
                         parts->indptr);
    if (made != NULL)
        atomic_store_explicit(&made->checked, true, memory_order_release);
    mxl_parts_release(parts);
    return made;
}

int mxl_sparse_check(const mxl_array *array, bool full)
{
    mxl_parts *parts = mxl_array_parts(array);
    int status = check_sizes(array, parts);

    /* Of nothing there is no order; and an indptr that is lacking would be made, however long. */
    if (full && status == 0 && mxl_parts_stored(parts) > 0) {
        mxl_parts_release(parts);
        parts = mxl_sparse_read(array);
        status = parts == NULL ? -1 : check_order(array, parts);
    }
    mxl_parts_release(parts);
    return status;
}
