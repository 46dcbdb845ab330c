/* Iterates over the elements of a reduction: sorts dimensions into kept and reduced, works by rows
 * or columns, and divides into chunks, whose borders depend only on the shape, and blocks. */
#include "kernel/reduce/reduce_job.h"

#include <stdlib.h>

#include "base/dtype.h"
#include "kernel/copy/copy_loops.h"

enum {
    GRAIN = 32768, /* elements that are worth another thread */
    CHUNK =
        16384, /* elements per chunk when there are few results; four times as many for columns */
    FEW = 64,  /* tiles: with fewer the elements of each are divided into chunks */
    MOST_CHUNKS = 64,
    BLOCK = 16384, /* bytes gathered at a time */
    RUN = 2048     /* elements that are worth a call of a loop */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t parts(int64_t n, int64_t size)
{
    return (n + size - 1) / size;
}

/* The kind that combines accumulators: these are already sums or products, and a NaN among them
 * counts. */
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

void mxl_reduce_join(mxl_reduction kind, int wide, void *acc, const void *more, int64_t n,
                     int64_t rows)
{
    int dtype = mxl_dtype_is_float(wide) ? MXL_F64 : MXL_I64;
    mxl_reduce_loop join = mxl_reduce_loops_of(dtype)->columns[joining(kind)];

    for (int64_t j = 0; j < n; j += REDUCE_COLUMNS)
        join((char *)acc + j * REDUCE_ACC, (const char *)more + j * REDUCE_ACC,
             least(n - j, REDUCE_COLUMNS), rows, n);
}

bool mxl_reduce_unbounded(const float *x, int64_t n)
{
    int any = 0;

    for (int64_t i = 0; i < n; i++)
        any |= x[i] - x[i] != 0;
    return any;
}

/* ---- one block: n outputs of m elements each ---- */

/* Copies n elements, `stride` apart, to neighbours of the loops' dtype. */
static void fetch(const mxl_reduce_job *job, char *to, const char *in, int64_t stride, int64_t n)
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

/* Copies `rows` rows of n elements, one after another. */
static void fetch_rows(const mxl_reduce_job *job, char *to, const char *in, int64_t rows,
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

/* Accumulates n rows of m elements of the loops' dtype into accumulators from `j` on, which lie in
 * `room`. */
static void give_rows(const mxl_reduce_job *job, const mxl_reduce_into *to, int64_t j,
                      const char *from, int64_t n, int64_t m, int64_t stride, char *room)
{
    const mxl_reduce_loop *loop = job->loops->rows;

    if (to->about != NULL) {
        job->loops->rows_less(room, from, to->about + j * (int64_t)mxl_dtype_size(job->wide), n, m,
                              stride);
        from = room;
        stride = m;
    }
    loop[job->kind](to->acc + j * REDUCE_ACC, from, n, m, stride);
    if (to->squares != NULL)
        loop[MXL_REDUCE_SQUARES](to->squares + j * REDUCE_ACC, from, n, m, stride);
}

static void block_rows(const mxl_reduce_job *job, const mxl_reduce_into *to, const char *in,
                       int64_t n, int64_t out_stride, int64_t m, int64_t stride)
{
    _Alignas(64) char block[BLOCK];
    int64_t most = BLOCK / (int64_t)mxl_dtype_size(job->wide);
    int64_t size = (int64_t)job->size, width = least(m, most), rows = most / width;

    if (job->direct && to->about == NULL) {
        give_rows(job, to, 0, in, n, m, out_stride, NULL);
        return;
    }
    for (int64_t j = 0; j < n; j += rows) {
        for (int64_t i = 0; i < m; i += width) {
            int64_t high = least(rows, n - j), wide = least(width, m - i);
            const char *from = in + (j * out_stride + i * stride) * size;

            if (!job->direct)
                fetch_rows(job, block, from, high, out_stride, wide, stride);
            give_rows(job, to, j, job->direct ? from : block, high, wide,
                      job->direct ? out_stride : wide, block);
        }
    }
}

/* m rows of n elements into n accumulators. */
static void give_columns(const mxl_reduce_job *job, const mxl_reduce_into *to, const char *from,
                         int64_t n, int64_t m, int64_t stride, char *room)
{
    const mxl_reduce_loop *loop = job->loops->columns;

    if (to->about != NULL) {
        job->loops->columns_less(room, from, to->about, n, m, stride);
        from = room;
        stride = n;
    }
    loop[job->kind](to->acc, from, n, m, stride);
    if (to->squares != NULL)
        loop[MXL_REDUCE_SQUARES](to->squares, from, n, m, stride);
}

static void block_columns(const mxl_reduce_job *job, const mxl_reduce_into *to, const char *in,
                          int64_t n, int64_t out_stride, int64_t m, int64_t stride);

/* Treats contiguous rows of n elements as fewer rows of more columns. */
static void block_narrow(const mxl_reduce_job *job, const mxl_reduce_into *to, const char *in,
                         int64_t n, int64_t m)
{
    _Alignas(64) char acc[REDUCE_COLUMNS * REDUCE_ACC], squares[REDUCE_COLUMNS * REDUCE_ACC];
    _Alignas(64) char about[REDUCE_COLUMNS * REDUCE_ACC];
    int64_t many = REDUCE_COLUMNS / n, whole = m - m % many;
    int64_t size = (int64_t)mxl_dtype_size(job->wide);
    mxl_reduce_into wide = {.acc = acc};

    mxl_reduce_start(job->kind, job->wide, acc, many * n);
    if (to->squares != NULL) {
        mxl_reduce_start(MXL_REDUCE_SQUARES, job->wide, squares, many * n);
        wide.squares = squares;
    }
    if (to->about != NULL) {
        mxl_copy_pieces(n * size, many, about, n * size, to->about, 0);
        wide.about = about;
    }
    block_columns(job, &wide, in, many * n, 1, m / many, many * n);
    mxl_reduce_join(job->kind, job->wide, to->acc, acc, n, many);
    if (to->squares != NULL)
        mxl_reduce_join(job->kind, job->wide, to->squares, squares, n, many);
    if (whole < m)
        block_columns(job, to, in + whole * n * (int64_t)job->size, n, 1, m - whole, n);
}

static void block_columns(const mxl_reduce_job *job, const mxl_reduce_into *to, const char *in,
                          int64_t n, int64_t out_stride, int64_t m, int64_t stride)
{
    _Alignas(64) char block[BLOCK];
    int64_t rows = BLOCK / (int64_t)mxl_dtype_size(job->wide) / n;

    if (out_stride == 1 && stride == n && n <= REDUCE_COLUMNS / 8 && m * n >= 4 * REDUCE_COLUMNS) {
        block_narrow(job, to, in, n, m);
        return;
    }
    if (job->direct && to->about == NULL) {
        give_columns(job, to, in, n, m, stride, NULL);
        return;
    }
    for (int64_t i = 0; i < m; i += rows) {
        int64_t high = least(rows, m - i);
        const char *from = in + i * stride * (int64_t)job->size;

        if (!job->direct)
            fetch_rows(job, block, from, high, stride, n, out_stride);
        give_columns(job, to, job->direct ? from : block, n, high, job->direct ? stride : n, block);
    }
}

/* ---- chunks ---- */

void mxl_reduce_span(const mxl_reduce_job *job, const mxl_reduce_unit *unit,
                     const mxl_reduce_into *to)
{
    const mxl_walk *walk = &job->reduced;
    int last = walk->ndim - 1;
    int64_t stride = walk->stride[0][last], begin = unit->begin;
    int64_t out_stride = job->kept.stride[0][job->kept.ndim - 1];
    mxl_cursor cursor;

    mxl_cursor_seek(&cursor, walk, 0, begin);
    while (begin < unit->end) {
        int64_t m = least(walk->shape[last] - cursor.inner, unit->end - begin);
        const char *at = unit->in + mxl_cursor_offset(&cursor, walk, 0) * (int64_t)job->size;

        if (job->by_rows)
            block_rows(job, to, at, unit->n, out_stride, m, stride);
        else
            block_columns(job, to, at, unit->n, out_stride, m, stride);
        mxl_cursor_skip(&cursor, walk, 0, m);
        begin += m;
    }
}

mxl_reduce_unit mxl_reduce_unit_at(const mxl_reduce_job *job, int64_t number)
{
    int64_t tile = number / job->chunks, first = tile % job->tiles * job->tile;
    mxl_reduce_unit unit = {.n = least(job->width - first, job->tile)};
    mxl_cursor cursor;

    unit.at = tile / job->tiles * job->width + first;
    unit.chunk = number % job->chunks;
    unit.begin = unit.chunk * job->chunk;
    unit.end = least(unit.begin + job->chunk, job->reduced.size);
    mxl_cursor_seek(&cursor, &job->kept, 0, unit.at);
    unit.in = job->in + mxl_cursor_offset(&cursor, &job->kept, 0) * (int64_t)job->size;
    return unit;
}

/* ---- the plan ---- */

void mxl_reduce_job_plan(mxl_reduce_job *job, int wide)
{
    const mxl_walk *kept = &job->kept, *reduced = &job->reduced;
    int64_t out_stride = kept->stride[0][kept->ndim - 1];
    int64_t stride = reduced->stride[0][reduced->ndim - 1];
    int64_t run = reduced->shape[reduced->ndim - 1], total = reduced->size;

    job->wide = wide;
    job->loops = mxl_reduce_loops_of(wide);
    job->width = kept->shape[kept->ndim - 1];
    job->by_rows = job->width == 1 || (out_stride != 1 && llabs(stride) <= llabs(out_stride));
    job->direct = job->dtype == wide && (job->by_rows ? stride == 1 || run == 1 : out_stride == 1);
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

void mxl_reduce_job_limit(mxl_reduce_job *job, int64_t most)
{
    job->chunk = least(job->chunk, most);
    job->chunks = parts(job->reduced.size, job->chunk);
}

/* Sorts the reduced dimensions by stride: their order does not change the result, and neighbouring
 * elements are best read first. */
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

bool mxl_reduce_job_init(mxl_reduce_job *job, mxl_reduction kind, int dtype, int ndim,
                         const int64_t *shape, const int64_t *strides, const bool *reduced,
                         const void *in)
{
    int64_t part_shape[2][MXL_MAX_NDIM] = {{0}}, part_strides[2][MXL_MAX_NDIM] = {{0}};
    const int64_t *kept_strides = part_strides[0], *reduced_strides = part_strides[1];
    int count[2] = {0, 0};

    job->kind = kind;
    job->dtype = dtype;
    job->size = mxl_dtype_size(dtype);
    job->in = in;
    for (int axis = 0; axis < ndim; axis++) {
        int part = reduced[axis] ? 1 : 0;

        part_shape[part][count[part]] = shape[axis];
        part_strides[part][count[part]] = strides[axis];
        count[part]++;
    }
    mxl_walk_init(&job->kept, 1, count[0], part_shape[0], &kept_strides);
    sort_axes(count[1], part_shape[1], part_strides[1], &job->in, job->size);
    mxl_walk_init(&job->reduced, 1, count[1], part_shape[1], &reduced_strides);
    return job->kept.size > 0 && job->reduced.size > 0;
}

void mxl_reduce_job_run(const mxl_reduce_job *job, mxl_range_fn share, void *data)
{
    int64_t units = job->kept.size / job->width * job->tiles * job->chunks;
    int64_t weight = job->kept.size * job->reduced.size / units;

    mxl_parallel_for(units, parts(GRAIN, weight), share, data);
}
