/* See convolve.h. Images become planes of pixels, padded, in which four neighbouring channels of a
 * pixel follow each other; bytes with a sign get 128 added (which the bias takes back). Of 32
 * positions of the output the pixels under the kernel are copied to a block, which is multiplied
 * with all weights while it is in the cache. */
#include "kernel/quantized/convolve.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/quantized/bytes.h"
#include "kernel/quantized/dots.h"

enum { R = MXL_DOTS_ROWS, N = MXL_DOTS_COLUMNS, GRAIN = 1 << 18 };

/* ---- weights ---- */

struct mxl_quantized_weights {
    size_t bytes;
    int64_t quads;  /* groups of four numbers under the kernel */
    int32_t *sums;  /* [groups * out]: 128 times the sum of a channel's weights */
    int8_t *packed; /* [groups]: blocks of up to R channels, each [quads][channels][4] */
};

static int64_t taps_of(const mxl_conv *v)
{
    return v->kernel[0] * v->kernel[1] * v->kernel[2];
}

void mxl_quantized_weights_free(mxl_quantized_weights *weights)
{
    if (weights != NULL)
        mxl_free(weights, weights->bytes);
}

/* A block of `rows` channels: quads are taps, and within them channels. */
static void pack_rows(int64_t channels, int64_t taps, const int8_t *w, int rows, int8_t *to,
                      int32_t *sums)
{
    int64_t row = channels * taps;

    for (int r = 0; r < rows; r++)
        sums[r] = 0;
    for (int64_t t = 0; t < taps; t++) {
        for (int64_t c = 0; c < channels; c += 4) {
            for (int r = 0; r < rows; r++) {
                for (int64_t j = 0; j < 4; j++, to++) {
                    *to = c + j < channels ? w[r * row + (c + j) * taps + t] : 0;
                    sums[r] += 128 * *to;
                }
            }
        }
    }
}

mxl_quantized_weights *mxl_quantized_weights_new(const mxl_conv *v, const int8_t *w)
{
    int64_t taps = taps_of(v), quads = taps * ((v->in + 3) / 4), all = v->groups * v->out;
    size_t sums = ((size_t)all * sizeof(int32_t) + 63) / 64 * 64;
    size_t bytes = sizeof(mxl_quantized_weights) + 64 + sums + (size_t)(all * quads * 4);
    mxl_quantized_weights *made = mxl_alloc(bytes);

    if (made == NULL)
        return NULL;
    made->bytes = bytes;
    made->quads = quads;
    made->sums = (int32_t *)(void *)((char *)made + 64);
    made->packed = (int8_t *)made->sums + sums;
    for (int64_t g = 0; g < v->groups; g++) {
        for (int64_t k = 0; k < v->out; k += R) {
            int64_t at = g * v->out + k;

            pack_rows(v->in, taps, w + at * v->in * taps, (int)(v->out - k < R ? v->out - k : R),
                      made->packed + at * quads * 4, made->sums + at);
        }
    }
    return made;
}

/* ---- planes ---- */

typedef struct work {
    const mxl_conv *v;
    const mxl_quantized_weights *w;
    const mxl_quantized_tail *tail;
    const int32_t *bias;
    const uint8_t *x;
    void *y;
    uint32_t *planes; /* [batch * groups][fours][padded]: four channels of a pixel */
    int64_t fours, padded, size[3];
    int64_t positions, blocks; /* of an image of the output */
    int64_t parts, part;       /* of the output's channels, each of `part` */
    uint8_t flip;              /* added to the bytes, modulo 256 */
    _Atomic(int) failed;
} work;

/* Four rows become one of pixels. */
MXL_INLINE void weave_at(int level, const uint8_t *const *rows, uint8_t flip, uint32_t *to,
                         int64_t n)
{
    const uint8_t *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
    uint32_t by = flip * 0x01010101U;

    (void)level;
    MXL_IVDEP
    for (int64_t i = 0; i < n; i++)
        to[i] =
            ((uint32_t)a[i] | (uint32_t)b[i] << 8 | (uint32_t)c[i] << 16 | (uint32_t)d[i] << 24) ^
            by;
}
MXL_BY_LEVEL(weave, (const uint8_t *const *rows, uint8_t flip, uint32_t *to, int64_t n), rows, flip,
             to, n)

