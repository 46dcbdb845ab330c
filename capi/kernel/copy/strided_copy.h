/* Copies of strided data, by element width. For array/copy.c and movement operators (transpose,
 * slice, concat). */
#ifndef MXL_KERNEL_COPY_STRIDED_COPY_H
#define MXL_KERNEL_COPY_STRIDED_COPY_H

#include <stddef.h>
#include <stdint.h>

/* out[...] = in[...] for elements of 1, 2, 4 or 8 bytes. Strides in elements, of either sign; 0
 * along an axis of `in` repeats it. The two must not overlap. ndim <= MXL_MAX_NDIM. */
void mxl_copy_strided(size_t width, int ndim, const int64_t *shape, void *out,
                      const int64_t *out_strides, const void *in, const int64_t *in_strides);

/* A block of bytes, on several threads when it is large. */
void mxl_copy_bytes(void *out, const void *in, size_t bytes);

/* n elements of `width` bytes, all equal to the one at `value`. */
void mxl_fill(size_t width, void *out, const void *value, int64_t n);

#endif
