/* LAMB: lamb_update_phase1 and _phase2 with the norms that a caller computes in between, mp_lamb_*
 * with a float32 copy of the weight, and _multi_lamb_update, all of it for several weights. */
#include "ops/optimizer/steps.h"

#include <math.h>

#include "base/memory/mem.h"
#include "kernel/optimizer/squares.h"

static void set_bias(mxl_step *step, const mxl_step_params *p, int64_t t)
{
    if (!p->bias_correction)
        return;
    step->bias1 = 1 - pow((float)p->n.beta1, (double)t);
    step->bias2 = 1 - pow((float)p->n.beta2, (double)t);
}

/* The learning rate times the ratio of the norms of the weight and its direction. */
static float scaled_lr(float lr, double weight, double direction, const mxl_step_numbers *n)
{
    if (n->lower_bound >= 0 && weight < (float)n->lower_bound)
        weight = (float)n->lower_bound;
    if (n->upper_bound >= 0 && weight > (float)n->upper_bound)
        weight = (float)n->upper_bound;
    return weight == 0 || direction == 0 ? lr : (float)(lr * (weight / direction));
}

/* ---- the first phase ---- */

#define BIAS_CORRECTION                                                                            \
    MXL_PARAM(mxl_step_params, bias_correction, MXL_P_BOOL, "1",                                   \
              "Whether mean and variance are divided by 1 - beta^t.")
#define BOUNDS                                                                                     \
    MXL_STEP_NUMBER(lower_bound, "-1",                                                             \
                    "The smallest norm of the weights; a negative number: none."),                 \
        MXL_STEP_NUMBER(upper_bound, "-1",                                                         \
                        "The largest norm of the weights; a negative number: none.")

static const mxl_input phase1_inputs[] = {MXL_STEP_WEIGHT, MXL_STEP_GRAD, MXL_STEP_MEANS, {0}};
static const mxl_input mp_phase1_inputs[] = {
    MXL_STEP_WEIGHT,
    MXL_STEP_GRAD,
    MXL_STEP_MEANS,
    MXL_INPUT(weight32, "A float32 copy of the weights, which is read in their place."),
    {0},
};
static const mxl_param phase1_table[] = {
    MXL_STEP_BETAS,
    MXL_STEP_EPSILON("9.99999997e-07"),
    MXL_PARAM(mxl_step_params, t, MXL_P_INT, MXL_REQUIRED, "The number of the step, from 1 on.",
              .type_name = "int"),
    BIAS_CORRECTION,
    MXL_STEP_NUMBER(wd, MXL_REQUIRED, "Weight decay; its part of the direction is added last."),
    MXL_STEP_SCALING,
    {0},
};

static const mxl_step_kind phase1_kind = {&mxl_step_lamb_direction, 2, false, 0};
static const mxl_step_kind mp_phase1_kind = {&mxl_step_lamb_direction, 2, true, 0};

static int phase1_infer(mxl_infer *infer)
{
    return mxl_step_infer(infer, &phase1_kind);
}

static int mp_phase1_infer(mxl_infer *infer)
{
    if (infer->in[0]->dtype != MXL_F16)
        return mxl_error("%s: takes float16 weights, got %s", infer->op->name,
                         mxl_dtype_name(infer->in[0]->dtype));
    if (mxl_step_infer(infer, &mp_phase1_kind) != 0)
        return -1;
    infer->out_dtype[0] = MXL_F32;
    return 0;
}

static int phase1_run(const mxl_call *call, const mxl_step_kind *kind)
{
    const mxl_step_params *p = call->params;
    mxl_step step = mxl_step_of(kind, p, call->in, call->out[0]);

    set_bias(&step, p, p->t);
    mxl_step_run(kind, call->in[0]->dtype, 1, &step, p, NULL);
    return 0;
}

static int phase1_compute(const mxl_call *call)
{
    return phase1_run(call, &phase1_kind);
}

static int mp_phase1_compute(const mxl_call *call)
{
    return phase1_run(call, &mp_phase1_kind);
}

MXL_STEP_OP(phase1, "lamb_update_phase1", phase1_inputs, phase1_table,
            "The direction of a step of LAMB (arXiv 1904.00962): with g = clip(rescale_grad * "
            "grad), mean becomes beta1 * mean + (1 - beta1) * g, var becomes beta2 * var + (1 - "
            "beta2) * g^2, and the result is mean / (1 - beta1^t) / (sqrt(var / (1 - beta2^t)) + "
            "epsilon) + wd * weight.",
            MXL_STEP_SAME, .numbers_inputs = true);

MXL_STEP_OP(mp_phase1, "mp_lamb_update_phase1", mp_phase1_inputs, phase1_table,
            "lamb_update_phase1 of weight32: the result is float32.", .shapes = "A*>A",
            .dtypes = "hhf*>f", .numbers_inputs = true);

/* ---- the second phase ---- */

