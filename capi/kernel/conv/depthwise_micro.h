/* The innermost loops of depthwise convolutions. Called by depthwise.c. */
#ifndef MXL_KERNEL_CONV_DEPTHWISE_MICRO_H
#define MXL_KERNEL_CONV_DEPTHWISE_MICRO_H

#include <stdint.h>

enum { MXL_DEPTHWISE_REACH = 16 }; /* so many elements beyond the last one may be read */

/* The channels of the output. */
typedef struct mxl_depthwise_rows {
    int64_t taps;           /* 9: those of a square are read together where they are neighbours */
    const int64_t *offsets; /* [taps], into the planes */
    int64_t square;         /* distance of the rows of 3 x 3 neighbouring taps; 0: there are none */
    int64_t rows, n;        /* of the output, */
    int64_t dst_pitch;      /* their distance, */
    int64_t pitch;          /* and that of the planes' */
    float low, high;
} mxl_depthwise_rows;

/* Rows of numbers that go by turns to two places: from[0], from[2], ... to `even`, from[1],
 * from[3],
 * ... to `odd`. */
typedef struct mxl_depthwise_split {
    int64_t rows, evens, odds; /* of a row */
    int64_t from_pitch, pitch; /* distance of rows, there and here */
} mxl_depthwise_split;

typedef struct mxl_depthwise_micro {
    /* dst[h, i] = min(max(the sum over taps t of w[t] * planes[h * pitch + i + offsets[t]] + bias +
     * add[h, i], low), high), where NaN stays; add is laid out as dst, or NULL. Each sum is one
     * chain over the taps that starts at zero. */
    void (*sums)(const mxl_depthwise_rows *rows, float bias, const float *planes, const float *w,
                 const float *add, float *dst);
    void (*split)(const mxl_depthwise_split *s, const float *from, float *even, float *odd);
} mxl_depthwise_micro;

/* The loops of the current vector level. */
const mxl_depthwise_micro *mxl_depthwise_micro_f32(void);

#endif
