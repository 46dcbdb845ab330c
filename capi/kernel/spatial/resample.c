/* Resampling of images; see resample.h. Both axes are lists of weights, so that the adjoint is the
 * same loop with other lists. */
#include "kernel/spatial/resample.h"

#include "base/dtype.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/target.h"

enum { SPAN = 1024, GRAIN = 16384 };

typedef struct resample_job {
    const mxl_taps *rows, *columns;
    const void *x;
    void *y;
} resample_job;

/* ---- taps ---- */

/* Adds a tap to the list. */
static void tap(mxl_taps *taps, int64_t *count, int64_t index, double weight)
{
    taps->index[*count] = index;
    taps->weight[*count] = weight;
    ++*count;
}

/* The two positions around `at`; one, if it is a position. (A weight of 0 would make NaN of an
 * infinite neighbour.) */
static void tap_between(mxl_taps *taps, int64_t *count, double at)
{
    int64_t low = (int64_t)at;
    double part = at - (double)low;

    if (low >= taps->in - 1)
        low = taps->in - 1;
    else if (part > 0) {
        tap(taps, count, low, 1 - part);
        tap(taps, count, low + 1, part);
        return;
    }
    tap(taps, count, low, 1);
}

static void fill_taps(mxl_taps *taps, mxl_resample_kind kind)
{
    int64_t in = taps->in, out = taps->out, count = 0;
    bool corners = kind == MXL_RESAMPLE_CORNERS;
    double step = out < 2   ? 0
                  : corners ? (double)(in - 1) / (double)(out - 1)
                            : (double)in / (double)out;

    for (int64_t o = 0; o < out; o++) {
        double at = corners ? (double)o * step : ((double)o + 0.5) * step - 0.5;
        int64_t begin = o * in / out, end = (o * in + in + out - 1) / out;

        taps->start[o] = count;
        if (kind == MXL_RESAMPLE_NEAREST)
            tap(taps, &count, begin, 1);
        for (int64_t i = begin; kind == MXL_RESAMPLE_MEAN && i < end; i++)
            tap(taps, &count, i, 1.0 / (double)(end - begin));
        if (kind <= MXL_RESAMPLE_CORNERS)
            tap_between(taps, &count, at > 0 ? at : 0);
    }
    taps->start[out] = count;
}

static int alloc_taps(mxl_taps *taps, int64_t in, int64_t out, int64_t count)
{
    size_t bytes = ((size_t)out + 1 + 2 * (size_t)count) * sizeof(int64_t);

    *taps = (mxl_taps){.in = in, .out = out, .bytes = bytes};
    taps->start = mxl_alloc(bytes);
    if (taps->start == NULL)
        return -1;
    taps->index = taps->start + out + 1;
    taps->weight = (double *)(taps->index + count);
    return 0;
}

/* The taps of the adjoint map: by input position, in the order of the outputs. */
static void transpose_taps(const mxl_taps *from, mxl_taps *to)
{
    for (int64_t o = 0; o <= to->out; o++)
        to->start[o] = 0;
    for (int64_t t = 0; t < from->start[from->out]; t++)
        to->start[from->index[t] + 1]++;
    for (int64_t o = 0; o < to->out; o++)
        to->start[o + 1] += to->start[o];
    for (int64_t o = 0; o < from->out; o++) {
        for (int64_t t = from->start[o]; t < from->start[o + 1]; t++) {
            int64_t at = to->start[from->index[t]]++;

            to->index[at] = o;
            to->weight[at] = from->weight[t];
        }
    }
    for (int64_t o = to->out; o > 0; o--)
        to->start[o] = to->start[o - 1];
    to->start[0] = 0;
}

int mxl_taps_make(mxl_taps *taps, mxl_resample_kind kind, int64_t in, int64_t out, bool adjoint)
{
    mxl_taps forward;

    if (in > INT32_MAX || out > INT32_MAX)
        return mxl_error("an image may have up to %d rows and columns", (int)INT32_MAX);
    if (!adjoint) {
        if (alloc_taps(taps, in, out, in + 2 * out) != 0)
            return -1;
        fill_taps(taps, kind);
        return 0;
    }
    if (mxl_taps_make(&forward, kind, out, in, false) != 0)
        return -1;
    if (alloc_taps(taps, in, out, forward.start[in]) != 0) {
        mxl_taps_free(&forward);
        return -1;
    }
    transpose_taps(&forward, taps);
    mxl_taps_free(&forward);
    return 0;
}

void mxl_taps_free(mxl_taps *taps)
{
    mxl_free(taps->start, taps->bytes);
}

/* ---- images ---- */

/* Outputs [.., end) that read the inputs [first, last). */
typedef struct tap_span {
    int64_t end, first, last;
} tap_span;

/* As many outputs from `o` on as read at most SPAN inputs; at least one. */
static tap_span span_from(const mxl_taps *taps, int64_t o)
{
    tap_span span = {.end = o, .first = 0, .last = 0};
    bool empty = true;

    for (; span.end < taps->out; span.end++) {
        int64_t begin = taps->start[span.end], end = taps->start[span.end + 1];

        if (begin == end)
            continue;
        if (span.end > o && !empty && taps->index[end - 1] + 1 - span.first > SPAN)
            break;
        if (empty)
            span.first = taps->index[begin];
        span.last = taps->index[end - 1] + 1;
        empty = false;
        if (span.last - span.first > SPAN) {
            span.end++;
            break;
        }
    }
    return span;
}

#define NAME(x) f32_##x
#define T       float
#include "kernel/spatial/resample.tmpl.h"

#define NAME(x) f64_##x
#define T       double
#include "kernel/spatial/resample.tmpl.h"

void mxl_resample(int dtype, int64_t planes, const mxl_taps *rows, const mxl_taps *columns,
                  const void *x, void *y)
{
    resample_job job = {rows, columns, x, y};
    int64_t work = 2 * columns->out + columns->in;

    if (planes > 0)
        mxl_parallel_for(planes * rows->out, GRAIN / work + 1,
                         dtype == MXL_F64 ? f64_chunk : f32_chunk, &job);
}
