/* Quantized arrays whose bytes have the channels as the last axis, as the loops of convolutions
 * want them; see passes.h. An array has if the node that makes it can write so and all that read it
 * can read so. At first all such arrays have; then those that cannot are taken back until the
 * others agree. */
#include <string.h>

#include "base/memory/mem.h"
#include "ops/nn/pooling.h"
#include "ops/quantized/layers.h"
#include "symbol/indexed.h"
#include "symbol/passes/passes.h"

typedef struct ordering {
    mxl_indexed graph;
    int *maker;          /* [entries]: the node */
    unsigned char *last; /* [nodes]: whether the bytes of output 0 have the channels last */
} ordering;

/* ---- what nodes are ---- */

static bool is_block(const mxl_graph_node *node)
{
    return node->op == &mxl_op_quantized_block;
}

/* How many of the first inputs must have the same order as the result; 0: the node is none that can
 * have another order. (A block reads its data in either.) */
static int alike(const mxl_graph_node *node)
{
    const mxl_op *op = node->op;

    if (op == &mxl_op_quantized_act || op == &mxl_op_quantized_pooling ||
        op == &mxl_op_requantize || op == &mxl_op_quantized_limit)
        return 1;
    if (op == &mxl_op_quantized_add || op == &mxl_op_quantized_mul)
        return 2;
    if (op == &mxl_op_quantized_concat && mxl_quantized_joins_channels(node->params))
        return node->num_inputs / 3;
    return 0;
}

static bool is_able(const mxl_graph_node *node)
{
    return is_block(node) || alike(node) > 0;
}

/* Whether the result has one position for each channel, so that all orders are one. */
static bool is_point(const mxl_graph_node *node)
{
    return node->op == &mxl_op_quantized_pooling &&
           ((const mxl_pooling_params *)node->params)->global_pool;
}

/* The input that a block adds, or -1. */
static int added_of(const mxl_graph_node *node)
{
    const mxl_block_params *p = node->params;

    return is_block(node) && p->adds ? mxl_block_added(p) : -1;
}

static bool made_last(const ordering *o, int n, int i)
{
    int e = o->graph.input[o->graph.args[n] + i], maker = o->maker[e];

    return o->last[maker] && e == o->graph.first[maker];
}

/* ---- agreement ---- */

/* Whether node n reads input i with the channels last if that is so. */
static bool reads_last(const ordering *o, int n, int i)
{
    const mxl_graph_node *node = o->graph.walk.node[n];

    if (is_block(node))
        return i == 0 || (i == added_of(node) && o->last[n]);
    return i < alike(node) && o->last[n];
}

/* One turn; whether something was taken back. */
static bool take_back(ordering *o)
{
    const mxl_indexed *g = &o->graph;
    bool changed = false;

    for (int n = g->walk.count - 1; n >= 0; n--) {
        const mxl_graph_node *node = g->walk.node[n];
        int same = alike(node), added = added_of(node);

        for (int i = g->args[n]; i < g->args[n + 1]; i++) {
            int maker = o->maker[g->input[i]];

            if (o->last[maker] && g->input[i] == g->first[maker] &&
                !is_point(g->walk.node[maker]) && !reads_last(o, n, i - g->args[n])) {
                o->last[maker] = 0;
                changed = true;
            }
        }
        for (int i = 0; i < node->num_inputs && o->last[n]; i++) {
            if ((i < same || i == added) && !made_last(o, n, i)) {
                o->last[n] = 0;
                changed = true;
            }
        }
    }
    return changed;
}

/* ---- nodes ---- */

static int set_order(const ordering *o, int n)
{
    mxl_graph_node *node = o->graph.walk.node[n];

    if (is_block(node)) {
        if ((made_last(o, n, 0) && mxl_attrs_set(&node->attrs, "data_last", "1") != 0) ||
            (o->last[n] && mxl_attrs_set(&node->attrs, "last", "1") != 0))
            return -1;
        return mxl_graph_node_parse(node, node->num_inputs);
    }
    if (!o->last[n] ||
        (node->op != &mxl_op_quantized_pooling && node->op != &mxl_op_quantized_concat))
        return 0;
    node->op = node->op == &mxl_op_quantized_pooling ? &mxl_op_quantized_pooling_last
                                                     : &mxl_op_quantized_concat_last;
    return mxl_graph_node_parse(node, node->num_inputs);
}

int mxl_pass_order_quantized(mxl_symbol *symbol)
{
    ordering o = {0};
    int status = 0, count;
    size_t bytes;

    if (mxl_indexed_begin(&o.graph, symbol) != 0)
        return -1;
    count = o.graph.walk.count;
    bytes = ((size_t)o.graph.entries + 1) * sizeof(int) + (size_t)count;
    o.maker = mxl_alloc_zero(bytes);
    if (o.maker == NULL) {
        mxl_indexed_end(&o.graph);
        return -1;
    }
    o.last = (unsigned char *)(o.maker + o.graph.entries + 1);
    for (int n = 0; n < count; n++) {
        for (int e = o.graph.first[n]; e < o.graph.first[n + 1]; e++)
            o.maker[e] = n;
        o.last[n] = is_able(o.graph.walk.node[n]);
    }
    for (int i = 0; i < symbol->count; i++) {
        int maker = o.maker[o.graph.head[i]];

        if (!is_point(o.graph.walk.node[maker]))
            o.last[maker] = 0;
    }
    while (take_back(&o))
        continue;
    for (int n = 0; n < count && status == 0; n++)
        status = set_order(&o, n);
    mxl_free(o.maker, bytes);
    mxl_indexed_end(&o.graph);
    return status;
}
