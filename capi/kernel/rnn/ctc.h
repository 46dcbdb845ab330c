/* Connectionist temporal classification: the loss of label sequences without positions, and its
 * gradient. For ops/loss/ctc.c. */
#ifndef MXL_KERNEL_RNN_CTC_H
#define MXL_KERNEL_RNN_CTC_H

#include <stdint.h>

/* Where a path is impossible its logarithm is this: finite, so that differences of two are numbers.
 */
#define MXL_CTC_NEVER (-1e30)

enum { MXL_CTC_INFINITE = -1 };

/* The labels of a row between blanks, which a path goes through from left to right: 2 labels + 1
 * classes. It may go from a class to the one behind the next, where skip is 1. */
typedef struct mxl_ctc_path {
    int64_t *classes; /* (batch, width) */
    uint8_t *skip;    /* (batch, width): from position s - 2 to s */
    int64_t width;    /* 2 * the most labels + 1 */
    int64_t *count;   /* (batch): classes of each row; 0: the loss is 0; MXL_CTC_INFINITE: it is
                         infinite, as no path is possible. Neither has a gradient. */
    int64_t *steps;   /* (batch) */
} mxl_ctc_path;

/* loss (batch) = -log of the probability of all paths, and `grad`, its gradient with respect to the
 * logarithms of the probabilities, `logs`; both (steps, batch, classes). grad NULL: unwanted. dtype
 * MXL_F32 or MXL_F64. -1 with the error set: no memory. */
int mxl_ctc(int dtype, int64_t steps, int64_t batch, int64_t classes, const mxl_ctc_path *path,
            const void *logs, void *loss, void *grad);

#endif
