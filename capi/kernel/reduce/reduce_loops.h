/* The loops that reduce.c runs: for float, double, int32 and int64; other dtypes are converted to
 * these, tile by tile. Accumulators are doubles for floats, int64 for integers. */
#ifndef MXL_KERNEL_REDUCE_REDUCE_LOOPS_H
#define MXL_KERNEL_REDUCE_REDUCE_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/reduce/reduce.h"

enum {
    REDUCE_KINDS = MXL_REDUCE_SQUARES + 1,
    REDUCE_COLUMNS = 512 /* most columns that are accumulated together */
};

/* Accumulates m elements into each of n accumulators. */
typedef void (*mxl_reduce_loop)(void *acc, const void *in, int64_t n, int64_t m, int64_t stride);

/* The same elements minus about[j], all of the loops' dtype and contiguous: m rows of n, or n rows
 * of m. `out` may be `in` if that is contiguous. */
typedef void (*mxl_reduce_less)(void *out, const void *in, const void *about, int64_t n, int64_t m,
                                int64_t stride);

/* What a loop keeps while the elements of one output come in parts. */
typedef struct mxl_reduce_lanes {
    char lane[128];
    char seen[128];
    bool used;    /* false before the first part */
    int64_t left; /* how many elements follow, for the caller */
} mxl_reduce_lanes;

/* Accumulates the next n elements of one output, with the same bits as a loop over all of them.
 * `acc` is NULL until the last part. Other parts are whole MXL_REDUCE_STEPs; in all there are at
 * least as many elements as fill a vector of 64 bytes. */
typedef void (*mxl_reduce_part)(mxl_reduce_lanes *lanes, void *acc, const void *in, int64_t n);

enum { MXL_REDUCE_STEP = 64, MXL_REDUCE_GROUP = 4 };

typedef struct mxl_reduce_loops {
    mxl_reduce_loop rows[REDUCE_KINDS];    /* element i for accumulator j: in[j * stride + i] */
    mxl_reduce_loop columns[REDUCE_KINDS]; /* in[i * stride + j]; n <= REDUCE_COLUMNS */
    mxl_reduce_less rows_less, columns_less;
    /* Of float32 and float64; NULL: not of this kind. */
    mxl_reduce_part part[REDUCE_KINDS];
    /* Adds the next MXL_REDUCE_GROUP rows (the last: m) of n elements to n sums, which begin with 0
     * as the rounding errors `lost` do; and combines both at the end. The bits are those of
     * `columns`. */
    void (*group)(void *sums, void *lost, const void *in, int64_t n, int64_t m);
    void (*groups_end)(void *acc, const void *sums, const void *lost, int64_t n);
} mxl_reduce_loops;

/* For MXL_F32, MXL_F64, MXL_I32, MXL_I64. */
const mxl_reduce_loops *mxl_reduce_loops_of(int dtype);

/* The dtype with loops that elements of `dtype` are converted to. For norms of integers it is
 * float64, since squares soon exceed every integer dtype. */
int mxl_reduce_wide(mxl_reduction kind, int dtype);
/* Converts n elements of `dtype` to `wide`. */
void mxl_reduce_widen(int dtype, int wide, void *out, const void *in, int64_t n);

/* Initialises n accumulators, of 8 bytes, for loops of that dtype. */
void mxl_reduce_start(mxl_reduction kind, int dtype, void *acc, int64_t n);

/* Converts n accumulators to elements of `dtype`; each has `count` elements. */
void mxl_reduce_finish(mxl_reduction kind, int dtype, void *out, const void *acc, int64_t n,
                       int64_t count);

#endif
