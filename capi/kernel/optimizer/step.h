/* Steps of optimizers: a weight, its gradient and the optimizer's state are read once, and the
 * state and the new weight are written. For ops/optimizer. */
#ifndef MXL_KERNEL_OPTIMIZER_STEP_H
#define MXL_KERNEL_OPTIMIZER_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/dtype.h"

/* Numbers of a step that all weights of a call share; a rule reads some of them. They are float32
 * as in 1.9.1, whatever dtype the arrays have, but for the epsilon of ftml, which is float64. */
typedef struct mxl_step_numbers {
    double lr, wd, eta; /* of a call with one weight; the loops read those of mxl_step */
    double rescale_grad, clip_gradient, clip_weights; /* a negative limit: none */
    double momentum, wd_lh;
    double beta1, beta2, gamma1, gamma2;
    double epsilon;
    double lamda1, beta;
    double lower_bound, upper_bound; /* of lamb's norm; negative: none */
} mxl_step_numbers;

/* One weight. All arrays are contiguous and have `size` elements. `out` may be `weight`, as each
 * element is read before it is written. */
typedef struct mxl_step {
    const void *weight, *grad;
    void *state[3];
    float *master; /* the float32 copy of a weight of another dtype, which the loops of `mixed` read
                      in place of the weight and update */
    void *out;
    int64_t size;
    float lr, wd, eta;
    float rescale;       /* of adamw, in place of rescale_grad */
    double bias1, bias2; /* corrections of lamb and ftml: 1 - beta1^t, 1 - beta2^t; or 1 */
} mxl_step;

typedef void (*mxl_step_fn)(const mxl_step *step, const mxl_step_numbers *numbers, int64_t begin,
                            int64_t end);

/* The loops of a rule for each dtype of the weight. `same`: all arrays have that dtype. `mixed`:
 * the state and the copy of the weight are float32. NULL: there is none. */
typedef struct mxl_step_rule {
    mxl_step_fn same[MXL_DTYPE_LOOPS], mixed[MXL_DTYPE_LOOPS];
} mxl_step_rule;

/* Runs a loop over all weights. `first` has room for count + 1 entries. */
void mxl_steps_run(mxl_step_fn loop, int count, const mxl_step *steps,
                   const mxl_step_numbers *numbers, int64_t *first);

/* sgd.c. The gradient is rescaled and clipped, then the weight decays. */
extern const mxl_step_rule mxl_step_sgd, mxl_step_momentum, mxl_step_nag, mxl_step_signsgd,
    mxl_step_signum;
/* adam.c. adamw takes its rescaling from the step. */
extern const mxl_step_rule mxl_step_adam, mxl_step_adamw, mxl_step_ftml;
/* adaptive.c */
extern const mxl_step_rule mxl_step_ftrl, mxl_step_rmsprop, mxl_step_rmspropalex, mxl_step_adagrad;
/* lamb.c. The first one writes the direction in place of a new weight: in the dtype of the state,
 * and `mixed` does not update the copy of the weight. The second one reads that as the gradient,
 * and its lr is scaled already. */
extern const mxl_step_rule mxl_step_lamb_direction, mxl_step_lamb;

/* The first part of lamb over several weights. Writes directions, and the sums of the squares of
 * each weight i (as in 1.9.1 not of its copy) and of its direction to sums[2 i] and sums[2 i + 1].
 * `first` has room for count + 1 entries, `blocks` for 2 mxl_square_blocks (squares.h). The bits of
 * the sums do not depend on the number of threads. */
void mxl_lamb_directions(int dtype, bool mixed, int count, const mxl_step *steps,
                         const mxl_step_numbers *numbers, int64_t *first, double *blocks,
                         double *sums);

/* One weight of group adagrad: its rows of `columns` elements share one number of the history. */
void mxl_step_rows(int dtype, const mxl_step *step, const mxl_step_numbers *numbers, int64_t rows,
                   int64_t columns);
/* The same on the calling thread. */
void mxl_step_rows_here(int dtype, const mxl_step *step, const mxl_step_numbers *numbers,
                        int64_t rows, int64_t columns);

#endif
