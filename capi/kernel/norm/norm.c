/* Normalisation over one dtype after the other, from norm.tmpl.h and norm_back.tmpl.h. */
#include "kernel/norm/norm.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/dtype.h"
#include "base/half.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/copy/cast.h"
#include "kernel/target.h"

enum {
    GRAIN = 16384, /* elements that are worth another thread */
    BLOCK = 2048,  /* most elements of a piece, which is read several times from the cache */
    LANE_BYTES = 128,
    LINE_BYTES = 64,
    ALIGNED = 16,   /* elements of float32 in the widest vector */
    UNIT = 16384,   /* elements of a unit of rows, ... */
    UNIT_ROWS = 64, /* ... of which there are at most so many and ... */
    UNIT_LEAST = 32 /* ... at least so many */
};

typedef struct norm_job {
    const mxl_norm *norm;
    const void *x, *dy, *scale, *shift;
    void *mean, *inverse;
    void *out;     /* y or dx */
    double *sums;  /* of dy, and of dy times the distance from the mean: two for each group */
    void *parts;   /* gradients of shift and scale of each unit, if elements have their own */
    int64_t rows;  /* groups in a unit */
    int64_t width; /* elements of each of its parts, of which whole vectors are aligned */
} norm_job;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Elements of a group that are neighbours, or several whole runs. */
typedef struct piece {
    int64_t at;   /* of the first element, from the start of the group */
    int64_t rows; /* runs */
    int64_t n;    /* elements of each */
} piece;

/* Neighbouring elements in memory: `rows` runs of n, `jump` apart. */
typedef struct runs {
    int64_t rows, n, jump;
} runs;

/* The piece that begins at element `done` of the group. */
static piece piece_at(const mxl_norm *norm, int64_t done)
{
    int64_t segment = done / norm->run, skip = done % norm->run;

    if (norm->run >= BLOCK)
        return (piece){segment * norm->jump + skip, 1, least(norm->run - skip, BLOCK)};
    return (piece){segment * norm->jump, least(norm->segments - segment, BLOCK / norm->run),
                   norm->run};
}

static int64_t count_of(const mxl_norm *norm)
{
    return norm->segments * norm->run;
}

/* The mean and the sum of squared distances from it, of the elements so far. */
typedef struct moments {
    double count, mean, squares;
} moments;

/* Adds a piece of m elements: their sums of distances from `about`, and of the squares of those.
 * (Chan, Golub and LeVeque, "Algorithms for computing the sample variance", 1983.) */
static void add_piece(moments *all, double m, double about, double rest, double squares)
{
    double count = all->count + m, delta = about + rest / m - all->mean;

    all->squares += squares - rest * rest / m + delta * delta * (all->count * m / count);
    all->mean += delta * (m / count);
    all->count = count;
}

#define NAME(x) f32_##x
#define T       float
#define C       float
#define DTYPE   MXL_F32
#define WIDE    MXL_F32
#ifndef MXL_WITHOUT_SYMBOLS
#define JOINS 1
#else
#define JOINS 0 /* graphs alone ask for it */
#endif
#define IN_PLACE true
#include "kernel/norm/norm.tmpl.h"
#include "kernel/norm/norm_back.tmpl.h"

#define NAME(x)  f64_##x
#define T        double
#define C        double
#define DTYPE    MXL_F64
#define WIDE     MXL_F64
#define JOINS    0
#define IN_PLACE false
#include "kernel/norm/norm.tmpl.h"
#include "kernel/norm/norm_back.tmpl.h"

#define NAME(x)  f16_##x
#define T        mxl_half
#define C        float
#define DTYPE    MXL_F16
#define WIDE     MXL_F32
#define JOINS    0
#define IN_PLACE false
#include "kernel/norm/norm.tmpl.h"
#include "kernel/norm/norm_back.tmpl.h"

int mxl_norm_wide(int dtype)
{
    return dtype == MXL_F16 ? MXL_F32 : dtype;
}

void mxl_norm_forward(const mxl_norm *norm, const void *x, const void *scale, const void *shift,
                      void *mean, void *inverse, void *y)
{
    static const mxl_range_fn run[MXL_DTYPE_LOOPS] = {
        [MXL_F32] = f32_groups, [MXL_F64] = f64_groups, [MXL_F16] = f16_groups};
    norm_job job = {.norm = norm,
                    .x = x,
                    .scale = scale,
                    .shift = shift,
                    .mean = mean,
                    .inverse = inverse,
                    .out = y};
    int64_t weight = count_of(norm) + 1;

    mxl_parallel_for(norm->groups, (GRAIN + weight - 1) / weight, run[norm->dtype], &job);
}

