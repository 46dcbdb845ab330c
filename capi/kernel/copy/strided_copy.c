/* Copies of strided data: contiguous blocks, pieces side by side, runs of elements, and blocks that
 * are transposed because input and output are contiguous along different axes. */
#include "kernel/copy/strided_copy.h"

#include "base/thread.h"
#include "kernel/copy/copy_loops.h"
#include "kernel/elementwise/strided_walk.h"

enum {
    BYTES_GRAIN = 1 << 18, /* bytes that are worth another thread */
    ELEMENTS_GRAIN = 32768,
    STREAM_FROM = 12 << 20, /* bytes from which copies bypass the caches */
    STREAM_ROW = 4096,
    SHORT = 16,     /* rows shorter than this are copied along another axis */
    LANES = 64,     /* the most such rows that are copied together, */
    LANE_RUN = 256, /* and elements of each at a time */
    BAND = 512,     /* bytes of the input's rows that are transposed together, */
    SEGMENT = 256   /* and rows at a time */
};

/* ---- blocks ---- */
typedef struct bytes_job {
    char *out;
    const char *in;
    size_t bytes;
} bytes_job;

static void bytes_chunk(void *data, int64_t begin, int64_t end)
{
    const bytes_job *job = data;

    if (job->bytes < STREAM_FROM)
        mxl_copy_block(job->out + begin, job->in + begin, (size_t)(end - begin));
    else
        mxl_copy_stream(job->out + begin, job->in + begin, (size_t)(end - begin));
}

void mxl_copy_bytes(void *out, const void *in, size_t bytes)
{
    bytes_job job = {out, in, bytes};

    if (bytes == 0)
        return;
    if (bytes <= BYTES_GRAIN)
        mxl_copy_block(out, in, bytes);
    else
        mxl_parallel_for((int64_t)bytes, BYTES_GRAIN, bytes_chunk, &job);
}

typedef struct fill_job {
    size_t width;
    char *out;
    const void *value;
} fill_job;

static void fill_chunk(void *data, int64_t begin, int64_t end)
{
    const fill_job *job = data;

    mxl_copy_run(job->width, job->out + begin * (int64_t)job->width, 1, job->value, 0, end - begin);
}

void mxl_fill(size_t width, void *out, const void *value, int64_t n)
{
    fill_job job = {width, out, value};

    if (n <= ELEMENTS_GRAIN)
        fill_chunk(&job, 0, n);
    else
        mxl_parallel_for(n, ELEMENTS_GRAIN, fill_chunk, &job);
}

/* ---- strided ---- */
typedef struct copy_job copy_job;

/* Copies part of a row, or `rows` whole rows that begin at the offsets `out` and `in`. */
typedef void (*copier)(const copy_job *job, int64_t out, int64_t in, int64_t n, int64_t rows);

struct copy_job {
    size_t width;
    char *out;
    const char *in;
    mxl_walk walk; /* operand 0: out, operand 1: in */
    copier copy;
    int64_t most;  /* elements of a row that are copied at a time */
    int64_t lanes; /* the number of positions along the short axes after the walk's last, */
    int64_t lane[2][LANES];  /* and their offsets */
    int64_t bands, segments; /* of transposed copies */
    int across;              /* the axis along which their input is contiguous */
};

static void copy_runs(const copy_job *job, int64_t out, int64_t in, int64_t n, int64_t rows)
{
    const mxl_walk *walk = &job->walk;
    int last = walk->ndim - 1;
    int64_t width = (int64_t)job->width;

    (void)rows;
    for (int64_t k = 0; k < job->lanes; k++)
        mxl_copy_run(job->width, job->out + (out + job->lane[0][k]) * width, walk->stride[0][last],
                     job->in + (in + job->lane[1][k]) * width, walk->stride[1][last], n);
}

static void copy_pieces(const copy_job *job, int64_t out, int64_t in, int64_t n, int64_t rows)
{
    const mxl_walk *walk = &job->walk;
    int axis = walk->ndim - 2;
    int64_t width = (int64_t)job->width;
    int64_t out_step = rows > 1 ? walk->stride[0][axis] : 0;
    int64_t in_step = rows > 1 ? walk->stride[1][axis] : 0;

    mxl_copy_pieces(n * width, rows, job->out + out * width, out_step * width, job->in + in * width,
                    in_step * width);
}

