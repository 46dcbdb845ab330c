/* Images of another size: each position of the result is a weighted sum of a few positions of the
 * image, row by row and column by column. The weights and the arithmetic of uint8 are those of
 * OpenCV's resize, which MXNet 1.9.1 calls. For ops/vision/resize.c. */
#ifndef MXL_KERNEL_VISION_IMAGE_RESIZE_H
#define MXL_KERNEL_VISION_IMAGE_RESIZE_H

#include <stddef.h>
#include <stdint.h>

/* Numbers as in OpenCV. */
typedef enum mxl_interpolation {
    MXL_NEAREST,
    MXL_LINEAR,
    MXL_CUBIC,
    MXL_AREA,
    MXL_LANCZOS,
    MXL_LINEAR_EXACT /* linear, with other rounding of uint8 */
} mxl_interpolation;

/* The sums along one axis: position i is the sum over k < count of weight[i, k] times the element
 * at from[i, k]. */
typedef struct mxl_image_taps {
    int64_t in, out, count;
    int64_t *from;
    float *weight;
    size_t bytes; /* of the block that begins at `from` */
} mxl_image_taps;

/* The taps of both axes (0: rows, 1: columns) from sizes to other ones, all at least 1. Two that
 * shrink are averaged by MXL_AREA, and by MXL_LINEAR if both shrink by 2. -1 with the error set:
 * out of memory. */
int mxl_image_taps_make(mxl_interpolation how, const int64_t in[2], const int64_t out[2],
                        mxl_image_taps taps[2]);
void mxl_image_taps_free(mxl_image_taps taps[2]);

/* Weights of the 2, 4 (cubic) or 8 (Lanczos) positions around a place, which is x behind the one in
 * the middle: weight[count / 2 - 1] is that of the position at 0. */
void mxl_tap_weights(int count, double x, float *weight);

/* Contiguous images (images, rows, columns, channels) of uint8, float32 or float64. -1 with the
 * error set: out of memory. */
int mxl_image_resize(int dtype, mxl_interpolation how, const mxl_image_taps taps[2], int64_t images,
                     int64_t channels, const void *in, void *out);

#endif
