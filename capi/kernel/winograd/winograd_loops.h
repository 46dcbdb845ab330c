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
    MXL_WINOGRAD_TILES = 48,   /* most tiles of a call, all in one row of tiles */
    MXL_WINOGRAD_LANES = 16,   /* so many numbers are written at a time, whatever is left of them */
    MXL_WINOGRAD_CHANNELS = 8, /* most channels of a call */
    MXL_WINOGRAD_SPAN = MXL_WINOGRAD_TILES + MXL_WINOGRAD_LANES
};

/* Four rows of a channel; tile t reads from `lead` + 2 * t on. NULL: the row is zero. */
typedef struct mxl_winograd_source {
    const float *row[4];
    int64_t size, lead; /* of a row; elements before and after it are zero */
    int64_t apart;      /* of the channels */
} mxl_winograd_source;

/* Room for a channel: columns by parity. Its numbers are initialized. */
typedef struct mxl_winograd_rows {
    float even[4][MXL_WINOGRAD_SPAN], odd[4][MXL_WINOGRAD_SPAN];
} mxl_winograd_rows;

/* out[f * plane + c * apart + t] = (B' x B)[f] of tile t in channel c. */
void mxl_winograd_image(const mxl_winograd_source *source, int64_t channels, int64_t tiles,
                        mxl_winograd_rows *rows, float *out, int64_t apart, int64_t plane);

/* What is done to the outputs of a channel: `add` has their distances, or is NULL. */
typedef struct mxl_winograd_end {
    float bias, low, high;
    const float *add[2];
} mxl_winograd_end;

/* out[i][2 * t + j] = min(max((A' m A)[i, j] + bias + add[i][2 * t + j], low), high) of tile t, for
 * `count` elements of each row; out[1] may be NULL. Returns whether all sums are finite. */
bool mxl_winograd_output(const float *m, int64_t plane, const mxl_winograd_end *end, int64_t count,
                         float *const out[2]);

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
