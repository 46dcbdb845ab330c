/* Normalisations with what follows them, for training; see passes.h. */
#include "ops/elementwise/elementwise.h"
#include "ops/nn/batch_norm.h"
#include "symbol/passes/passes.h"
#include "symbol/passes/readers.h"

static bool is_relu(const mxl_graph_node *node)
{
    return node->op == &mxl_op_relu ||
           (node->op == &mxl_op_activation && mxl_activation_of(node->params) == &mxl_op_relu);
}

/* Node n, if it is relu, becomes the normalisation that it alone reads. 0: it stays as it is. */
static int join_node(const mxl_readers *r, int n)
{
    mxl_graph_node *node = r->graph.walk.node[n];
    int norm = is_relu(node) ? mxl_read_number(r, n, 0) : -1;

    if (norm < 0 || !mxl_read_norm(r, norm))
        return 0;
    return mxl_pass_absorb(node, &mxl_op_batch_norm_cut, r->graph.walk.node[norm], 1, 0) == 0 &&
                   mxl_graph_node_parse(node, node->num_inputs) == 0
               ? 1
               : -1;
}

int mxl_pass_join(mxl_symbol *symbol)
{
    return mxl_pass_nodes(symbol, MXL_PASS_JOIN, join_node);
}
