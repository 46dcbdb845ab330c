/* Winograd's convolutions and their derivatives by the data; see winograd.h.
 *
 * The weights are mapped once. A block of tiles at a time is mapped, multiplied (16 products of
 * matrices: outputs x inputs x tiles) and mapped back, in memory of one thread that stays in its
 * cache. Each sum is one chain over the inputs, so bits depend neither on blocks nor on threads. */
#include "kernel/winograd/winograd.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/dtype.h"
#include "base/env.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/conv/conv_form.h"
#include "kernel/conv/conv_micro.h"
#include "kernel/winograd/winograd_tiles.h"
#include "kernel/copy/copy_loops.h"
#include "kernel/target.h"

enum {
    BLOCK_BYTES = 768 << 10, /* maps of the inputs and of the outputs of a block, about */
    LEAST_TILES = 96,        /* of a block, if there are so many */
    MOST_TILES = 192,
    SHARED_ROWS = 32,      /* outputs that a worker takes at a time of a block that all work at */
    PAD = 32,              /* floats between planes: so they do not share lines of a cache */
    CHANNELS = 32,         /* whose weights are packed at a time */
    WORTH_THREAD = 1 << 18 /* products that are worth a thread */
};

/* Costs in products of numbers, measured on a Zen 5 and rounded up. */
enum {
    TILE_COST = 300,   /* a tile of a channel is mapped, there or back */
    WEIGHT_COST = 160, /* the kernel of an input and an output is mapped */
    CALL_COST = 2 << 20
};

typedef struct engine {
    mxl_winograd_tiles tiles;
    const mxl_conv_micro *micro;
    int64_t out; /* channels of a group of the result */
    const float *weights, *bias;
    float *dst;
    int64_t w_group, w_out, w_in;
    bool flip; /* the order of the taps */
    mxl_conv_form **form;
    const mxl_conv_tail *tail;

    int64_t block, blocks; /* tiles of a block; blocks of a group */
    int64_t row;           /* the block in whole vectors */
    bool shared;           /* all workers work at one block */
    int64_t item;          /* that block */
    int64_t u_plane, v_plane, v_row, m_plane;
    float *mapped; /* of a form: [groups][16][out][in], in panels of a micro kernel's rows */
    int64_t *offsets;
    float *images; /* those of the shared block, mapped */
    float *room;   /* of all workers */
    int64_t room_size;
    atomic_int_fast64_t next; /* the block, or the outputs of the shared one, taken next */
    atomic_bool wrong;        /* a result is not finite */
} engine;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t round_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

bool mxl_winograd_fits(const mxl_conv *v, int64_t height, int64_t width)
{
    static const int64_t kernel[3] = {1, 3, 3}, ones[3] = {1, 1, 1};
    double tiles = (double)(v->groups * v->batch * ((height + 1) / 2) * ((width + 1) / 2));
    double pairs = (double)(v->in * v->out), channels = (double)(v->in + v->out);
    double taps = 9.0 * (double)(v->groups * v->batch * height * width) * pairs;
    double maps = TILE_COST * tiles * channels + WEIGHT_COST * (double)v->groups * pairs;

    /* Sums over taps run at three quarters of the speed of the products of tiles. */
    return v->dtype == MXL_F32 && memcmp(v->kernel, kernel, sizeof(kernel)) == 0 &&
           memcmp(v->stride, ones, sizeof(ones)) == 0 &&
           memcmp(v->dilate, ones, sizeof(ones)) == 0 && v->x_size[0] == 1 && v->y_size[0] == 1 &&
           v->pad[0] == 0 && 16.0 * tiles * pairs + maps + CALL_COST < 1.2 * taps &&
           mxl_env_number("MXLITE_WINOGRAD", 1) != 0;
}

/* ---- weights ---- */

static void scale_taps(float *taps, int64_t n, int64_t height, const float *scale)
{
    for (int64_t t = 0; t < n; t++)
        for (int64_t i = 0; i < height; i++)
            taps[t * height + i] *= scale[i];
}

