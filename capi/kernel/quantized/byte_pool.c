/* See byte_pool.h. The rows under a row of windows become one first. */
#include "kernel/quantized/byte_pool.h"

#include <stdbool.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/quantized/bytes.h"

enum { GRAIN = 1 << 16 };

typedef struct pool_job {
    const mxl_pool *p;
    const void *x;
    void *y;
    _Atomic(int) failed;
} pool_job;

/* The part [begin, end) of an axis under window o, and the positions of the window within the axis
 * and its padding. */
typedef struct part {
    int64_t begin, end, padded;
} part;

static part part_of(const mxl_window *w, int64_t o)
{
    int64_t begin = o * w->stride - w->pad, end = begin + w->kernel;
    int64_t last = end < w->in + w->pad ? end : w->in + w->pad;
    part at = {begin > 0 ? begin : 0, end < w->in ? end : w->in, last - begin};

    return at;
}

#define ROW(name, T, A, ...)                                                                       \
    MXL_INLINE void name##_at(int level, A *row, const T *x, int64_t n)                            \
    {                                                                                              \
        (void)level;                                                                               \
        MXL_IVDEP                                                                                  \
        for (int64_t i = 0; i < n; i++)                                                            \
            row[i] = (A)(__VA_ARGS__);                                                             \
    }                                                                                              \
    MXL_BY_LEVEL(name, (A * row, const T *x, int64_t n), row, x, n)

ROW(max_row_i8, int8_t, int8_t, x[i] > row[i] ? x[i] : row[i])
ROW(max_row_u8, uint8_t, uint8_t, x[i] > row[i] ? x[i] : row[i])
ROW(sum_row_i8, int8_t, int32_t, row[i] + x[i])
ROW(sum_row_u8, uint8_t, int32_t, row[i] + x[i])

/* A row of windows: `row` has what the rows under them became. */
#define WINDOWS(name, T, LEAST)                                                                    \
    static void max_windows_##name(const mxl_window *w, const T *row, T *y)                        \
    {                                                                                              \
        for (int64_t o = 0; o < w->out; o++) {                                                     \
            part at = part_of(w, o);                                                               \
            T most = at.begin < at.end ? row[at.begin] : 0;                                        \
                                                                                                   \
            for (int64_t i = at.begin + 1; i < at.end; i++)                                        \
                most = row[i] > most ? row[i] : most;                                              \
            y[o] = most;                                                                           \
        }                                                                                          \
    }                                                                                              \
    static void mean_windows_##name(const mxl_window *w, const int32_t *row, int64_t rows,         \
                                    bool inside, T *y)                                             \
    {                                                                                              \
        for (int64_t o = 0; o < w->out; o++) {                                                     \
            part at = part_of(w, o);                                                               \
            int64_t count = rows * (inside ? at.end - at.begin : at.padded);                       \
            int32_t sum = 0;                                                                       \
                                                                                                   \
            for (int64_t i = at.begin; i < at.end; i++)                                            \
                sum += row[i];                                                                     \
            y[o] =                                                                                 \
                (T)(count > 0 ? mxl_quantized_round((float)sum / (float)count, LEAST, 255) : 0);   \
        }                                                                                          \
    }                                                                                              \
    /* The windows (d, h, all) of a plane. */                                                      \
    static void row_of_##name(const mxl_pool *p, const T *x, int64_t d, int64_t h, void *room,     \
                              T *y)                                                                \
    {                                                                                              \
        const mxl_window *w = &p->axis[2];                                                         \
        part depth = part_of(&p->axis[0], d), height = part_of(&p->axis[1], h);                    \
        bool mean = p->divide != MXL_POOL_SUM, inside = p->divide == MXL_POOL_MEAN_INSIDE;         \
        bool first = true;                                                                         \
                                                                                                   \
        memset(room, 0, (size_t)w->in * (mean ? sizeof(int32_t) : 1));                             \
        for (int64_t i = depth.begin; i < depth.end; i++) {                                        \
            for (int64_t j = height.begin; j < height.end; j++, first = false) {                   \
                const T *row = x + (i * p->axis[1].in + j) * w->in;                                \
                                                                                                   \
                if (mean)                                                                          \
                    sum_row_##name(room, row, w->in);                                              \
                else if (first)                                                                    \
                    memcpy(room, row, (size_t)w->in);                                              \
                else                                                                               \
                    max_row_##name(room, row, w->in);                                              \
            }                                                                                      \
        }                                                                                          \
        if (mean)                                                                                  \
            mean_windows_##name(w, room,                                                           \
                                inside ? (depth.end - depth.begin) * (height.end - height.begin)   \
                                       : depth.padded * height.padded,                             \
                                inside, y);                                                        \
        else                                                                                       \
            max_windows_##name(w, room, y);                                                        \
    }

WINDOWS(i8, int8_t, -128)
WINDOWS(u8, uint8_t, 0)

/* ---- channels as the last axis ---- */

