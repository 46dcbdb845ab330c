/* What rows are sorted as: entries, which are keys (sort_keys.h), alone or with positions. For
 * sort.c. */
#ifndef MXL_KERNEL_SORT_SORT_ENTRY_H
#define MXL_KERNEL_SORT_SORT_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/sort/sort.h"

enum {
    MXL_SORT_LARGE = 1 << 16, /* entries that several threads sort together, */
    MXL_SORT_PARTS = 8        /* at most so many */
};

typedef struct mxl_sort_entry {
    size_t bytes, key;
    bool apart;   /* key and position are numbers of their own, of 8 bytes each */
    int64_t most; /* entries of rows that are sorted as columns */

    /* Elements begin, ... of a row as entries. */
    void (*read)(const mxl_sort_job *job, const void *row, int64_t begin, int64_t end,
                 void *entries);

    /* Puts n entries in order; `b` is room for as many as `a` has. Where keys are equal, `sort`
     * leaves entries as they are, and `order` puts them in the order of their positions. */
    void (*sort)(void *a, void *b, int64_t n);
    void (*order)(void *a, void *b, int64_t n);

    /* Of entries with positions, NULL for others: the k first of elements begin, ... of a row, in
     * no order; the k first of a row in the order of their positions, 0 < k < n, with room for n
     * keys; the positions of entries. */
    void (*heap)(const mxl_sort_job *job, const void *row, int64_t begin, int64_t end,
                 void *entries);
    void (*divide)(const mxl_sort_job *job, const void *row, void *keys, void *entries);
    void (*positions)(const void *entries, int64_t count, int64_t *positions);
} mxl_sort_entry;

/* The kind that a job needs. */
const mxl_sort_entry *mxl_sort_entry_of(const mxl_sort_job *job);

/* How many threads work on a large row. */
int64_t mxl_sort_parts(void);

#endif
