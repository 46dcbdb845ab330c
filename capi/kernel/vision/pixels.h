/* Loops over pixels. An image is (height, width, channels), or planes (channels, pixels). For
 * ops/vision/. */
#ifndef MXL_KERNEL_VISION_PIXELS_H
#define MXL_KERNEL_VISION_PIXELS_H

#include <stdint.h>

/* Images of `pixels` pixels, of uint8 or float32, to planes of float32: each element over 255. */
void mxl_pixels_to_planes(int dtype, int64_t images, int64_t pixels, int64_t channels,
                          const void *in, float *out);

/* Planes less a mean and over a deviation: mean[c] and deviation[c] are those of channel c. Any
 * dtype but bool; integers are computed in float32. */
void mxl_planes_normalize(int dtype, int64_t images, int64_t channels, int64_t pixels,
                          const float *mean, const float *deviation, const void *in, void *out);

#endif
