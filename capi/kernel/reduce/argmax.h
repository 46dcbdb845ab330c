/* Positions of the largest and smallest elements. For ops/reduce/reduce.c. */
#ifndef MXL_KERNEL_REDUCE_ARGMAX_H
#define MXL_KERNEL_REDUCE_ARGMAX_H

#include <stdint.h>

/* Position of the first maximum along the middle axis of a contiguous (outer, n, inner) array, n >
 * 0, into out (outer, inner). The first NaN counts as the maximum. All dtypes. */
void mxl_argmax(int dtype, int64_t outer, int64_t n, int64_t inner, const void *in, int64_t *out);
/* The same for the first minimum. */
void mxl_argmin(int dtype, int64_t outer, int64_t n, int64_t inner, const void *in, int64_t *out);

#endif
