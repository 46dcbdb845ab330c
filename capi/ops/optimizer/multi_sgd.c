/* Gradient descent for several weights in one call: multi_*, with learning rates and decays as
 * parameters; preloaded_multi_*, with both as arrays. And Adam, with both as arrays. */
#include "ops/optimizer/steps.h"

/* ---- numbers as parameters ---- */

static int listed_infer(mxl_infer *infer, const mxl_step_kind *kind)
{
    const mxl_step_params *p = infer->params;

    if (mxl_steps_check_list(infer, "lrs", p->lrs.n) != 0 ||
        mxl_steps_check_list(infer, "wds", p->wds.n) != 0)
        return -1;
    return mxl_steps_infer(infer, kind);
}

static int listed_compute(const mxl_call *call, const mxl_step_kind *kind)
{
    mxl_steps all;

    if (mxl_steps_new(&all, call, kind) != 0)
        return -1;
    mxl_step_run(kind, call->out[0]->dtype, all.count, all.steps, call->params, all.first);
    mxl_steps_free(&all);
    return 0;
}

/* ---- numbers as arrays ---- */

static int check_numbers(const mxl_infer *infer, const char *name, const mxl_array *numbers)
{
    if (numbers->dtype != MXL_F32)
        return mxl_error("%s: %s are float32, got %s", infer->op->name, name,
                         mxl_dtype_name(numbers->dtype));
    if (numbers->size != infer->num_outputs)
        return mxl_error("%s: %s must have a number for each of %d weights, got shape %s",
                         infer->op->name, name, infer->num_outputs, MXL_SHAPE_OF(numbers));
    return 0;
}

static int loaded_infer(mxl_infer *infer, const mxl_step_kind *kind)
{
    mxl_array *const *numbers = infer->in + infer->num_inputs - kind->extra;

    if (check_numbers(infer, "learning rates", numbers[0]) != 0 ||
        check_numbers(infer, "weight decays", numbers[1]) != 0)
        return -1;
    return mxl_steps_infer(infer, kind);
}

static int loaded_compute(const mxl_call *call, const mxl_step_kind *kind)
{
    mxl_array *const *numbers = call->in + call->num_inputs - kind->extra;
    const float *lrs = mxl_array_read(numbers[0]), *wds = mxl_array_read(numbers[1]);
    mxl_steps all;

    if (mxl_steps_new(&all, call, kind) != 0)
        return -1;
    for (int i = 0; i < all.count; i++) {
        all.steps[i].lr = lrs[i];
        all.steps[i].wd = wds[i];
    }
    mxl_step_run(kind, call->out[0]->dtype, all.count, all.steps, call->params, all.first);
    mxl_steps_free(&all);
    return 0;
}

/* ---- operators ---- */

#define LISTS                                                                                      \
    MXL_STEP_LIST("lrs", lrs, "The learning rate of each weight."),                                \
        MXL_STEP_LIST("wds", wds,                                                                  \
                      "The weight decay of each weight; its part of the gradient is not clipped.")
#define COUNT MXL_STEP_COUNT("num_weights")

static const mxl_param plain_listed[] = {LISTS, MXL_STEP_SCALING, COUNT, {0}};
static const mxl_param momentum_listed[] = {LISTS, MXL_STEP_MOMENTUM, MXL_STEP_SCALING, COUNT, {0}};
static const mxl_param plain_loaded[] = {MXL_STEP_SCALING, COUNT, {0}};
static const mxl_param momentum_loaded[] = {MXL_STEP_MOMENTUM, MXL_STEP_SCALING, COUNT, {0}};

/* The operators multi_ID_update and preloaded_multi_ID_update, which do for each weight what
 * ID_update does. The letters of a weight's arrays are those of op/op.h. */
