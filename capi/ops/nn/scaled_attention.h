/* Attention of graphs that only predict, as one operator: what passes put in the place of two
 * products with softmax between (symbol/passes/attention.c). */
#ifndef MXL_OPS_NN_SCALED_ATTENTION_H
#define MXL_OPS_NN_SCALED_ATTENTION_H

#include "op/op.h"

/* softmax(scale query key' + mask) value: inputs query, key, value, mask if masked. */
extern const mxl_op mxl_op_fused_attention;

#endif
