/* Drives the reduction loops: axes sorted into kept and reduced, rows or columns, and shares of the
 * work whose borders depend on the shape alone. */
#include "kernel/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/mem.h"
#include "base/thread.h"
#include "kernel/reduce_loops.h"
#include "kernel/run.h"
#include "kernel/walk.h"

enum {
    GRAIN = 32768, /* elements that are worth another thread */
    CHUNK = 16384, /* elements per share where few results are wanted; of columns four times that */
    FEW = 64,      /* tiles: so few that their elements are shared out */
    MOST_CHUNKS = 64,
    BLOCK = 16384, /* bytes gathered at a time */
    RUN = 2048,    /* elements that are worth a call of a loop */
    ACC_BYTES = 8
};

/* Outputs are made in tiles of neighbours along the last kept axis. */
typedef struct reduce_job {
    const mxl_reduce_loops *loops;
    mxl_reduction kind;
    int dtype;
    int wide;      /* the dtype of the loops, and so of the accumulators */
    size_t size;   /* bytes of one element */
    int64_t block; /* elements gathered at a time */
    mxl_walk kept, reduced;
    const char *in;
    char *out;
    bool by_rows;  /* elements that go into one output are neighbours, or closer than outputs are */
    bool direct;   /* the loops can read the input as it lies */
    int64_t width; /* of the last kept axis */
    int64_t tile;  /* outputs in a tile */
    int64_t tiles; /* of one row of outputs */
    int64_t chunk; /* reduced positions per share */
    int64_t chunks; /* shares of one output */
    char *partial;  /* [chunks][outputs] accumulators; NULL: one share, finished at once */
} reduce_job;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t parts(int64_t n, int64_t size)
{
    return (n + size - 1) / size;
}

/* The kind that joins accumulators: they are sums or products already, of which a NaN may be one.
 */
static mxl_reduction joining(mxl_reduction kind)
{
    switch (kind) {
    case MXL_REDUCE_MAX:
    case MXL_REDUCE_MIN:
        return kind;
    case MXL_REDUCE_PROD:
    case MXL_REDUCE_NANPROD:
        return MXL_REDUCE_PROD;
    default:
        return MXL_REDUCE_SUM;
    }
}

/* Joins `rows` rows of n accumulators into n others. */
static void acc_join(const reduce_job *job, void *acc, const void *more, int64_t n, int64_t rows)
{
    int dtype = mxl_dtype_is_float(job->wide) ? MXL_F64 : MXL_I64;
    mxl_reduce_loop join = mxl_reduce_loops_of(dtype)->columns[joining(job->kind)];

    for (int64_t j = 0; j < n; j += REDUCE_COLUMNS)
        join((char *)acc + j * ACC_BYTES, (const char *)more + j * ACC_BYTES,
             least(n - j, REDUCE_COLUMNS), rows, n);
}

/* ---- one block: n outputs of m elements each ---- */

/* n elements, `stride` apart, as neighbours of the dtype of the loops. */
static void fetch(const reduce_job *job, char *to, const char *in, int64_t stride, int64_t n)
{
    _Alignas(64) char raw[BLOCK];
    const char *from = in;

    if (job->dtype == job->wide) {
        mxl_copy_run(job->size, to, 1, in, stride, n);
        return;
    }
    if (stride != 1) {
        mxl_copy_run(job->size, raw, 1, in, stride, n);
        from = raw;
    }
    mxl_reduce_widen(job->dtype, job->wide, to, from, n);
}

/* `rows` rows of n elements, row after row. */
static void fetch_rows(const reduce_job *job, char *to, const char *in, int64_t rows,
                       int64_t row_stride, int64_t n, int64_t stride)
{
    int64_t size = (int64_t)job->size, wide = (int64_t)mxl_dtype_size(job->wide);

    if (stride == 1 && row_stride == n) {
        fetch(job, to, in, 1, rows * n);
        return;
    }
    for (int64_t i = 0; i < rows; i++)
        fetch(job, to + i * n * wide, in + i * row_stride * size, stride, n);
}

static void block_rows(const reduce_job *job, char *acc, const char *in, int64_t n,
                       int64_t out_stride, int64_t m, int64_t stride)
{
    _Alignas(64) char block[BLOCK];
    mxl_reduce_loop loop = job->loops->rows[job->kind];
    int64_t size = (int64_t)job->size, width = least(m, job->block), rows = job->block / width;

    if (job->direct) {
        loop(acc, in, n, m, out_stride);
        return;
    }
    for (int64_t j = 0; j < n; j += rows) {
        for (int64_t i = 0; i < m; i += width) {
            int64_t high = least(rows, n - j), wide = least(width, m - i);

            fetch_rows(job, block, in + (j * out_stride + i * stride) * size, high, out_stride,
                       wide, stride);
            loop(acc + j * ACC_BYTES, block, high, wide, wide);
        }
    }
}

