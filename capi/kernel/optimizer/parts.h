/* One parallel loop over several arrays: their elements (or blocks of elements) are divided among
 * the threads as if they were one long row. For the steps of optimizers. */
#ifndef MXL_KERNEL_OPTIMIZER_PARTS_H
#define MXL_KERNEL_OPTIMIZER_PARTS_H

#include <stdint.h>

/* Called with a range of one part. */
typedef void (*mxl_part_fn)(void *data, int part, int64_t begin, int64_t end);

/* Runs over all ranges of `count` parts. Part i lies at [first[i], first[i + 1]) of the row, and
 * first[0] is 0. `unit` and `grain` as for mxl_parallel_fine. */
void mxl_parts_run(int count, const int64_t *first, int64_t unit, int64_t grain, mxl_part_fn run,
                   void *data);

#endif
