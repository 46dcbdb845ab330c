/* Means and variances over some dimensions. For ops/reduce/norm.c. */
#ifndef MXL_KERNEL_REDUCE_MOMENTS_H
#define MXL_KERNEL_REDUCE_MOMENTS_H

#include <stdbool.h>
#include <stdint.h>

/* The mean, and the mean of the squared distances from it; arguments as of mxl_reduce (two outputs
 * instead of one). All dtypes but bool. The input is read from memory once, in chunks that stay in
 * the cache. The bits depend neither on the number of threads nor on the vector level.
 * Floats: the mean is as accurate as mxl_reduce's. Distances are taken from a value near the mean
 * of a chunk, and the difference is corrected, so that a mean much larger than the distances costs
 * the variance little accuracy. The relative error of the variance is at most 2^-21 for float32 and
 * float16 (plus a rounding to the dtype); for float64 it is 2^-48 plus 2^-51 times mean /
 * deviation. Integers wrap: the mean is truncated towards zero, and the variance from it too. Over
 * no elements both are NaN (integers: 0). -1 with the error set: out of memory. */
int mxl_moments(int dtype, int ndim, const int64_t *shape, const int64_t *strides,
                const bool *reduced, const void *in, void *mean, void *variance);

#endif
