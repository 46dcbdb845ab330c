/* Non-maximum suppression of boxes; and matching of rows and columns by their scores. */
#include <stddef.h>

#include "array/copy.h"
#include "base/memory/mem.h"
#include "kernel/sort/sort.h"
#include "ops/elementwise/elementwise.h"
#include "ops/vision/vision.h"

/* ---- box_nms ---- */

typedef struct nms_params {
    double overlap_thresh, valid_thresh;
    int64_t topk, coord_start, score_index, id_index, background_id;
    int force_suppress, in_format, out_format;
} nms_params;

/* -1 with the error set unless a column exists beside the coordinates. */
static int check_column(const mxl_infer *infer, const char *name, int64_t column)
{
    const nms_params *p = infer->params;
    int64_t width = infer->in[0]->shape[infer->in[0]->ndim - 1];

    if (column < 0 || mxl_size_below(width, column + 1))
        return mxl_error("%s: %s must be a column of %lld, got %lld", infer->op->name, name,
                         (long long)width, (long long)column);
    if (column >= p->coord_start && column - p->coord_start < 4)
        return mxl_error("%s: %s %lld is one of the coordinates, which begin at %lld",
                         infer->op->name, name, (long long)column, (long long)p->coord_start);
    return 0;
}

static int nms_infer(mxl_infer *infer)
{
    const nms_params *p = infer->params;
    const mxl_array *x = infer->in[0];

    if (mxl_check_float(infer->op, x) != 0)
        return -1;
    if (x->ndim < 2)
        return mxl_error("%s: data must have two axes or more, boxes and their numbers, got %d",
                         infer->op->name, x->ndim);
    if (p->coord_start < 0 || mxl_size_below(x->shape[x->ndim - 1], p->coord_start + 4))
        return mxl_error("%s: four coordinates from column %lld do not fit in %lld columns",
                         infer->op->name, (long long)p->coord_start,
                         (long long)x->shape[x->ndim - 1]);
    if (check_column(infer, "score_index", p->score_index) != 0)
        return -1;
    if (p->id_index >= 0 && check_column(infer, "id_index", p->id_index) != 0)
        return -1;
    if (p->id_index >= 0 && p->id_index == p->score_index)
        return mxl_error("%s: id_index and score_index are both %lld", infer->op->name,
                         (long long)p->id_index);
    mxl_infer_output(infer, 0, x->dtype, x->ndim, x->shape);
    mxl_infer_output(infer, 1, MXL_I64, x->ndim - 1, x->shape);
    return 0;
}

/* With topk 0 nothing is suppressed, sorted or converted. */
static int nms_copy(const mxl_call *call)
{
    int64_t *origin = mxl_array_write(call->out[1]);

    for (int64_t i = 0; i < call->out[1]->size; i++)
        origin[i] = i;
    return mxl_array_copy_into(call->out[0], call->in[0]);
}

/* Parameters are float32 numbers, as in 1.9.1. */
static int nms_run(const mxl_call *call)
{
    const nms_params *p = call->params;
    const mxl_array *x = call->in[0];
    int64_t rows = x->shape[x->ndim - 2];
    mxl_nms_job job = {.dtype = x->dtype,
                       .batch = mxl_shape_size(x->ndim - 2, x->shape),
                       .rows = rows,
                       .width = x->shape[x->ndim - 1],
                       .in = mxl_array_read(x),
                       .coord = p->coord_start,
                       .score = p->score_index,
                       .kind = p->id_index < 0 ? -1 : p->id_index,
                       .across_kinds = p->force_suppress,
                       .background = (double)p->background_id,
                       .valid = (float)p->valid_thresh,
                       .threshold = (float)p->overlap_thresh,
                       .most = p->topk > 0 && p->topk < rows ? p->topk : rows,
                       .from = (mxl_box_format)p->in_format,
                       .to = (mxl_box_format)p->out_format};

    if (p->topk == 0)
        return nms_copy(call);
    job.out = mxl_array_write(call->out[0]);
    job.origin = mxl_array_write(call->out[1]);
    return mxl_nms(&job);
}

