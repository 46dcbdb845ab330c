/* Shared by the operators of images. */
#ifndef MXL_OPS_VISION_IMAGE_H
#define MXL_OPS_VISION_IMAGE_H

#include "ops/build.h"

extern const mxl_input mxl_inputs_image[]; /* data: (height, width, channels) */

/* An infer rule: an image of 1 or 3 channels, and one like it; further outputs are float64 of shape
 * (1,). */
int mxl_image_infer(mxl_infer *infer);

#endif
