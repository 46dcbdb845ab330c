/* The two parts of lamb, and group adagrad: steps that need sums over a weight. You et al.,
 * https://arxiv.org/abs/1904.00962. */
#include "kernel/optimizer/step_loop.h"

#include "kernel/optimizer/parts.h"
#include "kernel/optimizer/squares.h"

#define DIRECTION(S)                                                                               \
    const real beta1 = (float)k.beta1, beta2 = (float)k.beta2;                                     \
    const real bias1 = (real)s.bias1, bias2 = (real)s.bias2;                                       \
    real m, v;                                                                                     \
                                                                                                   \
    g = MXL_WITHIN((float)k.rescale_grad * g, limit);                                              \
    m = beta1 * MXL_LOAD_##S(first[i]) + (1 - beta1) * g;                                          \
    v = beta2 * MXL_LOAD_##S(second[i]) + (1 - beta2) * g * g;                                     \
    first[i] = MXL_STORE_##S(m);                                                                   \
    second[i] = MXL_STORE_##S(v);                                                                  \
    next = m / bias1 / (sqrt(v / bias2) + (float)k.epsilon) + wd * w;

MXL_STEP_ONE_DTYPE(direction, DIRECTION)
MXL_STEP_LOOP(direction_mixed_f32, f32, master, 0, DIRECTION)
MXL_STEP_VIA(direction_mixed_f64, direction_mixed_f32, MXL_F32, MXL_F64, MXL_F32)
MXL_STEP_VIA(direction_mixed_f16, direction_mixed_f32, MXL_F32, MXL_F16, MXL_F32)

const mxl_step_rule mxl_step_lamb_direction = {.same = MXL_STEP_TABLE(direction),
                                               .mixed = MXL_STEP_TABLE(direction_mixed)};

#define LAMB(S) next = w - lr * g;

MXL_STEP_ONE_DTYPE(lamb, LAMB)
MXL_STEP_LOOP(lamb_mixed_f32, f32, master, 1, LAMB)
MXL_STEP_VIA(lamb_mixed_f64, lamb_mixed_f32, MXL_F32, MXL_F32, MXL_F64)
MXL_STEP_VIA(lamb_mixed_f16, lamb_mixed_f32, MXL_F32, MXL_F32, MXL_F16)

const mxl_step_rule mxl_step_lamb = {.same = MXL_STEP_TABLE(lamb),
                                     .mixed = MXL_STEP_TABLE(lamb_mixed)};

/* ---- directions of several weights, with their norms ---- */

typedef struct lamb_job {
    mxl_step_fn loop;
    int weight, out; /* dtypes of the weight and of the direction */
    const mxl_step *steps;
    const mxl_step_numbers *numbers;
    const int64_t *first;
    double *blocks;
} lamb_job;

/* A block is still in the cache when its squares are summed. */
static void direct_blocks(void *data, int part, int64_t begin, int64_t end)
{
    const lamb_job *job = data;
    const mxl_step *step = &job->steps[part];
    size_t of_weight = mxl_dtype_size(job->weight), of_out = mxl_dtype_size(job->out);

    for (int64_t b = begin; b < end; b++) {
        int64_t at = b * MXL_SQUARES_BLOCK, stop = at + MXL_SQUARES_BLOCK;
        double *sums = &job->blocks[2 * (job->first[part] + b)];

        stop = stop < step->size ? stop : step->size;
        job->loop(step, job->numbers, at, stop);
        sums[0] = mxl_square_sum(job->weight, (const char *)step->weight + (size_t)at * of_weight,
                                 stop - at);
        sums[1] =
            mxl_square_sum(job->out, (const char *)step->out + (size_t)at * of_out, stop - at);
    }
}

void mxl_lamb_directions(int dtype, bool mixed, int count, const mxl_step *steps,
                         const mxl_step_numbers *numbers, int64_t *first, double *blocks,
                         double *sums)
{
    const mxl_step_rule *rule = &mxl_step_lamb_direction;
    lamb_job job = {mixed ? rule->mixed[dtype] : rule->same[dtype],
                    dtype,
                    mixed ? MXL_F32 : dtype,
                    steps,
                    numbers,
                    first,
                    blocks};

    first[0] = 0;
    for (int i = 0; i < count; i++)
        first[i + 1] = first[i] + mxl_square_blocks(steps[i].size);
    mxl_parts_run(count, first, MXL_LOOP_UNIT / MXL_SQUARES_BLOCK,
                  MXL_LOOP_GRAIN / MXL_SQUARES_BLOCK, direct_blocks, &job);
    for (int i = 0; i < count; i++) {
        sums[2 * i] = sums[2 * i + 1] = 0;
        for (int64_t b = first[i]; b < first[i + 1]; b++) {
            sums[2 * i] += blocks[2 * b];
            sums[2 * i + 1] += blocks[2 * b + 1];
        }
    }
}
