/* Sums of squares, checks for infinities and zeros, over several arrays. */
#include "kernel/optimizer/squares.h"

#include <stdatomic.h>
#include <string.h>

#include "kernel/elementwise/loop.h"
#include "kernel/optimizer/parts.h"
#include "kernel/target.h"

/* ---- squares ---- */

enum { LANES = 16 };

/* Squares of float32 are exact in float64. */
#define SQUARES(fn, D)                                                                             \
    MXL_INLINE void fn##_at(int level, const void *data, int64_t n, double *sum)                   \
    {                                                                                              \
        const MXL_T_##D *x = data;                                                                 \
        double lane[LANES] = {0};                                                                  \
        int64_t i = 0;                                                                             \
                                                                                                   \
        (void)level;                                                                               \
        for (; i + LANES <= n; i += LANES) {                                                       \
            MXL_AS_LOOP                                                                            \
            for (int k = 0; k < LANES; k++)                                                        \
                lane[k] += (double)MXL_LOAD_##D(x[i + k]) * (double)MXL_LOAD_##D(x[i + k]);        \
        }                                                                                          \
        for (int k = 0; i < n; i++, k++)                                                           \
            lane[k] += (double)MXL_LOAD_##D(x[i]) * (double)MXL_LOAD_##D(x[i]);                    \
        for (int half = LANES / 2; half > 0; half /= 2)                                            \
            for (int k = 0; k < half; k++)                                                         \
                lane[k] += lane[k + half];                                                         \
        *sum = lane[0];                                                                            \
    }                                                                                              \
    MXL_FROM_AVX2(fn, (const void *data, int64_t n, double *sum), data, n, sum)

SQUARES(squares_f32, f32)
SQUARES(squares_f64, f64)
SQUARES(squares_f16, f16)

double mxl_square_sum(int dtype, const void *data, int64_t n)
{
    double sum;

    if (dtype == MXL_F64)
        squares_f64(data, n, &sum);
    else if (dtype == MXL_F16)
        squares_f16(data, n, &sum);
    else
        squares_f32(data, n, &sum);
    return sum;
}

/* What the functions below work on. */
typedef struct arrays_job {
    int dtype;
    const void *const *data;
    void *const *out;
    const int64_t *sizes, *first;
    double *blocks;
    atomic_bool finite;
} arrays_job;

static void sum_blocks(void *data, int part, int64_t begin, int64_t end)
{
    const arrays_job *job = data;
    size_t bytes = mxl_dtype_size(job->dtype);

    for (int64_t b = begin; b < end; b++) {
        int64_t at = b * MXL_SQUARES_BLOCK, left = job->sizes[part] - at;

        job->blocks[job->first[part] + b] =
            mxl_square_sum(job->dtype, (const char *)job->data[part] + (size_t)at * bytes,
                           left < MXL_SQUARES_BLOCK ? left : MXL_SQUARES_BLOCK);
    }
}

void mxl_square_sums(int dtype, int count, const void *const *data, const int64_t *sizes,
                     int64_t *first, double *blocks, double *sums)
{
    arrays_job job = {
        .dtype = dtype, .data = data, .sizes = sizes, .first = first, .blocks = blocks};

    first[0] = 0;
    for (int i = 0; i < count; i++)
        first[i + 1] = first[i] + mxl_square_blocks(sizes[i]);
    mxl_parts_run(count, first, MXL_LOOP_UNIT / MXL_SQUARES_BLOCK,
                  MXL_LOOP_GRAIN / MXL_SQUARES_BLOCK, sum_blocks, &job);
    for (int i = 0; i < count; i++) {
        sums[i] = 0;
        for (int64_t b = first[i]; b < first[i + 1]; b++)
            sums[i] += blocks[b];
    }
}

/* ---- infinities, zeros ---- */

/* x - x is 0 for finite numbers and NaN for others. */
#define FINITE(fn, D)                                                                              \
    MXL_INLINE void fn##_at(int level, const void *data, int64_t n, bool *finite)                  \
    {                                                                                              \
        const MXL_T_##D *x = data;                                                                 \
        int bad = 0;                                                                               \
                                                                                                   \
        (void)level;                                                                               \
        for (int64_t i = 0; i < n; i++)                                                            \
            bad |= MXL_LOAD_##D(x[i]) - MXL_LOAD_##D(x[i]) != 0;                                   \
        *finite = !bad;                                                                            \
    }                                                                                              \
    MXL_FROM_AVX2(fn, (const void *data, int64_t n, bool *finite), data, n, finite)

FINITE(finite_f32, f32)
FINITE(finite_f64, f64)
FINITE(finite_f16, f16)

static void check_range(void *data, int part, int64_t begin, int64_t end)
{
    arrays_job *job = data;
    const char *at = (const char *)job->data[part] + (size_t)begin * mxl_dtype_size(job->dtype);
    bool finite;

    if (!atomic_load_explicit(&job->finite, memory_order_relaxed))
        return;
    if (job->dtype == MXL_F64)
        finite_f64(at, end - begin, &finite);
    else if (job->dtype == MXL_F16)
        finite_f16(at, end - begin, &finite);
    else
        finite_f32(at, end - begin, &finite);
    if (!finite)
        atomic_store_explicit(&job->finite, false, memory_order_relaxed);
}

static void fill_range(void *data, int part, int64_t begin, int64_t end)
{
    const arrays_job *job = data;

    memset((char *)job->out[part] + begin, 0, (size_t)(end - begin));
}

static void run_elements(arrays_job *job, int count, int64_t *first, mxl_part_fn run)
{
    first[0] = 0;
    for (int i = 0; i < count; i++)
        first[i + 1] = first[i] + job->sizes[i];
    mxl_parts_run(count, first, MXL_LOOP_UNIT, MXL_LOOP_GRAIN, run, job);
}

bool mxl_all_finite(int dtype, int count, const void *const *data, const int64_t *sizes,
                    int64_t *first)
{
    arrays_job job = {.dtype = dtype, .data = data, .sizes = sizes};

    atomic_init(&job.finite, true);
    run_elements(&job, count, first, check_range);
    return atomic_load_explicit(&job.finite, memory_order_relaxed);
}

void mxl_all_zero(int count, void *const *data, const int64_t *bytes, int64_t *first)
{
    arrays_job job = {.out = data, .sizes = bytes};

    run_elements(&job, count, first, fill_range);
}
