/* See pair_convolve.h. Images become planes of pixels, padded, in which neighbouring channels of a
 * pixel are a pair. Of 32 positions of the output the pixels under the kernel are copied to a
 * block; as many blocks as stay in the second cache meet a tile of weights after the other. */
#include "kernel/bfloat16/pair_convolve.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/bfloat16/pairs.h"
#include "kernel/conv/conv_form.h"

enum {
    R = MXL_PAIRS_ROWS,
    N = MXL_PAIRS_COLUMNS,
    GRAIN = 1 << 18,
    RUN = 16,             /* words that are copied at once, */
    MANY_RUNS = 12,       /* if there are not more runs of neighbours */
    GROUP_WORDS = 1 << 17 /* of blocks that stay in the second cache */
};

typedef struct work {
    const mxl_conv *v;
    uint32_t *tiles; /* [groups]: weights, in tiles of up to R channels, each [pairs][channels] */
    const uint16_t *given; /* the weights as they are */
    const float *bias;     /* NULL: 0 */
    const uint16_t *x;
    uint16_t *y;
    uint32_t *planes; /* [batch * groups][twos][padded]: two channels of a pixel */
    int64_t twos, padded, size[3];
    int64_t taps, pairs;
    int64_t positions, blocks; /* of an image of the output */
    int64_t together, groups;  /* blocks that are made together; of an image so many times */
    int64_t parts, part;       /* of the output's channels, each of `part` */
    _Atomic(int) failed;
} work;

/* ---- weights ---- */

/* The rows of the tile that begins at channel `at` of n: tiles are about as high as each other. */
static int64_t height(int64_t at, int64_t n)
{
    int64_t tiles = (n - at + R - 1) / R;

    return (n - at + tiles - 1) / tiles;
}

/* A tile of `rows` channels: pairs are taps, and within them channels. */
static void pack_tile(const work *k, const uint16_t *w, int64_t rows, uint32_t *to)
{
    int64_t channels = k->v->in, row = channels * k->taps;

    for (int64_t t = 0; t < k->taps; t++) {
        for (int64_t c = 0; c < channels; c += 2) {
            for (int64_t r = 0; r < rows; r++, to++) {
                const uint16_t *at = w + r * row + c * k->taps + t;

                *to = at[0] | (c + 1 < channels ? (uint32_t)at[k->taps] << 16 : 0);
            }
        }
    }
}

/* Ranges count groups. */
static void pack_weights(void *data, int64_t begin, int64_t end)
{
    const work *k = data;

    for (int64_t g = begin; g < end; g++) {
        for (int64_t c = 0, rows; c < k->v->out; c += rows) {
            int64_t at = g * k->v->out + c;

            rows = height(c, k->v->out);
            pack_tile(k, k->given + at * k->v->in * k->taps, rows, k->tiles + at * k->pairs);
        }
    }
}

/* The weights as tiles, in `form`. -1 with the error set. */
static int find_weights(work *k, mxl_conv_form **form)
{
    const mxl_conv *v = k->v;
    mxl_conv_form_key key = {.kind = 3,
                             .dtype = MXL_BF16,
                             .level = 3,
                             .groups = v->groups,
                             .in = v->in,
                             .out = v->out,
                             .taps = k->taps};
    size_t bytes = (size_t)(v->groups * v->out * k->pairs) * sizeof(uint32_t);
    bool done;

    *form = mxl_conv_form_get(v->form, &key, bytes, &done);
    if (*form == NULL)
        return -1;
    k->tiles = (*form)->data;
    if (!done)
        mxl_parallel_for(v->groups, GRAIN / (v->out * k->pairs + 1) + 1, pack_weights, k);
    return 0;
}

/* ---- planes ---- */

/* Ranges count planes of two channels. */
static void make_planes(void *data, int64_t begin, int64_t end)
{
    const work *k = data;
    const mxl_conv *v = k->v;
    int64_t plane = v->x_size[0] * v->x_size[1] * v->x_size[2], width = v->x_size[2];

    for (int64_t p = begin; p < end; p++) {
        int64_t image = p / k->twos, c = p % k->twos * 2;
        const uint16_t *a = k->x + (image * v->in + c) * plane;
        const uint16_t *b = c + 1 < v->in ? a + plane : NULL;
        uint32_t *to = k->planes + p * k->padded;

        if (k->padded == plane) {
            mxl_pairs_weave(a, b, to, plane);
            continue;
        }
        memset(to, 0, (size_t)k->padded * sizeof(*to));
        for (int64_t r = 0; r < v->x_size[0] * v->x_size[1]; r++) {
            int64_t d = r / v->x_size[1] + v->pad[0], h = r % v->x_size[1] + v->pad[1];

            mxl_pairs_weave(a + r * width, b != NULL ? b + r * width : NULL,
                            to + (d * k->size[1] + h) * k->size[2] + v->pad[2], width);
        }
    }
}

