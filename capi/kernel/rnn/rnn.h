/* Recurrent layers over all steps, forward and backward, in float32 and float64. For
 * ops/nn/rnn_fused.c. One direction of one layer at a time: the inputs of all steps are multiplied
 * in one product, the state in one product per step, and the gates are one pass over a step. */
#ifndef MXL_KERNEL_RNN_RNN_H
#define MXL_KERNEL_RNN_RNN_H

#include <stdbool.h>
#include <stdint.h>

typedef enum mxl_rnn_mode { MXL_RNN_GRU, MXL_RNN_LSTM, MXL_RNN_RELU, MXL_RNN_TANH } mxl_rnn_mode;

/* How many gates have weights, and how many values of a unit and step the backward reads: lstm has
 * i f g o; gru r z n, and the state's share of n before r multiplies it. */
static inline int64_t mxl_rnn_gates(mxl_rnn_mode mode)
{
    return mode == MXL_RNN_LSTM ? 4 : mode == MXL_RNN_GRU ? 3 : 1;
}

static inline int64_t mxl_rnn_kept(mxl_rnn_mode mode)
{
    return mode == MXL_RNN_GRU ? 4 : mxl_rnn_gates(mode);
}

/* The weights of one direction, matrices by rows; or their gradients. */
typedef struct mxl_rnn_weights {
    void *x;       /* (gates * hidden, in) */
    void *h;       /* (gates * hidden, out) */
    void *project; /* (out, hidden), or NULL */
    void *x_bias, *h_bias;
} mxl_rnn_weights;

/* One direction of a layer. States are kept with one step more than there are inputs: the state
 * before step t and the one behind it are neighbours, in either direction. */
typedef struct mxl_rnn {
    mxl_rnn_mode mode;
    int dtype; /* MXL_F32 or MXL_F64 */
    int64_t steps, batch, in, hidden;
    int64_t out;            /* size of the state: hidden, or that of its projection */
    bool reverse;           /* from the last step to the first */
    const int64_t *lengths; /* steps of each row of the batch, in [0, steps]; NULL: all */
    bool clips, clips_nan;  /* cells of lstm are clamped; NaN too, to the smallest */
    double clip_min, clip_max;

    mxl_rnn_weights weights; /* read only */
    const void *x;           /* (steps, batch, in) */
    void *y;                 /* (steps, batch, y_row): the states, zeros behind the lengths */
    int64_t y_row;
    void *kept; /* (steps, batch, kept * hidden): gates after their functions */
    void *h;    /* (steps + 1, batch, out), the first state of the run is set */
    void *cell; /* lstm: (steps + 1, batch, hidden), likewise; else NULL */
    void *wide; /* with a projection: (steps, batch, hidden), what is projected; else NULL */
} mxl_rnn;

/* Gradients of one direction. */
typedef struct mxl_rnn_back {
    const void *dy; /* (steps, batch, y_row of the layer), or NULL: zeros */
    void *dx;       /* (steps, batch, in): added to with add_dx, else written; NULL: unwanted */
    bool add_dx;
    mxl_rnn_weights dw; /* written; x NULL: unwanted */
    void *dh, *dcell;   /* (batch, out) and (batch, hidden): of the last state of the run when it
                           begins, of the first one when it ends */
} mxl_rnn_back;

/* The state that the run begins with, and the one that it ends with: elements before h (of a row of
 * `size`) or cell. */
static inline int64_t mxl_rnn_first(const mxl_rnn *r, int64_t size)
{
    return r->reverse ? r->steps * r->batch * size : 0;
}

static inline int64_t mxl_rnn_last(const mxl_rnn *r, int64_t size)
{
    return r->reverse ? 0 : r->steps * r->batch * size;
}

/* Fills y, kept, h, cell and wide. -1 with the error set: no memory; they are undefined then. The
 * bits do not depend on the number of threads. */
int mxl_rnn_forward(const mxl_rnn *r);

/* From what the forward left; -1 with the error set: no memory. */
int mxl_rnn_backward(const mxl_rnn *r, const mxl_rnn_back *back);

#endif
