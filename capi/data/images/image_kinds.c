/* Iterators over images: their tables of parameters; see data/images/image_plan.h and
 * data/images/detect.h. */
#include "data/images/detect.h"
#include "data/images/image_plan.h"
#include "data/images/image_source.h"

static int images_open(mxl_batches *b, const void *params)
{
    return mxl_images_open(b, params, MXL_F32, false);
}

static int images_open_u8(mxl_batches *b, const void *params)
{
    return mxl_images_open(b, params, MXL_U8, false);
}

static int images_open_i8(mxl_batches *b, const void *params)
{
    return mxl_images_open(b, params, MXL_I8, false);
}

/* The iterators of version 1: their index has the ids of the records. */
static int images_open_v1(mxl_batches *b, const void *params)
{
    return mxl_images_open(b, params, MXL_F32, true);
}

static int images_open_u8_v1(mxl_batches *b, const void *params)
{
    return mxl_images_open(b, params, MXL_U8, true);
}

/* ---- the kinds ---- */

#define ROW_STRING    .type = MXL_P_STRING
#define ROW_SHAPE     .type = MXL_P_SHAPE
#define ROW_INT       .type = MXL_P_INT
#define ROW_LONG      .type = MXL_P_INT, .type_name = "long (non-negative)", .has_min = true
#define ROW_OPT_INT   .type = MXL_P_OPT_INT
#define ROW_FLOAT     .type = MXL_P_FLOAT
#define ROW_OPT_FLOAT .type = MXL_P_OPT_FLOAT
#define ROW_FLOATS    .type = MXL_P_FLOATS
#define ROW_BOOL      .type = MXL_P_BOOL
#define ROW_EMIT      .type = MXL_P_ENUM, .values = emit_modes
#define ROW_MODE      .type = MXL_P_ENUM, .values = resize_modes
#define ROW(params, kind, field, default_text, text)                                               \
    {.name = #field,                                                                               \
     ROW_##kind,                                                                                   \
     .offset = offsetof(params, field),                                                            \
     .def = default_text,                                                                          \
     .doc = text},
#define IMAGE_ROW(...)  ROW(mxl_image_params, __VA_ARGS__)
#define DETECT_ROW(...) ROW(mxl_detect_params, __VA_ARGS__)
#define COMMON                                                                                     \
    MXL_IMAGE_FILE(IMAGE_ROW)                                                                      \
    MXL_BATCH_SIZE(mxl_image_params),                                                              \
        MXL_PARAM(mxl_image_params, round_batch, MXL_P_BOOL, "1",                                  \
                  "Whether the last batch is filled from the next epoch."),                        \
        MXL_BATCH_REST(mxl_image_params), MXL_IMAGE_CHANGES(IMAGE_ROW)

static const mxl_param bytes_params[] = {COMMON{0}};
static const mxl_param float_params[] = {COMMON MXL_IMAGE_VALUES(IMAGE_ROW){0}};

#define DOC(what)                                                                                  \
    "Batches of images, " what                                                                     \
    " of the shape (batch, channels, rows, columns), of a file of records. An image is resized "   \
    "(its shorter side to `resize`), padded, made large enough for and cut to data_shape, and "    \
    "mirrored."
#define KIND(variable, text, opens, table, described, documentation)                               \
    const mxl_batches_kind variable = {                                                            \
        .op = {.name = text, .doc = documentation, MXL_PARAMS(mxl_image_params, table)},           \
        .shown = described,                                                                        \
        .open = opens,                                                                             \
        .take = mxl_image_source_take,                                                             \
        .close = mxl_images_close}

enum { BYTES_PARAMS = sizeof(bytes_params) / sizeof(*bytes_params) - 1 };

/* The later iterators over bytes take all parameters, and describe some of them, as in 1.9.1. */
KIND(mxl_batches_images, "ImageRecordIter", images_open, float_params, 0,
     DOC("float32") " Values become (value - mean) / std * scale.");
KIND(mxl_batches_images_v1, "ImageRecordIter_v1", images_open_v1, float_params, 0,
     DOC("float32") " Values become (value - mean) / std * scale.");
KIND(mxl_batches_images_u8, "ImageRecordUInt8Iter", images_open_u8, float_params, BYTES_PARAMS,
     DOC("uint8"));
KIND(mxl_batches_images_u8_v1, "ImageRecordUInt8Iter_v1", images_open_u8_v1, bytes_params, 0,
     DOC("uint8"));
KIND(mxl_batches_images_i8, "ImageRecordInt8Iter", images_open_i8, float_params, BYTES_PARAMS,
     DOC("int8") " Values above 127 become 127.");

/* ---- detection ---- */

static const char *const emit_modes[] = {"center", "overlap", NULL};
static const char *const resize_modes[] = {"fit", "force", "shrink", NULL};

static const mxl_param detect_params[] = {
    MXL_DETECT_FILE(DETECT_ROW) MXL_BATCH_SIZE(mxl_detect_params),
    MXL_PARAM(mxl_detect_params, round_batch, MXL_P_BOOL, "1",
              "Whether the last batch is filled from the next epoch."),
    MXL_BATCH_REST(mxl_detect_params), MXL_DETECT_CHANGES(DETECT_ROW){0}};

const mxl_batches_kind mxl_batches_detect = {
    .op = {.name = "ImageDetRecordIter",
           .doc = "Batches of images with boxes, float32 of the shape (batch, channels, rows, "
                  "columns), of a file of records. A label is channels, rows and columns of the "
                  "image, how many numbers follow, those of the record (how many come before the "
                  "objects, how many an object has, ..., the objects: class, left, top, right, "
                  "bottom, ...), and padding. Boxes change as the images do.",
           MXL_PARAMS(mxl_detect_params, detect_params)},
    .open = mxl_detect_open,
    .take = mxl_image_source_take,
    .close = mxl_detect_close};
