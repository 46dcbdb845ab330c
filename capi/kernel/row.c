/* The walker: runs a row loop over strided operands, in straight runs where strides allow and over
 * cache-sized tiles where they do not. Called by op/rows.c and array/copy.c. */
#include "kernel/row.h"

#include <stdbool.h>

#include "base/error.h"
#include "base/thread.h"
#include "kernel/run.h"
#include "kernel/walk.h"

enum {
    SHORT_ROW = 32, /* rows shorter than this are gathered together into tiles */
    TILE_BYTES = MXL_ROW_TILE * 8
};

/* ---- one contiguous run ---- */
typedef struct row_job {
    mxl_row row;
    char *out;
    size_t out_size;
    int num_in;
    const void *const *in;
    const int64_t *step;
    const size_t *in_size;
    const void *params;
} row_job;

static void row_share(void *data, int64_t begin, int64_t end)
{
    const row_job *job = data;
    const void *in[MXL_ROW_INPUTS];

    for (int k = 0; k < job->num_in; k++)
        in[k] = (const char *)job->in[k] + begin * job->step[k] * (int64_t)job->in_size[k];
    job->row(job->out + begin * (int64_t)job->out_size, in, job->step, end - begin, job->params);
}

void mxl_row_run(mxl_row row, int64_t n, void *out, size_t out_size, int num_in,
                 const void *const *in, const int64_t *step, const size_t *in_size,
                 const void *params)
{
    row_job job = {row, out, out_size, num_in, in, step, in_size, params};

    if (n <= MXL_ROW_GRAIN)
        row(out, in, step, n, params);
    else
        mxl_parallel_for(n, MXL_ROW_GRAIN, row_share, &job);
}

/* ---- strided operands ---- */
typedef enum operand_kind {
    DIRECT, /* contiguous: a pointer and the position */
    FIXED,  /* one element for all */
    IN_ROW, /* stride 0 or 1 along the last axis: a pointer that is good to the row's end */
    IN_TILE /* gathered into, or scattered from, a tile */
} operand_kind;

/* Operand 0 is the output. */
typedef struct walk_job {
    mxl_row row;
    const void *params;
    mxl_walk walk;
    bool any_row, any_tile;
    char *data[MXL_WALK_OPERANDS];
    size_t size[MXL_WALK_OPERANDS];
    operand_kind kind[MXL_WALK_OPERANDS];
    int64_t step[MXL_WALK_OPERANDS];
} walk_job;

/* Moves n elements between where the cursor stands and a tile. */
static void tile_move(const walk_job *job, int k, mxl_cursor *cursor, char *tile, int64_t n)
{
    const mxl_walk *walk = &job->walk;
    int64_t extent = walk->shape[walk->ndim - 1];
    int64_t stride = walk->stride[k][walk->ndim - 1];

    while (n > 0) {
        int64_t part = extent - cursor->inner < n ? extent - cursor->inner : n;
        char *there = job->data[k] + mxl_cursor_offset(cursor, walk, k) * (int64_t)job->size[k];

        if (k == 0)
            mxl_copy_run(job->size[k], there, stride, tile, 1, part);
        else
            mxl_copy_run(job->size[k], tile, 1, there, stride, part);
        tile += part * (int64_t)job->size[k];
        n -= part;
        mxl_cursor_skip(cursor, walk, k, part);
    }
}

/* Where operand k's next n elements are, or shall go; moves its cursor past them. */
static char *operand_at(const walk_job *job, int k, mxl_cursor *cursor, char *tile, int64_t pos,
                        int64_t n)
{
    char *at;

    switch (job->kind[k]) {
    case DIRECT:
        return job->data[k] + pos * (int64_t)job->size[k];
    case IN_ROW:
        at = job->data[k] + mxl_cursor_offset(cursor, &job->walk, k) * (int64_t)job->size[k];
        mxl_cursor_skip(cursor, &job->walk, k, n);
        return at;
    case IN_TILE:
        if (k > 0)
            tile_move(job, k, cursor, tile, n);
        return tile;
    default:
        return job->data[k];
    }
}

