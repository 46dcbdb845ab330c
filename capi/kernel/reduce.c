/* Drives the reduction loops: axes sorted into kept and reduced, rows or columns, and shares of the
 * work whose borders depend on the shape alone. */
#include "kernel/reduce.h"

#include <string.h>

#include "base/dtype.h"
#include "base/mem.h"
#include "base/thread.h"
#include "kernel/reduce_loops.h"
#include "kernel/run.h"
#include "kernel/walk.h"

enum {
    GRAIN = 32768, /* elements that are worth another thread */
    CHUNK = 16384, /* elements per partial result where few results are wanted */
    FEW = 64,      /* outputs: so few that their elements are shared out */
    MOST_CHUNKS = 64,
    TILE = 512, /* elements gathered at a time */
    ACC_BYTES = 8
};

typedef struct reduce_job {
    const mxl_reduce_loops *loops;
    mxl_reduction kind;
    size_t size; /* bytes of one element */
    mxl_walk kept, reduced;
    const char *in;
    char *out;
    int64_t chunk;  /* elements (rows mode) or rows (columns mode) per share */
    int64_t chunks; /* shares of one output */
    char *partial;  /* [chunks][outputs] accumulators; NULL: one share, finished at once */
    int64_t tiles;  /* columns mode: tiles of one row of outputs */
} reduce_job;

static void acc_start(const reduce_job *job, void *acc, int64_t n)
{
    if (job->loops->start[job->kind] != NULL)
        job->loops->start[job->kind](acc, n);
    else
        memset(acc, 0, (size_t)n * ACC_BYTES); /* 0 and 0.0 */
}

static void acc_finish(const reduce_job *job, int64_t at, const void *acc, int64_t n)
{
    job->loops->finish(job->kind, job->out + at * (int64_t)job->size, acc, n, job->reduced.size);
}

/* Where n finished accumulators of share `chunk` belong. */
static void acc_done(const reduce_job *job, int64_t at, int64_t chunk, const void *acc, int64_t n)
{
    if (job->partial == NULL)
        acc_finish(job, at, acc, n);
    else
        memcpy(job->partial + (chunk * job->kept.size + at) * ACC_BYTES, acc,
               (size_t)n * ACC_BYTES);
}

/* A run of elements that need not be neighbours. */
static void reduce_run(const reduce_job *job, const char *in, int64_t n, int64_t stride, void *acc)
{
    _Alignas(64) char tile[TILE * 8];
    int64_t size = (int64_t)job->size;

    if (stride == 1 || n == 1) {
        job->loops->run[job->kind](acc, in, n);
        return;
    }
    for (int64_t i = 0; i < n; i += TILE) {
        int64_t part = n - i < TILE ? n - i : TILE;

        mxl_copy_run(job->size, tile, 1, in + i * stride * size, stride, part);
        job->loops->run[job->kind](acc, tile, part);
    }
}

/* Calls run (columns == 0) or columns over the reduced positions [begin, end). */
static void reduce_span(const reduce_job *job, const char *in, int64_t begin, int64_t end,
                        void *acc, int64_t columns)
{
    const mxl_walk *walk = &job->reduced;
    int last = walk->ndim - 1;
    mxl_cursor cursor;

    mxl_cursor_seek(&cursor, walk, 0, begin);
    while (begin < end) {
        int64_t n = walk->shape[last] - cursor.inner;
        const char *at = in + mxl_cursor_offset(&cursor, walk, 0) * (int64_t)job->size;

        if (n > end - begin)
            n = end - begin;
        if (columns > 0)
            job->loops->columns[job->kind](acc, at, columns, n, walk->stride[0][last]);
        else
            reduce_run(job, at, n, walk->stride[0][last], acc);
        mxl_cursor_skip(&cursor, walk, 0, n);
        begin += n;
    }
}

