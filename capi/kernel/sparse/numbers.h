/* Rows by their numbers: a row_sparse array has those of its rows in a list that ascends. */
#ifndef MXL_KERNEL_SPARSE_NUMBERS_H
#define MXL_KERNEL_SPARSE_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

/* Sorts n numbers and drops repeated ones; returns how many are left. */
int64_t mxl_sparse_unique(int64_t n, int64_t *numbers);

/* The position of a number in a list that ascends, or -1. A list without gaps up to it has it at
 * its own place, where it is looked for first. */
int64_t mxl_sparse_find(const int64_t *list, int64_t count, int64_t number);

/* out[j] = the row of `data` whose number at[j] is, or zeros: data has `stored` rows (of so many
 * bytes), whose numbers ascend in `indices`. */
void mxl_sparse_take_rows(size_t row_bytes, int64_t stored, const int64_t *indices,
                          const void *data, int64_t count, const int64_t *at, void *out);

#endif
