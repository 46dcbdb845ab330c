/* Matrix products of bfloat16, by pairs (pairs.h). For kernel/gemm/gemm.c. */
#ifndef MXL_KERNEL_BFLOAT16_PAIR_PRODUCT_H
#define MXL_KERNEL_BFLOAT16_PAIR_PRODUCT_H

#include "kernel/gemm/gemm.h"

/* Whether mxl_bfloat16_product computes it: the processor has the instructions, and nothing is
 * packed or accumulated. */
bool mxl_bfloat16_multiplies(const mxl_product *product);

/* One of the products, k not 0; a, b and c are where its matrices begin. Sums are float32; their
 * order depends on the sizes alone. -1 with the error set: out of memory. */
int mxl_bfloat16_product(const mxl_product *product, const void *a, const void *b, void *c,
                         bool alone);

#endif
