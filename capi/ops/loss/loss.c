/* Losses. make_loss, MakeLoss and the three regression outputs have a gradient that is defined
 * rather than derived: they ignore the grad_output. mse_loss is PyTorch's. */
#include <math.h>
#include <stddef.h>

#include "array/copy.h"
#include "ops/batch/rules.h"
#include "ops/elementwise/elementwise.h"

static int copy_compute(const mxl_call *call)
{
    return mxl_array_copy_into(call->out[0], call->in[0]);
}

/* ---- make_loss ---- */

/* dx = 1 */
static int make_loss_grad(mxl_grad *g)
{
    return mxl_grad_set(g, 0, mxl_apply(g->s, &mxl_op_ones_like, g->grad_output[0]));
}

static const mxl_op op_make_loss = {
    .name = "make_loss",
    .aliases = MXL_ALIASES("_sparse_make_loss"),
    .doc = "A copy of the array that counts as a loss: its gradient is 1, whatever gradient "
           "arrives.",
    .output_names = "loss",
    .infer = mxl_infer_same,
    .compute = copy_compute,
    .sparse = &mxl_sparse_copies,
    .grad = make_loss_grad,
    .is_loss = mxl_is_loss,
    .in_place = true,
};

/* ---- MakeLoss ---- */

typedef enum normalization { BATCH, NONE, VALID } normalization;

typedef struct loss_params {
    double grad_scale;
    double valid_thresh;
    int normalization;
} loss_params;

static const char *const normalizations[] = {"batch", "null", "valid", NULL};

#define GRAD_SCALE MXL_PARAM(loss_params, grad_scale, MXL_P_FLOAT, "1", "Factor of the gradient.")

static int loss_infer(mxl_infer *infer)
{
    if (infer->in[0]->ndim == 0)
        return mxl_error("MakeLoss: data has no axis");
    return mxl_infer_float_same(infer);
}

/* 1 / max(number of elements above the threshold, 1), a scalar */
static mxl_array *per_valid(mxl_grad *g, double threshold)
{
    mxl_array *x = mxl_grad_in(g, 0);
    mxl_array *valid = mxl_apply_scalar(g->s, &mxl_op_greater_scalar, x, threshold);
    mxl_array *count = mxl_sum_to(g->s, mxl_cast(g->s, valid, MXL_F64), 0, NULL);

    return mxl_cast(g->s, mxl_rdiv_scalar(g->s, mxl_clip(g->s, count, 1, INFINITY), 1),
                    mxl_grad_in_meta(g, 0)->dtype);
}

/* dx = grad_scale, divided according to `normalization` */
static int loss_grad(mxl_grad *g)
{
    const loss_params *p = g->params;
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    double rows = (double)mxl_shape_size(x->ndim - 1, x->shape);
    double scale = p->normalization == BATCH ? p->grad_scale / rows : p->grad_scale;
    mxl_array *dx =
        mxl_mul_scalar(g->s, mxl_apply(g->s, &mxl_op_ones_like, g->grad_output[0]), scale);

    if (p->normalization == VALID)
        dx = mxl_mul(g->s, dx, per_valid(g, p->valid_thresh));
    return mxl_grad_set(g, 0, dx);
}

static void loss_saves(mxl_saves *saves)
{
    saves->in[0] = ((const loss_params *)saves->params)->normalization == VALID;
}

static const mxl_op op_loss = {
    .name = "MakeLoss",
    .output_names = "output",
    .inputs = mxl_inputs_data,
    .doc = "A copy of the array that counts as a loss: its gradient is grad_scale, divided as "
           "`normalization` says, whatever gradient arrives.",
    MXL_PARAMS_OF(
        loss_params, GRAD_SCALE,
        MXL_PARAM(loss_params, valid_thresh, MXL_P_FLOAT, "0", "Elements above it are valid."),
        MXL_PARAM(
            loss_params, normalization, MXL_P_ENUM, "null",
            "What the gradient is divided by: nothing, the number of rows (all axes but the last "
            "together), or that of valid elements (1, if there are none).",
            .values = normalizations)),
    .infer = loss_infer,
    .compute = copy_compute,
    .grad = loss_grad,
    .is_loss = mxl_is_loss,
    .saves = loss_saves,
    .in_place = true,
};

