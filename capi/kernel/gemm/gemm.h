/* Matrix products without a library. For ops/linalg/dot.c, ops/linalg/batch_dot.c and
 * ops/linalg*.c. */
#ifndef MXL_KERNEL_GEMM_GEMM_H
#define MXL_KERNEL_GEMM_GEMM_H

#include <stdbool.h>
#include <stdint.h>

/* op(B) of many products, packed once. */
typedef struct mxl_gemm_packed mxl_gemm_packed;

/* What happens to parts of C when their sums are complete, while caches have them: `run` gets the
 * address of C[row][column] and changes that many rows, ldc apart, and columns. Each element is in
 * one part. Several threads call it. */
typedef struct mxl_product_tail {
    void (*run)(const void *context, void *c, int64_t row, int64_t rows, int64_t column,
                int64_t columns);
    const void *context;
} mxl_product_tail;

/* C = op(A) op(B), `count` times. Row-major: op(A) is m x k, op(B) is k x n, C is m x n; with `ta`
 * A is stored as k x m, with `tb` B as n x k. ld* are the elements between stored rows, *_next
 * those between matrices. */
typedef struct mxl_product {
    int dtype;
    bool ta, tb;
    bool accumulate; /* C += */
    bool back;  /* with `packed`: from the last columns to the first. In turns it reads what the
                   caches have of the product before */
    bool alone; /* on this thread, without OpenBLAS: for ranges of mxl_parallel_for */
    int64_t count, m, n, k;
    const void *a, *b;
    void *c;
    int64_t lda, ldb, ldc, a_next, b_next, c_next;
    const void *bias; /* NULL, or n elements that are added to every row; not with `accumulate` */
    const mxl_gemm_packed *packed; /* NULL, or op(B), which is then not read from `b` */
    const mxl_product_tail *tail;  /* NULL, or what follows; with count 1 and a floating dtype */
} mxl_product;

/* float32, float64, float16 and bfloat16 (computed in float32), int32 and int64 (wrapping; these
 * two without a bias). C must not overlap A or B. The bits do not depend on the number of threads.
 * -1 with the error set: another dtype, out of memory (C is then undefined). */
int mxl_products(const mxl_product *product);

/* Packs op(B) of k x n for products of float32 or float64 with count 1: it saves packing B for each
 * of them. The bits of a product do not depend on its number of rows then. NULL with the error set;
 * freed by mxl_gemm_unpack, for which NULL is legal. */
mxl_gemm_packed *mxl_gemm_pack(int dtype, bool tb, int64_t n, int64_t k, const void *b,
                               int64_t ldb);
void mxl_gemm_unpack(mxl_gemm_packed *packed);

/* Whether mxl_products would pack all of op(B) for this product itself, so that with `packed` it
 * has the same bits. */
bool mxl_gemm_packs(const mxl_product *product);
/* Whether `packed` may take the place of b: then it is never slower. */
bool mxl_gemm_takes_packed(const mxl_product *product);

/* The same for a single product. */
int mxl_gemm(int dtype, bool ta, bool tb, int64_t m, int64_t n, int64_t k, const void *a,
             int64_t lda, const void *b, int64_t ldb, void *c, int64_t ldc, bool accumulate);

#endif
