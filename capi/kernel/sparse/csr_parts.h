/* Parts of a csr matrix, and sums over it. */
#ifndef MXL_KERNEL_SPARSE_CSR_PARTS_H
#define MXL_KERNEL_SPARSE_CSR_PARTS_H

#include "kernel/sparse/merge.h"

/* Row k of `out` is row positions[k] of m: its end in indptr [count + 1], of which the first is 0;
 * then, when that is filled, columns and values. */
void mxl_sparse_take_ends(const mxl_csr *m, int64_t count, const int64_t *positions,
                          int64_t *indptr);
void mxl_csr_take_rows(size_t width, const mxl_csr *m, int64_t count, const int64_t *positions,
                       const int64_t *indptr, int64_t *indices, void *values);

/* Of `count` rows from row `first` on, the columns from `begin` to `end` (INT64_MAX: all):
 * likewise. */
void mxl_sparse_cut_ends(const mxl_csr *m, int64_t first, int64_t count, int64_t begin, int64_t end,
                         int64_t *indptr);
void mxl_sparse_cut(size_t width, const mxl_csr *m, int64_t first, int64_t count, int64_t begin,
                    int64_t end, int64_t *indices, void *values);

/* The sum of each row, or of each of `columns` columns, times `scale`; of float32 and float64. */
void mxl_sparse_row_sums(int dtype, const mxl_csr *m, double scale, void *out);
void mxl_sparse_column_sums(int dtype, const mxl_csr *m, int64_t columns, double scale, void *out);

/* How many elements each column has. */
void mxl_sparse_column_counts(const mxl_csr *m, int64_t columns, int64_t *out);

#endif
