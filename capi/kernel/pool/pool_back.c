/* The gradients of pooling; see pool.h. The loops are in pool_back.tmpl.h. A thread has a whole
 * plane, or some of its inner elements: windows overlap, and their order never changes. */
#include <stddef.h>
#include <string.h>

#include "base/dtype.h"
#include "base/thread.h"
#include "kernel/pool/pool_job.h"
#include "kernel/target.h"

enum { CHANNELS = 64, CHUNK = 16 /* elements of the widest vector */ };

#define NAME(x) f32_##x
#define T       float
#define P       int32_t
#define LEVELS  MXL_FROM_AVX2
#include "kernel/pool/pool_back.tmpl.h"

#define NAME(x) f64_##x
#define T       double
#define P       int64_t
#define LEVELS  MXL_UP_TO_AVX2
#include "kernel/pool/pool_back.tmpl.h"

/* Whether planes are cut into windows of 2 x 2, side by side. */
static bool are_pairs(const pool_job *job)
{
    const mxl_window *h = &job->p->axis[1];

    return job->abut && job->p->axis[2].kernel == 2 && h->kernel == 2 && h->stride == 2 &&
           h->pad == 0 && 2 * h->out <= h->in && job->p->axis[0].in == 1;
}

static void run(pool_job *job)
{
    const mxl_pool *p = job->p;
    int64_t work = job->in_plane * pool_least(p->inner, CHANNELS) + 1;

    if (job->way == POOL_PLANES && p->axis[2].kernel <= POOL_WIDEST)
        job->way = POOL_ROWS;
    job->blocks = (p->inner + CHANNELS - 1) / CHANNELS;
    if (p->outer * job->blocks > 0)
        mxl_parallel_for(p->outer * job->blocks, POOL_GRAIN / work + 1,
                         p->dtype == MXL_F64 ? f64_back : f32_back, job);
}

void mxl_pool_max_back(const mxl_pool *p, double lowest, const void *x, const void *dy, void *dx)
{
    pool_job job = mxl_pool_job(p);

    job.kind = POOL_MAX;
    job.lowest = lowest;
    job.x = x;
    job.dy = dy;
    job.dx = dx;
    job.pairs = are_pairs(&job);
    run(&job);
}

void mxl_pool_max_pick(const mxl_pool *p, double lowest, const void *x, const void *from, void *y)
{
    pool_job job = mxl_pool_job(p);

    job.kind = POOL_MAX;
    job.lowest = lowest;
    job.x = x;
    job.from = from;
    job.y = y;
    run(&job);
}

void mxl_pool_spread(const mxl_pool *p, const void *dy, void *dx)
{
    pool_job job = mxl_pool_job(p);

    job.kind = POOL_SUM;
    job.dy = dy;
    job.dx = dx;
    run(&job);
}
