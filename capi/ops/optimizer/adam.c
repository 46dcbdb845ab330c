/* Steps of one weight that divide by the root of a running mean of squares: adam_update,
 * ftml_update, ftrl_update, rmsprop_update, rmspropalex_update, and adagrad for whole arrays. None
 * has a gradient. */
#include "ops/optimizer/steps.h"

#include <math.h>

/* ---- adam_update ---- */

static const mxl_input adam_inputs[] = {MXL_STEP_WEIGHT, MXL_STEP_GRAD, MXL_STEP_MEANS, {0}};
static const mxl_param adam_table[] = {
    MXL_STEP_LR,
    MXL_STEP_BETAS,
    MXL_STEP_EPSILON("9.99999994e-09"),
    MXL_STEP_CLIPPED_DECAY,
    MXL_STEP_SCALING,
    MXL_STEP_LAZY,
    {0},
};

MXL_STEP_FUNCTIONS(adam, mxl_step_adam, 2, false)
MXL_STEP_FORMS(adam, true, p->lazy_update)

MXL_STEP_OP(
    adam, "adam_update", adam_inputs, adam_table,
    "A step of Adam (arXiv 1412.6980) without its correction of the bias: with g = "
    "clip(rescale_grad * grad + wd * weight), mean becomes beta1 * mean + (1 - beta1) * g, var "
    "becomes beta2 * var + (1 - beta2) * g^2, and the result is weight - lr * mean / (sqrt(var) "
    "+ epsilon).",
    .aliases = MXL_ALIASES("_sparse_adam_update"), MXL_STEP_SAME, .numbers_inputs = true,
    .sparse = &adam_forms);

/* ---- ftml_update ---- */

static const mxl_input ftml_inputs[] = {
    MXL_STEP_WEIGHT,
    MXL_STEP_GRAD,
    MXL_STEP_STATE(d, "The scale of each element's step"),
    MXL_STEP_STATE(v, "The running mean of the gradient's square"),
    MXL_STEP_STATE(z, "The running sum of gradients and scaled weights"),
    {0},
};
static const mxl_param ftml_table[] = {
    MXL_STEP_LR,
    MXL_STEP_NUMBER(beta1, "0.600000024", "Factor of d and z at each step."),
    MXL_STEP_NUMBER(beta2, "0.999000013", "Factor of v at each step."),
    MXL_PARAM_AS("epsilon", mxl_step_params, n.epsilon, MXL_P_FLOAT, "9.9999999392252903e-09",
                 "Added to the root, so that it is not zero.", .type_name = "double"),
    MXL_PARAM(mxl_step_params, t, MXL_P_INT, MXL_REQUIRED, "The number of the step, from 1 on.",
              .type_name = "int"),
    MXL_STEP_CLIPPED_DECAY,
    MXL_STEP_RESCALE,
    MXL_PARAM_AS("clip_grad", mxl_step_params, n.clip_gradient, MXL_P_FLOAT, "-1",
                 "The gradient is clipped to [-clip_grad, clip_grad]; a negative number: not."),
    {0},
};

static const mxl_step_kind ftml_kind = {&mxl_step_ftml, 3, false, 0};

static int ftml_infer(mxl_infer *infer)
{
    return mxl_step_infer(infer, &ftml_kind);
}

static int ftml_compute(const mxl_call *call)
{
    const mxl_step_params *p = call->params;
    mxl_step step = mxl_step_of(&ftml_kind, p, call->in, call->out[0]);

    step.bias1 = 1 - pow((float)p->n.beta1, (double)p->t);
    step.bias2 = 1 - pow((float)p->n.beta2, (double)p->t);
    mxl_step_run(&ftml_kind, call->out[0]->dtype, 1, &step, p, NULL);
    return 0;
}

MXL_STEP_OP(
    ftml, "ftml_update", ftml_inputs, ftml_table,
    "A step of FTML (Zheng and Kwok, 2017): with g = clip(rescale_grad * grad + wd * weight), "
    "v becomes beta2 * v + (1 - beta2) * g^2, s = (1 - beta1^t) / lr * (sqrt(v / (1 - "
    "beta2^t)) + epsilon), z becomes beta1 * z + (1 - beta1) * g - (s - beta1 * d) * weight, d "
    "becomes s, and the result is -z / d.",
    MXL_STEP_SAME, .numbers_inputs = true);

