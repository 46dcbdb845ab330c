/* Loops over quantized arrays: bytes (int8 or uint8) that stand for numbers between two limits.
 * Whatever becomes a byte is rounded to the nearest, halves to even, and cut to the dtype's
 * numbers; NaN becomes the largest one. For ops/quantized. */
#ifndef MXL_KERNEL_QUANTIZED_BYTES_H
#define MXL_KERNEL_QUANTIZED_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/target.h"

/* y = x * scale, from float32, int32 or bytes (as float32) to bytes, or from bytes to float32. */
void mxl_quantized_scale(int from, int to, const void *x, void *y, int64_t n, float scale);

/* y = x * scale of int8, cut to integers and to int32. */
void mxl_quantized_cut(const int8_t *x, int32_t *y, int64_t n, float scale);

/* y = min(max(x * scale, low), high) * again, from bytes to bytes, as float32 between. */
typedef struct mxl_quantized_limit {
    int from, to;
    const void *x;
    void *y;
    float scale, low, high, again;
} mxl_quantized_limit;
void mxl_quantized_within(const mxl_quantized_limit *limit, int64_t n);

/* y = a * a_scale + b * b_scale of bytes, each of a dtype of its own: as `to`, which is int8, uint8
 * or int32 (cut to its numbers). */
typedef struct mxl_quantized_pair {
    int a_dtype, b_dtype, to;
    const void *a, *b;
    void *y;
    float a_scale, b_scale;
} mxl_quantized_pair;
void mxl_quantized_add(const mxl_quantized_pair *pair, int64_t n);

/* y = a * b of bytes; as int32 without a factor, as int8, uint8 or float32 times a_scale. */
void mxl_quantized_mul(const mxl_quantized_pair *pair, int64_t n);

/* y = x * factor + more of bytes, as int8, for each of `channels` runs of `inner`, in turns. */
void mxl_quantized_affine(int dtype, const void *x, int8_t *y, int64_t runs, int64_t channels,
                          int64_t inner, const float *factor, const float *more);

/* y = x, 0 in the place of what is below it. */
void mxl_quantized_relu(const int8_t *x, int8_t *y, int64_t n);

/* The smallest and the largest of n > 0 elements of float32 or int32, as float32; NaN is passed
 * over. */
void mxl_quantized_bounds(int dtype, const void *x, int64_t n, float *low, float *high);

/* ---- one number, for these loops and others ---- */

/* The number as an integer between two limits of small size, which are integers. */
MXL_INLINE int32_t mxl_quantized_round(float x, float low, float high)
{
    float most = x < high ? x : high, cut = most > low ? most : low;
    union {
        float f;
        int32_t i;
    } sum = {.f = cut + 12582912.0F}; /* 1.5 * 2^23: the sum has no digits behind the point */

    return sum.i - 0x4B400000;
}

/* The number as int32, cut to its numbers. */
MXL_INLINE int32_t mxl_quantized_round_wide(float x)
{
    return x < 2147483648.0F ? (x > -2147483648.0F ? (int32_t)rintf(x) : INT32_MIN) : INT32_MAX;
}

#endif
