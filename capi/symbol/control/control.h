/* Nodes that run graphs: loops and branches (_foreach, _while_loop, _cond; ops/control_ops.h has
 * their parameters). A node holds its graphs as symbols that never change. */
#ifndef MXL_SYMBOL_CONTROL_CONTROL_H
#define MXL_SYMBOL_CONTROL_CONTROL_H

#include "symbol/infer.h"
#include "symbol/program.h"

/* What an operator does, by the number of its graphs. */
typedef enum mxl_control_kind { MXL_FOREACH = 1, MXL_WHILE, MXL_BRANCH } mxl_control_kind;

/* The graphs of a node as programs. NULL with the error set, also if the node has no graphs yet. */
mxl_control *mxl_control_new(const mxl_graph_node *node);
void mxl_control_free(mxl_control *control);
/* mxl_program_keep for each of them. */
int mxl_control_keep(mxl_control *control);
bool mxl_control_calls_out(const mxl_control *control);

/* Runs the node, as mxl_invoke runs others: out[i] is set to a new reference. -1 with the error set
 * and no output set. */
int mxl_control_run(const mxl_control *control, mxl_array *const *in, mxl_array **out,
                    mxl_mode mode);

/* Completes shapes (dtypes) of the node's inputs and outputs through its graphs. */
int mxl_control_shapes(const mxl_graph_node *node, mxl_rule *rule);
int mxl_control_dtypes(const mxl_graph_node *node, mxl_rule *rule);

#endif
