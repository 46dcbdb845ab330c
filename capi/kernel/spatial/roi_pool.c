/* Maxima of the bins of regions; see roi.h. A thread has whole channels, in which regions overlap
 * in one order. */
#include <math.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/thread.h"
#include "kernel/spatial/roi.h"

enum { GRAIN = 16384 };

typedef struct pool_job {
    const mxl_roi *r;
    double lowest;
    const void *regions, *x, *dy, *from;
    void *y, *dx;
} pool_job;

/* Pixels [begin, end) of an axis. */
typedef struct pixels {
    int64_t begin, end;
} pixels;

static int64_t limit(double v, int64_t low, int64_t high)
{
    return !(v > (double)low) ? low : v < (double)high ? (int64_t)v : high;
}

#define LOOPS(T, FLOOR, CEIL, ROUND)                                                               \
    /* The pixels of bin b of an axis of n pixels. */                                              \
    static pixels bin_##T(T first, T last, T scale, int64_t bins, int64_t b, int64_t n)            \
    {                                                                                              \
        T begin = ROUND(first * scale), size = ROUND(last * scale) - begin + 1;                    \
        T width = (size > 1 ? size : 1) / (T)bins;                                                 \
                                                                                                   \
        return (pixels){limit((double)(FLOOR((T)b * width) + begin), 0, n),                        \
                        limit((double)(CEIL((T)(b + 1) * width) + begin), 0, n)};                  \
    }                                                                                              \
                                                                                                   \
    /* The first of the largest elements of a bin; -1 without one. */                              \
    static int64_t largest_##T(const T *plane, int64_t width, pixels rows, pixels columns,         \
                               T lowest, T *top)                                                   \
    {                                                                                              \
        int64_t best = -1;                                                                         \
                                                                                                   \
        *top = lowest;                                                                             \
        for (int64_t h = rows.begin; h < rows.end; h++) {                                          \
            for (int64_t w = columns.begin; w < columns.end; w++) {                                \
                if (plane[h * width + w] > *top) {                                                 \
                    *top = plane[h * width + w];                                                   \
                    best = h * width + w;                                                          \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        return best;                                                                               \
    }                                                                                              \
                                                                                                   \
    /* One bin of a region of a plane; `at` is its place in the results. */                        \
    static void one_##T(const pool_job *job, int64_t plane, pixels rows, pixels columns,           \
                        int64_t at)                                                                \
    {                                                                                              \
        int64_t skip = plane * job->r->height * job->r->width, best;                               \
        T top;                                                                                     \
                                                                                                   \
        best = largest_##T((const T *)job->x + skip, job->r->width, rows, columns, (T)job->lowest, \
                           &top);                                                                  \
        if (job->dx != NULL && best >= 0)                                                          \
            ((T *)job->dx)[skip + best] += ((const T *)job->dy)[at];                               \
        if (job->y != NULL && job->from != NULL)                                                   \
            ((T *)job->y)[at] = best < 0 ? 0 : ((const T *)job->from)[skip + best];                \
        else if (job->y != NULL)                                                                   \
            ((T *)job->y)[at] = rows.begin < rows.end && columns.begin < columns.end ? top : (T)0; \
    }                                                                                              \
                                                                                                   \
    /* One item is a channel. */                                                                   \
    static void chunk_##T(void *data, int64_t begin, int64_t end)                                  \
    {                                                                                              \
        const pool_job *job = data;                                                                \
        const mxl_roi *r = job->r;                                                                 \
        int64_t bins = r->rows * r->columns;                                                       \
                                                                                                   \
        for (int64_t i = 0; i < r->regions * bins; i++) {                                          \
            int64_t n = i / bins, b = i % bins;                                                    \
            const T *at = (const T *)job->regions + 5 * n, scale = (T)r->scale;                    \
            int64_t image = at[0] <= -1 ? 0 : (int64_t)at[0];                                      \
            pixels rows = bin_##T(at[2], at[4], scale, r->rows, b / r->columns, r->height);        \
            pixels columns = bin_##T(at[1], at[3], scale, r->columns, b % r->columns, r->width);   \
                                                                                                   \
            if (at[0] <= -1)                                                                       \
                rows.end = rows.begin;                                                             \
            for (int64_t c = begin; c < end; c++)                                                  \
                one_##T(job, image * r->channels + c, rows, columns,                               \
                        (n * r->channels + c) * bins + b);                                         \
        }                                                                                          \
    }

LOOPS(float, floorf, ceilf, roundf)
LOOPS(double, floor, ceil, round)

static int run(pool_job *job)
{
    const mxl_roi *r = job->r;
    int64_t plane = r->height * r->width;
    size_t width = r->dtype == MXL_F64 ? 8 : 4;

    for (int64_t i = 0; i < r->regions; i++) {
        double image = r->dtype == MXL_F64 ? ((const double *)job->regions)[5 * i]
                                           : (double)((const float *)job->regions)[5 * i];

        if (!(image < (double)r->batch))
            return mxl_error("region %lld is of an image that is not in [0, %lld)", (long long)i,
                             (long long)r->batch);
    }
    if (job->dx != NULL)
        memset(job->dx, 0, (size_t)(r->batch * r->channels * plane) * width);
    if (r->channels > 0 && r->regions > 0)
        mxl_parallel_for(r->channels, GRAIN / (r->regions * r->rows * r->columns * 16 + 1) + 1,
                         r->dtype == MXL_F64 ? chunk_double : chunk_float, job);
    return 0;
}

int mxl_roi_pool(const mxl_roi *r, double lowest, const void *regions, const void *x, void *y)
{
    pool_job job = {.r = r, .lowest = lowest, .regions = regions, .x = x, .y = y};

    return run(&job);
}

int mxl_roi_pool_back(const mxl_roi *r, double lowest, const void *regions, const void *x,
                      const void *dy, void *dx)
{
    pool_job job = {.r = r, .lowest = lowest, .regions = regions, .x = x, .dy = dy, .dx = dx};

    return run(&job);
}

int mxl_roi_pool_pick(const mxl_roi *r, double lowest, const void *regions, const void *x,
                      const void *from, void *y)
{
    pool_job job = {.r = r, .lowest = lowest, .regions = regions, .x = x, .from = from, .y = y};

    return run(&job);
}
