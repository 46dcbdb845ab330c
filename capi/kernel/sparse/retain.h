/* Rows of a row_sparse array that are asked for. */
#ifndef MXL_KERNEL_SPARSE_RETAIN_H
#define MXL_KERNEL_SPARSE_RETAIN_H

#include <stddef.h>
#include <stdint.h>

/* Sorts n numbers and drops repeated ones; returns how many are left. */
int64_t mxl_sparse_unique(int64_t n, int64_t *numbers);

/* out[k] = the row of `data` (rows of so many bytes) whose index is wanted[k], zeros where there is
 * none. `indices` ascend. */
void mxl_sparse_retain(size_t row_bytes, int64_t stored, const int64_t *indices, const void *data,
                       int64_t count, const int64_t *wanted, void *out);

#endif
