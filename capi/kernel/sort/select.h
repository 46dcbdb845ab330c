/* Finds the position of the k-th element of each row without sorting. For ops/index/kth.c. */
#ifndef MXL_KERNEL_SORT_SELECT_H
#define MXL_KERNEL_SORT_SELECT_H

#include <stdbool.h>
#include <stdint.h>

/* Over the middle axis of a contiguous (outer, n, inner) array of any dtype, n > 0. */
typedef struct mxl_select_job {
    int dtype;
    int64_t outer, n, inner;
    int64_t k;      /* 0 to n - 1: the number of the element in ascending order */
    bool first_nan; /* in a row with NaN, the first NaN for any k */
    const void *in;
    int64_t *out; /* (outer, inner) */
} mxl_select_job;

/* The order is that of mxl_sort: a NaN counts as larger than every number, and equal elements keep
 * their order. O(n) for each row. -1 with the error set: out of memory. */
int mxl_select(const mxl_select_job *job);

#endif
