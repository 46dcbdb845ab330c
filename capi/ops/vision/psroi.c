/* _contrib_PSROIPooling: means of the bins of regions, each bin from channels of its own. They are
 * linear in the images: the operator and _mxl_psroi_back are each other's vjp. The gradient of
 * regions is zero. */
#include "kernel/spatial/psroi.h"

#include <stddef.h>

#include "ops/nn/images.h"
#include "ops/nn/wide.h"
#include "ops/vision/vision.h"

typedef struct psroi_params {
    double spatial_scale;
    int64_t output_dim, pooled_size, group_size;
    mxl_tuple shape; /* of the images, of _mxl_psroi_back */
} psroi_params;

enum { LARGEST = 1 << 15 }; /* sizes of a grid */

static const mxl_op op_psroi, op_psroi_back;

static int psroi_check(void *params)
{
    psroi_params *p = params;

    if (!(p->spatial_scale >= 0 && p->spatial_scale <= 1))
        return mxl_error("_contrib_PSROIPooling: spatial_scale must be from 0 to 1, got %g",
                         p->spatial_scale);
    if (p->output_dim < 1)
        return mxl_error("_contrib_PSROIPooling: output_dim must be 1 or more, got %lld",
                         (long long)p->output_dim);
    if (p->pooled_size < 1 || p->pooled_size > LARGEST || p->group_size < 0 ||
        p->group_size > LARGEST)
        return mxl_error("_contrib_PSROIPooling: pooled_size must be from 1 to %d and group_size "
                         "from 0, got %lld and %lld",
                         LARGEST, (long long)p->pooled_size, (long long)p->group_size);
    return 0;
}

static int64_t groups_of(const psroi_params *p)
{
    return p->group_size > 0 ? p->group_size : p->pooled_size;
}

int mxl_sensitive_infer(mxl_infer *infer, const mxl_array *x, int64_t results, int64_t groups,
                        int64_t bins)
{
    int64_t channels = mxl_shape_count(3, (int64_t[]){results, groups, groups});

    if (channels < 0)
        return mxl_error_prefix(infer->op->name);
    if (mxl_check_regions(infer, x, 5) != 0)
        return -1;
    if (mxl_size_below(x->shape[1], channels))
        return mxl_error("%s: the images must have output_dim * group_size^2 = %lld channels, got "
                         "%lld",
                         infer->op->name, (long long)channels, (long long)x->shape[1]);
    return mxl_infer_set(infer, x->dtype, 4,
                         (int64_t[]){infer->in[1]->shape[0], results, bins, bins});
}

static int bins_infer(mxl_infer *infer, const mxl_array *x)
{
    const psroi_params *p = infer->params;

    return mxl_sensitive_infer(infer, x, p->output_dim, groups_of(p), p->pooled_size);
}

static int psroi_infer(mxl_infer *infer)
{
    return bins_infer(infer, infer->in[0]);
}

static int back_infer(mxl_infer *infer)
{
    return mxl_bins_back_infer(infer, ((const psroi_params *)infer->params)->shape, bins_infer);
}

static int psroi_compute(const mxl_call *call)
{
    const psroi_params *params = call->params;
    bool puts = call->op == &op_psroi_back;
    const int64_t *images = (puts ? call->out[0] : call->in[0])->shape;
    mxl_wide wide;
    mxl_psroi p;
    int status;

    if (mxl_wide_begin(&wide, call) != 0)
        return -1;
    p = (mxl_psroi){.dtype = wide.dtype,
                    .batch = images[0],
                    .channels = images[1],
                    .height = images[2],
                    .width = images[3],
                    .regions = call->in[1]->shape[0],
                    .results = params->output_dim,
                    .bins = params->pooled_size,
                    .groups = groups_of(params),
                    .scale = params->spatial_scale};
    status = (puts ? mxl_psroi_put : mxl_psroi_take)(
        &p, mxl_array_read(wide.in[1]), mxl_array_read(wide.in[0]), mxl_array_write(wide.out));
    return mxl_wide_end(&wide, status == 0 ? 0 : mxl_error_prefix(call->op->name));
}

static int psroi_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    psroi_params p = *(const psroi_params *)g->params;

    if (!mxl_grad_wants(g, 0))
        return 0;
    p.shape = (mxl_tuple){x->ndim, x->shape};
    return mxl_bins_grad(g, g->op == &op_psroi ? &op_psroi_back : &op_psroi, &p);
}

#define FIELD(field, kind, text, ...) MXL_PARAM(psroi_params, field, kind, text, __VA_ARGS__)
#define PSROI_PARAMS                                                                               \
    FIELD(spatial_scale, MXL_P_FLOAT, MXL_REQUIRED,                                                \
          "Factor of the regions' coordinates, 0 to 1."),                                          \
        FIELD(output_dim, MXL_P_INT, MXL_REQUIRED, "Channels of the result."),                     \
        FIELD(pooled_size, MXL_P_INT, MXL_REQUIRED, "Rows, and columns, of bins of a region."),    \
        FIELD(group_size, MXL_P_INT, "0",                                                          \
              "Rows, and columns, of the grid of channels of each channel of the result; 0: "      \
              "pooled_size.")
#define PSROI_FIELDS                                                                               \
    .check = psroi_check, .compute = psroi_compute, .grad = psroi_grad, .saves = mxl_saves_index

static const mxl_op op_psroi = {
    .name = "_contrib_PSROIPooling",
    .doc = "Regions of images in bins, each the mean of its pixels in a channel of its own; 0 for "
           "a bin without pixels.",
    MXL_INPUTS(MXL_INPUT(data,
                         "Images (batch, output_dim * group_size^2, rows, columns) of a "
                         "floating dtype.",
                         .type_text = "Symbol"),
               MXL_INPUT(rois,
                         "(regions, 5), of the dtype of data: the number of an image, then "
                         "left, top, right and bottom of the region.",
                         .type_text = "Symbol")),
    MXL_PARAMS_OF(psroi_params, PSROI_PARAMS),
    .infer = psroi_infer,
    PSROI_FIELDS,
};

static const mxl_op op_psroi_back = {
    .name = "_mxl_psroi_back",
    .doc = "Images of zeros to which each bin is added where its pixels are.",
    MXL_INPUTS(MXL_INPUT(data, "Bins of regions."), MXL_INPUT(rois, "The regions.")),
    MXL_PARAMS_OF(psroi_params, PSROI_PARAMS,
                  FIELD(shape, MXL_P_SHAPE, MXL_REQUIRED, "Shape of the images.")),
    .infer = back_infer,
    PSROI_FIELDS,
};

const mxl_op *const mxl_ops_psroi[] = {&op_psroi, &op_psroi_back, NULL};
