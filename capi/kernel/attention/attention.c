/* Attention by tiles, of float32 and float64 by attention.tmpl.h. */
#include "kernel/attention/attention.h"

#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/gemm/gemm.h"
#include "kernel/math/math.h"
#include "kernel/target.h"

/* A tile's scores stay in the second cache, those of the backward and their gradients too. */
enum { ROWS = 144, COLUMNS = 256, BACK_COLUMNS = 256, LANES = 16 };

/* What an item of the backward gives: all gradients of a product, dq of some rows, or dk and dv of
 * some columns. */
enum { OF_ALL, OF_QUERIES, OF_KEYS };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t pieces(int64_t n, int64_t size)
{
    return (n + size - 1) / size;
}

/* One call: what is given, what is written. Backward: `q` of the call is scaled, `delta` has of
 * each query the sum of dy y. */
typedef struct attention_job {
    const mxl_attention *a;
    const void *y, *lse, *dy;
    void *out, *out_lse, *dq, *dk, *dv, *scaled, *delta;
    atomic_bool failed;
} attention_job;

/* The tile of the scores of product c: rows [row, row + rows), columns [column, column + n). Its
 * rows are `stride` apart, whole LANES. */
typedef struct tile {
    int64_t c, row, rows, column, n, stride;
} tile;

static int64_t stride_of(int64_t n)
{
    return pieces(n, LANES) * LANES;
}

static bool tile_is_empty(const mxl_attention *a, const tile *t)
{
    return a->causal && t->column > t->row + t->rows - 1;
}

/* e^x of x in [-87, 88], and of NaN: mxl_exp_f32 without what numbers beyond need. */
MXL_INLINE float f32_exp_of(int level, float x)
{
    const float shift = MXL_ROUND_F32 + 127;
    float t = mxl_fma(level, x, 1.44269504f, shift);
    float p = mxl_exp_rest_f32(level, mxl_exp_reduce_f32(level, x, t - shift));
    float power = mxl_float_of_bits(mxl_float_bits(t) << 23);

    return mxl_fma(level, p, power, power);
}

MXL_INLINE double f64_exp_of(int level, double x)
{
    return mxl_loop_exp(x);
}

#define NAME(x) f32_##x
#define T       float
#define DTYPE   MXL_F32
#define LEAST   -87.0f /* e^LEAST is no denormal number yet */
#include "kernel/attention/attention.tmpl.h"

#define NAME(x) f64_##x
#define T       double
#define DTYPE   MXL_F64
#define LEAST   -708.0
#include "kernel/attention/attention.tmpl.h"

static int finish(attention_job *job)
{
    return atomic_load(&job->failed) ? mxl_error("out of memory: room for a tile of attention") : 0;
}

int mxl_attend(const mxl_attention *a, void *y, void *lse)
{
    attention_job job = {.a = a, .out = y, .out_lse = lse};

    mxl_parallel_for(a->count * pieces(a->queries, ROWS), 1,
                     a->dtype == MXL_F32 ? f32_forward : f64_forward, &job);
    return finish(&job);
}

int mxl_attend_back(const mxl_attention *a, const void *y, const void *lse, const void *dy,
                    void *dq, void *dk, void *dv)
{
    bool single = a->dtype == MXL_F32;
    size_t rows = (size_t)(a->count * a->queries), bytes = mxl_dtype_size(a->dtype);
    size_t room = rows * (size_t)(a->size + 1) * bytes;
    attention_job job = {.a = a, .y = y, .lse = lse, .dy = dy, .dq = dq, .dk = dk, .dv = dv};
    int64_t q_tiles = a->count * pieces(a->queries, ROWS);
    int64_t k_tiles = a->count * pieces(a->keys, BACK_COLUMNS);

    if (rows == 0 || k_tiles == 0) {
        size_t k_rows = (size_t)(a->count * a->keys);

        if (dq != NULL)
            memset(dq, 0, rows * (size_t)a->size * bytes);
        if (dk != NULL)
            memset(dk, 0, k_rows * (size_t)a->size * bytes);
        if (dv != NULL)
            memset(dv, 0, k_rows * (size_t)a->width * bytes);
        return 0;
    }
    job.scaled = mxl_alloc(room);
    if (job.scaled == NULL)
        return -1;
    job.delta = (char *)job.scaled + rows * (size_t)a->size * bytes;
    mxl_parallel_for(pieces((int64_t)rows, ROWS), 1, single ? f32_prepare : f64_prepare, &job);
    /* With as many products as threads each tile is computed once; else by those that write dq, and
     * by those that write dk and dv, in the same order. */
    if (a->count >= mxl_thread_count()) {
        mxl_parallel_for(a->count, 1, single ? f32_back : f64_back, &job);
    } else {
        if (dq != NULL)
            mxl_parallel_for(q_tiles, 1, single ? f32_back_queries : f64_back_queries, &job);
        if (dk != NULL || dv != NULL)
            mxl_parallel_for(k_tiles, 1, single ? f32_back_keys : f64_back_keys, &job);
    }
    mxl_free(job.scaled, room);
    return finish(&job);
}
