/* The operators that 1.9.1 has from OpenCV: _cvimdecode and _cvimread (images in files to pixels),
 * _cvimresize, _cvcopyMakeBorder. */
#include <math.h>
#include <string.h>

#include "array/copy.h"
#include "base/content.h"
#include "base/half.h"
#include "base/memory/mem.h"
#include "kernel/codec/codec.h"
#include "kernel/vision/image_resize.h"
#include "ops/vision/image.h"

/* ---- images in files ---- */

typedef struct read_params {
    const char *filename; /* of _cvimread */
    int64_t flag;
    int to_rgb;
} read_params;

/* The pixels of a file's bytes, in the order of channels that is asked for; scoped. */
static mxl_array *decoded(mxl_scope *s, const read_params *p, const void *bytes, size_t size)
{
    mxl_bitmap image;
    mxl_array *made;

    if (p->flag != 0 && p->flag != 1)
        return mxl_error_null("flag must be 0 (gray) or 1 (colour), got %lld", (long long)p->flag);
    if (mxl_bitmap_decode(bytes, size, p->flag == 1, &image) != 0)
        return NULL;
    made = mxl_array_new(MXL_U8, 3, (int64_t[]){image.rows, image.columns, image.channels});
    if (made != NULL) {
        uint8_t *to = mxl_array_write(made);

        memcpy(to, image.bytes, image.size);
        for (size_t i = 0; image.channels == 3 && !p->to_rgb && i < image.size; i += 3) {
            to[i] = image.bytes[i + 2];
            to[i + 2] = image.bytes[i];
        }
    }
    mxl_bitmap_clear(&image);
    return mxl_scope_own(s, made);
}

static mxl_array *decode_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *bytes = call->in[0], *made;

    if (bytes->dtype != MXL_U8)
        return mxl_error_null("%s: the bytes must be uint8, got %s", call->op->name,
                              mxl_dtype_name(bytes->dtype));
    bytes = mxl_scope_own(s, mxl_array_contiguous(bytes));
    if (bytes == NULL)
        return NULL;
    made = decoded(s, call->params, mxl_array_read(bytes), (size_t)bytes->size);
    if (made == NULL)
        mxl_error_put_before(call->op->name);
    return made;
}

static mxl_array *read_compose(mxl_scope *s, const mxl_call *call)
{
    const read_params *p = call->params;
    mxl_array *made = NULL;
    mxl_content content;

    if (mxl_content_read(p->filename, &content) == 0) {
        made = decoded(s, p, content.bytes, content.size);
        if (made == NULL)
            mxl_error_put_before(p->filename);
        mxl_content_free(&content);
    }
    if (made == NULL)
        mxl_error_put_before(call->op->name);
    return made;
}

#define READ_PARAMS                                                                                \
    MXL_PARAM(read_params, flag, MXL_P_INT, "1", "0: gray, one channel; 1: colour, three."),       \
        MXL_PARAM(read_params, to_rgb, MXL_P_BOOL, "1",                                            \
                  "Whether the channels are red, green, blue, not blue, green, red.")

static const mxl_op op_decode = {
    .name = "_cvimdecode",
    .aliases = MXL_ALIASES("_npi_cvimdecode"),
    .doc = "The pixels (rows, columns, channels), uint8, of the bytes of a PNG or JPEG.",
    MXL_INPUTS(MXL_INPUT(buf, "The bytes of the file, uint8.", .type_text = "NDArray")),
    MXL_PARAMS_OF(read_params, READ_PARAMS),
    .compose = decode_compose,
    .by_values = 1,
    .dtypes = "u>u",
};

static const mxl_op op_read = {
    .name = "_cvimread",
    .aliases = MXL_ALIASES("_npi_cvimread"),
    .doc = "The pixels (rows, columns, channels), uint8, of a PNG or JPEG.",
    MXL_INPUTS({0}),
    MXL_PARAMS_OF(read_params,
                  MXL_PARAM(read_params, filename, MXL_P_STRING, .doc = "Path of the file."),
                  READ_PARAMS),
    .compose = read_compose,
    .dtypes = ">u",
};

/* ---- _cvimresize ---- */

typedef struct size_params {
    int64_t w, h, interp;
} size_params;

enum { LARGEST = INT32_MAX };

static int check_size(void *params)
{
    const size_params *p = params;

    if (p->w > LARGEST || p->h > LARGEST)
        return mxl_error("_cvimresize: w and h must be less than 2^31, got %lld and %lld",
                         (long long)p->w, (long long)p->h);
    if (p->interp < MXL_NEAREST || p->interp > MXL_LINEAR_EXACT)
        return mxl_error(
            "_cvimresize: interp must be 0 (nearest), 1 or 5 (linear), 2 (cubic), 3 (area) or 4 "
            "(Lanczos), got %lld",
            (long long)p->interp);
    return 0;
}

