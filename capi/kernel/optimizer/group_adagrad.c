/* Adagrad with one number of history for each row of the weight. */
#include "kernel/optimizer/step_loop.h"

#include "base/thread.h"

typedef struct rows_job {
    const mxl_step *step;
    const mxl_step_numbers *numbers;
    int64_t columns;
} rows_job;

/* The mean of squares is summed in float64, in the order of the columns. */
#define ROWS(fn, D)                                                                                \
    static void fn(void *data, int64_t begin, int64_t end)                                         \
    {                                                                                              \
        typedef MXL_C_##D real;                                                                    \
        const rows_job *job = data;                                                                \
        const mxl_step_numbers k = *job->numbers;                                                  \
        const real scale = (float)k.rescale_grad, limit = MXL_LIMIT(k.clip_gradient);              \
        MXL_T_##D *history = job->step->state[0];                                                  \
                                                                                                   \
        for (int64_t row = begin; row < end; row++) {                                              \
            const MXL_T_##D *weight = (const MXL_T_##D *)job->step->weight + row * job->columns;   \
            const MXL_T_##D *grad = (const MXL_T_##D *)job->step->grad + row * job->columns;       \
            MXL_T_##D *out = (MXL_T_##D *)job->step->out + row * job->columns;                     \
            double sum = 0;                                                                        \
            real rate;                                                                             \
                                                                                                   \
            for (int64_t i = 0; i < job->columns; i++) {                                           \
                const real g = scale * MXL_LOAD_##D(grad[i]), within = MXL_WITHIN(g, limit);       \
                                                                                                   \
                sum += (double)within * (double)within;                                            \
            }                                                                                      \
            rate = MXL_LOAD_##D(history[row]) + (real)(sum / (double)job->columns);                \
            history[row] = MXL_STORE_##D(rate);                                                    \
            rate = sqrt(rate + (float)k.epsilon);                                                  \
            for (int64_t i = 0; i < job->columns; i++) {                                           \
                const real g = scale * MXL_LOAD_##D(grad[i]), within = MXL_WITHIN(g, limit);       \
                                                                                                   \
                out[i] = MXL_STORE_##D(MXL_LOAD_##D(weight[i]) - job->step->lr * within / rate);   \
            }                                                                                      \
        }                                                                                          \
    }

ROWS(rows_f32, f32)
ROWS(rows_f64, f64)
ROWS(rows_f16, f16)

static mxl_range_fn loop_of(int dtype)
{
    return dtype == MXL_F64 ? rows_f64 : dtype == MXL_F16 ? rows_f16 : rows_f32;
}

void mxl_step_rows(int dtype, const mxl_step *step, const mxl_step_numbers *numbers, int64_t rows,
                   int64_t columns)
{
    rows_job job = {step, numbers, columns};
    int64_t unit = MXL_LOOP_UNIT / (columns + 1) + 1, grain = MXL_LOOP_GRAIN / (columns + 1) + 1;

    if (columns > 0)
        mxl_parallel_fine(rows, unit, grain, loop_of(dtype), &job);
}

void mxl_step_rows_here(int dtype, const mxl_step *step, const mxl_step_numbers *numbers,
                        int64_t rows, int64_t columns)
{
    rows_job job = {step, numbers, columns};

    if (columns > 0)
        loop_of(dtype)(&job, 0, rows);
}
