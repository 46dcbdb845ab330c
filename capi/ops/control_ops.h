/* Parameters of loops and branches over graphs: _foreach, _while_loop, _cond. `symbol/control` runs
 * them. Lists of positions count from 0. */
#ifndef MXL_OPS_CONTROL_OPS_H
#define MXL_OPS_CONTROL_OPS_H

#include "op/op.h"
#include "base/system/threads.h"

/* The inputs of the node are data, then states, then others. Each list has, for one of these kinds,
 * the positions among the variables of the graph. The heads of the graph are outputs of a step,
 * then new states. */
typedef struct mxl_foreach_params {
    int64_t num_args, num_outputs, num_out_data;
    mxl_tuple in_state_locs, in_data_locs, remain_locs;
} mxl_foreach_params;

/* The inputs of the node in the order of the condition's variables, and then those that only the
 * body reads. For each variable of a graph, the position of its input; for each variable of the
 * loop, the position among the variables of the body. */
typedef struct mxl_while_params {
    int64_t num_args, num_outputs, num_out_data, max_iterations;
    mxl_tuple cond_input_locs, func_input_locs, func_var_locs;
} mxl_while_params;

/* For each variable of a graph, the position of its input. */
typedef struct mxl_cond_params {
    int64_t num_args, num_outputs;
    mxl_tuple cond_input_locs, then_input_locs, else_input_locs;
} mxl_cond_params;

#endif
