/* The two ends of a backward that touch variables: which gradients are wanted, and where results
 * go. */
#ifndef MXL_ENGINE_BACKWARD_ACCUMULATE_H
#define MXL_ENGINE_BACKWARD_ACCUMULATE_H

#include "engine/backward/backward.h"
#include "engine/run/invoke.h"
#include "engine/backward/visit.h"

/* Before the visit: marks the variables asked for. -1: one of them has no edge. */
int mxl_accumulate_prepare(mxl_visit *walk, const mxl_backward_args *args);

/* After the visit: -1 when a variable asked for is not reached, or a gradient buffer does not fit.
 * */
int mxl_accumulate_check(const mxl_visit *walk, const mxl_backward_args *args);

/* A variable with hooks, when all its gradients have arrived: calls the hooks on it, once. Where it
 * has others too, that see its gradient accumulated, that is done now. */
int mxl_accumulate_hooked(mxl_task *task, const mxl_backward_args *args, mxl_mode mode);

/* Large gradients that replace what their buffers hold, in a backward that ends only if a rule
 * fails: lets go what the buffers hold, which are zeros from then on; and writes the gradient of a
 * variable to which all have arrived. So they are in memory once. Not where a variable has hooks,
 * or anything else refers to the buffer's bytes. */
void mxl_accumulate_let_go(const mxl_visit *walk);
int mxl_accumulate_early(mxl_task *task, mxl_mode mode);

/* At the end: gradients into the buffers of variables, or into args->grads. A variable that was
 * reached and got nothing has gradient zero. */
int mxl_accumulate(mxl_visit *walk, const mxl_backward_args *args, mxl_mode mode);

#endif
