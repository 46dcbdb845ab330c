/* The linear maps of Winograd's convolution F(2 x 2, 3 x 3) (S. Winograd, Arithmetic Complexity of
 * Computations, 1980; A. Lavin and S. Gray, arXiv:1509.09308), over many tiles or channels at a
 * time. For winograd.c.
 *
 * A tile is 2 x 2 positions of the output, which read 4 x 4 positions of the image. With
 *     B' = 1  0 -1  0     G = 1    0   0     A' = 1 1  1  0
 *          0  1  1  0         1/2  1/2 1/2        0 1 -1 -1
 *          0 -1  1  0         1/2 -1/2 1/2
 *          0  1  0 -1         0    0   1
 * the output is A' ((G w G') o (B' x B)) A, where o multiplies element by element: 16 products in
 * place of 36. Number 4 * i + j of the 16 is row i, column j; `plane` is their distance. */
#ifndef MXL_KERNEL_WINOGRAD_WINOGRAD_LOOPS_H
#define MXL_KERNEL_WINOGRAD_WINOGRAD_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MXL_WINOGRAD_TILES = 48,   /* most tiles of a call */
    MXL_WINOGRAD_LANES = 16,   /* so many numbers are written at a time, whatever is left of them */
    MXL_WINOGRAD_CHANNELS = 8, /* most channels of a call */
    MXL_WINOGRAD_SPAN = MXL_WINOGRAD_TILES + MXL_WINOGRAD_LANES
};

/* Neighbouring tiles in a row of tiles. Tile number `at` + t of a call reads from element `lead` +
 * 2 * t on of four rows of the image, which begin at `row`; -1: the row is zero. */
typedef struct mxl_winograd_source {
    int64_t row[4], lead, at, n;
} mxl_winograd_source;

/* Room for a channel: element j of row i of each tile. Its numbers are initialized. */
typedef struct mxl_winograd_rows {
    float x[4][4][MXL_WINOGRAD_SPAN];
} mxl_winograd_rows;

/* The images of a call: all its tiles, in order; rows have `size` elements, and what is before and
 * after them is zero. */
typedef struct mxl_winograd_images {
    const float *from;
    int64_t apart, size; /* `apart`: of the channels */
    int64_t tiles;
    int count;
    mxl_winograd_source source[MXL_WINOGRAD_TILES];
} mxl_winograd_images;

/* out[f * plane + c * apart + t] = (B' x B)[f] of tile t in channel c, of whole MXL_WINOGRAD_LANES
 * tiles. */
void mxl_winograd_image(const mxl_winograd_images *images, int64_t channels,
                        mxl_winograd_rows *rows, float *out, int64_t apart, int64_t plane);

/* Neighbouring tiles in a row of tiles, from number `at` of a call on: their outputs are n elements
 * from `to` on, and below them, if `two`. */
typedef struct mxl_winograd_target {
    int64_t to, at, n;
    bool two;
} mxl_winograd_target;

/* The outputs of a call. */
typedef struct mxl_winograd_outputs {
    float *out;
    const float *add, *bias; /* laid out as `out`; of each channel; or NULL: 0 */
    float low, high;
    int64_t apart, pitch; /* of the channels, and of the rows */
    int64_t tiles;
    int count;
    mxl_winograd_target target[MXL_WINOGRAD_TILES];
} mxl_winograd_outputs;

/* out = min(max(A' m A + bias + add, low), high) for all targets and `channels` channels, where
 * channel c of tile t has its 16 numbers at m[f * plane + c * apart + t]. Returns whether all sums
 * are finite, before `add`. */
bool mxl_winograd_output(const mxl_winograd_outputs *outputs, int64_t channels, const float *m,
                         int64_t apart, int64_t plane);

/* out[f * plane + c * height + i] = (G w G')[f] of channel c, output i of `height` (at most 8);
 * w[t * height + i] are the taps of a channel, in the opposite order if `flip`. */
void mxl_winograd_weights(const float *w, int64_t channels, int64_t height, bool flip, float *out,
                          int64_t plane);

/* out[f * plane + t * n + k] = (A y A')[f] of tile t, for n channels; y has shape (2, 2 * tiles,
 * n).
 */
void mxl_winograd_grad(const float *y, int64_t tiles, int64_t n, float *out, int64_t plane);

/* out[t * n + k] = (G' m G)[t], the nine taps of n weights. Returns whether all are finite. */
bool mxl_winograd_taps(const float *m, int64_t plane, int64_t n, float *out);

#endif
