/* Loops and branches over graphs, which are nodes of symbols: _foreach, _while_loop, _cond. Their
 * descriptors; `symbol/control` checks, infers and runs them. */
#include "ops/control_ops.h"

#include "base/system/threads.h"

#define REFUSED                                                                                    \
    "it takes graphs, which only symbols have: mx.sym.contrib makes it, and mx.nd.contrib runs "   \
    "loops over arrays"
#define GRAPH(name, meaning) MXL_INPUT(name, meaning, .type_text = "Symbol")
#define DATA MXL_INPUT(data, "What the graphs read.", .type_text = "NDArray-or-Symbol[]")
#define COUNT(params, field, meaning, ...)                                                         \
    MXL_PARAM(params, field, MXL_P_INT, MXL_REQUIRED, meaning, __VA_ARGS__)
#define PLACES(params, field, meaning)                                                             \
    MXL_PARAM(params, field, MXL_P_SHAPE, MXL_REQUIRED, meaning,                                   \
              .type_text = "tuple of <long>, required")
#define INPUTS_AND_OUTPUTS(params)                                                                 \
    COUNT(params, num_args, "Number of graphs and arrays.", MXL_AT_LEAST(0)),                      \
        COUNT(params, num_outputs, "Number of results.", MXL_AT_LEAST(1), .sets_outputs = true)

static int arity_of(int64_t outputs, mxl_arity *arity)
{
    if (outputs < 1 || outputs > INT32_MAX)
        return mxl_error("num_outputs must be 1 or more, got %lld", (long long)outputs);
    arity->outputs = arity->visible = (int)outputs;
    return 0;
}

static int foreach_arity(const void *params, mxl_arity *arity)
{
    return arity_of(((const mxl_foreach_params *)params)->num_outputs, arity);
}

static const mxl_op op_foreach = {
    .name = "_foreach",
    .doc = "Runs a graph for each position of the first axis of arrays, and hands states from one "
           "step to the next. The results are what the steps make, stacked, and the last states.",
    .refused = REFUSED,
    .graphs = 1,
    MXL_INPUTS(GRAPH(fn, "The graph of a step."), DATA),
    MXL_PARAMS_OF(
        mxl_foreach_params, INPUTS_AND_OUTPUTS(mxl_foreach_params),
        COUNT(mxl_foreach_params, num_out_data, "How many results are stacked.", MXL_AT_LEAST(0)),
        PLACES(mxl_foreach_params, in_state_locs, "Which variables are states."),
        PLACES(mxl_foreach_params, in_data_locs, "Which variables are parts of data."),
        PLACES(mxl_foreach_params, remain_locs, "The other variables.")),
    .key_var_num_args = "num_args",
    .arity = foreach_arity,
};

static int while_arity(const void *params, mxl_arity *arity)
{
    return arity_of(((const mxl_while_params *)params)->num_outputs, arity);
}

static const mxl_op op_while = {
    .name = "_while_loop",
    .doc = "Runs a graph while another one gives a number other than 0, and hands variables from "
           "one step to the next. The results are what the steps make, stacked, with zeros up to "
           "max_iterations, and the last variables.",
    .refused = REFUSED,
    .graphs = 2,
    MXL_INPUTS(GRAPH(cond, "The graph of the condition."), GRAPH(func, "The graph of a step."),
               DATA),
    MXL_PARAMS_OF(
        mxl_while_params, INPUTS_AND_OUTPUTS(mxl_while_params),
        COUNT(mxl_while_params, num_out_data, "How many results are stacked.", MXL_AT_LEAST(0)),
        COUNT(mxl_while_params, max_iterations, "The most steps.", MXL_AT_LEAST(0)),
        PLACES(mxl_while_params, cond_input_locs, "The inputs that the condition reads."),
        PLACES(mxl_while_params, func_input_locs, "The inputs that a step reads."),
        PLACES(mxl_while_params, func_var_locs, "The variables of the loop in the step's graph.")),
    .key_var_num_args = "num_args",
    .arity = while_arity,
};

static int cond_arity(const void *params, mxl_arity *arity)
{
    return arity_of(((const mxl_cond_params *)params)->num_outputs, arity);
}

static const mxl_op op_cond = {
    .name = "_cond",
    .doc = "Runs one of two graphs: the first if a third one gives a number other than 0.",
    .refused = REFUSED,
    .graphs = 3,
    MXL_INPUTS(GRAPH(cond, "The graph of the condition."),
               GRAPH(then_branch, "The graph that runs if it is true."),
               GRAPH(else_branch, "The graph that runs otherwise."), DATA),
    MXL_PARAMS_OF(
        mxl_cond_params, INPUTS_AND_OUTPUTS(mxl_cond_params),
        PLACES(mxl_cond_params, cond_input_locs, "The inputs that the condition reads."),
        PLACES(mxl_cond_params, then_input_locs, "The inputs that the first one reads."),
        PLACES(mxl_cond_params, else_input_locs, "The inputs that the second one reads.")),
    .key_var_num_args = "num_args",
    .arity = cond_arity,
};

const mxl_op *const mxl_ops_control[] = {&op_foreach, &op_while, &op_cond, NULL};
