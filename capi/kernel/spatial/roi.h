/* Regions of images, each divided into a grid of bins: means of bilinear samples, and maxima. For
 * ops/vision/roi.c. float32 and float64. */
#ifndef MXL_KERNEL_SPATIAL_ROI_H
#define MXL_KERNEL_SPATIAL_ROI_H

#include <stdbool.h>
#include <stdint.h>

/* Contiguous: images (batch, channels, height, width); regions, each the number of an image and
 * coordinates that `scale` multiplies: left, top, right, bottom; or if `rotated` the centre's
 * column and row, width, height, angle in degrees; results (regions, channels, rows, columns). */
typedef struct mxl_roi {
    int dtype;
    bool rotated;
    bool aligned;   /* coordinates are half a pixel less, and regions may be small */
    bool sensitive; /* a channel of the result has an input channel for each of its bins */
    int64_t batch, channels, height, width; /* `channels` of the result */
    int64_t regions, rows, columns;
    int64_t ratio; /* samples of a bin along each axis; <= 0: as many as pixels */
    double scale;
} mxl_roi;

/* y = the mean of each bin's samples. -1 with the error set and nothing written: a region of an
 * image that does not exist, or whose coordinates are no numbers or too large. */
int mxl_roi_align(const mxl_roi *r, const void *regions, const void *x, void *y);

/* The adjoint: dx = zeros with dy added to what its bin's samples read. */
int mxl_roi_align_back(const mxl_roi *r, const void *regions, const void *dy, void *dx);

/* y = the largest element of each bin above `lowest` (0 for a bin without pixels). -1 with the
 * error set and nothing written for a region of an image behind the last one; a negative number is
 * that of an empty region. */
int mxl_roi_pool(const mxl_roi *r, double lowest, const void *regions, const void *x, void *y);

/* The gradient: dx = zeros with dy added at the first of the largest elements of each bin; and its
 * adjoint: y = the elements of `from`, which has the shape of x, there. */
int mxl_roi_pool_back(const mxl_roi *r, double lowest, const void *regions, const void *x,
                      const void *dy, void *dx);
int mxl_roi_pool_pick(const mxl_roi *r, double lowest, const void *regions, const void *x,
                      const void *from, void *y);

#endif
