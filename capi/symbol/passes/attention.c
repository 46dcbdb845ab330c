/* Attention from its parts; see passes.h. */
#include "ops/linalg/linalg.h"
#include "ops/nn/scaled_attention.h"
#include "ops/reduce/reduce_ops.h"
#include "symbol/passes/readers.h"

/* What is found: the entries that the operator reads, and its parameters. */
typedef struct found {
    mxl_entry query, key, value, mask;
    double scale;
    bool masked, alike, turned;
    int64_t axis;
} found;

static mxl_graph_node *node_at(const mxl_readers *r, int n)
{
    return r->graph.walk.node[n];
}

/* A product of matrices, but for the last two axes of its operands; its transpositions. */
static bool is_product(const mxl_graph_node *node, bool *a, bool *b)
{
    const mxl_dot_params *p = node->params;

    *a = *b = false;
#ifndef MXL_WITHOUT_NUMPY
    if (node->op == mxl_op_stacked_product)
        return true;
#endif
    if (node->op != &mxl_op_batch_dot)
        return false;
    *a = p->transpose_a != 0;
    *b = p->transpose_b != 0;
    return true;
}

/* Scaled products of query and key that node n alone reads as input i. */
static bool find_scores(const mxl_readers *r, int n, int i, found *f)
{
    int at = mxl_read_number(r, n, i);
    bool a, b;

    f->scale = 1;
    while (at >= 0 &&
           (node_at(r, at)->op == &mxl_op_mul_scalar || node_at(r, at)->op == &mxl_op_div_scalar)) {
        double by = ((const mxl_scalar_params *)node_at(r, at)->params)->scalar;

        f->scale = node_at(r, at)->op == &mxl_op_mul_scalar ? f->scale * by : f->scale / by;
        at = mxl_read_number(r, at, 0);
    }
    if (at < 0 || !is_product(node_at(r, at), &a, &b) || a)
        return false;
    f->query = node_at(r, at)->inputs[0];
    f->key = node_at(r, at)->inputs[1];
    f->turned = !b;
    return true;
}

/* The same with a mask that is added, or without one. */
static bool find_masked(const mxl_readers *r, int n, found *f)
{
    int at = mxl_read_number(r, n, 0);

    if (find_scores(r, n, 0, f))
        return true;
    if (at < 0 ||
        (node_at(r, at)->op != mxl_op_add_alike && node_at(r, at)->op != &mxl_op_broadcast_add))
        return false;
    f->masked = true;
    f->alike = node_at(r, at)->op == mxl_op_add_alike;
    for (int i = 0; i < 2; i++) {
        f->mask = node_at(r, at)->inputs[1 - i];
        if (find_scores(r, at, i, f))
            return true;
    }
    return false;
}

static int become(mxl_graph_node *node, const found *f)
{
    const mxl_entry inputs[] = {f->query, f->key, f->value, f->mask};

    mxl_attrs_clear(&node->attrs);
    node->op = &mxl_op_fused_attention;
    node->is_numpys = false;
    if (mxl_pass_set_number(node, "scale", f->scale) != 0 ||
        mxl_pass_set_number(node, "masked", f->masked) != 0 ||
        mxl_pass_set_number(node, "alike", f->alike) != 0 ||
        mxl_pass_set_number(node, "turned", f->turned) != 0 ||
        mxl_pass_set_number(node, "axis", (double)f->axis) != 0)
        return -1;
    return mxl_pass_set_inputs(node, inputs, f->masked ? 4 : 3) == 0 ? 1 : -1;
}

/* Node n is the product of shares and values, or stays. Softmax of axis 1 is not that of matrices.
 */
static int join(const mxl_readers *r, int n)
{
    mxl_graph_node *node = node_at(r, n);
    found f = {0};
    bool a, b;
    int shares;

    if (!is_product(node, &a, &b) || a || b)
        return 0;
    shares = mxl_read_number(r, n, 0);
    if (shares < 0 || node_at(r, shares)->op != mxl_op_plain_softmax ||
        !mxl_softmax_is_plain(node_at(r, shares)->params))
        return 0;
    f.axis = mxl_softmax_axis_of(node_at(r, shares)->params);
    f.value = node->inputs[1];
    if ((f.axis != -1 && f.axis < 2) || !find_masked(r, shares, &f))
        return 0;
    return become(node, &f);
}

int mxl_pass_attention(mxl_symbol *symbol)
{
    return mxl_pass_nodes(symbol, MXL_PASS_ATTENTION, join);
}
