/* The linear maps of Winograd's convolutions with tiles of 6 x 6 (A. Lavin and S. Gray,
 * arXiv:1509.09308), at the points 0, 1, -1, 2, -2 and infinity. Lanes are channels. For six.c and
 * six_weight.c.
 *
 * A tile is m x m positions of the output, m = 7 - r for a kernel of r x r. With the maps B', of an
 * image's 6 x 6 positions, G, of r x r taps, and A', of 6 x 6 products, the output is
 * A' ((G w G') o (B' x B)) A. Number 6 * i + j of the 36 is row i, column j; `plane` is their
 * distance. */
#ifndef MXL_KERNEL_WINOGRAD_SIX_MAPS_H
#define MXL_KERNEL_WINOGRAD_SIX_MAPS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MXL_SIX_LANES = 16,  /* channels that are mapped together */
    MXL_SIX_POINTS = 36, /* products of a tile */
    MXL_SIX_TAPS = 25    /* most taps of a kernel */
};

/* Tiles over images: tile (i, j) reads `reach` x `reach` positions from (m * i - lead, m * j -
 * lead) on. Positions outside an image are zero. */
typedef struct mxl_six_view {
    const float *from;               /* (batch, groups * channels, size) */
    int64_t batch, groups, channels; /* channels of a group */
    int64_t size[2], lead[2];        /* height and width */
    int64_t m, reach;                /* reach is 6, or m */
    int64_t rows, columns;           /* of tiles of an image */
} mxl_six_view;

/* Where the 36 numbers of a tile go: lane l of tile t to plane + t * step + l / height * apart + l
 * % height; height is 4, 8 or 16. */
typedef struct mxl_six_place {
    float *to;
    int64_t plane, step, height, apart;
} mxl_six_place;

/* Floats of room for that many rows of tiles. */
int64_t mxl_six_room(const mxl_six_view *view, int64_t rows);

/* Maps the rows of tiles [first, last), counted over all images, of lanes that begin at a channel
 * of a group: B' x B, or A y A' where reach is m. Lanes beyond the channels get zeros. */
void mxl_six_map(const mxl_six_view *view, int64_t group, int64_t channel, int64_t first,
                 int64_t last, float *room, const mxl_six_place *where);

/* The reverse, of products: A' m A + bias of the rows of tiles is written to `to`, which lies as
 * view->from; m[f * plane + t * step + lane] are the products. `bias` has a number for each lane.
 * Returns whether all results are finite. */
bool mxl_six_unmap(const mxl_six_view *view, int64_t group, int64_t channel, int64_t first,
                   int64_t last, float *room, const float *m, int64_t step, int64_t plane,
                   const float *bias, float *to);

/* out[f * plane + lane] = (G w G')[f], where w[t * lanes + lane] are r * r taps, in the opposite
 * order if `flip`. */
void mxl_six_weights(int r, bool flip, const float *w, float *out, int64_t plane);

/* out[t * lanes + lane] = (G' m G)[t]. Returns whether all are finite. */
bool mxl_six_taps(int r, const float *m, int64_t plane, float *out);

#endif