/* Long rows of a copy that is larger than the caches. */
static void copy_streams(const copy_job *job, int64_t out, int64_t in, int64_t n, int64_t rows)
{
    int64_t width = (int64_t)job->width;

    (void)rows;
    mxl_copy_stream(job->out + out * width, job->in + in * width, (size_t)(n * width));
}

static void rows_chunk(void *data, int64_t begin, int64_t end)
{
    const copy_job *job = data;
    const mxl_walk *walk = &job->walk;
    int last = walk->ndim - 1;
    mxl_cursor out, in;

    mxl_cursor_seek(&out, walk, 0, begin);
    mxl_cursor_seek(&in, walk, 1, begin);
    for (int64_t pos = begin; pos < end;) {
        int64_t length = walk->shape[last], n = length - in.inner, rows = 1;

        if (n > end - pos)
            n = end - pos;
        if (n > job->most)
            n = job->most;
        if (n == length && last > 0 && job->copy == copy_pieces) {
            rows = walk->shape[last - 1] - in.index[last - 1];
            rows = (end - pos) / n < rows ? (end - pos) / n : rows;
        }
        job->copy(job, mxl_cursor_offset(&out, walk, 0), mxl_cursor_offset(&in, walk, 1), n, rows);
        if (rows > 1) {
            mxl_cursor_next_rows(&out, walk, 0, rows);
            mxl_cursor_next_rows(&in, walk, 1, rows);
        } else {
            mxl_cursor_skip(&out, walk, 0, n);
            mxl_cursor_skip(&in, walk, 1, n);
        }
        pos += n * rows;
    }
}

/* If rows are short, copies run along the longest axis instead, and each position of the short axes
 * after it becomes a lane. If no axis is longer, the last axis stays and is the only lane. */
static void choose_lanes(copy_job *job)
{
    mxl_walk *walk = &job->walk;
    int last = walk->ndim - 1, run = last;
    int64_t count = 1, lanes = 1;

    for (int axis = last; axis >= 0 && walk->shape[last] < SHORT && count <= LANES; axis--) {
        if (walk->shape[axis] > walk->shape[run]) {
            run = axis;
            lanes = count;
        }
        count *= walk->shape[axis];
    }
    job->copy = copy_runs;
    job->lanes = lanes;
    for (int64_t k = 0; k < lanes; k++) {
        int64_t rest = k;

        job->lane[0][k] = job->lane[1][k] = 0;
        for (int axis = last; axis > run; axis--) {
            job->lane[0][k] += rest % walk->shape[axis] * walk->stride[0][axis];
            job->lane[1][k] += rest % walk->shape[axis] * walk->stride[1][axis];
            rest /= walk->shape[axis];
        }
    }
    walk->ndim = run + 1;
    walk->size /= lanes;
    job->most = lanes > 1 ? LANE_RUN : walk->size;
}

static void choose_copier(copy_job *job)
{
    const mxl_walk *walk = &job->walk;
    int last = walk->ndim - 1;
    int64_t width = (int64_t)job->width;

    if (walk->stride[0][last] != 1 || walk->stride[1][last] != 1) {
        choose_lanes(job);
        return;
    }
    job->lanes = 1;
    job->most = walk->size;
    job->copy = walk->size >= STREAM_FROM / width && walk->shape[last] >= STREAM_ROW / width
                    ? copy_streams
                    : copy_pieces;
}

