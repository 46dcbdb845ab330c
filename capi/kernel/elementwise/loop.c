/* Runs an element-wise loop over strided operands: in contiguous runs if strides allow, else over
 * cache-sized tiles. Called by op/rows.c and array/copy.c. */
#include "kernel/elementwise/loop.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/thread.h"
#include "kernel/copy/copy_loops.h"
#include "kernel/elementwise/strided_walk.h"

enum {
    SHORT_ROW = 24, /* elements; shorter rows are not worth a call of the loop each */
    TILE_BYTES = MXL_LOOP_TILE * 8
};

/* ---- one contiguous run ---- */
typedef struct row_job {
    mxl_loop row;
    char *out;
    size_t out_size;
    int num_in;
    const void *const *in;
    const int64_t *step;
    const size_t *in_size;
    const void *params;
} row_job;

static void row_chunk(void *data, int64_t begin, int64_t end)
{
    const row_job *job = data;
    const void *in[MXL_LOOP_INPUTS];

    for (int k = 0; k < job->num_in; k++)
        in[k] = (const char *)job->in[k] + begin * job->step[k] * (int64_t)job->in_size[k];
    job->row(job->out + begin * (int64_t)job->out_size, in, job->step, end - begin, job->params);
}

void mxl_loop_run(mxl_loop row, int weight, int64_t n, void *out, size_t out_size, int num_in,
                  const void *const *in, const int64_t *step, const size_t *in_size,
                  const void *params)
{
    row_job job = {row, out, out_size, num_in, in, step, in_size, params};

    if (weight < 1)
        weight = 1;
    if (n <= MXL_LOOP_UNIT / weight)
        row(out, in, step, n, params);
    else
        mxl_parallel_fine(n, MXL_LOOP_UNIT / weight, MXL_LOOP_GRAIN / weight, row_chunk, &job);
}

/* ---- strided operands ----
 *
 * The last axes, those from `first` on, are a block: as many as leave every operand contiguous in
 * it, or one element, or a short run that repeats. Where that is not enough for a call of the loop,
 * everything is one block, and what is none of these is gathered. */
typedef enum operand_kind {
    DIRECT,  /* contiguous in a block, or one element: the loop gets a pointer */
    REPEATS, /* a short run that repeats: copied into a tile once per block */
    IN_TILE  /* gathered into, or scattered from, a tile at each call */
} operand_kind;

/* Operand 0 is the output. */
typedef struct walk_job {
    mxl_loop row;
    const void *params;
    mxl_walk walk;
    int first;      /* the first axis of the block */
    int64_t block;  /* elements of the block */
    int64_t most;   /* largest number of elements in one call of the loop */
    bool direct;    /* all operands are DIRECT, so no tiles are needed */
    int64_t period; /* a common period of all runs that repeat */
    char *data[MXL_WALK_OPERANDS];
    size_t size[MXL_WALK_OPERANDS];
    operand_kind kind[MXL_WALK_OPERANDS];
    int64_t step[MXL_WALK_OPERANDS];
    int64_t jump[MXL_MAX_NDIM][MXL_WALK_OPERANDS]; /* bytes to the next block, by the axis that
                                                      moves on while those behind it go back */
} walk_job;

/* The position of all operands: the element within the block, and the address of each operand's
 * first element of the block. */
typedef struct place {
    int64_t inner;
    int64_t index[MXL_MAX_NDIM];
    char *out;
    const void *in[MXL_LOOP_INPUTS];
} place;

static void position_move(place *p, int num, const int64_t *bytes)
{
    p->out += bytes[0];
    for (int k = 1; k < num; k++)
        p->in[k - 1] = (const char *)p->in[k - 1] + bytes[k];
}

static void position_seek(place *p, const walk_job *job, int64_t pos)
{
    const mxl_walk *walk = &job->walk;
    int64_t bytes[MXL_WALK_OPERANDS] = {0};

    p->inner = pos % job->block;
    pos /= job->block;
    for (int axis = job->first - 1; axis >= 0; axis--) {
        p->index[axis] = pos % walk->shape[axis];
        pos /= walk->shape[axis];
        for (int k = 0; k < walk->num; k++)
            bytes[k] += p->index[axis] * walk->stride[k][axis] * (int64_t)job->size[k];
    }
    p->out = job->data[0];
    for (int k = 1; k < walk->num; k++)
        p->in[k - 1] = job->data[k];
    position_move(p, walk->num, bytes);
}

static inline void position_next_block(place *p, const walk_job *job)
{
    int axis = job->first - 1;

    p->inner = 0;
    for (; axis >= 0 && ++p->index[axis] == job->walk.shape[axis]; axis--)
        p->index[axis] = 0;
    if (axis >= 0)
        position_move(p, job->walk.num, job->jump[axis]);
}

/* Writes each of `rows` elements `extent` times. Always writes MOST copies; the next element
 * overwrites the surplus. A tile has room for the surplus of the last one. */
