/* Sorting along one axis: the sorted values, their positions, the first k of either, or a mask of
 * those. For ops/index/sort.c. */
#ifndef MXL_KERNEL_SORT_SORT_H
#define MXL_KERNEL_SORT_SORT_H

#include <stdbool.h>
#include <stdint.h>

/* Over the middle axis of a contiguous (outer, n, inner) array of any dtype. A NaN counts as larger
 * than every number. The sort is stable in both directions; but without positions -0 may be put
 * before 0, and a NaN may get other bits. */
typedef struct mxl_sort_job {
    int dtype;
    bool descending;
    int64_t outer, n, inner;
    int64_t k; /* 0 to n: the number of results of each row */
    const void *in;
    void *values;    /* (outer, k, inner) of the dtype; or NULL */
    void *positions; /* (outer, k, inner) of position_dtype, counted from 0; or NULL */
    int position_dtype;
    void *mask; /* (outer, n, inner) of the dtype: 1 where an element is one of the k; or NULL */
} mxl_sort_job;

/* The results must not overlap the input. O(n) for large rows, O(n log k) for small k, no
 * recursion. -1 with the error set: out of memory. */
int mxl_sort(const mxl_sort_job *job);

#endif
