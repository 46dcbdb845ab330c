/* Winograd's convolutions with tiles of 6 x 6 and their derivatives by the data; see six.h.
 *
 * The weights are mapped once. A worker maps the images of some rows of tiles, multiplies them (36
 * products of matrices: tiles x inputs x outputs) and maps the products back, in memory of its own.
 * Each sum is one chain over the inputs, so bits depend neither on blocks nor on threads. */
#include <stdatomic.h>
#include <string.h>

#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/conv/conv_micro.h"
#include "kernel/copy/copy_loops.h"
#include "kernel/winograd/six.h"
#include "kernel/winograd/six_fits.h"
#include "kernel/winograd/six_maps.h"

enum {
    LANES = MXL_SIX_LANES,
    POINTS = MXL_SIX_POINTS,
    BLOCK_TILES = 64, /* of a block, about */
    PAD = 32,         /* floats between planes: so they do not share lines of a cache */
    SOME = 8          /* inputs whose weights are mapped by one item of a range */
};

typedef struct engine {
    mxl_six_view images, results;
    const mxl_conv_micro *micro;
    int64_t in, out, r; /* channels of a group */
    const float *weights, *bias;
    float *dst;
    int64_t w_group, w_out, w_in;
    bool flip; /* the order of the taps */

    int64_t wide_in, wide_out; /* channels, multiples of LANES */
    int64_t block, blocks;     /* rows of tiles */
    int64_t u_plane, v_plane, m_plane;
    float *mapped; /* [groups][36][panel][in][width] */
    float *room;   /* of all workers */
    int64_t room_size;
    atomic_int_fast64_t next; /* the block that is taken next */
    atomic_bool wrong;        /* a result is not finite */
} engine;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- weights ---- */

/* One item of the range is LANES outputs and SOME inputs of a group. */
static void map_weights(void *data, int64_t begin, int64_t end)
{
    const engine *e = data;
    int64_t parts = (e->in + SOME - 1) / SOME, taps = e->r * e->r;
    int64_t groups = (e->out + LANES - 1) / LANES, items = groups * parts;
    float some[SOME * MXL_SIX_TAPS * LANES];

    for (int64_t item = begin; item < end; item++) {
        int64_t group = item / items, k = item % items / parts * LANES, width;
        int64_t first = item % parts * SOME, last = least(first + SOME, e->in);
        int64_t panel = mxl_six_panel(e->micro, e->wide_out, k, &width);
        const float *w = e->weights + group * e->w_group + k * e->w_out;
        float *to = e->mapped + group * POINTS * e->u_plane + panel * e->in + k - panel;

        if (e->out - k < LANES)
            memset(some, 0, sizeof(some));
        for (int64_t c = first; c < last; c++) {
            float *at = some + (c - first) * taps * LANES;

            if (e->w_in != taps || c == first) /* taps of the inputs are neighbours, or not */
                mxl_transpose_kernel(sizeof(float), at, LANES, w + c * e->w_in, e->w_out,
                                     e->w_in != taps ? taps : (last - first) * taps,
                                     least(LANES, e->out - k));
            mxl_six_weights((int)e->r, e->flip, at, to + c * width, e->u_plane);
        }
    }
}

/* ---- blocks ---- */

/* m[f][tile][k] = the products of the mapped images, of `n` tiles, with the mapped weights. */
static void multiply(const engine *e, int64_t group, int64_t n, const float *v, float *m)
{
    int64_t lanes = e->micro->lanes;
    mxl_conv_positions at = {.rows = 1, .run = e->in};

    memset(m, 0, (size_t)(POINTS * e->m_plane) * sizeof(float));
    for (int f = 0; f < POINTS; f++) {
        for (int64_t k = 0, width; k < e->wide_out; k += width) {
            const float *u = e->mapped + (group * POINTS + f) * e->u_plane + k * e->in;

            (void)mxl_six_panel(e->micro, e->wide_out, k, &width);
            for (int64_t t = 0, height; t < n; t += height) {
                const int *fits = e->micro->heights;
                const void *rows[MXL_CONV_HEIGHT];

                while (*fits > n - t)
                    fits++;
                height = *fits;
                for (int64_t i = 0; i < height; i++)
                    rows[i] = v + f * e->v_plane + (t + i) * e->wide_in;
                e->micro->weight[height][width / lanes - 1](&at, rows, u,
                                                            m + f * e->m_plane + k * n + t * width);
            }
        }
    }
}

/* Maps the products of the rows of tiles [first, last) back. Returns whether all are finite. */
static bool map_outputs(const engine *e, int64_t group, int64_t first, int64_t last, float *room,
                        const float *m)
{
    int64_t n = (last - first) * e->results.columns;
    bool finite = true;

    for (int64_t k = 0; k < e->out; k += LANES) {
        float bias[LANES] = {0};
        int64_t width, panel = mxl_six_panel(e->micro, e->wide_out, k, &width);

        if (e->bias != NULL)
            memcpy(bias, e->bias + group * e->out + k,
                   (size_t)least(LANES, e->out - k) * sizeof(float));
        finite &= mxl_six_unmap(&e->results, group, k, first, last, room, m + panel * n + k - panel,
                                width, e->m_plane, bias, e->dst);
    }
    return finite;
}