/* ---- blocks ---- */

/* Where the pixels of a block's positions are in a plane, and runs of them a stride apart, of up to
 * RUN. */
typedef struct pixels {
    int64_t at[N];
    int runs, first[N];
} pixels;

/* Of positions [first, first + count); the others are like the last one. */
static void find_pixels(const work *k, int64_t first, int64_t count, pixels *p)
{
    const mxl_conv *v = k->v;

    p->runs = 0;
    for (int i = 0; i < N; i++) {
        int64_t o = first + (i < count ? i : count - 1);
        int64_t w = o % v->y_size[2], h = o / v->y_size[2] % v->y_size[1];
        int64_t d = o / v->y_size[2] / v->y_size[1];

        p->at[i] =
            (d * v->stride[0] * k->size[1] + h * v->stride[1]) * k->size[2] + w * v->stride[2];
        if (i < count && (p->runs == 0 || p->at[i] != p->at[i - 1] + v->stride[2] ||
                          i == p->first[p->runs - 1] + RUN))
            p->first[p->runs++] = i;
    }
}

/* to[pairs][N] = the pixels under the kernel; writes up to RUN words more. Whole runs are copied,
 * the next one over what is too much of the one before. */
static void copy_block(const work *k, int64_t image, const pixels *p, uint32_t *to)
{
    const mxl_conv *v = k->v;
    const uint32_t *planes = k->planes + image * k->twos * k->padded;

    for (int64_t t = 0; t < k->taps; t++) {
        int64_t w = t % v->kernel[2], h = t / v->kernel[2] % v->kernel[1];
        int64_t d = t / v->kernel[2] / v->kernel[1];
        const uint32_t *from = planes +
                               (d * v->dilate[0] * k->size[1] + h * v->dilate[1]) * k->size[2] +
                               w * v->dilate[2];

        for (int64_t c = 0; c < k->twos; c++, from += k->padded, to += N) {
            if (p->runs <= MANY_RUNS && v->stride[2] == 2) {
                for (int r = 0; r < p->runs; r++)
                    mxl_pairs_halve(from + p->at[p->first[r]], to + p->first[r]);
            } else if (p->runs <= MANY_RUNS && v->stride[2] == 1) {
                for (int r = 0; r < p->runs; r++)
                    memcpy(to + p->first[r], from + p->at[p->first[r]], RUN * sizeof(*to));
            } else {
                for (int i = 0; i < N; i++)
                    to[i] = from[p->at[i]];
            }
        }
    }
}

/* Whether a block is a part of each plane: then planes need not be made. */
static bool is_plain(const work *k)
{
    return k->taps == 1 && k->padded == k->positions;
}

