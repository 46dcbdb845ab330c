/* Dtypes without loops of their own (base/dtype.h): an operator computes them in their carriers,
 * and its results are cast back. bfloat16 so is rounded once, from float32; integers wrap.
 *
 * The carrier int64 of uint64 has other numbers for its larger half. An operator's `u64` says what
 * becomes of it; where that says nothing, the call is an error. */
#ifndef MXL_ENGINE_RUN_CARRY_H
#define MXL_ENGINE_RUN_CARRY_H

#include "engine/run/invoke.h"

/* Whether one of the arrays has a dtype without loops. */
static inline bool mxl_carries(int count, mxl_array *const *arrays)
{
    for (int i = 0; i < count; i++) {
        if (arrays[i] != NULL && arrays[i]->storage != NULL &&
            mxl_dtype_is_carried(arrays[i]->dtype))
            return true;
    }
    return false;
}

/* In place of the operator's compute, where one of the arrays has such a dtype. */
int mxl_carry_compute(const mxl_call *call);

/* Whether mxl_carry_composite is to run a composite in place of its parts, so that bfloat16 is
 * rounded at its end alone. */
bool mxl_carry_is_composite(const mxl_op *op, int num_inputs, mxl_array *const *inputs,
                            mxl_mode mode);

/* Runs a composite on float32 in place of bfloat16, recorded as its parts are. 1: its results
 * cannot be told from the dtypes alone, and nothing was done; -1 with the error set. */
int mxl_carry_composite(const mxl_op *op, const void *params, int num_inputs,
                        mxl_array *const *inputs, int num_outputs, mxl_array **out, mxl_mode mode);

#endif