#define MULTI_OP(id, STEP_RULE, STATES, MIXED, table, shape_letters, dtype_letters, arrays_names,  \
                 arrays)                                                                           \
    MULTI_OF(id, multi_##id, "multi_" #id "_update", STEP_RULE, STATES, MIXED, 0, listed,          \
             table##_listed, "(" shape_letters ")", "(" dtype_letters ")", "(" arrays_names ")",   \
             arrays " of the first weight, then those of the next, and so on.",                    \
             #id "_update of several weights in one call.")                                        \
    MULTI_OF(id, preloaded_multi_##id, "preloaded_multi_" #id "_update", STEP_RULE, STATES, MIXED, \
             2, loaded, table##_loaded, "(" shape_letters ")..", "(" dtype_letters ")ff",          \
             "(" arrays_names ") lrs wds",                                                         \
             arrays " of the first weight, then those of the next, and so on; then all learning "  \
                    "rates, and all weight decays, in float32.",                                   \
             #id "_update of several weights in one call, with learning rates and weight decays "  \
                 "from arrays.")

#define MULTI_OF(id, full, op_name, STEP_RULE, STATES, MIXED, EXTRA, way, table, in_shapes,        \
                 in_dtypes, names, data_doc, op_doc)                                               \
    MXL_STEPS_FUNCTIONS(full, STEP_RULE, STATES, MIXED, EXTRA)                                     \
    static int full##_infer(mxl_infer *infer)                                                      \
    {                                                                                              \
        return way##_infer(infer, &full##_kind);                                                   \
    }                                                                                              \
    static int full##_compute(const mxl_call *call)                                                \
    {                                                                                              \
        return way##_compute(call, &full##_kind);                                                  \
    }                                                                                              \
    static const mxl_op op_##full = {                                                              \
        .name = op_name,                                                                           \
        .doc = op_doc,                                                                             \
        MXL_INPUTS(MXL_STEP_DATA(data_doc)),                                                       \
        .arity = full##_arity,                                                                     \
        .mutates = full##_mutates,                                                                 \
        MXL_STEP_FIELDS(full, table),                                                              \
        .shapes = in_shapes ">(A)",                                                                \
        .dtypes = in_dtypes ">(A)",                                                                \
        .input_names = names,                                                                      \
    };

MULTI_OP(sgd, mxl_step_sgd, 0, false, plain, "AA", "AA", "weight grad", "Weight and gradient")
MULTI_OP(sgd_mom, mxl_step_momentum, 1, false, momentum, "AAA", "AAA", "weight grad mom",
         "Weight, gradient and momentum")
MULTI_OP(mp_sgd, mxl_step_sgd, 0, true, plain, "AAA", "AAf", "weight grad weight32",
         "Weight, gradient and float32 copy")
MULTI_OP(mp_sgd_mom, mxl_step_momentum, 1, true, momentum, "AAAA", "AAff",
         "weight grad mom weight32", "Weight, gradient, momentum and float32 copy")

static const mxl_param adam_loaded[] = {
    MXL_STEP_BETAS, MXL_STEP_EPSILON("9.99999994e-09"), MXL_STEP_SCALING, COUNT, {0},
};

MULTI_OF(adam, multi_adam, "_mxl_multi_adam_update", mxl_step_adam, 2, false, 2, loaded,
         adam_loaded, "(AAAA)..", "(AAAA)ff", "(weight grad mean var) lrs wds",
         "Weight, gradient, mean and var of the first weight, then those of the next, and so on; "
         "then all learning rates, and all weight decays, in float32.",
         "adam_update of several weights in one call, with learning rates and weight decays from "
         "arrays.")

const mxl_op *const mxl_ops_multi_sgd[] = {
    &op_multi_sgd,
    &op_multi_sgd_mom,
    &op_multi_mp_sgd,
    &op_multi_mp_sgd_mom,
    &op_preloaded_multi_sgd,
    &op_preloaded_multi_sgd_mom,
    &op_preloaded_multi_mp_sgd,
    &op_preloaded_multi_mp_sgd_mom,
    &op_multi_adam,
    NULL,
};
