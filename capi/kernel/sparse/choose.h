/* Random subsets of the numbers below n, for samplers of graphs. */
#ifndef MXL_KERNEL_SPARSE_CHOOSE_H
#define MXL_KERNEL_SPARSE_CHOOSE_H

#include <stdint.h>

#include "kernel/random/draw.h"

/* Writes k <= n different numbers, ascending: all subsets are equally likely. */
void mxl_choose(mxl_draws *draws, int64_t n, int64_t k, int64_t *out);

/* The same one after another, each of those left with a probability in proportion to its weight;
 * numbers of weight 0 or less only where no others are left. -1 with the error set: no memory. */
int mxl_choose_weighted(mxl_draws *draws, int64_t n, const float *weights, int64_t k, int64_t *out);

#endif