/* Ranges count planes of four channels. */
static void make_planes(void *data, int64_t begin, int64_t end)
{
    const work *k = data;
    const mxl_conv *v = k->v;
    int64_t plane = v->x_size[0] * v->x_size[1] * v->x_size[2], width = v->x_size[2];
    uint32_t empty = k->flip * 0x01010101U;

    for (int64_t p = begin; p < end; p++) {
        int64_t image = p / k->fours, c = p % k->fours * 4;
        const uint8_t *x = k->x + (image * v->in + c) * plane;
        uint32_t *to = k->planes + p * k->padded;

        const uint8_t *rows[4];

        /* (Weights of channels that there are not are 0.) */
        for (int64_t j = 0; j < 4; j++)
            rows[j] = x + (c + j < v->in ? j * plane : 0);
        if (k->padded == plane) {
            weave(rows, k->flip, to, plane);
            continue;
        }
        for (int64_t i = 0; i < k->padded; i++)
            to[i] = empty;
        for (int64_t r = 0; r < v->x_size[0] * v->x_size[1]; r++) {
            int64_t d = r / v->x_size[1] + v->pad[0], h = r % v->x_size[1] + v->pad[1];

            weave(rows, k->flip, to + (d * k->size[1] + h) * k->size[2] + v->pad[2], width);
            for (int j = 0; j < 4; j++)
                rows[j] += width;
        }
    }
}

/* ---- blocks ---- */

/* Where the pixels of a block's positions are in a plane, and runs of neighbours among them, of up
 * to RUN. */
enum { RUN = 16, MANY_RUNS = 12 };
typedef struct pixels {
    int64_t at[N];
    int runs, first[N];
} pixels;

/* Of positions [first, first + count); the others are like the last one. */
static void find_pixels(const work *k, int64_t first, int count, pixels *p)
{
    const mxl_conv *v = k->v;

    p->runs = 0;
    for (int i = 0; i < N; i++) {
        int64_t o = first + (i < count ? i : count - 1);
        int64_t w = o % v->y_size[2], h = o / v->y_size[2] % v->y_size[1];
        int64_t d = o / v->y_size[2] / v->y_size[1];

        p->at[i] =
            (d * v->stride[0] * k->size[1] + h * v->stride[1]) * k->size[2] + w * v->stride[2];
        if (i < count &&
            (p->runs == 0 || p->at[i] != p->at[i - 1] + 1 || i == p->first[p->runs - 1] + RUN))
            p->first[p->runs++] = i;
    }
}

/* to[quads][N] = the pixels under the kernel; writes up to RUN elements more. Whole runs are
 * copied, the next one over what is too much of the one before. */
MXL_INLINE void copy_block_at(int level, const work *k, int64_t image, const pixels *p,
                              uint32_t *to)
{
    const mxl_conv *v = k->v;
    const uint32_t *planes = k->planes + image * k->fours * k->padded;

    (void)level;
    for (int64_t t = 0; t < taps_of(v); t++) {
        int64_t w = t % v->kernel[2], h = t / v->kernel[2] % v->kernel[1];
        int64_t d = t / v->kernel[2] / v->kernel[1];
        const uint32_t *from = planes +
                               (d * v->dilate[0] * k->size[1] + h * v->dilate[1]) * k->size[2] +
                               w * v->dilate[2];

        for (int64_t c = 0; c < k->fours; c++, from += k->padded, to += N) {
            if (p->runs <= MANY_RUNS) {
                for (int r = 0; r < p->runs; r++)
                    memcpy(to + p->first[r], from + p->at[p->first[r]], RUN * sizeof(*to));
            } else {
                for (int i = 0; i < N; i++)
                    to[i] = from[p->at[i]];
            }
        }
    }
}

MXL_BY_LEVEL(copy_block, (const work *k, int64_t image, const pixels *p, uint32_t *to), k, image, p,
             to)

/* ---- ends, of whole tiles: rows of N columns ---- */

