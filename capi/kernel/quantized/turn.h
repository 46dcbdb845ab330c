/* The channels of images become the last axis, or the second one. For convolve.c. */
#ifndef MXL_KERNEL_QUANTIZED_TURN_H
#define MXL_KERNEL_QUANTIZED_TURN_H

#include <stdint.h>

/* to[n][columns][rows] = from[n][rows][columns], of elements of 1 or 4 bytes. */
void mxl_quantized_turn(int size, int64_t n, int64_t rows, int64_t columns, const void *from,
                        void *to);

/* to[columns][rows] = from[rows][columns] of bytes, whose rows are `step` bytes apart; on the
 * calling thread. */
void mxl_quantized_turn_line(int64_t rows, int64_t columns, const char *from, int64_t step,
                             char *to);

#endif