/* One item of the range is a worker, which takes blocks until there are no more. */
static void work(void *data, int64_t begin, int64_t end)
{
    engine *e = data;
    int64_t rows = e->images.batch * e->images.rows, item;

    for (int64_t worker = begin; worker < end; worker++) {
        float *v = e->room + worker * e->room_size, *m = v + POINTS * e->v_plane;
        float *room = m + POINTS * e->m_plane;

        while ((item = atomic_fetch_add(&e->next, 1)) < e->images.groups * e->blocks &&
               !atomic_load_explicit(&e->wrong, memory_order_relaxed)) {
            int64_t group = item / e->blocks, first = item % e->blocks * e->block;
            int64_t last = least(first + e->block, rows);

            for (int64_t c = 0; c < e->in; c += LANES) {
                mxl_six_place place = {v + c, e->v_plane, e->wide_in, LANES, 0};

                mxl_six_map(&e->images, group, c, first, last, room, &place);
            }
            multiply(e, group, (last - first) * e->images.columns, v, m);
            if (!map_outputs(e, group, first, last, room, m))
                atomic_store_explicit(&e->wrong, true, memory_order_relaxed);
        }
    }
}

/* ---- the whole ---- */

static mxl_winograd_status run(engine *e)
{
    int64_t workers = mxl_thread_count(), rows = e->images.batch * e->images.rows, items, tiles;
    int64_t mapped;
    size_t bytes;
    float *all;

    e->micro = mxl_conv_micro_f32();
    e->wide_out = (e->out + LANES - 1) / LANES * LANES;
    e->wide_in = (e->in + LANES - 1) / LANES * LANES;
    e->block = least((BLOCK_TILES + e->images.columns - 1) / e->images.columns, rows);
    if (e->images.groups * rows < workers * e->block)
        e->block = (e->images.groups * rows + workers - 1) / workers;
    e->blocks = (rows + e->block - 1) / e->block;
    tiles = e->block * e->images.columns;
    e->u_plane = e->in * e->wide_out + PAD;
    e->v_plane = tiles * e->wide_in + PAD;
    e->m_plane = tiles * e->wide_out + PAD;
    e->room_size = POINTS * (e->v_plane + e->m_plane) + mxl_six_room(&e->images, e->block);
    mapped = e->images.groups * POINTS * e->u_plane;
    bytes = (size_t)(mapped + workers * e->room_size) * sizeof(float);
    all = mxl_alloc(bytes);
    if (all == NULL)
        return MXL_WINOGRAD_FAILED;
    e->mapped = all;
    e->room = all + mapped;
    items = e->images.groups * ((e->out + LANES - 1) / LANES) * ((e->in + SOME - 1) / SOME);
    mxl_parallel_for(items, 4, map_weights, e);
    mxl_parallel_for(workers, 1, work, e);
    mxl_free(all, bytes);
    return atomic_load(&e->wrong) ? MXL_WINOGRAD_NOT : MXL_WINOGRAD_DONE;
}

mxl_winograd_status mxl_six_forward(const mxl_conv *v, const void *x, const void *w,
                                    const void *bias, void *y)
{
    int64_t r = v->kernel[1];
    engine e = {.images = mxl_six_images(v, x, v->x_size, v->y_size, v->in, v->pad),
                .results = mxl_six_results(v, y, v->y_size, v->out),
                .in = v->in,
                .out = v->out,
                .r = r,
                .weights = w,
                .bias = bias,
                .dst = y,
                .w_group = v->in * v->out * r * r,
                .w_out = v->in * r * r,
                .w_in = r * r};

    return mxl_six_fits(v, v->y_size, false) ? run(&e) : MXL_WINOGRAD_NOT;
}

/* The taps in the opposite order, over an image with a rim of r - 1 - pad. */
mxl_winograd_status mxl_six_data(const mxl_conv *v, const void *y, const void *w, void *x)
{
    int64_t r = v->kernel[1], rim[3] = {0, r - 1 - v->pad[1], r - 1 - v->pad[2]};
    engine e = {.images = mxl_six_images(v, y, v->y_size, v->x_size, v->out, rim),
                .results = mxl_six_results(v, x, v->x_size, v->in),
                .in = v->out,
                .out = v->in,
                .r = r,
                .weights = w,
                .dst = x,
                .w_group = v->in * v->out * r * r,
                .w_out = r * r,
                .w_in = v->in * r * r,
                .flip = true};

    return mxl_six_fits(v, v->x_size, false) ? run(&e) : MXL_WINOGRAD_NOT;
}
