/* Arrays of a loop's steps: parts of one array, and one array of parts. All calls are recorded as
 * the mode says; -1 with the error set. */
#ifndef MXL_SYMBOL_CONTROL_LOOP_STEPS_H
#define MXL_SYMBOL_CONTROL_LOOP_STEPS_H

#include "engine/run/invoke.h"
#include "symbol/symbol.h"

/* The positions of the first axis, `steps` of them: sets part[i] to new references. In MXNet's
 * legacy mode a part without dimensions has shape (1,). */
int mxl_steps_split(mxl_array *array, int64_t steps, mxl_array **part, mxl_mode mode);
/* Stacks steps along a new first axis of size `most`, with zeros behind them. */
int mxl_steps_stack(mxl_array *const *part, int64_t steps, int64_t most, mxl_array **out,
                    mxl_mode mode);
/* Zeros in place of result k of a _while_loop without steps, of the shape that steps would give. */
int mxl_steps_none(const mxl_graph_node *node, mxl_array *const *in, int k, mxl_array **out,
                   mxl_mode mode);
/* Whether the only element is not 0. */
int mxl_steps_truth(mxl_array *condition, mxl_mode mode);

#endif
