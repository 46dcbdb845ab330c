/* Products of bytes by NEON, and by its dot products where the processor has them; see dots.h. For
 * dots.c, on aarch64 alone. */
#ifndef MXL_KERNEL_QUANTIZED_NEON_H
#define MXL_KERNEL_QUANTIZED_NEON_H

#include "kernel/quantized/dots.h"

void mxl_dots_tile_neon(int rows, int columns, const mxl_dots_runs *runs, const uint8_t *x,
                        int64_t step, uint8_t flip, const int8_t *w, int32_t *sums);
void mxl_dots_rows_neon(bool is_unsigned, int64_t k, const void *x, const int8_t *w, int64_t rows,
                        int32_t *sums);

#endif
