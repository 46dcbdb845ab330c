/* See winograd_tiles.h. */
#include "kernel/winograd/winograd_tiles.h"

#include <stddef.h>

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void mxl_winograd_tiles_count(mxl_winograd_tiles *tiles)
{
    tiles->rows = (tiles->dst_size[0] + 1) / 2;
    tiles->row_tiles = (tiles->dst_size[1] + 1) / 2;
    tiles->count = tiles->batch * tiles->rows * tiles->row_tiles;
}

mxl_winograd_tiles mxl_winograd_tiles_of(const mxl_conv *v, const void *x)
{
    mxl_winograd_tiles tiles = {.batch = v->batch,
                                .groups = v->groups,
                                .in = v->in,
                                .src_size = {v->x_size[1], v->x_size[2]},
                                .dst_size = {v->y_size[1], v->y_size[2]},
                                .lead = {v->pad[1], v->pad[2]},
                                .src = x};

    mxl_winograd_tiles_count(&tiles);
    return tiles;
}

mxl_winograd_run mxl_winograd_run_at(const mxl_winograd_tiles *tiles, int64_t tile, int64_t most)
{
    mxl_winograd_run run = {.column = tile % tiles->row_tiles};

    tile /= tiles->row_tiles;
    run.row = tile % tiles->rows;
    run.image = tile / tiles->rows;
    run.n = least(most, tiles->row_tiles - run.column);
    return run;
}

/* The images of tiles [first, last), which a call takes, from channel c of a group on. */
static void find_images(const mxl_winograd_tiles *tiles, int64_t group, int64_t c, int64_t first,
                        int64_t last, mxl_winograd_images *images)
{
    const int64_t *size = tiles->src_size;
    int64_t plane = size[0] * size[1], start = tiles->count;

    images->apart = plane;
    images->size = size[1];
    images->tiles = last - first;
    images->count = 0;
    for (int64_t t = first; t < last;) {
        mxl_winograd_run run = mxl_winograd_run_at(tiles, t, last - t);
        mxl_winograd_source *s = &images->source[images->count++];

        if (t == first)
            start = run.image;
        for (int i = 0; i < 4; i++) {
            int64_t row = 2 * run.row + i - tiles->lead[0];

            s->row[i] =
                row < 0 || row >= size[0]
                    ? -1
                    : (run.image - start) * tiles->groups * tiles->in * plane + row * size[1];
        }
        s->lead = 2 * run.column - tiles->lead[1];
        s->at = t - first;
        s->n = run.n;
        t += run.n;
    }
    images->from = tiles->src + ((start * tiles->groups + group) * tiles->in + c) * plane;
}

void mxl_winograd_map_images(const mxl_winograd_tiles *tiles, int64_t group, int64_t c, int64_t n,
                             int64_t first, int64_t last, mxl_winograd_rows *rows, float *out,
                             int64_t apart, int64_t plane)
{
    mxl_winograd_images images;

    for (int64_t t = first, next; t < last; t = next) {
        next = least(t + MXL_WINOGRAD_TILES, last);
        find_images(tiles, group, c, t, next, &images);
        for (int64_t k = 0, some; k < n; k += some, images.from += some * images.apart) {
            some = least(MXL_WINOGRAD_CHANNELS, n - k);
            mxl_winograd_image(&images, some, rows, out + k * apart + t - first, apart, plane);
        }
    }
}

bool mxl_winograd_map_outputs(const mxl_winograd_tiles *tiles, const mxl_winograd_outputs *end,
                              int64_t first, int64_t last, int64_t channels, const float *m,
                              int64_t apart, int64_t plane)
{
    mxl_winograd_outputs outputs = *end;
    const int64_t *size = tiles->dst_size;
    bool finite = true;

    outputs.pitch = size[1];
    outputs.apart = size[0] * size[1];
    for (int64_t t = first, next; t < last; t = next) {
        next = least(t + MXL_WINOGRAD_TILES, last);
        outputs.tiles = next - t;
        outputs.count = 0;
        for (int64_t from = t; from < next;) {
            mxl_winograd_run run = mxl_winograd_run_at(tiles, from, next - from);

            outputs.target[outputs.count++] = (mxl_winograd_target){
                .to = run.image * end->apart + 2 * run.row * size[1] + 2 * run.column,
                .at = from - t,
                .n = least(2 * run.n, size[1] - 2 * run.column),
                .two = 2 * run.row + 1 < size[0]};
            from += run.n;
        }
        finite &= mxl_winograd_output(&outputs, channels, m + t - first, apart, plane);
    }
    return finite;
}
