/* Reductions over sets of axes. For ops/reduce/reduce.c and the engine's sum-to-shape. */
#ifndef MXL_KERNEL_REDUCE_REDUCE_H
#define MXL_KERNEL_REDUCE_REDUCE_H

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
    MXL_REDUCE_NORM1,  /* the sum of magnitudes */
    MXL_REDUCE_NORM2,  /* the root of the sum of squares; of integers cut towards zero */
    MXL_REDUCE_SQUARES /* the sum of squares, each in the dtype: float32 beyond 2^-63 and 2^63 are
                          not for it */
} mxl_reduction;

/* Reduces `in` (strides in elements, of either sign or 0) over the axes marked in `reduced`. `out`
 * has the same dtype and is contiguous over the other axes, in their order. All dtypes. The bits do
 * not depend on the number of threads, nor on the vector level.
 *
 * Sums of floats: float32 and float16 are added by fours in float32, and the fours in double, so
 * the error is at most 2^-23 of the sum of magnitudes, however many there are, and no partial sum
 * overflows that the whole does not. float64 is added by fours too, and what the sum of the
 * fours rounds away is kept: 2^-50 of the sum of magnitudes, along one axis. Products are double.
 * Integers wrap (bool: != 0).
 *
 * Over nothing a sum is 0, a product 1, a mean NaN (integers: 0); callers refuse max and min. -1
 * with the error set: out of memory. */
int mxl_reduce(mxl_reduction kind, int dtype, int ndim, const int64_t *shape,
               const int64_t *strides, const bool *reduced, const void *in, void *out);

#endif
