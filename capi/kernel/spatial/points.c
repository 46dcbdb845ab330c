/* Weighted sums of elements; see points.h. */
#include "kernel/spatial/points.h"

#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "base/thread.h"

enum { GRAIN = 16384, BLOCK = 64, MOST_ELEMENTS = 1 << 20 };

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
    points->start[0] = 0;
    if (points->bins > 0)
        points->start[1] = 0;
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
    int64_t count, channels;
    const mxl_points_item *items;
    bool apart;
} points_job;

/* One item of the range is a channel of a list when taking, a channel of all lists when putting,
 * whose sums so have one order. */
#define LOOPS(T)                                                                                   \
    static void take_##T(void *data, int64_t begin, int64_t end)                                   \
    {                                                                                              \
        const points_job *job = data;                                                              \
                                                                                                   \
        for (int64_t i = begin; i < end; i++) {                                                    \
            const mxl_points_item *item = &job->items[i / job->channels];                          \
            const mxl_points *p = &item->points;                                                   \
            int64_t c = i % job->channels;                                                         \
            T *y = (T *)item->to + c * p->bins;                                                    \
                                                                                                   \
            for (int64_t b = 0; b < p->bins; b++) {                                                \
                const T *x =                                                                       \
                    (const T *)item->from + (job->apart ? c * p->bins + b : c) * p->plane;         \
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
                                                                                                   \
        for (int64_t i = 0; i < (end - begin) * job->count; i++) {                                 \
            const mxl_points_item *item = &job->items[i % job->count];                             \
            const mxl_points *p = &item->points;                                                   \
            int64_t c = begin + i / job->count;                                                    \
            const T *dy = (const T *)item->from + c * p->bins;                                     \
                                                                                                   \
            for (int64_t b = 0; b < p->bins; b++) {                                                \
                T *dx = (T *)item->to + (job->apart ? c * p->bins + b : c) * p->plane;             \
                                                                                                   \
                for (int64_t t = p->start[b]; t < p->start[b + 1]; t++)                            \
                    dx[p->index[t]] += (T)p->weight[t] * dy[b];                                    \
            }                                                                                      \
        }                                                                                          \
    }

LOOPS(float)
LOOPS(double)

/* Elements and outputs of a list, about. */
static int64_t work_of(const mxl_points_item *item)
{
    return item->points.bins + item->points.start[item->points.bins] + 1;
}

void mxl_points_take(int dtype, int64_t count, const mxl_points_item *items, int64_t channels,
                     bool apart)
{
    points_job job = {count, channels, items, apart};

    if (channels > 0 && count > 0)
        mxl_parallel_for(count * channels, GRAIN / work_of(items) + 1,
                         dtype == MXL_F64 ? take_double : take_float, &job);
}

void mxl_points_put(int dtype, int64_t count, const mxl_points_item *items, int64_t channels,
                    bool apart)
{
    points_job job = {count, channels, items, apart};

    if (channels > 0 && count > 0)
        mxl_parallel_for(channels, GRAIN / (work_of(items) * count) + 1,
                         dtype == MXL_F64 ? put_double : put_float, &job);
}

/* ---- batches ---- */

typedef struct fill_job {
    const mxl_points_batch *batch;
    int64_t first;
    mxl_points_item *items;
} fill_job;

static void fill_items(void *data, int64_t begin, int64_t end)
{
    const fill_job *job = data;

    for (int64_t i = begin; i < end; i++) {
        mxl_points_clear(&job->items[i].points);
        job->batch->fill(job->batch->data, job->first + i, &job->items[i]);
    }
}

/* How many lists are filled together. */
static int64_t block_of(const mxl_points_batch *batch)
{
    int64_t block = MOST_ELEMENTS / (batch->elements + batch->bins + 1);

    block = block < 1 ? 1 : block > BLOCK ? BLOCK : block;
    return block < batch->count ? block : batch->count;
}

static void run_blocks(const mxl_points_batch *batch, int64_t block, mxl_points_item *items)
{
    int64_t grain = GRAIN / 16 / (batch->elements + 1) + 1; /* lists cost more than sums */

    if (batch->clear_bytes > 0)
        memset(batch->clear, 0, (size_t)batch->clear_bytes);
    for (int64_t first = 0; first < batch->count; first += block) {
        int64_t n = block < batch->count - first ? block : batch->count - first;
        fill_job job = {batch, first, items};

        mxl_parallel_for(n, grain, fill_items, &job);
        if (batch->takes)
            mxl_points_take(batch->dtype, n, items, batch->channels, batch->apart);
        else
            mxl_points_put(batch->dtype, n, items, batch->channels, batch->apart);
    }
}

int mxl_points_run(const mxl_points_batch *batch)
{
    mxl_points_item items[BLOCK];
    int64_t block = block_of(batch), made = 0;
    int status = 0;

    for (; made < block && status == 0; made++)
        status = mxl_points_alloc(&items[made].points, batch->bins, batch->plane, batch->elements);
    if (status == 0)
        run_blocks(batch, block, items);
    else
        made--; /* the last one has no memory */
    while (made > 0)
        mxl_points_free(&items[--made].points);
    return status;
}
