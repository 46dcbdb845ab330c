/* Convolutions of bytes (int8 or uint8 data, int8 weights) to int32, or on to bytes; and products
 * of rows with a matrix. The same integers on all vector levels and for any number of threads. For
 * ops/quantized/layers.c. */
#ifndef MXL_KERNEL_QUANTIZED_CONVOLVE_H
#define MXL_KERNEL_QUANTIZED_CONVOLVE_H

#include "kernel/conv/conv.h"

/* What becomes of the sums in the same pass: a byte of them (times `scale`), at least `least`;
 * then, with `add`, a byte of round(byte * byte_scale + add * add_scale) * sum_scale, at least
 * `sum_least`. Each step rounds as the functions of bytes.h do. dtypes are int8 or uint8. */
typedef struct mxl_quantized_tail {
    int dtype; /* of the first byte */
    float scale;
    int least;
    const void *add;          /* of y's shape; NULL: no sum */
    int add_dtype, sum_dtype; /* of `add`, and of the second byte */
    float byte_scale, add_scale, sum_scale;
    int sum_least;
} mxl_quantized_tail;

/* Weights as the loops read them; kept by the caller, who frees them. */
typedef struct mxl_quantized_weights mxl_quantized_weights;
void mxl_quantized_weights_free(mxl_quantized_weights *weights); /* NULL is legal */
/* NULL with the error set: out of memory. */
mxl_quantized_weights *mxl_quantized_weights_new(const mxl_conv *conv, const int8_t *w);

/* y = the convolution of x (conv->dtype: int8 or uint8) with the weights, plus `bias` (groups * out
 * numbers; NULL: 0): int32, or what `tail` (NULL: none) makes of it. Shapes and numbers of 0 as in
 * mxl_conv_forward; form and tail of `conv` are not read. -1 with the error set: out of memory. */
int mxl_quantized_convolve(const mxl_conv *conv, const void *x, const mxl_quantized_weights *w,
                           const int32_t *bias, const mxl_quantized_tail *tail, void *y);

/* y (m, n) = x (m, k) times the transposed w (n, k), plus `bias` (n numbers; NULL: 0). */
void mxl_quantized_dense(bool is_unsigned, int64_t m, int64_t n, int64_t k, const void *x,
                         const int8_t *w, const int32_t *bias, int32_t *y);

#endif