/* One image, which has pixels. */
static int check_image(const mxl_infer *infer)
{
    const mxl_array *x = infer->in[0];

    if (x->ndim != 3)
        return mxl_error("%s: an image has 3 axes, got %d", infer->op->name, x->ndim);
    if (x->shape[0] > LARGEST || x->shape[1] > LARGEST)
        return mxl_error("%s: an image of shape %s is too large", infer->op->name, MXL_SHAPE_OF(x));
    if (x->size == 0)
        return mxl_error("%s: an image of shape %s has no pixels", infer->op->name,
                         MXL_SHAPE_OF(x));
    return 0;
}

static int size_infer(mxl_infer *infer)
{
    const size_params *p = infer->params;
    const mxl_array *x = infer->in[0];

    if (check_image(infer) != 0)
        return -1;
    if (x->dtype != MXL_U8 && x->dtype != MXL_F32 && x->dtype != MXL_F64)
        return mxl_error("%s: takes uint8, float32 or float64, got %s", infer->op->name,
                         mxl_dtype_name(x->dtype));
    return mxl_infer_set(infer, x->dtype, 3, (int64_t[]){p->h, p->w, x->shape[2]});
}

static int size_compute(const mxl_call *call)
{
    const size_params *p = call->params;
    const mxl_array *x = call->in[0];
    mxl_interpolation how = (mxl_interpolation)p->interp;
    mxl_image_taps taps[2];
    int status;

    if (mxl_image_taps_make(how, x->shape, call->out[0]->shape, taps) != 0)
        return -1;
    status = mxl_image_resize(x->dtype, how, taps, 1, x->shape[2], mxl_array_read(x),
                              mxl_array_write(call->out[0]));
    mxl_image_taps_free(taps);
    return status;
}

static const mxl_op op_size = {
    .name = "_cvimresize",
    .aliases = MXL_ALIASES("_npi_cvimresize"),
    .numbers_inputs = true,
    .doc = "An image in another size.",
    MXL_INPUTS(MXL_INPUT(src,
                         "An image, (rows, columns, channels), of uint8, float32 or "
                         "float64.",
                         .type_text = "NDArray")),
    MXL_PARAMS_OF(size_params,
                  MXL_PARAM(size_params, w, MXL_P_INT, .doc = "Columns of the result.", .min = 1,
                            .has_min = true),
                  MXL_PARAM(size_params, h, MXL_P_INT, .doc = "Rows of the result.", .min = 1,
                            .has_min = true),
                  MXL_PARAM(size_params, interp, MXL_P_INT, "1",
                            "The method: 0 nearest, 1 and 5 linear, 2 cubic, 3 area, 4 Lanczos.")),
    .check = check_size,
    .infer = size_infer,
    .compute = size_compute,
};

/* ---- _cvcopyMakeBorder ---- */

typedef struct border_params {
    int64_t top, bot, left, right, type;
    double value;
    mxl_floats values;
} border_params;

/* Types of borders, numbers as in OpenCV. ISOLATED may be added: it means something only for a part
 * of an image. 1.9.1's Python gives 16, an isolated constant, to pad images with their boxes. */
enum { CONSTANT, REPLICATE, REFLECT, WRAP, REFLECT_101, ISOLATED = 16 };

static int64_t type_of(const border_params *p)
{
    return p->type - (p->type >= ISOLATED ? ISOLATED : 0);
}

static int check_border(void *params)
{
    const border_params *p = params;
    const int64_t widths[] = {p->top, p->bot, p->left, p->right};

    for (int i = 0; i < 4; i++)
        if (widths[i] < 0 || widths[i] > LARGEST)
            return mxl_error(
                "_cvcopyMakeBorder: top, bot, left and right must be from 0 to 2^31 - 1, got %lld",
                (long long)widths[i]);
    if (type_of(p) < CONSTANT || type_of(p) > REFLECT_101)
        return mxl_error("_cvcopyMakeBorder: type must be 0 (a constant), 1 (the last pixel), 2 or "
                         "4 (mirrored, with or without the last pixel) or 3 (the other side), or "
                         "16 more, got %lld",
                         (long long)p->type);
    return 0;
}

static int border_infer(mxl_infer *infer)
{
    const border_params *p = infer->params;
    const mxl_array *x = infer->in[0];

    if (check_image(infer) != 0)
        return -1;
    if (x->dtype == MXL_BOOL)
        return mxl_error("%s: bool has no borders", infer->op->name);
    return mxl_infer_set(
        infer, x->dtype, 3,
        (int64_t[]){x->shape[0] + p->top + p->bot, x->shape[1] + p->left + p->right, x->shape[2]});
}