/* ---- ftrl_update ---- */

static const mxl_input ftrl_inputs[] = {
    MXL_STEP_WEIGHT,
    MXL_STEP_GRAD,
    MXL_STEP_STATE(z, "The sum of gradients less the sum of scaled weights"),
    MXL_STEP_STATE(n, "The sum of the gradient's squares"),
    {0},
};
static const mxl_param ftrl_table[] = {
    MXL_STEP_LR,
    MXL_STEP_NUMBER(lamda1, "0.00999999978", "Factor of the sum of magnitudes in the objective."),
    MXL_STEP_NUMBER(beta, "1", "Added to the root of n."),
    MXL_STEP_DECAY,
    MXL_STEP_SCALING,
    {0},
};

MXL_STEP_FUNCTIONS(ftrl, mxl_step_ftrl, 2, false)
MXL_STEP_FORMS(ftrl, false, true)

MXL_STEP_OP(ftrl, "ftrl_update", ftrl_inputs, ftrl_table,
            "A step of FTRL-Proximal (McMahan et al., 2013): with g = clip(rescale_grad * grad), z "
            "becomes z + g - (sqrt(n + g^2) - sqrt(n)) * weight / lr, n becomes n + g^2, and the "
            "result is (sign(z) * lamda1 - z) / ((beta + sqrt(n)) / lr + wd), or 0 where |z| <= "
            "lamda1.",
            .aliases = MXL_ALIASES("_sparse_ftrl_update"), MXL_STEP_SAME, .numbers_inputs = true,
            .sparse = &ftrl_forms);

/* ---- rmsprop_update, rmspropalex_update ---- */

#define STATE_SQUARES MXL_STEP_STATE(n, "The running mean of the gradient's square")
#define GAMMA1        MXL_STEP_NUMBER(gamma1, "0.949999988", "Factor of the running means.")
#define CLIP_WEIGHTS                                                                               \
    MXL_STEP_NUMBER(clip_weights, "-1",                                                            \
                    "The result is clipped to [-clip_weights, clip_weights]; a negative number: "  \
                    "not.")

static const mxl_input rmsprop_inputs[] = {MXL_STEP_WEIGHT, MXL_STEP_GRAD, STATE_SQUARES, {0}};
static const mxl_input rmspropalex_inputs[] = {
    MXL_STEP_WEIGHT,
    MXL_STEP_GRAD,
    STATE_SQUARES,
    MXL_STEP_STATE(g, "The running mean of the gradient"),
    MXL_STEP_STATE(delta, "The last change of the weights"),
    {0},
};
static const mxl_param rmsprop_table[] = {
    MXL_STEP_LR,
    GAMMA1,
    MXL_STEP_EPSILON("9.99999994e-09"),
    MXL_STEP_CLIPPED_DECAY,
    MXL_STEP_SCALING,
    CLIP_WEIGHTS,
    {0},
};
static const mxl_param rmspropalex_table[] = {
    MXL_STEP_LR,
    GAMMA1,
    MXL_STEP_NUMBER(gamma2, "0.899999976", "Factor of delta at each step."),
    MXL_STEP_EPSILON("9.99999994e-09"),
    MXL_STEP_CLIPPED_DECAY,
    MXL_STEP_SCALING,
    CLIP_WEIGHTS,
    {0},
};

MXL_STEP_FUNCTIONS(rmsprop, mxl_step_rmsprop, 1, false)
MXL_STEP_FUNCTIONS(rmspropalex, mxl_step_rmspropalex, 3, false)

MXL_STEP_OP(
    rmsprop, "rmsprop_update", rmsprop_inputs, rmsprop_table,
    "A step of RMSProp (Tieleman and Hinton, 2012): with G = clip(rescale_grad * grad + wd * "
    "weight), n becomes gamma1 * n + (1 - gamma1) * G^2, and the result is weight - lr * G / "
    "sqrt(n + epsilon).",
    MXL_STEP_SAME, .numbers_inputs = true);

MXL_STEP_OP(
    rmspropalex, "rmspropalex_update", rmspropalex_inputs, rmspropalex_table,
    "A step of RMSProp by Graves (arXiv 1308.0850): with G = clip(rescale_grad * grad + wd * "
    "weight), n becomes gamma1 * n + (1 - gamma1) * G^2, g becomes gamma1 * g + (1 - gamma1) * "
    "G, delta becomes gamma2 * delta - lr * G / sqrt(n - g^2 + epsilon), and the result is "
    "weight + delta.",
    MXL_STEP_SAME, .numbers_inputs = true);