static void walk_share(void *data, int64_t begin, int64_t end)
{
    const walk_job *job = data;
    int num = job->walk.num;
    int64_t extent = job->walk.shape[job->walk.ndim - 1];
    mxl_cursor cursor[MXL_WALK_OPERANDS];
    _Alignas(64) char tile[MXL_WALK_OPERANDS][TILE_BYTES];
    int64_t step;

    for (int k = 0; k < num; k++)
        mxl_cursor_seek(&cursor[k], &job->walk, k, begin);
    for (int64_t pos = begin; pos < end; pos += step) {
        const void *in[MXL_ROW_INPUTS];
        void *out;

        step = end - pos;
        if (job->any_row && step > extent - pos % extent)
            step = extent - pos % extent;
        if (job->any_tile && step > MXL_ROW_TILE)
            step = MXL_ROW_TILE;
        for (int k = 1; k < num; k++)
            in[k - 1] = operand_at(job, k, &cursor[k], tile[k], pos, step);
        out = operand_at(job, 0, &cursor[0], tile[0], pos, step);
        job->row(out, in, job->step + 1, step, job->params);
        if (job->kind[0] == IN_TILE)
            tile_move(job, 0, &cursor[0], tile[0], step);
    }
}

static operand_kind operand_classify(const mxl_walk *walk, int k)
{
    int last = walk->ndim - 1;
    bool fixed = k > 0 && walk->size > 1;

    for (int axis = 0; axis <= last && fixed; axis++)
        fixed = walk->stride[k][axis] == 0;
    if (fixed)
        return FIXED;
    if (mxl_walk_contiguous(walk, k))
        return DIRECT;
    if (walk->shape[last] < SHORT_ROW)
        return IN_TILE;
    return walk->stride[k][last] == 1 || (walk->stride[k][last] == 0 && k > 0) ? IN_ROW : IN_TILE;
}

static void job_classify(walk_job *job)
{
    int last = job->walk.ndim - 1;
    bool any_step = false;

    for (int k = 0; k < job->walk.num; k++) {
        job->kind[k] = operand_classify(&job->walk, k);
        job->step[k] = job->kind[k] == FIXED    ? 0
                       : job->kind[k] == IN_ROW ? job->walk.stride[k][last]
                                                : 1;
        any_step |= k > 0 && job->step[k] != 0;
    }
    if (!any_step) { /* row loops want one input that moves */
        job->kind[1] = IN_TILE;
        job->step[1] = 1;
    }
    job->any_row = job->any_tile = false;
    for (int k = 0; k < job->walk.num; k++) {
        job->any_row |= job->kind[k] == IN_ROW;
        job->any_tile |= job->kind[k] == IN_TILE;
    }
}

int mxl_rows(mxl_row row, int ndim, const int64_t *shape, void *out, const int64_t *out_strides,
             size_t out_size, int num_in, const void *const *in, const int64_t *const *in_strides,
             const size_t *in_size, const void *params)
{
    const int64_t *strides[MXL_WALK_OPERANDS];
    walk_job job;

    if (num_in < 1 || num_in > MXL_ROW_INPUTS || ndim > MXL_MAX_NDIM)
        return mxl_error(
            "an element-wise loop takes 1 to %d inputs of at most %d axes, not %d of %d",
            (int)MXL_ROW_INPUTS, (int)MXL_MAX_NDIM, num_in, ndim);
    job.row = row;
    job.params = params;
    job.data[0] = out;
    job.size[0] = out_size;
    strides[0] = out_strides;
    for (int k = 0; k < num_in; k++) {
        /* Only operand 0 is ever written through. */
        job.data[k + 1] = (char *)(uintptr_t)in[k];
        job.size[k + 1] = in_size[k];
        strides[k + 1] = in_strides[k];
    }
    mxl_walk_init(&job.walk, num_in + 1, ndim, shape, strides);
    if (job.walk.size == 0)
        return 0;
    job_classify(&job);
    mxl_parallel_for(job.walk.size, MXL_ROW_GRAIN, walk_share, &job);
    return 0;
}
