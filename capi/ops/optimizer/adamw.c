/* Adam with decoupled weight decay: _adamw_update, _mp_adamw_update and those for several weights.
 * The factor of the gradient is an array; where it is 0, infinite or NaN, as after an overflow in
 * float16, the step is skipped: all weights and states stay as they are. */
#include "ops/optimizer/steps.h"

#include <math.h>

#include "array/copy.h"

/* Checks the array of the factor, the last input. */
static int check_factor(const mxl_infer *infer, int dtype)
{
    const mxl_array *factor = infer->in[infer->num_inputs - 1];

    if (factor->dtype != dtype)
        return mxl_error("%s: rescale_grad must be %s, got %s", infer->op->name,
                         mxl_dtype_name(dtype), mxl_dtype_name(factor->dtype));
    if (factor->size < 1)
        return mxl_error("%s: rescale_grad must have a number, got shape %s", infer->op->name,
                         MXL_SHAPE_OF(factor));
    return 0;
}

/* Its first number. */
static float factor_of(const mxl_call *call)
{
    const mxl_array *factor = call->in[call->num_inputs - 1];
    const void *at = mxl_array_read(factor);

    switch (factor->dtype) {
    case MXL_F64:
        return (float)*(const double *)at;
    case MXL_F16:
        return mxl_half_to_float(*(const mxl_half *)at);
    default:
        return *(const float *)at;
    }
}

static bool is_step(float factor)
{
    return isfinite(factor) && factor != 0;
}

/* The outputs of a skipped step are the weights. */
static int skip(const mxl_call *call, int stride)
{
    for (int i = 0; i < call->num_outputs; i++) {
        if (mxl_array_copy_into(call->out[i], call->in[i * stride]) != 0)
            return -1;
    }
    return 0;
}

/* ---- one weight ---- */

static int one_infer(mxl_infer *infer, const mxl_step_kind *kind)
{
    return check_factor(infer, MXL_F32) != 0 ? -1 : mxl_step_infer(infer, kind);
}

static int one_compute(const mxl_call *call, const mxl_step_kind *kind)
{
    float factor = factor_of(call);
    mxl_step step;

    if (!is_step(factor))
        return skip(call, mxl_step_stride(kind));
    step = mxl_step_of(kind, call->params, call->in, call->out[0]);
    step.rescale = factor;
    mxl_step_run(kind, call->out[0]->dtype, 1, &step, call->params, NULL);
    return 0;
}

/* ---- several weights ---- */

static int many_infer(mxl_infer *infer, const mxl_step_kind *kind)
{
    const mxl_step_params *p = infer->params;

    if (mxl_steps_check_list(infer, "lrs", p->lrs.n) != 0 ||
        mxl_steps_check_list(infer, "wds", p->wds.n) != 0 ||
        mxl_steps_check_list(infer, "etas", p->etas.n) != 0)
        return -1;
    return mxl_steps_infer(infer, kind) != 0
               ? -1
               : check_factor(infer, kind->mixed ? MXL_F32 : infer->in[0]->dtype);
}

static int many_compute(const mxl_call *call, const mxl_step_kind *kind)
{
    float factor = factor_of(call);
    mxl_steps all;

    if (!is_step(factor))
        return skip(call, mxl_step_stride(kind));
    if (mxl_steps_new(&all, call, kind) != 0)
        return -1;
    for (int i = 0; i < all.count; i++)
        all.steps[i].rescale = factor;
    mxl_step_run(kind, call->out[0]->dtype, all.count, all.steps, call->params, all.first);
    mxl_steps_free(&all);
    return 0;
}

/* ---- operators ---- */

#define FACTOR                                                                                     \
    MXL_INPUT(rescale_grad,                                                                        \
              "Factor of the gradient, in an array: where it is 0, infinite or NaN, nothing is "   \
              "updated.")
#define WAY "; its part of the step is not divided by the variance."

