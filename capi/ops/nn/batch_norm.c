/* BatchNorm and its kin: normalisation of each channel over the whole batch. In training mode the
 * statistics are the batch's, otherwise the moving ones, which backward updates, as in 1.9.1. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "array/copy.h"
#include "kernel/copy/cast.h"
#include "kernel/copy/strided_copy.h"
#include "kernel/norm/norm.h"
#include "ops/elementwise/elementwise.h"
#include "ops/nn/batch_norm.h"
#include "ops/nn/normalise.h"

#define BATCH_INPUTS                                                                               \
    MXL_INPUT(data, "Input array, of a floating dtype."),                                          \
        MXL_INPUT(gamma, "Factor of each channel: float32 for float16 data, else of its dtype. "   \
                         "With fix_gamma it is set to 1."),                                        \
        MXL_INPUT(beta, "Added to each channel.")

static const mxl_input batch_inputs[] = {
    BATCH_INPUTS,
    MXL_INPUT(moving_mean, "Moving mean of each channel, which backward updates."),
    MXL_INPUT(moving_var, "Moving variance of each channel, which backward updates."),
    {0},
};
/* As in 1.9.1 the last two of its five inputs are not listed. */
static const mxl_input v1_inputs[] = {BATCH_INPUTS, {0}};

#define FLOAT_EPS                                                                                  \
    MXL_PARAM(mxl_batch_norm_params, eps, MXL_P_FLOAT, "0.00100000005", MXL_BATCH_NORM_EPS)
const mxl_param mxl_batch_norm_table[] = {MXL_BATCH_NORM_PARAMS, {0}};
#define BATCH_PARAMS MXL_PARAMS(mxl_batch_norm_params, mxl_batch_norm_table)

static const mxl_op op_batch_norm_v1, op_sync_batch_norm;

static int batch_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = 5;
    arity->outputs = 3;
    arity->visible = ((const mxl_batch_norm_params *)params)->output_mean_var ? 3 : 1;
    return 0;
}

/* Two of the operators have no such parameter. */
static int64_t axis_of(const mxl_op *op, const mxl_batch_norm_params *p)
{
    return op == &op_batch_norm_v1 || op == &op_sync_batch_norm ? 1 : p->axis;
}

/* Whether the statistics are those of the batch. */
static bool of_batch(const mxl_batch_norm_params *p, bool training)
{
    return training && !p->use_global_stats;
}

mxl_normalise mxl_batch_norm_of(const mxl_op *op, const mxl_batch_norm_params *p, bool training,
                                int ndim, const int64_t *shape)
{
    int64_t axis = axis_of(op, p);
    mxl_normalise n =
        mxl_normalise_axis(MXL_OVER_OTHERS, (int)(axis < 0 ? axis + ndim : axis), ndim, shape);

    n.eps = p->eps;
    n.fixed = p->fix_gamma;
    n.given = of_batch(p, training) ? 0 : 3;
    return n;
}

int mxl_batch_norm_fix(const mxl_op *op, mxl_array *gamma)
{
    size_t size = mxl_dtype_size(gamma->dtype);
    const char *at = mxl_array_read(gamma);
    int64_t one = 0;
    bool are = true;

    mxl_cast_scalar(1, gamma->dtype, &one);
    for (int64_t i = 0; i < gamma->size; i++)
        are = are && memcmp(at + (size_t)i * size, &one, size) == 0;
    if (are)
        return 0;
    if (mxl_array_check_writable(gamma) != 0)
        return mxl_error_prefix(op->name);
    mxl_fill(size, mxl_array_write(gamma), &one, gamma->size);
    return 0;
}

static int batch_compute(const mxl_call *call)
{
    const mxl_batch_norm_params *p = call->params;
    mxl_normalise n =
        mxl_batch_norm_of(call->op, p, call->training, call->in[0]->ndim, call->in[0]->shape);

    n.relu = call->op == &mxl_op_norm_relu;
    if (p->fix_gamma && mxl_batch_norm_fix(call->op, call->in[1]) != 0)
        return -1;
    return mxl_normalise_compute(call, &n);
}

