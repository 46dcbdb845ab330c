/* Automatic mixed precision: calls of a front end whose floating inputs are cast to 16 bits, to
 * float32, or to the widest dtype among them, by lists of operators. Calls within rules and
 * composites are not. The casts are recorded, so that gradients get back to the inputs' dtypes. */
#ifndef MXL_ENGINE_RUN_AMP_H
#define MXL_ENGINE_RUN_AMP_H

#include <stdatomic.h>

#include "engine/run/scope.h"

/* Names of operators; of those that are aliases of one the operator's own name counts. Names that
 * are unknown are ignored. */
typedef struct mxl_amp_lists {
    int dtype; /* float16 or bfloat16 */
    int num_low, num_single, num_widest, num_conditional;
    const char *const *low, *const *single, *const *widest;
    /* In float32 where a parameter, a choice among words, has the value. */
    const char *const *conditional, *const *params, *const *values;
} mxl_amp_lists;

/* Begins with these lists, in the place of others; NULL: ends. Of the whole process, while no other
 * thread runs operators. -1 with the error set and nothing changed. */
int mxl_amp_set(const mxl_amp_lists *lists);

extern atomic_bool mxl_amp_on;

static inline bool mxl_amp_is_on(void)
{
    return atomic_load_explicit(&mxl_amp_on, memory_order_relaxed);
}

/* The inputs of a call, cast as the lists say: in `cast`, which has room for them; scoped. Arrays
 * that the call writes to, statistics of a normalisation, and sparse ones stay. -1 with the error
 * set. */
int mxl_amp_cast(mxl_scope *scope, const mxl_op *op, const void *params, int num_inputs,
                 mxl_array *const *inputs, mxl_array **cast);

#endif
