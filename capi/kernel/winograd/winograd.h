/* Convolutions of float32 with kernels of 3 x 3, stride 1 and dilate 1 by Winograd's F(2 x 2, 3 x
 * 3), which has 16 products in place of 36. For conv.c, which computes all others, and these when
 * they are small or have numbers that are not finite, by sums over the taps. */
#ifndef MXL_KERNEL_WINOGRAD_WINOGRAD_H
#define MXL_KERNEL_WINOGRAD_WINOGRAD_H

#include <stdbool.h>

#include "kernel/conv/conv.h"

typedef enum mxl_winograd_status {
    MXL_WINOGRAD_FAILED = -1, /* out of memory, with the error set */
    MXL_WINOGRAD_DONE,
    MXL_WINOGRAD_NOT /* it costs more, or a result is not finite: the output is undefined */
} mxl_winograd_status;

/* As the functions of conv.h without mxl_. The last computes w. */
mxl_winograd_status mxl_winograd_forward(const mxl_conv *conv, const void *x, const void *w,
                                         const void *bias, void *y);
mxl_winograd_status mxl_winograd_data(const mxl_conv *conv, const void *y, const void *w,
                                      const void *bias, void *x);
mxl_winograd_status mxl_winograd_weight(const mxl_conv *conv, const void *x, const void *y,
                                        void *w);

/* Whether the maps cost less than the products that they save, of a convolution whose tiles cover
 * results of this size. MXLITE_WINOGRAD=0 in the environment: never. */
bool mxl_winograd_fits(const mxl_conv *conv, int64_t height, int64_t width);

#endif
