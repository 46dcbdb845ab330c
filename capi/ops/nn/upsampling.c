/* Larger images and parts of images: UpSampling and Crop. Both are written with other operators. */
#include <stddef.h>

#include "op/shapes/shapes.h"
#include "ops/elementwise/elementwise.h"
#include "ops/nn/images.h"
#include "ops/shape/movement.h"

/* ---- UpSampling ---- */

enum { TYPE_BILINEAR, TYPE_NEAREST };
enum { JOIN_CONCAT, JOIN_SUM };

typedef struct upsampling_params {
    int64_t scale;
    int64_t num_filter;
    int sample_type;
    int multi_input_mode;
    int64_t num_args;
    int64_t workspace;
} upsampling_params;

static const char *const sample_types[] = {"bilinear", "nearest", NULL};
static const char *const input_modes[] = {"concat", "sum", NULL};

/* How many inputs there are to be: a prepared call counts those that it is given, maybe none. */
static int at_least_one(int64_t num_args)
{
    return num_args < 1 ? 1 : (int)num_args;
}

static int upsampling_arity(const void *params, mxl_arity *arity)
{
    const upsampling_params *p = params;

    arity->inputs = p->sample_type == TYPE_BILINEAR ? 2 : at_least_one(p->num_args);
    return 0;
}

static int upsampling_check(void *params)
{
    const upsampling_params *p = params;

    if (p->scale > 1 << 20)
        return mxl_error("UpSampling: scale must be from 1 to %d, got %lld", 1 << 20,
                         (long long)p->scale);
    if (p->num_args > MXL_TUPLE_MOST)
        return mxl_error("UpSampling: num_args is too large");
    return 0;
}

/* The size of the windows into which a pixel is spread. */
static int64_t spread_width(const upsampling_params *p)
{
    return 2 * p->scale - p->scale % 2;
}

/* Whether input i becomes images of the size of `out`. */
static int check_scaled(const mxl_array *x, const mxl_shape *out, bool sums)
{
    int64_t times = x->shape[2] > 0 ? out->dim[2] / x->shape[2] : 1;

    if (mxl_check_images("UpSampling", x) != 0)
        return -1;
    if (x->size < 0 || mxl_shape_size(4, out->dim) < 0)
        return 0;
    if (x->shape[2] * times != out->dim[2] || x->shape[3] * times != out->dim[3])
        return mxl_error("UpSampling: images of %lld x %lld cannot become %lld x %lld",
                         (long long)x->shape[2], (long long)x->shape[3], (long long)out->dim[2],
                         (long long)out->dim[3]);
    if (x->shape[0] != out->dim[0] || (sums && x->shape[1] != out->dim[1]))
        return mxl_error("UpSampling: inputs must agree in %s, got %s",
                         sums ? "batch and channels" : "batch", MXL_SHAPE_OF(x));
    return 0;
}

static int upsampling_infer(mxl_infer *infer)
{
    const upsampling_params *p = infer->params;
    const mxl_array *x = infer->in[0];
    mxl_shape *out = &infer->out_shape[0];
    bool sums = p->multi_input_mode == JOIN_SUM;

    if (p->sample_type == TYPE_BILINEAR)
        return mxl_infer_said(infer);
    if (mxl_check_images("UpSampling", x) != 0 || mxl_check_float(infer->op, x) != 0)
        return -1;
    for (int i = 1; i < infer->num_inputs; i++) {
        if (mxl_check_dtypes(infer->op, x, infer->in[i]) != 0)
            return -1;
    }
    if (x->shape[2] > INT32_MAX || x->shape[3] > INT32_MAX)
        return mxl_error("UpSampling: an image may have up to %d rows and columns", (int)INT32_MAX);
    (void)mxl_infer_set(
        infer, x->dtype, 4,
        (int64_t[]){x->shape[0], x->shape[1], x->shape[2] * p->scale, x->shape[3] * p->scale});
    for (int i = 1; i < infer->num_inputs; i++) {
        if (mxl_check_images("UpSampling", infer->in[i]) != 0 ||
            check_scaled(infer->in[i], out, sums) != 0)
            return -1;
    }
    for (int i = 1; i < infer->num_inputs && !sums; i++)
        out->dim[1] += infer->in[i]->shape[1];
    return 0;
}

