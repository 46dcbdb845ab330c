/* Indexing as expressions of ops/build.h; for composites and vjps. */
#ifndef MXL_OPS_INDEX_TAKE_H
#define MXL_OPS_INDEX_TAKE_H

#include "ops/build.h"

/* The parameters of take, pick and their gradients; each lists its own. */
typedef struct mxl_take_params {
    int64_t axis;
    int mode; /* mxl_index_mode */
    int keepdims;
    mxl_tuple shape; /* of the array whose gradient is computed */
} mxl_take_params;

/* The int64 positions along an axis of n elements that indices mean by these parameters. */
mxl_array *mxl_take_positions(mxl_scope *s, const mxl_take_params *p, mxl_array *index, int64_t n);

/* One element of each row along the last axis; an index out of bounds selects the first or the last
 * one. The index has the shape of `a` without that axis. */
mxl_array *mxl_pick_last(mxl_scope *s, mxl_array *a, mxl_array *index);

/* Rows of `off_value` with `on_value` at an index, truncated, if there is such a position. */
mxl_array *mxl_one_hot_rows(mxl_scope *s, mxl_array *index, int64_t depth, double on_value,
                            double off_value, int dtype);

/* The elements of a at int64 indices along an axis, which have as many axes. */
mxl_array *mxl_gather_along(mxl_scope *s, mxl_array *a, mxl_array *indices, int64_t axis);

/* Zeros of a shape with the elements of a added at int64 indices along an axis. */
mxl_array *mxl_put_along(mxl_scope *s, mxl_array *a, mxl_array *indices, int64_t axis, int ndim,
                         const int64_t *shape);

/* lhs with rhs written at the positions of the indices: _scatter_set_nd. */
mxl_array *mxl_scatter_set(mxl_scope *s, mxl_array *lhs, mxl_array *rhs, mxl_array *indices);

/* The elements along an axis in order, the smallest first. */
mxl_array *mxl_sort_axis(mxl_scope *s, mxl_array *a, int axis);

/* The positions of elements that are not 0, int64: a row for each axis, or for each position. */
mxl_array *mxl_nonzero(mxl_scope *s, mxl_array *a, bool by_axis);

/* The position of every element along each axis, int64, with one more dimension:
 * _contrib_index_array. */
mxl_array *mxl_positions(mxl_scope *s, mxl_array *a);

#endif
