/* The loops that reduce.c drives: of float, double, int32 and int64, which the other dtypes are
 * converted to, tile by tile. Accumulators are doubles of the floats, int64 of the integers. */
#ifndef MXL_KERNEL_REDUCE_REDUCE_LOOPS_H
#define MXL_KERNEL_REDUCE_REDUCE_LOOPS_H

#include <stdint.h>

#include "kernel/reduce/reduce.h"

enum {
    REDUCE_KINDS = MXL_REDUCE_SQUARES + 1,
    REDUCE_COLUMNS = 512 /* columns that are accumulated together, at most */
};

/* Joins m elements to each of n accumulators. */
typedef void (*mxl_reduce_loop)(void *acc, const void *in, int64_t n, int64_t m, int64_t stride);

/* The same elements less about[j], all of the loops' dtype, side by side: of m rows of n, or n rows
 * of m. `out` may be `in` where that is so. */
typedef void (*mxl_reduce_less)(void *out, const void *in, const void *about, int64_t n, int64_t m,
                                int64_t stride);

typedef struct mxl_reduce_loops {
    mxl_reduce_loop rows[REDUCE_KINDS];    /* element i for accumulator j: in[j * stride + i] */
    mxl_reduce_loop columns[REDUCE_KINDS]; /* in[i * stride + j]; n <= REDUCE_COLUMNS */
    mxl_reduce_less rows_less, columns_less;
} mxl_reduce_loops;

/* Of MXL_F32, MXL_F64, MXL_I32, MXL_I64. */
const mxl_reduce_loops *mxl_reduce_loops_of(int dtype);

/* The dtype with loops that elements of `dtype` are converted to: of norms of integers float64,
 * squares being beyond every integer soon. */
int mxl_reduce_wide(mxl_reduction kind, int dtype);
/* n elements of `dtype` as elements of `wide`. */
void mxl_reduce_widen(int dtype, int wide, void *out, const void *in, int64_t n);

/* The accumulator of nothing, for loops of that dtype: 8 bytes. */
void mxl_reduce_start(mxl_reduction kind, int dtype, void *acc, int64_t n);

/* n accumulators into elements of `dtype`; `count` elements went into each. */
void mxl_reduce_finish(mxl_reduction kind, int dtype, void *out, const void *acc, int64_t n,
                       int64_t count);

#endif