/* ---- backward ---- */

/* moving = moving * keep + statistic * (1 - keep), where the statistic is a mean, or a variance, of
 * which `saved` has 1 / sqrt(variance + eps). */
static double moved(double moving, double saved, bool inverse, const mxl_batch_norm_params *p)
{
    double keep = (double)(float)p->momentum;
    double statistic = inverse ? fmax(1 / (saved * saved) - p->eps, 0) : saved;

    return moving * keep + statistic * (1 - keep);
}

/* Updates the moving statistic that is input i. */
static int update(mxl_grad *g, int i, mxl_array *saved, bool inverse)
{
    mxl_array *state = mxl_grad_state(g, i), *fresh;
    const void *from;
    void *to;

    if (state == NULL || saved == NULL)
        return g->s->failed ? -1 : 0;
    if (mxl_array_check_writable(state) != 0)
        return mxl_error_prefix(g->op->name);
    fresh = mxl_scope_own(g->s, mxl_array_copy(state));
    if (fresh == NULL)
        return -1;
    from = mxl_array_read(saved);
    to = mxl_array_write(fresh);
    for (int64_t k = 0; k < fresh->size; k++) {
        if (fresh->dtype == MXL_F64)
            ((double *)to)[k] =
                moved(((double *)to)[k], ((const double *)from)[k], inverse, g->params);
        else
            ((float *)to)[k] = (float)moved((double)((float *)to)[k],
                                            (double)((const float *)from)[k], inverse, g->params);
    }
    return mxl_array_copy_into(state, fresh);
}

int mxl_batch_norm_update(mxl_grad *g, int status)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);

    if (status != 0 || !of_batch(g->params, g->training) || mxl_shape_size(x->ndim, x->shape) == 0)
        return status;
    if (update(g, 3, mxl_grad_out(g, 1), false) != 0)
        return -1;
    return update(g, 4, mxl_grad_out(g, 2), true);
}

static mxl_normalise batch_of_node(const mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);

    return mxl_batch_norm_of(g->op, g->params, g->training, x->ndim, x->shape);
}

static int batch_grad(mxl_grad *g)
{
    mxl_normalise n = batch_of_node(g);

    return mxl_batch_norm_update(g, mxl_normalise_grad(g, &n));
}

static int batch_grad_kernel(mxl_grad *g)
{
    mxl_normalise n = batch_of_node(g);

    return mxl_batch_norm_update(g, mxl_normalise_grad_kernel(g, &n));
}

void mxl_batch_norm_saves(mxl_saves *saves)
{
    const mxl_batch_norm_params *p = saves->params;

    mxl_normalise_saves(saves);
    saves->in[1] = !p->fix_gamma;
    saves->in[3] = saves->in[4] = of_batch(p, saves->training);
}

/* Calls do not write into the moving statistics, which are updated by backward. */
bool mxl_batch_norm_is_state(const void *params, int i)
{
    (void)params;
    return i == 3 || i == 4;
}

static const char *batch_first_value(const void *params, int i)
{
    (void)params;
    return i == 3 ? "[\"zero\", {}]" : i == 4 ? "[\"one\", {}]" : NULL;
}

/* What symbols know of all four. */
#define BATCH_SYMBOLS                                                                              \
    .dtypes = "Fw*>Fw*", .output_names = "output mean var", .is_state = mxl_batch_norm_is_state,   \
    .first_value = batch_first_value

#define BATCH_SHAPES(data_axes, result_axes)                                                       \
    MXL_SHAPES("data[" data_axes "] gamma[C] beta[C] moving_mean[C] moving_var[C] -> "             \
               "[" result_axes "] [C] [C]")
#define BATCH_DOC                                                                                  \
    "(data - mean) / sqrt(variance + eps) * gamma + beta, with the mean and the variance of each " \
    "channel: in training mode those of the batch, otherwise the moving ones."
#define BATCH_FIELDS                                                                               \
    .arity = batch_arity, .compute = batch_compute, .grad = batch_grad,                            \
    .grad_kernel = batch_grad_kernel, .saves = mxl_batch_norm_saves, .grad_updates = true,         \
    .cheap = true, BATCH_SYMBOLS

