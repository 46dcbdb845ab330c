/* The derivative by the weights, by Winograd's maps; see winograd.h. The convolution is linear in
 * the mapped weights, so their gradient is the sum over all tiles of the mapped gradient (A y A')
 * times the mapped image (B' x B), which is mapped back to nine taps (G' m G). */
#include <stdatomic.h>
#include <string.h>

#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/conv/conv_micro.h"
#include "kernel/winograd/winograd.h"
#include "kernel/winograd/winograd_tiles.h"
#include "kernel/copy/copy_loops.h"

enum {
    CHUNK_BYTES = 8 << 20, /* maps that are made at a time, about */
    LEAST_TILES = 256,     /* of a chunk */
    SUMMED = 128,          /* tiles of one pass over a tile of sums: their panel fits the cache */
    TILES = 16,            /* whose gradients are transposed at a time */
    CHANNELS = 8,          /* whose sums are mapped back at a time */
    PAD = 32,              /* floats between planes: so they do not share lines of a cache */
    WIDEST = MXL_CONV_VECTORS * MXL_CONV_LANES
};

typedef struct engine {
    mxl_winograd_tiles tiles;
    const mxl_conv_micro *micro;
    int64_t out, vectors, panels; /* outputs of a group */
    const float *y;
    int64_t first, last;                        /* tiles of the chunk */
    int64_t v_row, v_plane, y_plane, sum_plane; /* elements */
    float *v;                                   /* [groups][16][in][v_row]: maps of the image */
    float *maps; /* [groups][16][panel][tile][width]: maps of the gradient */
    float *sums; /* [groups][16][panel][in][width] */
    float *w;
    atomic_bool wrong; /* a result is not finite */
} engine;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Outputs [*first, + the returned width) are panel number p; the last may have fewer. */
static int64_t panel_at(const engine *e, int64_t p, int64_t *first)
{
    *first = p * MXL_CONV_VECTORS * e->micro->lanes;
    return least(MXL_CONV_VECTORS, e->vectors - p * MXL_CONV_VECTORS) * e->micro->lanes;
}

/* ---- maps ---- */

/* The gradient at one run of tiles, transposed: (2, 2 * n, width). Positions outside are zero. */
static void transpose_run(const engine *e, const mxl_winograd_run *run, int64_t group,
                          int64_t first, int64_t width, float *to)
{
    const int64_t *size = e->tiles.dst_size;
    int64_t channels = least(width, e->out - first), plane = size[0] * size[1];
    int64_t columns = least(2 * run->n, size[1] - 2 * run->column);
    const float *from = e->y + ((run->image * e->tiles.groups + group) * e->out + first) * plane +
                        2 * run->row * size[1] + 2 * run->column;
    bool below = 2 * run->row + 1 < size[0];

    if (channels < width || columns < 2 * run->n || !below)
        memset(to, 0, (size_t)(4 * run->n * width) * sizeof(float));
    for (int i = 0; i < 1 + below; i++)
        mxl_transpose_kernel(sizeof(float), to + 2 * i * run->n * width, width, from + i * size[1],
                             plane, columns, channels);
}

static void map_grads(const engine *e, int64_t group, int64_t panel)
{
    float room[4 * TILES * WIDEST];
    int64_t first, width = panel_at(e, panel, &first), tiles = e->last - e->first;
    float *to = e->maps + group * 16 * e->y_plane + first * tiles;

    for (int64_t t = e->first; t < e->last;) {
        mxl_winograd_run run = mxl_winograd_run_at(&e->tiles, t, least(TILES, e->last - t));

        transpose_run(e, &run, group, first, width, room);
        mxl_winograd_grad(room, run.n, width, to + (t - e->first) * width, e->y_plane);
        t += run.n;
    }
}

static int64_t image_parts(const engine *e)
{
    return (e->tiles.in + MXL_WINOGRAD_CHANNELS - 1) / MXL_WINOGRAD_CHANNELS;
}

/* One item of the range is some channels of the image, or a panel of the gradient, of a group. */
static void make_maps(void *data, int64_t begin, int64_t end)
{
    const engine *e = data;
    int64_t parts = image_parts(e), items = parts + e->panels;
    mxl_winograd_rows rows[MXL_WINOGRAD_CHANNELS] = {0};

    for (int64_t item = begin; item < end; item++) {
        int64_t group = item / items, part = item % items, c = part * MXL_WINOGRAD_CHANNELS;

        if (part >= parts) {
            map_grads(e, group, part - parts);
            continue;
        }
        mxl_winograd_map_images(
            &e->tiles, group, c, least(MXL_WINOGRAD_CHANNELS, e->tiles.in - c), e->first, e->last,
            rows, e->v + group * 16 * e->v_plane + c * e->v_row, e->v_row, e->v_plane);
    }
}

/* ---- sums ---- */