/* Rows mode: a unit is one output, or one share of it. */
static void rows_share(void *data, int64_t begin, int64_t end)
{
    const reduce_job *job = data;
    mxl_cursor cursor;

    mxl_cursor_seek(&cursor, &job->kept, 0, begin / job->chunks);
    for (int64_t unit = begin; unit < end; unit++) {
        int64_t chunk = unit % job->chunks, first = chunk * job->chunk;
        int64_t last = first + job->chunk;
        int64_t at = mxl_cursor_offset(&cursor, &job->kept, 0);
        _Alignas(8) char acc[ACC_BYTES];

        if (last > job->reduced.size)
            last = job->reduced.size;
        acc_start(job, acc, 1);
        reduce_span(job, job->in + at * (int64_t)job->size, first, last, acc, 0);
        acc_done(job, unit / job->chunks, chunk, acc, 1);
        if (chunk == job->chunks - 1)
            mxl_cursor_skip(&cursor, &job->kept, 0, 1);
    }
}

/* Columns mode: a unit is a tile of neighbouring outputs, or one share of it. */
static void columns_share(void *data, int64_t begin, int64_t end)
{
    const reduce_job *job = data;
    int64_t width = job->kept.shape[job->kept.ndim - 1];
    _Alignas(64) char acc[REDUCE_COLUMNS * ACC_BYTES];

    for (int64_t unit = begin; unit < end; unit++) {
        int64_t chunk = unit % job->chunks, tile = unit / job->chunks;
        int64_t column = tile % job->tiles * REDUCE_COLUMNS;
        int64_t at = tile / job->tiles * width + column;
        int64_t n = width - column < REDUCE_COLUMNS ? width - column : REDUCE_COLUMNS;
        int64_t first = chunk * job->chunk, last = first + job->chunk;
        mxl_cursor cursor;

        if (last > job->reduced.size)
            last = job->reduced.size;
        mxl_cursor_seek(&cursor, &job->kept, 0, at);
        acc_start(job, acc, n);
        reduce_span(job, job->in + mxl_cursor_offset(&cursor, &job->kept, 0) * (int64_t)job->size,
                    first, last, acc, n);
        acc_done(job, at, chunk, acc, n);
    }
}

/* Adds the shares of each output up, in their order. */
static void partials_merge(const reduce_job *job)
{
    int dtype = job->loops == mxl_reduce_loops_of(MXL_F32) ||
                        job->loops == mxl_reduce_loops_of(MXL_F64) ||
                        job->loops == mxl_reduce_loops_of(MXL_F16)
                    ? MXL_F64
                    : MXL_I64;
    const mxl_reduce_loops *merge = mxl_reduce_loops_of(dtype);
    /* Shares are sums or products already, of which a NaN may be one. */
    static const mxl_reduction kinds[REDUCE_KINDS] = {
        [MXL_REDUCE_MAX] = MXL_REDUCE_MAX,
        [MXL_REDUCE_MIN] = MXL_REDUCE_MIN,
        [MXL_REDUCE_PROD] = MXL_REDUCE_PROD,
        [MXL_REDUCE_NANPROD] = MXL_REDUCE_PROD,
    };
    int64_t n = job->kept.size;

    merge->columns[kinds[job->kind]](job->partial, job->partial + n * ACC_BYTES, n, job->chunks - 1,
                                     n);
    acc_finish(job, 0, job->partial, n);
}

/* Which elements make one share, from the shape alone: so the bits are the same on any number of
 * threads. */
static void job_plan(reduce_job *job, int64_t columns)
{
    int64_t total = job->reduced.size, units = job->kept.size;

    job->chunk = CHUNK;
    if (columns > 0) {
        units = job->kept.size / columns * job->tiles;
        job->chunk =
            (2 * CHUNK + columns - 1) / (columns < REDUCE_COLUMNS ? columns : REDUCE_COLUMNS);
    }
    job->chunks = (total + job->chunk - 1) / job->chunk;
    if (units > FEW || job->chunks < 2) {
        job->chunk = total;
        job->chunks = 1;
    } else if (job->chunks > MOST_CHUNKS) {
        job->chunk = (total + MOST_CHUNKS - 1) / MOST_CHUNKS;
        job->chunks = (total + job->chunk - 1) / job->chunk;
    }
}

