/* Sorting rows. Elements become unsigned keys in the requested order (sort_keys.c), so that four
 * widths serve all dtypes and both directions. Keys are sorted with or without their positions:
 * many short rows as columns of a sorting network, other rows by radix sort. */
#include "kernel/sort/sort.h"

#include <string.h>

#include "base/dtype.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/copy/cast.h"
#include "kernel/copy/strided_copy.h"
#include "kernel/copy/copy_loops.h"
#include "kernel/sort/sort_entry.h"
#include "kernel/sort/sort_keys.h"
#include "kernel/target.h"

enum {
    HEAP_BELOW =
        16,      /* k below a 16th of the row: a heap of k is faster than selecting from the row */
    CHUNK = 256, /* positions that are extracted from entries at a time */
    GRAIN = 16384,      /* elements worth another thread */
    FEWEST = 3,         /* with fewer rows most columns would be empty */
    WITHOUT_VECTORS = 8 /* without vectors, columns pay only for rows this many times shorter */
};

/* ---- many short rows ---- */

/* Sorts `count` rows of m entries side by side, as columns. If keys and positions are separate,
 * only the positions are copied back: the keys are not read again. */
static void sort_as_columns(const mxl_sort_entry *kind, void *entries, void *room, int64_t count,
                            int64_t m)
{
    int64_t lanes = MXL_SORT_LINE / (int64_t)kind->key;
    uint64_t *positions;

    if (!kind->apart) {
        lanes = MXL_SORT_LINE / (int64_t)kind->bytes;
        mxl_transpose_kernel(kind->bytes, room, lanes, entries, m, m, count);
        mxl_sort_columns(kind->bytes, room, m);
        mxl_transpose_kernel(kind->bytes, entries, m, room, lanes, count, m);
        return;
    }
    /* A pair is two elements: keys and positions are transposed separately. */
    for (int half = 0; half < 2; half++) {
        uint64_t *to = (uint64_t *)room + half * m * lanes;

        for (int64_t l = 0; l < count; l++)
            mxl_copy_run(8, to + l, lanes, (uint64_t *)entries + 2 * l * m + half, 2, m);
    }
    positions = (uint64_t *)room + m * lanes;
    mxl_sort_pair_columns(room, positions, m);
    for (int64_t row = 0; row < count; row++)
        mxl_copy_run(8, (uint64_t *)entries + 2 * row * m + 1, 2, positions + row, lanes, m);
}

/* ---- writing results ---- */

#define TAKE(T)                                                                                    \
    for (int64_t c = 0; c < count; c++)                                                            \
    ((T *)out)[c] = ((const T *)row)[at[c]]

static void take(size_t width, int64_t count, void *out, const void *row, const int64_t *at)
{
    if (width == 4)
        TAKE(uint32_t);
    else if (width == 8)
        TAKE(uint64_t);
    else if (width == 2)
        TAKE(uint16_t);
    else
        TAKE(uint8_t);
}

/* Writes results i, i + 1, ... of row r: the elements at these positions. */
static void write_found(const mxl_sort_job *job, int64_t r, int64_t i, int64_t count,
                        const int64_t *positions)
{
    size_t width = mxl_dtype_size(job->dtype);
    int64_t size = (int64_t)width, to = r * job->k + i, step = 1, one = 0;
    const void *in = positions;

    if (job->values != NULL)
        take(width, count, (char *)job->values + to * size,
             (const char *)job->in + r * job->n * size, positions);
    if (job->positions != NULL)
        mxl_cast_loop(MXL_I64, job->position_dtype)(
            (char *)job->positions + to * (int64_t)mxl_dtype_size(job->position_dtype), &in, &step,
            count, NULL);
    if (job->mask == NULL)
        return;
    mxl_cast_scalar(1, job->dtype, &one);
    for (int64_t c = 0; c < count; c++)
        memcpy((char *)job->mask + (r * job->n + positions[c]) * size, &one, width);
}

/* Writes results begin, ... of row r; `entries` has all entries of the row. */
static void write_entries(const mxl_sort_job *job, const mxl_sort_entry *kind, int64_t r,
                          int64_t begin, int64_t end, const void *entries)
{
    const char *e = entries;
    int64_t positions[CHUNK], size = (int64_t)kind->bytes;

    if (kind->positions == NULL) {
        mxl_sort_elements(job->dtype, e + begin * size, end - begin, job->descending,
                          (char *)job->values + (r * job->k + begin) * size);
        return;
    }
    for (int64_t i = begin; i < end; i += CHUNK) {
        int64_t count = end - i < CHUNK ? end - i : CHUNK;

        kind->positions(e + i * size, count, positions);
        write_found(job, r, i, count, positions);
    }
}