/* ---- regression ---- */

static const mxl_input regression_inputs[] = {
    MXL_INPUT(data, "The predictions, of a floating dtype; (n, ...)."),
    MXL_INPUT(label, "The targets, of the same dtype and shape; axes of extent 1 at the "
                     "end do not count."),
    {0},
};

static const mxl_param regression_table[] = {GRAD_SCALE, {0}};

/* True if the shapes are equal except for trailing dimensions of size 1. */
static bool shapes_fit(const mxl_array *a, const mxl_array *b)
{
    for (int i = 0; i < a->ndim || i < b->ndim; i++) {
        if ((i < a->ndim ? a->shape[i] : 1) != (i < b->ndim ? b->shape[i] : 1))
            return false;
    }
    return true;
}

static int regression_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0], *label = infer->in[1];

    if (mxl_check_float(infer->op, x) != 0 || mxl_check_dtypes(infer->op, x, label) != 0)
        return -1;
    if (x->ndim == 0)
        return mxl_error("%s: data has no axis", infer->op->name);
    if (x->size >= 0 && label->size >= 0 && !shapes_fit(x, label))
        return mxl_error("%s: label must have the shape of data, %s, got %s", infer->op->name,
                         MXL_SHAPE_OF(x), MXL_SHAPE_OF(label));
    return mxl_infer_like_first(infer);
}

static void regression_saves(mxl_saves *saves)
{
    saves->in[0] = saves->in[1] = saves->wants[0];
}

static const mxl_op op_logistic, op_mae;

/* dx = derivative * grad_scale / number of elements of a sample; the label's gradient is zero. The
 * derivative is data - label; of the logistic one sigmoid(data) - label, of the absolute error 1
 * where data > label, else -1. The sigmoid is recomputed: the gradient of the output is this
 * defined one, which would be wrong in a second derivative. */
static int regression_grad(mxl_grad *g)
{
    const mxl_meta *meta = mxl_grad_in_meta(g, 0);
    double outputs = (double)mxl_shape_size(meta->ndim - 1, meta->shape + 1);
    mxl_array *x, *label, *derivative;

    if (!mxl_grad_wants(g, 0))
        return 0;
    x = mxl_grad_in(g, 0);
    label = mxl_reshape(g->s, mxl_grad_in(g, 1), meta->ndim, meta->shape);
    if (g->op == &op_mae) {
        derivative = mxl_mul_scalar(g->s, mxl_apply2(g->s, &mxl_op_greater, x, label), 2);
        derivative = mxl_add_scalar(g->s, derivative, -1);
    } else {
        if (g->op == &op_logistic)
            x = mxl_apply(g->s, &mxl_op_sigmoid, x);
        derivative = mxl_sub(g->s, x, label);
    }
    return mxl_grad_set(
        g, 0,
        mxl_mul_scalar(g->s, derivative, ((const loss_params *)g->params)->grad_scale / outputs));
}

static int logistic_compute(const mxl_call *call)
{
    mxl_call sigmoid = *call;

    sigmoid.op = &mxl_op_sigmoid;
    sigmoid.num_inputs = 1;
    return mxl_run_loops(&sigmoid);
}

/* A label of which nothing is known is as the data; of a column it has no axis of columns. */
static int regression_complete(mxl_rule *rule)
{
    const mxl_shape *data = mxl_rule_in(rule, 0);
    bool column = data->ndim == 2 && data->dim[1] == 1;

    if (data->ndim < 1 || mxl_rule_in(rule, 1)->ndim >= 0)
        return 0;
    return mxl_rule_say(rule, 1, column ? 1 : data->ndim, data->dim);
}

#define REGRESSION(symbol, op_name, op_compute, op_doc)                                            \
    static const mxl_op symbol = {                                                                 \
        .name = op_name,                                                                           \
        .aliases = MXL_ALIASES("_sparse_" op_name),                                                \
        .doc = op_doc " times grad_scale / (number of elements of a sample), whatever gradient "   \
                      "arrives.",                                                                  \
        .inputs = regression_inputs,                                                               \
        MXL_PARAMS(loss_params, regression_table),                                                 \
        .infer = regression_infer,                                                                 \
        .complete_shapes = regression_complete,                                                    \
        .compute = op_compute,                                                                     \
        .grad = regression_grad,                                                                   \
        .is_loss = mxl_is_loss,                                                                    \
        .saves = regression_saves,                                                                 \
    }