#define SPREAD(T, MOST)                                                                            \
    do {                                                                                           \
        T *d = (T *)(void *)tile;                                                                  \
        const T *s = (const T *)(const void *)from;                                                \
                                                                                                   \
        for (int64_t row = 0; row < rows; row++) {                                                 \
            const T v = s[row * stride];                                                           \
                                                                                                   \
            for (int i = 0; i < (MOST); i++)                                                       \
                d[i] = v;                                                                          \
            d += extent;                                                                           \
        }                                                                                          \
    } while (0)

static void spread(size_t width, char *tile, const char *from, int64_t stride, int64_t rows,
                   int64_t extent)
{
    if (width == 4 && extent <= 8)
        SPREAD(uint32_t, 8);
    else if (width == 4)
        SPREAD(uint32_t, SHORT_ROW);
    else if (width == 8)
        SPREAD(uint64_t, SHORT_ROW);
    else if (width == 2)
        SPREAD(uint16_t, SHORT_ROW);
    else
        SPREAD(uint8_t, SHORT_ROW);
}

/* Copies n elements from the cursor's position to a tile, or back. */
static void tile_move(const walk_job *job, int k, mxl_cursor *cursor, char *tile, int64_t n)
{
    const mxl_walk *walk = &job->walk;
    int last = walk->ndim - 1;
    int64_t extent = walk->shape[last], stride = walk->stride[k][last];

    while (n > 0) {
        int64_t part = extent - cursor->inner < n ? extent - cursor->inner : n;
        char *there = job->data[k] + mxl_cursor_offset(cursor, walk, k) * (int64_t)job->size[k];

        if (stride == 0 && last > 0 && part == extent && extent <= SHORT_ROW) {
            int64_t rows = walk->shape[last - 1] - cursor->index[last - 1];

            rows = rows < n / extent ? rows : n / extent;
            spread(job->size[k], tile, there, walk->stride[k][last - 1], rows, extent);
            part = rows * extent;
            mxl_cursor_next_rows(cursor, walk, k, rows);
        } else {
            if (k == 0)
                mxl_copy_run(job->size[k], there, stride, tile, 1, part);
            else
                mxl_copy_run(job->size[k], tile, 1, there, stride, part);
            mxl_cursor_skip(cursor, walk, k, part);
        }
        tile += part * (int64_t)job->size[k];
        n -= part;
    }
}

/* Fills `whole` elements of a tile with the elements that repeat every job->period, from position
 * pos. */
static void tile_repeat(const walk_job *job, int k, int64_t pos, char *tile, int64_t whole)
{
    int64_t filled = job->period;
    mxl_cursor cursor;

    mxl_cursor_seek(&cursor, &job->walk, k, pos);
    tile_move(job, k, &cursor, tile, filled < whole ? filled : whole);
    for (; filled < whole; filled *= 2)
        memcpy(tile + (size_t)filled * job->size[k], tile,
               (size_t)(filled < whole - filled ? filled : whole - filled) * job->size[k]);
}

/* Points `in` at the current position of all inputs that do not use tiles. */
static void gather_nd_inputs(const place *p, const walk_job *job, const void **in)
{
    for (int k = 1; k < job->walk.num; k++) {
        if (job->kind[k] == DIRECT)
            in[k - 1] =
                (const char *)p->in[k - 1] + p->inner * job->step[k] * (int64_t)job->size[k];
    }
}

/* Without tiles: one call of the loop for each block. */
static void direct_chunk(void *data, int64_t begin, int64_t end)
{
    const walk_job *job = data;
    const void *part[MXL_LOOP_INPUTS];
    place p;

    position_seek(&p, job, begin);
    for (int64_t pos = begin, n; pos < end; pos += n) {
        n = job->block - p.inner < end - pos ? job->block - p.inner : end - pos;
        if (p.inner == 0) {
            job->row(p.out, p.in, job->step + 1, n, job->params);
        } else {
            gather_nd_inputs(&p, job, part);
            job->row(p.out + p.inner * (int64_t)job->size[0], part, job->step + 1, n, job->params);
        }
        position_next_block(&p, job);
    }
}

/* With operands gathered or expanded in tiles. */
static void tile_chunk(void *data, int64_t begin, int64_t end)
{
    const walk_job *job = data;
    int num = job->walk.num;
    _Alignas(64) char tile[MXL_WALK_OPERANDS][TILE_BYTES + SHORT_ROW * 8];
    const void *in[MXL_LOOP_INPUTS];
    mxl_cursor cursor[MXL_WALK_OPERANDS];
    bool fresh = true; /* at the start of a block */
    place p;

    position_seek(&p, job, begin);
    for (int k = 0; k < num; k++) {
        if (job->kind[k] == IN_TILE)
            mxl_cursor_seek(&cursor[k], &job->walk, k, begin);
        if (k > 0)
            in[k - 1] = tile[k];
    }
    for (int64_t pos = begin, n; pos < end; pos += n) {
        int64_t left = job->block - p.inner < end - pos ? job->block - p.inner : end - pos;

        n = left < job->most ? left : job->most;
        gather_nd_inputs(&p, job, in);
        for (int k = 1; k < num; k++) {
            if (job->kind[k] == IN_TILE)
                tile_move(job, k, &cursor[k], tile[k], n);
            else if (job->kind[k] == REPEATS && fresh)
                tile_repeat(job, k, pos, tile[k], n);
        }
        if (job->kind[0] == DIRECT) {
            job->row(p.out + p.inner * (int64_t)job->size[0], in, job->step + 1, n, job->params);
        } else {
            job->row(tile[0], in, job->step + 1, n, job->params);
            tile_move(job, 0, &cursor[0], tile[0], n);
        }
        p.inner += n;
        fresh = p.inner == job->block;
        if (fresh)
            position_next_block(&p, job);
    }
}