/* One item of the range is a piece of a band along `across` and of a segment of the last axis. */
static void transpose_chunk(void *data, int64_t begin, int64_t end)
{
    const copy_job *job = data;
    const mxl_walk *walk = &job->walk;
    int last = walk->ndim - 1, across = job->across;
    int64_t width = (int64_t)job->width, band = BAND / width;

    for (int64_t unit = begin; unit < end; unit++) {
        int64_t i = unit % job->segments * SEGMENT, rest = unit / job->segments;
        int64_t j = rest % job->bands * band;
        int64_t nj = walk->shape[across] - j < band ? walk->shape[across] - j : band;
        int64_t ni = walk->shape[last] - i < SEGMENT ? walk->shape[last] - i : SEGMENT;
        int64_t out = j * walk->stride[0][across] + i, in = j + i * walk->stride[1][last];

        rest /= job->bands;
        for (int axis = last - 1; axis >= 0; axis--) {
            if (axis == across)
                continue;
            out += rest % walk->shape[axis] * walk->stride[0][axis];
            in += rest % walk->shape[axis] * walk->stride[1][axis];
            rest /= walk->shape[axis];
        }
        mxl_transpose_kernel(job->width, job->out + out * width, walk->stride[0][across],
                             job->in + in * width, walk->stride[1][last], nj, ni);
    }
}

static void transpose_all(copy_job *job)
{
    int64_t n = job->walk.shape[job->walk.ndim - 1], extent = job->walk.shape[job->across];
    int64_t band = BAND / (int64_t)job->width, planes = job->walk.size / n / extent;

    job->bands = (extent + band - 1) / band;
    job->segments = (n + SEGMENT - 1) / SEGMENT;
    band = extent < band ? extent : band;
    n = n < SEGMENT ? n : SEGMENT;
    mxl_parallel_for(planes * job->bands * job->segments, ELEMENTS_GRAIN / (band * n),
                     transpose_chunk, job);
}

/* The axis along which the input, but not the output, is contiguous; -1: no axis for which
 * transposing blocks pays. */
static int find_across(const mxl_walk *walk, size_t width)
{
    int last = walk->ndim - 1;
    int64_t least = width > 4 ? 4 : 16 / (int64_t)width;

    if (walk->stride[0][last] != 1 || walk->stride[1][last] == 1 || walk->stride[1][last] == 0 ||
        walk->shape[last] < least)
        return -1;
    for (int axis = 0; axis < last; axis++) {
        if (walk->stride[1][axis] == 1 && walk->shape[axis] >= least)
            return axis;
    }
    return -1;
}

/* Sorts the axes by the output's strides, so that the output is written sequentially. */
static void copy_sort_axes(int ndim, int64_t *shape, int64_t *out, int64_t *in)
{
    for (int i = 1; i < ndim; i++) {
        int64_t extent = shape[i], o = out[i], s = in[i];
        int j = i;

        while (j > 0 && (out[j - 1] < 0 ? -out[j - 1] : out[j - 1]) < (o < 0 ? -o : o)) {
            shape[j] = shape[j - 1];
            out[j] = out[j - 1];
            in[j] = in[j - 1];
            j--;
        }
        shape[j] = extent;
        out[j] = o;
        in[j] = s;
    }
}

void mxl_copy_strided(size_t width, int ndim, const int64_t *shape, void *out,
                      const int64_t *out_strides, const void *in, const int64_t *in_strides)
{
    int64_t extents[MXL_MAX_NDIM], out_step[MXL_MAX_NDIM], in_step[MXL_MAX_NDIM];
    const int64_t *strides[2] = {out_step, in_step};
    copy_job job;

    job.width = width;
    job.out = out;
    job.in = in;
    for (int i = 0; i < ndim; i++) {
        extents[i] = shape[i];
        out_step[i] = out_strides[i];
        in_step[i] = in_strides[i];
    }
    copy_sort_axes(ndim, extents, out_step, in_step);
    mxl_walk_init(&job.walk, 2, ndim, extents, strides);
    if (job.walk.size == 0)
        return;
    if (job.walk.ndim == 1 && job.walk.stride[0][0] == 1 && job.walk.stride[1][0] == 1) {
        mxl_copy_bytes(out, in, (size_t)job.walk.size * width);
        return;
    }
    job.across = find_across(&job.walk, width);
    if (job.across >= 0) {
        transpose_all(&job);
        return;
    }
    choose_copier(&job);
    mxl_parallel_for(job.walk.size, BYTES_GRAIN / 2 / (int64_t)width / job.lanes, rows_chunk, &job);
}
