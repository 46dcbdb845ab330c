/* Reductions that take tiles; see reduce_tiles.h. */
#include "kernel/reduce/reduce_tiles.h"

#include <string.h>

#include "base/dtype.h"
#include "kernel/reduce/reduce_job.h"

enum {
    TILE = 512,       /* elements; shorter rows come several at a time */
    FEWEST = 128,     /* columns; fewer are not worth tiles of their own */
    MOST = 1 << 13,   /* columns, or elements of whole rows; a window of more would leave the
                         second-level cache */
    ALONE = 1 << 16,  /* elements that one thread may take alone */
    SIZE = REDUCE_ACC /* bytes of an accumulator */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- the plan ---- */

/* Rows of neighbours, whose chunks begin at multiples of their size. */
static bool plan_rows(mxl_reduce_tiles *t)
{
    if (t->outputs > 1 && t->count % t->chunk != 0)
        return false;
    t->cut = t->chunks == 1 && t->count < TILE ? TILE - TILE % t->count : t->chunk;
    t->part = t->cut;
    t->window = 0;
    return true;
}

/* Columns. The chunks of mxl_reduce's blocks of columns have the same rows. */
static bool plan_columns(mxl_reduce_tiles *t)
{
    bool adds = t->kind == MXL_REDUCE_SUM || t->kind == MXL_REDUCE_MEAN;

    if (!adds || t->outputs < FEWEST || t->outputs > MOST ||
        (t->chunks == 1 && t->outputs * t->count > ALONE))
        return false;
    t->cut = t->outputs;
    for (int rows = 2; rows <= MXL_REDUCE_GROUP; rows *= 2) {
        if (rows * t->outputs <= TILE && t->chunk % rows == 0)
            t->cut = rows * t->outputs;
    }
    t->part = t->chunk * t->outputs;
    t->window = MXL_REDUCE_GROUP * t->outputs;
    return true;
}

size_t mxl_reduce_tiles_init(mxl_reduce_tiles *t, mxl_reduction kind, int dtype, int ndim,
                             const int64_t *shape, const bool *reduced)
{
    int64_t strides[MXL_MAX_NDIM];
    mxl_reduce_job job;
    size_t room, own;

    if ((dtype != MXL_F32 && dtype != MXL_F64) || mxl_reduce_loops_of(dtype)->part[kind] == NULL)
        return 0;
    mxl_shape_strides(ndim, shape, strides);
    if (!mxl_reduce_job_init(&job, kind, dtype, ndim, shape, strides, reduced, NULL) ||
        job.kept.ndim != 1 || job.reduced.ndim != 1 || job.reduced.size == 1)
        return 0;
    room = mxl_reduce_room(&job);
    *t = (mxl_reduce_tiles){.kind = kind,
                            .dtype = dtype,
                            .by_rows = job.reduced.stride[0][0] == 1,
                            .outputs = job.kept.size,
                            .count = job.reduced.size,
                            .chunk = job.chunk,
                            .chunks = job.chunks};
    if (t->by_rows != job.by_rows || !(t->by_rows ? plan_rows(t) : plan_columns(t)))
        return 0;
    own = (size_t)(t->chunks * t->outputs) * SIZE * (t->by_rows ? 1 : 2);
    return own > room ? own : room;
}

void mxl_reduce_tiles_place(mxl_reduce_tiles *t, void *room)
{
    t->acc = room;
    t->lost = t->acc + t->chunks * t->outputs * SIZE;
}

bool mxl_reduce_tiles_init_rows(mxl_reduce_tiles *t, mxl_rows_fn whole, int dtype, int64_t rows,
                                int64_t count)
{
    int64_t window = count < TILE ? TILE - TILE % count : count;

    if (count > MOST)
        return false;
    *t = (mxl_reduce_tiles){.dtype = dtype,
                            .outputs = rows,
                            .count = count,
                            .cut = window,
                            .part = window,
                            .window = window,
                            .whole = whole};
    return true;
}

bool mxl_reduce_tiles_may_cut(const mxl_reduce_tiles *t, int64_t cut)
{
    bool steps = cut % MXL_REDUCE_STEP == 0 && (t->count % MXL_REDUCE_STEP == 0 ||
                                                MXL_REDUCE_STEP % t->count == 0 || t->outputs == 1);

    return !t->by_rows || cut % t->cut == 0 || (steps && t->cut % MXL_REDUCE_STEP == 0);
}

bool mxl_reduce_tiles_agree(const mxl_reduce_tiles *a, const mxl_reduce_tiles *b)
{
    const mxl_reduce_tiles *large = a->part < b->part ? b : a, *small = large == a ? b : a;

    return large->part % small->part == 0 && mxl_reduce_tiles_may_cut(a, b->cut) &&
           mxl_reduce_tiles_may_cut(b, a->cut) &&
           (a->window == 0 || b->window == 0 || (a->window == b->window && a->part == b->part));
}

/* ---- tiles ---- */

/* The accumulator of the chunk of a row that begins at `pos`, and its elements. */
static char *chunk_at(const mxl_reduce_tiles *t, int64_t pos, int64_t *size)
{
    int64_t row = pos / t->count, chunk = pos % t->count / t->chunk;

    *size = least(t->chunk, t->count - chunk * t->chunk);
    return t->acc + (chunk * t->outputs + row) * SIZE;
}

/* Elements of a chunk that came only in part; returns how many have been taken. */
static int64_t take_part(const mxl_reduce_tiles *t, mxl_reduce_lanes *lanes, const char *x,
                         int64_t pos, int64_t n)
{
    mxl_reduce_part part = mxl_reduce_loops_of(t->dtype)->part[t->kind];
    int64_t size;
    char *acc;

    if (n < lanes->left) {
        part(lanes, NULL, x, n);
        lanes->left -= n;
        return n;
    }
    n = lanes->left;
    acc = chunk_at(t, pos + n - 1, &size);
    mxl_reduce_start(t->kind, t->dtype, acc, 1);
    part(lanes, acc, x, n);
    return n;
}

/* Elements of rows, n of them; returns how many have been taken. */
static int64_t take_row(const mxl_reduce_tiles *t, mxl_reduce_lanes *lanes, const char *x,
                        int64_t pos, int64_t n)
{
    int64_t size, rows;
    char *acc;

    if (lanes->used)
        return take_part(t, lanes, x, pos, n);
    acc = chunk_at(t, pos, &size);
    if (n < size) {
        lanes->left = size;
        return take_part(t, lanes, x, pos, n);
    }
    rows = t->chunks == 1 ? n / size : 1;
    mxl_reduce_start(t->kind, t->dtype, acc, rows);
    mxl_reduce_loops_of(t->dtype)->rows[t->kind](acc, x, rows, size, size);
    return rows * size;
}

/* Elements of one row of the columns: its last complete a window, or the last window of a chunk. */
static void take_columns(const mxl_reduce_tiles *t, const char *x, int64_t pos, int64_t n)
{
    const mxl_reduce_loops *loops = mxl_reduce_loops_of(t->dtype);
    int64_t w = t->outputs, row = pos / w, chunk = row / t->chunk, in_chunk = row % t->chunk;
    int64_t rows = least(t->chunk, t->count - chunk * t->chunk);
    int64_t high = in_chunk % MXL_REDUCE_GROUP + 1; /* of the window so far */
    char *acc = t->acc + chunk * w * SIZE, *lost = t->lost + chunk * w * SIZE;

    if (pos % w + n < w || (high < MXL_REDUCE_GROUP && in_chunk + 1 < rows))
        return;
    if (in_chunk < MXL_REDUCE_GROUP) {
        memset(acc, 0, (size_t)(w * SIZE));
        memset(lost, 0, (size_t)(w * SIZE));
    }
    x -= (pos % w + (high - 1) * w) * (int64_t)mxl_dtype_size(t->dtype);
    loops->group(acc, lost, x, w, high);
    if (in_chunk + 1 == rows)
        loops->groups_end(acc, acc, lost, w);
}

/* Elements of whole rows: the last complete a window, or the array. */
static void take_whole(const mxl_reduce_tiles *t, const char *x, int64_t pos, int64_t n, void *out)
{
    int64_t end = pos + n, begin = (end - 1) / t->window * t->window;

    if (end % t->window != 0 && end != t->outputs * t->count)
        return;
    x -= (pos - begin) * (int64_t)mxl_dtype_size(t->dtype);
    t->whole(t->context, x, out, begin / t->count, (end - begin) / t->count);
}

void mxl_reduce_tiles_take(const mxl_reduce_tiles *t, mxl_reduce_lanes *lanes, const void *x,
                           int64_t pos, int64_t n, void *out)
{
    int64_t size = (int64_t)mxl_dtype_size(t->dtype), taken;

    if (t->whole != NULL) {
        take_whole(t, x, pos, n, out);
        return;
    }
    for (int64_t done = 0; done < n; done += taken) {
        const char *from = (const char *)x + done * size;

        taken = t->by_rows ? n - done : least(n - done, t->outputs - (pos + done) % t->outputs);
        if (t->by_rows)
            taken = take_row(t, lanes, from, pos + done, taken);
        else
            take_columns(t, from, pos + done, taken);
    }
}

bool mxl_reduce_tiles_end(const mxl_reduce_tiles *t, void *out)
{
    if (t->whole != NULL)
        return true;
    mxl_reduce_end(t->kind, t->dtype, t->dtype, out, t->acc, t->outputs, t->chunks, t->count);
    return !mxl_reduce_again(t->kind, t->dtype, out, t->outputs);
}

void mxl_reduce_tiles_again(const mxl_reduce_tiles *t, const void *in, void *out)
{
    int64_t shape[2] = {t->outputs, t->count}, strides[2];
    bool reduced[2] = {!t->by_rows, t->by_rows};

    if (!t->by_rows) {
        shape[0] = t->count;
        shape[1] = t->outputs;
    }
    mxl_shape_strides(2, shape, strides);
    (void)mxl_reduce_in(t->kind, t->dtype, 2, shape, strides, reduced, in, out, t->acc);
}
