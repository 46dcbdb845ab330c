/* The innermost loops of convolutions, one set per vector level. Called by correlate.tmpl.h and
 * conv_weight.tmpl.h. */
#ifndef MXL_KERNEL_CONV_CONV_MICRO_H
#define MXL_KERNEL_CONV_CONV_MICRO_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MXL_CONV_HEIGHT = 8,   /* rows of the tallest tile */
    MXL_CONV_VECTORS = 3,  /* vectors side by side in a tile, */
    MXL_CONV_LINE = 8,     /* and in a tile of one row */
    MXL_CONV_DOTS = 9,     /* taps whose sums are made together, */
    MXL_CONV_FEW_DOTS = 3, /* or so many */
    MXL_CONV_LANES = 16,   /* elements of the widest vector */
    MXL_CONV_COLUMNS = 4,  /* most positions of a narrow tile, */
    MXL_CONV_TALL = 64     /* and its most rows */
};

/* What a tile's sums become where they are stored: min(max(sum + bias[i] + add, low), high), NaN
 * stays. */
typedef struct mxl_conv_end {
    const float *bias; /* of the tile's rows, NULL: 0 */
    const float *add;  /* laid out as the tile's output, NULL: 0 */
    float low, high;
} mxl_conv_end;

/* out[i * ldc + j] = the sum over p of a[p * height + i] * b[offsets[p] + j], for the height and
 * the width of the tile. Every element is one chain of additions in the order of p that starts at
 * zero, independent of the tile. Prefetches b[offsets[p] + ahead] of every p: with the products in
 * between, the requests do not wait for one another. `end` may be NULL, and is where the table says
 * that its tiles have no `ends`. */
typedef void (*mxl_conv_tile)(int64_t k, const void *a, const void *b, const int64_t *offsets,
                              int64_t ahead, void *out, int64_t ldc, const mxl_conv_end *end);

/* The same of a narrow tile, for the few positions that a vector would waste: `columns` of them,
 * and `tiles` of MXL_CONV_HEIGHT rows, whose weights are k * MXL_CONV_HEIGHT apart. Rows of `out`
 * are MXL_CONV_COLUMNS apart. */
typedef void (*mxl_conv_columns)(int64_t k, int tiles, int columns, const void *a, const void *b,
                                 const int64_t *offsets, void *out);

/* Rows of positions: `rows` of `run` each; row r of the image begins at a[i] + r * pitch, and the
 * rows of b follow one another. out[i][j] += the sum over all positions p of a[i][p] * b[p][j]; b
 * and out have rows of the tile's width. Every sum is one chain in the order of p that starts at
 * zero. */
typedef struct mxl_conv_positions {
    int64_t rows, run, pitch;
} mxl_conv_positions;

typedef void (*mxl_conv_weight_tile)(const mxl_conv_positions *at, const void *const *a,
                                     const void *b, void *out);

/* sums[t] += the sum over all positions p of a[t][p] * b[p], for a fixed number of taps; b is
 * contiguous. The order of additions depends only on the positions. */
typedef void (*mxl_conv_dots)(const mxl_conv_positions *at, const void *const *a, const void *b,
                              void *sums);

typedef struct mxl_conv_micro {
    int lanes;          /* elements of a vector */
    bool ends;          /* tiles take an mxl_conv_end */
    const int *heights; /* of the tiles, from the tallest to 1 */
    /* by height, and by vectors less one */
    const mxl_conv_tile (*tile)[MXL_CONV_VECTORS];
    const mxl_conv_weight_tile (*weight)[MXL_CONV_VECTORS];
    mxl_conv_tile line;           /* one row of MXL_CONV_LINE vectors */
    mxl_conv_columns columns;     /* NULL: there is none */
    mxl_conv_dots dots, few_dots; /* MXL_CONV_DOTS taps, MXL_CONV_FEW_DOTS taps */
} mxl_conv_micro;

/* The kernels of the current vector level. */
const mxl_conv_micro *mxl_conv_micro_f32(void);
const mxl_conv_micro *mxl_conv_micro_f64(void);

#endif
