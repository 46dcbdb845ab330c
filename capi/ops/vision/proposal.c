/* _contrib_Proposal, _contrib_MultiProposal: the regions of a picture that a region proposal
 * network finds. All in float32. */
#include <math.h>
#include <stddef.h>

#include "base/memory/mem.h"
#include "kernel/sort/sort.h"
#include "ops/vision/vision.h"

typedef struct proposal_params {
    int64_t pre_nms, post_nms;
    double threshold;
    int64_t min_size;
    mxl_floats scales, ratios;
    int64_t stride;
    int output_score, iou_loss;
} proposal_params;

static int proposal_check(void *params)
{
    const proposal_params *p = params;

    if (p->scales.n < 1 || p->ratios.n < 1)
        return mxl_error("_contrib_Proposal: needs a scale and a ratio, got %d and %d", p->scales.n,
                         p->ratios.n);
    if (p->pre_nms < 1 || p->post_nms < 1 || p->stride < 1)
        return mxl_error("_contrib_Proposal: rpn_pre_nms_top_n, rpn_post_nms_top_n and "
                         "feature_stride must be 1 or more, got %lld, %lld and %lld",
                         (long long)p->pre_nms, (long long)p->post_nms, (long long)p->stride);
    return 0;
}

static int proposal_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = 3;
    arity->outputs = 2;
    arity->visible = ((const proposal_params *)params)->output_score ? 2 : 1;
    return 0;
}

static const mxl_op op_proposal;

static int proposal_infer(mxl_infer *infer)
{
    const proposal_params *p = infer->params;
    const mxl_array *scores = infer->in[0], *offsets = infer->in[1], *info = infer->in[2];
    int64_t anchors = (int64_t)p->scales.n * p->ratios.n, rows[2];

    if (mxl_check_float32(infer) != 0)
        return -1;
    if (scores->ndim != 4 || offsets->ndim != 4 || scores->shape[1] != 2 * anchors ||
        offsets->shape[1] != 4 * anchors || scores->shape[0] != offsets->shape[0] ||
        !mxl_shape_same(2, scores->shape + 2, 2, offsets->shape + 2) || scores->size == 0)
        return mxl_error("%s: for %lld anchors, cls_prob of shape %s and bbox_pred of shape %s do "
                         "not fit",
                         infer->op->name, (long long)anchors, MXL_SHAPE_OF(scores),
                         MXL_SHAPE_OF(offsets));
    if (!mxl_shape_same(info->ndim, info->shape, 2, (int64_t[]){scores->shape[0], 3}))
        return mxl_error("%s: im_info must have shape (%lld,3), got %s", infer->op->name,
                         (long long)scores->shape[0], MXL_SHAPE_OF(info));
    if (infer->op == &op_proposal && scores->shape[0] != 1)
        return mxl_error("%s: takes one image, got %lld; _contrib_MultiProposal takes several",
                         infer->op->name, (long long)scores->shape[0]);
    rows[0] = scores->shape[0];
    rows[1] = p->post_nms;
    if (mxl_shape_count(2, rows) < 0)
        return -1;
    mxl_infer_output(infer, 0, MXL_F32, 2, (int64_t[]){rows[0] * rows[1], 5});
    mxl_infer_output(infer, 1, MXL_F32, 2, (int64_t[]){rows[0] * rows[1], 1});
    return 0;
}

/* One image. */
typedef struct picture {
    const proposal_params *p;
    int64_t anchors, height, width; /* anchors of a position; of the feature map */
    const float *score, *offset, *info;
    float *box, *own; /* found: (height, width, anchors, 4), and its scores */
    int64_t *order;
    char *room; /* of candidates */
} picture;

/* Corners of anchor i at the first position: ratios, and for each the scales. */
static void anchor_of(const proposal_params *p, int64_t i, float *box)
{
    float side = (float)p->stride, ratio = (float)p->ratios.v[i / p->scales.n];
    float scale = (float)p->scales.v[i % p->scales.n];
    float width = floorf(sqrtf(floorf(side * side / ratio)) + 0.5f);
    float height = floorf(width * ratio + 0.5f) * scale, center = (side - 1) / 2;

    width *= scale;
    box[0] = center - (width - 1) / 2;
    box[1] = center - (height - 1) / 2;
    box[2] = center + (width - 1) / 2;
    box[3] = center + (height - 1) / 2;
}

