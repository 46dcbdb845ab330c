/* The convolution of graphs that are trained with other roundings; for the pass that makes it. */
#ifndef MXL_OPS_CONV_FAST_CONVOLUTION_H
#define MXL_OPS_CONV_FAST_CONVOLUTION_H

#include "ops/conv/conv_ops.h"

/* The parameters and inputs of Convolution. */
extern const mxl_op mxl_op_fast_convolution;

#endif
