/* Selects by the digits of keys (sort_keys.h), the highest first: keeps the keys with the digit of
 * the requested one and goes on with their next digit. */
#include "kernel/sort/select.h"

#include <string.h>

#include "base/dtype.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/copy/copy_loops.h"
#include "kernel/sort/sort_keys.h"

enum {
    DIGIT = 11,   /* bits of a digit */
    FEW = 32,     /* keys that are sorted faster than their digits are counted */
    GRAIN = 16384 /* elements that are worth another thread */
};

/* Finds the k-th of n keys; `*k` becomes the number of equal keys before it. */
#define SELECT(w)                                                                                  \
    static uint64_t select_of_few_##w(uint##w##_t *keys, int64_t n, int64_t *k)                    \
    {                                                                                              \
        int64_t first = *k;                                                                        \
                                                                                                   \
        for (int64_t i = 1; i < n; i++) {                                                          \
            const uint##w##_t key = keys[i];                                                       \
            int64_t at = i;                                                                        \
                                                                                                   \
            for (; at > 0 && keys[at - 1] > key; at--)                                             \
                keys[at] = keys[at - 1];                                                           \
            keys[at] = key;                                                                        \
        }                                                                                          \
        while (first > 0 && keys[first - 1] == keys[*k])                                           \
            first--;                                                                               \
        *k -= first;                                                                               \
        return keys[first];                                                                        \
    }                                                                                              \
                                                                                                   \
    static uint64_t select_##w(uint##w##_t *keys, int64_t n, int64_t *k)                           \
    {                                                                                              \
        int64_t counts[1 << DIGIT], left = n;                                                      \
                                                                                                   \
        for (int high = w; high > 0; high -= DIGIT) {                                              \
            const int low = high > DIGIT ? high - DIGIT : 0;                                       \
            const uint##w##_t mask = (uint##w##_t)((UINT64_C(1) << (high - low)) - 1);             \
            uint##w##_t digit = 0;                                                                 \
            int64_t kept = 0;                                                                      \
                                                                                                   \
            if (left <= FEW)                                                                       \
                return select_of_few_##w(keys, left, k);                                           \
            memset(counts, 0, sizeof(counts));                                                     \
            for (int64_t i = 0; i < left; i++)                                                     \
                counts[(keys[i] >> low) & mask]++;                                                 \
            for (; *k >= counts[digit]; digit++)                                                   \
                *k -= counts[digit];                                                               \
            if (counts[digit] == left)                                                             \
                continue;                                                                          \
            for (int64_t i = 0; i < left; i++) {                                                   \
                const uint##w##_t key = keys[i];                                                   \
                                                                                                   \
                keys[kept] = key;                                                                  \
                kept += ((key >> low) & mask) == digit;                                            \
            }                                                                                      \
            left = kept;                                                                           \
        }                                                                                          \
        return keys[0];                                                                            \
    }                                                                                              \
                                                                                                   \
    /* The position of the k-th key that is `key`, from 0. */                                      \
    static int64_t find_##w(const uint##w##_t *keys, uint##w##_t key, int64_t k)                   \
    {                                                                                              \
        int64_t i = 0;                                                                             \
                                                                                                   \
        for (;; i++) {                                                                             \
            if (keys[i] == key && k-- == 0)                                                        \
                return i;                                                                          \
        }                                                                                          \
    }

SELECT(8)
SELECT(16)
SELECT(32)
SELECT(64)

#define WIDTHS(CASE)                                                                               \
    switch (width) {                                                                               \
        CASE(4, 32)                                                                                \
        CASE(8, 64)                                                                                \
        CASE(2, 16)                                                                                \
    default:                                                                                       \
        CASE(1, 8)                                                                                 \
    }

static uint64_t select_key(size_t width, void *keys, int64_t n, int64_t *k)
{
#define SELECT_CASE(bytes, w)                                                                      \
    case bytes:                                                                                    \
        return select_##w(keys, n, k);
    WIDTHS(SELECT_CASE)
}

static int64_t find_key(size_t width, const void *keys, uint64_t key, int64_t k)
{
#define FIND_CASE(bytes, w)                                                                        \
    case bytes:                                                                                    \
        return find_##w(keys, (uint##w##_t)key, k);
    WIDTHS(FIND_CASE)
}

/* ---- rows ---- */

/* Chunks of the rows, each with buffers for the elements of one row and for two copies of its keys.
 */
typedef struct select_shares {
    const mxl_select_job *job;
    int64_t rows, shares, bytes; /* of one of the three buffers */
    char *room;
} select_shares;

static int64_t select_in_row(const mxl_select_job *job, const void *row, void *keys, void *work)
{
    size_t width = mxl_dtype_size(job->dtype);
    uint64_t last = width == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * width) - 1, key;
    int64_t k = job->k;

    mxl_sort_keys(job->dtype, row, job->n, false, true, keys);
    if (mxl_dtype_is_float(job->dtype) && mxl_sort_count_below(width, keys, job->n, last) < job->n)
        return find_key(width, keys, last, 0);
    memcpy(work, keys, (size_t)job->n * width);
    key = select_key(width, work, job->n, &k);
    return find_key(width, keys, key, k);
}

static void select_share(void *data, int64_t begin, int64_t end)
{
    const select_shares *all = data;
    const mxl_select_job *job = all->job;
    size_t width = mxl_dtype_size(job->dtype);

    for (int64_t s = begin; s < end; s++) {
        int64_t each = all->rows / all->shares, more = all->rows % all->shares;
        int64_t first = s * each + (s < more ? s : more), past = first + each + (s < more);
        char *room = all->room + s * 3 * all->bytes;

        for (int64_t r = first; r < past; r++) {
            int64_t at = r / job->inner * job->n * job->inner + r % job->inner;
            const char *row = (const char *)job->in + at * (int64_t)width;

            if (job->inner > 1) {
                mxl_copy_run(width, room, 1, row, job->inner, job->n);
                row = room;
            }
            job->out[r] = select_in_row(job, row, room + all->bytes, room + 2 * all->bytes);
        }
    }
}

int mxl_select(const mxl_select_job *job)
{
    select_shares all = {.job = job, .rows = job->outer * job->inner};

    if (all.rows == 0)
        return 0;
    all.shares = all.rows * job->n / GRAIN + 1;
    if (all.shares > mxl_thread_count())
        all.shares = mxl_thread_count();
    if (all.shares > all.rows)
        all.shares = all.rows;
    all.bytes = (job->n * (int64_t)mxl_dtype_size(job->dtype) + MXL_SORT_LINE - 1) / MXL_SORT_LINE *
                MXL_SORT_LINE;
    all.room = mxl_alloc((size_t)(all.shares * 3 * all.bytes));
    if (all.room == NULL)
        return -1;
    mxl_parallel_for(all.shares, 1, select_share, &all);
    mxl_free(all.room, (size_t)(all.shares * 3 * all.bytes));
    return 0;
}
