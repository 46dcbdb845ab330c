/* The element-wise loops of the Gaussian error linear unit. For ops/elementwise/leaky.c and gelu.c.
 */
#ifndef MXL_KERNEL_MATH_GELU_H
#define MXL_KERNEL_MATH_GELU_H

#include "kernel/elementwise/loop.h"

/* out[i] = x P(Z < x) for a normal Z; float32 within 1.9 ULP, float64 3.6, and float16. */
extern const mxl_kernels mxl_gelu_kernels;
extern const mxl_kernels mxl_gelu_narrow_kernels; /* without float64 */

#endif
