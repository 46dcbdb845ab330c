/* The innermost loops of copies: one strided run of elements, and many small pieces of bytes. For
 * strided_copy.c, gather.c, and the kernels that gather operands into tiles (loop.c, reduce.c). */
#ifndef MXL_KERNEL_COPY_COPY_LOOPS_H
#define MXL_KERNEL_COPY_COPY_LOOPS_H

#include <stddef.h>
#include <stdint.h>

/* dst[i * dst_stride] = src[i * src_stride] for n elements of 1, 2, 4 or 8 bytes; strides in
 * elements. The two must not overlap. */
void mxl_copy_run(size_t width, void *dst, int64_t dst_stride, const void *src, int64_t src_stride,
                  int64_t n);

/* Copies a block of bytes; mxl_copy_stream is for blocks larger than the caches and bypasses them.
 * The first is a plain loop instead of memcpy, which on some processors is slower for large blocks.
 */
void mxl_copy_block(void *out, const void *in, size_t bytes);
void mxl_copy_stream(void *out, const void *in, size_t bytes);

/* Copies `count` pieces of `bytes` > 0; their distance is in_step bytes in `in`, out_step in `out`.
 */
void mxl_copy_pieces(int64_t bytes, int64_t count, void *out, int64_t out_step, const void *in,
                     int64_t in_step);

/* Copies `count` pieces of `bytes` > 0 side by side: piece j is piece at[j] of `in`. */
void mxl_copy_pieces_at(int64_t bytes, int64_t count, void *out, const void *in, const int64_t *at);

/* dst[j * dst_step + i] = src[j + i * src_step] for j < nj, i < ni: `src` is read along j, `dst`
 * written along i. Steps in elements of `width` bytes. */
void mxl_transpose_kernel(size_t width, void *dst, int64_t dst_step, const void *src,
                          int64_t src_step, int64_t nj, int64_t ni);

#endif
