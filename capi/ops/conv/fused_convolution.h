/* A convolution with what follows it, as one operator: what passes over graphs put in the place of
 * several nodes (symbol/passes/fuse.c). */
#ifndef MXL_OPS_CONV_FUSED_CONVOLUTION_H
#define MXL_OPS_CONV_FUSED_CONVOLUTION_H

#include "ops/conv/conv_ops.h"

/* The convolution's parameters come first: its attributes are this operator's too. */
typedef struct mxl_fused_params {
    mxl_conv_params conv;
    int normalises, fix_gamma, adds;
    double eps, low, high;
} mxl_fused_params;

/* Inputs: data, weight; bias unless no_bias; gamma, beta, moving_mean, moving_var if normalises;
 * added if adds. */
extern const mxl_op mxl_op_fused_convolution;

#endif
