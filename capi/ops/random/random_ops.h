/* Shared by the random operators: random.c, sample.c, multinomial.c. */
#ifndef MXL_OPS_RANDOM_RANDOM_OPS_H
#define MXL_OPS_RANDOM_RANDOM_OPS_H

#include "engine/run/generator.h"
#include "kernel/random/draw.h"
#include "ops/build.h"

/* The dtype of an output: from a parameter (MXL_DTYPE_UNKNOWN: none) or the array given as output,
 * else float32. -1 with the error set if the two differ or the dtype is not floating. */
int mxl_random_dtype(mxl_infer *infer, int dtype);

#define MXL_RANDOM_DTYPES "{'None', 'float16', 'float32', 'float64'},optional, default='None'"

#endif
