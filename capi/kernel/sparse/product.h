/* Products of a csr matrix and a dense one, of float32 and float64. Threads share the work by its
 * elements, not by rows, of which some may hold far more than others. */
#ifndef MXL_KERNEL_SPARSE_PRODUCT_H
#define MXL_KERNEL_SPARSE_PRODUCT_H

#include "kernel/sparse/merge.h"

/* out = m x dense, of n columns: indices of m are rows of dense. With `to`, which ascends below
 * `height`, row i of the product is row to[i] of out, whose other rows become zeros. */
void mxl_sparse_product(int dtype, const mxl_csr *m, int64_t n, const void *dense, void *out,
                        const int64_t *to, int64_t height);

/* The elements of m, of 4 or 8 bytes, in the order of their columns, and of their rows within one:
 * rows and values [elements]; in `column` [elements] those columns that have some, and in `indptr`
 * where their elements begin (one more than columns or elements, whichever are fewer). Returns how
 * many columns these are; -1 with the error set where memory is short. There is a table of all
 * columns only where there are not many more of them than elements. */
int64_t mxl_sparse_by_column(size_t width, const mxl_csr *m, int64_t columns, int64_t *column,
                             int64_t *row, void *values, int64_t *indptr);

#endif
