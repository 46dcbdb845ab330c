/* Reductions over some dimensions. For ops/reduce/reduce.c and the engine's sum-to-shape. */
#ifndef MXL_KERNEL_REDUCE_REDUCE_H
#define MXL_KERNEL_REDUCE_REDUCE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum mxl_reduction {
    MXL_REDUCE_SUM,
    MXL_REDUCE_MEAN, /* integers: the wrapped sum, divided towards zero */
    MXL_REDUCE_MAX,  /* a NaN wins */
    MXL_REDUCE_MIN,  /* a NaN wins */
    MXL_REDUCE_PROD,
    MXL_REDUCE_NANSUM, /* the sum without NaN elements */
    MXL_REDUCE_NANPROD,
    MXL_REDUCE_NORM1,  /* the sum of magnitudes */
    MXL_REDUCE_NORM2,  /* the square root of the sum of squares; integers truncate it */
    MXL_REDUCE_SQUARES /* the sum of squares, each in the dtype; not for float32 below 2^-63 or
                          above 2^63 */
} mxl_reduction;

/* Reduces `in` (strides in elements, of either sign or 0) over the dimensions marked in `reduced`.
 * `out` has the same dtype and is contiguous over the other dimensions, in their order. All dtypes.
 * The bits depend neither on the number of threads nor on the vector level.
 * Sums of floats: float32 and float16 are added in groups of four in float32, and the groups in
 * double. The error is at most 2^-23 of the sum of magnitudes for any number of elements, and no
 * partial sum overflows unless the result does. float64 is added in groups of four too, and the
 * rounding errors of the sum over groups are carried: 2^-50 of the sum of magnitudes, along one
 * dimension. Products are computed in double. Integers wrap (bool: != 0).
 * Over no elements a sum is 0, a product 1, a mean NaN (integers: 0); callers refuse max and min.
 * -1 with the error set: out of memory. */
int mxl_reduce(mxl_reduction kind, int dtype, int ndim, const int64_t *shape,
               const int64_t *strides, const bool *reduced, const void *in, void *out);

#endif