/* Sums with the bias of their row, as bytes between two limits; in place, as int32. */
MXL_INLINE void to_bytes_at(int level, int rows, const int32_t *bias, float scale, float low,
                            float high, int32_t *sums)
{
    (void)level;
    for (int r = 0; r < rows; r++, sums += N) {
        for (int i = 0; i < N; i++)
            sums[i] = mxl_quantized_round((float)(sums[i] + bias[r]) * scale, low, high);
    }
}
MXL_BY_LEVEL(to_bytes,
             (int rows, const int32_t *bias, float scale, float low, float high, int32_t *sums),
             rows, bias, scale, low, high, sums)

static const float wide_steps = 2147483648.0F;

/* Adds the bytes `add`, whose bit `sign` counts below 0 (0: none does). */
MXL_INLINE void add_bytes_at(int level, int rows, const mxl_quantized_tail *t, const uint8_t *add,
                             int sign, float low, float high, int32_t *sums)
{
    /* (Not as a constant: of comparisons with one gcc makes masks.) */
    const float widest = *(const volatile float *)&wide_steps;
    float byte_scale = t->byte_scale, add_scale = t->add_scale, scale = t->sum_scale;

    (void)level;
    for (int r = 0; r < rows; r++, sums += N, add += N) {
        for (int i = 0; i < N; i++) {
            int32_t more = add[i] - 2 * (add[i] & sign);
            float sum = (float)sums[i] * byte_scale + (float)more * add_scale;

            /* An int32 of the sum, as float32. */
            sum = rintf(sum);
            sum = sum < widest ? sum : widest;
            sum = sum > -widest ? sum : -widest;
            sums[i] = mxl_quantized_round(sum * scale, low, high);
        }
    }
}
MXL_BY_LEVEL(add_bytes,
             (int rows, const mxl_quantized_tail *t, const uint8_t *add, int sign, float low,
              float high, int32_t *sums),
             rows, t, add, sign, low, high, sums)

MXL_INLINE void narrow_at(int level, int rows, const int32_t *sums, uint8_t *to)
{
    (void)level;
    for (int i = 0; i < rows * N; i++)
        to[i] = (uint8_t)sums[i];
}
MXL_BY_LEVEL(narrow, (int rows, const int32_t *sums, uint8_t *to), rows, sums, to)

static float lowest(int dtype, int least)
{
    int low = dtype == MXL_U8 ? 0 : -128;

    return (float)(least > low ? least : low);
}

static float highest(int dtype)
{
    return dtype == MXL_U8 ? 255 : 127;
}

/* A tile of sums goes to the output, whose rows are `step` elements apart, from `at` on. */
static void store_tile(const work *k, int rows, int n, const int32_t *bias, int32_t *sums,
                       int64_t at, int64_t step)
{
    const mxl_quantized_tail *t = k->tail;
    uint8_t bytes[R * N];

    if (t == NULL) {
        for (int r = 0; r < rows; r++) {
            int32_t *y = (int32_t *)k->y + at + r * step;

            for (int i = 0; i < n; i++)
                y[i] = sums[r * N + i] + bias[r];
        }
        return;
    }
    to_bytes(rows, bias, t->scale, lowest(t->dtype, t->least), highest(t->dtype), sums);
    if (t->add != NULL) {
        for (int r = 0; r < rows; r++)
            memcpy(bytes + (ptrdiff_t)r * N, (const uint8_t *)t->add + at + r * step, (size_t)n);
        add_bytes(rows, t, bytes, t->add_dtype == MXL_I8 ? 128 : 0,
                  lowest(t->sum_dtype, t->sum_least), highest(t->sum_dtype), sums);
    }
    narrow(rows, sums, bytes);
    for (int r = 0; r < rows; r++) {
        uint8_t *y = (uint8_t *)k->y + at + r * step;

        if (n == N)
            memcpy(y, bytes + (ptrdiff_t)r * N, N);
        else
            memcpy(y, bytes + (ptrdiff_t)r * N, (size_t)n);
    }
}

/* ---- the work ---- */

