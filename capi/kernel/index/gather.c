/* take, one_hot, and adding by index; see gather.h. */
#include "kernel/index/gather.h"

#include <stdbool.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/half.h"
#include "base/thread.h"
#include "kernel/copy/cast.h"
#include "kernel/copy/strided_copy.h"
#include "kernel/copy/copy_loops.h"

enum { BYTES_GRAIN = 1 << 17, COLUMNS_GRAIN = 256 };

static int64_t at_least_one(int64_t n)
{
    return n < 1 ? 1 : n;
}

/* ---- indices ---- */
static bool all_within(int64_t n, const int64_t *index, int64_t extent)
{
    bool within = true;

    for (int64_t i = 0; i < n; i++)
        within &= (uint64_t)index[i] < (uint64_t)extent;
    return within;
}

static int bring_within(int64_t n, int64_t *out, int64_t extent, mxl_index_mode mode)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t v = out[i];

        if (v >= 0 && v < extent)
            continue;
        if (mode == MXL_INDEX_RAISE)
            return mxl_error("index %lld is out of bounds for an axis of extent %lld", (long long)v,
                             (long long)extent);
        if (mode == MXL_INDEX_WRAP)
            out[i] = v % extent < 0 ? v % extent + extent : v % extent;
        else
            out[i] = v < 0 ? 0 : extent - 1;
    }
    return 0;
}

int mxl_index_resolve(int dtype, const void *index, int64_t n, int64_t extent, mxl_index_mode mode,
                      int64_t *out)
{
    int64_t step = 1;

    if (n == 0)
        return 0;
    mxl_cast_loop(dtype, MXL_I64)(out, &index, &step, n, NULL);
    if (mode == MXL_INDEX_KEEP)
        return 0;
    if (extent <= 0)
        return mxl_error("an index into an axis of extent 0");
    return all_within(n, out, extent) ? 0 : bring_within(n, out, extent, mode);
}

/* ---- take ---- */
typedef struct take_job {
    int64_t extent, bytes, n;
    const char *in;
    char *out;
    const int64_t *index;
} take_job;

/* One item of the range is one piece of the output. */
static void take_chunk(void *data, int64_t begin, int64_t end)
{
    const take_job *job = data;

    while (begin < end) {
        int64_t o = begin / job->n, j = begin % job->n;
        int64_t n = job->n - j < end - begin ? job->n - j : end - begin;

        mxl_copy_pieces_at(job->bytes, n, job->out + begin * job->bytes,
                           job->in + o * job->extent * job->bytes, job->index + j);
        begin += n;
    }
}

void mxl_take(int64_t outer, int64_t extent, int64_t bytes, const void *in, int64_t n,
              const int64_t *index, void *out)
{
    take_job job = {extent, bytes, n, in, out, index};

    if (outer * n > 0 && bytes > 0)
        mxl_parallel_for(outer * n, at_least_one(BYTES_GRAIN / bytes), take_chunk, &job);
}

/* ---- scatter ---- */
typedef struct scatter_job {
    int64_t outer, extent, inner, n;
    void *out;
    const int64_t *index;
    const void *in;
} scatter_job;

/* One item of the range is a column, so that no two threads write to one element and each adds in
 * order of j. */
#define SCATTER(T, ADD)                                                                            \
    static void scatter_##T(void *data, int64_t begin, int64_t end)                                \
    {                                                                                              \
        const scatter_job *job = data;                                                             \
                                                                                                   \
        for (int64_t o = 0; o < job->outer; o++) {                                                 \
            for (int64_t j = 0; j < job->n; j++) {                                                 \
                T *restrict to = (T *)job->out + (o * job->extent + job->index[j]) * job->inner;   \
                const T *restrict from = (const T *)job->in + (o * job->n + j) * job->inner;       \
                                                                                                   \
                for (int64_t i = begin; i < end; i++)                                              \
                    to[i] = ADD(T, to[i], from[i]);                                                \
            }                                                                                      \
        }                                                                                          \
    }

#define ADD_PLAIN(T, a, b) ((T)((a) + (b)))
#define ADD_HALF(T, a, b)  mxl_half_from_float(mxl_half_to_float(a) + mxl_half_to_float(b))

SCATTER(float, ADD_PLAIN)
SCATTER(double, ADD_PLAIN)
SCATTER(mxl_half, ADD_HALF)
SCATTER(uint8_t, ADD_PLAIN)
SCATTER(int8_t, ADD_PLAIN)
SCATTER(int32_t, ADD_PLAIN)
SCATTER(int64_t, ADD_PLAIN)

int mxl_scatter_add(int dtype, int64_t outer, int64_t extent, int64_t inner, void *out, int64_t n,
                    const int64_t *index, const void *in)
{
    static const mxl_range_fn run[MXL_DTYPE_LOOPS] = {
        [MXL_F32] = scatter_float,   [MXL_F64] = scatter_double, [MXL_F16] = scatter_mxl_half,
        [MXL_U8] = scatter_uint8_t,  [MXL_I8] = scatter_int8_t,  [MXL_I32] = scatter_int32_t,
        [MXL_I64] = scatter_int64_t,
    };
    scatter_job job = {outer, extent, inner, n, out, index, in};

    if (run[dtype] == NULL)
        return mxl_error("adding by index: dtype %s is not supported", mxl_dtype_name(dtype));
    if (outer * n * inner > 0)
        mxl_parallel_for(inner, COLUMNS_GRAIN, run[dtype], &job);
    return 0;
}

/* ---- one_hot ---- */
void mxl_one_hot(size_t width, int64_t n, int64_t depth, const int64_t *index, const void *on,
                 const void *off, void *out)
{
    if (n * depth == 0)
        return;
    mxl_fill(width, out, off, n * depth);
    for (int64_t i = 0; i < n; i++) {
        if (index[i] >= 0 && index[i] < depth)
            memcpy((char *)out + (i * depth + index[i]) * (int64_t)width, on, width);
    }
}
