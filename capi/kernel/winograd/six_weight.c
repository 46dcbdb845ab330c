/* The derivative by the weights, by Winograd's maps of 6 x 6; see six.h. The convolution is linear
 * in the mapped weights, so their gradient is the sum over all tiles of the mapped gradient (A y
 * A') times the mapped image (B' x B), which is mapped back to taps (G' m G). */
#include <stdatomic.h>
#include <string.h>

#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/conv/conv_micro.h"
#include "kernel/copy/copy_loops.h"
#include "kernel/winograd/six.h"
#include "kernel/winograd/six_fits.h"

enum {
    LANES = MXL_SIX_LANES,
    POINTS = MXL_SIX_POINTS,
    CHUNK_BYTES = 4 << 20, /* maps that are made at a time, about */
    LEAST_TILES = 64,      /* of a chunk */
    SUMMED = 128,          /* tiles of one chain of a sum: their panel fits the cache */
    CHANNELS = 8,          /* whose sums are mapped back at a time */
    PAD = 32,              /* floats between planes: so they do not share lines of a cache */
    WIDEST = MXL_CONV_VECTORS * MXL_CONV_LANES
};

typedef struct engine {
    mxl_six_view images, grads;
    const mxl_conv_micro *micro;
    int64_t in, out, wide_in, wide_out, r; /* channels of a group; multiples of LANES */
    int64_t rows, first, last;             /* rows of tiles, and those of the chunk */
    int64_t tiles;                         /* of it */
    int64_t v_plane, y_plane, panels;
    float *v;    /* [groups][36][in / height][tile][height]: maps of the images */
    float *maps; /* [groups][36][panel][tile][width]: maps of the gradient */
    float *sums; /* [groups][panel][36][in][width] */
    float *w;
    float *room; /* of all workers */
    int64_t room_size;
    atomic_int_fast64_t next; /* the item that is mapped next */
    atomic_bool wrong;        /* a result is not finite */
} engine;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- maps ---- */

/* LANES channels of the images, or of the gradient, of a group. */
static void make_map(const engine *e, int64_t item, float *room)
{
    int64_t parts = e->wide_in / LANES, items = parts + e->wide_out / LANES;
    int64_t group = item / items, c = item % items * LANES, height = e->micro->heights[0];

    if (c < e->wide_in) {
        mxl_six_place place = {e->v + group * POINTS * e->v_plane + c * e->tiles, e->v_plane,
                               height, height, e->tiles * height};

        mxl_six_map(&e->images, group, c, e->first, e->last, room, &place);
    } else {
        mxl_six_place place = {.plane = e->y_plane, .height = LANES};
        int64_t panel;

        c -= e->wide_in;
        panel = mxl_six_panel(e->micro, e->wide_out, c, &place.step);
        place.to = e->maps + group * POINTS * e->y_plane + panel * e->tiles + c - panel;
        mxl_six_map(&e->grads, group, c, e->first, e->last, room, &place);
    }
}

/* One item of the range is a worker, which has room of its own. */
static void make_maps(void *data, int64_t begin, int64_t end)
{
    engine *e = data;
    int64_t items = e->images.groups * (e->wide_in + e->wide_out) / LANES, item;

    for (int64_t worker = begin; worker < end; worker++) {
        while ((item = atomic_fetch_add(&e->next, 1)) < items)
            make_map(e, item, e->room + worker * e->room_size);
    }
}

/* ---- sums ---- */

/* Adds the chunk's products to sums[c][k] of a panel: v[c][t] * maps[t][k]. */
static void add_products(const engine *e, int64_t width, const float *v, const float *maps,
                         float *sums)
{
    int64_t height = e->micro->heights[0];
    int64_t offsets[SUMMED];

    for (int64_t i = 0; i < SUMMED; i++)
        offsets[i] = i * width;
    for (int64_t t = 0; t < e->tiles; t += SUMMED) {
        int64_t n = least(SUMMED, e->tiles - t);

        for (int64_t c = 0; c < e->wide_in; c += height) {
            float tile[MXL_CONV_HEIGHT * WIDEST], *to = sums + c * width;
            bool first = t == 0 && e->first == 0;

            e->micro->tile[height][width / e->micro->lanes - 1](n, v + c * e->tiles + t * height,
                                                                maps + t * width, offsets, 0,
                                                                first ? to : tile, width, NULL);
            for (int64_t i = 0; i < height * width && !first; i++)
                to[i] += tile[i];
        }
    }
}

