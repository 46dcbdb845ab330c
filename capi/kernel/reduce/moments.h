/* Means and variances over sets of axes. For ops/reduce/norm.c. */
#ifndef MXL_KERNEL_REDUCE_MOMENTS_H
#define MXL_KERNEL_REDUCE_MOMENTS_H

#include <stdbool.h>
#include <stdint.h>

/* The mean, and the mean of the squares of the distances from it; arguments as of mxl_reduce (two
 * outputs in place of one). All dtypes but bool. The input is read from memory once, by shares that
 * stay in the cache. The bits do not depend on the number of threads, nor on the vector level.
 *
 * Floats: the mean is as good as mxl_reduce's. Distances are taken from the mean of a share, which
 * is near, and what is left of them is allowed for, so a mean that is large beside the distances
 * costs the variance little: float32 and float16 are off by 2^-21 of it at most (and a rounding to
 * the dtype), float64 by 2^-48 and 2^-51 of the mean over the deviation. Integers wrap: the mean is
 * cut towards zero, and so is the variance about it. Over nothing both are NaN (integers: 0). -1
 * with the error set: out of memory. */
int mxl_moments(int dtype, int ndim, const int64_t *shape, const int64_t *strides,
                const bool *reduced, const void *in, void *mean, void *variance);

#endif
