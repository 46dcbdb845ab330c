/* Reductions in one pass of their loops: divides into chunks and combines the accumulators. */
#include "kernel/reduce/reduce.h"

#include <string.h>

#include "base/dtype.h"
#include "base/memory/mem.h"
#include "kernel/reduce/reduce_job.h"

typedef struct reduce_task {
    mxl_reduce_job job;
    char *out;
    char *partial; /* [chunks][outputs] accumulators; NULL: a single chunk, finished at once */
} reduce_task;

static void reduce_chunk(void *data, int64_t begin, int64_t end)
{
    const reduce_task *task = data;
    const mxl_reduce_job *job = &task->job;
    _Alignas(64) char acc[REDUCE_COLUMNS * REDUCE_ACC];
    const mxl_reduce_into into = {.acc = acc};

    for (int64_t i = begin; i < end; i++) {
        mxl_reduce_unit unit = mxl_reduce_unit_at(job, i);

        mxl_reduce_start(job->kind, job->wide, acc, unit.n);
        mxl_reduce_span(job, &unit, &into);
        if (task->partial == NULL)
            mxl_reduce_finish(job->kind, job->dtype, task->out + unit.at * (int64_t)job->size, acc,
                              unit.n, job->reduced.size);
        else
            memcpy(task->partial + (unit.chunk * job->kept.size + unit.at) * REDUCE_ACC, acc,
                   (size_t)unit.n * REDUCE_ACC);
    }
}

static int task_run(reduce_task *task)
{
    const mxl_reduce_job *job = &task->job;
    int64_t n = job->kept.size;
    size_t bytes = (size_t)(job->chunks * n) * REDUCE_ACC;

    task->partial = NULL;
    if (job->chunks > 1) {
        task->partial = mxl_alloc(bytes);
        if (task->partial == NULL)
            return -1;
    }
    mxl_reduce_job_run(job, reduce_chunk, task);
    if (job->chunks > 1) {
        mxl_reduce_join(job, task->partial, task->partial + n * REDUCE_ACC, n, job->chunks - 1);
        mxl_reduce_finish(job->kind, job->dtype, task->out, task->partial, n, job->reduced.size);
        mxl_free(task->partial, bytes);
    }
    return 0;
}

static bool adds_floats(mxl_reduction kind)
{
    return kind == MXL_REDUCE_SUM || kind == MXL_REDUCE_MEAN || kind == MXL_REDUCE_NANSUM ||
           kind == MXL_REDUCE_NORM1;
}

int mxl_reduce(mxl_reduction kind, int dtype, int ndim, const int64_t *shape,
               const int64_t *strides, const bool *reduced, const void *in, void *out)
{
    reduce_task task = {.out = out};
    int wide = mxl_reduce_wide(kind, dtype);

    if (!mxl_reduce_job_init(&task.job, kind, dtype, ndim, shape, strides, reduced, in)) {
        _Alignas(8) char acc[REDUCE_ACC];

        mxl_reduce_start(kind, wide, acc, 1);
        for (int64_t i = 0; i < task.job.kept.size; i++)
            mxl_reduce_finish(kind, dtype, task.out + i * (int64_t)task.job.size, acc, 1, 0);
        return 0;
    }
    mxl_reduce_job_plan(&task.job, wide);
    if (task_run(&task) != 0)
        return -1;
    if (dtype == MXL_F32 && adds_floats(kind) && mxl_reduce_unbounded(out, task.job.kept.size)) {
        mxl_reduce_job_plan(&task.job, MXL_F64);
        return task_run(&task);
    }
    return 0;
}