MXL_WIDENED(nms)

/* dx = the rows of dy at their original positions; the conversion between formats is ignored, as
 * in 1.9.1. Rows without an origin become zeros, which are added to the first row. */
static int nms_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    int64_t width = x->shape[x->ndim - 1], rows = mxl_shape_size(x->ndim - 1, x->shape);
    int64_t flat[2] = {rows, width};
    mxl_array *origin = mxl_grad_out(g, 1), *dy, *none, *dx;

    if (g->grad_output[0] == NULL)
        return 0;
    if (rows == 0)
        return mxl_grad_set_zeros(g, 0);
    origin = mxl_reshape(g->s, origin, 1, flat);
    none = mxl_apply_scalar(g->s, &mxl_op_lesser_scalar, origin, 0);
    dy = mxl_zero_where(g->s, none, mxl_reshape(g->s, g->grad_output[0], 2, flat));
    dx = mxl_take_back(g->s, dy, origin, 0, 2, flat);
    return mxl_grad_set(g, 0, mxl_reshape(g->s, dx, x->ndim, x->shape));
}

static void nms_saves(mxl_saves *saves)
{
    saves->out[1] = true;
}

#define FIELD(field, kind, text, ...) MXL_PARAM(nms_params, field, kind, text, __VA_ARGS__)

static const mxl_op op_nms = {
    .name = "_contrib_box_nms",
    .aliases = MXL_ALIASES("_contrib_box_non_maximum_suppression"),
    .numbers_inputs = true,
    .doc = "Non-maximum suppression: of boxes that overlap too much only the one with the best "
           "score is kept. The kept rows come first, the best score first (equal scores in their "
           "order); all other rows are -1. The gradient of a kept row goes to the row it was.",
    MXL_INPUTS(MXL_INPUT(data, "Boxes with their scores, (..., boxes, numbers of a box), of a "
                               "floating dtype.")),
    MXL_PARAMS_OF(
        nms_params,
        FIELD(overlap_thresh, MXL_P_FLOAT, "0.5",
              "A box that overlaps a better one by more than this is dropped."),
        FIELD(valid_thresh, MXL_P_FLOAT, "0", "Boxes whose score is not above this are dropped."),
        FIELD(topk, MXL_P_INT, "-1",
              "How many of the best boxes compete, the others are dropped; negative: all; 0: the "
              "result is the input."),
        FIELD(coord_start, MXL_P_INT, "2", "The column of the first of the four coordinates."),
        FIELD(score_index, MXL_P_INT, "1", "The column of the score."),
        FIELD(id_index, MXL_P_INT, "-1",
              "The column of the class, within which boxes compete; negative: none."),
        FIELD(background_id, MXL_P_INT, "-1", "With id_index: boxes of this class are dropped."),
        FIELD(force_suppress, MXL_P_BOOL, "0", "Whether boxes compete across classes."),
        FIELD(in_format, MXL_P_ENUM, "corner",
              "Whether coordinates are left, top, right, bottom, or center, width, height.",
              .values = mxl_box_formats),
        FIELD(out_format, MXL_P_ENUM, "corner", "The same for the result.",
              .values = mxl_box_formats)),
    .arity = mxl_arity_hidden,
    .infer = nms_infer,
    .dtypes = "A>A.",
    .compute = nms_compute,
    .grad = nms_grad,
    .saves = nms_saves,
};

/* ---- bipartite matching ---- */

typedef struct match_params {
    int is_ascend;
    double threshold;
    int64_t topk;
} match_params;

/* One matrix of scores: pairs are matched from the best score on, while it is on the right side of
 * the threshold. NaN is on no side. */
