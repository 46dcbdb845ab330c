/* Steps of optimizers: sgd_mom_update. They write their state in place and have no gradient. */
#include "ops/build.h"

#include <stddef.h>

#include "base/thread.h"
#include "kernel/target.h"

/* In 1.9.1 all of these are float32, whatever the arrays are. */
typedef struct sgd_params {
    double lr;
    double momentum;
    double wd;
    double rescale_grad;
    double clip_gradient;
    int lazy_update;
} sgd_params;

static const mxl_input sgd_inputs[] = {
    {.name = "weight", .doc = "What is trained; give it as output too to update it."},
    {.name = "grad", .doc = "Its gradient."},
    {.name = "mom", .doc = "The momentum, which is updated in place.", .mutated = true},
    {0},
};

static const mxl_param sgd_params_table[] = {
    {.name = "lr",
     .type = MXL_P_FLOAT,
     .offset = offsetof(sgd_params, lr),
     .doc = "Learning rate."},
    {.name = "momentum",
     .type = MXL_P_FLOAT,
     .offset = offsetof(sgd_params, momentum),
     .def = "0",
     .doc = "What of the momentum stays at each step."},
    {.name = "wd",
     .type = MXL_P_FLOAT,
     .offset = offsetof(sgd_params, wd),
     .def = "0",
     .doc = "Weight decay; its part of the gradient is not clipped."},
    {.name = "rescale_grad",
     .type = MXL_P_FLOAT,
     .offset = offsetof(sgd_params, rescale_grad),
     .def = "1",
     .doc = "Factor of the gradient, applied before it is clipped."},
    {.name = "clip_gradient",
     .type = MXL_P_FLOAT,
     .offset = offsetof(sgd_params, clip_gradient),
     .def = "-1",
     .doc = "The gradient is clipped to [-clip_gradient, clip_gradient]; a negative number: not."},
    {.name = "lazy_update",
     .type = MXL_P_BOOL,
     .offset = offsetof(sgd_params, lazy_update),
     .def = "1",
     .doc = "For sparse gradients, which there are none of here."},
    {0},
};

typedef struct sgd_step {
    const void *weight, *grad;
    void *mom, *out;
    const sgd_params *params;
} sgd_step;

/* out may be weight: each element is read before it is written. */
#define SGD_LOOP(fn, D)                                                                            \
    MXL_CLONES static void fn(void *data, int64_t begin, int64_t end)                              \
    {                                                                                              \
        const sgd_step *step = data;                                                               \
        const MXL_T_##D *weight = step->weight, *grad = step->grad;                                \
        MXL_T_##D *mom = step->mom, *out = step->out;                                              \
        const MXL_C_##D lr = (float)step->params->lr;                                              \
        const MXL_C_##D momentum = (float)step->params->momentum;                                  \
        const MXL_C_##D wd = (float)step->params->wd;                                              \
        const MXL_C_##D scale = (float)step->params->rescale_grad;                                 \
        const MXL_C_##D clip = (float)step->params->clip_gradient;                                 \
                                                                                                   \
        MXL_IVDEP                                                                                  \
        for (int64_t i = begin; i < end; i++) {                                                    \
            const MXL_C_##D w = MXL_LOAD_##D(weight[i]);                                           \
            MXL_C_##D g = scale * MXL_LOAD_##D(grad[i]), m;                                        \
                                                                                                   \
            if (clip >= 0)                                                                         \
                g = g > clip ? clip : g < -clip ? -clip : g;                                       \
            m = momentum * MXL_LOAD_##D(mom[i]) - lr * (g + wd * w);                               \
            mom[i] = MXL_STORE_##D(m);                                                             \
            out[i] = MXL_STORE_##D(w + m);                                                         \
        }                                                                                          \
    }

SGD_LOOP(sgd_f32, f32)
SGD_LOOP(sgd_f64, f64)
SGD_LOOP(sgd_f16, f16)

static int sgd_compute(const mxl_call *call)
{
    static const mxl_range_fn loop[MXL_DTYPE_COUNT] = {
        [MXL_F32] = sgd_f32, [MXL_F64] = sgd_f64, [MXL_F16] = sgd_f16};
    sgd_step step = {.weight = mxl_array_read(call->in[0]),
                     .grad = mxl_array_read(call->in[1]),
                     .mom = mxl_array_write(call->in[2]),
                     .out = mxl_array_write(call->out[0]),
                     .params = call->params};

    mxl_parallel_for(call->out[0]->size, MXL_ROW_GRAIN, loop[call->out[0]->dtype], &step);
    return 0;
}

static const mxl_op op_sgd_mom_update = {
    .name = "sgd_mom_update",
    .aliases = MXL_ALIASES("_sparse_sgd_mom_update"),
    .doc = "A step of gradient descent with momentum: with g = clip(rescale_grad * grad) + wd * "
           "weight, mom becomes momentum * mom - lr * g and the result is weight + mom.",
    .inputs = sgd_inputs,
    .params = sgd_params_table,
    .params_size = sizeof(sgd_params),
    .infer = mxl_infer_float_same,
    .compute = sgd_compute,
    .in_place = true,
};

const mxl_op *const mxl_ops_optimizer[] = {&op_sgd_mom_update, NULL};
