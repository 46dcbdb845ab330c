/* Running sums. For ops/reduce/norm.c. */
#ifndef MXL_KERNEL_REDUCE_SCAN_H
#define MXL_KERNEL_REDUCE_SCAN_H

#include <stdint.h>

/* Each element of a contiguous (outer, n, inner) array plus those before it along the middle axis,
 * added in the dtype, one after the other; integers wrap. `out` may be `in`. All dtypes but bool.
 */
void mxl_scan_sum(int dtype, int64_t outer, int64_t n, int64_t inner, const void *in, void *out);

#endif
