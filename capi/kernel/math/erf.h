/* The element-wise loops of the error function. For ops/elementwise/special.c. */
#ifndef MXL_KERNEL_MATH_ERF_H
#define MXL_KERNEL_MATH_ERF_H

#include "kernel/elementwise/loop.h"

/* out[i] = erf(in[i]). Integers are computed in double, as in 1.9.1: erf(4) is below 1 there, and
 * truncated to 0. */
extern const mxl_kernels mxl_erf_kernels;

#endif
