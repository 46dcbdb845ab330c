/* The loops that reduce.c drives, per dtype. Accumulators are 8 bytes: double for floats, int64 for
 * integers and bool. */
#ifndef MXL_KERNEL_REDUCE_LOOPS_H
#define MXL_KERNEL_REDUCE_LOOPS_H

#include <stdint.h>

#include "kernel/reduce.h"

enum {
    REDUCE_KINDS = MXL_REDUCE_NORM2 + 1,
    REDUCE_LANES = 16,
    MAX_LANES = 64,
    REDUCE_COLUMNS = 512 /* columns that are accumulated together */
};

typedef struct mxl_reduce_loops {
    /* n > 0 elements into one accumulator */
    void (*run[REDUCE_KINDS])(void *acc, const void *in, int64_t n);
    /* rows of n columns, rows `stride` elements apart, into n accumulators */
    void (*columns[REDUCE_KINDS])(void *acc, const void *in, int64_t n, int64_t rows,
                                  int64_t stride);
    /* n accumulators of nothing; NULL: zeros */
    void (*start[REDUCE_KINDS])(void *acc, int64_t n);
    void (*finish)(mxl_reduction kind, void *out, const void *acc, int64_t n, int64_t count);
    /* [0] of the largest, [1] of the smallest */
    int64_t (*arg_run[2])(const void *in, int64_t n);
    void (*arg_columns[2])(int64_t *at, const void *in, int64_t n, int64_t rows, int64_t stride);
} mxl_reduce_loops;

const mxl_reduce_loops *mxl_reduce_loops_of(int dtype);

#endif
