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

void mxl_reduce_end(mxl_reduction kind, int dtype, int wide, void *out, void *acc, int64_t outputs,
                    int64_t chunks, int64_t count)
{
    char *more = (char *)acc + outputs * REDUCE_ACC;

    if (chunks > 1)
        mxl_reduce_join(kind, wide, acc, more, outputs, chunks - 1);
    mxl_reduce_finish(kind, dtype, out, acc, outputs, count);
}

static size_t partial_bytes(const mxl_reduce_job *job)
{
    return job->chunks > 1 ? (size_t)(job->chunks * job->kept.size) * REDUCE_ACC : 0;
}

/* `room` has the bytes of the partial accumulators; NULL: they are allocated. */
static int task_run(reduce_task *task, void *room)
{
    const mxl_reduce_job *job = &task->job;
    size_t bytes = partial_bytes(job);

    task->partial = NULL;
    if (bytes > 0) {
        task->partial = room != NULL ? room : mxl_alloc(bytes);
        if (task->partial == NULL)
            return -1;
    }
    mxl_reduce_job_run(job, reduce_chunk, task);
    if (bytes > 0) {
        mxl_reduce_end(job->kind, job->dtype, job->wide, task->out, task->partial, job->kept.size,
                       job->chunks, job->reduced.size);
        if (room == NULL)
            mxl_free(task->partial, bytes);
    }
    return 0;
}

bool mxl_reduce_again(mxl_reduction kind, int dtype, const void *out, int64_t n)
{
    bool adds = kind == MXL_REDUCE_SUM || kind == MXL_REDUCE_MEAN || kind == MXL_REDUCE_NANSUM ||
                kind == MXL_REDUCE_NORM1;

    return dtype == MXL_F32 && adds && mxl_reduce_unbounded(out, n);
}

size_t mxl_reduce_room(mxl_reduce_job *job)
{
    size_t once, again;

    mxl_reduce_job_plan(job, MXL_F64);
    again = partial_bytes(job);
    mxl_reduce_job_plan(job, mxl_reduce_wide(job->kind, job->dtype));
    once = partial_bytes(job);
    return once > again ? once : again;
}

int mxl_reduce_in(mxl_reduction kind, int dtype, int ndim, const int64_t *shape,
                  const int64_t *strides, const bool *reduced, const void *in, void *out,
                  void *room)
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
    if (task_run(&task, room) != 0)
        return -1;
    if (mxl_reduce_again(kind, dtype, out, task.job.kept.size)) {
        mxl_reduce_job_plan(&task.job, MXL_F64);
        return task_run(&task, room);
    }
    return 0;
}

int mxl_reduce(mxl_reduction kind, int dtype, int ndim, const int64_t *shape,
               const int64_t *strides, const bool *reduced, const void *in, void *out)
{
    return mxl_reduce_in(kind, dtype, ndim, shape, strides, reduced, in, out, NULL);
}