/* The position of an axis of n that is seen at position i, which may be outside; -1: a constant. */
static int64_t seen_at(int64_t i, int64_t n, int64_t type)
{
    int64_t period = type == WRAP ? n : type == REFLECT ? 2 * n : n > 1 ? 2 * n - 2 : 1;

    if (i >= 0 && i < n)
        return i;
    if (type == CONSTANT)
        return -1;
    if (type == REPLICATE)
        return i < 0 ? 0 : n - 1;
    i %= period;
    i += i < 0 ? period : 0;
    if (i < n)
        return i;
    return type == REFLECT ? period - 1 - i : period - i;
}

/* Writes a number as an element; integers are rounded, half to even, and end at their range. */
static void put_number(int dtype, double value, char *to)
{
    double whole = nearbyint(value);
    int64_t integer = whole <= -0x1p63 ? INT64_MIN : whole >= 0x1p63 ? INT64_MAX : (int64_t)whole;
    int64_t most = dtype == MXL_U8    ? UINT8_MAX
                   : dtype == MXL_I8  ? INT8_MAX
                   : dtype == MXL_I32 ? INT32_MAX
                                      : INT64_MAX;
    int64_t least = dtype == MXL_U8 ? 0 : -most - 1;
    float single = (float)value;

    integer = integer < least ? least : integer > most ? most : integer;
    if (dtype == MXL_F64) {
        memcpy(to, &value, sizeof(value));
    } else if (dtype == MXL_F32) {
        memcpy(to, &single, sizeof(single));
    } else if (dtype == MXL_F16) {
        uint16_t half = mxl_half_from_float(single);

        memcpy(to, &half, sizeof(half));
    } else {
        memcpy(to, &integer, mxl_dtype_size(dtype)); /* the lowest bytes */
    }
}

/* A pixel of the constant: a value for each channel, 0 for those without, or one for all. */
static void put_constant(const border_params *p, int dtype, int64_t channels, char *to)
{
    for (int64_t c = 0; c < channels; c++, to += mxl_dtype_size(dtype)) {
        double value = p->values.n <= 0 ? p->value : c < p->values.n ? p->values.v[c] : 0;

        put_number(dtype, value, to);
    }
}

static int border_compute(const mxl_call *call)
{
    const border_params *p = call->params;
    const mxl_array *x = call->in[0];
    mxl_array *out = call->out[0];
    size_t pixel = (size_t)x->shape[2] * mxl_dtype_size(x->dtype);
    const char *from = mxl_array_read(x);
    char *to = mxl_array_write(out), *constant = mxl_alloc(pixel);

    if (constant == NULL)
        return -1;
    put_constant(p, x->dtype, x->shape[2], constant);
    for (int64_t y = 0; y < out->shape[0]; y++) {
        int64_t row = seen_at(y - p->top, x->shape[0], type_of(p));

        for (int64_t i = 0; i < out->shape[1]; i++, to += pixel) {
            int64_t column = seen_at(i - p->left, x->shape[1], type_of(p));

            if (row < 0 || column < 0)
                memcpy(to, constant, pixel);
            else
                memcpy(to, from + (size_t)(row * x->shape[1] + column) * pixel, pixel);
        }
    }
    mxl_free(constant, pixel);
    return 0;
}

static const mxl_op op_border = {
    .name = "_cvcopyMakeBorder",
    .numbers_inputs = true,
    .doc = "An image with more pixels around it.",
    MXL_INPUTS(MXL_INPUT(src, "An image, (rows, columns, channels).", .type_text = "NDArray")),
    MXL_PARAMS_OF(
        border_params, MXL_PARAM(border_params, top, MXL_P_INT, .doc = "Rows above."),
        MXL_PARAM(border_params, bot, MXL_P_INT, .doc = "Rows below."),
        MXL_PARAM(border_params, left, MXL_P_INT, .doc = "Columns on the left."),
        MXL_PARAM(border_params, right, MXL_P_INT, .doc = "Columns on the right."),
        MXL_PARAM(border_params, type, MXL_P_INT, "0",
                  "What they hold: 0 a constant, 1 the last pixel, 2 the image mirrored, "
                  "3 its other side, 4 mirrored without the last pixel; 16 more means the same."),
        MXL_PARAM(border_params, value, MXL_P_FLOAT, "0", "The constant.", .type_name = "double"),
        MXL_PARAM(border_params, values, MXL_P_FLOATS, "[]",
                  "The constant of each channel, in place of `value`.",
                  .type_name = "tuple of <double>")),
    .check = check_border,
    .infer = border_infer,
    .compute = border_compute,
};

const mxl_op *const mxl_ops_cv[] = {&op_decode, &op_read, &op_size, &op_border, NULL};
