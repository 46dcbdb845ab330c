/* The loops that reduce.c drives, per dtype. Accumulators are 8 bytes: double for floats, int64 for
 * integers and bool. */
#ifndef MXL_KERNEL_REDUCE_LOOPS_H
#define MXL_KERNEL_REDUCE_LOOPS_H

#include <stdint.h>

#include "kernel/reduce.h"

enum {
    REDUCE_KINDS = MXL_REDUCE_MAX + 1,
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
    void (*start_max)(void *acc, int64_t n);
    void (*finish)(void *out, const void *acc, int64_t n, int64_t count);
    int64_t (*argmax_run)(const void *in, int64_t n);
    void (*argmax_columns)(int64_t *at, const void *in, int64_t n, int64_t rows, int64_t stride);
} mxl_reduce_loops;

const mxl_reduce_loops *mxl_reduce_loops_of(int dtype);

#endif
