/* One step of a recurrent layer besides its products, row by row of the batch. For rnn.c. */
#ifndef MXL_KERNEL_RNN_RNN_CELL_H
#define MXL_KERNEL_RNN_RNN_CELL_H

#include "kernel/rnn/rnn.h"

typedef struct mxl_rnn_step {
    const mxl_rnn *layer;
    int64_t t;
    const void *before, *cell_before; /* states before the step */
    void *kept;                       /* gates: their arguments become their values */
    const void *from_state;           /* gru: h R' + b, (batch, 3 hidden) */
    void *after, *cell_after;         /* states behind it */
    void *wide, *y;

    /* backward */
    const void *dy;    /* NULL: zeros */
    void *dh;          /* in: gradient of the state behind, out: what flows past the product */
    const void *dwide; /* with a projection: gradient of what is projected */
    void *dcell;       /* in: of the cell behind, out: of that before */
    void *dgates;      /* gradient of the gates' arguments, (batch, gates * hidden) */
    void *dstate;      /* gru: the same for from_state */
    void *arrived;     /* with a projection: gradient of the state behind, (batch, out) */
} mxl_rnn_step;

/* Gates, cell and state; with a projection what is projected. */
void mxl_rnn_step_forward(const mxl_rnn_step *step);
/* With a projection, when `after` is computed: y, and the states of rows that have ended. */
void mxl_rnn_step_put(const mxl_rnn_step *step);
/* With a projection, first: `arrived` = dh + dy, and dh = what flows past the step. */
void mxl_rnn_step_arrive(const mxl_rnn_step *step);
/* Gradients of the gates, the cell, and of the state as far as it flows past the product. */
void mxl_rnn_step_backward(const mxl_rnn_step *step);

#endif