/* ---- the plan ---- */

/* Determines how operand k lies in a block that begins with axis `first`. Sets its step and raises
 * the period to its own. (Of two periods the longer is a multiple of the shorter.) */
static operand_kind operand_lies(walk_job *job, int k, int first)
{
    const mxl_walk *walk = &job->walk;
    int64_t dense = 1, period = 1;
    bool contiguous = true;

    for (int axis = walk->ndim - 1; axis >= first; axis--) {
        contiguous = contiguous && walk->stride[k][axis] == dense;
        dense *= walk->shape[axis];
        if (walk->stride[k][axis] != 0)
            period = dense;
    }
    job->step[k] = 1;
    if (contiguous)
        return DIRECT;
    if (k == 0)
        return IN_TILE;
    if (period == 1) {
        job->step[k] = 0;
        return DIRECT;
    }
    if (walk->stride[k][first] != 0 || period > MXL_LOOP_TILE)
        return IN_TILE;
    if (job->period < period)
        job->period = period;
    return REPEATS;
}

/* Takes the axes from `first` on as the block. True if no operand must be gathered. */
static bool job_block(walk_job *job, int first)
{
    bool direct = true;

    job->first = first;
    job->block = 1;
    job->period = 1;
    for (int axis = first; axis < job->walk.ndim; axis++)
        job->block *= job->walk.shape[axis];
    for (int k = 0; k < job->walk.num; k++) {
        job->kind[k] = operand_lies(job, k, first);
        direct = direct && job->kind[k] != IN_TILE;
    }
    return direct;
}

static void job_jumps(walk_job *job)
{
    const mxl_walk *walk = &job->walk;
    int64_t back[MXL_WALK_OPERANDS] = {0}; /* distance that the axes after this one have moved */

    for (int axis = job->first - 1; axis >= 0; axis--) {
        for (int k = 0; k < walk->num; k++) {
            int64_t step = walk->stride[k][axis] * (int64_t)job->size[k];

            job->jump[axis][k] = step - back[k];
            back[k] += (walk->shape[axis] - 1) * step;
        }
    }
}

static void job_plan(walk_job *job)
{
    int last = job->walk.ndim - 1, first = 0;
    bool moves = false;

    while (!job_block(job, first) && first < last)
        first++;
    if (job->block < SHORT_ROW)
        (void)job_block(job, 0);
    for (int k = 1; k < job->walk.num; k++)
        moves = moves || job->step[k] != 0;
    if (!moves) { /* loops need at least one input with a step of 1 */
        job->kind[1] = IN_TILE;
        job->step[1] = 1;
    }
    job_jumps(job);
    job->most = job->block;
    job->direct = true;
    for (int k = 0; k < job->walk.num; k++) {
        int64_t room = TILE_BYTES / (int64_t)job->size[k] / job->period * job->period;

        job->direct = job->direct && job->kind[k] == DIRECT;
        if (job->kind[k] != DIRECT && job->most > room)
            job->most = room;
    }
}

int mxl_loops(mxl_loop row, int weight, int ndim, const int64_t *shape, void *out,
              const int64_t *out_strides, size_t out_size, int num_in, const void *const *in,
              const int64_t *const *in_strides, const size_t *in_size, const void *params)
{
    const int64_t *strides[MXL_WALK_OPERANDS];
    walk_job job;

    if (num_in < 1 || num_in > MXL_LOOP_INPUTS || ndim > MXL_MAX_NDIM)
        return mxl_error(
            "an element-wise loop takes 1 to %d inputs of at most %d axes, not %d of %d",
            (int)MXL_LOOP_INPUTS, (int)MXL_MAX_NDIM, num_in, ndim);
    job.row = row;
    job.params = params;
    job.data[0] = out;
    job.size[0] = out_size;
    strides[0] = out_strides;
    for (int k = 0; k < num_in; k++) {
        /* Only operand 0 is written. */
        job.data[k + 1] = (char *)(uintptr_t)in[k];
        job.size[k + 1] = in_size[k];
        strides[k + 1] = in_strides[k];
    }
    mxl_walk_init(&job.walk, num_in + 1, ndim, shape, strides);
    if (job.walk.size == 0)
        return 0;
    job_plan(&job);
    if (weight < 1)
        weight = 1;
    mxl_parallel_fine(job.walk.size, MXL_LOOP_UNIT / weight, MXL_LOOP_GRAIN / weight,
                      job.direct ? direct_chunk : tile_chunk, &job);
    return 0;
}
