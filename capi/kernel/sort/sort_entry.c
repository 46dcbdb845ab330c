/* Kinds of entries that rows are sorted as: keys of four widths, with or without positions; and the
 * algorithms that sort an array of them. Many entries use radix sort, on one or more threads. */
#include "kernel/sort/sort_entry.h"

#include <string.h>

#include "base/dtype.h"
#include "base/thread.h"
#include "kernel/copy/strided_copy.h"
#include "kernel/sort/sort_keys.h"

enum {
    RUN = 16,        /* entries that are sorted by insertion */
    RADIX_FROM = 64, /* from here on radix sort is faster than comparing */
    CHUNK = 256      /* elements converted to entries at a time */
};

/* ---- radix sort ---- */

/* One pass: entries that are moved by one byte of their keys, in `parts` parallel parts. */
typedef struct radix_job {
    void *from, *to;
    int64_t n, parts;
    int shift;
    /* For each part the counts of digits, later the position of its next entry of a digit. Aligned,
     * because two threads that count in one cache line take four times as long. */
    _Alignas(64) int64_t counts[MXL_SORT_PARTS][256];
} radix_job;

int64_t mxl_sort_parts(void)
{
    int64_t threads = mxl_thread_count();

    return threads < MXL_SORT_PARTS ? threads : MXL_SORT_PARTS;
}

static int64_t radix_parts(int64_t n)
{
    return n < MXL_SORT_LARGE ? 1 : mxl_sort_parts();
}

static int64_t radix_border(const radix_job *job, int64_t part)
{
    return job->n / job->parts * part + (part < job->n % job->parts ? part : job->n % job->parts);
}

/* Turns counts into positions: digit by digit, and for each digit part by part. */
static void radix_starts(radix_job *job)
{
    int64_t begin = 0;

    for (int digit = 0; digit < 256; digit++) {
        for (int64_t part = 0; part < job->parts; part++) {
            int64_t count = job->counts[part][digit];

            job->counts[part][digit] = begin;
            begin += count;
        }
    }
}

/* ---- keys alone ---- */

#define LESS(a, b) ((a) < (b))
#define KEY(e)     (e)
#define K          uint8_t
#define E          uint8_t
#define NAME(x)    v8_##x
#include "kernel/sort/sort.tmpl.h"

#define LESS(a, b) ((a) < (b))
#define KEY(e)     (e)
#define K          uint16_t
#define E          uint16_t
#define NAME(x)    v16_##x
#include "kernel/sort/sort.tmpl.h"

#define LESS(a, b) ((a) < (b))
#define KEY(e)     (e)
#define K          uint32_t
#define E          uint32_t
#define NAME(x)    v32_##x
#include "kernel/sort/sort.tmpl.h"

#define LESS(a, b) ((a) < (b))
#define KEY(e)     (e)
#define K          uint64_t
#define E          uint64_t
#define NAME(x)    v64_##x
#include "kernel/sort/sort.tmpl.h"

static void value_read(const mxl_sort_job *job, const void *row, int64_t begin, int64_t end,
                       void *entries)
{
    size_t width = mxl_dtype_size(job->dtype);

    mxl_sort_keys(job->dtype, (const char *)row + begin * (int64_t)width, end - begin,
                  job->descending, false, entries);
}

/* ---- keys with positions: in one number if both fit ---- */

#define WIDEN(T, S)                                                                                \
    for (int64_t c = 0; c < count; c++)                                                            \
    ((T *)keys)[c] = ((const S *)narrow)[c]

/* The keys of elements i, i + 1, ... of a row as numbers of `wide` bytes; at most CHUNK, and only
 * up to `end`. Returns their number. */
static int64_t read_keys(const mxl_sort_job *job, const void *row, int64_t i, int64_t end,
                         size_t wide, void *keys)
{
    size_t width = mxl_dtype_size(job->dtype);
    int64_t count = end - i < CHUNK ? end - i : CHUNK;
    uint32_t room[CHUNK];
    void *narrow = width == wide ? keys : room;

    mxl_sort_keys(job->dtype, (const char *)row + i * (int64_t)width, count, job->descending, true,
                  narrow);
    if (width == wide)
        return count;
    if (wide == 4 && width == 1)
        WIDEN(uint32_t, uint8_t);
    else if (wide == 4)
        WIDEN(uint32_t, uint16_t);
    else if (width == 1)
        WIDEN(uint64_t, uint8_t);
    else if (width == 2)
        WIDEN(uint64_t, uint16_t);
    else
        WIDEN(uint64_t, uint32_t);
    return count;
}

