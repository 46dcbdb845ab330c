/* Classification: SoftmaxOutput, whose gradient is defined, and softmax_cross_entropy.
 * _mxl_softmax_target computes the target distribution from labels: both gradients are (softmax -
 * target) * weight. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "kernel/copy/cast.h"
#include "kernel/copy/strided_copy.h"
#include "kernel/reduce/softmax.h"
#include "ops/build.h"
#include "ops/shape/movement.h"

typedef enum normalization { BATCH, NONE, VALID } normalization;

typedef struct output_params {
    double grad_scale;
    double ignore_label;
    int multi_output;
    int use_ignore;
    int preserve_shape;
    int normalization;
    int out_grad;
    double smooth_alpha;
    /* _mxl_softmax_target: */
    mxl_tuple shape; /* of data */
    int clip;        /* labels out of range are clamped to the nearest class */
} output_params;

static const char *const normalizations[] = {"batch", "null", "valid", NULL};

#define FIELD(field, kind, text, meaning) MXL_PARAM(output_params, field, kind, text, meaning)

#define OUTPUT_PARAMS                                                                              \
    FIELD(grad_scale, MXL_P_FLOAT, "1", "Factor of the gradient."),                                \
        FIELD(ignore_label, MXL_P_FLOAT, "-1",                                                     \
              "With use_ignore, rows of this label have no gradient. `valid` never counts them."), \
        FIELD(multi_output, MXL_P_BOOL, "0",                                                       \
              "Whether the classes are axis 1 of data and every position along the axes behind "   \
              "it has a label; the gradient is divided by the number of positions."),              \
        FIELD(use_ignore, MXL_P_BOOL, "0", "Whether ignore_label is one."),                        \
        FIELD(preserve_shape, MXL_P_BOOL, "0",                                                     \
              "Whether the classes are the last axis, else all axes but the first together."),     \
        MXL_PARAM(output_params, normalization, MXL_P_ENUM, "null",                                \
                  "What the gradient is divided by: nothing more, the number of labels, or that "  \
                  "of labels other than ignore_label (1, if there are none).",                     \
                  .values = normalizations),                                                       \
        FIELD(out_grad, MXL_P_BOOL, "0",                                                           \
              "Whether the gradient is multiplied with the one that arrives."),                    \
        FIELD(smooth_alpha, MXL_P_FLOAT, "0",                                                      \
              "How much of a label's 1 the other classes share, 0 to 1; of no meaning with "       \
              "multi_output.")

/* Data as (outer, classes, inner): a softmax of each (outer, inner). */
typedef struct classes {
    int axis; /* of the classes; -1: all but the first, which are more than one */
    int64_t outer, count, inner;
} classes;

static classes find_classes(const output_params *p, int ndim, const int64_t *shape)
{
    classes c = {.axis = ndim - 1, .inner = 1};

    if (p->multi_output) {
        c.axis = 1;
        c.inner = mxl_shape_size(ndim - 2, shape + 2);
    } else if (!p->preserve_shape && ndim > 2) {
        c.axis = -1;
    }
    c.outer = mxl_shape_size(c.axis < 0 ? 1 : c.axis, shape);
    c.count = c.axis < 0 ? mxl_shape_size(ndim - 1, shape + 1) : shape[c.axis];
    return c;
}

/* True if the label has shape (n, 1, rest) or (n, rest), or (n, size of rest). */
static bool is_multi_label(int ndim, const int64_t *data, const mxl_array *label)
{
    int64_t flat[2] = {data[0], mxl_shape_size(ndim - 2, data + 2)};
    int skip = label->ndim == ndim;

    if (mxl_shape_same(label->ndim, label->shape, 2, flat))
        return true;
    return label->ndim == ndim - 1 + skip && label->shape[0] == data[0] &&
           (!skip || label->shape[1] == 1) &&
           mxl_shape_same(ndim - 2, data + 2, ndim - 2, label->shape + 1 + skip);
}

/* True if the label has one class for each row, that is, the shape of data without its last axis.
 * Where all axes but the first are classes, the first labels of such an array count, as in 1.9.1.
 */
static bool is_row_label(const output_params *p, int ndim, const int64_t *data,
                         const mxl_array *label)
{
    if (!p->preserve_shape && ndim > 2 && label->ndim == 1 && label->shape[0] == data[0])
        return true;
    return mxl_shape_same(label->ndim, label->shape, ndim - 1, data);
}

static int output_check(void *params)
{
    double alpha = ((const output_params *)params)->smooth_alpha;

    if (!(alpha >= 0 && alpha <= 1))
        return mxl_error("SoftmaxOutput: smooth_alpha must be from 0 to 1, got %g", alpha);
    return 0;
}

