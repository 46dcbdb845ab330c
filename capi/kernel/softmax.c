/* softmax and log_softmax, from softmax.tmpl.h: the reduction's loops find the maxima and add. */
#include "kernel/softmax.h"

#include <math.h>
#include <stddef.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/half.h"
#include "base/thread.h"
#include "kernel/cast.h"
#include "kernel/math.h"
#include "kernel/reduce_loops.h"
#include "kernel/target.h"

enum {
    GRAIN = 8192, /* elements that are worth another thread */
    BLOCK = 2048, /* elements of one piece of rows */
    ROWS = 128,   /* rows in one piece, at most */
    SHORT = 64,   /* rows so short that exponentials are taken over several of them */
    COLUMNS = 128 /* columns that are worked on together */
};

typedef struct softmax_job {
    bool take_log;
    int64_t n, inner;
    int64_t tiles; /* of the columns of one outer position */
    double temperature;
    const int64_t *length;
    const void *in;
    void *out;
} softmax_job;

#define NAME(x)  f32_##x
#define T        float
#define C        float
#define DTYPE    MXL_F32
#define WIDE     MXL_F32
#define LOAD(v)  (v)
#define STORE(v) (v)
#include "kernel/softmax.tmpl.h"

#define NAME(x)  f64_##x
#define T        double
#define C        double
#define DTYPE    MXL_F64
#define WIDE     MXL_F64
#define LOAD(v)  (v)
#define STORE(v) (v)
#include "kernel/softmax.tmpl.h"

#define NAME(x)  f16_##x
#define T        mxl_half
#define C        float
#define DTYPE    MXL_F16
#define WIDE     MXL_F32
#define LOAD(v)  mxl_half_to_float(v)
#define STORE(v) mxl_half_from_float(v)
#include "kernel/softmax.tmpl.h"

int mxl_softmax(bool take_log, int dtype, int64_t outer, int64_t n, int64_t inner,
                double temperature, const int64_t *length, const void *in, void *out)
{
    static const mxl_range_fn run[MXL_DTYPE_COUNT][2] = {
        [MXL_F32] = {f32_rows_share, f32_columns_share},
        [MXL_F64] = {f64_rows_share, f64_columns_share},
        [MXL_F16] = {f16_rows_share, f16_columns_share},
    };
    int64_t tiles = (inner + COLUMNS - 1) / COLUMNS;
    int64_t weight = n * (inner < COLUMNS ? inner : COLUMNS);
    softmax_job job = {take_log, n, inner, tiles, temperature, length, in, out};

    if (run[dtype][0] == NULL)
        return mxl_error("dtype %s is not supported, only floating ones are",
                         mxl_dtype_name(dtype));
    if (outer * n * inner > 0)
        mxl_parallel_for(outer * tiles, (GRAIN + weight - 1) / weight, run[dtype][inner != 1],
                         &job);
    return 0;
}
