/* The innermost loops of products of bfloat16: a word of 32 bits is a pair of neighbouring numbers
 * of a sum. For pair_convolve.c and pair_product.c, where mxl_pairs_are_fast says so. Products and
 * sums are float32: the instruction adds the second product of a pair and then the first, each as a
 * fused step, and takes subnormal numbers as 0. */
#ifndef MXL_KERNEL_BFLOAT16_PAIRS_H
#define MXL_KERNEL_BFLOAT16_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MXL_PAIRS_ROWS = 14,   /* most rows of a tile */
    MXL_PAIRS_COLUMNS = 32 /* columns of a tile */
};

/* Whether the level in force is AVX-512 and the processor has AVX512-BF16. The other functions need
 * it. */
bool mxl_pairs_are_fast(void);

/* sums[rows][32] = the products of `rows` rows of weights with 32 columns of data, over `pairs`:
 * w[pairs][rows], x[pairs][32]. Each sum is one chain in the order of pairs, which starts at zero.
 * Columns from `columns` on are undefined. */
void mxl_pairs_tile(int rows, int columns, int64_t pairs, const uint32_t *w, const uint32_t *x,
                    float *sums);

/* sums[i] = the inner product of x with row i of w, each of k numbers, for `rows` rows, which are
 * `ld` apart. Their order depends on k alone. */
void mxl_pairs_rows(int64_t k, const uint16_t *x, const uint16_t *w, int64_t ld, int64_t rows,
                    float *sums);

/* What becomes of a row of sums: y = min(max(sum * scale + bias + add, low), high), NaN stays; as
 * bfloat16, rounded to the nearest, ties to even. `add` may be NULL. */
typedef struct mxl_pairs_end {
    float scale, bias, low, high;
} mxl_pairs_end;
void mxl_pairs_store(const mxl_pairs_end *end, const float *sums, const uint16_t *add, uint16_t *y,
                     int64_t n);

/* to[i] = the pair of a[i] and b[i]; b NULL: of a[i] and 0. */
void mxl_pairs_weave(const uint16_t *a, const uint16_t *b, uint32_t *to, int64_t n);

/* to[q * width + r] = pair q of row r of x, whose rows of k numbers are `ld` apart; a number that
 * is missing at the end is 0. */
void mxl_pairs_turn(const uint16_t *x, int64_t ld, int64_t rows, int64_t k, uint32_t *to,
                    int64_t width);

/* to[i] = from[2 * i], for 16 words; reads 32. */
void mxl_pairs_halve(const uint32_t *from, uint32_t *to);

#endif
