/* Operators of 1.9.1 that mxlite lacks. They are listed, because front ends look names up when they
 * are imported (Apache's Python package has stubs that return nothing where a name is missing), and
 * every use is an error that gives the reason. */
#include "op/op.h"

#define QUANTIZED "recurrent layers of bytes are not in mxlite"
#define SUBGRAPH  "subgraphs of MKL-DNN are not in mxlite"
#define CUDA      "1.9.1 has it on GPUs alone, which mxlite does not use"
#define BACKWARD  "backward rules are no operators in mxlite"
#define INTERNAL  "it is a node of MXNet's graphs, and no function"
#define IMAGES    "MXFuncInvokeEx calls it; a parameter cannot have the bytes of an image"

/* clang-format off */
#define REFUSED(X) \
    X(_contrib_quantize_asym, QUANTIZED) \
    X(_contrib_quantized_rnn, QUANTIZED) \
    X(_sg_mkldnn_conv, SUBGRAPH) \
    X(_sg_mkldnn_fully_connected, SUBGRAPH) \
    X(_sg_mkldnn_selfatt_qk, SUBGRAPH) \
    X(_sg_mkldnn_selfatt_valatt, SUBGRAPH) \
    X(_contrib_count_sketch, CUDA) \
    X(_broadcast_backward, BACKWARD) \
    X(_contrib_backward_gradientmultiplier, BACKWARD) \
    X(_contrib_backward_hawkesll, BACKWARD) \
    X(_contrib_backward_index_copy, BACKWARD) \
    X(_contrib_backward_quadratic, BACKWARD) \
    X(_npi_backward_ediff1d, BACKWARD) \
    X(_npi_backward_nan_to_num, BACKWARD) \
    X(_npi_backward_polyval, BACKWARD) \
    X(_npi_hsplit_backward, BACKWARD) \
    X(_split_v2_backward, BACKWARD) \
    X(_CachedOp, INTERNAL) \
    X(_CachedOpThreadSafe, INTERNAL) \
    X(_CrossDeviceCopy, INTERNAL) \
    X(_CustomFunction, INTERNAL) \
    X(_NDArray, INTERNAL) \
    X(_Native, INTERNAL) \
    X(_NoGradient, INTERNAL) \
    X(_imdecode, IMAGES)
/* clang-format on */

#define NUMBER(op, why) NUMBER_##op,
#define ROW(op, why)                                                                               \
    {.name = #op,                                                                                  \
     .doc = "Raises an error: " why ".",                                                           \
     MXL_INPUTS(MXL_INPUT(data, "Any arrays.")),                                                   \
     .key_var_num_args = "num_args",                                                               \
     .arity = mxl_arity_given,                                                                     \
     .refused = why},
#define LISTED(op, why) &refused[NUMBER_##op],

enum { REFUSED(NUMBER) };

static const mxl_op refused[] = {REFUSED(ROW)};

const mxl_op *const mxl_ops_refused[] = {REFUSED(LISTED) NULL};
