/* Copies between arrays: besides invoke, the only file that runs kernels. */
#ifndef MXL_ARRAY_COPY_H
#define MXL_ARRAY_COPY_H

#include "array/array.h"

/* dst[...] = src, with a cast if the dtypes differ. Both need the same number of elements, which
 * are taken in row-major order. Both may be strided; they must not overlap partly. -1 with the
 * error set. */
int mxl_array_copy_into(mxl_array *dst, const mxl_array *src);

/* Defers such a copy, to a `dst` of the same shape, or of as many elements as a contiguous `src`,
 * or from a single element (array/expression.h). False: it cannot be. */
bool mxl_array_copy_later(mxl_array *dst, mxl_array *src);

/* The array itself (retained) if it is contiguous, else a new contiguous copy. */
mxl_array *mxl_array_contiguous(mxl_array *array);

/* A new contiguous copy, a constant; NULL with the error set. */
mxl_array *mxl_array_copy(const mxl_array *array);
mxl_array *mxl_array_copy_as(const mxl_array *array, int dtype); /* in another dtype */

#endif
