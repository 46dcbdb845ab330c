/* Sparse arrays. The storage of one has no bytes of its own: it refers to parts, which are dense
 * arrays. Parts never change; an edit gives the storage other parts. Several arrays may share a
 * storage, as dense ones do, and its version counts edits. */
#ifndef MXL_ARRAY_SPARSE_SPARSE_H
#define MXL_ARRAY_SPARSE_SPARSE_H

#include "array/array.h"

/* row_sparse, of shape [N, *S]: data [rows, *S]; indices [rows], which rows those are, ascending.
 * csr, of shape [M, N]: data [stored]; indices [stored], their columns; indptr [M + 1], where in
 * both each row begins, and the end of the last one. Where `indptr` has no elements all rows are
 * empty. */
typedef struct mxl_parts {
    mxl_ref ref;
    mxl_array *data, *indices; /* kept */
    mxl_array *indptr;         /* kept; NULL: of row_sparse */
    atomic_bool checked;       /* mxl_sparse_read has found nothing wrong */
} mxl_parts;

/* New parts, which take over the references, also on failure; NULL where one is NULL or memory is
 * short. `indptr` is NULL for row_sparse: `is_csr` says whether one is expected. */
mxl_parts *mxl_parts_new(bool is_csr, mxl_array *data, mxl_array *indices, mxl_array *indptr);

static inline void mxl_parts_release(mxl_parts *parts)
{
    if (parts != NULL)
        mxl_ref_release(&parts->ref);
}

/* The number of stored rows, or elements. */
static inline int64_t mxl_parts_stored(const mxl_parts *parts)
{
    return parts->indices->size;
}

/* A new sparse array, which takes over the parts, also on failure; NULL where they are. */
mxl_array *mxl_array_new_sparse(mxl_stype stype, int dtype, int ndim, const int64_t *shape,
                                mxl_parts *parts);

/* The same that stores nothing. -1 dimension is refused: csr has two, row_sparse at least one. */
mxl_array *mxl_array_sparse_zeros(mxl_stype stype, int dtype, int ndim, const int64_t *shape);

/* The array's parts as they are, a new reference. They may contradict one another. */
mxl_parts *mxl_array_parts(const mxl_array *array);

/* Gives the array other parts (kept), and a new version. */
void mxl_array_set_parts(mxl_array *array, mxl_parts *parts);

/* The parts for kernels, a new reference: contiguous, with indices of int64, an indptr that
 * ascends from 0 to the number of elements, and indices within the shape. NULL with the error set
 * where the array's parts are not so. */
mxl_parts *mxl_sparse_read(const mxl_array *array);

/* The same for a kernel that changes their data: no one else can see it, as it is a copy where it
 * was shared. The array gets them by mxl_array_set_parts, once they are changed. */
mxl_parts *mxl_sparse_edit(mxl_array *array);

/* The same with indices that ascend without repetition, in each row of csr: sorted where they do
 * not; of repeated ones the last counts. */
mxl_parts *mxl_sparse_ordered(const mxl_array *array);

/* -1 with the error set where the sizes of the parts do not go together or, with `full`, where
 * mxl_sparse_read refuses them or indices do not ascend without repetition, in each row of csr and
 * in row_sparse. */
int mxl_sparse_check(const mxl_array *array, bool full);

/* ---- conversions; values that are 0 (of either sign) are not stored ---- */

/* A new array of that storage type; a copy where the array has it already. NULL with the error set,
 * also where its number of dimensions does not allow it. */
mxl_array *mxl_array_cast_storage(const mxl_array *array, mxl_stype stype);

/* dst = src where one is sparse, with a cast if the dtypes differ; shapes must be the same. -1 with
 * the error set. */
int mxl_sparse_copy_into(mxl_array *dst, const mxl_array *src);

/* The same from a sparse array that no one else refers to: gives its parts away where it can. */
int mxl_sparse_move_into(mxl_array *dst, mxl_array *src);

/* "default", "row_sparse", "csr"; "undefined" of anything else. */
const char *mxl_stype_name(int stype);

#endif