/* ---- gradients ---- */

/* dshift[p] = the sum of dy of all groups with that parameter; dscale[p] the same of dy * (x -
 * mean) * inverse. */
static void join_groups(const norm_job *job, void *dscale, void *dshift)
{
    const mxl_norm *norm = job->norm;
    bool wide = norm->dtype == MXL_F64;

    for (int64_t p = 0; p < norm->params; p++) {
        double sum = 0, product = 0;

        for (int64_t g = p; g < norm->groups; g += norm->params) {
            double inverse =
                wide ? ((const double *)job->inverse)[g] : (double)((const float *)job->inverse)[g];

            sum += job->sums[2 * g];
            product += job->sums[2 * g + 1] * inverse;
        }
        if (dshift != NULL)
            mxl_cast_scalar(sum, mxl_norm_wide(norm->dtype), (char *)dshift + p * (wide ? 8 : 4));
        if (dscale != NULL)
            mxl_cast_scalar(product, mxl_norm_wide(norm->dtype),
                            (char *)dscale + p * (wide ? 8 : 4));
    }
}

/* Scales and shifts of groups. */
static int back_of_groups(norm_job *job, void *dscale, void *dshift)
{
    static const mxl_range_fn run[MXL_DTYPE_LOOPS] = {
        [MXL_F32] = f32_back_groups, [MXL_F64] = f64_back_groups, [MXL_F16] = f16_back_groups};
    int64_t weight = count_of(job->norm) + 1;
    size_t bytes = 2 * (size_t)job->norm->groups * sizeof(double);

    job->sums = mxl_alloc(bytes + 1);
    if (job->sums == NULL)
        return -1;
    mxl_parallel_for(job->norm->groups, (GRAIN + weight - 1) / weight, run[job->norm->dtype], job);
    join_groups(job, dscale, dshift);
    mxl_free(job->sums, bytes + 1);
    return 0;
}

/* Scales and shifts of positions: units of rows have sums of their own, which are added in their
 * order. */
static int back_of_rows(norm_job *job, void *dscale, void *dshift)
{
    static const mxl_range_fn run[MXL_DTYPE_LOOPS] = {
        [MXL_F32] = f32_back_rows, [MXL_F64] = f64_back_rows, [MXL_F16] = f16_back_rows};
    static void (*const join[MXL_DTYPE_LOOPS])(const norm_job *, int64_t, void *, void *) = {
        [MXL_F32] = f32_join_rows, [MXL_F64] = f64_join_rows, [MXL_F16] = f16_join_rows};
    const mxl_norm *norm = job->norm;
    int64_t rows = UNIT / (norm->run + 1), units;
    size_t bytes;

    job->rows = rows < UNIT_LEAST ? UNIT_LEAST : least(rows, UNIT_ROWS);
    units = (norm->groups + job->rows - 1) / job->rows;
    job->width = (norm->run + ALIGNED - 1) / ALIGNED * ALIGNED;
    /* At most a sixteenth of the bytes of the input, but for an input of a few rows. */
    bytes = 2 * (size_t)(units * job->width) * mxl_dtype_size(mxl_norm_wide(norm->dtype));
    job->parts = mxl_alloc(bytes + 1);
    if (job->parts == NULL)
        return -1;
    mxl_parallel_for(units, (GRAIN + UNIT - 1) / UNIT, run[norm->dtype], job);
    join[norm->dtype](job, units, dscale, dshift);
    mxl_free(job->parts, bytes + 1);
    return 0;
}

int mxl_norm_backward(const mxl_norm *norm, const void *x, const void *dy, const void *scale,
                      const void *mean, const void *inverse, void *dx, void *dscale, void *dshift)
{
    norm_job job = {.norm = norm,
                    .x = x,
                    .dy = dy,
                    .scale = scale,
                    .mean = (void *)mean,
                    .inverse = (void *)inverse,
                    .out = dx};

    return norm->each ? back_of_rows(&job, dscale, dshift) : back_of_groups(&job, dscale, dshift);
}
