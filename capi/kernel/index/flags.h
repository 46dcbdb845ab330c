/* Which of many flags are set: for masks and nonzero (ops/index). */
#ifndef MXL_KERNEL_INDEX_FLAGS_H
#define MXL_KERNEL_INDEX_FLAGS_H

#include <stdint.h>

/* How many of n flags are not 0. */
int64_t mxl_flags_count(const uint8_t *flag, int64_t n);

/* Writes the positions of set flags, `step` apart and at most `room`; returns their number. */
int64_t mxl_flags_positions(const uint8_t *flag, int64_t n, int64_t *out, int64_t step,
                            int64_t room);

#endif