/* The same of images whose pixels are the positions. */
static void weave_block(const work *k, int64_t image, int64_t first, int64_t count, uint32_t *to)
{
    const uint16_t *x = k->x + image * k->v->in * k->positions + first;

    for (int64_t c = 0; c < k->twos; c++, x += 2 * k->positions, to += N)
        mxl_pairs_weave(x, 2 * c + 1 < k->v->in ? x + k->positions : NULL, to, count);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void make_block(const work *k, int64_t image, int64_t first, uint32_t *to)
{
    int64_t count = least(k->positions - first, N);
    pixels p;

    if (is_plain(k)) {
        weave_block(k, image, first, count, to);
        return;
    }
    find_pixels(k, first, count, &p);
    copy_block(k, image, &p, to);
}

/* ---- the work ---- */

/* Channels [c, c + rows) of a group, which are `channel` on of all, of one block. */
static void run_tile(const work *k, int64_t image, int64_t channel, int64_t c, int64_t rows,
                     int64_t first, const uint32_t *block)
{
    const mxl_conv_tail *tail = k->v->tail;
    int64_t n = least(k->positions - first, N);
    int64_t at = (image * k->v->out + c) * k->positions + first;
    float sums[R * N];
    mxl_pairs_end end = {.scale = 1, .low = -INFINITY, .high = INFINITY};

    if (tail != NULL) {
        end.low = (float)tail->low;
        end.high = (float)tail->high;
    }
    mxl_pairs_tile((int)rows, (int)n, k->pairs, k->tiles + channel * k->pairs, block, sums);
    for (int64_t r = 0; r < rows; r++, at += k->positions) {
        const uint16_t *add =
            tail != NULL && tail->add != NULL ? (const uint16_t *)tail->add + at : NULL;

        end.bias = k->bias != NULL ? k->bias[channel + r] : 0;
        if (tail != NULL && tail->scale != NULL)
            end.scale = ((const float *)tail->scale)[channel + r];
        mxl_pairs_store(&end, sums + r * N, add, k->y + at, n);
    }
}

/* Ranges count parts of channels, of groups of blocks, of images and groups. */
static void run_groups(void *data, int64_t begin, int64_t end)
{
    work *k = data;
    const mxl_conv *v = k->v;
    int64_t words = k->pairs * N;
    size_t bytes = ((size_t)(words * k->together) + RUN) * sizeof(uint32_t);
    uint32_t *blocks = mxl_alloc(bytes);
    int64_t made = -1;

    if (blocks == NULL) {
        k->failed = 1;
        return;
    }
    for (int64_t i = begin; i < end; i++) {
        int64_t which = i / k->parts, from = i % k->parts * k->part;
        int64_t to = least(from + k->part, v->out);
        int64_t image = which / k->groups, first = which % k->groups * k->together;
        int64_t count = least(k->blocks - first, k->together);

        for (int64_t b = 0; b < count && which != made; b++)
            make_block(k, image, (first + b) * N, blocks + b * words);
        made = which;
        for (int64_t c = 0, rows; c < to; c += rows) {
            rows = height(c, v->out);
            for (int64_t b = 0; b < count && c >= from; b++)
                run_tile(k, image, image % v->groups * v->out + c, c, rows, (first + b) * N,
                         blocks + b * words);
        }
    }
    mxl_free(blocks, bytes);
}

bool mxl_bfloat16_convolves(const mxl_conv *v)
{
    return v->in * v->kernel[0] * v->kernel[1] * v->kernel[2] >= 16 && v->out >= 4 &&
           mxl_pairs_are_fast();
}

/* Channels of a part, which ends where a tile does. */
static int64_t part_of(const work *k, int64_t units)
{
    int64_t half = (k->v->out + 1) / 2, part = 0;

    if (units >= 8 || k->v->out <= R)
        return k->v->out;
    while (part < half)
        part += height(part, k->v->out);
    return part;
}

int mxl_bfloat16_convolve(const mxl_conv *v, const void *x, const void *w, const float *bias,
                          void *y)
{
    work k = {.v = v, .given = w, .bias = bias, .x = x, .y = y};
    int64_t images = v->batch * v->groups, units;
    size_t bytes = 0;
    mxl_conv_form *form;

    k.taps = v->kernel[0] * v->kernel[1] * v->kernel[2];
    k.twos = (v->in + 1) / 2;
    k.pairs = k.taps * k.twos;
    k.padded = k.positions = 1;
    for (int i = 0; i < 3; i++) {
        k.size[i] = v->x_size[i] + 2 * v->pad[i];
        k.padded *= k.size[i];
        k.positions *= v->y_size[i];
    }
    k.blocks = (k.positions + N - 1) / N;
    k.together = least(k.blocks, 1 + GROUP_WORDS / (k.pairs * N));
    k.groups = (k.blocks + k.together - 1) / k.together;
    units = images * k.groups;
    k.part = part_of(&k, units);
    k.parts = (v->out + k.part - 1) / k.part;
    if (find_weights(&k, &form) != 0)
        return -1;
    if (!is_plain(&k)) {
        bytes = (size_t)(images * k.twos * k.padded + N) * sizeof(uint32_t);
        k.planes = mxl_alloc(bytes);
        if (k.planes != NULL)
            mxl_parallel_for(images * k.twos, GRAIN / (4 * k.padded + 1) + 1, make_planes, &k);
    }
    if (bytes == 0 || k.planes != NULL)
        mxl_parallel_for(units * k.parts, GRAIN / (k.pairs * k.part * k.together * 4 + 1) + 1,
                         run_groups, &k);
    else
        k.failed = 1;
    mxl_free(k.planes, bytes);
    if (v->form == NULL)
        mxl_conv_form_free(form);
    return k.failed ? mxl_error_memory(bytes + (size_t)(k.pairs * k.together) * N * 4) : 0;
}