/* An anchor moved by its offsets, which are `step` apart, within the image. Sizes count pixels. */
static void move(const picture *im, const float *offset, int64_t step, float *box)
{
    for (int k = 0; k < 2; k++) {
        float size = box[k + 2] - box[k] + 1, last = im->info[1 - k] - 1;
        float center = box[k] + (size - 1) / 2 + offset[k * step] * size;
        float half = (expf(offset[(k + 2) * step]) * size - 1) / 2;

        if (im->p->iou_loss) {
            box[k] += offset[k * step];
            box[k + 2] += offset[(k + 2) * step];
        } else {
            box[k] = center - half;
            box[k + 2] = center + half;
        }
        box[k] = fmaxf(fminf(box[k], last), 0);
        box[k + 2] = fmaxf(fminf(box[k + 2], last), 0);
    }
}

/* Boxes and scores of all anchors. The score is -1 beyond the image, and of small boxes, which grow
 * by the least size as in 1.9.1. */
static void find(picture *im)
{
    int64_t area = im->height * im->width, stride = im->p->stride;
    int64_t rows = (int64_t)(im->info[0] / (float)stride);
    int64_t columns = (int64_t)(im->info[1] / (float)stride);
    float least = (float)im->p->min_size * im->info[2], *box = im->box, *own = im->own;

    for (int64_t at = 0; at < area; at++) {
        int64_t y = at / im->width, x = at % im->width;

        for (int64_t a = 0; a < im->anchors; a++, box += 4, own++) {
            anchor_of(im->p, a, box);
            for (int k = 0; k < 4; k++)
                box[k] += (float)((k % 2 == 0 ? x : y) * stride);
            move(im, im->offset + 4 * a * area + at, area, box);
            *own = y < rows && x < columns ? im->score[(im->anchors + a) * area + at] : -1;
            if (box[2] - box[0] + 1 >= least && box[3] - box[1] + 1 >= least)
                continue;
            for (int k = 0; k < 4; k++)
                box[k] += (k < 2 ? -least : least) / 2;
            *own = -1;
        }
    }
}

/* The best boxes that no better one overlaps, repeated until there are enough. */
static int choose(picture *im, float index, float *out, float *scores)
{
    int64_t count = im->height * im->width * im->anchors, kept;
    int64_t most = im->p->pre_nms < count ? im->p->pre_nms : count;
    const mxl_contest contest = {.threshold = (float)im->p->threshold, .extra = 1};
    mxl_sort_job sort = {.dtype = MXL_F32,
                         .descending = true,
                         .outer = 1,
                         .n = count,
                         .inner = 1,
                         .k = most,
                         .in = im->own,
                         .positions = im->order,
                         .position_dtype = MXL_I64};
    mxl_candidates list;

    if (mxl_sort(&sort) != 0)
        return -1;
    mxl_candidates_place(&list, MXL_F32, most, false, im->room);
    for (int64_t i = 0; i < most; i++) {
        list.at[i] = im->order[i];
        for (int k = 0; k < 4; k++)
            ((float *)list.side[k])[i] = im->box[4 * im->order[i] + k];
    }
    kept = mxl_candidates_keep(&list, MXL_F32, &contest);
    kept = kept < im->p->post_nms ? kept : im->p->post_nms;
    for (int64_t i = 0; i < im->p->post_nms; i++, out += 5) {
        int64_t at = list.at[i % kept];

        out[0] = index;
        for (int k = 0; k < 4; k++)
            out[1 + k] = im->box[4 * at + k];
        scores[i] = im->own[at];
    }
    return 0;
}

/* The feature map must cover the image. */
static int check_info(const mxl_call *call)
{
    const proposal_params *p = call->params;
    const int64_t *shape = call->in[0]->shape;
    const float *info = mxl_array_read(call->in[2]);

    for (int64_t i = 0; i < shape[0]; i++, info += 3) {
        if (!(info[0] / (float)p->stride < (float)(shape[2] + 1) &&
              info[1] / (float)p->stride < (float)(shape[3] + 1)))
            return mxl_error("%s: image %lld of %g x %g is larger than its feature map of %lld x "
                             "%lld strides of %lld",
                             call->op->name, (long long)i, (double)info[0], (double)info[1],
                             (long long)shape[2], (long long)shape[3], (long long)p->stride);
    }
    return 0;
}

