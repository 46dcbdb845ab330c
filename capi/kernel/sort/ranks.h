/* Positions of elements by their order: searches in sorted rows, the most frequent elements,
 * running extremes. All work on keys: int64 numbers that have the order of the elements. For
 * ops/index/ranks.c. */
#ifndef MXL_KERNEL_SORT_RANKS_H
#define MXL_KERNEL_SORT_RANKS_H

#include <stdbool.h>
#include <stdint.h>

/* The key of a NaN, which no number of a floating dtype has; -0 has that of 0. */
#define MXL_KEY_NAN INT64_MAX

/* The keys of n elements of a dtype with loops. `keys` may not overlap `in`. */
void mxl_keys(int dtype, int64_t n, const void *in, int64_t *keys);

/* How many keys of a sorted row are below the key; or, with `right`, not above it. */
int64_t mxl_keys_below(int64_t n, const int64_t *row, int64_t key, bool right);

/* Where the smallest of the most frequent keys of a row is last. `order` sorts the row, stably;
 * with `floats` every NaN is another element. */
int64_t mxl_most_frequent(int64_t n, const int64_t *row, int64_t step, const int64_t *order,
                          bool floats);

/* places[i * step] = where the largest of keys 0 to i (or the smallest) is last; with `floats`,
 * from a NaN on where the last NaN is. */
void mxl_running_place(int64_t n, const int64_t *row, int64_t step, bool largest, bool floats,
                       int64_t *places);

#endif
