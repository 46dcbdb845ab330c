/* _contrib_MultiBoxTarget: which anchors of a single-shot detector answer for which labels. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/sort/sort.h"
#include "ops/vision/vision.h"

typedef struct target_params {
    double overlap_threshold, ignore_label, negative_mining_ratio, negative_mining_thresh;
    int64_t minimum_negative_samples;
    mxl_floats variances;
} target_params;

static int target_check(void *params)
{
    const target_params *p = params;

    if (p->variances.n != 4)
        return mxl_error("_contrib_MultiBoxTarget: variances are 4 numbers, got %d",
                         p->variances.n);
    return 0;
}

static int target_arity(const void *params, mxl_arity *arity)
{
    (void)params;
    arity->inputs = arity->outputs = arity->visible = 3;
    return 0;
}

static int target_infer(mxl_infer *infer)
{
    const mxl_array *labels = infer->in[1];

    if (mxl_infer_said(infer) != 0)
        return -1;
    if (labels->shape[1] < 1 || labels->shape[2] < 5)
        return mxl_error("%s: label must have shape (batch, labels, 5 or more), got %s",
                         infer->op->name, MXL_SHAPE_OF(labels));
    return infer->in[2]->shape[1] >= 1
               ? 0
               : mxl_error("%s: cls_pred must have 1 class or more, got 0", infer->op->name);
}

typedef struct target_run {
    const target_params *params;
    int64_t images, anchors, labels, width, classes;
    const float *anchor, *label, *score;
    float *offset, *mask, *class;
} target_run;

/* What is computed of one image. */
typedef struct image {
    int64_t labels; /* its own */
    float *corners; /* of the labels, (labels, 4) */
    float *overlap; /* (anchors, labels) */
    float *best;    /* [anchors]: the overlap with the label it is nearest to, or -1 */
    int64_t *match; /* [anchors]: the label, or -1 */
    int64_t *order; /* [anchors]: of negative ones */
    float *hardness;
} image;

enum { NONE = -1 };

/* Labels up to the first whose class is -1. */
static int64_t count_labels(const target_run *run, const float *label)
{
    int64_t count = 0;

    while (count < run->labels && label[count * run->width] != -1)
        count++;
    return count;
}

/* A label whose class is -1 ends the list, and is -1 in all of its columns. */
static int check_labels(const mxl_op *op, const target_run *run)
{
    for (int64_t i = 0; i < run->images; i++) {
        const float *label = run->label + i * run->labels * run->width;
        int64_t end = count_labels(run, label);

        for (int64_t k = 1; k < 5 && end < run->labels; k++) {
            if (label[end * run->width + k] != -1)
                return mxl_error("%s: label %lld of image %lld has class -1, which ends the list, "
                                 "but %g in column %lld",
                                 op->name, (long long)end, (long long)i,
                                 (double)label[end * run->width + k], (long long)k);
        }
    }
    return 0;
}

/* Each label in turn takes the anchor that overlaps it most, of pairs of free ones the best first.
 */
static void match_best(const target_run *run, image *im)
{
    uint8_t *taken = (uint8_t *)im->order; /* [labels], not yet in use */

    memset(taken, 0, (size_t)im->labels);
    for (int64_t round = 0; round < im->labels; round++) {
        float most = 1e-6f;
        int64_t anchor = NONE, label = NONE;

        for (int64_t i = 0; i < run->anchors; i++) {
            for (int64_t j = 0; j < im->labels && im->match[i] == NONE; j++) {
                if (!taken[j] && im->overlap[i * im->labels + j] > most) {
                    most = im->overlap[i * im->labels + j];
                    anchor = i;
                    label = j;
                }
            }
        }
        if (anchor == NONE)
            return;
        im->match[anchor] = label;
        im->best[anchor] = most;
        taken[label] = 1;
    }
}

/* Every other anchor that overlaps a label by more than the threshold answers for the nearest. */
static void match_rest(const target_run *run, image *im)
{
    float threshold = (float)run->params->overlap_threshold;

    for (int64_t i = 0; i < run->anchors; i++) {
        const float *overlap = im->overlap + i * im->labels;
        int64_t nearest = NONE;
        float most = -1;

        if (im->match[i] != NONE)
            continue;
        for (int64_t j = 0; j < im->labels; j++) {
            if (overlap[j] > most) {
                most = overlap[j];
                nearest = j;
            }
        }
        im->best[i] = most;
        if (nearest != NONE && threshold > 0 && most > threshold)
            im->match[i] = nearest;
    }
}

