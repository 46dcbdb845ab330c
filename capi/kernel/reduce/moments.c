/* Mean and variance in one pass over memory. A chunk of elements is summed, then read again from
 * the cache for the squares of distances from a value near its mean. Chunks are combined by the
 * formula of Chan, Golub and LeVeque, "Algorithms for computing the sample variance", 1983. */
#include "kernel/reduce/moments.h"

#include "base/dtype.h"
#include "base/memory/mem.h"
#include "kernel/copy/cast.h"
#include "kernel/reduce/reduce_job.h"

enum { SHARE = 65536 /* most elements of a chunk, which are read twice */ };

/* Arrays of [chunks][outputs]. For floats: the mean of a chunk, and the sum of squared distances
 * from it. For integers: the sum, and the sum of squares. */
typedef struct moments_task {
    mxl_reduce_job job;
    char *first, *second;
} moments_task;

static bool is_finite(double v)
{
    return v - v == 0;
}

/* The mean and squares of m values, from the sum of their distances from `about` and the sum of the
 * squares of those, which may overflow a double. (The result is never negative: `about` is within a
 * rounding error of the mean, and different elements differ by more.) */
static void about_mean(double m, double about, double *sum, double *squares)
{
    double rest = *sum / m;

    if (is_finite(*squares) || !is_finite(*sum))
        *squares -= *sum * rest;
    *sum = about + rest;
}

/* ---- chunks ---- */

static void float_unit(const mxl_reduce_job *job, const mxl_reduce_unit *unit, double *mean,
                       double *squares)
{
    _Alignas(64) char about[REDUCE_COLUMNS * REDUCE_ACC];
    const mxl_reduce_into sums = {.acc = (char *)mean};
    const mxl_reduce_into rest = {(char *)mean, (char *)squares, about};
    double centre[REDUCE_COLUMNS], m = (double)(unit->end - unit->begin);

    mxl_reduce_start(MXL_REDUCE_SUM, job->wide, mean, unit->n);
    mxl_reduce_span(job, unit, &sums);
    for (int64_t j = 0; j < unit->n; j++)
        mean[j] = is_finite(mean[j]) ? mean[j] / m : 0;
    mxl_reduce_widen(MXL_F64, job->wide, about, mean, unit->n);
    mxl_reduce_widen(job->wide, MXL_F64, centre, about, unit->n);
    mxl_reduce_start(MXL_REDUCE_SUM, job->wide, mean, unit->n);
    mxl_reduce_start(MXL_REDUCE_SQUARES, job->wide, squares, unit->n);
    mxl_reduce_span(job, unit, &rest);
    for (int64_t j = 0; j < unit->n; j++)
        about_mean(m, centre[j], &mean[j], &squares[j]);
}

static void moments_chunk(void *data, int64_t begin, int64_t end)
{
    const moments_task *task = data;
    const mxl_reduce_job *job = &task->job;

    for (int64_t i = begin; i < end; i++) {
        mxl_reduce_unit unit = mxl_reduce_unit_at(job, i);
        int64_t at = (unit.chunk * job->kept.size + unit.at) * REDUCE_ACC;
        const mxl_reduce_into sums = {task->first + at, task->second + at, NULL};

        if (mxl_dtype_is_float(job->wide)) {
            float_unit(job, &unit, (double *)(void *)sums.acc, (double *)(void *)sums.squares);
            continue;
        }
        mxl_reduce_start(MXL_REDUCE_SUM, job->wide, sums.acc, unit.n);
        mxl_reduce_start(MXL_REDUCE_SQUARES, job->wide, sums.squares, unit.n);
        mxl_reduce_span(job, &unit, &sums);
    }
}

/* ---- results ---- */

/* The means of all chunks are close together, so distances are taken from the first one, as within
 * a chunk. */