/* ---- rows ---- */

/* Rows are divided into groups, groups among chunks. Each chunk has its own buffers: for the
 * entries of a group, as much again, and for the keys of a row from which the first k are selected.
 */
typedef struct chunk_job {
    const mxl_sort_job *sort;
    const mxl_sort_entry *kind;
    int64_t rows, shares, group;  /* rows that are sorted together */
    int64_t m;                    /* entries of a row */
    int64_t entries, keys, bytes; /* sizes of the buffers */
    char *room;
} chunk_job;

static bool uses_heap(const mxl_sort_job *job)
{
    return job->k < job->n / HEAP_BELOW;
}

static void sort_group(const chunk_job *shared, int64_t first, int64_t count, char *room)
{
    const mxl_sort_job *job = shared->sort;
    const mxl_sort_entry *kind = shared->kind;
    int64_t m = shared->m, row_bytes = m * (int64_t)kind->bytes;
    int64_t width = (int64_t)mxl_dtype_size(job->dtype);
    char *other = room + shared->entries, *keys = other + shared->entries;
    bool by_heap = m < job->n && uses_heap(job);

    for (int64_t l = 0; l < count; l++) {
        const char *row = (const char *)job->in + (first + l) * job->n * width;
        char *entries = room + l * row_bytes;

        if (m == job->n)
            kind->read(job, row, 0, job->n, entries);
        else if (by_heap)
            kind->heap(job, row, 0, job->n, entries);
        else
            kind->divide(job, row, keys, entries);
    }
    if (count >= FEWEST) {
        sort_as_columns(kind, room, other, count, m);
    } else {
        for (int64_t l = 0; l < count; l++)
            (by_heap ? kind->order : kind->sort)(room + l * row_bytes, other, m);
    }
    for (int64_t l = 0; l < count; l++)
        write_entries(job, kind, first + l, 0, job->k, room + l * row_bytes);
}

/* One item of the range is a chunk. */
static void run_chunks(void *data, int64_t begin, int64_t end)
{
    const chunk_job *shared = data;
    int64_t groups = (shared->rows + shared->group - 1) / shared->group;
    int64_t shares = shared->shares;

    for (int64_t s = begin; s < end; s++) {
        int64_t each = groups / shares, more = groups % shares;
        int64_t first = s * each + (s < more ? s : more), last = first + each + (s < more);

        for (int64_t g = first; g < last; g++) {
            int64_t r = g * shared->group, left = shared->rows - r;

            sort_group(shared, r, left < shared->group ? left : shared->group,
                       shared->room + s * shared->bytes);
        }
    }
}

static int64_t whole_lines(int64_t bytes)
{
    return (bytes + MXL_SORT_LINE - 1) / MXL_SORT_LINE * MXL_SORT_LINE;
}

static int sort_rows(const mxl_sort_job *job, const mxl_sort_entry *kind)
{
    int64_t most = mxl_level() == MXL_BASELINE ? kind->most / WITHOUT_VECTORS : kind->most;
    chunk_job shared = {.sort = job, .kind = kind, .rows = job->outer, .group = 1};
    int64_t groups;

    shared.m = kind->heap != NULL && job->k < job->n ? job->k : job->n;
    if (shared.m > 1 && shared.m <= most)
        shared.group = MXL_SORT_LINE / (int64_t)(kind->apart ? kind->key : kind->bytes);
    groups = (shared.rows + shared.group - 1) / shared.group;
    shared.shares = shared.rows * job->n / GRAIN + 1;
    if (shared.shares > mxl_thread_count())
        shared.shares = mxl_thread_count();
    if (shared.shares > groups)
        shared.shares = groups;
    shared.entries = whole_lines(shared.group * shared.m * (int64_t)kind->bytes);
    shared.keys = shared.m < job->n && !uses_heap(job) ? job->n * (int64_t)kind->key : 0;
    shared.bytes = whole_lines(2 * shared.entries + shared.keys);
    shared.room = mxl_alloc((size_t)(shared.shares * shared.bytes));
    if (shared.room == NULL)
        return -1;
    mxl_parallel_for(shared.shares, 1, run_chunks, &shared);
    mxl_free(shared.room, (size_t)(shared.shares * shared.bytes));
    return 0;
}

/* ---- large rows: all threads work on one ---- */

typedef struct large_job {
    const mxl_sort_job *sort;
    const mxl_sort_entry *kind;
    int64_t r, parts;
    const char *row;
    char *entries;
} large_job;

