/* Between dense and sparse storage, by element width (1, 2, 4 or 8 bytes). An element is 0 where
 * its bits are; of floating dtypes the sign does not count. All indices are in range. */
#ifndef MXL_KERNEL_SPARSE_PACK_H
#define MXL_KERNEL_SPARSE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of `rows` rows of `row` elements: those that are not all 0, in `indices` where it is not NULL.
 * Returns their number. */
int64_t mxl_sparse_find_rows(size_t width, bool is_float, int64_t rows, int64_t row,
                             const void *data, int64_t *indices);

/* The number of elements of the matrix that are not 0, and in indptr [rows + 1] where each row's
 * begin. */
int64_t mxl_sparse_count(size_t width, bool is_float, int64_t rows, int64_t columns,
                         const void *data, int64_t *indptr);
/* Those elements and their columns. */
void mxl_sparse_take(size_t width, bool is_float, int64_t rows, int64_t columns, const void *data,
                     void *values, int64_t *indices);

/* out[row, indices[j]] = values[j] for the elements of each row; of repeated ones the last. */
void mxl_sparse_put(size_t width, int64_t rows, int64_t columns, const void *values,
                    const int64_t *indptr, const int64_t *indices, void *out);

/* out[k] = in[indices[k]] and out[indices[k]] = in[k], of `count` rows of so many bytes. */
void mxl_sparse_gather_rows(size_t row_bytes, int64_t count, const int64_t *indices, const void *in,
                            void *out);
void mxl_sparse_put_rows(size_t row_bytes, int64_t count, const int64_t *indices, const void *in,
                         void *out);

#endif