#define DIRECTION MXL_INPUT(g, "The direction, of the first phase.")
#define NORMS                                                                                      \
    MXL_INPUT(r1, "The norm of the weights, one number."),                                         \
        MXL_INPUT(r2, "The norm of the direction, one number.")

static const mxl_input phase2_inputs[] = {MXL_STEP_WEIGHT, DIRECTION, NORMS, {0}};
static const mxl_input mp_phase2_inputs[] = {
    MXL_STEP_WEIGHT, DIRECTION, NORMS, MXL_STEP_MASTER, {0},
};
static const mxl_param phase2_table[] = {MXL_STEP_LR, BOUNDS, {0}};

static const mxl_step_kind phase2_kind = {&mxl_step_lamb, 0, false, 2};
static const mxl_step_kind mp_phase2_kind = {&mxl_step_lamb, 0, true, 2};

/* The weight is in[0], the direction in[1], the norms in[2] and in[3]. The direction has the dtype
 * of what is updated: of in[4], the copy, where there is one. */
static int phase2_infer(mxl_infer *infer)
{
    bool mixed = infer->num_inputs == 5;
    const mxl_array *weight = infer->in[0];
    int dtype = mixed ? MXL_F32 : weight->dtype;

    if (mxl_check_float(infer->op, weight) != 0)
        return -1;
    for (int i = 1; i < infer->num_inputs; i++) {
        const mxl_array *x = infer->in[i];
        bool fits = i == 2 || i == 3 ? x->size == 1 : mxl_array_same_shape(weight, x);

        if (x->dtype != dtype)
            return mxl_error("%s: input %d must be %s, got %s", infer->op->name, i,
                             mxl_dtype_name(dtype), mxl_dtype_name(x->dtype));
        if (!fits)
            return mxl_error("%s: input %d must have %s, got shape %s", infer->op->name, i,
                             i == 2 || i == 3 ? "one number" : "the weight's shape",
                             MXL_SHAPE_OF(x));
    }
    return mxl_infer_like_first(infer);
}

static double number_of(const mxl_array *array)
{
    const void *at = mxl_array_read(array);

    return array->dtype == MXL_F64   ? *(const double *)at
           : array->dtype == MXL_F16 ? (double)mxl_half_to_float(*(const mxl_half *)at)
                                     : (double)*(const float *)at;
}

static int phase2_compute(const mxl_call *call)
{
    const mxl_step_params *p = call->params;
    const mxl_step_kind *kind = call->num_inputs == 5 ? &mp_phase2_kind : &phase2_kind;
    mxl_array *arrays[] = {call->in[0], call->in[1], call->in[call->num_inputs - 1]};
    double weight = number_of(call->in[2]), direction = number_of(call->in[3]);
    mxl_step step = mxl_step_of(kind, p, arrays, call->out[0]);

    step.lr = scaled_lr(step.lr, weight, direction, &p->n);
    mxl_step_run(kind, call->out[0]->dtype, 1, &step, p, NULL);
    return 0;
}

#define PHASE2_FIELDS                                                                              \
    MXL_PARAMS(mxl_step_params, phase2_table), .infer = phase2_infer, .compute = phase2_compute,   \
        .in_place = true

static const mxl_op op_phase2 = {
    .name = "lamb_update_phase2",
    .numbers_inputs = true,
    .doc = "The step of LAMB along a direction g: weight - lr * r1 / r2 * g, with r1 within its "
           "bounds; weight - lr * g where a norm is 0.",
    .inputs = phase2_inputs,
    PHASE2_FIELDS,
    .shapes = "AA..>A",
    .dtypes = "A*>A",
};

static const mxl_op op_mp_phase2 = {
    .name = "mp_lamb_update_phase2",
    .numbers_inputs = true,
    .doc = "lamb_update_phase2 of weight32, in float32; the result is the new weight32 in the "
           "weight's dtype.",
    .inputs = mp_phase2_inputs,
    PHASE2_FIELDS,
    .shapes = "AA..A>A",
    .dtypes = "Af*>A",
};

/* ---- both phases for several weights ---- */

static int many_infer(mxl_infer *infer, const mxl_step_kind *kind)
{
    const mxl_step_params *p = infer->params;

    if (mxl_steps_check_list(infer, "learning_rates", p->lrs.n) != 0 ||
        mxl_steps_check_list(infer, "wds", p->wds.n) != 0 ||
        mxl_steps_check_list(infer, "step_count", p->step_count.n) != 0)
        return -1;
    return mxl_steps_infer(infer, kind);
}

/* Room for the directions of all weights, and for their norms. */
typedef struct directions {
    char *room;
    double *blocks, *sums;
    size_t bytes;
} directions;

