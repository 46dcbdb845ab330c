/* The gradients of softmax and log_softmax in one go over y and dy, from softmax_back.tmpl.h. */
#include "kernel/softmax.h"

#include <stddef.h>

#include "base/dtype.h"
#include "base/thread.h"
#include "kernel/math.h"
#include "kernel/reduce_loops.h"
#include "kernel/target.h"

enum {
    GRAIN = 16384, /* elements that are worth another thread */
    BLOCK = 2048,  /* products that are summed together */
    ROWS = 128,    /* rows of them, at most */
    COLUMNS = 128  /* columns that are worked on together */
};

typedef struct back_job {
    bool of_log;
    int64_t n, inner;
    int64_t tiles; /* of the columns of one outer position */
    double temperature;
    const void *y, *dy;
    void *dx;
} back_job;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#define NAME(x) f32_##x
#define C       float
#define DTYPE   MXL_F32
#include "kernel/softmax_back.tmpl.h"

#define NAME(x) f64_##x
#define C       double
#define DTYPE   MXL_F64
#include "kernel/softmax_back.tmpl.h"

bool mxl_softmax_back(bool of_log, int dtype, int64_t outer, int64_t n, int64_t inner,
                      double temperature, const void *y, const void *dy, void *dx)
{
    int64_t tiles = (inner + COLUMNS - 1) / COLUMNS, weight = n * least(inner, COLUMNS);
    back_job job = {of_log, n, inner, tiles, temperature, y, dy, dx};
    mxl_range_fn rows = dtype == MXL_F32 ? f32_rows_share : f64_rows_share;
    mxl_range_fn columns = dtype == MXL_F32 ? f32_columns_share : f64_columns_share;

    if (dtype != MXL_F32 && dtype != MXL_F64)
        return false;
    if (outer * n * inner > 0)
        mxl_parallel_for(outer * tiles, (GRAIN + weight - 1) / weight, inner == 1 ? rows : columns,
                         &job);
    return true;
}