/* Rows of n neighbours that follow each other, as fewer rows of more columns. */
static void block_narrow(const reduce_job *job, char *acc, const char *in, int64_t n, int64_t m)
{
    _Alignas(64) char wide[REDUCE_COLUMNS * ACC_BYTES];
    mxl_reduce_loop loop = job->loops->columns[job->kind];
    int64_t many = REDUCE_COLUMNS / n, whole = m - m % many;

    mxl_reduce_start(job->kind, job->wide, wide, many * n);
    loop(wide, in, many * n, m / many, many * n);
    acc_join(job, acc, wide, n, many);
    if (whole < m)
        loop(acc, in + whole * n * (int64_t)job->size, n, m - whole, n);
}

static void block_columns(const reduce_job *job, char *acc, const char *in, int64_t n,
                          int64_t out_stride, int64_t m, int64_t stride)
{
    _Alignas(64) char block[BLOCK];
    mxl_reduce_loop loop = job->loops->columns[job->kind];
    int64_t rows = job->block / n;

    if (job->direct && stride == n && n <= REDUCE_COLUMNS / 8 && m * n >= 4 * REDUCE_COLUMNS) {
        block_narrow(job, acc, in, n, m);
        return;
    }
    if (job->direct) {
        loop(acc, in, n, m, stride);
        return;
    }
    for (int64_t i = 0; i < m; i += rows) {
        int64_t high = least(rows, m - i);

        fetch_rows(job, block, in + i * stride * (int64_t)job->size, high, stride, n, out_stride);
        loop(acc, block, n, high, n);
    }
}

/* ---- shares ---- */

/* The reduced positions [begin, end) of n neighbouring outputs. */
static void reduce_span(const reduce_job *job, const char *in, int64_t n, int64_t begin,
                        int64_t end, char *acc)
{
    const mxl_walk *walk = &job->reduced;
    int last = walk->ndim - 1;
    int64_t stride = walk->stride[0][last];
    int64_t out_stride = job->kept.stride[0][job->kept.ndim - 1];
    mxl_cursor cursor;

    mxl_cursor_seek(&cursor, walk, 0, begin);
    while (begin < end) {
        int64_t m = least(walk->shape[last] - cursor.inner, end - begin);
        const char *at = in + mxl_cursor_offset(&cursor, walk, 0) * (int64_t)job->size;

        if (job->by_rows)
            block_rows(job, acc, at, n, out_stride, m, stride);
        else
            block_columns(job, acc, at, n, out_stride, m, stride);
        mxl_cursor_skip(&cursor, walk, 0, m);
        begin += m;
    }
}

/* A unit is a tile, or one share of it. */
static void reduce_share(void *data, int64_t begin, int64_t end)
{
    const reduce_job *job = data;
    _Alignas(64) char acc[REDUCE_COLUMNS * ACC_BYTES];

    for (int64_t unit = begin; unit < end; unit++) {
        int64_t tile = unit / job->chunks, chunk = unit % job->chunks;
        int64_t first = tile % job->tiles * job->tile, n = least(job->width - first, job->tile);
        int64_t at = tile / job->tiles * job->width + first;
        int64_t begins = chunk * job->chunk;
        mxl_cursor cursor;

        mxl_cursor_seek(&cursor, &job->kept, 0, at);
        mxl_reduce_start(job->kind, job->wide, acc, n);
        reduce_span(job, job->in + mxl_cursor_offset(&cursor, &job->kept, 0) * (int64_t)job->size,
                    n, begins, least(begins + job->chunk, job->reduced.size), acc);
        if (job->partial == NULL)
            mxl_reduce_finish(job->kind, job->dtype, job->out + at * (int64_t)job->size, acc, n,
                              job->reduced.size);
        else
            memcpy(job->partial + (chunk * job->kept.size + at) * ACC_BYTES, acc,
                   (size_t)n * ACC_BYTES);
    }
}

/* ---- the plan ---- */

/* Which elements make one share, from the shape alone: so the bits are the same on any number of
 * threads. */