/* The window of a pixel, of n channels: rows of the image are under it. */
#define PIXEL(name, T, LEAST)                                                                      \
    MXL_INLINE void max_tap_##name##_at(int level, const T *x, T *y, int64_t n)                    \
    {                                                                                              \
        (void)level;                                                                               \
        MXL_IVDEP                                                                                  \
        for (int64_t c = 0; c < n; c++)                                                            \
            y[c] = x[c] > y[c] ? x[c] : y[c];                                                      \
    }                                                                                              \
    MXL_INLINE void sum_tap_##name##_at(int level, const T *x, int32_t *sums, int64_t n)           \
    {                                                                                              \
        (void)level;                                                                               \
        MXL_IVDEP                                                                                  \
        for (int64_t c = 0; c < n; c++)                                                            \
            sums[c] += x[c];                                                                       \
    }                                                                                              \
    MXL_INLINE void pixel_##name##_at(int level, const mxl_pool *p, const T *x, const part *at,    \
                                      int64_t count, int32_t *sums, T *y)                          \
    {                                                                                              \
        bool first = true, largest = p->divide == MXL_POOL_SUM;                                    \
        int64_t n = p->inner;                                                                      \
        float by = (float)count;                                                                   \
                                                                                                   \
        memset(largest ? (void *)y : sums, 0, (size_t)n * (largest ? 1 : sizeof(*sums)));          \
        for (int64_t d = at[0].begin; d < at[0].end; d++) {                                        \
            for (int64_t h = at[1].begin; h < at[1].end; h++) {                                    \
                for (int64_t w = at[2].begin; w < at[2].end; w++, first = false) {                 \
                    const T *from = x + ((d * p->axis[1].in + h) * p->axis[2].in + w) * n;         \
                                                                                                   \
                    if (!largest)                                                                  \
                        sum_tap_##name##_at(level, from, sums, n);                                 \
                    else if (first)                                                                \
                        memcpy(y, from, (size_t)n);                                                \
                    else                                                                           \
                        max_tap_##name##_at(level, from, y, n);                                    \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        MXL_IVDEP                                                                                  \
        for (int64_t c = 0; c < n && !largest; c++)                                                \
            y[c] = (T)(count > 0 ? mxl_quantized_round((float)sums[c] / by, LEAST, 255) : 0);      \
    }                                                                                              \
    MXL_BY_LEVEL(                                                                                  \
        pixel_##name,                                                                              \
        (const mxl_pool *p, const T *x, const part *at, int64_t count, int32_t *sums, T *y), p, x, \
        at, count, sums, y)

PIXEL(i8, int8_t, -128)
PIXEL(u8, uint8_t, 0)

/* Ranges count windows, of all images. */
static void run_pixels(void *data, int64_t begin, int64_t end)
{
    pool_job *job = data;
    const mxl_pool *p = job->p;
    int64_t in = p->axis[0].in * p->axis[1].in * p->axis[2].in * p->inner;
    int64_t out = p->axis[0].out * p->axis[1].out * p->axis[2].out;
    size_t bytes = (size_t)p->inner * sizeof(int32_t);
    int32_t *sums = mxl_alloc(bytes);

    if (sums == NULL) {
        job->failed = 1;
        return;
    }
    for (int64_t i = begin; i < end; i++) {
        int64_t o = i % out, x = i / out * in, y = i * p->inner, count = 1;
        part at[3];

        for (int k = 2; k >= 0; k--) {
            at[k] = part_of(&p->axis[k], o % p->axis[k].out);
            o /= p->axis[k].out;
            count *= p->divide == MXL_POOL_MEAN_INSIDE ? at[k].end - at[k].begin : at[k].padded;
        }
        if (p->dtype == MXL_I8)
            pixel_i8(p, (const int8_t *)job->x + x, at, count, sums, (int8_t *)job->y + y);
        else
            pixel_u8(p, (const uint8_t *)job->x + x, at, count, sums, (uint8_t *)job->y + y);
    }
    mxl_free(sums, bytes);
}

/* ---- planes ---- */

static void run_planes(void *data, int64_t begin, int64_t end)
{
    pool_job *job = data;
    const mxl_pool *p = job->p;
    int64_t in = p->axis[0].in * p->axis[1].in * p->axis[2].in;
    int64_t rows = p->axis[0].out * p->axis[1].out, out = rows * p->axis[2].out;
    size_t bytes = (size_t)p->axis[2].in * sizeof(int32_t);
    void *room = mxl_alloc(bytes);

    if (room == NULL) {
        job->failed = 1;
        return;
    }
    for (int64_t i = begin; i < end; i++) {
        for (int64_t r = 0; r < rows; r++) {
            int64_t d = r / p->axis[1].out, h = r % p->axis[1].out;
            int64_t at = i * out + r * p->axis[2].out;

            if (p->dtype == MXL_I8)
                row_of_i8(p, (const int8_t *)job->x + i * in, d, h, room, (int8_t *)job->y + at);
            else
                row_of_u8(p, (const uint8_t *)job->x + i * in, d, h, room, (uint8_t *)job->y + at);
        }
    }
    mxl_free(room, bytes);
}

int mxl_quantized_pool(const mxl_pool *p, const void *x, void *y)
{
    pool_job job = {.p = p, .x = x, .y = y};
    int64_t work = p->axis[0].kernel * p->axis[1].kernel * p->axis[2].kernel * p->axis[0].out *
                   p->axis[1].out * p->axis[2].out;

    if (p->inner == 1) {
        mxl_parallel_for(p->outer, GRAIN / (work + 1) + 1, run_planes, &job);
    } else {
        int64_t out = p->axis[0].out * p->axis[1].out * p->axis[2].out, each = p->inner;

        each *= out > 0 ? work / out : 0;
        mxl_parallel_for(p->outer * out, GRAIN / (each + 1) + 1, run_pixels, &job);
    }
    return job.failed ? mxl_error_memory((size_t)(p->axis[2].in + p->inner) * sizeof(int32_t)) : 0;
}
