/* argmax and argmin, piece by piece: the reduction's loops find the best value of a piece, then
 * other loops find its position while the piece is in the nearest cache. */
#include "kernel/reduce/argmax.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/dtype.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/copy/strided_copy.h"
#include "kernel/reduce/reduce_loops.h"
#include "kernel/target.h"

enum {
    GRAIN = 32768, /* elements that are worth another thread */
    PIECE = 4096,  /* elements searched together */
    COLUMNS = 128, /* columns searched together */
    LOOK = 256,    /* elements compared at a time */
    NARROW = 16,   /* fewer columns are transposed first, */
    LONG = 64      /* if they are that long */
};

/* ---- the position of the best value ---- */

/* `best`, the best value of a piece, is the accumulator of a reduction; it is NaN if and only if
 * the piece has a NaN. rows: its first position among m neighbours. columns: of n columns with m
 * rows, `stride` apart; for a column whose best exceeds `most`, updates `most` and sets `at` to the
 * position plus `first`. */
#define FIND(name, T, A, FLAG, IS_NAN)                                                             \
    MXL_INLINE void name##_rows_at(int level, int64_t *at, const T *x, int64_t m, const A *best)   \
    {                                                                                              \
        enum { LANES = 64 / sizeof(T) };                                                           \
        FLAG here[LANES], first = PIECE;                                                           \
        T want = (T)*best;                                                                         \
        int64_t begin = 0;                                                                         \
                                                                                                   \
        (void)level;                                                                               \
        if (IS_NAN(want)) {                                                                        \
            while (!IS_NAN(x[begin]))                                                              \
                begin++;                                                                           \
            *at = begin;                                                                           \
            return;                                                                                \
        }                                                                                          \
        if (m < LANES) {                                                                           \
            for (int64_t i = m - 1; i >= 0; i--)                                                   \
                first = x[i] == want ? (FLAG)i : first;                                            \
            *at = first;                                                                           \
            return;                                                                                \
        }                                                                                          \
        for (FLAG any = 0; begin + LOOK < m; begin += LOOK) {                                      \
            for (int64_t i = begin; i < begin + LOOK; i++)                                         \
                any |= (FLAG)(x[i] == want);                                                       \
            if (any)                                                                               \
                break;                                                                             \
        }                                                                                          \
        m = m - begin < LOOK ? m - begin : LOOK;                                                   \
        for (int l = 0; l < LANES; l++)                                                            \
            here[l] = LOOK;                                                                        \
        /* The last lanes may overlap others. */                                                   \
        for (int64_t i = (m - 1) / LANES * LANES; i >= 0; i -= LANES) {                            \
            int64_t from = i < m - LANES ? i : m - LANES;                                          \
                                                                                                   \
            MXL_AS_LOOP                                                                            \
            for (int l = 0; l < LANES; l++)                                                        \
                here[l] = x[begin + from + l] == want ? (FLAG)from : here[l];                      \
        }                                                                                          \
        for (int l = 0; l < LANES; l++)                                                            \
            first = here[l] + l < first ? here[l] + l : first;                                     \
        *at = begin + first;                                                                       \
    }                                                                                              \
    MXL_FROM_AVX2(name##_rows, (int64_t *at, const T *x, int64_t m, const A *best), at, x, m,      \
                  best)                                                                            \
    MXL_INLINE void name##_columns_at(int level, int64_t *at, A *most, const T *in, int64_t n,     \
                                      int64_t m, int64_t stride, const A *best, int64_t first,     \
                                      int largest)                                                 \
    {                                                                                              \
        int64_t here[COLUMNS];                                                                     \
                                                                                                   \
        (void)level;                                                                               \
        for (int64_t j = 0; j < n; j++)                                                            \
            here[j] = 0;                                                                           \
        for (int64_t i = m - 1; i >= 0; i--) {                                                     \
            const T *x = in + i * stride;                                                          \
                                                                                                   \
            for (int64_t j = 0; j < n; j++)                                                        \
                here[j] = (((A)x[j] == best[j]) | IS_NAN(x[j])) ? i : here[j];                     \
        }                                                                                          \
        MXL_IVDEP                                                                                  \
        for (int64_t j = 0; j < n; j++) {                                                          \
            A a = best[j], b = most[j];                                                            \
            int more = ((a > b) & largest) | ((a < b) & !largest) | (IS_NAN(a) & !IS_NAN(b));      \
                                                                                                   \
            at[j] = more ? first + here[j] : at[j];                                                \
            most[j] = more ? a : b;                                                                \
        }                                                                                          \
    }                                                                                              \
    MXL_UP_TO_AVX2(name##_columns,                                                                 \
                   (int64_t *at, A *most, const T *in, int64_t n, int64_t m, int64_t stride,       \
                    const A *best, int64_t first, int largest),                                    \
                   at, most, in, n, m, stride, best, first, largest)

