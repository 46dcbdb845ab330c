/* Changes of the colours of an image: (pixels, channels), 1 or 3 channels, any dtype but bool.
 * Integers are computed in float32 and cut; uint8 stays within 0 and 255. `in` and `out` may be the
 * same. For ops/vision/image_random.c. */
#ifndef MXL_KERNEL_VISION_COLOUR_H
#define MXL_KERNEL_VISION_COLOUR_H

#include <stdint.h>

/* scale * x + offset[channel] + share * (the third channel), for each element x. */
typedef struct mxl_colour {
    double scale, offset[3], share;
    double turn; /* then the hue is turned by that part of a circle; of 3 channels only */
} mxl_colour;

void mxl_colour_change(int dtype, int64_t pixels, int64_t channels, const mxl_colour *change,
                       const void *in, void *out);

/* The mean gray level: 0.299 red + 0.587 green + 0.114 blue; of one channel its mean. */
double mxl_colour_gray(int dtype, int64_t pixels, int64_t channels, const void *in);

#endif
