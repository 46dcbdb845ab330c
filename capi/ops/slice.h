/* The part of an array that begin, end and step name; for slice.c, and for rules elsewhere. And
 * what cutting and joining along an axis share (join.c, part.c). */
#ifndef MXL_OPS_SLICE_H
#define MXL_OPS_SLICE_H

#include "engine/scope.h"

/* a[begin:end] along one axis, all of the others; scoped. */
mxl_array *mxl_slice_axis(mxl_scope *s, mxl_array *a, int axis, int64_t begin, int64_t end);

/* Zeros in the given shape with a at [begin, end) of its first n axes; scoped. */
mxl_array *mxl_slice_put(mxl_scope *s, mxl_array *a, int n, const int64_t *begin,
                         const int64_t *end, int ndim, const int64_t *shape);

/* An axis counted from either end; -1 with the error set, which names the operator. */
int mxl_find_axis(const char *name, int64_t axis, int ndim);

/* Copies `count` blocks of `bytes`, whose beginnings lie out_step and in_step bytes apart. */
void mxl_copy_blocks(int64_t count, int64_t bytes, char *out, int64_t out_step, const char *in,
                     int64_t in_step);

#endif
