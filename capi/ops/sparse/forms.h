/* Sparse forms that operators of several families share: `sparse` of their descriptors. */
#ifndef MXL_OPS_SPARSE_FORMS_H
#define MXL_OPS_SPARSE_FORMS_H

#include "kernel/sparse/merge.h"
#include "op/sparse_forms.h"

/* An element-wise operator of one array that keeps zeros: what is stored changes, where does not.
 * The result has the input's storage type. */
extern const mxl_sparse_forms mxl_sparse_keeps_zeros;

/* A copy: in the storage type of the array to write to, or the input's. */
extern const mxl_sparse_forms mxl_sparse_copies;

/* Zeros, in the storage type of the array to write to, or of the first input. */
extern const mxl_sparse_forms mxl_sparse_stores_nothing;

/* ---- of an array and a number ---- */

/* Products and quotients: what is stored changes. Others: where the number keeps zeros, which the
 * operator itself says. */
extern const mxl_sparse_forms mxl_sparse_scaled, mxl_sparse_if_zero_stays;

/* What is stored changes, unless the array to write to is stored otherwise: then all elements do.
 */
extern const mxl_sparse_forms mxl_sparse_scattered;

/* ---- element-wise, of two arrays of one shape ---- */

/* What is 0 for two zeros: of two csr csr, without elements that are 0; of two row_sparse
 * row_sparse, with the rows of both. */
extern const mxl_sparse_forms mxl_sparse_merged;
extern const mxl_sparse_forms mxl_sparse_added; /* sums and differences, which pass gradients on */

/* Products: also of a sparse array and a dense one, stored as the sparse one is. */
extern const mxl_sparse_forms mxl_sparse_multiplied;

/* csr, and a dense array that broadcasts to its shape: stored as the csr is. */
extern const mxl_sparse_forms mxl_sparse_by_dense;

/* row_sparse, and any array, not into another storage type: the stored rows of the first one. */
extern const mxl_sparse_forms mxl_sparse_by_rows;

/* Sums of any number of row_sparse arrays. */
extern const mxl_sparse_forms mxl_sparse_summed;

/* ---- dot ---- */

extern const mxl_sparse_forms mxl_sparse_dot;

/* ---- parts of csr matrices ---- */

/* out, a csr of its shape, is the part of the matrix that begins at a row and a column; the rows at
 * these positions, one for each of its own; the matrices one below the other. */
int mxl_sparse_cut_into(mxl_array *out, const mxl_array *csr, int64_t row, int64_t column);
int mxl_sparse_take_into(mxl_array *out, const mxl_array *csr, const int64_t *positions);
int mxl_sparse_join_into(mxl_array *out, int count, mxl_array *const *csr);

/* ---- for forms ---- */

/* A csr for kernels. */
mxl_csr mxl_sparse_csr(const mxl_parts *parts);

/* Rows of an array at these positions, zeros at -1; new. */
mxl_array *mxl_sparse_rows_at(const mxl_array *data, int64_t count, const int64_t *positions);

/* Gives `out` these parts, whose reference it takes over; -1 with the error set where NULL. */
int mxl_sparse_give(mxl_array *out, mxl_parts *parts);

/* Runs an operator on arrays, unrecorded: a new array; NULL with the error set. */
mxl_array *mxl_sparse_apply(const mxl_op *op, const void *params, int count,
                            mxl_array *const *inputs);

/* Gives `out` the indices of `like` with other data, whose reference it takes over; -1 with the
 * error set, also where `data` is NULL. */
int mxl_sparse_give_data(mxl_array *out, const mxl_parts *like, mxl_array *data);

#endif