static int job_run(reduce_job *job)
{
    int last = job->kept.ndim - 1;
    bool by_columns = job->kept.stride[0][last] == 1 && job->kept.shape[last] >= 4 &&
                      job->reduced.stride[0][job->reduced.ndim - 1] != 1;
    int64_t columns = by_columns ? job->kept.shape[last] : 0;
    int64_t units, weight;
    size_t bytes = 0;

    job->tiles = (columns + REDUCE_COLUMNS - 1) / REDUCE_COLUMNS;
    job_plan(job, columns);
    if (job->chunks > 1) {
        bytes = (size_t)(job->chunks * job->kept.size) * ACC_BYTES;
        job->partial = mxl_alloc(bytes);
        if (job->partial == NULL)
            return -1;
    }
    units = (by_columns ? job->kept.size / columns * job->tiles : job->kept.size) * job->chunks;
    weight = job->kept.size * job->reduced.size / units;
    mxl_parallel_for(units, (GRAIN + weight - 1) / weight, by_columns ? columns_share : rows_share,
                     job);
    if (job->partial != NULL) {
        partials_merge(job);
        mxl_free(job->partial, bytes);
    }
    return 0;
}

int mxl_reduce(mxl_reduction kind, int dtype, int ndim, const int64_t *shape,
               const int64_t *strides, const bool *reduced, const void *in, void *out)
{
    int64_t part_shape[2][MXL_MAX_NDIM], part_strides[2][MXL_MAX_NDIM];
    const int64_t *kept_strides = part_strides[0], *reduced_strides = part_strides[1];
    int count[2] = {0, 0};
    reduce_job job;

    job.loops = mxl_reduce_loops_of(dtype);
    job.kind = kind;
    job.size = mxl_dtype_size(dtype);
    job.in = in;
    job.out = out;
    job.partial = NULL;
    for (int axis = 0; axis < ndim; axis++) {
        int part = reduced[axis] ? 1 : 0;

        part_shape[part][count[part]] = shape[axis];
        part_strides[part][count[part]] = strides[axis];
        count[part]++;
    }
    mxl_walk_init(&job.kept, 1, count[0], part_shape[0], &kept_strides);
    mxl_walk_init(&job.reduced, 1, count[1], part_shape[1], &reduced_strides);
    if (job.kept.size == 0)
        return 0;
    if (job.reduced.size == 0) {
        _Alignas(8) char acc[ACC_BYTES];

        acc_start(&job, acc, 1);
        for (int64_t i = 0; i < job.kept.size; i++)
            acc_finish(&job, i, acc, 1);
        return 0;
    }
    return job_run(&job);
}

/* ---- argmax ---- */
typedef struct arg_job {
    const mxl_reduce_loops *loops;
    size_t size;
    int which; /* 0: the largest, 1: the smallest */
    int64_t n, inner;
    const char *in;
    int64_t *out;
} arg_job;

/* A unit is one position along the outer axis. */
static void arg_share(void *data, int64_t begin, int64_t end)
{
    const arg_job *job = data;

    for (int64_t o = begin; o < end; o++) {
        const char *in = job->in + o * job->n * job->inner * (int64_t)job->size;
        int64_t *out = job->out + o * job->inner;

        if (job->inner == 1) {
            *out = job->loops->arg_run[job->which](in, job->n);
            continue;
        }
        for (int64_t j = 0; j < job->inner; j += REDUCE_COLUMNS) {
            int64_t columns = job->inner - j < REDUCE_COLUMNS ? job->inner - j : REDUCE_COLUMNS;

            job->loops->arg_columns[job->which](out + j, in + j * (int64_t)job->size, columns,
                                                job->n, job->inner);
        }
    }
}

static void arg_find(int which, int dtype, int64_t outer, int64_t n, int64_t inner, const void *in,
                     int64_t *out)
{
    arg_job job = {
        mxl_reduce_loops_of(dtype), mxl_dtype_size(dtype), which, n, inner, in, out,
    };

    if (outer * inner > 0)
        mxl_parallel_for(outer, (GRAIN + n * inner - 1) / (n * inner), arg_share, &job);
}

void mxl_argmax(int dtype, int64_t outer, int64_t n, int64_t inner, const void *in, int64_t *out)
{
    arg_find(0, dtype, outer, n, inner, in, out);
}

void mxl_argmin(int dtype, int64_t outer, int64_t n, int64_t inner, const void *in, int64_t *out)
{
    arg_find(1, dtype, outer, n, inner, in, out);
}