#define MATCH(T, suffix)                                                                           \
    static void match_##suffix(const match_params *p, int64_t rows, int64_t columns,               \
                               const T *score, const int64_t *order, T *row, T *column)            \
    {                                                                                              \
        T threshold = (T)(float)p->threshold;                                                      \
        int64_t most = rows < columns ? rows : columns, found = 0;                                 \
                                                                                                   \
        if (p->topk > 0 && p->topk + 1 < most)                                                     \
            most = p->topk + 1;                                                                    \
        for (int64_t i = 0; i < rows; i++)                                                         \
            row[i] = -1;                                                                           \
        for (int64_t i = 0; i < columns; i++)                                                      \
            column[i] = -1;                                                                        \
        for (int64_t i = 0; i < rows * columns && found < most; i++) {                             \
            int64_t a = order[i] / columns, b = order[i] % columns;                                \
            T value = score[order[i]];                                                             \
                                                                                                   \
            if (!(p->is_ascend ? value < threshold : value > threshold) || row[a] != -1 ||         \
                column[b] != -1)                                                                   \
                continue;                                                                          \
            row[a] = (T)b;                                                                         \
            column[b] = (T)a;                                                                      \
            found++;                                                                               \
        }                                                                                          \
    }

MATCH(float, f32)
MATCH(double, f64)

static int match_run(const mxl_call *call)
{
    const match_params *p = call->params;
    const mxl_array *x = call->in[0];
    int64_t rows = x->shape[x->ndim - 2], columns = x->shape[x->ndim - 1];
    int64_t batch = mxl_shape_size(x->ndim - 2, x->shape);
    char *row = mxl_array_write(call->out[0]), *column = mxl_array_write(call->out[1]);
    size_t bytes = (size_t)x->size * sizeof(int64_t), width = mxl_dtype_size(x->dtype);
    mxl_sort_job sort = {.dtype = x->dtype,
                         .descending = !p->is_ascend,
                         .outer = batch,
                         .n = rows * columns,
                         .inner = 1,
                         .k = rows * columns,
                         .in = mxl_array_read(x),
                         .position_dtype = MXL_I64};
    int64_t *order = bytes > 0 ? mxl_alloc(bytes) : NULL;
    int status = 0;

    sort.positions = order;
    if (bytes > 0 && (order == NULL || mxl_sort(&sort) != 0))
        status = -1;
    for (int64_t b = 0; b < batch && status == 0; b++) {
        const char *score = (const char *)sort.in + (size_t)(b * sort.n) * width;
        char *r = row + (size_t)(b * rows) * width, *c = column + (size_t)(b * columns) * width;

        if (x->dtype == MXL_F32)
            match_f32(p, rows, columns, (const float *)(const void *)score, order + b * sort.n,
                      (float *)(void *)r, (float *)(void *)c);
        else
            match_f64(p, rows, columns, (const double *)(const void *)score, order + b * sort.n,
                      (double *)(void *)r, (double *)(void *)c);
    }
    if (order != NULL)
        mxl_free(order, bytes);
    return status;
}

MXL_WIDENED(match)

static const mxl_op op_match = {
    .name = "_contrib_bipartite_matching",
    .numbers_inputs = true,
    .doc = "Matches rows of a matrix with its columns, each with one at most: the pair with the "
           "best score first, then the best of those that are left (equal scores in their order). "
           "The results are the column of each row and the row of each column, -1 for none. Its "
           "gradient is zero.",
    MXL_INPUTS(MXL_INPUT(data, "Scores, (..., rows, columns), of a floating dtype.")),
    MXL_PARAMS_OF(match_params,
                  MXL_PARAM(match_params, is_ascend, MXL_P_BOOL, "0",
                            "Whether small scores are better than large ones."),
                  MXL_PARAM(match_params, threshold, MXL_P_FLOAT, MXL_REQUIRED,
                            "Only scores that are better than this match."),
                  MXL_PARAM(match_params, topk, MXL_P_INT, "-1",
                            "If positive, the most pairs, less one (as in 1.9.1).")),
    .arity = mxl_arity_two,
    MXL_SHAPES("data[*A,R,C] -> [*A,R] [*A,C]"),
    .dtypes = "F>F*",
    .compute = match_compute,
    .grad = mxl_grad_zero,
};

const mxl_op *const mxl_ops_nms[] = {&op_nms, &op_match, NULL};
