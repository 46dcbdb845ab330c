/* The loops that compute both a convolution and its derivative by the data: sums of weights times
 * positions of planes (planes.h). For conv.c, which says in these terms what to compute. */
#ifndef MXL_KERNEL_CONV_CORRELATE_H
#define MXL_KERNEL_CONV_CORRELATE_H

#include <stdint.h>

#include "kernel/conv/conv.h"
#include "kernel/conv/planes.h"

/* Positions of the output that one set of taps computes: in each dimension `count` positions from
 * `first` on, `apart` from each other. Position i of the lattice reads a channel's planes at i +
 * plane_at[t], and there counts weight_at[t] elements into the weights. */
typedef struct mxl_lattice {
    int64_t first[3], apart[3], count[3];
    int64_t num_taps;
    const int64_t *plane_at, *weight_at;
} mxl_lattice;

/* dst[n, g, k, o] = bias[g, k] + the sum over channels c and taps t of
 *     weights[g * w_group + k * w_out + c * w_in + weight_at[t]] * planes[n, g, c, o + t]. */
typedef struct mxl_correlation {
    mxl_planes planes; /* of src; its dtype is that of all arrays */
    int64_t batch, groups, in, out;
    const void *src, *weights, *bias; /* weights and bias of float16 arrays are float32 */
    int64_t w_group, w_out, w_in;
    int64_t taps; /* of a kernel; all lattices together have each once */
    void *dst;
    int64_t dst_size[3];
    int64_t num_lattices; /* together they cover dst */
    const mxl_lattice *lattices;
    mxl_conv_form **form; /* as mxl_conv's; NULL for float16 */
    const mxl_conv_tail *tail;
} mxl_correlation;

/* -1 with the error set: out of memory. */
int mxl_correlate(const mxl_correlation *c);

#endif
