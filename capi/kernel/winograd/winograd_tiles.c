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
    run.n = least(least(most, MXL_WINOGRAD_TILES), tiles->row_tiles - run.column);
    return run;
}

void mxl_winograd_map_images(const mxl_winograd_tiles *tiles, int64_t group, int64_t c, int64_t n,
                             int64_t first, int64_t last, mxl_winograd_rows *rows, float *out,
                             int64_t apart, int64_t plane)
{
    const int64_t *size = tiles->src_size;
    mxl_winograd_source s = {.size = size[1], .apart = size[0] * size[1]};
    int64_t end = c + n;

    for (int64_t some; c < end; c += some, out += some * apart) {
        some = least(MXL_WINOGRAD_CHANNELS, end - c);
        for (int64_t t = first; t < last;) {
            mxl_winograd_run run = mxl_winograd_run_at(tiles, t, last - t);
            const float *image =
                tiles->src + ((run.image * tiles->groups + group) * tiles->in + c) * s.apart;

            for (int i = 0; i < 4; i++) {
                int64_t at = 2 * run.row + i - tiles->lead[0];

                s.row[i] = at < 0 || at >= size[0] ? NULL : image + at * s.size;
            }
            s.lead = 2 * run.column - tiles->lead[1];
            mxl_winograd_image(&s, some, run.n, rows, out + t - first, apart, plane);
            t += run.n;
        }
    }
}
