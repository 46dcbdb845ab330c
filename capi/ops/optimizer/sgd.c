/* Steps of gradient descent for one weight: sgd_update, sgd_mom_update, nag_mom_update, those with
 * a float32 copy of the weight (mp_*), and those that use signs only. None has a gradient. */
#include "ops/optimizer/steps.h"

#define STATE_MOM MXL_STEP_STATE(mom, "The momentum")

static const mxl_input sgd_inputs[] = {MXL_STEP_WEIGHT, MXL_STEP_GRAD, {0}};
static const mxl_input mp_sgd_inputs[] = {MXL_STEP_WEIGHT, MXL_STEP_GRAD, MXL_STEP_MASTER, {0}};
static const mxl_input momentum_inputs[] = {MXL_STEP_WEIGHT, MXL_STEP_GRAD, STATE_MOM, {0}};
static const mxl_input mp_momentum_inputs[] = {
    MXL_STEP_WEIGHT, MXL_STEP_GRAD, STATE_MOM, MXL_STEP_MASTER, {0},
};

static const mxl_param sgd_table[] = {
    MXL_STEP_LR, MXL_STEP_DECAY, MXL_STEP_SCALING, MXL_STEP_LAZY, {0},
};
static const mxl_param momentum_table[] = {
    MXL_STEP_LR, MXL_STEP_MOMENTUM, MXL_STEP_DECAY, MXL_STEP_SCALING, MXL_STEP_LAZY, {0},
};
static const mxl_param nag_table[] = {
    MXL_STEP_LR, MXL_STEP_MOMENTUM, MXL_STEP_DECAY, MXL_STEP_SCALING, {0},
};

MXL_STEP_FUNCTIONS(sgd, mxl_step_sgd, 0, false)
MXL_STEP_FUNCTIONS(mp_sgd, mxl_step_sgd, 0, true)
MXL_STEP_FUNCTIONS(momentum, mxl_step_momentum, 1, false)
MXL_STEP_FUNCTIONS(mp_momentum, mxl_step_momentum, 1, true)
MXL_STEP_FORMS(sgd, true, p->lazy_update)
MXL_STEP_FORMS(momentum, true, p->lazy_update)
MXL_STEP_FUNCTIONS(nag, mxl_step_nag, 1, false)
MXL_STEP_FUNCTIONS(mp_nag, mxl_step_nag, 1, true)

MXL_STEP_OP(sgd, "sgd_update", sgd_inputs, sgd_table,
            "A step of gradient descent: (1 - lr * wd) * weight - lr * clip(rescale_grad * grad).",
            .aliases = MXL_ALIASES("_sparse_sgd_update"), MXL_STEP_SAME, .numbers_inputs = true,
            .sparse = &sgd_forms);

MXL_STEP_OP(
    momentum, "sgd_mom_update", momentum_inputs, momentum_table,
    "A step of gradient descent with momentum: with g = clip(rescale_grad * grad) + wd * weight, "
    "mom becomes momentum * mom - lr * g and the result is weight + mom.",
    .aliases = MXL_ALIASES("_sparse_sgd_mom_update"), MXL_STEP_SAME, .numbers_inputs = true,
    .sparse = &momentum_forms);

MXL_STEP_OP(
    nag, "nag_mom_update", momentum_inputs, nag_table,
    "A step of gradient descent with Nesterov's momentum: with g = clip(rescale_grad * grad) + "
    "wd * weight, mom becomes momentum * mom - lr * g and the result is weight + momentum * mom "
    "- lr * g. If the result is written into the weight, mom has the decay of the new weight.",
    MXL_STEP_SAME, .numbers_inputs = true);

MXL_STEP_OP(
    mp_sgd, "mp_sgd_update", mp_sgd_inputs, sgd_table,
    "sgd_update of weight32, in float32; the result is the new weight32 in the weight's dtype.",
    MXL_STEP_MIXED, .numbers_inputs = true);

MXL_STEP_OP(
    mp_momentum, "mp_sgd_mom_update", mp_momentum_inputs, momentum_table,
    "sgd_mom_update of weight32, in float32; the result is the new weight32 in the weight's "
    "dtype.",
    MXL_STEP_MIXED, .numbers_inputs = true);

MXL_STEP_OP(
    mp_nag, "mp_nag_mom_update", mp_momentum_inputs, nag_table,
    "nag_mom_update of weight32, in float32 and in place; the result is the new weight32 in the "
    "weight's dtype.",
    MXL_STEP_MIXED, .numbers_inputs = true);

/* ---- signs ---- */

static const mxl_param signsgd_table[] = {
    MXL_STEP_LR,
    MXL_STEP_DECAY,
    MXL_STEP_NUMBER(rescale_grad, "1", "Of no effect, whatever its sign."),
    MXL_STEP_NUMBER(clip_gradient, "-1", "Of no effect."),
    {0},
};
static const mxl_param signum_table[] = {
    MXL_STEP_LR,
    MXL_STEP_MOMENTUM,
    MXL_STEP_DECAY,
    MXL_STEP_SCALING,
    MXL_STEP_NUMBER(wd_lh, "0", "Weight decay that is no part of the momentum."),
    {0},
};

MXL_STEP_FUNCTIONS(signsgd, mxl_step_signsgd, 0, false)
MXL_STEP_FUNCTIONS(signum, mxl_step_signum, 1, false)

MXL_STEP_OP(signsgd, "signsgd_update", sgd_inputs, signsgd_table,
            "A step by the sign of the gradient (arXiv 1802.04434): (1 - lr * wd) * weight - lr * "
            "sign(grad).",
            MXL_STEP_SAME, .numbers_inputs = true);

MXL_STEP_OP(
    signum, "signum_update", momentum_inputs, signum_table,
    "A step by the sign of the momentum (arXiv 1802.04434): mom becomes momentum * mom - (1 - "
    "momentum) * (wd * weight + clip(rescale_grad * grad)), and the result is (1 - lr * wd_lh) "
    "* weight + lr * sign(mom).",
    MXL_STEP_SAME, .numbers_inputs = true);

const mxl_op *const mxl_ops_sgd[] = {
    &op_sgd,    &op_momentum, &op_nag,    &op_mp_sgd, &op_mp_momentum,
    &op_mp_nag, &op_signsgd,  &op_signum, NULL,
};
