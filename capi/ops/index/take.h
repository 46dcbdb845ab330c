/* Looking elements up, as expressions of ops/build.h; for composed operators. */
#ifndef MXL_OPS_INDEX_TAKE_H
#define MXL_OPS_INDEX_TAKE_H

#include "ops/build.h"

/* One element of each row along the last axis; out of bounds: the first or the last. The index
 * has the shape of `a` without that axis. */
mxl_array *mxl_pick_last(mxl_scope *s, mxl_array *a, mxl_array *index);

/* lhs with rhs at the places that the indices name: _scatter_set_nd. */
mxl_array *mxl_scatter_set(mxl_scope *s, mxl_array *lhs, mxl_array *rhs, mxl_array *indices);

/* The position of every element along each axis, int64, one more axis: _contrib_index_array. */
mxl_array *mxl_positions(mxl_scope *s, mxl_array *a);

#endif
