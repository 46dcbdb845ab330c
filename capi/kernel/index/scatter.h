/* Moving elements along one axis of an array by indices whose other axes may be shorter than the
 * array's: reading, writing and adding. For ops/index/scatter.c, take.c and keys.c. */
#ifndef MXL_KERNEL_INDEX_SCATTER_H
#define MXL_KERNEL_INDEX_SCATTER_H

#include <stddef.h>
#include <stdint.h>

/* The operands. The indices are within the bounds of the axis; strides are in elements. */
typedef struct mxl_scatter {
    int ndim, axis;                /* axis -1: the indices are offsets in the array, in elements */
    const int64_t *shape;          /* of the indices */
    const int64_t *index;          /* positions along `axis` of the array */
    const int64_t *index_strides;  /* NULL: those of contiguous indices */
    const int64_t *strides;        /* of the array */
    const int64_t *source_strides; /* of the source, which has one element for each index */
} mxl_scatter;

/* source[j] = array[... index[j] ...], elements of `width` bytes. */
void mxl_scatter_read(size_t width, const mxl_scatter *at, const void *array, void *source);

/* array[... index[j] ...] = source[j], one index after the other. */
void mxl_scatter_write(size_t width, const mxl_scatter *at, void *array, const void *source);

/* array[... index[j] ...] += source[j], one index after the other; for bool the sum is `or`. The
 * bits do not depend on the number of threads. */
void mxl_scatter_sum(int dtype, const mxl_scatter *at, void *array, const void *source);

#endif
