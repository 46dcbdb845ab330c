/* Finds the position of the k-th element of each row without sorting. For ops/index/median.c. */
#ifndef MXL_KERNEL_SORT_SELECT_H
#define MXL_KERNEL_SORT_SELECT_H

#include <stdint.h>

/* Over the middle axis of a contiguous (outer, n, inner) array of any dtype, n > 0. */
typedef struct mxl_select_job {
    int dtype;
    int64_t outer, n, inner;
    int64_t k; /* 0 to n - 1: the number of the element in ascending order */
    const void *in;
    int64_t *out; /* (outer, inner) */
} mxl_select_job;

/* The order is that of mxl_sort: equal elements keep their order. In a row with NaN the first NaN
 * is selected for any k. O(n) for each row. -1 with the error set: out of memory. */
int mxl_select(const mxl_select_job *job);

#endif
