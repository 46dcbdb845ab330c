/* Products of a csr matrix and a dense one, of float32 and float64. Threads share the work by its
 * elements, not by rows, of which some may hold far more than others. */
#ifndef MXL_KERNEL_SPARSE_PRODUCT_H
#define MXL_KERNEL_SPARSE_PRODUCT_H

#include "kernel/sparse/merge.h"

/* out = m x dense, of n columns: indices of m are rows of dense. With `to`, which ascends below
 * `height`, row i of the product is row to[i] of out, whose other rows become zeros. */
void mxl_sparse_product(int dtype, const mxl_csr *m, int64_t n, const void *dense, void *out,
                        const int64_t *to, int64_t height);

/* The elements of m in the order of their columns, and of their rows within one: columns, rows and
 * values [elements], of 4 or 8 bytes. -1 with the error set where memory is short. There is a table
 * of the columns only where there are not many more of them than elements. */
int mxl_sparse_by_column(size_t width, const mxl_csr *m, int64_t columns, int64_t *column,
                         int64_t *row, void *values);

/* Of a list that ascends with repetition: its numbers once, in place, and in indptr, with room for
 * one more than them, where each begins. Returns how many they are. */
int64_t mxl_csr_group(int64_t *list, int64_t count, int64_t *indptr);
int64_t mxl_csr_groups(const int64_t *list, int64_t count); /* how many they will be */

#endif
