/* Equal numbers of a list, found by sorting: memory depends on their count alone, not on how large
 * they are. */
#ifndef MXL_KERNEL_SPARSE_GROUP_H
#define MXL_KERNEL_SPARSE_GROUP_H

#include <stdint.h>

/* Writes the different ones of n numbers to distinct [n], ascending, and to group [n] which of them
 * each number is. Returns how many there are; -1 with the error set: out of memory. */
int64_t mxl_sparse_group(int64_t n, const int64_t *numbers, int64_t *distinct, int64_t *group);

#endif