const mxl_op mxl_op_batch_norm = {
    .name = "BatchNorm",
    .aliases = MXL_ALIASES("_npx_batch_norm"),
    .doc = BATCH_DOC " A backward in training mode updates the moving statistics. The further "
                     "results of output_mean_var are the mean and 1 / sqrt(variance + eps).",
    .inputs = batch_inputs,
    BATCH_PARAMS,
    BATCH_SHAPES("*A,C@axis,*B", "*A,C,*B"),
    BATCH_FIELDS,
};

static const mxl_op op_batch_norm_v1 = {
    .name = "BatchNorm_v1",
    .doc = BATCH_DOC " Like BatchNorm with the channels along axis 1; its further inputs, the "
                     "moving mean and variance, are not listed.",
    .inputs = v1_inputs,
    MXL_PARAMS_OF(mxl_batch_norm_params, FLOAT_EPS, MXL_BATCH_NORM_COMMON),
    BATCH_SHAPES("N,C,*S", "N,C,*S"),
    BATCH_FIELDS,
    .input_names = "data gamma beta moving_mean moving_var",
};

/* ---- composites of it ---- */

static mxl_array *relu_compose(mxl_scope *s, const mxl_call *call)
{
    if (mxl_scope_call_many(s, &mxl_op_batch_norm, call->params, 5, call->in, 3, call->out) != 0)
        return NULL;
    return mxl_apply(s, &mxl_op_relu, call->out[0]);
}

static const mxl_op op_batch_norm_relu = {
    .name = "_contrib_BatchNormWithReLU",
    .doc = "BatchNorm, and 0 in place of negative results.",
    .inputs = batch_inputs,
    BATCH_PARAMS,
    .arity = batch_arity,
    BATCH_SHAPES("*A,C@axis,*B", "*A,C,*B"),
    BATCH_SYMBOLS,
    .compose = relu_compose,
};

/* Predictions of graphs that have both, in one pass (symbol/passes/fuse.c). */
const mxl_op mxl_op_norm_relu = {
    .name = "_mxl_norm_relu",
    .doc = "BatchNorm by the moving statistics, and 0 in place of negative results.",
    .inputs = batch_inputs,
    BATCH_PARAMS,
    .arity = batch_arity,
    BATCH_SHAPES("*A,C@axis,*B", "*A,C,*B"),
    BATCH_SYMBOLS,
    .compute = batch_compute,
};

/* variance = 1 / inverse^2 - eps */
static mxl_array *sync_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_batch_norm_params p = *(const mxl_batch_norm_params *)call->params;

    p.axis = 1;
    if (mxl_scope_call_many(s, &mxl_op_batch_norm, &p, 5, call->in, 3, call->out) != 0)
        return NULL;
    call->out[2] = mxl_add_scalar(s, mxl_rdiv_scalar(s, mxl_square(s, call->out[2]), 1), -p.eps);
    return call->out[0];
}

static const mxl_op op_sync_batch_norm = {
    .name = "_contrib_SyncBatchNorm",
    .doc = BATCH_DOC " Here all data is on one device. The further results of output_mean_var are "
                     "the mean and the variance.",
    .inputs = batch_inputs,
    MXL_PARAMS_OF(mxl_batch_norm_params, FLOAT_EPS, MXL_BATCH_NORM_COMMON,
                  MXL_PARAM(mxl_batch_norm_params, ndev, MXL_P_INT, "1",
                            "Number of devices; of no effect here."),
                  MXL_PARAM(mxl_batch_norm_params, key, MXL_P_STRING, MXL_REQUIRED,
                            "What devices find one another by; of no effect here.")),
    .arity = batch_arity,
    BATCH_SHAPES("N,C,*S", "N,C,*S"),
    BATCH_SYMBOLS,
    .compose = sync_compose,
};

const mxl_op *const mxl_ops_batch_norm[] = {&mxl_op_batch_norm,  &op_batch_norm_v1,
                                            &op_batch_norm_relu, &op_sync_batch_norm,
                                            &mxl_op_norm_relu,   NULL};
