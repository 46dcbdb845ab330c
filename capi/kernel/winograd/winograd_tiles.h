/* The tiles of Winograd's convolutions: 2 x 2 positions of a result, in the order of images, rows
 * and columns. For winograd.c and winograd_weight.c. */
#ifndef MXL_KERNEL_WINOGRAD_WINOGRAD_TILES_H
#define MXL_KERNEL_WINOGRAD_WINOGRAD_TILES_H

#include "kernel/conv/conv.h"
#include "kernel/winograd/winograd_loops.h"

typedef struct mxl_winograd_tiles {
    int64_t batch, groups, in;        /* channels of a group of the source */
    int64_t src_size[2], dst_size[2]; /* height, width */
    int64_t lead[2];                  /* position 0 reads the source from -lead on */
    const float *src;                 /* (batch, groups * in, src_size) */
    int64_t rows, row_tiles, count;   /* rows of tiles, tiles of a row; of all images */
} mxl_winograd_tiles;

/* Tiles of one row of an image. */
typedef struct mxl_winograd_run {
    int64_t image, row, column, n;
} mxl_winograd_run;

/* Sets rows, row_tiles and count. */
void mxl_winograd_tiles_count(mxl_winograd_tiles *tiles);

/* The tiles of y over x. */
mxl_winograd_tiles mxl_winograd_tiles_of(const mxl_conv *conv, const void *x);

/* The run that begins at a tile, of at most `most` tiles. */
mxl_winograd_run mxl_winograd_run_at(const mxl_winograd_tiles *tiles, int64_t tile, int64_t most);

/* Maps tiles [first, last) of channels [c, c + n) of a group: out[f * plane + i * apart + t], of
 * whole MXL_WINOGRAD_LANES tiles. `rows`: room for as many channels as one call takes. */
void mxl_winograd_map_images(const mxl_winograd_tiles *tiles, int64_t group, int64_t c, int64_t n,
                             int64_t first, int64_t last, mxl_winograd_rows *rows, float *out,
                             int64_t apart, int64_t plane);

/* Maps the products m[f * plane + c * apart + t] of tiles [first, last) back, for `channels`
 * channels. `end` has the first one's output, add and bias, the limits, and in `apart` the distance
 * of images. Returns whether all are finite. */
bool mxl_winograd_map_outputs(const mxl_winograd_tiles *tiles, const mxl_winograd_outputs *end,
                              int64_t first, int64_t last, int64_t channels, const float *m,
                              int64_t apart, int64_t plane);

#endif