static int proposal_compute(const mxl_call *call)
{
    const proposal_params *p = call->params;
    const int64_t *shape = call->in[0]->shape;
    picture im = {.p = p, .height = shape[2], .width = shape[3]};
    int64_t count, area = shape[2] * shape[3];
    size_t lists, boxes, order, bytes;
    int status = 0;

    im.anchors = (int64_t)p->scales.n * p->ratios.n;
    count = area * im.anchors;
    if (check_info(call) != 0)
        return -1;
    lists = mxl_candidates_bytes(MXL_F32, p->pre_nms < count ? p->pre_nms : count);
    order = (size_t)count * sizeof(int64_t);
    boxes = (size_t)count * 5 * sizeof(float);
    bytes = lists + order + boxes;
    im.room = mxl_alloc(bytes);
    if (im.room == NULL)
        return -1;
    im.order = (int64_t *)(void *)(im.room + lists);
    im.box = (float *)(void *)(im.room + lists + order);
    im.own = im.box + 4 * count;
    for (int64_t i = 0; i < shape[0] && status == 0; i++) {
        im.score = (const float *)mxl_array_read(call->in[0]) + 2 * count * i;
        im.offset = (const float *)mxl_array_read(call->in[1]) + 4 * count * i;
        im.info = (const float *)mxl_array_read(call->in[2]) + 3 * i;
        find(&im);
        status = choose(&im, (float)i, (float *)mxl_array_write(call->out[0]) + 5 * p->post_nms * i,
                        (float *)mxl_array_write(call->out[1]) + p->post_nms * i);
    }
    mxl_free(im.room, bytes);
    return status;
}

/* The scores tell the offsets, and the number of images how many sizes there are. */
static int proposal_complete(mxl_rule *rule)
{
    const mxl_shape *scores = mxl_rule_in(rule, 0);
    const int64_t *dim = scores->dim;
    int64_t offsets = scores->ndim == 4 && dim[1] >= 0 ? 2 * dim[1] : -1;

    if (scores->ndim != 4)
        return 0;
    if (mxl_rule_say(rule, 2, 2, (int64_t[]){dim[0], 3}) != 0)
        return -1;
    return mxl_rule_say(rule, 1, 4, (int64_t[]){dim[0], offsets, dim[2], dim[3]});
}

#define FIELD(text, field, kind, ...) MXL_PARAM_AS(text, proposal_params, field, kind, __VA_ARGS__)

/* clang-format off */
#define PROPOSAL(symbol, op_name, op_doc)                                                          \
    static const mxl_op symbol = {                                                                 \
        .name = op_name,                                                                           \
        .doc = op_doc " Anchors are moved by their offsets, small ones and those that overlap a "  \
                      "better one are dropped; the rest is repeated until there are enough. Its "  \
                      "gradient is zero.",                                                         \
        MXL_INPUTS(                                                                                \
            MXL_INPUT(cls_prob, "Scores of float32, (images, 2 * anchors, height, width); the "    \
                                "second half counts."),                                            \
            MXL_INPUT(bbox_pred, "Offsets of float32, (images, 4 * anchors, height, width)."),     \
            MXL_INPUT(im_info, "Height, width and scale of each image, (images, 3).")),            \
        MXL_PARAMS_OF(                                                                             \
            proposal_params,                                                                       \
            FIELD("rpn_pre_nms_top_n", pre_nms, MXL_P_INT, "6000", "How many boxes compete."),     \
            FIELD("rpn_post_nms_top_n", post_nms, MXL_P_INT, "300", "How many boxes result."),     \
            FIELD("threshold", threshold, MXL_P_FLOAT, "0.699999988",                              \
                  "A box that overlaps a better one by more than this is dropped."),               \
            FIELD("rpn_min_size", min_size, MXL_P_INT, "16",                                       \
                  "The least width and height, at scale 1."),                                      \
            FIELD("scales", scales, MXL_P_FLOATS, "[4,8,16,32]", "Sizes of anchors in strides."),  \
            FIELD("ratios", ratios, MXL_P_FLOATS, "[0.5,1,2]", "Height over width of anchors."),   \
            FIELD("feature_stride", stride, MXL_P_INT, "16", "Pixels of a position."),             \
            FIELD("output_score", output_score, MXL_P_BOOL, "0",                                   \
                  "Whether the scores are a second result.", .sets_outputs = true),                \
            FIELD("iou_loss", iou_loss, MXL_P_BOOL, "0",                                           \
                  "Whether offsets are added to the corners.")),                                   \
        .check = proposal_check,                                                                   \
        .arity = proposal_arity,                                                                   \
        .infer = proposal_infer,                                                                   \
        .complete_shapes = proposal_complete,                                                      \
        .output_names = "output score", \
        .compute = proposal_compute,                                                               \
        .grad = mxl_grad_zero,                                                                     \
    }
/* clang-format on */

PROPOSAL(op_proposal, "_contrib_Proposal",
         "The best regions of an image, (rpn_post_nms_top_n, 5): 0 and the corners.");
PROPOSAL(
    op_multi_proposal, "_contrib_MultiProposal",
    "The best regions of images, (images * rpn_post_nms_top_n, 5): the image and the corners.");

const mxl_op *const mxl_ops_proposal[] = {&op_proposal, &op_multi_proposal, NULL};
