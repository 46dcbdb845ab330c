/* Weighted sums of elements; see points.h. A thread has whole channels, whose sums always have one
 * order. */
#include "kernel/spatial/points.h"

#include "base/dtype.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "base/thread.h"

enum { GRAIN = 16384 };

int mxl_points_alloc(mxl_points *points, int64_t bins, int64_t plane, int64_t elements)
{
    const int64_t most = INT64_MAX / 64;

    *points = (mxl_points){.bins = bins, .plane = plane};
    if (bins > most || elements > most)
        return mxl_error("%lld elements are too many", (long long)elements);
    points->bytes = ((size_t)bins + 1 + 2 * (size_t)elements) * sizeof(int64_t);
    points->start = mxl_alloc(points->bytes);
    if (points->start == NULL)
        return -1;
    points->index = points->start + bins + 1;
    points->weight = (double *)(points->index + elements);
    mxl_points_clear(points);
    return 0;
}

void mxl_points_free(mxl_points *points)
{
    mxl_free(points->start, points->bytes);
}

void mxl_points_clear(mxl_points *points)
{
    points->filled = 0;
    points->start[0] = points->start[1] = 0;
}

void mxl_points_add(mxl_points *points, int64_t index, double weight)
{
    int64_t at = points->start[points->filled + 1]++;

    points->index[at] = index;
    points->weight[at] = weight;
}

void mxl_points_next(mxl_points *points)
{
    int64_t end = points->start[++points->filled];

    if (points->filled < points->bins)
        points->start[points->filled + 1] = end;
}

typedef struct points_job {
    const mxl_points *points;
    bool apart;
    const void *from;
    void *to;
} points_job;

/* One item is a channel. */
#define LOOPS(T)                                                                                   \
    static void take_##T(void *data, int64_t begin, int64_t end)                                   \
    {                                                                                              \
        const points_job *job = data;                                                              \
        const mxl_points *p = job->points;                                                         \
                                                                                                   \
        for (int64_t c = begin; c < end; c++) {                                                    \
            T *y = (T *)job->to + c * p->bins;                                                     \
                                                                                                   \
            for (int64_t b = 0; b < p->bins; b++) {                                                \
                const T *x = (const T *)job->from + (job->apart ? c * p->bins + b : c) * p->plane; \
                T sum = 0;                                                                         \
                                                                                                   \
                for (int64_t t = p->start[b]; t < p->start[b + 1]; t++)                            \
                    sum += (T)p->weight[t] * x[p->index[t]];                                       \
                y[b] = sum;                                                                        \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void put_##T(void *data, int64_t begin, int64_t end)                                    \
    {                                                                                              \
        const points_job *job = data;                                                              \
        const mxl_points *p = job->points;                                                         \
                                                                                                   \
        for (int64_t c = begin; c < end; c++) {                                                    \
            const T *dy = (const T *)job->from + c * p->bins;                                      \
                                                                                                   \
            for (int64_t b = 0; b < p->bins; b++) {                                                \
                T *dx = (T *)job->to + (job->apart ? c * p->bins + b : c) * p->plane;              \
                                                                                                   \
                for (int64_t t = p->start[b]; t < p->start[b + 1]; t++)                            \
                    dx[p->index[t]] += (T)p->weight[t] * dy[b];                                    \
            }                                                                                      \
        }                                                                                          \
    }

LOOPS(float)
LOOPS(double)

static void run(const mxl_points *points, int64_t channels, bool apart, mxl_range_fn loop,
                const void *from, void *to)
{
    points_job job = {points, apart, from, to};
    int64_t work = points->bins + points->start[points->bins];

    if (channels > 0 && points->bins > 0)
        mxl_parallel_for(channels, GRAIN / (work + 1) + 1, loop, &job);
}

void mxl_points_take(int dtype, const mxl_points *points, int64_t channels, bool apart,
                     const void *x, void *y)
{
    run(points, channels, apart, dtype == MXL_F64 ? take_double : take_float, x, y);
}

void mxl_points_put(int dtype, const mxl_points *points, int64_t channels, bool apart,
                    const void *dy, void *dx)
{
    run(points, channels, apart, dtype == MXL_F64 ? put_double : put_float, dy, dx);
}
