/* Strided copies: straight blocks, rows, and square tiles where input and output run along
 * different axes. */
#include "kernel/copy.h"

#include <string.h>

#include "base/thread.h"
#include "kernel/target.h"
#include "kernel/walk.h"

enum {
    BYTES_GRAIN = 1 << 18, /* bytes that are worth another thread */
    ELEMENTS_GRAIN = 32768,
    TILE = 32 /* side of a transposed tile: both halves fit the first cache */
};

/* ---- blocks ---- */
typedef struct bytes_job {
    char *out;
    const char *in;
    size_t bytes;
} bytes_job;

static void bytes_share(void *data, int64_t begin, int64_t end)
{
    const bytes_job *job = data;

    memcpy(job->out + begin, job->in + begin, (size_t)(end - begin));
}

void mxl_copy_bytes(void *out, const void *in, size_t bytes)
{
    bytes_job job = {out, in, bytes};

    if (bytes == 0)
        return;
    if (bytes <= BYTES_GRAIN)
        memcpy(out, in, bytes);
    else
        mxl_parallel_for((int64_t)bytes, BYTES_GRAIN, bytes_share, &job);
}

typedef struct fill_job {
    size_t width;
    char *out;
    const void *value;
} fill_job;

static void fill_share(void *data, int64_t begin, int64_t end)
{
    const fill_job *job = data;

    mxl_copy_run(job->width, job->out + begin * (int64_t)job->width, 1, job->value, 0, end - begin);
}

void mxl_fill(size_t width, void *out, const void *value, int64_t n)
{
    fill_job job = {width, out, value};

    if (n <= ELEMENTS_GRAIN)
        fill_share(&job, 0, n);
    else
        mxl_parallel_for(n, ELEMENTS_GRAIN, fill_share, &job);
}

/* ---- strided ---- */
typedef struct copy_job {
    size_t width;
    char *out;
    const char *in;
    mxl_walk walk; /* operand 0: out, operand 1: in */
    int64_t tiles; /* bands of TILE along `across`, for transposed copies */
    int across;    /* the axis that the input runs along */
} copy_job;

static void rows_share(void *data, int64_t begin, int64_t end)
{
    const copy_job *job = data;
    const mxl_walk *walk = &job->walk;
    int last = walk->ndim - 1;
    int64_t width = (int64_t)job->width;
    mxl_cursor out, in;

    mxl_cursor_seek(&out, walk, 0, begin);
    mxl_cursor_seek(&in, walk, 1, begin);
    for (int64_t pos = begin; pos < end;) {
        int64_t n = walk->shape[last] - in.inner;

        if (n > end - pos)
            n = end - pos;
        mxl_copy_run(job->width, job->out + mxl_cursor_offset(&out, walk, 0) * width,
                     walk->stride[0][last], job->in + mxl_cursor_offset(&in, walk, 1) * width,
                     walk->stride[1][last], n);
        mxl_cursor_skip(&out, walk, 0, n);
        mxl_cursor_skip(&in, walk, 1, n);
        pos += n;
    }
}

/* dst[j * dst_step + i] = src[j + i * src_step] */
#define TILE_COPY(T)                                                                               \
    MXL_INLINE void tile_copy_##T##_at(int level, void *dst, int64_t dst_step, const void *src,    \
                                       int64_t src_step, int64_t nj, int64_t ni)                   \
    {                                                                                              \
        T *d = dst;                                                                                \
        const T *s = src;                                                                          \
                                                                                                   \
        (void)level;                                                                               \
        for (int64_t j = 0; j < nj; j++) {                                                         \
            MXL_IVDEP                                                                              \
            for (int64_t i = 0; i < ni; i++)                                                       \
                d[j * dst_step + i] = s[j + i * src_step];                                         \
        }                                                                                          \
    }                                                                                              \
    MXL_BY_LEVEL(                                                                                  \
        tile_copy_##T,                                                                             \
        (void *dst, int64_t dst_step, const void *src, int64_t src_step, int64_t nj, int64_t ni),  \
        dst, dst_step, src, src_step, nj, ni)

TILE_COPY(uint8_t)
TILE_COPY(uint16_t)
TILE_COPY(uint32_t)
TILE_COPY(uint64_t)

static void tile_copy(size_t width, void *dst, int64_t dst_step, const void *src, int64_t src_step,
                      int64_t nj, int64_t ni)
{
    if (width == 4)
        tile_copy_uint32_t(dst, dst_step, src, src_step, nj, ni);
    else if (width == 8)
        tile_copy_uint64_t(dst, dst_step, src, src_step, nj, ni);
    else if (width == 2)
        tile_copy_uint16_t(dst, dst_step, src, src_step, nj, ni);
    else
        tile_copy_uint8_t(dst, dst_step, src, src_step, nj, ni);
}

/* A unit of work is a band of TILE positions along `across`, over the whole last axis. */
static void tiles_share(void *data, int64_t begin, int64_t end)
{
    const copy_job *job = data;
    const mxl_walk *walk = &job->walk;
    int last = walk->ndim - 1, across = job->across;
    int64_t width = (int64_t)job->width;

    for (int64_t unit = begin; unit < end; unit++) {
        int64_t first = unit % job->tiles * TILE, rest = unit / job->tiles;
        int64_t nj = walk->shape[across] - first < TILE ? walk->shape[across] - first : TILE;
        int64_t out = first * walk->stride[0][across], in = first;

        for (int axis = last - 1; axis >= 0; axis--) {
            if (axis == across)
                continue;
            out += rest % walk->shape[axis] * walk->stride[0][axis];
            in += rest % walk->shape[axis] * walk->stride[1][axis];
            rest /= walk->shape[axis];
        }
        for (int64_t i = 0; i < walk->shape[last]; i += TILE) {
            int64_t ni = walk->shape[last] - i < TILE ? walk->shape[last] - i : TILE;

            tile_copy(job->width, job->out + (out + i) * width, walk->stride[0][across],
                      job->in + (in + i * walk->stride[1][last]) * width, walk->stride[1][last], nj,
                      ni);
        }
    }
}

/* The axis along which the input, but not the output, runs element by element; -1: none that is
 * worth tiles. */
static int copy_across(const mxl_walk *walk)
{
    int last = walk->ndim - 1;

    if (walk->stride[0][last] != 1 || walk->stride[1][last] == 1 || walk->stride[1][last] == 0 ||
        walk->shape[last] < 4)
        return -1;
    for (int axis = 0; axis < last; axis++) {
        if (walk->stride[1][axis] == 1 && walk->shape[axis] >= 4)
            return axis;
    }
    return -1;
}

/* Axes in the order of the output's memory, so that it is written in one sweep. */
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
    copy_job job = {.width = width, .out = out, .in = in};

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
    job.across = copy_across(&job.walk);
    if (job.across >= 0) {
        int64_t band = TILE * job.walk.shape[job.walk.ndim - 1];

        job.tiles = (job.walk.shape[job.across] + TILE - 1) / TILE;
        mxl_parallel_for(job.walk.size / job.walk.shape[job.walk.ndim - 1] /
                             job.walk.shape[job.across] * job.tiles,
                         (ELEMENTS_GRAIN + band - 1) / band, tiles_share, &job);
    } else {
        mxl_parallel_for(job.walk.size, ELEMENTS_GRAIN, rows_share, &job);
    }
}
