/* Reductions over sets of axes, and argmax. For ops/reduce.c and the engine's sum-to-shape. */
#ifndef MXL_KERNEL_REDUCE_H
#define MXL_KERNEL_REDUCE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum mxl_reduction {
    MXL_REDUCE_SUM,
    MXL_REDUCE_MEAN, /* integers: the wrapped sum, divided towards zero */
    MXL_REDUCE_MAX,  /* NaN wins */
    MXL_REDUCE_MIN,  /* NaN wins */
    MXL_REDUCE_PROD,
    MXL_REDUCE_NANSUM, /* without what is NaN */
    MXL_REDUCE_NANPROD,
    MXL_REDUCE_NORM1, /* the sum of magnitudes */
    MXL_REDUCE_NORM2  /* the root of the sum of squares; of integers cut towards zero */
} mxl_reduction;

/* Reduces `in` (strides in elements, of either sign or 0) over the axes marked in `reduced`. `out`
 * has the same dtype and is contiguous over the other axes, in their order. All dtypes. Floats are
 * summed in double, integers in int64 and wrapped (bool: != 0); the bits do not depend on the
 * number of threads. Over nothing a sum is 0, a mean NaN (integers: 0) and a max the dtype's lowest
 * value (callers refuse it), a min its highest, a product 1. -1 with the error set: out of memory.
 */
int mxl_reduce(mxl_reduction kind, int dtype, int ndim, const int64_t *shape,
               const int64_t *strides, const bool *reduced, const void *in, void *out);

/* Position of the first maximum along the middle axis of a contiguous (outer, n, inner) array, n >
 * 0, into out (outer, inner). The first NaN counts as the maximum. All dtypes. */
void mxl_argmax(int dtype, int64_t outer, int64_t n, int64_t inner, const void *in, int64_t *out);
/* The same of the first minimum. */
void mxl_argmin(int dtype, int64_t outer, int64_t n, int64_t inner, const void *in, int64_t *out);

#endif