/* Each pixel times the weights of its channel, added where its window is. */
static mxl_array *spread_pixels(mxl_scope *s, const upsampling_params *p, mxl_array *x,
                                mxl_array *weight)
{
    int64_t n = x->shape[0], channels = x->shape[1], pixels = x->shape[2] * x->shape[3];
    int64_t width = spread_width(p), area = width * width;
    const int64_t size[2] = {x->shape[2] * p->scale, x->shape[3] * p->scale};
    mxl_array *spread;

    if (n * channels * pixels == 0)
        return mxl_resample_nearest(s, x, size[0], size[1]);
    x = mxl_reshape(s, x, 4, (int64_t[]){n, channels, 1, pixels});
    weight = mxl_reshape(s, weight, 4, (int64_t[]){1, channels, area, 1});
    spread = mxl_reshape(s, mxl_mul(s, x, weight), 3, (int64_t[]){n, channels * area, pixels});
    return mxl_col2im(s, spread, width, p->scale, p->scale / 2, size);
}

static mxl_array *upsampling_compose(mxl_scope *s, const mxl_call *call)
{
    const upsampling_params *p = call->params;
    mxl_array *const *in = call->in, *all = NULL;
    int64_t rows = in[0]->shape[2] * p->scale, columns = in[0]->shape[3] * p->scale;

    if (p->sample_type == TYPE_BILINEAR)
        return spread_pixels(s, p, in[0], in[1]);
    for (int i = 0; i < call->num_inputs; i++) {
        mxl_array *pair[2] = {all, mxl_resample_nearest(s, in[i], rows, columns)};

        if (pair[1] == NULL)
            return NULL;
        all = i == 0                               ? pair[1]
              : p->multi_input_mode == JOIN_CONCAT ? mxl_concat(s, 2, pair, 1)
                                                   : mxl_add(s, pair[0], pair[1]);
    }
    return all;
}

#define FIELD(field, kind, text, ...) MXL_PARAM(upsampling_params, field, kind, text, __VA_ARGS__)

static int window(const mxl_size_ask *ask, int64_t *size)
{
    *size = spread_width(ask->params);
    return 0;
}

/* Of nearest no text says how inputs become equally large. */
static const char *upsampling_shapes(const void *params)
{
    return ((const upsampling_params *)params)->sample_type == TYPE_BILINEAR ? NULL : ".* -> .";
}

static const char *upsampling_input(const void *params, int i)
{
    if (((const upsampling_params *)params)->sample_type != TYPE_BILINEAR)
        return NULL;
    return i == 0 ? "data" : "weight";
}

static const char *upsampling_first_value(const void *params, int i)
{
    (void)params;
    return i == 1 ? "[\"bilinear\", {}]" : NULL;
}

static const mxl_op op_upsampling = {
    .name = "UpSampling",
    .output_names = "output",
    .doc = "Images that are `scale` times as large. nearest: each pixel becomes a square; several "
           "inputs become equally large. bilinear: each pixel is spread over a window of weights.",
    MXL_INPUTS(MXL_INPUT(data, "Images (batch, channels, rows, columns) of a floating dtype; for "
                               "bilinear the images, and weights (channels, 1, k, k) with k = 2 * "
                               "scale - scale % 2.")),
    MXL_PARAMS_OF(upsampling_params,
                  FIELD(scale, MXL_P_INT, MXL_REQUIRED,
                        "How many times as large the first input "
                        "becomes.",
                        MXL_AT_LEAST(1)),
                  FIELD(num_filter, MXL_P_INT, "0", "Only for bilinear: the number of channels."),
                  FIELD(sample_type, MXL_P_ENUM, MXL_REQUIRED, "How pixels become larger.",
                        .values = sample_types, .type_text = "{'bilinear', 'nearest'}, required"),
                  FIELD(multi_input_mode, MXL_P_ENUM, "concat",
                        "Whether the channels of several inputs follow each other, or are added.",
                        .values = input_modes),
                  FIELD(num_args, MXL_P_INT, MXL_REQUIRED, "Number of inputs.", MXL_AT_LEAST(1)),
                  FIELD(workspace, MXL_P_INT, "512", "Of no effect here.",
                        .type_text = "long (non-negative), optional, default=512",
                        MXL_AT_LEAST(0))),
    .key_var_num_args = "num_args",
    .arity = upsampling_arity,
    .check = upsampling_check,
    .first_value = upsampling_first_value,
    .infer = upsampling_infer,
    MXL_SHAPES_TABLE("data[N,num_filter,H,W] weight[num_filter,1,window(scale),window(scale)] -> "
                     "[N,num_filter,H*scale,W*scale]"),
    .shapes_of = upsampling_shapes,
    .size_functions = (const mxl_size_function[]){{"window", window, NULL}, {0}},
    .dtypes = "F*>F",
    .compose = upsampling_compose,
    .input_name = upsampling_input,
};