static void read_large(void *data, int64_t begin, int64_t end)
{
    const large_job *job = data;

    job->kind->read(job->sort, job->row, begin, end,
                    job->entries + begin * (int64_t)job->kind->bytes);
}

static void write_large(void *data, int64_t begin, int64_t end)
{
    const large_job *job = data;

    write_entries(job->sort, job->kind, job->r, begin, end, job->entries);
}

/* Finds the first k of each part. */
static void heap_large(void *data, int64_t begin, int64_t end)
{
    const large_job *job = data;
    int64_t k = job->sort->k, n = job->sort->n;

    for (int64_t part = begin; part < end; part++)
        job->kind->heap(job->sort, job->row, n / job->parts * part,
                        part + 1 == job->parts ? n : n / job->parts * (part + 1),
                        job->entries + part * k * (int64_t)job->kind->bytes);
}

static int sort_large(const mxl_sort_job *job, const mxl_sort_entry *kind)
{
    int64_t size = (int64_t)kind->bytes, m = job->n;
    large_job large = {.sort = job, .kind = kind};
    char *room;

    large.parts = mxl_sort_parts();
    if (uses_heap(job))
        m = large.parts * job->k;
    room = mxl_alloc((size_t)(2 * m * size));
    if (room == NULL)
        return -1;
    large.entries = room;
    for (large.r = 0; large.r < job->outer; large.r++) {
        large.row = (const char *)job->in + large.r * job->n * (int64_t)mxl_dtype_size(job->dtype);
        if (m == job->n)
            mxl_parallel_for(m, GRAIN, read_large, &large);
        else
            mxl_parallel_for(large.parts, 1, heap_large, &large);
        (m == job->n ? kind->sort : kind->order)(room, room + m * size, m);
        mxl_parallel_for(job->k, GRAIN, write_large, &large);
    }
    mxl_free(room, (size_t)(2 * m * size));
    return 0;
}

static int sort_straight(const mxl_sort_job *job)
{
    const mxl_sort_entry *kind = mxl_sort_entry_of(job);

    if (job->mask != NULL)
        memset(job->mask, 0, (size_t)(job->outer * job->n) * mxl_dtype_size(job->dtype));
    if (job->k == 0)
        return 0;
    if (job->outer < mxl_thread_count() && job->n >= MXL_SORT_LARGE)
        return sort_large(job, kind);
    return sort_rows(job, kind);
}

/* ---- other axes than the last ---- */

/* (outer, a, inner) as (outer, inner, a), or back. */
static void transpose_rows(size_t width, int64_t outer, int64_t a, int64_t b, void *out,
                           const void *in)
{
    const int64_t shape[3] = {outer, b, a}, to[3] = {a * b, a, 1}, from[3] = {a * b, 1, b};

    mxl_copy_strided(width, 3, shape, out, to, in, from);
}

int mxl_sort(const mxl_sort_job *job)
{
    size_t width = mxl_dtype_size(job->dtype), place = mxl_dtype_size(job->position_dtype);
    int64_t rows = job->outer * job->inner, n = rows * job->n, k = rows * job->k;
    const int64_t bytes[4] = {n * (int64_t)width, job->values != NULL ? k * (int64_t)width : 0,
                              job->positions != NULL ? k * (int64_t)place : 0,
                              job->mask != NULL ? n * (int64_t)width : 0};
    mxl_sort_job turned = *job;
    int64_t at[5] = {0};
    char *room;
    int status;

    if (n == 0)
        return 0;
    if (job->inner == 1)
        return sort_straight(job);
    for (int i = 0; i < 4; i++)
        at[i + 1] = at[i] + whole_lines(bytes[i]);
    room = mxl_alloc((size_t)at[4]);
    if (room == NULL)
        return -1;
    turned.outer = rows;
    turned.inner = 1;
    turned.in = room;
    turned.values = job->values != NULL ? room + at[1] : NULL;
    turned.positions = job->positions != NULL ? room + at[2] : NULL;
    turned.mask = job->mask != NULL ? room + at[3] : NULL;
    transpose_rows(width, job->outer, job->n, job->inner, room, job->in);
    status = sort_straight(&turned);
    if (status == 0 && job->values != NULL)
        transpose_rows(width, job->outer, job->inner, job->k, job->values, turned.values);
    if (status == 0 && job->positions != NULL)
        transpose_rows(place, job->outer, job->inner, job->k, job->positions, turned.positions);
    if (status == 0 && job->mask != NULL)
        transpose_rows(width, job->outer, job->inner, job->n, job->mask, turned.mask);
    mxl_free(room, (size_t)at[4]);
    return status;
}
