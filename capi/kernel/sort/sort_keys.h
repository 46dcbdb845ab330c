/* The vectorised parts of sorting: keys of elements, counting and finding keys, and sorting many
 * short columns at once. For sort.c. Keys are unsigned numbers as wide as the dtype, in the
 * requested order. */
#ifndef MXL_KERNEL_SORT_SORT_KEYS_H
#define MXL_KERNEL_SORT_SORT_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MXL_SORT_LINE = 64
}; /* bytes of a row of columns: the number of columns that are sorted at once */

/* Makes the keys of n elements; the largest comes first with `down`. A NaN has the key of the
 * largest number. With `same_zeros`, -0 has the key of 0. */
void mxl_sort_keys(int dtype, const void *in, int64_t n, bool down, bool same_zeros, void *keys);

/* Converts keys that were made with same_zeros false back to elements. */
void mxl_sort_elements(int dtype, const void *keys, int64_t n, bool down, void *out);

/* The first position, from `from` on, of a key below the limit; n if there is none. */
int64_t mxl_sort_find_below(size_t width, const void *keys, int64_t from, int64_t n,
                            uint64_t limit);

/* The number of keys below the limit, among n. */
int64_t mxl_sort_count_below(size_t width, const void *keys, int64_t n, uint64_t limit);

/* Sorts each column of an array of (n, MXL_SORT_LINE / width) keys. */
void mxl_sort_columns(size_t width, void *keys, int64_t n);

/* The same for 8-byte keys with their positions, which break ties. */
void mxl_sort_pair_columns(uint64_t *keys, uint64_t *positions, int64_t n);

#endif
