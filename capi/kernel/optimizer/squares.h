/* Sums of squares and checks for infinities over several arrays, in one parallel loop. For
 * ops/optimizer and lamb.c. */
#ifndef MXL_KERNEL_OPTIMIZER_SQUARES_H
#define MXL_KERNEL_OPTIMIZER_SQUARES_H

#include <stdbool.h>
#include <stdint.h>

enum { MXL_SQUARES_BLOCK = 4096 }; /* elements that are added up in one go */

/* The number of blocks of an array. */
static inline int64_t mxl_square_blocks(int64_t size)
{
    return size / MXL_SQUARES_BLOCK + (size % MXL_SQUARES_BLOCK != 0);
}

/* The sum of the squares of n elements of a floating dtype, in float64. Its bits depend on nothing
 * but the elements. */
double mxl_square_sum(int dtype, const void *data, int64_t n);

/* The sums of `count` arrays. `first` has room for count + 1 entries, `blocks` for the blocks of
 * all arrays. The bits do not depend on the number of threads. */
void mxl_square_sums(int dtype, int count, const void *const *data, const int64_t *sizes,
                     int64_t *first, double *blocks, double *sums);

/* Whether no element of `count` arrays is infinite or NaN. `first` has room for count + 1 entries.
 */
bool mxl_all_finite(int dtype, int count, const void *const *data, const int64_t *sizes,
                    int64_t *first);

/* Fills arrays of so many bytes with zeros. `first` has room for count + 1 entries. */
void mxl_all_zero(int count, void *const *data, const int64_t *bytes, int64_t *first);

#endif