/* -1 with the error set: out of memory, or too large. */
static int directions_new(directions *d, const mxl_steps *all, size_t item)
{
    size_t elements = 0, blocks = 0, count = (size_t)all->count, sums, room;

    for (size_t i = 0; i < count; i++) {
        blocks += (size_t)mxl_square_blocks(all->steps[i].size);
        if (__builtin_add_overflow(elements, (size_t)all->steps[i].size, &elements))
            return mxl_error("_multi_lamb_update: the weights are too large");
    }
    sums = 2 * (blocks + count) * sizeof(double);
    if (__builtin_mul_overflow(elements, item, &room) ||
        __builtin_add_overflow(room, sums, &d->bytes))
        return mxl_error("_multi_lamb_update: the weights are too large");
    d->sums = mxl_alloc(d->bytes);
    if (d->sums == NULL)
        return -1;
    d->blocks = d->sums + 2 * count;
    d->room = (char *)(d->blocks + 2 * blocks);
    return 0;
}

static int many_compute(const mxl_call *call, const mxl_step_kind *kind)
{
    const mxl_step_params *p = call->params;
    int dtype = call->out[0]->dtype;
    size_t item = kind->mixed ? sizeof(float) : mxl_dtype_size(dtype), at = 0;
    mxl_steps all;
    directions d;

    if (mxl_steps_new(&all, call, kind) != 0)
        return -1;
    if (directions_new(&d, &all, item) != 0) {
        mxl_steps_free(&all);
        return -1;
    }
    for (int i = 0; i < all.count; i++) {
        set_bias(&all.steps[i], p, p->step_count.v[i]);
        all.steps[i].out = d.room + at;
        at += (size_t)all.steps[i].size * item;
    }
    mxl_lamb_directions(dtype, kind->mixed, all.count, all.steps, &p->n, all.first, d.blocks,
                        d.sums);
    for (int i = 0; i < all.count; i++) {
        mxl_step *step = &all.steps[i];

        step->grad = step->out;
        step->out = mxl_array_write(call->out[i]);
        step->lr = scaled_lr(step->lr, sqrt(d.sums[2 * i]), sqrt(d.sums[2 * i + 1]), &p->n);
    }
    mxl_step_run(kind, dtype, all.count, all.steps, p, all.first);
    mxl_free(d.sums, d.bytes);
    mxl_steps_free(&all);
    return 0;
}

static const mxl_param many_table[] = {
    MXL_STEP_LIST("learning_rates", lrs, "The learning rate of each weight."),
    MXL_STEP_BETAS,
    MXL_STEP_EPSILON("9.99999997e-07"),
    MXL_STEP_LIST("wds", wds, "The weight decay of each weight."),
    MXL_STEP_RESCALE,
    BOUNDS,
    MXL_STEP_CLIP,
    BIAS_CORRECTION,
    MXL_PARAM(mxl_step_params, step_count, MXL_P_SHAPE, MXL_REQUIRED,
              "The number of each weight's step, from 1 on."),
    MXL_STEP_COUNT("num_tensors"),
    {0},
};

#define MANY_DOC " of the first weight, then those of the next, and so on."
#define MANY_OP(id, MIXED, op_name, shape_letters, dtype_letters, arrays_names, data_doc, op_doc)  \
    MXL_STEPS_FUNCTIONS(id, mxl_step_lamb, 2, MIXED, 0)                                            \
    static int id##_infer(mxl_infer *infer)                                                        \
    {                                                                                              \
        return many_infer(infer, &id##_kind);                                                      \
    }                                                                                              \
    static int id##_compute(const mxl_call *call)                                                  \
    {                                                                                              \
        return many_compute(call, &id##_kind);                                                     \
    }                                                                                              \
    static const mxl_op op_##id = {                                                                \
        .name = op_name,                                                                           \
        .doc = op_doc,                                                                             \
        MXL_INPUTS(MXL_STEP_DATA(data_doc MANY_DOC)),                                              \
        .arity = id##_arity,                                                                       \
        .mutates = id##_mutates,                                                                   \
        MXL_STEP_FIELDS(id, many_table),                                                           \
        .shapes = "(" shape_letters ")>(A)",                                                       \
        .dtypes = "(" dtype_letters ")>(A)",                                                       \
        .input_names = "(" arrays_names ")",                                                       \
    };

MANY_OP(multi, false, "_multi_lamb_update", "AAAA", "AAAA", "weight grad mean var",
        "Weight, gradient, mean and variance",
        "Both phases of LAMB for several weights, with the norms of weights and directions.")
MANY_OP(multi_mp, true, "_multi_mp_lamb_update", "AAAAA", "AAfff", "weight grad mean var weight32",
        "Weight, gradient, mean, variance and float32 copy",
        "_multi_lamb_update of float32 copies; the results are the new copies in the weights' "
        "dtype.")

const mxl_op *const mxl_ops_lamb[] = {
    &op_phase1, &op_phase2, &op_mp_phase1, &op_mp_phase2, &op_multi, &op_multi_mp, NULL,
};