/* How little an anchor looks like background: less the probability of class 0. */
static float hardness(const target_run *run, const float *score, int64_t anchor)
{
    float most = score[anchor], sum = 0;

    for (int64_t c = 1; c < run->classes; c++) {
        if (score[c * run->anchors + anchor] > most)
            most = score[c * run->anchors + anchor];
    }
    for (int64_t c = 0; c < run->classes; c++)
        sum += expf(score[c * run->anchors + anchor] - most);
    return -expf(score[anchor] - most) / sum;
}

/* Marks the negative anchors among those without a label: with mining only the hardest, as many as
 * the ratio allows. 0, or -1. */
static int mark_negative(const target_run *run, image *im, int64_t index, float *class)
{
    const target_params *p = run->params;
    const float *score = run->score + index * run->classes * run->anchors;
    int64_t positive = 0, wanted, count = 0;
    mxl_sort_job sort = {.dtype = MXL_F32,
                         .descending = true,
                         .outer = 1,
                         .inner = 1,
                         .in = im->hardness,
                         .positions = im->overlap, /* no longer in use */
                         .position_dtype = MXL_I64};

    for (int64_t i = 0; i < run->anchors; i++)
        positive += im->match[i] != NONE;
    if (!(p->negative_mining_ratio > 0)) {
        for (int64_t i = 0; i < run->anchors; i++)
            class[i] = 0;
        return 0;
    }
    wanted = (int64_t)((float)positive * (float)p->negative_mining_ratio);
    for (int64_t i = 0; i < run->anchors; i++) {
        if (im->match[i] != NONE || !(im->best[i] < (float)p->negative_mining_thresh))
            continue;
        im->order[count] = i;
        im->hardness[count++] = hardness(run, score, i);
    }
    sort.n = count;
    sort.k = wanted < count ? wanted : count;
    if (sort.k == 0)
        return 0;
    if (mxl_sort(&sort) != 0)
        return -1;
    for (int64_t i = 0; i < sort.k; i++)
        class[im->order[((const int64_t *)sort.positions)[i]]] = 0;
    return 0;
}

/* The offsets of one anchor from its label. */
static void offsets_of(const target_params *p, const float *anchor, const float *label, float *out)
{
    for (int k = 0; k < 2; k++) {
        float own = anchor[k + 2] - anchor[k], size = label[k + 2] - label[k];
        float from = (anchor[k] + anchor[k + 2]) / 2, to = (label[k] + label[k + 2]) / 2;

        out[k] = (to - from) / own / (float)p->variances.v[k];
        out[k + 2] = logf(size / own) / (float)p->variances.v[k + 2];
    }
}

static int target_image(const target_run *run, int64_t index, image *im)
{
    const float *label = run->label + index * run->labels * run->width;
    float *class = run->class + index * run->anchors;
    float *offset = run->offset + 4 * index * run->anchors;
    float *mask = run->mask + 4 * index * run->anchors;

    im->labels = count_labels(run, label);
    if (im->labels == 0)
        return 0;
    for (int64_t j = 0; j < im->labels; j++)
        memcpy(im->corners + 4 * j, label + j * run->width + 1, 4 * sizeof(float));
    if (mxl_box_overlaps(MXL_F32, MXL_BOX_CORNER, run->anchors, run->anchor, im->labels,
                         im->corners, im->overlap) != 0)
        return -1;
    for (int64_t i = 0; i < run->anchors; i++)
        im->match[i] = NONE;
    match_best(run, im);
    match_rest(run, im);
    if (mark_negative(run, im, index, class) != 0)
        return -1;
    for (int64_t i = 0; i < run->anchors; i++) {
        const float *own = label + im->match[i] * run->width;

        if (im->match[i] == NONE)
            continue;
        class[i] = own[0] + 1;
        offsets_of(run->params, run->anchor + 4 * i, own + 1, offset + 4 * i);
        for (int k = 0; k < 4; k++)
            mask[4 * i + k] = 1;
    }
    return 0;
}

