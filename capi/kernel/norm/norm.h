/* Normalisation to mean 0 and variance 1, with a scale and a shift, and its gradient. For
 * ops/nn/normalise.c. */
#ifndef MXL_KERNEL_NORM_NORM_H
#define MXL_KERNEL_NORM_NORM_H

#include <stdbool.h>
#include <stdint.h>

/* The elements of a group have one mean and one variance. Group g is `segments` runs of `run`
 * neighbours: the first begins at element g * run, the others follow at steps of `jump`.
 * Scale and shift (`params` of each) belong to groups, the ones of group g at g % params; or, with
 * `each`, to the positions within a run: then params is run, and segments is 1. */
typedef struct mxl_norm {
    int dtype; /* float32, float64 or float16 */
    int64_t groups, segments, run, jump;
    int64_t params;
    bool each;
    bool relu;  /* y = max(y, 0), NaN stays; not with `each` and not of mxl_norm_backward */
    bool given; /* mean and inverse are inputs, which the gradient takes for constants */
    double eps;
    /* What follows in the same pass, of float32 without `each`: y = relu(y), and dy counts where
     * `gate`, which is that y, is above 0. What counts of dy is where dx will be. */
    bool cut;
    const void *gate; /* NULL: dy counts everywhere */
} mxl_norm;

/* The dtype of scales, shifts and statistics for data of a dtype: float32 for float16, else the
 * same. All arrays below but x, y, dy and dx have it. */
int mxl_norm_wide(int dtype);

/* y = (x - mean) * inverse * scale + shift, where inverse = 1 / sqrt(variance + eps). Writes mean
 * and inverse of each group, or reads them if they are given. scale NULL: 1. Over no elements both
 * are NaN. The input is read twice, for the second time from the cache if a group fits in it. The
 * variance is the mean squared distance from the mean; its relative error is a few roundings. The
 * bits depend neither on the number of threads nor on the vector level. */
void mxl_norm_forward(const mxl_norm *norm, const void *x, const void *scale, const void *shift,
                      void *mean, void *inverse, void *y);

/* The gradients dx, dscale and dshift, any of which may be NULL; dy is the gradient of y. -1 with
 * the error set: out of memory. */
int mxl_norm_backward(const mxl_norm *norm, const void *x, const void *dy, const void *scale,
                      const void *mean, const void *inverse, void *dx, void *dscale, void *dshift);

#endif
