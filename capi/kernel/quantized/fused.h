/* Tiles of sums that become bytes before they leave the registers. For convolve.c. */
#ifndef MXL_KERNEL_QUANTIZED_FUSED_H
#define MXL_KERNEL_QUANTIZED_FUSED_H

#include "kernel/quantized/ends.h"

/* What all sums meet, sixteen times. */
typedef struct mxl_quantized_factors {
    float scale[16];
    int32_t order[16];
    bool is_unsigned;
    int8_t least;
} mxl_quantized_factors;

/* Whether mxl_quantized_fused gives the bytes that mxl_quantized_end makes of the sums, with this
 * tail (NULL: none), on this processor; then sets the factors. */
bool mxl_quantized_fuses(const mxl_quantized_tail *tail, mxl_quantized_factors *factors);

/* mxl_dots_tile of MXL_DOTS_ROWS rows and more than 16 columns, and mxl_quantized_end, at once. */
void mxl_quantized_fused(const mxl_quantized_factors *factors, int columns,
                         const mxl_dots_runs *runs, const uint8_t *x, int64_t x_step, uint8_t flip,
                         const int8_t *w, const int32_t *bias, uint8_t *y, int64_t step);

#endif
