/* Steps along the gradient: sgd, with momentum, Nesterov's, and those that use signs only. Also the
 * run over several weights. */
#include "kernel/optimizer/step_loop.h"

#include "kernel/optimizer/parts.h"

typedef struct steps_job {
    mxl_step_fn loop;
    const mxl_step *steps;
    const mxl_step_numbers *numbers;
} steps_job;

static void run_part(void *data, int part, int64_t begin, int64_t end)
{
    const steps_job *job = data;

    job->loop(&job->steps[part], job->numbers, begin, end);
}

void mxl_steps_run(mxl_step_fn loop, int count, const mxl_step *steps,
                   const mxl_step_numbers *numbers, int64_t *first)
{
    steps_job job = {loop, steps, numbers};

    first[0] = 0;
    for (int i = 0; i < count; i++)
        first[i + 1] = first[i] + steps[i].size;
    mxl_parts_run(count, first, MXL_LOOP_UNIT, MXL_LOOP_GRAIN, run_part, &job);
}

#define SCALED MXL_WITHIN((float)k.rescale_grad *g, limit)

#define SGD(S) next = (1 - lr * wd) * w - lr * SCALED;

MXL_STEP_BOTH(sgd, SGD)

/* Sets m to the new momentum. */
#define MOMENTUM(S)                                                                                \
    const real momentum = (float)k.momentum;                                                       \
    const real d = lr * (SCALED + wd * w);                                                         \
    const real m = momentum * MXL_LOAD_##S(first[i]) - d;                                          \
                                                                                                   \
    first[i] = MXL_STORE_##S(m);

#define WITH_MOMENTUM(S)                                                                           \
    MOMENTUM(S)                                                                                    \
    next = w + m;

MXL_STEP_BOTH(momentum, WITH_MOMENTUM)

/* Nesterov's: the step that the momentum will take next is taken already. A weight that is updated
 * in place decays by its new value in the momentum, as in 1.9.1. */
#define NAG(S)                                                                                     \
    const bool in_place = master != NULL || (const void *)out == (const void *)weight;             \
                                                                                                   \
    MOMENTUM(S)                                                                                    \
    next = w + (momentum * m - d);                                                                 \
    if (in_place)                                                                                  \
        first[i] = MXL_STORE_##S(m - lr * wd * (next - w));

MXL_STEP_BOTH(nag, NAG)

/* -1, 0 or 1; 0 for a NaN */
#define SIGN(x) ((real)((x) > 0) - (real)((x) < 0))

/* Neither the rescaling nor the limit changes a sign here, as in 1.9.1. */
#define SIGNSGD(S) next = (1 - lr * wd) * w - lr * SIGN(g);

MXL_STEP_RULE(signsgd, SIGNSGD)

#define SIGNUM(S)                                                                                  \
    const real momentum = (float)k.momentum;                                                       \
    const real m =                                                                                 \
        momentum * MXL_LOAD_##S(first[i]) - (1 - momentum) * wd * w - (1 - momentum) * SCALED;     \
                                                                                                   \
    first[i] = MXL_STORE_##S(m);                                                                   \
    next = (1 - lr * (float)k.wd_lh) * w + lr * SIGN(m);

MXL_STEP_RULE(signum, SIGNUM)