/* Ranges count parts of channels, of blocks of positions, of images and groups. */
static void run_blocks(void *data, int64_t begin, int64_t end)
{
    work *k = data;
    const mxl_conv *v = k->v;
    size_t bytes = ((size_t)k->w->quads * N + RUN) * sizeof(uint32_t);
    uint32_t *block = mxl_alloc(bytes);
    int32_t sums[R * N], bias[R];
    int64_t made = -1;
    pixels p;

    if (block == NULL) {
        k->failed = 1;
        return;
    }
    for (int64_t i = begin; i < end; i++) {
        int64_t which = i / k->parts, from = i % k->parts * k->part, to = from + k->part;
        int64_t image = which / k->blocks, first = which % k->blocks * N;
        int64_t group = image % v->groups;
        int n = (int)(k->positions - first < N ? k->positions - first : N);

        if (which != made) {
            find_pixels(k, first, n, &p);
            copy_block(k, image, &p, block);
            made = which;
        }
        to = to < v->out ? to : v->out;
        for (int64_t c = from; c < to; c += R) {
            int rows = (int)(to - c < R ? to - c : R);
            int64_t channel = group * v->out + c;

            mxl_dots_tile(rows, n, k->w->quads, k->w->packed + channel * k->w->quads * 4,
                          (const uint8_t *)block, sums);
            for (int r = 0; r < rows; r++)
                bias[r] = (k->bias != NULL ? k->bias[channel + r] : 0) -
                          (k->flip != 0 ? k->w->sums[channel + r] : 0);
            store_tile(k, rows, n, bias, sums, (image * v->out + c) * k->positions + first,
                       k->positions);
        }
    }
    mxl_free(block, bytes);
}

/* ---- one channel in, one out ---- */

/* sums[i] += x[i * step] * w */
#define ADD_TAP(name, T)                                                                           \
    MXL_INLINE void name##_at(int level, const T *x, int64_t step, int32_t w, int32_t *sums,       \
                              int64_t n)                                                           \
    {                                                                                              \
        (void)level;                                                                               \
        if (step == 1) {                                                                           \
            MXL_IVDEP                                                                              \
            for (int64_t i = 0; i < n; i++)                                                        \
                sums[i] += x[i] * w;                                                               \
            return;                                                                                \
        }                                                                                          \
        MXL_IVDEP                                                                                  \
        for (int64_t i = 0; i < n; i++)                                                            \
            sums[i] += x[i * step] * w;                                                            \
    }                                                                                              \
    MXL_BY_LEVEL(name, (const T *x, int64_t step, int32_t w, int32_t *sums, int64_t n), x, step,   \
                 w, sums, n)

ADD_TAP(add_tap_i8, int8_t)
ADD_TAP(add_tap_u8, uint8_t)

/* The sums of an image's positions, from its padded plane of bytes. */
static void sum_taps(const work *k, const uint8_t *plane, const int8_t *w, int32_t *sums)
{
    const mxl_conv *v = k->v;
    int64_t width = v->y_size[2];

    memset(sums, 0, (size_t)k->positions * sizeof(*sums));
    for (int64_t r = 0; r < v->y_size[0] * v->y_size[1]; r++, sums += width) {
        int64_t d = r / v->y_size[1] * v->stride[0], h = r % v->y_size[1] * v->stride[1];

        const int8_t *tap = w;

        for (int64_t t = 0; t < v->kernel[0] * v->kernel[1]; t++) {
            int64_t a = t / v->kernel[1] * v->dilate[0], b = t % v->kernel[1] * v->dilate[1];
            const uint8_t *from = plane + ((d + a) * k->size[1] + h + b) * k->size[2];

            for (int64_t c = 0; c < v->kernel[2]; c++, from += v->dilate[2], tap += 4) {
                if (v->dtype == MXL_I8)
                    add_tap_i8((const int8_t *)from, v->stride[2], *tap, sums, width);
                else
                    add_tap_u8(from, v->stride[2], *tap, sums, width);
            }
        }
    }
}