/* ---- Crop ---- */

typedef struct crop_params {
    int64_t num_args;
    mxl_tuple offset, h_w;
    int center_crop;
} crop_params;

static int crop_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = at_least_one(((const crop_params *)params)->num_args);
    return 0;
}

static int crop_check(void *params)
{
    const crop_params *p = params;

    if (p->num_args > 2)
        return mxl_error("Crop: num_args must be 1 or 2, got %lld", (long long)p->num_args);
    if (p->offset.n != 2 || p->h_w.n != 2)
        return mxl_error("Crop: offset and h_w must have two entries, got %d and %d", p->offset.n,
                         p->h_w.n);
    return 0;
}

/* The size of the part along spatial axis i, and where it begins. */
static int64_t crop_size(const crop_params *p, int num_inputs, mxl_array *const *in, int i)
{
    return num_inputs > 1 ? in[1]->shape[2 + i] : p->h_w.v[i];
}

static int64_t crop_begin(const crop_params *p, const mxl_array *x, int64_t size, int i)
{
    return p->center_crop ? (x->shape[2 + i] - size) / 2 : p->offset.v[i];
}

static int crop_infer(mxl_infer *infer)
{
    const crop_params *p = infer->params;
    const mxl_array *x = infer->in[0];
    int64_t shape[4];

    if (mxl_check_images("Crop", x) != 0 ||
        (infer->num_inputs > 1 && mxl_check_images("Crop", infer->in[1]) != 0))
        return -1;
    shape[0] = x->shape[0];
    shape[1] = x->shape[1];
    for (int i = 0; i < 2; i++) {
        int64_t size = crop_size(p, infer->num_inputs, infer->in, i), begin;

        if (mxl_size_below(size, 1) || mxl_size_below(x->shape[2 + i], size))
            return mxl_error("Crop: the size must be from 1 to %lld, got %lld",
                             (long long)x->shape[2 + i], (long long)size);
        begin = crop_begin(p, x, size, i);
        if (size >= 0 && x->shape[2 + i] >= 0 && (begin < 0 || begin > x->shape[2 + i] - size))
            return mxl_error("Crop: the offset must be from 0 to %lld, got %lld",
                             (long long)(x->shape[2 + i] - size), (long long)begin);
        shape[2 + i] = size;
    }
    return mxl_infer_set(infer, x->dtype, 4, shape);
}

static mxl_array *crop_compose(mxl_scope *s, const mxl_call *call)
{
    const crop_params *p = call->params;
    const mxl_array *x = call->in[0];
    mxl_array *part = call->in[0];

    for (int i = 0; i < 2; i++) {
        int64_t size = crop_size(p, call->num_inputs, call->in, i);
        int64_t begin = crop_begin(p, x, size, i);

        part = mxl_slice_axis(s, part, 2 + i, begin, begin + size);
    }
    return part;
}

static const mxl_op op_crop = {
    .name = "Crop",
    .output_names = "output",
    .doc = "A rectangle of each image.",
    MXL_INPUTS(MXL_INPUT(data,
                         "Images (batch, channels, rows, columns); a second array has the "
                         "size of the rectangle, and a gradient of zero.",
                         .type_text = "Symbol or Symbol[]")),
    MXL_PARAMS_OF(crop_params,
                  MXL_PARAM(crop_params, num_args, MXL_P_INT, MXL_REQUIRED,
                            "Number of inputs, 1 or 2.", MXL_AT_LEAST(1)),
                  MXL_PARAM(crop_params, offset, MXL_P_SHAPE, "[0,0]",
                            "First row and column of the rectangle.",
                            .type_text = "Shape(tuple), optional, default=[0,0]"),
                  MXL_PARAM(crop_params, h_w, MXL_P_SHAPE, "[0,0]",
                            "Rows and columns of the rectangle, of one input.",
                            .type_text = "Shape(tuple), optional, default=[0,0]"),
                  MXL_PARAM(crop_params, center_crop, MXL_P_BOOL, "0",
                            "Whether the rectangle is in the middle, whatever the offset.")),
    .key_var_num_args = "num_args",
    .arity = crop_arity,
    .check = crop_check,
    .infer = crop_infer,
    .dtypes = "Ae>A",
    .compose = crop_compose,
};

const mxl_op *const mxl_ops_upsampling[] = {&op_upsampling, &op_crop, NULL};
