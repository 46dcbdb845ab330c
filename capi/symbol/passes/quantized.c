/* Quantized convolutions with what follows them; see passes.h. As in fuse.c, a node takes over the
 * inputs and attributes of the one that it reads, so that its name and its readers stay. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory/mem.h"
#include "ops/quantized/layers.h"
#include "symbol/passes/passes.h"
#include "symbol/passes/readers.h"

/* ---- what nodes are ---- */

/* The node whose bytes and limits the inputs of node n at these places are, if they alone read
 * them; -1: there is none. */
static int made_for(const mxl_readers *r, int n, int bytes, int low, int high)
{
    const mxl_indexed *g = &r->graph;
    const int *input = g->input + g->args[n], at[3] = {bytes, low, high};
    int node = r->maker[input[bytes]];

    for (int i = 0; i < 3; i++) {
        int e = input[at[i]];

        if (e != g->first[node] + i || r->readers[e] != 1)
            return -1;
    }
    return node;
}

static const mxl_block_params *block_of(const mxl_graph_node *node)
{
    return node->op == &mxl_op_quantized_block ? node->params : NULL;
}

/* ---- joining: 1, or -1 with the error set ---- */

/* A node becomes `source`, or one more step of it, with more inputs at the end. */
static int become(mxl_graph_node *node, const mxl_graph_node *source, const mxl_entry *more,
                  int count)
{
    int all = source->num_inputs + count, status = -1;
    mxl_entry *inputs = mxl_alloc((size_t)all * sizeof(*inputs));
    mxl_attrs attrs = {0};

    if (inputs == NULL || mxl_attrs_add(&attrs, &source->attrs) != 0 ||
        mxl_attrs_add(&attrs, &node->attrs) != 0) {
        mxl_attrs_clear(&attrs);
    } else {
        mxl_attrs_clear(&node->attrs);
        node->attrs = attrs;
        node->op = &mxl_op_quantized_block;
        node->is_numpys = false;
        memcpy(inputs, source->inputs, (size_t)source->num_inputs * sizeof(*inputs));
        if (count > 0)
            memcpy(inputs + source->num_inputs, more, (size_t)count * sizeof(*inputs));
        status = mxl_pass_set_inputs(node, inputs, all) == 0 ? 1 : -1;
    }
    mxl_free(inputs, (size_t)all * sizeof(*inputs));
    return status;
}

static int set_range(mxl_attrs *attrs, const mxl_requantize_params *p, const char *type,
                     const char *low, const char *high)
{
    char text[2][32];

    snprintf(text[0], sizeof(text[0]), "%.17g", p->min_calib_range);
    snprintf(text[1], sizeof(text[1]), "%.17g", p->max_calib_range);
    return mxl_attrs_set(attrs, type, mxl_dtype_name(mxl_quantized_dtype(p))) != 0 ||
                   mxl_attrs_set(attrs, low, text[0]) != 0 ||
                   mxl_attrs_set(attrs, high, text[1]) != 0
               ? -1
               : 0;
}

/* A node of _contrib_requantize and the convolution before it. */
static int join_convolution(mxl_graph_node *node, const mxl_graph_node *convolution)
{
    mxl_requantize_params p = *(const mxl_requantize_params *)node->params;

    mxl_attrs_clear(&node->attrs);
    if (set_range(&node->attrs, &p, "out_type", "low", "high") != 0)
        return -1;
    return become(node, convolution, NULL, 0);
}

/* One of _contrib_quantized_act and the block before it. */
static int join_relu(mxl_graph_node *node, const mxl_graph_node *block)
{
    const char *key = block_of(block)->adds ? "sum_relu" : "relu";

    mxl_attrs_clear(&node->attrs);
    return mxl_attrs_set(&node->attrs, key, "1") != 0 ? -1 : become(node, block, NULL, 0);
}

