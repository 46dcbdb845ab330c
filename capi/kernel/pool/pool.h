/* Pooling: the maximum or the sum of windows that slide over up to three axes, and the gradients.
 * For ops/nn/pooling.c. float32 and float64. */
#ifndef MXL_KERNEL_POOL_POOL_H
#define MXL_KERNEL_POOL_POOL_H

#include <stdint.h>

/* One axis: window o holds positions o * stride - pad and the `kernel - 1` behind it. Those outside
 * of [0, in) are padding. */
typedef struct mxl_window {
    int64_t in, out, kernel, stride, pad;
} mxl_window;

/* What a sum is divided by: nothing; the positions of the window within the input and its padding;
 * those within the input. */
typedef enum mxl_pool_divide {
    MXL_POOL_SUM,
    MXL_POOL_MEAN_PADDED,
    MXL_POOL_MEAN_INSIDE
} mxl_pool_divide;

/* Contiguous arrays (outer, depth, height, width, inner); the windows slide over the three axes in
 * the middle. */
typedef struct mxl_pool {
    int dtype;
    int64_t outer, inner;
    mxl_window axis[3];
    mxl_pool_divide divide;
    int power; /* of the elements that are summed: 1, 2 or 3 */
} mxl_pool;

/* y = the largest element of each window that is greater than `lowest`, else `lowest`: NaN is never
 * taken. */
void mxl_pool_max(const mxl_pool *p, double lowest, const void *x, void *y);

/* The gradient: dx = zeros with dy added at the first of the largest elements of each window. An
 * input plane (depth * height * width) may have up to INT32_MAX elements. */
void mxl_pool_max_back(const mxl_pool *p, double lowest, const void *x, const void *dy, void *dx);

/* Its adjoint: y = the element of `from`, which has the shape of x, at that position; 0 for a
 * window of which no element is taken. */
void mxl_pool_max_pick(const mxl_pool *p, double lowest, const void *x, const void *from, void *y);

/* y = sum of x ^ power over each window, divided. */
void mxl_pool_sum(const mxl_pool *p, const void *x, void *y);

/* The adjoint of mxl_pool_sum of power 1: dx = sum of dy over the windows that hold a position,
 * each divided. */
void mxl_pool_spread(const mxl_pool *p, const void *dy, void *dx);

#endif
