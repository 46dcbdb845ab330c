/* Moving elements by index: take, its gradient, one_hot. For the files of ops/index. Data is
 * contiguous with shape (outer, extent, inner); indices are converted to positions first. */
#ifndef MXL_KERNEL_INDEX_GATHER_H
#define MXL_KERNEL_INDEX_GATHER_H

#include <stddef.h>
#include <stdint.h>

typedef enum mxl_index_mode {
    MXL_INDEX_CLIP,  /* to the first or last position */
    MXL_INDEX_WRAP,  /* modulo the size, as Python's % */
    MXL_INDEX_RAISE, /* out of bounds is an error */
    MXL_INDEX_KEEP   /* unchanged */
} mxl_index_mode;

/* Converts n contiguous indices of any dtype, truncated towards zero, to positions in a dimension
 * of size `extent`. -1 with the error set for an index out of bounds in the mode `raise`, or an
 * empty dimension (except in the mode `keep`). */
int mxl_index_resolve(int dtype, const void *index, int64_t n, int64_t extent, mxl_index_mode mode,
                      int64_t *out);

/* out[o][j] = in[o][index[j]], pieces of `bytes` each; out is (outer, n, piece). */
void mxl_take(int64_t outer, int64_t extent, int64_t bytes, const void *in, int64_t n,
              const int64_t *index, void *out);

/* out[o][index[j]] += in[o][j], rows of `inner` elements, for j = 0 .. n - 1 in this order; other
 * elements stay. All dtypes but bool; the bits do not depend on the number of threads. -1 with the
 * error set for bool. */
int mxl_scatter_add(int dtype, int64_t outer, int64_t extent, int64_t inner, void *out, int64_t n,
                    const int64_t *index, const void *in);

/* out (n, depth): the element at `on` in column index[i] of row i, else the element at `off`. */
void mxl_one_hot(size_t width, int64_t n, int64_t depth, const int64_t *index, const void *on,
                 const void *off, void *out);

#endif