/* The sums of LANES outputs, from output k of a group on, become taps. */
static void make_taps(engine *e, int64_t group, int64_t k, int64_t width, const float *sums)
{
    int64_t count = e->r * e->r;
    float taps[CHANNELS * MXL_SIX_TAPS * LANES];
    float *w = e->w + (group * e->out + k) * e->in * count;

    for (int64_t c = 0, some; c < e->in; c += some) {
        bool finite = true;

        some = least(CHANNELS, e->in - c);
        for (int64_t i = 0; i < some; i++)
            finite &= mxl_six_taps((int)e->r, sums + (c + i) * width, e->wide_in * width,
                                   taps + i * count * LANES);
        if (!finite)
            atomic_store_explicit(&e->wrong, true, memory_order_relaxed);
        mxl_transpose_kernel(sizeof(float), w + c * count, e->in * count, taps, LANES,
                             least(LANES, e->out - k), some * count);
    }
}

/* One item of the range is a panel of a group: it takes the chunk in, and after the last becomes
 * taps. */
static void add_chunk(void *data, int64_t begin, int64_t end)
{
    engine *e = data;

    for (int64_t item = begin; item < end; item++) {
        int64_t group = item / e->panels, k = 0, width;
        float *sums;

        (void)mxl_six_panel(e->micro, e->wide_out, 0, &width);
        for (int64_t i = 0; i < item % e->panels; i++) {
            k += width;
            (void)mxl_six_panel(e->micro, e->wide_out, k, &width);
        }
        sums = e->sums + (group * e->wide_out + k) * POINTS * e->wide_in;
        for (int64_t f = 0; f < POINTS; f++) {
            int64_t plane = group * POINTS + f;

            add_products(e, width, e->v + plane * e->v_plane,
                         e->maps + plane * e->y_plane + k * e->tiles,
                         sums + f * e->wide_in * width);
        }
        for (int64_t i = 0; i < width && k + i < e->out && e->last == e->rows; i += LANES)
            make_taps(e, group, k + i, width, sums + i);
    }
}

/* ---- the whole ---- */

/* Rows of tiles of a chunk; they decide on the order of the sums, so they depend on sizes alone. */
static int64_t chunk_size(const engine *e)
{
    int64_t each = POINTS * (int64_t)sizeof(float) * (e->wide_in + e->wide_out) * e->images.groups;
    int64_t fits = CHUNK_BYTES / each / e->images.columns;
    int64_t few = (LEAST_TILES + e->images.columns - 1) / e->images.columns;

    return least(fits < few ? few : fits, e->rows);
}

static void run(engine *e, int64_t chunk, int64_t workers)
{
    for (e->first = 0; e->first < e->rows; e->first = e->last) {
        e->last = least(e->first + chunk, e->rows);
        e->tiles = (e->last - e->first) * e->images.columns;
        atomic_store(&e->next, 0);
        mxl_parallel_for(workers, 1, make_maps, e);
        mxl_parallel_for(e->images.groups * e->panels, 1, add_chunk, e);
    }
}

mxl_winograd_status mxl_six_weight(const mxl_conv *v, const void *x, const void *y, void *w)
{
    engine e = {.images = mxl_six_images(v, x, v->x_size, v->y_size, v->in, v->pad),
                .grads = mxl_six_results(v, y, v->y_size, v->out),
                .in = v->in,
                .out = v->out,
                .wide_in = (v->in + LANES - 1) / LANES * LANES,
                .wide_out = (v->out + LANES - 1) / LANES * LANES,
                .r = v->kernel[1],
                .w = w};
    int64_t chunk, planes = POINTS * v->groups, sums, tiles, workers = mxl_thread_count();
    size_t bytes;

    if (!mxl_six_fits(v, v->y_size, true))
        return MXL_WINOGRAD_NOT;
    e.micro = mxl_conv_micro_f32();
    e.rows = e.images.batch * e.images.rows;
    chunk = chunk_size(&e);
    tiles = chunk * e.images.columns;
    e.v_plane = e.wide_in * tiles + PAD;
    e.y_plane = e.wide_out * tiles + PAD;
    for (int64_t k = 0, width; k < e.wide_out; k += width, e.panels++)
        (void)mxl_six_panel(e.micro, e.wide_out, k, &width);
    sums = planes * e.wide_in * e.wide_out;
    e.room_size = mxl_six_room(&e.images, chunk);
    bytes =
        (size_t)(sums + planes * (e.v_plane + e.y_plane) + workers * e.room_size) * sizeof(float);
    e.sums = mxl_alloc(bytes);
    if (e.sums == NULL)
        return MXL_WINOGRAD_FAILED;
    e.v = e.sums + sums;
    e.maps = e.v + planes * e.v_plane;
    e.room = e.maps + planes * e.y_plane;
    run(&e, chunk, workers);
    mxl_free(e.sums, bytes);
    return atomic_load(&e.wrong) ? MXL_WINOGRAD_NOT : MXL_WINOGRAD_DONE;
}
