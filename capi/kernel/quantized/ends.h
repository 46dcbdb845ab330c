/* What becomes of the sums of a convolution. For convolve.c and depthwise.c. */
#ifndef MXL_KERNEL_QUANTIZED_ENDS_H
#define MXL_KERNEL_QUANTIZED_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/dtype.h"
#include "kernel/quantized/dots.h"

/* The sums become, in the same pass, a byte (times `scale`), at least `least`; then, with `add`, a
 * byte of round(byte * byte_scale + add * add_scale) * sum_scale, at least `sum_least`. Each step
 * rounds as the functions of bytes.h do. dtypes are int8 or uint8. */
typedef struct mxl_quantized_tail {
    int dtype; /* of the first byte */
    float scale;
    int least;
    const void *add;          /* of y's shape; NULL: no sum */
    int add_dtype, sum_dtype; /* of `add`, and of the second byte */
    float byte_scale, add_scale, sum_scale;
    int sum_least;
} mxl_quantized_tail;

/* The numbers between which a byte is that is at least `least`. */
static inline float mxl_quantized_lowest(int dtype, int least)
{
    int low = dtype == MXL_U8 ? 0 : -128;

    return (float)(least > low ? least : low);
}

static inline float mxl_quantized_highest(int dtype)
{
    return dtype == MXL_U8 ? 255 : 127;
}

/* Whether the products of all int32 with a factor are numbers that an int32 holds. */
static inline bool mxl_quantized_fits(float scale)
{
    return scale >= 0 && scale < 0.99F;
}

/* y[at + r * step + c] = sums[r][c] + bias[c], or what `tail` (NULL: none) makes of it, for `rows`
 * rows of 32 sums, of which `columns` count. The sums are changed. */
void mxl_quantized_end(const mxl_quantized_tail *tail, int rows, int columns, int32_t *sums,
                       const int32_t *bias, void *y, int64_t at, int64_t step);

#endif
