/* Average pooling before convolutions of 1 x 1; see passes.h. */
#include "ops/conv/conv_ops.h"
#include "ops/nn/pooling.h"
#include "symbol/passes/readers.h"

/* Whether all entries of a list, which may be empty, are `value`. */
static bool all_are(mxl_tuple list, int64_t value)
{
    for (int i = 0; i < list.n; i++) {
        if (list.v[i] != value)
            return false;
    }
    return true;
}

/* Whether a convolution multiplies every position by the same matrix. */
static bool is_matrix(const mxl_graph_node *node)
{
    const mxl_conv_params *p = node->params;

    return node->op == &mxl_op_convolution && all_are(p->kernel, 1) && all_are(p->stride, 1) &&
           all_are(p->pad, 0);
}

/* Whether a node gives means of whole windows, of which there are fewer than positions. */
static bool is_mean(const mxl_graph_node *node)
{
    const mxl_pooling_params *p = node->params;
    int64_t apart = 1;

    if (node->op != &mxl_op_pooling || p->pool_type != MXL_POOLING_AVG || mxl_pooling_is_last(p))
        return false;
    for (int i = 0; i < p->stride.n; i++)
        apart *= p->stride.v[i];
    return p->global_pool ||
           (apart > 1 && all_are(p->pad, 0) && p->pooling_convention == MXL_POOLING_VALID);
}

/* Pooling node n and the convolution before it become each other: names of results stay. */
static int swap(const mxl_readers *r, int n)
{
    mxl_graph_node *last = r->graph.walk.node[n], *first = mxl_read_alone(r, n, 0);
    const mxl_op *op = last->op;
    mxl_attrs attrs = last->attrs;
    mxl_entry inputs[3];
    int count;

    if (!is_mean(last) || first == NULL || !is_matrix(first))
        return 0;
    count = first->num_inputs;
    inputs[0] = last->inputs[0];
    for (int i = 1; i < count; i++)
        inputs[i] = first->inputs[i];
    last->op = first->op;
    last->attrs = first->attrs;
    first->op = op;
    first->attrs = attrs;
    first->is_numpys = last->is_numpys = false;
    if (mxl_pass_set_inputs(last, inputs, count) != 0 ||
        mxl_pass_set_inputs(first, first->inputs, 1) != 0)
        return -1;
    return 1;
}

int mxl_pass_swap(mxl_symbol *symbol)
{
    return mxl_pass_nodes(symbol, MXL_PASS_SWAP, swap);
}
