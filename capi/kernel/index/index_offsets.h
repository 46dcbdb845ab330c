/* Offsets from indices along several axes, for gather_nd, scatter_nd and similar operators
 * (ops/index/gather_nd.c). Data is contiguous with shape (positions, piece). */
#ifndef MXL_KERNEL_INDEX_INDEX_OFFSETS_H
#define MXL_KERNEL_INDEX_INDEX_OFFSETS_H

#include <stddef.h>
#include <stdint.h>

/* at[j] = the row-major offset of (index[0][j], ..., index[depth - 1][j]) in an array of this
 * shape. `index` is contiguous, (depth, n), of any dtype, truncated towards zero; negative numbers
 * count from the end. -1 with an IndexError set for an index out of bounds. */
int mxl_index_offsets(int dtype, const void *index, int depth, int64_t n, const int64_t *shape,
                      int64_t *at);

/* out[at[j]] = in[j] for j = 0 .. n - 1 in this order, pieces of `bytes` each; of equal offsets the
 * last one wins. */
void mxl_index_offsets_put(int64_t bytes, void *out, int64_t n, const int64_t *at, const void *in);

/* The gradient of mxl_index_offsets_put: out[j] = in[at[j]], then in[at[j]] = 0, for j = n - 1 ..
 * 0. */
void mxl_index_offsets_pull(int64_t bytes, void *in, int64_t n, const int64_t *at, void *out);

#endif
