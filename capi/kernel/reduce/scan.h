/* Cumulative sums, products and linear recurrences. For ops/reduce/norm.c, ops/reduce/cumprod.c. */
#ifndef MXL_KERNEL_REDUCE_SCAN_H
#define MXL_KERNEL_REDUCE_SCAN_H

#include <stdbool.h>
#include <stdint.h>

/* Cumulative sum along the middle axis of a contiguous (outer, n, inner) array. Each element is
 * added to those before it one after another, in the dtype; integers wrap. `out` may be `in`. All
 * dtypes but bool. */
void mxl_scan_sum(int dtype, int64_t outer, int64_t n, int64_t inner, const void *in, void *out);

/* The same with products. */
void mxl_scan_product(int dtype, int64_t outer, int64_t n, int64_t inner, const void *in,
                      void *out);

/* out[i] = in[i] + factors[i] out[i - 1], or with `reverse` in[i] + factors[i + 1] out[i + 1],
 * along the middle axis of contiguous (outer, n, inner) arrays; the factor before the first element
 * is not read. float32, float64 and float16. `out` must not overlap the others. */
void mxl_scan_linear(int dtype, int64_t outer, int64_t n, int64_t inner, bool reverse,
                     const void *in, const void *factors, void *out);

#endif
