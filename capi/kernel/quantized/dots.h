/* The innermost loops of products of bytes, which are exact in int32 (modulo 2^32): the same
 * integers on all vector levels. For convolve.c. */
#ifndef MXL_KERNEL_QUANTIZED_DOTS_H
#define MXL_KERNEL_QUANTIZED_DOTS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MXL_DOTS_ROWS = 14,   /* most rows of a tile */
    MXL_DOTS_COLUMNS = 32 /* columns of a tile */
};

/* The bytes of a row of data that meet weights, as runs of groups of four: run i begins `offset[i]`
 * bytes behind the row's address. */
typedef struct mxl_dots_runs {
    int64_t count, quads; /* quads: of each run */
    const int64_t *offset;
} mxl_dots_runs;

/* sums[rows][32] = the products of `rows` rows of data, whose addresses are `step` bytes apart from
 * x on, with 32 columns of weights: w[runs][quads][32][4]. `flip`, 0 or 128, is added to the bytes
 * of data, modulo 256. Columns from `columns` on are undefined. */
void mxl_dots_tile(int rows, int columns, const mxl_dots_runs *runs, const uint8_t *x, int64_t step,
                   uint8_t flip, const int8_t *w, int32_t *sums);

/* sums[i] = the inner product of x with row i of w, each of k bytes, for `rows` rows; x is int8 or
 * uint8. */
void mxl_dots_rows(bool is_unsigned, int64_t k, const void *x, const int8_t *w, int64_t rows,
                   int32_t *sums);

#endif
