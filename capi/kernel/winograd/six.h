/* Convolutions of float32 with stride 1 and dilate 1 by Winograd's maps of tiles of 6 x 6: F(4 x 4,
 * 3 x 3), with 36 products in place of 144, and F(2 x 2, 5 x 5), with 36 in place of 100. Their
 * numbers are larger on the way than those of F(2 x 2, 3 x 3) (winograd.h), so results have other
 * roundings: the largest error of random numbers is about 1e-5 of the largest result. For
 * operators that are asked for speed rather than bits (ops/conv/fast_convolution.c). */
#ifndef MXL_KERNEL_WINOGRAD_SIX_H
#define MXL_KERNEL_WINOGRAD_SIX_H

#include "kernel/conv/conv.h"
#include "kernel/winograd/winograd.h"

/* As the functions of conv.h, for which conv->form and conv->tail are NULL. The last computes w.
 * MXL_WINOGRAD_NOT: other ways cost less, or a result is not finite; the output is undefined. Bits
 * do not depend on the number of threads. */
mxl_winograd_status mxl_six_forward(const mxl_conv *conv, const void *x, const void *w,
                                    const void *bias, void *y);
mxl_winograd_status mxl_six_data(const mxl_conv *conv, const void *y, const void *w, void *x);
mxl_winograd_status mxl_six_weight(const mxl_conv *conv, const void *x, const void *y, void *w);

#endif
