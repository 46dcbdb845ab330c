/* Entries: rows are sorted as arrays of these. An entry is a key (sort_keys.h), with or without its
 * position. For sort.c. */
#ifndef MXL_KERNEL_SORT_SORT_ENTRY_H
#define MXL_KERNEL_SORT_SORT_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/sort/sort.h"

enum {
    MXL_SORT_LARGE = 1 << 16, /* entries from which several threads sort together, */
    MXL_SORT_PARTS = 8        /* and the most such threads */
};

typedef struct mxl_sort_entry {
    size_t bytes, key;
    bool apart;   /* key and position are separate numbers of 8 bytes */
    int64_t most; /* most entries of a row that is sorted as a column */

    /* Converts elements begin, ... of a row to entries. */
    void (*read)(const mxl_sort_job *job, const void *row, int64_t begin, int64_t end,
                 void *entries);

    /* Sorts n entries; `b` is a buffer of the size of `a`. For equal keys, `sort` keeps the order
     * of entries, `order` sorts by position. */
    void (*sort)(void *a, void *b, int64_t n);
    void (*order)(void *a, void *b, int64_t n);

    /* For entries with positions, else NULL. `heap`: the first k of elements begin, ... of a row,
     * in any order. `divide`: the first k of a row in the order of their positions, 0 < k < n, with
     * a buffer for n keys. Then: the positions of entries. */
    void (*heap)(const mxl_sort_job *job, const void *row, int64_t begin, int64_t end,
                 void *entries);
    void (*divide)(const mxl_sort_job *job, const void *row, void *keys, void *entries);
    void (*positions)(const void *entries, int64_t count, int64_t *positions);
} mxl_sort_entry;

/* The kind of entries for a job. */
const mxl_sort_entry *mxl_sort_entry_of(const mxl_sort_job *job);

/* The number of threads that work on a large row. */
int64_t mxl_sort_parts(void);

#endif