#define FLOAT_NAN(v) ((v) != (v))
#define NEVER(v)     0

FIND(f32, float, double, int32_t, FLOAT_NAN)
FIND(f64, double, double, int64_t, FLOAT_NAN)
FIND(i32, int32_t, int64_t, int32_t, NEVER)
FIND(i64, int64_t, int64_t, int64_t, NEVER)

/* The accumulator of the reduction's loops. */
typedef union best {
    double f;
    int64_t i;
} best;

static void find_in_row(int dtype, int64_t *at, const void *x, int64_t m, const best *most)
{
    switch (dtype) {
    case MXL_F32:
        f32_rows(at, x, m, &most->f);
        break;
    case MXL_F64:
        f64_rows(at, x, m, &most->f);
        break;
    case MXL_I32:
        i32_rows(at, x, m, &most->i);
        break;
    default:
        i64_rows(at, x, m, &most->i);
    }
}

static void find_in_columns(int dtype, int64_t *at, best *most, const void *x, int64_t n, int64_t m,
                            int64_t stride, const best *here, int64_t first, int largest)
{
    switch (dtype) {
    case MXL_F32:
        f32_columns(at, &most->f, x, n, m, stride, &here->f, first, largest);
        break;
    case MXL_F64:
        f64_columns(at, &most->f, x, n, m, stride, &here->f, first, largest);
        break;
    case MXL_I32:
        i32_columns(at, &most->i, x, n, m, stride, &here->i, first, largest);
        break;
    default:
        i64_columns(at, &most->i, x, n, m, stride, &here->i, first, largest);
    }
}

/* ---- pieces ---- */

typedef struct arg_job {
    mxl_reduction kind;
    int dtype;
    int wide; /* the dtype of the loops */
    const mxl_reduce_loops *loops;
    int64_t size; /* bytes of an element */
    int64_t n, inner;
    int64_t tiles; /* tiles of columns of one outer position */
    const char *in;
    int64_t *out;
} arg_job;

/* `rows` rows of n elements in place, `stride` apart; or converted into `block`, then `*stride` is
 * n. */
static const void *piece(const arg_job *job, int64_t from, int64_t rows, int64_t n, int64_t *stride,
                         char *block)
{
    const char *in = job->in + from * job->size;
    int64_t wide = (int64_t)mxl_dtype_size(job->wide);

    if (job->dtype == job->wide)
        return in;
    for (int64_t i = 0; i < rows; i++)
        mxl_reduce_widen(job->dtype, job->wide, block + i * n * wide, in + i * *stride * job->size,
                         n);
    *stride = n;
    return block;
}

static bool is_better(const arg_job *job, const best *a, const best *b)
{
    bool largest = job->kind == MXL_REDUCE_MAX;

    if (mxl_dtype_is_float(job->wide))
        return (largest ? a->f > b->f : a->f < b->f) || (isnan(a->f) && !isnan(b->f));
    return largest ? a->i > b->i : a->i < b->i;
}

static void long_row(const arg_job *job, int64_t row)
{
    _Alignas(64) char block[PIECE * 4];
    best most, here;

    for (int64_t i = 0; i < job->n; i += PIECE) {
        int64_t m = job->n - i < PIECE ? job->n - i : PIECE, stride = m, at;
        const void *x = piece(job, row * job->n + i, 1, m, &stride, block);

        mxl_reduce_start(job->kind, job->wide, &here, 1);
        job->loops->rows[job->kind](&here, x, 1, m, m);
        if (i > 0 && !is_better(job, &here, &most))
            continue;
        most = here;
        find_in_row(job->wide, &at, x, m, &most);
        job->out[row] = i + at;
    }
}

