/* Running sums, several at a time: each is a chain of additions that wait for each other. */
#include "kernel/reduce/scan.h"

#include "base/dtype.h"
#include "base/half.h"
#include "base/thread.h"
#include "kernel/target.h"

enum {
    GRAIN = 32768, /* elements that are worth another thread */
    ROWS = 8,      /* rows that are summed side by side */
    COLUMNS = 2048 /* columns that are */
};

typedef struct scan_job {
    int64_t n, inner;
    int64_t tiles; /* of the columns of one outer position */
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

/* A unit is ROWS rows, or a tile of the columns of one outer position. */
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

void mxl_scan_sum(int dtype, int64_t outer, int64_t n, int64_t inner, const void *in, void *out)
{
#define LOOPS(name)                                                                                \
    {                                                                                              \
        .rows = name##_rows, .columns = name##_columns                                             \
    }
    static const scan_job loops[MXL_DTYPE_COUNT] = {
        [MXL_F32] = LOOPS(f32), [MXL_F64] = LOOPS(f64), [MXL_F16] = LOOPS(f16),
        [MXL_U8] = LOOPS(u8),   [MXL_I8] = LOOPS(i8),   [MXL_I32] = LOOPS(i32),
        [MXL_I64] = LOOPS(i64),
    };
#undef LOOPS
    scan_job job = loops[dtype];
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
