/* Passes: functions from a graph to a graph that computes the same in fewer steps. Each makes a
 * copy and leaves its argument as it is; NULL with the error set. */
#ifndef MXL_SYMBOL_PASSES_PASSES_H
#define MXL_SYMBOL_PASSES_PASSES_H

#include "symbol/symbol.h"

/* Common sub-expressions are computed once: of nodes with the same operator, attributes and inputs
 * the first stays. Others are nodes without inputs, those that draw random numbers, write into an
 * input, run a caller's code or a graph, and losses, whose gradients would be lost; and outputs of
 * the graph, each of which keeps a node of its own. MXNET_ELIMINATE_COMMON_EXPR=0 leaves all. */
mxl_symbol *mxl_pass_repeats(const mxl_symbol *symbol);

#endif
