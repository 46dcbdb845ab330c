/* Passes: each changes a graph in place to one that computes the same in fewer steps. The symbol's
 * nodes are its own (mxl_symbol_copy). They return 1 if something has changed, 0 if not, and -1
 * with the error set; then the symbol is of no more use. docs/graphs.md describes them;
 * MXLITE_GRAPH=-NAME in the environment turns one off by its name, MXLITE_GRAPH=none all. */
#ifndef MXL_SYMBOL_PASSES_PASSES_H
#define MXL_SYMBOL_PASSES_PASSES_H

#include "symbol/symbol.h"

/* "repeats". Common sub-expressions are computed once: of nodes with the same operator, attributes
 * and inputs the first stays. Others are nodes without inputs, those that draw random numbers,
 * write into an input, run a caller's code or a graph, and losses, whose gradients would be lost;
 * and outputs of the graph, each of which keeps a node of its own. MXNET_ELIMINATE_COMMON_EXPR=0
 * leaves all too. */
int mxl_pass_repeats(mxl_symbol *symbol);

/* "fuse". For graphs that predict, which have neither gradients nor training mode: a convolution
 * and what alone reads it become one node: a batch normalisation (its factor goes into the
 * kernels), a sum with an array of the same shape, relu or clip. Results differ from those of the
 * nodes by roundings, shapes and dtypes do not. The node has the name of the last one. */
int mxl_pass_fuse(mxl_symbol *symbol);

typedef enum mxl_pass { MXL_PASS_REPEATS, MXL_PASS_FUSE } mxl_pass;

/* Whether the environment leaves a pass on. */
bool mxl_pass_is_on(mxl_pass pass);
/* -1 with the error set if the environment names no pass. */
int mxl_pass_check(void);

#endif