/* One item of the range is a tallest tile's rows of a group. */
static void map_weights(void *data, int64_t begin, int64_t end)
{
    const engine *e = data;
    int64_t tall = e->micro->heights[0], items = (e->out + tall - 1) / tall;
    const float *scale = e->tail != NULL ? e->tail->scale : NULL;
    float taps[CHANNELS * 9 * MXL_CONV_HEIGHT];

    for (int64_t item = begin; item < end; item++) {
        int64_t group = item / items, first = item % items * tall;
        int64_t last = least(first + tall, e->out);
        float *to = e->mapped + group * 16 * e->u_plane;

        for (int64_t i = first, height; i < last; i += height) {
            const float *w = e->weights + group * e->w_group + i * e->w_out;
            const int *fits = e->micro->heights;

            while (*fits > last - i)
                fits++;
            height = *fits;
            for (int64_t c = 0, some; c < e->tiles.in; c += some) {
                some = least(CHANNELS, e->tiles.in - c);
                if (e->w_in == 9) {
                    mxl_transpose_kernel(sizeof(float), taps, height, w + c * 9, e->w_out, some * 9,
                                         height);
                } else {
                    for (int64_t k = 0; k < some; k++)
                        mxl_transpose_kernel(sizeof(float), taps + k * 9 * height, height,
                                             w + (c + k) * e->w_in, e->w_out, 9, height);
                }
                if (scale != NULL)
                    scale_taps(taps, some * 9, height, scale + group * e->out + i);
                mxl_winograd_weights(taps, some, height, e->flip, to + i * e->tiles.in + c * height,
                                     e->u_plane);
            }
        }
    }
}

/* ---- blocks ---- */

/* The tiles [first, last) of block number `item`. Returns its group. */
static int64_t block_at(const engine *e, int64_t item, int64_t *first, int64_t *last)
{
    *first = item % e->blocks * e->block;
    *last = least(*first + e->block, e->tiles.count);
    return item / e->blocks;
}

/* v[f][c][tile] = the mapped images of channels [c, c + n) of a block. */
static void map_images(const engine *e, int64_t item, int64_t c, int64_t n, mxl_winograd_rows *rows,
                       float *v)
{
    int64_t first, last, group = block_at(e, item, &first, &last);

    mxl_winograd_map_images(&e->tiles, group, c, n, first, last, rows, v + c * e->v_row, e->v_row,
                            e->v_plane);
}

/* Whether the last tiles of `n` are so few that they are computed as columns. */
static bool is_narrow(const engine *e, int64_t n)
{
    int64_t rest = n % e->micro->lanes;

    return e->micro->columns != NULL && rest > 0 && rest <= MXL_CONV_COLUMNS &&
           e->out % MXL_CONV_HEIGHT == 0;
}

/* The products of some rows of weights with a few tiles. */
static void multiply_narrow(const engine *e, int64_t rows, int64_t n, const float *u,
                            const float *v, float *m)
{
    float sums[MXL_CONV_TALL * MXL_CONV_COLUMNS];

    for (int64_t some; rows > 0; rows -= some, u += some * e->tiles.in) {
        some = least(rows, MXL_CONV_TALL);
        e->micro->columns(e->tiles.in, (int)(some / MXL_CONV_HEIGHT), (int)n, u, v, e->offsets,
                          sums);
        for (int64_t i = 0; i < some; i++, m += e->row)
            for (int64_t t = 0; t < n; t++)
                m[t] = sums[i * MXL_CONV_COLUMNS + t];
    }
}

/* m[f][k][tile] = the products of the mapped weights of outputs [k0, k1) with the mapped images, of
 * `n` tiles. */
