/* A convolution of bytes in progress: channels are the last axis of x and y. For convolve.c and
 * depthwise.c. */
#ifndef MXL_KERNEL_QUANTIZED_JOB_H
#define MXL_KERNEL_QUANTIZED_JOB_H

#include "kernel/quantized/convolve.h"

struct mxl_quantized_weights {
    size_t bytes;
    int64_t runs, quads; /* under the kernel: runs of bytes, each of so many groups of four */
    int64_t panels;      /* of a group: each of MXL_DOTS_COLUMNS channels, or fewer */
    int32_t *sums;       /* [groups][panels][columns]: 128 times the sum of a channel's weights */
    int8_t *packed;      /* [groups][panels][runs][quads][columns][4]; or see depthwise.c */
};

typedef struct mxl_quantized_job {
    const mxl_conv *v;
    const mxl_quantized_weights *w;
    const mxl_quantized_tail *tail;
    const int32_t *bias; /* [groups][panels][columns], without what `flip` adds to the sums */
    const uint8_t *x;
    void *y;
    int64_t positions, pixels;    /* of an image of y; of all images */
    int64_t x_channels, channels; /* of all groups, of x and of y */
    uint8_t flip;                 /* added to the bytes, modulo 256 */
    int32_t *mixed;               /* of depthwise.c: the bias in the order of its sums */
    _Atomic(int) failed;
} mxl_quantized_job;

static inline int64_t mxl_quantized_taps(const mxl_conv *v)
{
    return v->kernel[0] * v->kernel[1] * v->kernel[2];
}

/* A pixel of y: its image, its position there, and where x is under the first tap of the kernel,
 * which may be outside. */
typedef struct mxl_quantized_pixel {
    int64_t image, at[3], corner[3];
} mxl_quantized_pixel;

static inline mxl_quantized_pixel mxl_quantized_pixel_of(const mxl_quantized_job *k, int64_t p)
{
    const mxl_conv *v = k->v;
    mxl_quantized_pixel pixel = {.image = p / k->positions};
    int64_t o = p % k->positions;

    for (int i = 2; i >= 0; i--) {
        pixel.at[i] = o % v->y_size[i];
        pixel.corner[i] = pixel.at[i] * v->stride[i] - v->pad[i];
        o /= v->y_size[i];
    }
    return pixel;
}

/* The pixel becomes the next one. */
static inline void mxl_quantized_pixel_next(const mxl_conv *v, mxl_quantized_pixel *pixel)
{
    for (int i = 2; i >= 0; i--) {
        pixel->corner[i] += v->stride[i];
        if (++pixel->at[i] < v->y_size[i])
            return;
        pixel->at[i] = 0;
        pixel->corner[i] = -v->pad[i];
    }
    pixel->image++;
}

/* ---- one channel in, one out, in each group ---- */

static inline bool mxl_quantized_is_depthwise(const mxl_conv *v)
{
    return v->in == 1 && v->out == 1 && v->groups > 1;
}

/* Bytes of packed weights, which are written by the second one with their sums. */
size_t mxl_quantized_depthwise_bytes(const mxl_conv *v);
void mxl_quantized_depthwise_pack(const mxl_conv *v, const int8_t *w, int8_t *packed,
                                  int32_t *sums);
/* Runs the job; -1 with the error set: out of memory. */
int mxl_quantized_depthwise(mxl_quantized_job *job);

#endif