/* One of _contrib_requantize, the sum before it, and of its operands a block that runs last. */
static int join_sum(const mxl_readers *r, int n, int sum)
{
    static const int places[2][3] = {{0, 2, 3}, {1, 4, 5}}; /* of operands, bytes and limits */
    mxl_graph_node *node = r->graph.walk.node[n], *adds = r->graph.walk.node[sum];
    mxl_requantize_params p = *(const mxl_requantize_params *)node->params;
    int found = -1, which = 0;
    mxl_entry added[3];

    for (int i = 0; i < 2; i++) {
        int of = made_for(r, sum, places[i][0], places[i][1], places[i][2]);
        const mxl_block_params *block = of >= 0 ? block_of(r->graph.walk.node[of]) : NULL;

        if (block != NULL && !block->adds && of > found) {
            found = of;
            which = i;
        }
    }
    if (found < 0)
        return 0;
    for (int i = 0; i < 3; i++)
        added[i] = adds->inputs[places[1 - which][i]];
    mxl_attrs_clear(&node->attrs);
    if (set_range(&node->attrs, &p, "sum_type", "sum_low", "sum_high") != 0 ||
        mxl_attrs_set(&node->attrs, "adds", "1") != 0)
        return -1;
    return become(node, r->graph.walk.node[found], added, 3);
}

/* The node that makes input 0 of node n, if n alone reads it; -1: there is none. */
static int alone_before(const mxl_readers *r, int n)
{
    int e = r->graph.input[r->graph.args[n]];

    return r->readers[e] == 1 && e == r->graph.first[r->maker[e]] ? r->maker[e] : -1;
}

/* A node of _contrib_quantize_v2, the limits of numbers before it, if there are some, and
 * _contrib_dequantize. */
static int join_limit(const mxl_readers *r, int n)
{
    mxl_graph_node *node = r->graph.walk.node[n];
    const mxl_graph_node *source;
    mxl_requantize_params p = *(const mxl_requantize_params *)node->params;
    double low = -INFINITY, high = INFINITY;
    int before = alone_before(r, n);
    char text[2][32];

    if (before >= 0 && mxl_pass_is_limit(r->graph.walk.node[before], &low, &high))
        before = alone_before(r, before);
    source = before >= 0 ? r->graph.walk.node[before] : NULL;
    if (source == NULL || source->op != &mxl_op_dequantize ||
        !mxl_quantized_is_calibrated(p.min_calib_range, p.max_calib_range))
        return 0;
    snprintf(text[0], sizeof(text[0]), "%.17g", low);
    snprintf(text[1], sizeof(text[1]), "%.17g", high);
    mxl_attrs_clear(&node->attrs);
    if (set_range(&node->attrs, &p, "out_type", "min_calib_range", "max_calib_range") != 0 ||
        mxl_attrs_set(&node->attrs, "low", text[0]) != 0 ||
        mxl_attrs_set(&node->attrs, "high", text[1]) != 0)
        return -1;
    node->op = &mxl_op_quantized_limit;
    node->is_numpys = false;
    return mxl_pass_set_inputs(node, source->inputs, source->num_inputs) == 0 ? 1 : -1;
}

/* 0: it stays as it is. */
static int join_node(const mxl_readers *r, int n)
{
    mxl_graph_node *node = r->graph.walk.node[n], *source;
    const mxl_requantize_params *p = node->params;
    int before;

    if (node->op == &mxl_op_quantize_v2)
        return join_limit(r, n);
    if (node->op != &mxl_op_requantize && node->op != &mxl_op_quantized_act)
        return 0;
    before = made_for(r, n, 0, 1, 2);
    if (before < 0)
        return 0;
    source = r->graph.walk.node[before];
    if (node->op == &mxl_op_quantized_act)
        return block_of(source) != NULL ? join_relu(node, source) : 0;
    if (!mxl_quantized_is_calibrated(p->min_calib_range, p->max_calib_range))
        return 0;
    if (source->op == &mxl_op_quantized_conv)
        return join_convolution(node, source);
    return source->op == &mxl_op_quantized_add ? join_sum(r, n, before) : 0;
}

int mxl_pass_join_quantized(mxl_symbol *symbol)
{
    int changed = mxl_pass_nodes(symbol, MXL_PASS_QUANTIZED, join_node);

    return changed > 0 && mxl_pass_order_quantized(symbol) < 0 ? -1 : changed;
}