static void multiply(const engine *e, int64_t group, int64_t k0, int64_t k1, int64_t n,
                     const float *v, float *m)
{
    int64_t lanes = e->micro->lanes, whole = n / lanes, rest = n % lanes;
    bool narrow = is_narrow(e, n);
    int64_t vectors = whole + (rest > 0 && !narrow);

    for (int f = 0; f < 16; f++, v += e->v_plane, m += e->m_plane) {
        const float *u = e->mapped + (group * 16 + f) * e->u_plane;

        for (int64_t i = k0, height; i < k1; i += height) {
            const int *fits = e->micro->heights;

            while (*fits > k1 - i)
                fits++;
            height = *fits;
            for (int64_t s = 0, wide; s < vectors; s += wide) {
                wide = vectors - s == 4 ? 2 : least(vectors - s, MXL_CONV_VECTORS);
                e->micro->tile[height][wide - 1](e->tiles.in, u + i * e->tiles.in, v + s * lanes,
                                                 e->offsets, 0, m + (i - k0) * e->row + s * lanes,
                                                 e->row, NULL);
            }
        }
        if (narrow)
            multiply_narrow(e, k1 - k0, rest, u + k0 * e->tiles.in, v + whole * lanes,
                            m + whole * lanes);
    }
}

/* Maps the products back: outputs [k0, k1) of tiles [first, last). Returns whether all are finite.
 */
static bool map_outputs(const engine *e, int64_t group, int64_t k0, int64_t k1, int64_t first,
                        int64_t last, const float *m)
{
    int64_t size = e->tiles.dst_size[0] * e->tiles.dst_size[1], k = group * e->out + k0;
    mxl_winograd_outputs end = {.out = e->dst + k * size,
                                .bias = e->bias != NULL ? e->bias + k : NULL,
                                .low = -INFINITY,
                                .high = INFINITY,
                                .apart = e->tiles.groups * e->out * size};

    if (e->tail != NULL) {
        end.add = e->tail->add != NULL ? (const float *)e->tail->add + k * size : NULL;
        end.low = (float)e->tail->low;
        end.high = (float)e->tail->high;
    }
    return mxl_winograd_map_outputs(&e->tiles, &end, first, last, k1 - k0, m, e->row, e->m_plane);
}

/* Outputs [k0, k1) of a block, whose mapped images are `v`. */
static void make_outputs(engine *e, int64_t item, int64_t k0, int64_t k1, const float *v, float *m)
{
    int64_t first, last, group = block_at(e, item, &first, &last);

    multiply(e, group, k0, k1, last - first, v, m);
    if (!map_outputs(e, group, k0, k1, first, last, m))
        atomic_store_explicit(&e->wrong, true, memory_order_relaxed);
}

/* The next item of `count`, unless there are no more, or the result is wrong. */
static bool next_item(engine *e, int64_t count, int64_t *item)
{
    *item = atomic_fetch_add(&e->next, 1);
    return *item < count && !atomic_load_explicit(&e->wrong, memory_order_relaxed);
}

/* One item of the range is a worker, which takes blocks until there are no more. */
static void work(void *data, int64_t begin, int64_t end)
{
    engine *e = data;

    for (int64_t worker = begin, item; worker < end; worker++) {
        mxl_winograd_rows *rows = (void *)(e->room + worker * e->room_size);
        float *v = (float *)(rows + MXL_WINOGRAD_CHANNELS), *m = v + 16 * e->v_plane;

        memset(rows, 0, sizeof(*rows) * MXL_WINOGRAD_CHANNELS);
        while (next_item(e, e->tiles.groups * e->blocks, &item)) {
            map_images(e, item, 0, e->tiles.in, rows, v);
            make_outputs(e, item, 0, e->out, v, m);
        }
    }
}

/* One item of the range is some channels of the shared block. */
static void shared_images(void *data, int64_t begin, int64_t end)
{
    engine *e = data;
    mxl_winograd_rows rows[MXL_WINOGRAD_CHANNELS];

    memset(rows, 0, sizeof(rows));
    begin *= MXL_WINOGRAD_CHANNELS;
    end = least(end * MXL_WINOGRAD_CHANNELS, e->tiles.in);
    map_images(e, e->item, begin, end - begin, rows, e->images);
}

