/* Passes: each changes a graph in place to one that computes the same in fewer steps. The symbol's
 * nodes are its own (mxl_symbol_copy). They return 1 if something has changed, 0 if not, and -1
 * with the error set; then the symbol is of no more use. docs/graphs.md describes them;
 * MXLITE_GRAPH=-NAME in the environment turns one off by its name, MXLITE_GRAPH=none all. */
#ifndef MXL_SYMBOL_PASSES_PASSES_H
#define MXL_SYMBOL_PASSES_PASSES_H

#include "base/map.h"
#include "symbol/symbol.h"

/* "repeats". Common sub-expressions are computed once: of nodes with the same operator, attributes
 * and inputs the first stays. Others are nodes without inputs, those that draw random numbers,
 * write into an input, run a caller's code or a graph, and losses, whose gradients would be lost;
 * and outputs of the graph, each of which keeps a node of its own. MXNET_ELIMINATE_COMMON_EXPR=0
 * leaves all too. */
int mxl_pass_repeats(mxl_symbol *symbol);

/* "constants". What depends on no variable is taken out: variables stand for it, which `numbers`
 * gets with -1, -2 ..., the values of the outputs 0, 1 ... of *constants, a new symbol (NULL: there
 * are none). Random numbers, the user's code and arrays whose shape the graph completes stay, and
 * so do outputs of the graph. */
int mxl_pass_constants(mxl_symbol *symbol, mxl_symbol **constants, mxl_map *numbers);

/* "swap". For graphs that predict: average pooling of whole windows goes before a convolution of
 * 1 x 1 that it alone reads, which then has fewer positions. */
int mxl_pass_swap(mxl_symbol *symbol);

/* "fuse". For graphs that predict, which have neither gradients nor training mode: a convolution
 * and what alone reads it become one node: a batch normalisation (its factor goes into the
 * kernels), a sum with an array of the same shape, relu or clip. A batch normalisation that is not
 * behind one takes a relu. Results differ from those of the
 * nodes by roundings, shapes and dtypes do not. The node has the name of the last one. */
int mxl_pass_fuse(mxl_symbol *symbol);

/* "dense". For graphs that predict: a dense layer and what alone reads it become one node: a batch
 * normalisation of its last axis, a sum with an array of the same shape, and a function of each
 * element. Its weight is packed once. */
int mxl_pass_dense(mxl_symbol *symbol);

/* "attention". For graphs that predict: softmax of products of queries and keys, scaled, with a
 * mask that is added, times values, becomes one node without a matrix of scores. */
int mxl_pass_attention(mxl_symbol *symbol);

/* "layers". For graphs that predict: layer normalisation and gelu (by erf or by tanh) from
 * element-wise operators and means become one node each. */
int mxl_pass_layers(mxl_symbol *symbol);

/* What mxl_pass_quantize is asked for. */
typedef struct mxl_quantizing {
    const char *dtype; /* of bytes: "int8", "uint8" or "auto" */
    bool smart;        /* only layers, and what is between them */
    int num_nodes, num_ops, num_params;
    const char *const *nodes, *const *ops; /* names of nodes and of operators that stay */
    const char *const *params; /* variables that callers quantize: they become three, with the bytes
                                * (NAME_quantize) and their limits (_min, _max) */
} mxl_quantizing;

/* Makes layers, and what has a form for bytes, quantized, in place, as MXQuantizeSymbol of 1.9.1
 * does, names included: nodes quantized_NAME, with requantize_NAME where the result is int32,
 * X_quantize and X_dequantize at the borders. Not among the passes of executors. `calibrated` gets
 * the names of the arrays whose limits calibration can tell, each with its final zero, one behind
 * the other. */
int mxl_pass_quantize(mxl_symbol *symbol, const mxl_quantizing *asked, mxl_str *calibrated);

/* Gives the nodes of a quantized graph the limits of arrays: low[i] and high[i] of the one that
 * names[i] calls as mxl_pass_quantize does. Others are ignored. */
int mxl_pass_calibrate(mxl_symbol *symbol, int count, const char *const *names, const float *low,
                       const float *high);

/* What mxl_pass_reduce is asked for: names of operators that compute in 16 bits, in float32, in
 * float32 where a parameter has a value, and in the widest dtype of their inputs; of nodes that
 * compute in float32 whatever their operator is; and of variables that are parameters. */
typedef struct mxl_reducing {
    int dtype;        /* float16 or bfloat16 */
    bool cast_params; /* parameters of nodes in 16 bits are given in 16 bits */
    int num_low, num_single, num_widest, num_conditional, num_excluded, num_params;
    const char *const *low_ops, *const *single_ops, *const *widest_ops, *const *excluded,
                                                                            *const *params;
    const char *const *conditional_ops, *const *conditional_params, *const *conditional_values;
} mxl_reducing;

/* Puts amp_cast and amp_multicast before the inputs of nodes, in place, as MXReducePrecisionSymbol
 * of 1.9.1 does, names included. Outputs of the graph are in float32. Parameters get the attribute
 * __dtype__. Not among the passes of executors. */
int mxl_pass_reduce(mxl_symbol *symbol, const mxl_reducing *asked);

/* "quantized". For graphs that predict: a quantized convolution with requantization, relu and a sum
 * becomes one node, and so does dequantization with limits of numbers and quantization; with the
 * same bytes. */
int mxl_pass_join_quantized(mxl_symbol *symbol);
/* The end of it: where such nodes and others that can read each other's results, these have the
 * channels as the last axis in memory. Their shapes stay. */
int mxl_pass_order_quantized(mxl_symbol *symbol);

/* "join". For graphs that are trained, with the same bits: a batch normalisation and the relu
 * that alone reads it become one node, and so do their derivatives. */
int mxl_pass_join(mxl_symbol *symbol);

/* "tiles". For graphs that are trained with other roundings: convolutions, and their derivatives,
 * by tiles of 6 x 6 where these cost less (_mxl_fast_convolution). */
int mxl_pass_tiles(mxl_symbol *symbol);

/* Gives a node its inputs, which the entries keep, and parses it; -1 with the error set. */
int mxl_pass_set_inputs(mxl_graph_node *node, const mxl_entry *inputs, int count);

/* Whether a node puts its input between limits: relu, clip. */
bool mxl_pass_is_limit(const mxl_graph_node *node, double *low, double *high);

/* Appends what 1.9.1's passes call an entry: its name, or a number behind that of a node whose
 * operator does not name its outputs. */
void mxl_pass_entry_name(const mxl_entry *entry, mxl_str *out);

/* Whether a name is among these. */
bool mxl_pass_is_listed(int count, const char *const *list, const char *name);

typedef enum mxl_which_pass {
    MXL_PASS_REPEATS,
    MXL_PASS_CONSTANTS,
    MXL_PASS_LAYERS,
    MXL_PASS_SWAP,
    MXL_PASS_FUSE,
    MXL_PASS_DENSE,
    MXL_PASS_ATTENTION,
    MXL_PASS_QUANTIZED,
    MXL_PASS_JOIN,
    MXL_PASS_TILES
} mxl_which_pass;

/* Whether the environment leaves a pass on. */
bool mxl_pass_is_on(mxl_which_pass pass);
/* -1 with the error set if the environment names no pass. */
int mxl_pass_check(void);

#endif
