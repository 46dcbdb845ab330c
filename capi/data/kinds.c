/* The list of data iterators, with those that mxlite lacks. */
#include "data/batches.h"
#include "data/files.h"
#include "data/image_plan.h"

static const mxl_batches_kind detection = {
    .op = {.name = "ImageDetRecordIter",
           .doc = "Batches of images with boxes, of a file of records.",
           .refused = "mx.image.ImageDetIter reads the same files"}};
const mxl_batches_kind *const mxl_batches_kinds[MXL_BATCHES_KINDS] = {
    &mxl_batches_csv,          &detection,          &mxl_batches_images_v1,
    &mxl_batches_images_u8_v1, &mxl_batches_images, &mxl_batches_images_u8,
    &mxl_batches_images_i8,    &mxl_batches_libsvm, &mxl_batches_mnist,
};