static const mxl_input adamw_inputs[] = {
    MXL_STEP_WEIGHT, MXL_STEP_GRAD, MXL_STEP_MEANS, FACTOR, {0},
};
static const mxl_input mp_adamw_inputs[] = {
    MXL_STEP_WEIGHT, MXL_STEP_GRAD, MXL_STEP_MEANS, MXL_STEP_MASTER, FACTOR, {0},
};
static const mxl_param one_table[] = {
    MXL_STEP_LR,
    MXL_STEP_BETAS,
    MXL_STEP_EPSILON("9.99999994e-09"),
    MXL_STEP_NUMBER(wd, "0", "Weight decay" WAY),
    MXL_STEP_NUMBER(eta, MXL_REQUIRED, "Factor of the whole step."),
    MXL_STEP_CLIP,
    {0},
};
static const mxl_param many_table[] = {
    MXL_STEP_LIST("lrs", lrs, "The learning rate of each weight."),
    MXL_STEP_BETAS,
    MXL_STEP_EPSILON("9.99999994e-09"),
    MXL_STEP_LIST("wds", wds, "The weight decay of each weight" WAY),
    MXL_STEP_LIST("etas", etas, "The factor of each weight's whole step."),
    MXL_STEP_CLIP,
    MXL_STEP_COUNT("num_weights"),
    {0},
};

#define ADAMW_FUNCTIONS(id, way)                                                                   \
    static int id##_infer(mxl_infer *infer)                                                        \
    {                                                                                              \
        return way##_infer(infer, &id##_kind);                                                     \
    }                                                                                              \
    static int id##_compute(const mxl_call *call)                                                  \
    {                                                                                              \
        return way##_compute(call, &id##_kind);                                                    \
    }

static const mxl_step_kind adamw_kind = {&mxl_step_adamw, 2, false, 1};
static const mxl_step_kind mp_adamw_kind = {&mxl_step_adamw, 2, true, 1};

ADAMW_FUNCTIONS(adamw, one)
ADAMW_FUNCTIONS(mp_adamw, one)

MXL_STEP_OP(adamw, "_adamw_update", adamw_inputs, one_table,
            "A step of Adam with decoupled weight decay (arXiv 1711.05101), without its correction "
            "of the bias: with g = clip(rescale_grad * grad), mean becomes beta1 * mean + (1 - "
            "beta1) * g, var becomes beta2 * var + (1 - beta2) * g^2, and the result is weight - "
            "eta * (lr * mean / (sqrt(var) + epsilon) + wd * weight).",
            .shapes = "AAAA.>A", .dtypes = "AAAAf>A", .numbers_inputs = true);

MXL_STEP_OP(mp_adamw, "_mp_adamw_update", mp_adamw_inputs, one_table,
            "_adamw_update of weight32, in float32; the result is the new weight32 in the weight's "
            "dtype.",
            .shapes = "AAAAA.>A", .dtypes = "AAf*>A", .numbers_inputs = true);

#define MANY_DOC " of the first weight, then those of the next, and so on; then rescale_grad."

MXL_STEPS_FUNCTIONS(multi_adamw, mxl_step_adamw, 2, false, 1)
MXL_STEPS_FUNCTIONS(multi_mp_adamw, mxl_step_adamw, 2, true, 1)
ADAMW_FUNCTIONS(multi_adamw, many)
ADAMW_FUNCTIONS(multi_mp_adamw, many)

static const mxl_op op_multi_adamw = {
    .name = "_multi_adamw_update",
    .doc = "_adamw_update of several weights in one call.",
    MXL_INPUTS(MXL_STEP_DATA("Weight, gradient, mean and variance" MANY_DOC)),
    .arity = multi_adamw_arity,
    .mutates = multi_adamw_mutates,
    MXL_STEP_FIELDS(multi_adamw, many_table),
    .shapes = "(AAAA).>(A)",
    .dtypes = "(AAAA)A>(A)",
    .input_names = "(weight grad mean var) rescale_grad",
};

static const mxl_op op_multi_mp_adamw = {
    .name = "_multi_mp_adamw_update",
    .doc = "_mp_adamw_update of several weights in one call.",
    MXL_INPUTS(MXL_STEP_DATA("Weight, gradient, mean, variance and float32 copy" MANY_DOC)),
    .arity = multi_mp_adamw_arity,
    .mutates = multi_mp_adamw_mutates,
    MXL_STEP_FIELDS(multi_mp_adamw, many_table),
    .shapes = "(AAAAA).>(A)",
    .dtypes = "(AAfff)f>(A)",
    .input_names = "(weight grad mean var weight32) rescale_grad",
};

const mxl_op *const mxl_ops_adamw[] = {
    &op_adamw, &op_mp_adamw, &op_multi_adamw, &op_multi_mp_adamw, NULL,
};
