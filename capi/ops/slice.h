/* The part of an array that begin, end and step name; for slice.c, and for rules elsewhere. */
#ifndef MXL_OPS_SLICE_H
#define MXL_OPS_SLICE_H

#include "engine/scope.h"

/* a[begin:end] along one axis, all of the others; scoped. */
mxl_array *mxl_slice_axis(mxl_scope *s, mxl_array *a, int axis, int64_t begin, int64_t end);

/* Zeros in the given shape with a at [begin, end) of its first n axes; scoped. */
mxl_array *mxl_slice_put(mxl_scope *s, mxl_array *a, int n, const int64_t *begin,
                         const int64_t *end, int ndim, const int64_t *shape);

#endif
