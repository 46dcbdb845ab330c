/* Two sparse operands as one pattern: where either has something. Indices ascend without
 * repetition, in each row of csr. */
#ifndef MXL_KERNEL_SPARSE_MERGE_H
#define MXL_KERNEL_SPARSE_MERGE_H

#include <stddef.h>
#include <stdint.h>

/* The numbers that are in a or in b, in `at` with room for na + nb, and where each is in a and in
 * b, or -1. Returns how many they are. */
int64_t mxl_sparse_union(const int64_t *a, int64_t na, const int64_t *b, int64_t nb, int64_t *at,
                         int64_t *in_a, int64_t *in_b);

typedef struct mxl_csr {
    int64_t rows;
    const int64_t *indptr, *indices;
    const void *values; /* of mxl_sparse_merge */
} mxl_csr;

/* The matrix that has an element where a or b has one: each row has room for the elements of both
 * (indptr), and ends with places of column 0 and value 0 where that is too much. */
void mxl_sparse_merge_rows(const mxl_csr *a, const mxl_csr *b, int64_t *indptr);
/* Its columns, and the values of a and of b there, of `width` bytes; 0 where one has none. */
void mxl_sparse_merge(size_t width, const mxl_csr *a, const mxl_csr *b, const int64_t *indptr,
                      int64_t *indices, void *of_a, void *of_b);

/* out[k] = dense[row * down + column * right] for each element of the pattern. */
void mxl_sparse_pick(size_t width, const mxl_csr *pattern, const void *dense, int64_t down,
                     int64_t right, void *out);

/* out[k] = in[positions[k]] of rows of so many bytes; zeros where the position is -1. */
void mxl_sparse_gather_or_zero(size_t row_bytes, int64_t count, const int64_t *positions,
                               const void *in, void *out);

#endif
