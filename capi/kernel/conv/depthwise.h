/* Correlations in which a channel of the output reads one channel of the images (depthwise
 * convolutions, and their derivatives by the data). For correlate.c. */
#ifndef MXL_KERNEL_CONV_DEPTHWISE_H
#define MXL_KERNEL_CONV_DEPTHWISE_H

#include <stdbool.h>

#include "kernel/conv/correlate.h"

/* Whether mxl_depthwise computes it: a few channels of the output for one of float32 or float64. */
bool mxl_depthwise_fits(const mxl_correlation *c);

/* As mxl_correlate. Each sum is one chain over the taps, in their order. */
int mxl_depthwise(const mxl_correlation *c);

#endif