static void job_plan(reduce_job *job)
{
    const mxl_walk *kept = &job->kept, *reduced = &job->reduced;
    int64_t out_stride = kept->stride[0][kept->ndim - 1];
    int64_t stride = reduced->stride[0][reduced->ndim - 1];
    int64_t run = reduced->shape[reduced->ndim - 1], total = reduced->size;

    job->width = kept->shape[kept->ndim - 1];
    job->by_rows = job->width == 1 || (out_stride != 1 && llabs(stride) <= llabs(out_stride));
    job->direct =
        job->dtype == job->wide && (job->by_rows ? stride == 1 || run == 1 : out_stride == 1);
    job->tile = least(job->width, job->direct ? REDUCE_COLUMNS : REDUCE_COLUMNS / 2);
    if (job->by_rows)
        job->tile = least(job->tile, 1 + CHUNK / total + RUN / run);
    job->tiles = parts(job->width, job->tile);
    job->chunk = total;
    if (kept->size / job->width * job->tiles <= FEW && total * job->tile >= 2 * CHUNK) {
        job->chunk = parts(job->by_rows ? CHUNK : 4 * CHUNK, job->tile);
        if (parts(total, job->chunk) > MOST_CHUNKS)
            job->chunk = parts(total, MOST_CHUNKS);
    }
    job->chunks = parts(total, job->chunk);
}

static int job_run(reduce_job *job)
{
    int64_t units = job->kept.size / job->width * job->tiles * job->chunks;
    int64_t weight = job->kept.size * job->reduced.size / units;
    size_t bytes = (size_t)(job->chunks * job->kept.size) * ACC_BYTES;

    if (job->chunks > 1) {
        job->partial = mxl_alloc(bytes);
        if (job->partial == NULL)
            return -1;
    }
    mxl_parallel_for(units, parts(GRAIN, weight), reduce_share, job);
    if (job->chunks > 1) {
        acc_join(job, job->partial, job->partial + job->kept.size * ACC_BYTES, job->kept.size,
                 job->chunks - 1);
        mxl_reduce_finish(job->kind, job->dtype, job->out, job->partial, job->kept.size,
                          job->reduced.size);
        mxl_free(job->partial, bytes);
        job->partial = NULL;
    }
    return 0;
}

/* Whether some of n floats are not finite. */
static bool any_unbounded(const float *x, int64_t n)
{
    int any = 0;

    for (int64_t i = 0; i < n; i++)
        any |= x[i] - x[i] != 0;
    return any;
}

/* Sorts the reduced axes: any order of them gives the result, and the closest elements are best
 * taken first. */
static void sort_axes(int ndim, int64_t *shape, int64_t *strides, const char **in, size_t size)
{
    for (int i = 0; i < ndim; i++) {
        int64_t extent = shape[i], stride = strides[i];
        int at = i;

        if (stride < 0) {
            *in += stride * (extent - 1) * (int64_t)size;
            stride = -stride;
        }
        for (; at > 0 && strides[at - 1] < stride; at--) {
            shape[at] = shape[at - 1];
            strides[at] = strides[at - 1];
        }
        shape[at] = extent;
        strides[at] = stride;
    }
}

int mxl_reduce(mxl_reduction kind, int dtype, int ndim, const int64_t *shape,
               const int64_t *strides, const bool *reduced, const void *in, void *out)
{
    int64_t part_shape[2][MXL_MAX_NDIM], part_strides[2][MXL_MAX_NDIM];
    const int64_t *kept_strides = part_strides[0], *reduced_strides = part_strides[1];
    int count[2] = {0, 0};
    reduce_job job;

    job.kind = kind;
    job.dtype = dtype;
    job.wide = mxl_reduce_wide(dtype);
    job.loops = mxl_reduce_loops_of(job.wide);
    job.size = mxl_dtype_size(dtype);
    job.block = BLOCK / (int64_t)mxl_dtype_size(job.wide);
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
    if (job.kept.size == 0)
        return 0;
    sort_axes(count[1], part_shape[1], part_strides[1], &job.in, job.size);
    mxl_walk_init(&job.reduced, 1, count[1], part_shape[1], &reduced_strides);
    if (job.reduced.size == 0) {
        _Alignas(8) char acc[ACC_BYTES];

        mxl_reduce_start(kind, job.wide, acc, 1);
        for (int64_t i = 0; i < job.kept.size; i++)
            mxl_reduce_finish(kind, dtype, job.out + i * (int64_t)job.size, acc, 1, 0);
        return 0;
    }
    job_plan(&job);
    if (job_run(&job) != 0)
        return -1;
    /* Four floats may have overflowed where their sum with the others does not. */
    if (dtype == MXL_F32 && joining(kind) == MXL_REDUCE_SUM && kind != MXL_REDUCE_NORM2 &&
        any_unbounded((const float *)out, job.kept.size)) {
        job.wide = MXL_F64;
        job.block = BLOCK / (int64_t)sizeof(double);
        job.loops = mxl_reduce_loops_of(MXL_F64);
        job.direct = false;
        return job_run(&job);
    }
    return 0;
}
