/* Convolution and dense layers of bytes, and a convolution with what follows it as one operator:
 * what symbol/passes/quantized.c puts in the place of several nodes. */
#ifndef MXL_OPS_QUANTIZED_LAYERS_H
#define MXL_OPS_QUANTIZED_LAYERS_H

#include "ops/quantized/quantized.h"

/* Of _mxl_quantized_block; the convolution's parameters come first. */
typedef struct mxl_block_params {
    mxl_conv_params conv;
    mxl_requantize_params to; /* of the convolution's bytes */
    int relu, adds;
    mxl_requantize_params sum; /* of the sum's bytes */
    int sum_relu;
    /* Whether the bytes of data, and of the result and what is added, have the channels as the last
     * axis, whatever the shapes say. */
    int data_last, last;
} mxl_block_params;

/* How many inputs are before those of the sum. */
int mxl_block_added(const mxl_block_params *p);

/* Inputs: those of _contrib_quantized_conv; then, if adds: added, min_added, max_added. */
extern const mxl_op mxl_op_quantized_block;

#endif
