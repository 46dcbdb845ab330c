/* What sorting does in vectors: keys of elements, counting and finding keys, and sorting many short
 * columns at once. For sort.c. Keys are unsigned numbers as wide as the dtype, in the order that is
 * asked for. */
#ifndef MXL_KERNEL_SORT_SORT_KEYS_H
#define MXL_KERNEL_SORT_SORT_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MXL_SORT_LINE = 64 }; /* bytes: how many columns are sorted at once */

/* Keys of n elements; the largest first if `down`. A NaN has the key of the largest number, and if
 * `same_zeros`, -0 that of 0. */
void mxl_sort_keys(int dtype, const void *in, int64_t n, bool down, bool same_zeros, void *keys);

/* Elements of keys that were made with same_zeros false. */
void mxl_sort_elements(int dtype, const void *keys, int64_t n, bool down, void *out);

/* The first position from `from` on, of n, whose key is below the limit; n: there is none. */
int64_t mxl_sort_find_below(size_t width, const void *keys, int64_t from, int64_t n,
                            uint64_t limit);

/* How many of n keys are below the limit. */
int64_t mxl_sort_count_below(size_t width, const void *keys, int64_t n, uint64_t limit);

/* Sorts each column of (n, MXL_SORT_LINE / width) keys. */
void mxl_sort_columns(size_t width, void *keys, int64_t n);

/* The same for keys of 8 bytes with their positions, which decide between equal keys. */
void mxl_sort_pair_columns(uint64_t *keys, uint64_t *positions, int64_t n);

#endif