/* ---- adagrad ---- */

#define STATE_HISTORY MXL_STEP_STATE(history, "The sum of the gradient's squares")

static const mxl_input adagrad_inputs[] = {MXL_STEP_WEIGHT, MXL_STEP_GRAD, STATE_HISTORY, {0}};
static const mxl_param adagrad_table[] = {
    MXL_STEP_LR,
    MXL_STEP_EPSILON("1.00000001e-07"),
    MXL_STEP_NUMBER(wd, "0", "Weight decay, which must be 0."),
    MXL_STEP_SCALING,
    {0},
};

static int adagrad_check(void *params)
{
    double wd = ((const mxl_step_params *)params)->n.wd;

    return wd == 0 ? 0 : mxl_error("_sparse_adagrad_update: wd must be 0, got %g", wd);
}

MXL_STEP_FUNCTIONS(adagrad, mxl_step_adagrad, 1, false)
MXL_STEP_FORMS(adagrad, true, true)

MXL_STEP_OP(adagrad, "_sparse_adagrad_update", adagrad_inputs, adagrad_table,
            "A step of AdaGrad (Duchi et al., 2011): with g = clip(rescale_grad * grad), history "
            "becomes history + g^2, and the result is weight - lr * g / sqrt(history + epsilon).",
            .check = adagrad_check, MXL_STEP_SAME, .sparse = &adagrad_forms);

static const mxl_input group_inputs[] = {
    MXL_STEP_WEIGHT,
    MXL_STEP_GRAD,
    MXL_STEP_STATE(history, "For each row of the weights the sum of the mean squares of the "
                            "gradient"),
    {0},
};
static const mxl_param group_table[] = {
    MXL_STEP_LR,
    MXL_STEP_SCALING,
    MXL_STEP_EPSILON("9.99999975e-06"),
    {0},
};

static const mxl_step_kind group_kind = {&mxl_step_adagrad, 0, false, 1};
MXL_STEP_FORMS(group, true, true)

static int group_infer(mxl_infer *infer)
{
    const mxl_array *weight = infer->in[0], *history = infer->in[2];

    if (mxl_step_check(infer->op, &group_kind, infer->in) != 0 ||
        mxl_check_dtypes(infer->op, weight, history) != 0)
        return -1;
    if (weight->ndim < 1 || history->ndim < 1 || history->size != weight->shape[0] ||
        history->shape[0] != weight->shape[0])
        return mxl_error("%s: history must have a number for each row of a weight of shape %s, got "
                         "shape %s",
                         infer->op->name, MXL_SHAPE_OF(weight), MXL_SHAPE_OF(history));
    return mxl_infer_like_first(infer);
}

static int group_compute(const mxl_call *call)
{
    const mxl_step_params *p = call->params;
    mxl_step step = mxl_step_of(&group_kind, p, call->in, call->out[0]);
    int64_t rows = call->in[2]->size;

    step.state[0] = mxl_array_write(call->in[2]);
    mxl_step_rows(call->out[0]->dtype, &step, &p->n, rows, rows > 0 ? step.size / rows : 0);
    return 0;
}

/* A history of which nothing is known has one number for each row of the weight. */
static int group_complete(mxl_rule *rule)
{
    const mxl_shape *weight = mxl_rule_in(rule, 0);

    return weight->ndim < 1 || mxl_rule_in(rule, 2)->ndim >= 0
               ? 0
               : mxl_rule_say(rule, 2, 2, (int64_t[]){weight->dim[0], 1});
}

MXL_STEP_OP(
    group, "_contrib_group_adagrad_update", group_inputs, group_table,
    "A step of AdaGrad with one rate for each row: with g = clip(rescale_grad * grad), history "
    "becomes history + mean(g^2) over the row, and the result is weight - lr * g / "
    "sqrt(history + epsilon).",
    .shapes = "AA.>A", .dtypes = "A*>A", .complete_shapes = group_complete, .sparse = &group_forms);

const mxl_op *const mxl_ops_adam[] = {
    &op_adam, &op_ftml, &op_ftrl, &op_rmsprop, &op_rmspropalex, &op_adagrad, &op_group, NULL,
};