/* Ranges count images and groups. */
static void run_depthwise(void *data, int64_t begin, int64_t end)
{
    work *k = data;
    const mxl_conv *v = k->v;
    size_t bytes = (size_t)(k->positions + N) * sizeof(int32_t) + (size_t)k->padded;
    int32_t *sums = mxl_alloc(bytes);
    int64_t rows = v->x_size[0] * v->x_size[1], width = v->x_size[2];

    if (sums == NULL) {
        k->failed = 1;
        return;
    }
    for (int64_t image = begin; image < end; image++) {
        uint8_t *plane = (uint8_t *)(sums + k->positions + N);
        int64_t group = image % v->groups;
        int32_t bias = k->bias != NULL ? k->bias[group] : 0;

        memset(plane, 0, (size_t)k->padded);
        for (int64_t r = 0; r < rows; r++) {
            int64_t d = r / v->x_size[1] + v->pad[0], h = r % v->x_size[1] + v->pad[1];

            memcpy(plane + (d * k->size[1] + h) * k->size[2] + v->pad[2],
                   k->x + (image * rows + r) * width, (size_t)width);
        }
        sum_taps(k, plane, k->w->packed + group * k->w->quads * 4, sums);
        for (int64_t p = 0; p < k->positions; p += N)
            store_tile(k, 1, (int)(k->positions - p < N ? k->positions - p : N), &bias, sums + p,
                       image * k->positions + p, 0);
    }
    mxl_free(sums, bytes);
}

int mxl_quantized_convolve(const mxl_conv *v, const void *x, const mxl_quantized_weights *w,
                           const int32_t *bias, const mxl_quantized_tail *tail, void *y)
{
    work k = {.v = v, .w = w, .tail = tail, .bias = bias, .x = x, .y = y};
    int64_t images = v->batch * v->groups, count;
    size_t bytes;

    k.flip = v->dtype == MXL_I8 ? 128 : 0;
    k.fours = (v->in + 3) / 4;
    k.padded = k.positions = 1;
    for (int i = 0; i < 3; i++) {
        k.size[i] = v->x_size[i] + 2 * v->pad[i];
        k.padded *= k.size[i];
        k.positions *= v->y_size[i];
    }
    k.blocks = (k.positions + N - 1) / N;
    count = images * k.blocks;
    if (count == 0 || v->out == 0)
        return 0;
    if (v->in == 1 && v->out == 1) {
        mxl_parallel_for(images, GRAIN / (taps_of(v) * k.positions + 1) + 1, run_depthwise, &k);
        return k.failed ? mxl_error_memory((size_t)k.padded) : 0;
    }
    /* Few positions: threads divide the channels too. */
    k.part = count >= 8 ? v->out : (v->out + 2 * R - 1) / (2 * R) * R;
    k.parts = (v->out + k.part - 1) / k.part;
    bytes = (size_t)(images * k.fours * k.padded + N) * sizeof(uint32_t);
    k.planes = mxl_alloc(bytes);
    if (k.planes == NULL)
        return -1;
    mxl_parallel_for(images * k.fours, GRAIN / (4 * k.padded + 1) + 1, make_planes, &k);
    mxl_parallel_for(count * k.parts, GRAIN / (w->quads * k.part * 4 + 1) + 1, run_blocks, &k);
    mxl_free(k.planes, bytes);
    return k.failed ? mxl_error_memory((size_t)w->quads * N * sizeof(uint32_t)) : 0;
}

/* ---- rows ---- */

typedef struct rows_work {
    bool is_unsigned;
    int64_t m, n, k;
    const char *x;
    const int8_t *w;
    const int32_t *bias;
    int32_t *y;
} rows_work;

enum { TOGETHER = 32 }; /* rows of the matrix that meet all rows of x */

static void run_rows(void *data, int64_t begin, int64_t end)
{
    const rows_work *r = data;

    for (int64_t first = begin; first < end; first += TOGETHER) {
        int64_t n = end - first < TOGETHER ? end - first : TOGETHER;

        for (int64_t i = 0; i < r->m; i++) {
            int32_t *y = r->y + i * r->n + first;

            mxl_dots_rows(r->is_unsigned, r->k, r->x + i * r->k, r->w + first * r->k, n, y);
            for (int64_t j = 0; j < n && r->bias != NULL; j++)
                y[j] += r->bias[first + j];
        }
    }
}

void mxl_quantized_dense(bool is_unsigned, int64_t m, int64_t n, int64_t k, const void *x,
                         const int8_t *w, const int32_t *bias, int32_t *y)
{
    rows_work r = {is_unsigned, m, n, k, x, w, bias, y};

    mxl_parallel_for(n, GRAIN / (m * k + 1) + 1, run_rows, &r);
}