REGRESSION(op_linear, "LinearRegressionOutput", copy_compute,
           "A copy of data; its gradient is that of half the squared error, data - label,");
REGRESSION(op_logistic, "LogisticRegressionOutput", logistic_compute,
           "1 / (1 + e^-data); the gradient of data is that of the cross entropy, result - label,");
REGRESSION(op_mae, "MAERegressionOutput", copy_compute,
           "A copy of data; its gradient is that of the absolute error, 1 where data > label and "
           "-1 elsewhere,");

/* ---- _mxl_mse_loss ---- */

typedef struct mse_params {
    int mean;
} mse_params;

static int mse_infer(mxl_infer *infer)
{
    const mxl_array *a = infer->in[0], *b = infer->in[1];

    if (a->dtype != b->dtype || (a->dtype != MXL_F32 && a->dtype != MXL_F64))
        return mxl_error("_mxl_mse_loss: takes two arrays of float32 or of float64, got %s and %s",
                         mxl_dtype_name(a->dtype), mxl_dtype_name(b->dtype));
    if (!mxl_shape_same(a->ndim, a->shape, b->ndim, b->shape))
        return mxl_error("_mxl_mse_loss: the arrays have different shapes");
    infer->out_shape[0].ndim = 0;
    infer->out_dtype[0] = a->dtype;
    return 0;
}

/* Summed as doubles. */
#define SQUARES(type)                                                                              \
    static double squares_##type(const type *a, const type *b, int64_t n)                          \
    {                                                                                              \
        double sum = 0;                                                                            \
                                                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                          \
            double away = (double)a[i] - (double)b[i];                                             \
                                                                                                   \
            sum += away * away;                                                                    \
        }                                                                                          \
        return sum;                                                                                \
    }

SQUARES(float)
SQUARES(double)

static int mse_compute(const mxl_call *call)
{
    const mse_params *p = call->params;
    const mxl_array *a = call->in[0], *b = call->in[1];
    double over = p->mean ? (double)a->size : 1;

    if (a->dtype == MXL_F32)
        *(float *)mxl_array_write(call->out[0]) =
            (float)(squares_float(mxl_array_read(a), mxl_array_read(b), a->size) / over);
    else
        *(double *)mxl_array_write(call->out[0]) =
            squares_double(mxl_array_read(a), mxl_array_read(b), a->size) / over;
    return 0;
}

/* da = dy 2 (a - b) / n, db = -da */
static int mse_grad(mxl_grad *g)
{
    const mse_params *p = g->params;
    const mxl_meta *meta = mxl_grad_in_meta(g, 0);
    double count = (double)mxl_shape_size(meta->ndim, meta->shape);
    mxl_array *away = mxl_sub(g->s, mxl_grad_in(g, 0), mxl_grad_in(g, 1));
    mxl_array *dy = mxl_mul_scalar(g->s, g->grad_output[0], p->mean ? 2 / count : 2);
    mxl_array *da = mxl_mul(g->s, away, dy);

    if (mxl_grad_wants(g, 0) && mxl_grad_set(g, 0, da) != 0)
        return -1;
    return mxl_grad_wants(g, 1) ? mxl_grad_set(g, 1, mxl_negative(g->s, da)) : 0;
}

static const mxl_op op_mse_loss = {
    .name = "_mxl_mse_loss",
    .doc = "The mean (or sum) of the squared differences of two arrays.",
    .inputs = mxl_inputs_lhs_rhs,
    MXL_PARAMS_OF(mse_params, MXL_PARAM(mse_params, mean, MXL_P_BOOL, "1",
                                        "Whether the mean is taken, not the sum.")),
    .infer = mse_infer,
    .compute = mse_compute,
    .grad = mse_grad,
    .saves = mxl_saves_inputs,
    MXL_BATCH(mxl_vmap_mse_loss),
};

const mxl_op *const mxl_ops_loss[] = {&op_make_loss, &op_loss,     &op_linear, &op_logistic,
                                      &op_mae,       &op_mse_loss, NULL};