/* Adds the chunk's products to one panel: sums[c][k] += v[c][t] * maps[t][k]. */
static void add_panel(const engine *e, int64_t group, int64_t f, int64_t panel)
{
    int64_t first, width = panel_at(e, panel, &first), tiles = e->last - e->first;
    const float *maps = e->maps + (group * 16 + f) * e->y_plane + first * tiles;
    const float *v = e->v + (group * 16 + f) * e->v_plane;
    float *sums = e->sums + (group * 16 + f) * e->sum_plane + first * e->tiles.in;

    for (int64_t t = 0; t < tiles; t += SUMMED) {
        mxl_conv_positions at = {.rows = 1, .run = least(SUMMED, tiles - t)};

        for (int64_t c = 0, height; c < e->tiles.in; c += height) {
            const int *fits = e->micro->heights;
            const void *a[MXL_CONV_HEIGHT];

            while (*fits > e->tiles.in - c)
                fits++;
            height = *fits;
            for (int64_t r = 0; r < height; r++)
                a[r] = v + (c + r) * e->v_row + t;
            e->micro->weight[height][width / e->micro->lanes - 1](&at, a, maps + t * width,
                                                                  sums + c * width);
        }
    }
}

/* One item of the range is one of the 16 products for a panel of a group. */
static void add_products(void *data, int64_t begin, int64_t end)
{
    const engine *e = data;

    for (int64_t item = begin; item < end; item++)
        add_panel(e, item / e->panels / 16, item / e->panels % 16, item % e->panels);
}

/* One item of the range is a panel of a group: its sums become taps. */
static void make_taps(void *data, int64_t begin, int64_t end)
{
    engine *e = data;
    float taps[CHANNELS * 9 * WIDEST];

    for (int64_t item = begin; item < end; item++) {
        int64_t group = item / e->panels, first, width = panel_at(e, item % e->panels, &first);
        const float *sums = e->sums + group * 16 * e->sum_plane + first * e->tiles.in;
        float *w = e->w + (group * e->out + first) * e->tiles.in * 9;

        for (int64_t c = 0, some; c < e->tiles.in; c += some) {
            bool finite = true;

            some = least(CHANNELS, e->tiles.in - c);
            for (int64_t i = 0; i < some; i++)
                finite &= mxl_winograd_taps(sums + (c + i) * width, e->sum_plane, width,
                                            taps + i * 9 * width);
            if (!finite)
                atomic_store_explicit(&e->wrong, true, memory_order_relaxed);
            mxl_transpose_kernel(sizeof(float), w + c * 9, e->tiles.in * 9, taps, width,
                                 least(width, e->out - first), some * 9);
        }
    }
}

/* ---- the whole ---- */

/* Tiles of a chunk; they decide on the order of the sums, so they depend on sizes alone. */
static int64_t chunk_size(const engine *e)
{
    int64_t channels = e->tiles.in + e->vectors * e->micro->lanes;
    int64_t fits = CHUNK_BYTES / (int64_t)(16 * sizeof(float)) / (channels * e->tiles.groups) /
                   SUMMED * SUMMED;

    return least(fits < LEAST_TILES ? LEAST_TILES : fits, e->tiles.count);
}

static void run(engine *e, int64_t chunk)
{
    for (e->first = 0; e->first < e->tiles.count; e->first = e->last) {
        e->last = least(e->first + chunk, e->tiles.count);
        mxl_parallel_for(e->tiles.groups * (image_parts(e) + e->panels), 1, make_maps, e);
        mxl_parallel_for(e->tiles.groups * 16 * e->panels, 1, add_products, e);
    }
    mxl_parallel_for(e->tiles.groups * e->panels, 1, make_taps, e);
}

mxl_winograd_status mxl_winograd_weight(const mxl_conv *conv, const void *x, const void *y, void *w)
{
    engine e = {.tiles = mxl_winograd_tiles_of(conv, x), .out = conv->out, .y = y, .w = w};
    int64_t chunk, planes;
    size_t bytes;

    if (!mxl_winograd_fits(conv, conv->y_size[1], conv->y_size[2]))
        return MXL_WINOGRAD_NOT;
    e.micro = mxl_conv_micro_f32();
    e.vectors = (e.out + e.micro->lanes - 1) / e.micro->lanes;
    e.panels = (e.vectors + MXL_CONV_VECTORS - 1) / MXL_CONV_VECTORS;
    chunk = chunk_size(&e);
    e.v_row = chunk + MXL_WINOGRAD_LANES;
    e.v_plane = e.tiles.in * e.v_row + PAD;
    e.y_plane = e.vectors * e.micro->lanes * chunk + PAD;
    e.sum_plane = e.vectors * e.micro->lanes * e.tiles.in + PAD;
    planes = 16 * e.tiles.groups;
    bytes = (size_t)(planes * (e.v_plane + e.y_plane + e.sum_plane)) * sizeof(float);
    e.sums = mxl_alloc(bytes);
    if (e.sums == NULL)
        return MXL_WINOGRAD_FAILED;
    e.v = e.sums + planes * e.sum_plane;
    e.maps = e.v + planes * e.v_plane;
    memset(e.sums, 0, (size_t)(planes * e.sum_plane) * sizeof(float));
    run(&e, chunk);
    mxl_free(e.sums, bytes);
    return atomic_load(&e.wrong) ? MXL_WINOGRAD_NOT : MXL_WINOGRAD_DONE;
}
