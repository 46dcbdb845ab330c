/* Sparse forms that operators of several families share: `sparse` of their descriptors. */
#ifndef MXL_OPS_SPARSE_FORMS_H
#define MXL_OPS_SPARSE_FORMS_H

#include "op/sparse_forms.h"

/* An element-wise operator of one array that keeps zeros: what is stored changes, where does not.
 * The result has the input's storage type. */
extern const mxl_sparse_forms mxl_sparse_keeps_zeros;

/* A copy: in the storage type of the array to write to, or the input's. */
extern const mxl_sparse_forms mxl_sparse_copies;

/* Zeros, in the storage type of the array to write to, or of the first input. */
extern const mxl_sparse_forms mxl_sparse_stores_nothing;

/* Runs an operator on arrays, unrecorded: a new array; NULL with the error set. */
mxl_array *mxl_sparse_apply(const mxl_op *op, const void *params, int count,
                            mxl_array *const *inputs);

/* Gives `out` the indices of `like` with other data, whose reference it takes over; -1 with the
 * error set, also where `data` is NULL. */
int mxl_sparse_give_data(mxl_array *out, const mxl_parts *like, mxl_array *data);

#endif