static int output_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0], *label = infer->in[1];
    const output_params *p = infer->params;
    int least = p->multi_output ? 2 : 1;

    if (mxl_check_float(infer->op, x) != 0 || mxl_check_dtypes(infer->op, x, label) != 0)
        return -1;
    if (x->ndim < least)
        return mxl_error("SoftmaxOutput: data must have %d axes or more, got %d", least, x->ndim);
    if (label->size >= 0 && x->size >= 0 &&
        !mxl_shape_same(label->ndim, label->shape, x->ndim, x->shape) &&
        !(p->multi_output ? is_multi_label(x->ndim, x->shape, label)
                          : is_row_label(p, x->ndim, x->shape, label)))
        return mxl_error("SoftmaxOutput: label of shape %s does not fit data of shape %s",
                         MXL_SHAPE_OF(label), MXL_SHAPE_OF(x));
    return mxl_infer_like_first(infer);
}

static int output_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0];
    classes c = find_classes(call->params, x->ndim, x->shape);

    return mxl_softmax(false, x->dtype, c.outer, c.count, c.inner, 1, NULL, mxl_array_read(x),
                       mxl_array_write(call->out[0]));
}

/* ---- the target distribution ---- */

static int target_infer(mxl_infer *infer)
{
    const output_params *p = infer->params;
    const mxl_array *label = infer->in[0];
    classes c;

    if (p->shape.n < (p->multi_output ? 2 : 1))
        return mxl_error("%s: shape has %d axes", infer->op->name, p->shape.n);
    if (mxl_infer_to(infer, p->shape) != 0)
        return -1;
    if (mxl_check_float(infer->op, label) != 0)
        return -1;
    c = find_classes(p, p->shape.n, p->shape.v);
    if (label->size != c.outer * c.inner)
        return mxl_error("%s: there are %lld labels for %lld rows", infer->op->name,
                         (long long)label->size, (long long)(c.outer * c.inner));
    mxl_shape_set(&infer->out_shape[1], p->shape.n, p->shape.v);
    infer->out_dtype[1] = label->dtype;
    for (int i = 0; i < p->shape.n; i++) {
        if (i == c.axis || (c.axis < 0 && i > 0))
            infer->out_shape[1].dim[i] = 1;
    }
    return 0;
}

/* The labels, truncated towards zero; new, NULL with the error set. */
static mxl_array *read_labels(const mxl_array *label)
{
    mxl_array *wide = mxl_array_new(MXL_F64, label->ndim, label->shape);
    const void *in = mxl_array_read(label);
    int64_t step = 1;
    double *value;

    if (wide == NULL)
        return NULL;
    value = mxl_array_write(wide);
    if (label->size > 0)
        mxl_cast_loop(label->dtype, MXL_F64)(value, &in, &step, label->size, NULL);
    for (int64_t i = 0; i < label->size; i++)
        value[i] = trunc(value[i]);
    return wide;
}

/* grad_scale, divided according to `normalization`. */
static double scale_of(const output_params *p, const classes *c, const double *label)
{
    int64_t rows = c->outer * c->inner, valid = 0;

    if (p->normalization == BATCH)
        return p->grad_scale / (double)rows;
    if (p->normalization == NONE)
        return p->multi_output ? p->grad_scale / (double)c->inner : p->grad_scale;
    for (int64_t i = 0; i < rows; i++)
        valid += label[i] != trunc(p->ignore_label);
    return p->grad_scale / (double)(valid > 0 ? valid : 1);
}

/* The class of a label, or -1: none. */
static int64_t class_of(const output_params *p, const classes *c, double label)
{
    if (p->clip && c->count > 0)
        return label >= (double)c->count ? c->count - 1 : label > 0 ? (int64_t)label : 0;
    return label >= 0 && label < (double)c->count ? (int64_t)label : -1;
}

