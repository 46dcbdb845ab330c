/* Optimizer steps: sgd_update, sgd_mom_update, adam_update. They update their state in place and
 * have no gradient. */
#include "ops/build.h"

#include <math.h>
#include <stddef.h>

#include "base/thread.h"
#include "kernel/target.h"

/* As in 1.9.1 all of these are float32, whatever dtype the arrays have. */
typedef struct step_params {
    double lr;
    double momentum;
    double beta1, beta2, epsilon;
    double wd;
    double rescale_grad;
    double clip_gradient;
    int lazy_update;
} step_params;

#define NUMBER(field, text, meaning) MXL_PARAM(step_params, field, MXL_P_FLOAT, text, meaning)

#define LR NUMBER(lr, NULL, "Learning rate.")
#define SCALING                                                                                    \
    NUMBER(rescale_grad, "1", "Factor of the gradient, applied before it is clipped."),            \
        NUMBER(clip_gradient, "-1",                                                                \
               "The gradient is clipped to [-clip_gradient, clip_gradient]; a negative number: "   \
               "not.")
#define LAZY                                                                                       \
    MXL_PARAM(step_params, lazy_update, MXL_P_BOOL, "1",                                           \
              "For sparse gradients, which there are none of here.")

#define WEIGHT MXL_INPUT(weight, "The weights; give them as output too to update them.")
#define GRAD   MXL_INPUT(grad, "Its gradient.")

typedef struct step {
    const void *weight, *grad;
    void *first, *second; /* the state: momentum; or mean and variance */
    void *out;
    const step_params *params;
} step;

/* A loop over elements with w, the weight, and g, the scaled gradient; `rest` stores the result.
 * out may be weight: each element is read before it is written. */
#define STEP_LOOP(fn, D, before, rest)                                                             \
    MXL_INLINE void fn##_at(int level, void *data, int64_t begin, int64_t end)                     \
    {                                                                                              \
        const step *s = data;                                                                      \
        const MXL_T_##D *weight = s->weight, *grad = s->grad;                                      \
        MXL_T_##D *first = s->first, *second = s->second, *out = s->out;                           \
        const MXL_C_##D lr = (float)s->params->lr, wd = (float)s->params->wd;                      \
        const MXL_C_##D momentum = (float)s->params->momentum;                                     \
        const MXL_C_##D beta1 = (float)s->params->beta1, beta2 = (float)s->params->beta2;          \
        const MXL_C_##D epsilon = (float)s->params->epsilon;                                       \
        const MXL_C_##D scale = (float)s->params->rescale_grad;                                    \
        const MXL_C_##D clip = (float)s->params->clip_gradient;                                    \
                                                                                                   \
        (void)level, (void)first, (void)second, (void)momentum, (void)beta1, (void)beta2,          \
            (void)epsilon;                                                                         \
        MXL_IVDEP                                                                                  \
        for (int64_t i = begin; i < end; i++) {                                                    \
            const MXL_C_##D w = MXL_LOAD_##D(weight[i]);                                           \
            MXL_C_##D g = scale * MXL_LOAD_##D(grad[i]) + (before);                                \
                                                                                                   \
            if (clip >= 0)                                                                         \
                g = g > clip ? clip : g < -clip ? -clip : g;                                       \
            rest(D)                                                                                \
        }                                                                                          \
    }                                                                                              \
    MXL_BY_LEVEL(fn, (void *data, int64_t begin, int64_t end), data, begin, end)

static int run_step(const mxl_call *call, const mxl_range_fn loop[MXL_DTYPE_COUNT])
{
    step s = {.weight = mxl_array_read(call->in[0]),
              .grad = mxl_array_read(call->in[1]),
              .first = call->num_inputs > 2 ? mxl_array_write(call->in[2]) : NULL,
              .second = call->num_inputs > 3 ? mxl_array_write(call->in[3]) : NULL,
              .out = mxl_array_write(call->out[0]),
              .params = call->params};

    mxl_parallel_fine(call->out[0]->size, MXL_LOOP_UNIT, MXL_LOOP_GRAIN, loop[call->out[0]->dtype],
                      &s);
    return 0;
}

