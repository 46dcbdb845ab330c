/* Regions of images in bins: _contrib_ROIAlign, _contrib_RROIAlign (means of samples, linear in the
 * images) and ROIPooling (maxima). Each has an operator that puts gradients back, and whose vjp
 * takes them from there again. The gradient of regions is zero. */
#include "kernel/spatial/roi.h"

#include <float.h>
#include <stddef.h>

#include "ops/nn/images.h"
#include "ops/nn/wide.h"
#include "ops/vision/vision.h"

typedef struct roi_params {
    mxl_tuple pooled_size;
    double spatial_scale;
    int64_t ratio;
    int position_sensitive;
    int aligned;
    int rotated;     /* of the internal operators */
    mxl_tuple shape; /* of data, of _mxl_roi_align_back */
} roi_params;

/* ---- regions ---- */

static int check_params(const char *name, const roi_params *p)
{
    if (p->pooled_size.n != 2 || p->pooled_size.v[0] < 1 || p->pooled_size.v[1] < 1 ||
        p->pooled_size.v[0] > INT32_MAX || p->pooled_size.v[1] > INT32_MAX)
        return mxl_error("%s: pooled_size must have two entries from 1 to %d", name,
                         (int)INT32_MAX);
    if (!(p->spatial_scale >= 0 && p->spatial_scale <= 1))
        return mxl_error("%s: spatial_scale must be from 0 to 1, got %g", name, p->spatial_scale);
    return 0;
}

int mxl_check_regions(const mxl_infer *infer, const mxl_array *x, int64_t columns)
{
    const mxl_array *regions = infer->in[1];

    if (mxl_check_images(infer->op->name, x) != 0 || mxl_check_float(infer->op, x) != 0 ||
        mxl_check_dtypes(infer->op, x, regions) != 0)
        return -1;
    if (regions->ndim != 2 || mxl_sizes_differ(regions->shape[1], columns))
        return mxl_error("%s: rois must have shape (regions, %lld), got %s", infer->op->name,
                         (long long)columns, MXL_SHAPE_OF(regions));
    return 0;
}

int mxl_bins_back_infer(mxl_infer *infer, mxl_tuple images,
                        int (*bins)(mxl_infer *infer, const mxl_array *x))
{
    const mxl_array *dy = infer->in[0];
    const mxl_shape *out = &infer->out_shape[0];
    mxl_array like = {.dtype = dy->dtype, .ndim = images.n};
    int64_t shape[4] = {0};

    if (images.n != 4 || mxl_shape_count(4, images.v) < 0)
        return mxl_error("%s: shape is none of images", infer->op->name);
    for (int i = 0; i < 4; i++)
        shape[i] = images.v[i];
    like.shape = shape;
    if (bins(infer, &like) != 0)
        return -1;
    if (!mxl_shape_same(dy->ndim, dy->shape, out->ndim, out->dim))
        return mxl_error("%s: data has shape %s, the bins have %s", infer->op->name,
                         MXL_SHAPE_OF(dy), MXL_SHAPE_TEXT(out->ndim, out->dim));
    return mxl_infer_to(infer, images);
}

int mxl_bins_grad(mxl_grad *g, const mxl_op *other, const void *params)
{
    mxl_array *inputs[2] = {g->grad_output[0], mxl_grad_in(g, 1)};

    return mxl_grad_set(g, 0, mxl_scope_call(g->s, other, params, 2, inputs));
}

/* The channels of the result for those of the images; -1 with the error set. */
static int64_t pooled_channels(const char *name, const roi_params *p, int64_t channels)
{
    int64_t bins = p->pooled_size.v[0] * p->pooled_size.v[1];

    if (!p->position_sensitive || channels < 0)
        return channels;
    if (channels % bins != 0)
        return mxl_error("%s: the number of channels must be a multiple of %lld, got %lld", name,
                         (long long)bins, (long long)channels);
    return channels / bins;
}

static const mxl_op op_align, op_rotated, op_align_back;

static bool is_rotated(const mxl_op *op, const roi_params *p)
{
    return op == &op_rotated || (op == &op_align_back && p->rotated);
}

/* Sets the shape of the results of images like x. */
static int set_pooled(mxl_infer *infer, const mxl_array *x)
{
    const roi_params *p = infer->params;
    int64_t channels;

    if (check_params(infer->op->name, p) != 0 ||
        mxl_check_regions(infer, x, is_rotated(infer->op, p) ? 6 : 5) != 0)
        return -1;
    channels = pooled_channels(infer->op->name, p, x->shape[1]);
    if (x->shape[1] >= 0 && channels < 0)
        return -1;
    return mxl_infer_set(
        infer, x->dtype, 4,
        (int64_t[]){infer->in[1]->shape[0], channels, p->pooled_size.v[0], p->pooled_size.v[1]});
}