/* The k-th of n keys, 0 < k < n, or a number between it and the next one. Returns the number of
 * keys below it. Searches bit by bit: counting is fast, and usually ends long before the last bit.
 */
static int64_t find_limit(size_t width, const void *keys, int64_t n, int64_t k, uint64_t *limit)
{
    int64_t below = 0;

    *limit = 0;
    for (int bit = 8 * (int)width - 1; bit >= 0 && below < k; bit--) {
        uint64_t higher = *limit | UINT64_C(1) << bit;
        int64_t count = mxl_sort_count_below(width, keys, n, higher);

        if (count <= k) {
            *limit = higher;
            below = count;
        }
    }
    return below;
}

#define LESS(a, b) ((a) < (b))
#define KEY(e)     ((uint32_t)((e) >> 32))
#define K          uint32_t
#define E          uint64_t
#define NAME(x)    packed_##x
#include "kernel/sort/sort.tmpl.h"

#define LESS(a, b)           ((a) < (b))
#define K                    uint32_t
#define E                    uint64_t
#define ENTRY(key, position) ((uint64_t)(key) << 32 | (uint64_t)(position))
#define KEY(e)               ((e) >> 32)
#define POSITION(e)          ((uint32_t)(e))
#define NAME(x)              packed_##x
#include "kernel/sort/sort_entry.tmpl.h"

typedef struct pair {
    uint64_t key, position;
} pair;

#define LESS(a, b) ((a).key < (b).key || ((a).key == (b).key && (a).position < (b).position))
#define KEY(e)     ((e).key)
#define K          uint64_t
#define E          pair
#define NAME(x)    pair_##x
#include "kernel/sort/sort.tmpl.h"

#define LESS(a, b)  ((a).key < (b).key || ((a).key == (b).key && (a).position < (b).position))
#define K           uint64_t
#define E           pair
#define ENTRY(k, p) ((pair){(k), (uint64_t)(p)})
#define KEY(e)      ((e).key)
#define POSITION(e) ((e).position)
#define NAME(x)     pair_##x
#include "kernel/sort/sort_entry.tmpl.h"

/* ---- the kinds ---- */

static const mxl_sort_entry values_8 = {
    .bytes = 1, .key = 1, .most = 4096, .read = value_read, .sort = v8_sort};
static const mxl_sort_entry values_16 = {
    .bytes = 2, .key = 2, .most = 4096, .read = value_read, .sort = v16_sort};
static const mxl_sort_entry values_32 = {
    .bytes = 4, .key = 4, .most = 4096, .read = value_read, .sort = v32_sort};
static const mxl_sort_entry values_64 = {
    .bytes = 8, .key = 8, .most = 4096, .read = value_read, .sort = v64_sort};
static const mxl_sort_entry packed = {.bytes = 8,
                                      .key = 4,
                                      .most = 2048,
                                      .read = packed_read,
                                      .sort = packed_sort,
                                      .order = packed_merge_sort,
                                      .heap = packed_heap,
                                      .divide = packed_divide,
                                      .positions = packed_positions};
static const mxl_sort_entry pairs = {.bytes = sizeof(pair),
                                     .key = 8,
                                     .apart = true,
                                     .most = 256,
                                     .read = pair_read,
                                     .sort = pair_sort,
                                     .order = pair_merge_sort,
                                     .heap = pair_heap,
                                     .divide = pair_divide,
                                     .positions = pair_positions};

const mxl_sort_entry *mxl_sort_entry_of(const mxl_sort_job *job)
{
    size_t width = mxl_dtype_size(job->dtype);

    if (job->positions != NULL || job->mask != NULL || job->k < job->n)
        return width <= 4 && job->n <= UINT32_MAX ? &packed : &pairs;
    return width == 1 ? &values_8 : width == 2 ? &values_16 : width == 4 ? &values_32 : &values_64;
}
