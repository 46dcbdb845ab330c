/* Cumulative sums and products, and linear recurrences. Each is a chain of dependent operations, so
 * several are computed at a time. */
#include "kernel/reduce/scan.h"

#include "base/dtype.h"
#include "base/half.h"
#include "base/thread.h"
#include "kernel/target.h"

enum {
    GRAIN = 32768, /* elements that are worth another thread */
    ROWS = 8,      /* rows that are summed side by side */
    COLUMNS = 2048 /* columns that are summed side by side */
};

typedef struct scan_job {
    int64_t n, inner;
    int64_t tiles; /* tiles of columns of one outer position */
    int64_t outer;
    const char *in;
    char *out;
    void (*rows)(const char *in, char *out, int64_t rows, int64_t n);
    void (*columns)(const char *in, char *out, int64_t n, int64_t inner, int64_t columns);
    int64_t size; /* bytes of one element */
} scan_job;

#define RUNNING(name, T, plus)                                                                     \
    static void name##_rows(const char *in, char *out, int64_t rows, int64_t n)                    \
    {                                                                                              \
        const T *x = (const T *)(const void *)in;                                                  \
        T *z = (T *)(void *)out;                                                                   \
        T sum[ROWS];                                                                               \
                                                                                                   \
        for (int64_t r = 0; r < ROWS && r < rows; r++)                                             \
            z[r * n] = sum[r] = x[r * n];                                                          \
        for (int64_t i = 1; rows == ROWS && i < n; i++) {                                          \
            for (int64_t r = 0; r < ROWS; r++)                                                     \
                z[r * n + i] = sum[r] = plus(sum[r], x[r * n + i]);                                \
        }                                                                                          \
        for (int64_t r = 0; rows < ROWS && r < rows; r++) {                                        \
            for (int64_t i = 1; i < n; i++)                                                        \
                z[r * n + i] = sum[r] = plus(sum[r], x[r * n + i]);                                \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void name##_columns(const char *in, char *out, int64_t n, int64_t inner,                \
                               int64_t columns)                                                    \
    {                                                                                              \
        const T *x = (const T *)(const void *)in;                                                  \
        T *z = (T *)(void *)out;                                                                   \
                                                                                                   \
        for (int64_t j = 0; j < columns; j++)                                                      \
            z[j] = x[j];                                                                           \
        for (int64_t i = 1; i < n; i++) {                                                          \
            const T *row = x + i * inner, *before = z + (i - 1) * inner;                           \
            T *to = z + i * inner;                                                                 \
                                                                                                   \
            MXL_IVDEP                                                                              \
            for (int64_t j = 0; j < columns; j++)                                                  \
                to[j] = plus(before[j], row[j]);                                                   \
        }                                                                                          \
    }
#define ADD(a, b)      (a) + (b)
#define ADD_I8(a, b)   (int8_t)((a) + (b))
#define ADD_U8(a, b)   (uint8_t)((a) + (b))
#define ADD_HALF(a, b) mxl_half_from_float(mxl_half_to_float(a) + mxl_half_to_float(b))

RUNNING(f32, float, ADD)
RUNNING(f64, double, ADD)
RUNNING(f16, mxl_half, ADD_HALF)
RUNNING(u8, uint8_t, ADD_U8)
RUNNING(i8, int8_t, ADD_I8)
RUNNING(i32, int32_t, ADD)
RUNNING(i64, int64_t, ADD)

#define MULTIPLY(a, b)      (a) * (b)
#define MULTIPLY_I8(a, b)   (int8_t)((a) * (b))
#define MULTIPLY_U8(a, b)   (uint8_t)((a) * (b))
#define MULTIPLY_HALF(a, b) mxl_half_from_float(mxl_half_to_float(a) * mxl_half_to_float(b))

RUNNING(f32_product, float, MULTIPLY)
RUNNING(f64_product, double, MULTIPLY)
RUNNING(f16_product, mxl_half, MULTIPLY_HALF)
RUNNING(u8_product, uint8_t, MULTIPLY_U8)
RUNNING(i8_product, int8_t, MULTIPLY_I8)
RUNNING(i32_product, int32_t, MULTIPLY)
RUNNING(i64_product, int64_t, MULTIPLY)

/* One item of the range is ROWS rows, or a tile of columns of one outer position. */
static void run_units(void *data, int64_t begin, int64_t end)
{
    const scan_job *job = data;

    for (int64_t unit = begin; unit < end; unit++) {
        int64_t first = unit / job->tiles, column = unit % job->tiles * COLUMNS, at;

        if (job->inner == 1) {
            int64_t row = unit * ROWS, rows = job->outer - row;

            at = row * job->n * job->size;
            job->rows(job->in + at, job->out + at, rows < ROWS ? rows : ROWS, job->n);
        } else {
            int64_t columns = job->inner - column;

            at = (first * job->n * job->inner + column) * job->size;
            job->columns(job->in + at, job->out + at, job->n, job->inner,
                         columns < COLUMNS ? columns : COLUMNS);
        }
    }
}

static void scan(scan_job job, int dtype, int64_t outer, int64_t n, int64_t inner, const void *in,
                 void *out)
{
    int64_t units, weight;

    if (outer == 0 || n == 0 || inner == 0)
        return;
    job.n = n;
    job.inner = inner;
    job.outer = outer;
    job.in = in;
    job.out = out;
    job.size = (int64_t)mxl_dtype_size(dtype);
    job.tiles = (inner + COLUMNS - 1) / COLUMNS;
    units = inner == 1 ? (outer + ROWS - 1) / ROWS : outer * job.tiles;
    weight = n * (inner == 1 ? ROWS : inner < COLUMNS ? inner : COLUMNS);
    mxl_parallel_for(units, weight < GRAIN ? (GRAIN + weight - 1) / weight : 1, run_units, &job);
}

#define LOOPS(name) {.rows = name##_rows, .columns = name##_columns}

void mxl_scan_sum(int dtype, int64_t outer, int64_t n, int64_t inner, const void *in, void *out)
{
    static const scan_job loops[MXL_DTYPE_LOOPS] = {
        [MXL_F32] = LOOPS(f32), [MXL_F64] = LOOPS(f64), [MXL_F16] = LOOPS(f16),
        [MXL_U8] = LOOPS(u8),   [MXL_I8] = LOOPS(i8),   [MXL_I32] = LOOPS(i32),
        [MXL_I64] = LOOPS(i64),
    };

    scan(loops[dtype], dtype, outer, n, inner, in, out);
}

void mxl_scan_product(int dtype, int64_t outer, int64_t n, int64_t inner, const void *in, void *out)
{
    static const scan_job loops[MXL_DTYPE_LOOPS] = {
        [MXL_F32] = LOOPS(f32_product), [MXL_F64] = LOOPS(f64_product),
        [MXL_F16] = LOOPS(f16_product), [MXL_U8] = LOOPS(u8_product),
        [MXL_I8] = LOOPS(i8_product),   [MXL_I32] = LOOPS(i32_product),
        [MXL_I64] = LOOPS(i64_product),
    };

    scan(loops[dtype], dtype, outer, n, inner, in, out);
}

/* ---- linear recurrences ---- */

typedef struct linear_job {
    int64_t n, inner, tiles;
    bool reverse;
    const char *in, *factors;
    char *out;
    void (*run)(const struct linear_job *job, int64_t at, int64_t columns);
} linear_job;

/* The columns from offset `at` of the arrays on. */
#define LINEAR(name, T, plus_product)                                                              \
    static void name##_linear(const linear_job *job, int64_t at, int64_t columns)                  \
    {                                                                                              \
        const int64_t move = job->reverse ? -job->inner : job->inner;                              \
        const T *x = (const T *)(const void *)job->in + at;                                        \
        const T *f = (const T *)(const void *)job->factors + at;                                   \
        T *z = (T *)(void *)job->out + at;                                                         \
        int64_t here = job->reverse ? (job->n - 1) * job->inner : 0;                               \
                                                                                                   \
        for (int64_t j = 0; j < columns; j++)                                                      \
            z[here + j] = x[here + j];                                                             \
        for (int64_t i = 1; i < job->n; i++) {                                                     \
            const int64_t next = here + move;                                                      \
            const T *before = z + here, *row = x + next, *factor = f + (move < 0 ? here : next);   \
            T *to = z + next;                                                                      \
                                                                                                   \
            MXL_IVDEP                                                                              \
            for (int64_t j = 0; j < columns; j++)                                                  \
                to[j] = plus_product(row[j], factor[j], before[j]);                                \
            here = next;                                                                           \
        }                                                                                          \
    }

#define PLUS_PRODUCT(a, b, c) (a) + (b) * (c)
#define PLUS_PRODUCT_HALF(a, b, c)                                                                 \
    mxl_half_from_float(mxl_half_to_float(a) + mxl_half_to_float(b) * mxl_half_to_float(c))

LINEAR(f32, float, PLUS_PRODUCT)
LINEAR(f64, double, PLUS_PRODUCT)
LINEAR(f16, mxl_half, PLUS_PRODUCT_HALF)

/* One item of the range is a tile of columns of one outer position. */
static void linear_units(void *data, int64_t begin, int64_t end)
{
    const linear_job *job = data;

    for (int64_t unit = begin; unit < end; unit++) {
        int64_t column = unit % job->tiles * COLUMNS, columns = job->inner - column;

        job->run(job, unit / job->tiles * job->n * job->inner + column,
                 columns < COLUMNS ? columns : COLUMNS);
    }
}

void mxl_scan_linear(int dtype, int64_t outer, int64_t n, int64_t inner, bool reverse,
                     const void *in, const void *factors, void *out)
{
    linear_job job = {.n = n,
                      .inner = inner,
                      .tiles = (inner + COLUMNS - 1) / COLUMNS,
                      .reverse = reverse,
                      .in = in,
                      .factors = factors,
                      .out = out,
                      .run = dtype == MXL_F32   ? f32_linear
                             : dtype == MXL_F64 ? f64_linear
                                                : f16_linear};
    int64_t weight = n * (inner < COLUMNS ? inner : COLUMNS);

    if (outer == 0 || n == 0 || inner == 0)
        return;
    mxl_parallel_for(outer * job.tiles, weight < GRAIN ? (GRAIN + weight - 1) / weight : 1,
                     linear_units, &job);
}