static void float_join(const mxl_reduce_job *job, double *mean, double *squares)
{
    int64_t outputs = job->kept.size, count = job->reduced.size;

    for (int64_t j = 0; j < outputs; j++) {
        double about = is_finite(mean[j]) ? mean[j] : 0, sum = 0, all = 0;

        for (int64_t k = 0; k < job->chunks; k++) {
            int64_t m = k + 1 < job->chunks ? job->chunk : count - k * job->chunk;
            double rest = mean[k * outputs + j] - about;

            sum += (double)m * rest;
            all += squares[k * outputs + j] + (double)m * rest * rest;
        }
        about_mean((double)count, about, &sum, &all);
        mean[j] = sum;
        squares[j] = all;
    }
}

/* sum((x - c)^2) = sum(x^2) - 2 c sum(x) + count c^2, in integers that wrap */
static void integer_join(const mxl_reduce_job *job, int64_t *sum, int64_t *squares, void *mean)
{
    int64_t outputs = job->kept.size, count = job->reduced.size, chunks = job->chunks, step = 1;

    if (chunks > 1) {
        mxl_reduce_join(job->kind, job->wide, sum, sum + outputs, outputs, chunks - 1);
        mxl_reduce_join(job->kind, job->wide, squares, squares + outputs, outputs, chunks - 1);
    }
    mxl_reduce_finish(MXL_REDUCE_MEAN, job->dtype, mean, sum, outputs, count);
    for (int64_t j = 0; j < outputs; j++) {
        const void *at = (const char *)mean + j * (int64_t)job->size;
        int64_t c;

        mxl_cast_loop(job->dtype, MXL_I64)(&c, &at, &step, 1, NULL);
        squares[j] += c * (count * c - 2 * sum[j]);
    }
}

static int task_run(moments_task *task, void *mean, void *variance)
{
    const mxl_reduce_job *job = &task->job;
    size_t plane = (size_t)(job->chunks * job->kept.size) * REDUCE_ACC;
    char *room = mxl_alloc(2 * plane);

    if (room == NULL)
        return -1;
    task->first = room;
    task->second = room + plane;
    mxl_reduce_job_run(job, moments_chunk, task);
    if (mxl_dtype_is_float(job->wide)) {
        if (job->chunks > 1)
            float_join(job, (double *)(void *)task->first, (double *)(void *)task->second);
        mxl_reduce_finish(MXL_REDUCE_SUM, job->dtype, mean, task->first, job->kept.size, 1);
    } else {
        integer_join(job, (int64_t *)(void *)task->first, (int64_t *)(void *)task->second, mean);
    }
    mxl_reduce_finish(MXL_REDUCE_MEAN, job->dtype, variance, task->second, job->kept.size,
                      job->reduced.size);
    mxl_free(room, 2 * plane);
    return 0;
}

static void plan(mxl_reduce_job *job, int wide)
{
    mxl_reduce_job_plan(job, wide);
    mxl_reduce_job_limit(job, SHARE / job->tile);
}

int mxl_moments(int dtype, int ndim, const int64_t *shape, const int64_t *strides,
                const bool *reduced, const void *in, void *mean, void *variance)
{
    moments_task task;
    mxl_reduce_job *job = &task.job;

    if (!mxl_reduce_job_init(job, MXL_REDUCE_SUM, dtype, ndim, shape, strides, reduced, in))
        return mxl_reduce(MXL_REDUCE_MEAN, dtype, ndim, shape, strides, reduced, in, mean) == 0
                   ? mxl_reduce(MXL_REDUCE_MEAN, dtype, ndim, shape, strides, reduced, in, variance)
                   : -1;
    plan(job, mxl_reduce_wide(MXL_REDUCE_SUM, dtype));
    if (task_run(&task, mean, variance) != 0)
        return -1;
    /* If the mean is not finite, the variance is NaN too. */
    if (dtype == MXL_F32 && mxl_reduce_unbounded(variance, job->kept.size)) {
        plan(job, MXL_F64);
        return task_run(&task, mean, variance);
    }
    return 0;
}