/* One item of the range is a worker, which takes outputs of the shared block. */
static void shared_outputs(void *data, int64_t begin, int64_t end)
{
    engine *e = data;

    for (int64_t worker = begin, item; worker < end; worker++) {
        float *m = e->room + worker * e->room_size;

        while (next_item(e, (e->out + SHARED_ROWS - 1) / SHARED_ROWS, &item))
            make_outputs(e, e->item, item * SHARED_ROWS, least((item + 1) * SHARED_ROWS, e->out),
                         e->images, m);
    }
}

static void run_shared(engine *e, int64_t workers)
{
    int64_t eights = (e->tiles.in + MXL_WINOGRAD_CHANNELS - 1) / MXL_WINOGRAD_CHANNELS;

    for (e->item = 0; e->item < e->tiles.groups * e->blocks; e->item++) {
        mxl_parallel_for(eights, 1, shared_images, e);
        atomic_store(&e->next, 0);
        mxl_parallel_for(workers, 1, shared_outputs, e);
    }
}

/* ---- the whole ---- */

/* What the busiest worker multiplies with, in sixteenths of a vector, if a group has so many
 * blocks.
 */
static int64_t most_work(const engine *e, int64_t blocks, int64_t workers)
{
    int64_t block = (e->tiles.count + blocks - 1) / blocks, rest = block % e->micro->lanes;
    int64_t narrow = (rest <= 2 ? 4 : 8) + 256 / e->tiles.in;

    return (blocks * e->tiles.groups + workers - 1) / workers *
           (16 * (block / e->micro->lanes) + (is_narrow(e, block) ? narrow
                                              : rest > 0          ? 16
                                                                  : 0));
}

/* Tiles of a block: about as many as fit the cache, and as much work for each worker as for others.
 * Where tiles are too few for that the workers share a block. */
static void divide(engine *e, int64_t workers)
{
    int64_t fits = BLOCK_BYTES / (int64_t)(16 * sizeof(float)) / (e->tiles.in + e->out), first, end;
    int64_t each = (e->tiles.count * e->tiles.groups + workers - 1) / workers;

    fits = fits < LEAST_TILES ? LEAST_TILES : fits > MOST_TILES ? MOST_TILES : fits;
    e->blocks = (e->tiles.count + fits - 1) / fits;
    e->shared = workers > 1 && each < LEAST_TILES / 2;
    first = (e->tiles.count - 1) / (fits + fits / 8) + 1;
    end = e->shared ? 0 : e->blocks + e->blocks / 2 + workers;
    for (int64_t blocks = first; blocks < end; blocks++)
        if (most_work(e, blocks, workers) < most_work(e, e->blocks, workers))
            e->blocks = blocks;
    e->block = (e->tiles.count + e->blocks - 1) / e->blocks;
    e->blocks = (e->tiles.count + e->block - 1) / e->block;
}

/* Room for the mapped weights, or these. */
static mxl_conv_form *form_of(const engine *e, bool *done)
{
    mxl_conv_form_key key = {.kind = e->flip ? 2 : 1,
                             .dtype = MXL_F32,
                             .level = mxl_level(),
                             .groups = e->tiles.groups,
                             .in = e->tiles.in,
                             .out = e->out,
                             .taps = 9,
                             .w_group = e->w_group,
                             .w_out = e->w_out,
                             .w_in = e->w_in};

    return mxl_conv_form_get(e->form, &key,
                             (size_t)(e->tiles.groups * 16 * e->u_plane) * sizeof(float), done);
}

