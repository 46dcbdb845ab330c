/* Convolutions of bytes (int8 or uint8 data, int8 weights) to int32, or on to bytes; and products
 * of rows with a matrix. The same integers on all vector levels and for any number of threads. For
 * ops/quantized/layers.c. */
#ifndef MXL_KERNEL_QUANTIZED_CONVOLVE_H
#define MXL_KERNEL_QUANTIZED_CONVOLVE_H

#include "kernel/conv/conv.h"
#include "kernel/quantized/ends.h"

/* Weights as the loops read them; kept by the caller, who frees them. */
typedef struct mxl_quantized_weights mxl_quantized_weights;
void mxl_quantized_weights_free(mxl_quantized_weights *weights); /* NULL is legal */
/* NULL with the error set: out of memory. */
mxl_quantized_weights *mxl_quantized_weights_new(const mxl_conv *conv, const int8_t *w);

/* Which arrays have the channels as their last axis: the loops read and write these directly, and
 * others by way of a copy. */
typedef struct mxl_quantized_order {
    bool x_last, y_last; /* y, and what is added to it */
} mxl_quantized_order;

/* y = the convolution of x (conv->dtype: int8 or uint8) with the weights, plus `bias` (groups * out
 * numbers; NULL: 0): int32, or what `tail` (NULL: none) makes of it. Shapes and numbers of 0 as in
 * mxl_conv_forward; form and tail of `conv` are not read. -1 with the error set: out of memory. */
int mxl_quantized_convolve(const mxl_conv *conv, mxl_quantized_order order, const void *x,
                           const mxl_quantized_weights *w, const int32_t *bias,
                           const mxl_quantized_tail *tail, void *y);

/* y (m, n) = x (m, k) times the transposed w (n, k), plus `bias` (n numbers; NULL: 0). */
void mxl_quantized_dense(bool is_unsigned, int64_t m, int64_t n, int64_t k, const void *x,
                         const int8_t *w, const int32_t *bias, int32_t *y);

#endif
