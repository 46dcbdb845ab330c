/* Marked self-exciting point processes with exponential decay: likelihood and its derivatives. For
 * ops/nn/hawkes.c. */
#ifndef MXL_KERNEL_RNN_HAWKES_H
#define MXL_KERNEL_RNN_HAWKES_H

#include <stdint.h>

/* What is kept for the backward, each of (batch, kinds): derivatives of the likelihood with respect
 * to mu, alpha, beta and the state, and of the last state with respect to beta and the state. */
enum { MXL_HAWKES_KEPT = 6 };

typedef struct mxl_hawkes {
    int dtype; /* MXL_F32 or MXL_F64 */
    int64_t batch, steps, kinds;
    const void *mu, *alpha, *beta; /* (batch, kinds), (kinds), (kinds) */
    const void *state;             /* (batch, kinds) */
    const void *lags;              /* (batch, steps): from one event to the next */
    const int32_t *marks;          /* (batch, steps): the kind of each event */
    const int64_t *lengths;        /* (batch): events of each row */
    const void *until;             /* (batch): where the observation ends */
    void *likelihood, *last;       /* (batch), (batch, kinds) */
    void *kept;                    /* MXL_HAWKES_KEPT arrays */
    void *room;                    /* (batch, kinds): when the last event of each kind was */
} mxl_hawkes;

/* Marks and lengths must be in range. */
void mxl_hawkes_run(const mxl_hawkes *job);

#endif
