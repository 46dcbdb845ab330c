/* The list of data iterators. */
#include "data/batches.h"
#include "data/images/detect.h"
#include "data/files.h"
#include "data/images/image_plan.h"

const mxl_batches_kind *const mxl_batches_kinds[MXL_BATCHES_KINDS] = {
    &mxl_batches_csv,
#ifndef MXL_WITHOUT_IMAGES
    &mxl_batches_detect, &mxl_batches_images_v1, &mxl_batches_images_u8_v1,
    &mxl_batches_images, &mxl_batches_images_u8, &mxl_batches_images_i8,
#endif
    &mxl_batches_libsvm, &mxl_batches_mnist,
};
