/* softmax, log_softmax and their gradients, from softmax.tmpl.h and softmax_back.tmpl.h; the
 * reduction's loops compute maxima and sums. */
#include "kernel/reduce/softmax.h"

#include <math.h>
#include <stddef.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/half.h"
#include "base/thread.h"
#include "kernel/copy/cast.h"
#include "kernel/math/math.h"
#include "kernel/reduce/reduce_loops.h"
#include "kernel/target.h"

enum {
    GRAIN = 8192, /* elements that are worth another thread; without exponentials twice as many */
    BLOCK = 2048, /* elements of one piece of rows */
    ROWS = 128,   /* most rows in one piece */
    SHORT = 64,   /* rows shorter than this are exponentiated several at a time */
    COLUMNS = 128 /* columns that are computed together */
};

typedef struct softmax_job {
    bool take_log;
    int64_t n, inner;
    double temperature;
    const int64_t *length;
    const void *in, *dy; /* the gradient's `in` is y */
    void *out;
} softmax_job;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t tiles_of(const softmax_job *job)
{
    return (job->inner + COLUMNS - 1) / COLUMNS;
}

/* Neighbouring columns of one outer position: their offset in the array, and in an array without
 * the axis. */
typedef struct softmax_tile {
    int64_t at, column, width;
} softmax_tile;

static softmax_tile tile_at(const softmax_job *job, int64_t unit)
{
    int64_t tiles = tiles_of(job), outer = unit / tiles, skip = unit % tiles * COLUMNS;

    return (softmax_tile){.at = outer * job->n * job->inner + skip,
                          .column = outer * job->inner + skip,
                          .width = least(job->inner - skip, COLUMNS)};
}

/* Runs run[0] over rows, or run[1] over tiles of columns. */
static void job_run(softmax_job *job, int64_t outer, int64_t grain, const mxl_range_fn *run)
{
    int64_t weight = job->n * least(job->inner, COLUMNS);

    if (outer * job->n * job->inner > 0)
        mxl_parallel_for(outer * tiles_of(job), (grain + weight - 1) / weight, run[job->inner != 1],
                         job);
}

#define NAME(x)  f32_##x
#define T        float
#define C        float
#define DTYPE    MXL_F32
#define WIDE     MXL_F32
#define LOAD(v)  (v)
#define STORE(v) (v)
#include "kernel/reduce/softmax_back.tmpl.h"
#include "kernel/reduce/softmax.tmpl.h"

#define NAME(x)  f64_##x
#define T        double
#define C        double
#define DTYPE    MXL_F64
#define WIDE     MXL_F64
#define LOAD(v)  (v)
#define STORE(v) (v)
#include "kernel/reduce/softmax_back.tmpl.h"
#include "kernel/reduce/softmax.tmpl.h"

#define NAME(x)  f16_##x
#define T        mxl_half
#define C        float
#define DTYPE    MXL_F16
#define WIDE     MXL_F32
#define LOAD(v)  mxl_half_to_float(v)
#define STORE(v) mxl_half_from_float(v)
#include "kernel/reduce/softmax.tmpl.h"

/* Over rows, and over tiles of columns. */
static const mxl_range_fn forward[MXL_DTYPE_LOOPS][2] = {
    [MXL_F32] = {f32_rows_chunk, f32_columns_chunk},
    [MXL_F64] = {f64_rows_chunk, f64_columns_chunk},
    [MXL_F16] = {f16_rows_chunk, f16_columns_chunk},
};

int mxl_softmax(bool take_log, int dtype, int64_t outer, int64_t n, int64_t inner,
                double temperature, const int64_t *length, const void *in, void *out)
{
    softmax_job job = {take_log, n, inner, temperature, length, in, NULL, out};

    if (forward[dtype][0] == NULL)
        return mxl_error("dtype %s is not supported, only floating ones are",
                         mxl_dtype_name(dtype));
    job_run(&job, outer, GRAIN, forward[dtype]);
    return 0;
}

void mxl_softmax_take(const void *context, const void *x, void *out, int64_t row, int64_t rows)
{
    const mxl_softmax_rows *r = context;
    char *to = (char *)out + row * r->n * (int64_t)mxl_dtype_size(r->dtype);
    softmax_job job = {r->take_log, r->n, 1, r->temperature, NULL, x, NULL, to};

    forward[r->dtype][0](&job, 0, rows);
}

bool mxl_softmax_back(bool of_log, int dtype, int64_t outer, int64_t n, int64_t inner,
                      double temperature, const void *y, const void *dy, void *dx)
{
    static const mxl_range_fn run[MXL_DTYPE_LOOPS][2] = {
        [MXL_F32] = {f32_back_rows_chunk, f32_back_columns_chunk},
        [MXL_F64] = {f64_back_rows_chunk, f64_back_columns_chunk},
    };
    softmax_job job = {of_log, n, inner, temperature, NULL, y, dy, dx};

    if (run[dtype][0] == NULL)
        return false;
    job_run(&job, outer, 2 * GRAIN, run[dtype]);
    return true;
}