static int target_compute(const mxl_call *call)
{
    const output_params *p = call->params;
    classes c = find_classes(p, p->shape.n, p->shape.v);
    int dtype = call->out[0]->dtype;
    size_t width = mxl_dtype_size(dtype);
    mxl_array *labels = read_labels(call->in[0]);
    char *target = mxl_array_write(call->out[0]), *weight = mxl_array_write(call->out[1]);
    double alpha = p->multi_output ? 0 : p->smooth_alpha;
    int64_t rest = 0, one = 0, scale = 0;
    const double *label;

    if (labels == NULL)
        return -1;
    label = mxl_array_read(labels);
    mxl_cast_scalar(c.count > 1 ? alpha / (double)(c.count - 1) : 0, dtype, &rest);
    mxl_cast_scalar(1 - alpha, dtype, &one);
    mxl_cast_scalar(scale_of(p, &c, label), dtype, &scale);
    mxl_fill(width, target, &rest, call->out[0]->size);
    mxl_fill(width, weight, &scale, call->out[1]->size);
    for (int64_t r = 0; r < c.outer * c.inner; r++) {
        int64_t found = class_of(p, &c, label[r]);
        int64_t at = (r / c.inner * c.count + found) * c.inner + r % c.inner;

        if (found >= 0)
            memcpy(target + at * (int64_t)width, &one, width);
        if (p->use_ignore && label[r] == trunc(p->ignore_label))
            memset(weight + r * (int64_t)width, 0, width);
    }
    mxl_array_release(labels);
    return 0;
}

static const mxl_op op_target = {
    .name = "_mxl_softmax_target",
    .doc = "The target probabilities for labels, and a factor for each row.",
    MXL_INPUTS(MXL_INPUT(label, "A class for each row.")),
    MXL_PARAMS_OF(
        output_params, OUTPUT_PARAMS, FIELD(shape, MXL_P_SHAPE, NULL, "Shape of data."),
        FIELD(clip, MXL_P_BOOL, "0", "Whether labels out of range count as the nearest class.")),
    .arity = mxl_arity_two,
    .infer = target_infer,
    .compute = target_compute,
    .grad = mxl_grad_zero,
};

/* ---- SoftmaxOutput ---- */

/* The softmax of data, recomputed: the gradient of the output is this defined one, which would be
 * wrong in a second derivative. */
static mxl_array *softmax_of(mxl_grad *g, const classes *c)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    mxl_array *data = mxl_grad_in(g, 0);

    if (c->axis >= 0)
        return mxl_softmax_axis(g->s, data, c->axis);
    data = mxl_reshape(g->s, data, 2, (int64_t[]){c->outer, c->count});
    return mxl_reshape(g->s, mxl_softmax_axis(g->s, data, 1), x->ndim, x->shape);
}

static bool ignores_gradient(const void *params)
{
    return ((const output_params *)params)->out_grad == 0;
}

/* dx = (softmax(x) - target) * weight; for probability labels (softmax(x) - label) * grad_scale;
 * with out_grad times dy. The label's gradient is zero. */
static int output_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0), *label = mxl_grad_in_meta(g, 1);
    output_params p = *(const output_params *)g->params;
    mxl_array *given, *made[2] = {NULL, NULL}, *dx;
    classes c = find_classes(&p, x->ndim, x->shape);

    if (!mxl_grad_wants(g, 0))
        return 0;
    if (mxl_shape_size(x->ndim, x->shape) == 0)
        return mxl_grad_set_zeros(g, 0);
    given = mxl_grad_in(g, 1);
    if (mxl_shape_same(label->ndim, label->shape, x->ndim, x->shape)) {
        dx = mxl_mul_scalar(g->s, mxl_sub(g->s, softmax_of(g, &c), given), p.grad_scale);
    } else {
        int64_t rows = c.outer * c.inner, all = mxl_shape_size(label->ndim, label->shape);

        if (all > rows)
            given = mxl_slice_axis(g->s, mxl_reshape(g->s, given, 1, &all), 0, 0, rows);
        p.shape = (mxl_tuple){x->ndim, x->shape};
        if (mxl_scope_call_many(g->s, &op_target, &p, 1, &given, 2, made) != 0)
            return -1;
        dx = mxl_mul(g->s, mxl_sub(g->s, softmax_of(g, &c), made[0]), made[1]);
    }
    if (p.out_grad)
        dx = mxl_mul(g->s, dx, g->grad_output[0]);
    return mxl_grad_set(g, 0, dx);
}

static void output_saves(mxl_saves *saves)
{
    saves->in[0] = saves->in[1] = saves->wants[0];
}

/* A label of which nothing is known has one class for each row, or position. */
static int output_complete(mxl_rule *rule)
{
    const mxl_shape *data = mxl_rule_in(rule, 0);
    int64_t pair[2];

    if (data->ndim < 1 || mxl_rule_in(rule, 1)->ndim >= 0)
        return 0;
    if (!((const output_params *)rule->params)->multi_output)
        return mxl_rule_say(rule, 1, data->ndim - 1, data->dim);
    if (data->ndim < 2)
        return 0;
    pair[0] = data->dim[0];
    pair[1] = mxl_rule_product(data->ndim - 2, data->dim + 2);
    return mxl_rule_say(rule, 1, 2, pair);
}

