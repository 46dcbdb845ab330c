/* Convolutions with what follows them; see passes.h.
 *
 * A node takes over the inputs and attributes of the convolution that it reads, and becomes the
 * fused one itself: so its name, its readers and the graph's outputs stay. */
#include <math.h>

#include "ops/elementwise/elementwise.h"
#include "ops/nn/batch_norm.h"
#include "ops/conv/fused_convolution.h"
#include "symbol/passes/readers.h"

/* ---- what nodes are ---- */

/* A convolution that no sum and no limits follow yet; NULL: node n's input i is none, or another
 * node reads it too. */
static mxl_graph_node *convolution_before(const mxl_readers *r, int n, int i)
{
    mxl_graph_node *node = mxl_read_alone(r, n, i);
    const mxl_fused_params *p = node != NULL ? node->params : NULL;

    if (node == NULL || node->op == &mxl_op_convolution)
        return node;
    return node->op == &mxl_op_fused_convolution && isinf(p->low) && isinf(p->high) ? node : NULL;
}

static bool has_sum(const mxl_graph_node *convolution)
{
    const mxl_fused_params *p = convolution->params;

    return convolution->op == &mxl_op_fused_convolution && p->adds;
}

bool mxl_pass_is_limit(const mxl_graph_node *node, double *low, double *high)
{
    const mxl_op *op = node->op == &mxl_op_activation ? mxl_activation_of(node->params) : node->op;

    *low = 0;
    *high = INFINITY;
    if (op == &mxl_op_relu)
        return true;
    if (op != &mxl_op_clip)
        return false;
    *low = ((const mxl_clip_params *)node->params)->a_min;
    *high = ((const mxl_clip_params *)node->params)->a_max;
    return *low <= *high;
}

/* ---- fusing: 1, or -1 with the error set ---- */

static int absorb(mxl_graph_node *last, const mxl_graph_node *convolution, int first, int count)
{
    return mxl_pass_absorb(last, &mxl_op_fused_convolution, convolution, first, count);
}

static int fuse_norm(mxl_graph_node *node, const mxl_graph_node *convolution)
{
    mxl_batch_norm_params p = *(const mxl_batch_norm_params *)node->params;

    if (absorb(node, convolution, 1, 4) != 0 || mxl_pass_set_number(node, "normalises", 1) != 0 ||
        mxl_pass_set_number(node, "fix_gamma", p.fix_gamma) != 0 ||
        mxl_pass_set_number(node, "eps", p.eps) != 0)
        return -1;
    return mxl_graph_node_parse(node, node->num_inputs) == 0 ? 1 : -1;
}

static int fuse_limit(mxl_graph_node *node, const mxl_graph_node *convolution, double low,
                      double high)
{
    if (absorb(node, convolution, 1, 0) != 0 || mxl_pass_set_number(node, "low", low) != 0 ||
        mxl_pass_set_number(node, "high", high) != 0)
        return -1;
    return mxl_graph_node_parse(node, node->num_inputs) == 0 ? 1 : -1;
}

static int fuse_sum(mxl_graph_node *node, const mxl_graph_node *convolution, int added)
{
    if (absorb(node, convolution, added, 1) != 0 || mxl_pass_set_number(node, "adds", 1) != 0)
        return -1;
    return mxl_graph_node_parse(node, node->num_inputs) == 0 ? 1 : -1;
}

/* Of two convolutions that are added, the one that runs last: the other is there by then. */
static int fuse_operand(const mxl_readers *r, int n)
{
    mxl_graph_node *node = r->graph.walk.node[n], *found = NULL;
    int which = -1;

    for (int i = 0; i < 2; i++) {
        mxl_graph_node *convolution = convolution_before(r, n, i);

        if (convolution == NULL || has_sum(convolution) ||
            (which >= 0 &&
             r->maker[mxl_read_entry(r, n, i)] < r->maker[mxl_read_entry(r, n, which)]))
            continue;
        found = convolution;
        which = i;
    }
    return found != NULL ? fuse_sum(node, found, 1 - which) : 0;
}

/* A relu and the normalisation that it alone reads. */
static int join_relu(const mxl_readers *r, int n)
{
    mxl_graph_node *node = r->graph.walk.node[n];
    int norm = mxl_read_number(r, n, 0);
    double low, high;

    if (norm < 0 || !mxl_read_norm(r, norm) || !mxl_pass_is_limit(node, &low, &high) || low != 0 ||
        !isinf(high) || mxl_read_entry(r, n, 0) != r->graph.first[norm])
        return 0;
    return mxl_pass_absorb(node, &mxl_op_norm_relu, r->graph.walk.node[norm], 1, 0) == 0 &&
                   mxl_graph_node_parse(node, node->num_inputs) == 0
               ? 1
               : -1;
}

/* 0: it stays as it is. */
static int fuse_node(const mxl_readers *r, int n)
{
    mxl_graph_node *node = r->graph.walk.node[n], *convolution;
    double low, high;

    if (node->op == mxl_op_add_alike)
        return fuse_operand(r, n);
    convolution = convolution_before(r, n, 0);
    if (convolution == NULL)
        return join_relu(r, n);
    if (mxl_read_norm(r, n) && ((const mxl_batch_norm_params *)node->params)->axis == 1)
        return convolution->op == &mxl_op_convolution ? fuse_norm(node, convolution) : 0;
    return mxl_pass_is_limit(node, &low, &high) ? fuse_limit(node, convolution, low, high) : 0;
}

int mxl_pass_fuse(mxl_symbol *symbol)
{
    return mxl_pass_nodes(symbol, MXL_PASS_FUSE, fuse_node);
}
