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

/* sums[rows][32] = the products of `rows` rows of data, `step` bytes apart, with 32 columns of
 * weights, over `quads` groups of four: x[rows][quads][4], w[quads][32][4]. `flip`, 0 or 128, is
 * added to the bytes of x, modulo 256. Columns from `columns` on are undefined. */
void mxl_dots_tile(int rows, int columns, int64_t quads, const uint8_t *x, int64_t step,
                   uint8_t flip, const int8_t *w, int32_t *sums);

/* sums[i] = the inner product of x with row i of w, each of k bytes, for `rows` rows; x is int8 or
 * uint8. */
void mxl_dots_rows(bool is_unsigned, int64_t k, const void *x, const int8_t *w, int64_t rows,
                   int32_t *sums);

#endif
