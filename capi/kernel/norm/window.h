/* Sums over a window that slides along one axis. For ops/nn/local_norm.c. */
#ifndef MXL_KERNEL_NORM_WINDOW_H
#define MXL_KERNEL_NORM_WINDOW_H

#include <stdint.h>

/* Each element of a contiguous (outer, n, inner) array of float32 or float64 plus those at most
 * `half` positions from it along the middle axis. `out` is another array. */
void mxl_window_sum(int dtype, int64_t outer, int64_t n, int64_t inner, int64_t half,
                    const void *in, void *out);

#endif
