/* A reduction that takes its input tile by tile, as a pass of element-wise loops makes it
 * (kernel/elementwise/chain.c), with the bits of mxl_reduce. The input is contiguous, float32 or
 * float64, and its outputs are rows of neighbours or columns of a matrix. */
#ifndef MXL_KERNEL_REDUCE_REDUCE_TILES_H
#define MXL_KERNEL_REDUCE_REDUCE_TILES_H

#include <stddef.h>

#include "kernel/reduce/reduce_loops.h"

/* Computes rows [row, row + rows) of a result, which begins at `out`, from those rows of the input,
 * the first of them at x. The bits of a row do not depend on what comes with it. */
typedef void (*mxl_rows_fn)(const void *context, const void *x, void *out, int64_t row,
                            int64_t rows);

typedef struct mxl_reduce_tiles {
    mxl_reduction kind;
    int dtype;
    bool by_rows;    /* outputs are sums of rows, else of columns */
    int64_t outputs; /* rows, or columns */
    int64_t count;   /* elements of each */
    int64_t chunk;   /* elements of an output that are combined first: mxl_reduce's chunks */
    int64_t chunks;
    int64_t cut;    /* a tile ends at each multiple of it */
    int64_t part;   /* parts of the input for several threads begin at multiples of it */
    int64_t window; /* columns, and whole rows: elements that are taken together, from the beginning
                       of a part on; else 0 */
    char *acc;      /* [chunks][outputs] accumulators */
    char *lost;     /* columns: as many rounding errors */
    /* Not NULL: no reduction, but a result in the input's shape, computed by whole rows. */
    mxl_rows_fn whole;
    const void *context;
} mxl_reduce_tiles;

/* Describes the reduction of a contiguous array over the dimensions marked in `reduced`. Returns
 * the bytes of accumulators that mxl_reduce_tiles_place is to get; 0: it cannot take tiles. */
size_t mxl_reduce_tiles_init(mxl_reduce_tiles *t, mxl_reduction kind, int dtype, int ndim,
                             const int64_t *shape, const bool *reduced);
void mxl_reduce_tiles_place(mxl_reduce_tiles *t, void *room);

/* Describes what is computed by whole rows: so many rows of `count` elements, without a context.
 * False: it cannot take tiles. */
bool mxl_reduce_tiles_init_rows(mxl_reduce_tiles *t, mxl_rows_fn whole, int dtype, int64_t rows,
                                int64_t count);

/* Whether tiles may also end at each multiple of `cut`. */
bool mxl_reduce_tiles_may_cut(const mxl_reduce_tiles *t, int64_t cut);

/* Whether both can take the tiles of one pass. */
bool mxl_reduce_tiles_agree(const mxl_reduce_tiles *a, const mxl_reduce_tiles *b);

/* Takes the elements [pos, pos + n). A part's come in order; `lanes` are unused at its beginning,
 * and its own. `x` is the first of them; where there is a window, its elements before them lie
 * before x. `out`: the result of whole rows. */
void mxl_reduce_tiles_take(const mxl_reduce_tiles *t, mxl_reduce_lanes *lanes, const void *x,
                           int64_t pos, int64_t n, void *out);

/* Writes the outputs when all elements are taken. False: they are to be computed once more, by
 * mxl_reduce_tiles_again, from the input in memory. */
bool mxl_reduce_tiles_end(const mxl_reduce_tiles *t, void *out);
void mxl_reduce_tiles_again(const mxl_reduce_tiles *t, const void *in, void *out);

#endif