static mxl_roi roi_of(const roi_params *p, bool rotated, int dtype, const int64_t *images,
                      int64_t regions)
{
    return (mxl_roi){.dtype = dtype,
                     .rotated = rotated,
                     .aligned = p->aligned,
                     .sensitive = p->position_sensitive,
                     .batch = images[0],
                     .channels = pooled_channels("", p, images[1]),
                     .height = images[2],
                     .width = images[3],
                     .regions = regions,
                     .rows = p->pooled_size.v[0],
                     .columns = p->pooled_size.v[1],
                     .ratio = p->ratio,
                     .scale = p->spatial_scale};
}

#define FIELD(field, kind, text, ...) MXL_PARAM(roi_params, field, kind, text, __VA_ARGS__)
#define ROI_PARAMS                                                                                 \
    FIELD(pooled_size, MXL_P_SHAPE, MXL_REQUIRED, "Rows and columns of bins of each region."),     \
        FIELD(spatial_scale, MXL_P_FLOAT, MXL_REQUIRED,                                            \
              "Factor of the regions' coordinates, 0 to 1.")
#define RATIO(name)                                                                                \
    MXL_PARAM_AS(name, roi_params, ratio, MXL_P_INT, "-1",                                         \
                 "Samples of a bin along each axis; 0 or less: one for each pixel.")
#define ALIGN_PARAMS                                                                               \
    ROI_PARAMS, RATIO("sample_ratio"),                                                             \
        FIELD(position_sensitive, MXL_P_BOOL, "0",                                                 \
              "Whether each bin reads a channel of its own."),                                     \
        FIELD(aligned, MXL_P_BOOL, "0",                                                            \
              "Whether pixels have their coordinates in the middle, and regions may be smaller "   \
              "than a pixel.")
#define IMAGES MXL_INPUT(data, "Images (batch, channels, rows, columns) of a floating dtype.")
#define REGIONS                                                                                    \
    MXL_INPUT(rois, "(regions, 5), of the dtype of data: the number of an image, then left, top, " \
                    "right and bottom of the region.")

/* ---- means of samples ---- */

static int align_infer(mxl_infer *infer)
{
    return set_pooled(infer, infer->in[0]);
}

static int back_infer(mxl_infer *infer)
{
    return mxl_bins_back_infer(infer, ((const roi_params *)infer->params)->shape, set_pooled);
}

static int align_compute(const mxl_call *call)
{
    bool puts = call->op == &op_align_back;
    const mxl_array *images = puts ? call->out[0] : call->in[0];
    mxl_wide wide;
    mxl_roi r;
    int status;

    if (mxl_wide_begin(&wide, call) != 0)
        return -1;
    r = roi_of(call->params, is_rotated(call->op, call->params), wide.dtype, images->shape,
               call->in[1]->shape[0]);
    status = (puts ? mxl_roi_align_back : mxl_roi_align)(
        &r, mxl_array_read(wide.in[1]), mxl_array_read(wide.in[0]), mxl_array_write(wide.out));
    return mxl_wide_end(&wide, status == 0 ? 0 : mxl_error_prefix(call->op->name));
}

static int align_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    roi_params p = *(const roi_params *)g->params;
    const mxl_op *op = g->op != &op_align_back ? &op_align_back
                       : p.rotated             ? &op_rotated
                                               : &op_align;

    if (!mxl_grad_wants(g, 0))
        return 0;
    p.rotated = is_rotated(g->op, &p);
    p.shape = (mxl_tuple){x->ndim, x->shape};
    return mxl_bins_grad(g, op, &p);
}

static const mxl_op op_align = {
    .name = "_contrib_ROIAlign",
    .doc = "Regions of images in bins, each the mean of bilinear samples.",
    MXL_INPUTS(IMAGES, REGIONS),
    MXL_PARAMS_OF(roi_params, ALIGN_PARAMS),
    .infer = align_infer,
    .compute = align_compute,
    .grad = align_grad,
    .saves = mxl_saves_index,
};

static const mxl_op op_rotated = {
    .name = "_contrib_RROIAlign",
    .doc = "Rotated regions of images in bins, each the mean of bilinear samples.",
    MXL_INPUTS(IMAGES, MXL_INPUT(rois, "(regions, 6), of the dtype of data: the number of an "
                                       "image, column and row of the region's centre, its width, "
                                       "height and angle in degrees.")),
    MXL_PARAMS_OF(roi_params, ROI_PARAMS, RATIO("sampling_ratio")),
    .infer = align_infer,
    .compute = align_compute,
    .grad = align_grad,
    .saves = mxl_saves_index,
};

static const mxl_op op_align_back = {
    .name = "_mxl_roi_align_back",
    .doc = "Images of zeros to which each bin is added where its samples are.",
    MXL_INPUTS(MXL_INPUT(data, "Bins of regions."), MXL_INPUT(rois, "The regions.")),
    MXL_PARAMS_OF(roi_params, ALIGN_PARAMS,
                  FIELD(rotated, MXL_P_BOOL, "0", "Whether the regions are rotated."),
                  FIELD(shape, MXL_P_SHAPE, MXL_REQUIRED, "Shape of the images.")),
    .infer = back_infer,
    .compute = align_compute,
    .grad = align_grad,
    .saves = mxl_saves_index,
};