/* Room for one image after another. Sizes were checked: overlaps could overflow. */
static int target_images(const target_run *run)
{
    int64_t anchors = run->anchors, pairs = anchors * (run->labels > 2 ? run->labels : 2);
    int64_t ids = 2 * anchors + run->labels;
    size_t bytes = (size_t)ids * sizeof(int64_t) +
                   (size_t)(pairs + 2 * anchors + 4 * run->labels) * sizeof(float);
    char *room = mxl_alloc(bytes);
    int status = 0;
    image im;

    if (room == NULL)
        return -1;
    im.match = (int64_t *)(void *)room;
    im.order = im.match + anchors;
    im.overlap = (float *)(void *)(room + (size_t)ids * sizeof(int64_t));
    im.best = im.overlap + pairs;
    im.hardness = im.best + anchors;
    im.corners = im.hardness + anchors;
    for (int64_t i = 0; i < run->images && status == 0; i++)
        status = target_image(run, i, &im);
    mxl_free(room, bytes);
    return status;
}

static int target_compute(const mxl_call *call)
{
    const target_params *p = call->params;
    const mxl_array *anchors = call->in[0], *labels = call->in[1], *scores = call->in[2];
    target_run run = {.params = p,
                      .images = labels->shape[0],
                      .anchors = anchors->shape[1],
                      .labels = labels->shape[1],
                      .width = labels->shape[2],
                      .classes = scores->shape[1],
                      .anchor = mxl_array_read(anchors),
                      .label = mxl_array_read(labels),
                      .score = mxl_array_read(scores)};

    if (mxl_shape_count(2, (int64_t[]){run.anchors, run.labels}) < 0 ||
        check_labels(call->op, &run) != 0)
        return -1;
    run.offset = mxl_array_write(call->out[0]);
    run.mask = mxl_array_write(call->out[1]);
    run.class = mxl_array_write(call->out[2]);
    memset(run.offset, 0, (size_t)call->out[0]->size * sizeof(float));
    memset(run.mask, 0, (size_t)call->out[1]->size * sizeof(float));
    for (int64_t i = 0; i < call->out[2]->size; i++)
        run.class[i] = (float)p->ignore_label;
    return run.anchors == 0 ? 0 : target_images(&run);
}

#define FIELD(field, kind, text, meaning) MXL_PARAM(target_params, field, kind, text, meaning)

static const mxl_op op_target = {
    .name = "_contrib_MultiBoxTarget",
    .aliases = MXL_ALIASES("_npx_multibox_target"),
    .doc = "Training targets of anchors: offsets from the labels they answer for, (batch, anchors "
           "* 4), a mask of these, and classes, (batch, anchors): that of the label plus 1, 0 for "
           "background, or ignore_label. Each label has the free anchor that overlaps it most, and "
           "all that overlap it enough. Its gradient is zero.",
    MXL_INPUTS(
        MXL_INPUT(anchor, "Corners of the anchors of float32, (1, anchors, 4)."),
        MXL_INPUT(label, "Labels of float32, (batch, labels, 5 or more): class and corners. The "
                         "first whose class is -1 ends an image's list."),
        MXL_INPUT(cls_pred, "Scores of float32 before the softmax, (batch, classes, anchors).")),
    MXL_PARAMS_OF(
        target_params,
        FIELD(overlap_threshold, MXL_P_FLOAT, "0.5",
              "An anchor that overlaps a label by more than this answers for it; not positive: "
              "only the best one of each label does."),
        FIELD(ignore_label, MXL_P_FLOAT, "-1", "The class of anchors without a target."),
        FIELD(negative_mining_ratio, MXL_P_FLOAT, "-1",
              "If positive: how many anchors are background for each one that has a label; those "
              "that look least like it. The others are ignored."),
        FIELD(negative_mining_thresh, MXL_P_FLOAT, "0.5",
              "Only anchors that overlap every label by less than this are background then."),
        FIELD(minimum_negative_samples, MXL_P_INT, "0", "Ignored, as in 1.9.1."),
        FIELD(variances, MXL_P_FLOATS, "[0.1,0.1,0.2,0.2]", "The offsets are divided by these.")),
    .check = target_check,
    .arity = target_arity,
    .output_names = "loc_target loc_mask cls_target",
    .infer = target_infer,
    MXL_SHAPES_TABLE("anchor[1,A,4] label[N,L,W] cls_pred[N,C,A] -> [N,A*4] [N,A*4] [N,A]"),
    .dtypes = "f*>f*",
    .compute = target_compute,
    .grad = mxl_grad_zero,
};

const mxl_op *const mxl_ops_multibox_target[] = {&op_target, NULL};
