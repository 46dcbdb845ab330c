/* The innermost loops of matrix products, one set per vector level. Called by gemm.tmpl.h. */
#ifndef MXL_KERNEL_GEMM_GEMM_MICRO_H
#define MXL_KERNEL_GEMM_GEMM_MICRO_H

#include <stdint.h>

enum {
    MXL_GEMM_MR = 12,
    MXL_GEMM_NR = 32,   /* the width of the widest tile */
    MXL_GEMM_INNER = 4, /* rows of either operand that an inner kernel takes */
    MXL_GEMM_STRIPS = 4 /* wide strips side by side in a tile of one row */
};

/* c (rows ldc elements apart) = sum of k outer products, + `addend` (rows ld_add apart) unless it
 * is NULL. Element (i, p) of A is a[i + p * step] in `down`, a[i * step + p] in `along`; row p of B
 * is at b + p * b_step. Every element is one chain of additions in the order of p that starts at
 * zero, independent of the tile. */
typedef void (*mxl_gemm_tile)(int64_t k, const void *a, int64_t step, const void *b, int64_t b_step,
                              const void *addend, int64_t ld_add, void *c, int64_t ldc);

/* One row of MXL_GEMM_STRIPS wide tiles: as a tile of height 1 for each strip of B, b_next elements
 * apart, and neighbours in c. (The additions of one strip would wait for one another.) */
typedef void (*mxl_gemm_strips)(int64_t k, const void *a, int64_t step, const void *b,
                                int64_t b_next, const void *addend, void *c);

/* out[4][4] = the inner products of 4 (`inner`) rows of A, or of one (`inner_row`), with 4 rows of
 * B; all rows are k contiguous elements. The order of additions depends only on k. */
typedef void (*mxl_gemm_inner)(int64_t k, const void *const *a, const void *const *b, void *out);

typedef struct mxl_gemm_micro {
    int width;          /* columns of a narrow tile; a wide one has twice as many */
    const int *heights; /* of the tiles, from the tallest to 1 */
    /* by height, narrow or wide */
    const mxl_gemm_tile (*down)[2], (*along)[2];
    mxl_gemm_inner inner, inner_row;
    mxl_gemm_strips strips; /* NULL: there is none */
} mxl_gemm_micro;

/* The kernels of the current vector level. */
const mxl_gemm_micro *mxl_gemm_micro_f32(void);
const mxl_gemm_micro *mxl_gemm_micro_f64(void);

#endif
