/* What six.c and six_weight.c share: which convolutions they take, and their tiles. */
#ifndef MXL_KERNEL_WINOGRAD_SIX_FITS_H
#define MXL_KERNEL_WINOGRAD_SIX_FITS_H

#include <stdbool.h>

#include "kernel/conv/conv.h"
#include "kernel/conv/conv_micro.h"
#include "kernel/winograd/six_maps.h"

/* Whether the maps cost less than the products that they save; `result` is the size of what the
 * tiles cover; `weights`: of the derivative by these. MXLITE_WINOGRAD=0 in the environment: never.
 */
bool mxl_six_fits(const mxl_conv *conv, const int64_t result[3], bool weights);

/* Tiles over what is read (of `size`, with a rim of zeros) and over the result. */
mxl_six_view mxl_six_images(const mxl_conv *conv, const void *from, const int64_t size[3],
                            const int64_t result[3], int64_t channels, const int64_t rim[3]);
mxl_six_view mxl_six_results(const mxl_conv *conv, const void *from, const int64_t size[3],
                             int64_t channels);

/* Channels are divided into panels of *width lanes, a multiple of MXL_SIX_LANES: where the panel
 * begins that has channel k of `count` (a multiple too). */
int64_t mxl_six_panel(const mxl_conv_micro *micro, int64_t count, int64_t k, int64_t *width);

#endif
