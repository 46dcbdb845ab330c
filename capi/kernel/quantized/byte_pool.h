/* Pooling of bytes. For ops/quantized/pieces.c. */
#ifndef MXL_KERNEL_QUANTIZED_BYTE_POOL_H
#define MXL_KERNEL_QUANTIZED_BYTE_POOL_H

#include "kernel/pool/pool.h"

/* y = the largest element of each window, or, where p->divide is not MXL_POOL_SUM, the mean,
 * rounded to the nearest. p->dtype is int8 or uint8. A window without elements gives 0. -1 with the
 * error set: out of memory. */
int mxl_quantized_pool(const mxl_pool *p, const void *x, void *y);

#endif
