/* Convolutions of one to three spatial dimensions, channels first, and the two products that their
 * derivatives are. For ops/conv/convolution.c.
 *
 * The three are the partial derivatives of one trilinear form, the sum over all elements of
 *     x[n, g, c, o * stride + t * dilate - pad] * w[g, k, c, t] * y[n, g, k, o]
 * (n: image, g: group, c and k: input and output channels of a group, o: position of the output,
 * t: position in the kernel; elements outside x count as zero), with respect to y, x and w. */
#ifndef MXL_KERNEL_CONV_CONV_H
#define MXL_KERNEL_CONV_CONV_H

#include <stdbool.h>
#include <stdint.h>

typedef struct mxl_conv_form mxl_conv_form;

/* What a forward convolution does to its result in the same pass: y = min(max(scale[k] * sum +
 * bias[k] + add, low), high), where k is the channel of y. NaN stays NaN. */
typedef struct mxl_conv_tail {
    const void *scale; /* one for each channel of y, NULL: 1; weights are multiplied by it */
    const void *add;   /* of y's shape, NULL: 0 */
    double low, high;
} mxl_conv_tail;

typedef struct mxl_conv {
    int dtype; /* float32, float64, or float16, which is computed in float32; forward: bfloat16 */
    int64_t batch, groups;
    int64_t in, out; /* channels of a group of x and of y */
    /* Three spatial dimensions each; missing ones come first and have size, kernel, stride and
     * dilate 1, and pad 0. */
    int64_t x_size[3], y_size[3], kernel[3], stride[3], dilate[3], pad[3];
    /* NULL, or: where the weights as the loops read them are kept, NULL at first. The caller calls
     * again with the same weights only, and frees it. */
    mxl_conv_form **form;
    const mxl_conv_tail *tail; /* NULL: none; of mxl_conv_forward alone. `scale` is of dtype, or
                                * float32 for float16; for bfloat16 the bias is float32 too. A kept
                                * form has the scale in it. */
} mxl_conv;

void mxl_conv_form_free(void *form); /* NULL is legal */

/* x has shape (batch, groups * in, x_size), w (groups * out, in, kernel), y (batch, groups * out,
 * y_size); all are contiguous. Outputs do not overlap inputs. The bits do not depend on the number
 * of threads. Any number but a kernel, stride or dilate may be 0: a sum over nothing is the bias,
 * or 0. -1 with the error set: out of memory; the output is then undefined. */

/* Whether mxl_conv_forward computes it: one of bfloat16 only where the processor has instructions
 * for it, and it is none of single channels. */
bool mxl_conv_takes(const mxl_conv *conv);

/* y = the convolution of x with w; `bias` (groups * out elements) is added unless it is NULL. */
int mxl_conv_forward(const mxl_conv *conv, const void *x, const void *w, const void *bias, void *y);

/* x = the transposed convolution of y with w; `bias` (groups * in elements) likewise. */
int mxl_conv_data(const mxl_conv *conv, const void *y, const void *w, const void *bias, void *x);

/* w = the correlation of x with y. */
int mxl_conv_weight(const mxl_conv *conv, const void *x, const void *y, void *w);

/* Whether the trilinear form has no terms, as one of the numbers is 0. */
bool mxl_conv_is_empty(const mxl_conv *conv);

#endif
