/* Convolutions of bfloat16, with products by pairs (pairs.h). For kernel/conv/conv.c. */
#ifndef MXL_KERNEL_BFLOAT16_PAIR_CONVOLVE_H
#define MXL_KERNEL_BFLOAT16_PAIR_CONVOLVE_H

#include "kernel/conv/conv.h"

/* Whether mxl_bfloat16_convolve computes it: the processor has the instructions, and a group has
 * enough channels. */
bool mxl_bfloat16_convolves(const mxl_conv *conv);

/* As mxl_conv_forward of bfloat16 arrays, which is not empty; bias and `scale` of a tail, which
 * multiplies sums, are float32. Sums are float32, in one chain over taps and channels for each
 * element. -1 with the error set: out of memory. */
int mxl_bfloat16_convolve(const mxl_conv *conv, const void *x, const void *w, const float *bias,
                          void *y);

#endif
