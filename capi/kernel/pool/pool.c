/* The maximum and the sum of windows; see pool.h. The loops are in pool.tmpl.h. */
#include "kernel/pool/pool.h"

#include "base/dtype.h"
#include "base/thread.h"
#include "kernel/pool/pool_job.h"
#include "kernel/target.h"

enum { LANES = 32 };

/* One window for each plane, which it holds completely. */
static bool is_global(const mxl_pool *p)
{
    for (int i = 0; i < 3; i++) {
        const mxl_window *w = &p->axis[i];

        if (w->out != 1 || w->pad < 0 || w->kernel - w->pad < w->in)
            return false;
    }
    return p->inner == 1;
}

/* The outputs whose window has `kernel` positions that count. */
static pool_range whole_windows(const mxl_window *w, mxl_pool_divide divide)
{
    int64_t padding = divide == MXL_POOL_MEAN_PADDED ? w->pad : 0;
    int64_t last = w->in + w->pad + padding - w->kernel; /* where the last one may begin */
    int64_t before = w->pad - padding;
    pool_range r = {before > 0 ? (before + w->stride - 1) / w->stride : 0, 0};

    if (last >= 0)
        r.end = pool_least(last / w->stride + 1, w->out);
    return r;
}

pool_job mxl_pool_job(const mxl_pool *p)
{
    pool_job job = {.p = p, .in_plane = 1, .out_plane = 1, .blocks = 1};

    for (int i = 0; i < 3; i++) {
        job.in_plane *= p->axis[i].in;
        job.out_plane *= p->axis[i].out;
    }
    job.whole = whole_windows(&p->axis[2], p->divide);
    if (is_global(p))
        job.way = POOL_PLANES;
    else if (p->inner == 1 && p->axis[2].kernel <= POOL_WIDEST && p->axis[2].stride <= POOL_WIDEST)
        job.way = POOL_ROWS;
    job.abut = job.way == POOL_ROWS && p->axis[2].stride == p->axis[2].kernel &&
               p->axis[2].pad == 0 && p->axis[2].out * p->axis[2].stride <= p->axis[2].in &&
               p->axis[2].out * p->axis[2].stride <= POOL_SPAN / 2 && p->axis[2].out > 0;
    return job;
}

#define NAME(x) f32_##x
#define T       float
#define LEVELS  MXL_FROM_AVX2
#include "kernel/pool/pool.tmpl.h"

#define NAME(x) f64_##x
#define T       double
#define LEVELS  MXL_UP_TO_AVX2
#include "kernel/pool/pool.tmpl.h"

static void run(pool_job *job)
{
    const mxl_pool *p = job->p;
    mxl_range_fn loop = p->dtype == MXL_F64 ? f64_chunk : f32_chunk;
    int64_t rows = p->outer * p->axis[0].out * p->axis[1].out;
    int64_t work = job->way == POOL_PLANES ? job->in_plane : p->axis[2].out * p->inner * 4;

    if (rows * p->axis[2].out * p->inner == 0)
        return;
    if (job->kind == POOL_POWERS)
        loop = p->dtype == MXL_F64 ? f64_powers : f32_powers;
    mxl_parallel_for(rows, POOL_GRAIN / (work + 1) + 1, loop, job);
}

void mxl_pool_max(const mxl_pool *p, double lowest, const void *x, void *y)
{
    pool_job job = mxl_pool_job(p);

    job.kind = POOL_MAX;
    job.lowest = lowest;
    job.x = x;
    job.y = y;
    run(&job);
}

void mxl_pool_sum(const mxl_pool *p, const void *x, void *y)
{
    pool_job job = mxl_pool_job(p);

    job.kind = p->power > 1 ? POOL_POWERS : POOL_SUM;
    job.x = x;
    job.y = y;
    run(&job);
}