/* ---- maxima ---- */

static const mxl_op op_pool, op_pool_back, op_pool_pick;

static int pool_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0], *moved = infer->in[infer->num_inputs - 1];
    const mxl_shape *out = &infer->out_shape[0];

    if (set_pooled(infer, x) != 0)
        return -1;
    if (infer->op == &op_pool)
        return 0;
    if (mxl_check_dtypes(infer->op, x, moved) != 0)
        return -1;
    if (infer->op == &op_pool_pick ? !mxl_array_same_shape(x, moved)
                                   : !mxl_shape_same(moved->ndim, moved->shape, 4, out->dim))
        return mxl_error("%s: an array of shape %s does not fit", infer->op->name,
                         MXL_SHAPE_OF(moved));
    return infer->op == &op_pool_pick ? 0 : mxl_infer_like_first(infer);
}

static int pool_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0];
    const double lowest = -(double)FLT_MAX; /* of every dtype, as in 1.9.1 */
    const void *images, *regions, *moved;
    mxl_wide wide;
    mxl_roi r;
    int status;
    void *y;

    if (mxl_wide_begin(&wide, call) != 0)
        return -1;
    r = roi_of(call->params, false, wide.dtype, x->shape, call->in[1]->shape[0]);
    images = mxl_array_read(wide.in[0]);
    regions = mxl_array_read(wide.in[1]);
    moved = call->op == &op_pool ? NULL : mxl_array_read(wide.in[2]);
    y = mxl_array_write(wide.out);
    if (call->op == &op_pool)
        status = mxl_roi_pool(&r, lowest, regions, images, y);
    else if (call->op == &op_pool_back)
        status = mxl_roi_pool_back(&r, lowest, regions, images, moved, y);
    else
        status = mxl_roi_pool_pick(&r, lowest, regions, images, moved, y);
    return mxl_wide_end(&wide, status == 0 ? 0 : mxl_error_prefix(call->op->name));
}

/* dx = zeros with dy at the largest elements */
static int pool_grad(mxl_grad *g)
{
    mxl_array *inputs[3];

    if (!mxl_grad_wants(g, 0))
        return 0;
    inputs[0] = mxl_grad_decides(g, 0);
    inputs[1] = mxl_grad_in(g, 1);
    inputs[2] = g->grad_output[0];
    return mxl_grad_set(g, 0, mxl_scope_call(g->s, &op_pool_back, g->params, 3, inputs));
}

static void pool_saves(mxl_saves *saves)
{
    saves->in[0] = saves->in[1] = saves->wants[saves->num_inputs > 2 ? 2 : 0];
}

/* The vjp with respect to what is moved is the other operator. */
static int moved_grad(mxl_grad *g)
{
    const mxl_op *op = g->op == &op_pool_back ? &op_pool_pick : &op_pool_back;
    mxl_array *inputs[3];

    if (!mxl_grad_wants(g, 2))
        return 0;
    inputs[0] = mxl_grad_in(g, 0);
    inputs[1] = mxl_grad_in(g, 1);
    inputs[2] = g->grad_output[0];
    return mxl_grad_set(g, 2, mxl_scope_call(g->s, op, g->params, 3, inputs));
}

static const mxl_op op_pool = {
    .name = "ROIPooling",
    .aliases = MXL_ALIASES("_npx_roi_pooling"),
    .doc = "Regions of images in bins, each its largest pixel; 0 for a bin outside of the image.",
    MXL_INPUTS(IMAGES, REGIONS),
    MXL_PARAMS_OF(roi_params, ROI_PARAMS),
    .output_names = "output maxidx",
    .total_outputs = 2,
    .infer = pool_infer,
    .compute = pool_compute,
    .grad = pool_grad,
    .saves = pool_saves,
};

#define MOVED(id, op_name, other, text)                                                            \
    static const mxl_op op_##id = {                                                                \
        .name = op_name,                                                                           \
        .doc = text,                                                                               \
        MXL_INPUTS(MXL_INPUT(data, "Images with maxima."), MXL_INPUT(rois, "The regions."),        \
                   MXL_INPUT(moved, other)),                                                       \
        MXL_PARAMS_OF(roi_params, ROI_PARAMS),                                                     \
        .infer = pool_infer,                                                                       \
        .compute = pool_compute,                                                                   \
        .grad = moved_grad,                                                                        \
        .saves = pool_saves,                                                                       \
    }

MOVED(pool_back, "_mxl_roi_pool_back", "An element for each bin.",
      "Images of zeros with elements added where the bins of data have the first of their largest "
      "pixels.");
MOVED(pool_pick, "_mxl_roi_pool_pick", "Images like data.",
      "The elements where the bins of data have the first of their largest pixels.");

const mxl_op *const mxl_ops_roi[] = {
    &op_align, &op_rotated, &op_align_back, &op_pool, &op_pool_back, &op_pool_pick, NULL};
