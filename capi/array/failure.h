/* Failures that are kept: where 1.9.1 reports an error of an operator as its result is read, the
 * call succeeds, and the results' storages have the error. What is computed from them has it too.
 * The first read of any of them, or a wait for all, reports it, once. */
#ifndef MXL_ARRAY_FAILURE_H
#define MXL_ARRAY_FAILURE_H

#include <stdatomic.h>

#include "array/array.h"

/* How many were not reported. While there are none, calls pay for a load and a branch. */
extern atomic_int mxl_failures;

static inline bool mxl_failures_exist(void)
{
    return atomic_load_explicit(&mxl_failures, memory_order_relaxed) > 0;
}

/* Keeps the thread's error for the arrays, whose elements become zeros. -1 with another error set
 * where there is no memory for it. */
int mxl_failure_keep(int count, mxl_array *const *arrays);

/* Gives the outputs what is kept of an input and was not reported. 0, or -1 with the error set. */
int mxl_failure_pass(int num_inputs, mxl_array *const *inputs, int num_outputs,
                     mxl_array *const *outputs);

/* -1 with the kept error set, where there is one that was not reported; it counts as reported. */
int mxl_failure_report(const mxl_array *array);
int mxl_failure_report_any(void); /* of the last that was kept, whatever arrays are left */

/* Releases what a storage has, at its end; NULL: nothing. */
void mxl_failure_release(struct mxl_failure *failure);

#endif
