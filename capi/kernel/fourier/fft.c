/* Fourier transforms: rows and columns of an array, several side by side or one after another, from
 * fft_stages.tmpl.h and fft_run.tmpl.h. */
#include "kernel/fourier/fft.h"

#include <string.h>

#include "base/dtype.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/fourier/fft_plan.h"
#include "kernel/target.h"

enum {
    BLOCK = 64,    /* roots are products of one for each so many, and one of so many */
    CHUNK = 128,   /* roots that are computed at a time */
    GRAIN = 16384, /* elements that are worth a thread */
    LANES = 16,    /* transforms side by side */
    LONG = 16384   /* from this length on fewer of them */
};

/* A job, divided. Lanes are columns, or with `across` (where inner is 1) rows. */
typedef struct work {
    const mxl_fft_job *job;
    const void *plan;
    void *room;
    bool across, halves; /* halves: n real numbers, n even, as n / 2 pairs */
    int64_t length[2];   /* numbers along the axis, where they are real and where they are pairs */
    int64_t lanes, across_lanes, groups, units, workers;
    int64_t size; /* of a buffer of parts */
} work;

/* Where the lanes of a unit begin, in an array of real numbers (width 1) or pairs. */
static int64_t start_of(const work *w, int64_t outer, int64_t lane, int width)
{
    const int64_t length = w->length[width - 1];

    if (w->across)
        return lane * length * width;
    return (outer * length * w->job->inner + lane) * width;
}

static int64_t blocks_of(int64_t count)
{
    return (count + BLOCK - 1) / BLOCK;
}

#define NAME(x) f32_##x
#define T       float
#include "kernel/fourier/fft_stages.tmpl.h"
#include "kernel/fourier/fft_run.tmpl.h"
#undef NAME
#undef T

#define NAME(x) f64_##x
#define T       double
#include "kernel/fourier/fft_stages.tmpl.h"
#include "kernel/fourier/fft_run.tmpl.h"
#undef NAME
#undef T

/* How many transforms of length n run side by side. A length that can run as a matrix, or has to as
 * a convolution, runs alone, unless its elements are apart in memory. */
static int64_t lanes_of(int64_t n, int64_t inner, int64_t count)
{
    int64_t most = n < LONG ? LANES : LANES / 4;

    if (mxl_fft_convolves(n))
        return 1;
    if (inner < LANES / 2 && mxl_fft_columns(n) > 0)
        return 1;
    return count < most ? count : most;
}

static void divide(work *w, const mxl_fft_job *job)
{
    const bool pairs = job->kind == MXL_FFT_PAIRS;
    int64_t n, most;

    w->job = job;
    w->halves = !pairs && job->n % 2 == 0;
    w->length[0] = job->n;
    w->length[1] = pairs ? job->n : job->n / 2 + 1;
    w->across = job->inner == 1;
    w->across_lanes = w->across ? job->outer : job->inner;
    n = w->halves ? job->n / 2 : job->n;
    w->lanes = lanes_of(n, job->inner, w->across_lanes);
    w->groups = (w->across_lanes + w->lanes - 1) / w->lanes;
    w->units = w->groups * (w->across ? 1 : job->outer);
    w->size = w->lanes * (mxl_fft_convolves(n) ? mxl_fft_padded(n) : n + 1);
    most = w->units * w->lanes * n / GRAIN + 1;
    w->workers = w->units < mxl_thread_count() ? w->units : mxl_thread_count();
    w->workers = most < w->workers ? most : w->workers;
}

int mxl_fft(const mxl_fft_job *job)
{
    const bool wide = job->dtype == MXL_F64;
    work w = {0};
    size_t bytes;
    int64_t n;
    void *plan = NULL;

    if (job->outer == 0 || job->inner == 0)
        return 0;
    divide(&w, job);
    n = w.halves ? job->n / 2 : job->n;
    bytes = (size_t)(w.workers * 4 * w.size) * mxl_dtype_size(job->dtype);
    w.room = mxl_alloc(bytes);
    if (w.room == NULL)
        return -1;
    plan = wide ? f64_make_plan(n, w.lanes == 1) : f32_make_plan(n, w.lanes == 1);
    w.plan = plan;
    if (plan != NULL) {
        mxl_parallel_for(w.workers, 1, wide ? f64_range : f32_range, &w);
        wide ? f64_drop_plan(plan) : f32_drop_plan(plan);
    }
    mxl_free(w.room, bytes);
    return plan == NULL ? -1 : 0;
}
