/* Steps with a gradient that has some rows of the weight. */
#ifndef MXL_KERNEL_OPTIMIZER_SPARSE_ROWS_H
#define MXL_KERNEL_OPTIMIZER_SPARSE_ROWS_H

#include "kernel/optimizer/step.h"

/* The gradient is that of `count` rows, whose numbers are `rows`; the weight, what comes of it and
 * the state have all rows, one after another. */
typedef struct mxl_sparse_step {
    const mxl_step *step;
    const mxl_step_numbers *numbers;
    mxl_step_fn loop; /* NULL: that of group adagrad, whose state has one number for each row */
    int dtype;
    int num_states;
    int64_t columns; /* of a row */
    int64_t count;
    const int64_t *rows;
} mxl_sparse_step;

/* Whether the numbers ascend, without repetition. */
bool mxl_sparse_step_ascends(const mxl_sparse_step *sparse);

/* Updates the rows of the gradient; one that is named twice, twice, in the order of the list. */
void mxl_sparse_step_rows(const mxl_sparse_step *sparse);

/* Updates all of `all` rows: the gradient of the others is 0. The numbers ascend. -1 with the error
 * set: out of memory. */
int mxl_sparse_step_all(const mxl_sparse_step *sparse, int64_t all);

#endif
