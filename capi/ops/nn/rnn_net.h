/* Recurrent networks: what the files rnn*.c share. */
#ifndef MXL_OPS_NN_RNN_NET_H
#define MXL_OPS_NN_RNN_NET_H

#include "kernel/rnn/rnn.h"
#include "ops/build.h"

typedef struct mxl_rnn_params {
    int64_t state_size;
    int64_t num_layers;
    int bidirectional;
    int mode; /* an mxl_rnn_mode */
    double p;
    int state_outputs;
    int64_t projection_size; /* MXL_NONE: no projection */
    double lstm_state_clip_min, lstm_state_clip_max;
    int lstm_state_clip_nan;
    int use_sequence_length;
    /* _mxl_rnn: */
    int keeps; /* whether it returns what its backward reads */
    int drops; /* whether the last input is the dropout's factors */
} mxl_rnn_params;

/* A network: its sizes, and where each array is among the inputs (-1: nowhere). */
typedef struct mxl_rnn_net {
    mxl_rnn_mode mode;
    bool lstm, projects;
    int64_t layers, directions, steps, batch, in, hidden, out; /* out: size of a state */
    int cell_input, length_input, mask_input, inputs;
} mxl_rnn_net;

/* From the parameters and the shape of data, which has three axes. */
mxl_rnn_net mxl_rnn_net_of(const mxl_rnn_params *p, const int64_t *data);

/* Sizes of the input and the output of a layer. */
static inline int64_t mxl_rnn_layer_in(const mxl_rnn_net *net, int64_t layer)
{
    return layer == 0 ? net->in : net->directions * net->out;
}

/* The weights of a direction of a layer as positions in `parameters`: all weights of all layers
 * come first, then all biases. -1: there is none. And the number of all. */
typedef struct mxl_rnn_packed {
    int64_t x, h, project, x_bias, h_bias;
} mxl_rnn_packed;

mxl_rnn_packed mxl_rnn_find(const mxl_rnn_net *net, int64_t layer, int64_t direction);
int64_t mxl_rnn_parameters(const mxl_rnn_net *net);

/* _mxl_rnn: every step of every layer in one call, and its first-order backward. */
int mxl_rnn_compute(const mxl_call *call);
int mxl_rnn_grad_kernel(mxl_grad *g);
/* The number of elements that the backward reads (an output of _mxl_rnn). */
int64_t mxl_rnn_kept_size(const mxl_rnn_net *net);

/* _mxl_rnn composed of other operators, for gradients of higher order. */
mxl_array *mxl_rnn_parts(mxl_scope *s, const mxl_call *call);

#endif