static mxl_winograd_status run(engine *e)
{
    int64_t workers = mxl_thread_count(), tall, items;
    mxl_conv_form *form = NULL;
    bool done = false;
    size_t bytes;

    e->micro = mxl_conv_micro_f32();
    mxl_winograd_tiles_count(&e->tiles);
    if (e->tiles.count * e->tiles.in * e->out * 16 < 2 * WORTH_THREAD)
        workers = 1;
    divide(e, workers);
    e->u_plane = e->out * e->tiles.in + PAD;
    e->row = round_up(e->block, MXL_WINOGRAD_LANES);
    e->v_row = e->row;
    if (e->row > MXL_CONV_VECTORS * MXL_WINOGRAD_LANES && e->row / MXL_WINOGRAD_LANES % 2 == 0)
        e->v_row += MXL_WINOGRAD_LANES; /* so that a strip is in all places of a cache */
    e->v_plane = e->tiles.in * e->v_row + PAD;
    e->m_plane = (e->shared ? least(e->out, SHARED_ROWS) : e->out) * e->row + PAD;
    e->room_size = 16 * e->m_plane;
    if (!e->shared)
        e->room_size += 16 * e->v_plane + MXL_WINOGRAD_CHANNELS *
                                              (int64_t)(sizeof(mxl_winograd_rows) / sizeof(float));
    bytes = (size_t)(workers * e->room_size + (e->shared ? 16 * e->v_plane : 0)) * sizeof(float) +
            (size_t)e->tiles.in * sizeof(int64_t);
    e->offsets = mxl_alloc(bytes);
    if (e->offsets != NULL)
        form = form_of(e, &done);
    if (form == NULL) {
        mxl_free(e->offsets, bytes);
        return MXL_WINOGRAD_FAILED;
    }
    e->mapped = form->data;
    e->images = (float *)(e->offsets + e->tiles.in);
    e->room = e->images + (e->shared ? 16 * e->v_plane : 0);
    for (int64_t c = 0; c < e->tiles.in; c++)
        e->offsets[c] = c * e->v_row;
    tall = e->micro->heights[0];
    items = e->tiles.groups * ((e->out + tall - 1) / tall);
    if (!done)
        mxl_parallel_for(items, 1 + WORTH_THREAD / 8 / (1 + tall * e->tiles.in * 9), map_weights,
                         e);
    if (e->shared)
        run_shared(e, workers);
    else
        mxl_parallel_for(workers, 1, work, e);
    if (e->form == NULL)
        mxl_conv_form_free(form);
    mxl_free(e->offsets, bytes);
    return atomic_load(&e->wrong) ? MXL_WINOGRAD_NOT : MXL_WINOGRAD_DONE;
}

mxl_winograd_status mxl_winograd_forward(const mxl_conv *v, const void *x, const void *w,
                                         const void *bias, void *y)
{
    engine e = {.tiles = mxl_winograd_tiles_of(v, x),
                .out = v->out,
                .form = v->form,
                .tail = v->tail,
                .weights = w,
                .bias = bias,
                .dst = y,
                .w_group = v->in * v->out * 9,
                .w_out = v->in * 9,
                .w_in = 9};

    return mxl_winograd_fits(v, v->y_size[1], v->y_size[2]) ? run(&e) : MXL_WINOGRAD_NOT;
}

/* The taps in the opposite order, over an image with a rim of 2 - pad. */
mxl_winograd_status mxl_winograd_data(const mxl_conv *v, const void *y, const void *w,
                                      const void *bias, void *x)
{
    engine e = {.tiles = {.batch = v->batch,
                          .groups = v->groups,
                          .in = v->out,
                          .src_size = {v->y_size[1], v->y_size[2]},
                          .dst_size = {v->x_size[1], v->x_size[2]},
                          .lead = {2 - v->pad[1], 2 - v->pad[2]},
                          .src = y},
                .out = v->in,
                .weights = w,
                .bias = bias,
                .dst = x,
                .w_group = v->in * v->out * 9,
                .w_out = 9,
                .w_in = v->in * 9,
                .flip = true};

    return mxl_winograd_fits(v, v->x_size[1], v->x_size[2]) ? run(&e) : MXL_WINOGRAD_NOT;
}
