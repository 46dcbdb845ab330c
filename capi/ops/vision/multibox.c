/* The single-shot detector's operators: its anchors, their boxes from its predictions. Its training
 * targets are in multibox_target.c. All in float32. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/sort/sort.h"
#include "op/shapes/shapes.h"
#include "ops/vision/vision.h"

/* ---- anchors ---- */

typedef struct prior_params {
    mxl_floats sizes, ratios;
    int clip;
    mxl_floats steps, offsets;
} prior_params;

static int prior_check(void *params)
{
    const prior_params *p = params;

    if (p->sizes.n < 1 || p->ratios.n < 1)
        return mxl_error("_contrib_MultiBoxPrior: needs a size and a ratio, got %d and %d",
                         p->sizes.n, p->ratios.n);
    if (p->steps.n != 2 || p->offsets.n != 2)
        return mxl_error("_contrib_MultiBoxPrior: steps and offsets are two numbers, got %d and %d",
                         p->steps.n, p->offsets.n);
    if (p->steps.v[0] * p->steps.v[1] < 0)
        return mxl_error("_contrib_MultiBoxPrior: steps must be both positive or both not, got %g "
                         "and %g",
                         p->steps.v[0], p->steps.v[1]);
    for (int i = 0; i < 2; i++) {
        if (!(p->offsets.v[i] >= 0 && p->offsets.v[i] <= 1))
            return mxl_error("_contrib_MultiBoxPrior: offsets must be from 0 to 1, got %g",
                             p->offsets.v[i]);
    }
    return 0;
}

/* Anchors of a position: one for each size, and one for each ratio but the first. */
static int64_t anchors_of(const prior_params *p)
{
    return (int64_t)p->sizes.n + p->ratios.n - 1;
}

/* One prior box for each position and kind of anchor. */
static int priors(const mxl_size_ask *ask, int64_t *size)
{
    const int64_t shape[4] = {ask->arg[0], ask->arg[1], anchors_of(ask->params), 4};

    if (ask->arg[0] < 1 || ask->arg[1] < 1)
        return mxl_error("%s: data of %lld x %lld has no positions", ask->op->name,
                         (long long)ask->arg[0], (long long)ask->arg[1]);
    if (mxl_shape_count(4, shape) < 0)
        return -1;
    *size = shape[0] * shape[1] * shape[2];
    return 0;
}

/* Half the sizes of anchor i: the sizes with the first ratio, then the first size with the other
 * ratios. Heights are sizes in units of the image's height, widths too. */
static void half_of(const prior_params *p, int64_t i, float aspect, float *half)
{
    float size = (float)p->sizes.v[i < p->sizes.n ? i : 0];
    float root = sqrtf((float)p->ratios.v[i < p->sizes.n ? 0 : i - p->sizes.n + 1]);

    half[0] = size * aspect * root / 2;
    half[1] = size / root / 2;
}