/* One item of the range is a row. */
static void rows_chunk(void *data, int64_t begin, int64_t end)
{
    const arg_job *job = data;
    _Alignas(64) char block[PIECE * 4];
    best most[PIECE / 16];
    int64_t many = PIECE / job->n < PIECE / 16 ? PIECE / job->n : PIECE / 16;

    if (many == 0) {
        for (int64_t row = begin; row < end; row++)
            long_row(job, row);
        return;
    }
    for (int64_t row = begin; row < end; row += many) {
        int64_t rows = end - row < many ? end - row : many, stride = job->n;
        const char *x = piece(job, row * job->n, rows, job->n, &stride, block);

        mxl_reduce_start(job->kind, job->wide, most, rows);
        job->loops->rows[job->kind](most, x, rows, job->n, job->n);
        for (int64_t r = 0; r < rows; r++)
            find_in_row(job->wide, &job->out[row + r],
                        x + r * job->n * (int64_t)mxl_dtype_size(job->wide), job->n, &most[r]);
    }
}

/* One item of the range is a tile of columns of one outer position. */
static void columns_chunk(void *data, int64_t begin, int64_t end)
{
    const arg_job *job = data;
    _Alignas(64) char block[PIECE * 4];
    best most[COLUMNS], here[COLUMNS];

    for (int64_t unit = begin; unit < end; unit++) {
        int64_t outer = unit / job->tiles, column = unit % job->tiles * COLUMNS;
        int64_t n = job->inner - column < COLUMNS ? job->inner - column : COLUMNS;
        int64_t *at = job->out + outer * job->inner + column;
        int largest = job->kind == MXL_REDUCE_MAX;

        mxl_reduce_start(job->kind, job->wide, most, n);
        memset(at, 0, (size_t)n * sizeof(*at));
        for (int64_t i = 0; i < job->n; i += PIECE / COLUMNS) {
            int64_t m = job->n - i < PIECE / COLUMNS ? job->n - i : PIECE / COLUMNS;
            int64_t stride = job->inner;
            const void *x =
                piece(job, (outer * job->n + i) * job->inner + column, m, n, &stride, block);

            mxl_reduce_start(job->kind, job->wide, here, n);
            job->loops->columns[job->kind](here, x, n, m, stride);
            find_in_columns(job->wide, at, most, x, n, m, stride, here, i, largest);
        }
    }
}

static void arg_find(mxl_reduction kind, int dtype, int64_t outer, int64_t n, int64_t inner,
                     const void *in, int64_t *out);

/* Transposes few columns, which would leave vectors empty, and searches rows. False: there is no
 * memory. */
static bool find_transposed(mxl_reduction kind, int dtype, int64_t outer, int64_t n, int64_t inner,
                            const void *in, int64_t *out)
{
    size_t width = mxl_dtype_size(dtype), bytes = (size_t)(outer * n * inner) * width;
    const int64_t shape[3] = {outer, inner, n}, to[3] = {n * inner, n, 1};
    const int64_t from[3] = {n * inner, 1, inner};
    void *rows = mxl_alloc(bytes);

    if (rows == NULL)
        return false;
    mxl_copy_strided(width, 3, shape, rows, to, in, from);
    arg_find(kind, dtype, outer * inner, n, 1, rows, out);
    mxl_free(rows, bytes);
    return true;
}

static void arg_find(mxl_reduction kind, int dtype, int64_t outer, int64_t n, int64_t inner,
                     const void *in, int64_t *out)
{
    arg_job job = {.kind = kind, .dtype = dtype, .n = n, .inner = inner, .in = in, .out = out};
    int64_t weight = n * (inner < COLUMNS ? inner : COLUMNS);

    if (outer * inner == 0)
        return;
    if (inner > 1 && inner < NARROW && n >= LONG &&
        find_transposed(kind, dtype, outer, n, inner, in, out))
        return;
    job.wide = mxl_reduce_wide(kind, dtype);
    job.loops = mxl_reduce_loops_of(job.wide);
    job.size = (int64_t)mxl_dtype_size(dtype);
    job.tiles = (inner + COLUMNS - 1) / COLUMNS;
    mxl_parallel_for(outer * job.tiles, (GRAIN + weight - 1) / weight,
                     inner == 1 ? rows_chunk : columns_chunk, &job);
}

void mxl_argmax(int dtype, int64_t outer, int64_t n, int64_t inner, const void *in, int64_t *out)
{
    arg_find(MXL_REDUCE_MAX, dtype, outer, n, inner, in, out);
}

void mxl_argmin(int dtype, int64_t outer, int64_t n, int64_t inner, const void *in, int64_t *out)
{
    arg_find(MXL_REDUCE_MIN, dtype, outer, n, inner, in, out);
}
