/* The list of data iterators, with those that mxlite lacks. */
#include "data/batches.h"
#include "data/files.h"

#define IMAGES "it decodes images of a file of records, which mxlite does in Python (mx.io)"

static const mxl_batches_kind detection = {
    .op = {.name = "ImageDetRecordIter",
           .doc = "Batches of images with boxes, of a file of records.",
           .refused = "mx.image.ImageDetIter reads the same files"}};
static const mxl_batches_kind images = {.op = {.name = "ImageRecordIter",
                                               .doc = "Batches of images of a file of records.",
                                               .refused = IMAGES}};
static const mxl_batches_kind bytes = {
    .op = {.name = "ImageRecordUInt8Iter",
           .doc = "Batches of images of a file of records, as bytes.",
           .refused = IMAGES}};
static const mxl_batches_kind signed_bytes = {
    .op = {.name = "ImageRecordInt8Iter",
           .doc = "Batches of images of a file of records, as signed bytes.",
           .refused = IMAGES}};
static const mxl_batches_kind images_v1 = {.op = {.name = "ImageRecordIter_v1",
                                                  .doc = "Batches of images of a file of records.",
                                                  .refused = IMAGES}};
static const mxl_batches_kind bytes_v1 = {
    .op = {.name = "ImageRecordUInt8Iter_v1",
           .doc = "Batches of images of a file of records, as bytes.",
           .refused = IMAGES}};
static const mxl_batches_kind libsvm = {
    .op = {.name = "LibSVMIter",
           .doc = "Batches of rows of files in LibSVM's format, as csr arrays.",
           .refused = "its batches are sparse arrays (csr)"}};

const mxl_batches_kind *const mxl_batches_kinds[MXL_BATCHES_KINDS] = {
    &mxl_batches_csv, &detection,    &images_v1, &bytes_v1,          &images,
    &bytes,           &signed_bytes, &libsvm,    &mxl_batches_mnist,
};