static const mxl_op op_softmax_output = {
    .name = "SoftmaxOutput",
    .output_names = "output",
    .aliases = MXL_ALIASES("Softmax"),
    .doc =
        "Softmax of each row of data. Its gradient is that of the cross entropy with the labels, "
        "the result less 1 at the label, scaled by the parameters, whatever gradient arrives.",
    MXL_INPUTS(
        MXL_INPUT(data, "The scores that become probabilities, of a floating dtype; (n, ...)."),
        MXL_INPUT(label,
                  "The class of each row of data, of the dtype of data and its shape without the "
                  "classes; or, in the shape of data, the target probabilities.")),
    MXL_PARAMS_OF(output_params, OUTPUT_PARAMS),
    .check = output_check,
    .infer = output_infer,
    .complete_shapes = output_complete,
    .compute = output_compute,
    .grad = output_grad,
    .is_loss = ignores_gradient,
    .saves = output_saves,
};

/* ---- softmax_cross_entropy ---- */

static int entropy_infer(mxl_infer *infer)
{
    const int64_t *x = infer->in[0]->shape;

    if (mxl_infer_said(infer) != 0)
        return -1;
    return x[0] == 0 || x[1] > 0 ? 0 : mxl_error("softmax_cross_entropy: there are no classes");
}

static double element(int dtype, const void *data, int64_t i)
{
    const void *in = (const char *)data + i * (int64_t)mxl_dtype_size(dtype);
    int64_t step = 1;
    double value;

    mxl_cast_loop(dtype, MXL_F64)(&value, &in, &step, 1, NULL);
    return value;
}

/* As in 1.9.1, probabilities below 1e-8 count as 1e-8. */
static int entropy_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0];
    int64_t rows = x->shape[0];
    classes c = {.outer = rows, .count = x->shape[1], .inner = 1};
    const output_params clipped = {.clip = 1};
    mxl_array *labels = read_labels(call->in[1]), *logs = NULL;
    double loss = 0, least = log(1e-8);
    int status = -1;

    if (labels == NULL)
        return -1;
    logs = mxl_array_new(x->dtype, 2, x->shape);
    if (logs == NULL || mxl_softmax(true, x->dtype, rows, c.count, 1, 1, NULL, mxl_array_read(x),
                                    mxl_array_write(logs)) != 0)
        goto done;
    for (int64_t r = 0; r < rows; r++) {
        int64_t at = class_of(&clipped, &c, ((const double *)mxl_array_read(labels))[r]);
        double value = element(x->dtype, mxl_array_read(logs), r * c.count + at);

        loss -= value < least ? least : value;
    }
    mxl_cast_scalar(loss, x->dtype, mxl_array_write(call->out[0]));
    status = 0;
done:
    mxl_array_release(labels);
    mxl_array_release(logs);
    return status;
}

/* dx = dy * (softmax(x) - target); the label's gradient is zero */
static int entropy_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    output_params p = {.grad_scale = 1, .normalization = NONE, .clip = 1};
    mxl_array *label, *made[2] = {NULL, NULL}, *away;

    if (!mxl_grad_wants(g, 0))
        return 0;
    label = mxl_grad_in(g, 1);
    p.shape = (mxl_tuple){x->ndim, x->shape};
    if (mxl_scope_call_many(g->s, &op_target, &p, 1, &label, 2, made) != 0)
        return -1;
    away = mxl_sub(g->s, mxl_softmax_axis(g->s, mxl_grad_in(g, 0), 1), made[0]);
    return mxl_grad_set(g, 0, mxl_mul(g->s, away, g->grad_output[0]));
}

static const mxl_op op_cross_entropy = {
    .name = "softmax_cross_entropy",
    .doc = "The sum over all samples of -log(softmax(data)[label]), where a probability counts as "
           "1e-8 or more; shape (1,).",
    MXL_INPUTS(
        MXL_INPUT(data, "A row of classes for each sample, of a floating dtype; (n, classes)."),
        MXL_INPUT(label,
                  "The class of each sample, of the dtype of data; (n,). What is out of range "
                  "counts as the nearest class.")),
    .infer = entropy_infer,
    MXL_SHAPES_TABLE("data[N,C] label[N] -> [1]"),
    .dtypes = "F*>F",
    .compute = entropy_compute,
    .grad = entropy_grad,
    .saves = output_saves,
};

const mxl_op *const mxl_ops_softmax_output[] = {&op_softmax_output, &op_target, &op_cross_entropy,
                                                NULL};