static float clamped(float x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

static int prior_compute(const mxl_call *call)
{
    const prior_params *p = call->params;
    int64_t height = call->in[0]->shape[2], width = call->in[0]->shape[3], count = anchors_of(p);
    float step_y = p->steps.v[0] > 0 ? (float)p->steps.v[0] : 1.0f / (float)height;
    float step_x = p->steps.v[1] > 0 ? (float)p->steps.v[1] : 1.0f / (float)width;
    float *out = mxl_array_write(call->out[0]);

    for (int64_t y = 0; y < height; y++) {
        float center_y = ((float)y + (float)p->offsets.v[0]) * step_y;

        for (int64_t x = 0; x < width; x++) {
            float center_x = ((float)x + (float)p->offsets.v[1]) * step_x;

            for (int64_t i = 0; i < count; i++, out += 4) {
                float half[2];

                half_of(p, i, (float)height / (float)width, half);
                out[0] = center_x - half[0];
                out[1] = center_y - half[1];
                out[2] = center_x + half[0];
                out[3] = center_y + half[1];
                for (int k = 0; k < 4 && p->clip; k++)
                    out[k] = clamped(out[k]);
            }
        }
    }
    return 0;
}

#define PRIOR(field, kind, text, meaning) MXL_PARAM(prior_params, field, kind, text, meaning)

static const mxl_op op_prior = {
    .name = "_contrib_MultiBoxPrior",
    .aliases = MXL_ALIASES("_npx_multibox_prior"),
    .doc = "Anchors of a feature map: corners of boxes around each of its positions, in units of "
           "the image's height and width. Its gradient is zero.",
    MXL_INPUTS(MXL_INPUT(data, "The feature map, (batch, channels, height, width), of float32; "
                               "only its height and width matter.")),
    MXL_PARAMS_OF(
        prior_params,
        PRIOR(sizes, MXL_P_FLOATS, "[1]", "The sizes of anchors with the first ratio."),
        PRIOR(ratios, MXL_P_FLOATS, "[1]",
              "Width over height; anchors of the other ratios have the first size."),
        PRIOR(clip, MXL_P_BOOL, "0", "Whether corners outside the image are moved to its edge."),
        PRIOR(steps, MXL_P_FLOATS, "[-1,-1]",
              "The distance of positions, vertically and horizontally; not positive: 1 over their "
              "number."),
        PRIOR(offsets, MXL_P_FLOATS, "[0.5,0.5]",
              "The center of the first position, vertically and horizontally, in steps.")),
    .check = prior_check,
    MXL_SHAPES("data[N,C,H,W,*S] -> [1,priors(H,W),4]"),
    .size_functions = (const mxl_size_function[]){{"priors", priors, NULL}, {0}},
    .dtypes = "f>f",
    .compute = prior_compute,
    .grad = mxl_grad_zero,
};

/* ---- detection ---- */

typedef struct detection_params {
    int clip;
    double threshold;
    int64_t background_id;
    double nms_threshold;
    int force_suppress;
    mxl_floats variances;
    int64_t nms_topk;
} detection_params;

enum { ROW = 6 }; /* numbers of a detection: class, score, left, top, right, bottom */

static int detection_check(void *params)
{
    const detection_params *p = params;

    if (p->variances.n != 4)
        return mxl_error("_contrib_MultiBoxDetection: variances are 4 numbers, got %d",
                         p->variances.n);
    return 0;
}

typedef struct detection_run {
    const detection_params *params;
    int64_t classes, anchors;
    const float *score, *offset, *anchor;
    float *out;
    char *room; /* for each image: sorted rows and candidates */
    size_t bytes;
    int64_t *valid; /* [images]: the number of detections */
} detection_run;

/* The corners of a box from its offsets. */
static void place(const detection_params *p, const float *anchor, const float *offset, float *box)
{
    for (int k = 0; k < 2; k++) {
        float size = anchor[k + 2] - anchor[k], center = (anchor[k] + anchor[k + 2]) / 2;
        float at = offset[k] * (float)p->variances.v[k] * size + center;
        float half = expf(offset[k + 2] * (float)p->variances.v[k + 2]) * size / 2;

        box[k] = p->clip ? clamped(at - half) : at - half;
        box[k + 2] = p->clip ? clamped(at + half) : at + half;
    }
}

/* The detections of one image, in the order of its anchors. The best class other than class 0 is
 * detected if its score reaches the threshold. Results count classes without class 0. */
static int64_t detect(const detection_run *run, int64_t image)
{
    const float *score = run->score + image * run->classes * run->anchors;
    const float *offset = run->offset + image * 4 * run->anchors;
    float *rows = run->out + image * ROW * run->anchors, *row = rows;

    for (int64_t i = 0; i < run->anchors; i++) {
        int64_t class = 0;
        float best = -1;

        for (int64_t j = 1; j < run->classes; j++) {
            if (score[j * run->anchors + i] > best) {
                best = score[j * run->anchors + i];
                class = j;
            }
        }
        if (class == 0 || best < (float)run->params->threshold)
            continue;
        row[0] = (float)(class - 1);
        row[1] = best;
        place(run->params, run->anchor + 4 * i, offset + 4 * i, row + 2);
        row += ROW;
    }
    for (float *rest = row; rest < rows + ROW * run->anchors; rest++)
        *rest = -1;
    return (row - rows) / ROW;
}

/* Puts the first detections in the order of their scores. As in 1.9.1 those beyond `most` stay
 * where they were, as rows without a class. */
static int sort_rows(const detection_run *run, float *rows, int64_t count, int64_t most, char *room)
{
    int64_t *order = (int64_t *)(void *)room;
    float *copy = (float *)(void *)(order + count), *score = copy + ROW * count;
    mxl_sort_job sort = {.dtype = MXL_F32,
                         .descending = true,
                         .outer = 1,
                         .n = count,
                         .inner = 1,
                         .k = most,
                         .in = score,
                         .positions = order,
                         .position_dtype = MXL_I64};

    (void)run;
    for (int64_t i = 0; i < count; i++)
        score[i] = rows[i * ROW + 1];
    if (mxl_sort(&sort) != 0)
        return -1;
    memcpy(copy, rows, (size_t)(count * ROW) * sizeof(float));
    for (int64_t i = 0; i < most; i++)
        memcpy(rows + i * ROW, copy + order[i] * ROW, ROW * sizeof(float));
    for (int64_t i = most; i < count; i++)
        rows[i * ROW] = -1;
    return 0;
}

/* Takes the class from sorted detections that a better one overlaps. */
static void suppress_rows(const detection_params *p, float *rows, int64_t count, char *room)
{
    const mxl_contest contest = {.threshold = (float)p->nms_threshold, .inclusive = true};
    mxl_candidates list;
    int64_t kept;

    mxl_candidates_place(&list, MXL_F32, count, !p->force_suppress, room);
    for (int64_t i = 0; i < count; i++) {
        list.at[i] = i;
        for (int k = 0; k < 4; k++)
            ((float *)list.side[k])[i] = rows[i * ROW + 2 + k];
        if (list.kind != NULL)
            ((float *)list.kind)[i] = rows[i * ROW];
    }
    kept = mxl_candidates_keep(&list, MXL_F32, &contest);
    for (int64_t i = 0, next = 0; i < count; i++) {
        if (next < kept && list.at[next] == i)
            next++;
        else
            rows[i * ROW] = -1;
    }
}

static void detect_images(void *data, int64_t begin, int64_t end)
{
    detection_run *run = data;

    for (int64_t i = begin; i < end; i++)
        run->valid[i] = detect(run, i);
}

static int detection_compute(const mxl_call *call)
{
    const detection_params *p = call->params;
    const mxl_array *scores = call->in[0];
    int64_t images = scores->shape[0], anchors = scores->shape[2];
    size_t sort_bytes = (size_t)anchors * (sizeof(int64_t) + (ROW + 1) * sizeof(float));
    size_t list_bytes = mxl_candidates_bytes(MXL_F32, anchors), bytes;
    detection_run run = {.params = p,
                         .classes = scores->shape[1],
                         .anchors = anchors,
                         .score = mxl_array_read(scores),
                         .offset = mxl_array_read(call->in[1]),
                         .anchor = mxl_array_read(call->in[2])};
    int status = 0;

    if (images == 0 || anchors == 0)
        return 0;
    run.bytes = sort_bytes > list_bytes ? sort_bytes : list_bytes;
    bytes = run.bytes + (size_t)images * sizeof(int64_t);
    run.room = mxl_alloc(bytes);
    if (run.room == NULL)
        return -1;
    run.valid = (int64_t *)(void *)(run.room + run.bytes);
    run.out = mxl_array_write(call->out[0]);
    mxl_parallel_for(images, 1, detect_images, &run);
    for (int64_t i = 0; i < images && p->nms_threshold > 0 && p->nms_threshold <= 1; i++) {
        float *rows = run.out + i * ROW * anchors;
        int64_t most = p->nms_topk > 0 && p->nms_topk < run.valid[i] ? p->nms_topk : run.valid[i];

        if (run.valid[i] < 1)
            continue;
        status = sort_rows(&run, rows, run.valid[i], most, run.room);
        if (status != 0)
            break;
        suppress_rows(p, rows, most, run.room);
    }
    mxl_free(run.room, bytes);
    return status;
}

#define DETECTION(field, kind, text, meaning)                                                      \
    MXL_PARAM(detection_params, field, kind, text, meaning)

static const mxl_op op_detection = {
    .name = "_contrib_MultiBoxDetection",
    .aliases = MXL_ALIASES("_npx_multibox_detection"),
    .doc = "Boxes from the scores and offsets of anchors, (batch, anchors, 6): the class (class 0 "
           "is the background and not counted), the score and the corners; best scores first. The "
           "class of suppressed boxes is -1; missing rows are -1. Its gradient is zero.",
    MXL_INPUTS(MXL_INPUT(cls_prob, "Scores of float32, (batch, classes, anchors)."),
               MXL_INPUT(loc_pred, "Offsets of float32, (batch, anchors * 4)."),
               MXL_INPUT(anchor, "Corners of the anchors of float32, (1, anchors, 4).")),
    MXL_PARAMS_OF(
        detection_params,
        DETECTION(clip, MXL_P_BOOL, "1", "Whether boxes are cut at the edge of the image."),
        DETECTION(threshold, MXL_P_FLOAT, "0.00999999978", "The least score of a detection."),
        DETECTION(background_id, MXL_P_INT, "0",
                  "Ignored, as in 1.9.1: class 0 is the background."),
        DETECTION(nms_threshold, MXL_P_FLOAT, "0.5",
                  "The overlap from which on a box is suppressed by a better one; unless it is "
                  "above 0 and at most 1, boxes are neither sorted nor suppressed."),
        DETECTION(force_suppress, MXL_P_BOOL, "0", "Whether boxes compete across classes."),
        DETECTION(variances, MXL_P_FLOATS, "[0.1,0.1,0.2,0.2]", "Factors of the four offsets."),
        DETECTION(nms_topk, MXL_P_INT, "-1",
                  "How many of the best boxes compete, the others are suppressed; not positive: "
                  "all.")),
    .check = detection_check,
    MXL_SHAPES("cls_prob[N,C,A] loc_pred[N,A*4] anchor[1,A,4] -> [N,A,6]"),
    .dtypes = "f*>f",
    .compute = detection_compute,
    .grad = mxl_grad_zero,
};

const mxl_op *const mxl_ops_multibox[] = {&op_prior, &op_detection, NULL};