/* The operator op_ID with the loops of STEP_LOOP. */
#define STEP_OP(id, before, rest, op_name, op_doc)                                                 \
    STEP_LOOP(id##_f32, f32, before, rest)                                                         \
    STEP_LOOP(id##_f64, f64, before, rest)                                                         \
    STEP_LOOP(id##_f16, f16, before, rest)                                                         \
    static int id##_compute(const mxl_call *call)                                                  \
    {                                                                                              \
        static const mxl_range_fn loop[MXL_DTYPE_COUNT] = {                                        \
            [MXL_F32] = id##_f32, [MXL_F64] = id##_f64, [MXL_F16] = id##_f16};                     \
                                                                                                   \
        return run_step(call, loop);                                                               \
    }                                                                                              \
    static const mxl_op op_##id = {                                                                \
        .name = op_name,                                                                           \
        .aliases = MXL_ALIASES("_sparse_" op_name),                                                \
        .doc = op_doc,                                                                             \
        .inputs = id##_inputs,                                                                     \
        MXL_PARAMS(step_params, id##_table),                                                       \
        .infer = mxl_infer_float_same,                                                             \
        .compute = id##_compute,                                                                   \
        .in_place = true,                                                                          \
    }

/* ---- sgd_update ---- */

static const mxl_input sgd_inputs[] = {WEIGHT, GRAD, {0}};
static const mxl_param sgd_table[] = {
    LR,  NUMBER(wd, "0", "Weight decay; its part of the gradient is not clipped."), SCALING, LAZY,
    {0},
};

#define SGD_REST(D) out[i] = MXL_STORE_##D((1 - lr * wd) * w - lr * g);

STEP_OP(sgd, 0, SGD_REST, "sgd_update",
        "A step of gradient descent: (1 - lr * wd) * weight - lr * clip(rescale_grad * grad).");

/* ---- sgd_mom_update ---- */

static const mxl_input momentum_inputs[] = {
    WEIGHT,
    GRAD,
    MXL_INPUT(mom, "The momentum, which is updated in place.", .mutated = true),
    {0},
};
static const mxl_param momentum_table[] = {
    LR,
    NUMBER(momentum, "0", "Factor of the momentum at each step."),
    NUMBER(wd, "0", "Weight decay; its part of the gradient is not clipped."),
    SCALING,
    LAZY,
    {0},
};

#define MOMENTUM_REST(D)                                                                           \
    {                                                                                              \
        const MXL_C_##D m = momentum * MXL_LOAD_##D(first[i]) - lr * (g + wd * w);                 \
                                                                                                   \
        first[i] = MXL_STORE_##D(m);                                                               \
        out[i] = MXL_STORE_##D(w + m);                                                             \
    }

STEP_OP(
    momentum, 0, MOMENTUM_REST, "sgd_mom_update",
    "A step of gradient descent with momentum: with g = clip(rescale_grad * grad) + wd * weight, "
    "mom becomes momentum * mom - lr * g and the result is weight + mom.");

/* ---- adam_update ---- */

static const mxl_input adam_inputs[] = {
    WEIGHT,
    GRAD,
    MXL_INPUT(mean, "The running mean of the gradient, which is updated in place.",
              .mutated = true),
    MXL_INPUT(var, "The running mean of its square, which is updated in place.", .mutated = true),
    {0},
};
static const mxl_param adam_table[] = {
    LR,
    NUMBER(beta1, "0.899999976", "Factor of the mean at each step."),
    NUMBER(beta2, "0.999000013", "Factor of the variance at each step."),
    NUMBER(epsilon, "9.99999994e-09", "Added to the root, so that it is not zero."),
    NUMBER(wd, "0", "Weight decay; its part of the gradient is clipped with it."),
    SCALING,
    LAZY,
    {0},
};

#define ADAM_REST(D)                                                                               \
    {                                                                                              \
        const MXL_C_##D m = beta1 * MXL_LOAD_##D(first[i]) + (1 - beta1) * g;                      \
        const MXL_C_##D v = beta2 * MXL_LOAD_##D(second[i]) + (1 - beta2) * g * g;                 \
                                                                                                   \
        first[i] = MXL_STORE_##D(m);                                                               \
        second[i] = MXL_STORE_##D(v);                                                              \
        out[i] = MXL_STORE_##D(w - lr * m / (sqrt(v) + epsilon));                                  \
    }

/* Adam: Kingma and Ba, https://arxiv.org/abs/1412.6980, without bias correction, which callers put
 * into lr. */
STEP_OP(
    adam, wd *w, ADAM_REST, "adam_update",
    "A step of Adam (arXiv 1412.6980) without its correction of the bias: with g = "
    "clip(rescale_grad * grad + wd * weight), mean becomes beta1 * mean + (1 - beta1) * g, var "
    "becomes beta2 * var + (1 - beta2) * g^2, and the result is weight - lr * mean / (sqrt(var) "
    "+ epsilon).");

const mxl_op *const mxl_ops_optimizer[] = {&op_sgd, &op_momentum, &op_adam, NULL};
