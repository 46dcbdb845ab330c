/* Affine maps of images: each pixel of the result is a weighted sum of pixels around the place that
 * is mapped to it. Places are rounded to 1/32 of a pixel, weights to 2^-15, as in OpenCV's
 * warpAffine, which MXNet 1.9.1 calls. For data/. */
#ifndef MXL_KERNEL_VISION_WARP_H
#define MXL_KERNEL_VISION_WARP_H

#include "kernel/vision/image_resize.h"

/* (x, y) of the image goes to (m[0] x + m[1] y + m[2], m[3] x + m[4] y + m[5]) of the result; what
 * comes from outside the image is `fill`. Images are uint8, (rows, columns, channels), at most
 * 32767 rows and columns; the result has out[0] rows and out[1] columns. -1 with the error set: out
 * of memory. */
int mxl_image_warp(mxl_interpolation how, const double m[6], const int64_t in[2],
                   const int64_t out[2], int64_t channels, uint8_t fill, const uint8_t *from,
                   uint8_t *to);

#endif
