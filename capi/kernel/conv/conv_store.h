/* The end of a convolution: sums go from a buffer to the output, with all that is done to them on
 * the way. For correlate.c. */
#ifndef MXL_KERNEL_CONV_CONV_STORE_H
#define MXL_KERNEL_CONV_CONV_STORE_H

#include <stdbool.h>
#include <stdint.h>

/* A row of sums of one channel. */
typedef struct mxl_conv_row {
    int64_t n, apart; /* distance of neighbouring elements in the output */
    bool adds_up;     /* to what the output has, in place of the bias */
    double bias, low, high;
} mxl_conv_row;

/* dst[i] = min(max(sums[i] + bias + add[i], low), high), NaN stays; `add` may be NULL and has the
 * distances of dst. */
void mxl_conv_store_f32(const mxl_conv_row *row, const float *sums, const float *add, float *dst);
void mxl_conv_store_f64(const mxl_conv_row *row, const double *sums, const double *add,
                        double *dst);

/* The value between the limits, or NaN, in the form of the processor's maximum and minimum. */
#define MXL_CONV_LIMIT(x, low, high)                                                               \
    ((high) < MXL_CONV_AT_LEAST(x, low) ? (high) : MXL_CONV_AT_LEAST(x, low))
#define MXL_CONV_AT_LEAST(x, low) ((low) > (x) ? (low) : (x))

#endif
