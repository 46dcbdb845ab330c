/* What passes that make one node of several share: who reads what, and nodes that take over others.
 */
#ifndef MXL_SYMBOL_PASSES_READERS_H
#define MXL_SYMBOL_PASSES_READERS_H

#include "symbol/indexed.h"
#include "symbol/passes/passes.h"

typedef struct mxl_readers {
    mxl_indexed graph;
    int *readers; /* [entries]: inputs of nodes, and outputs of the graph */
    int *maker;   /* [entries]: the node */
} mxl_readers;

/* A pass: calls `each` for the nodes in the order in which they run, unless the environment turns
 * the pass off. Node n may become another one, with inputs of nodes before it; the numbers of the
 * graph stay those of the beginning. `each` returns 1 if it has changed node n, 0 if not, -1 with
 * the error set. */
int mxl_pass_nodes(mxl_symbol *symbol, mxl_which_pass pass,
                   int (*each)(const mxl_readers *r, int n));

/* The entry that input i of node n is. */
static inline int mxl_read_entry(const mxl_readers *r, int n, int i)
{
    return r->graph.input[r->graph.args[n] + i];
}

/* The number of the node whose output node n's input i is; -1: it is read by others too. The node.
 */
int mxl_read_number(const mxl_readers *r, int n, int i);
mxl_graph_node *mxl_read_alone(const mxl_readers *r, int n, int i);

/* Whether node n is BatchNorm, and only its first result is read. */
bool mxl_read_norm(const mxl_readers *r, int n);

/* Node `last` becomes `source` as operator `op`: with its attributes and inputs, and behind these
 * `last`'s own inputs [first, first + count). Attributes may be set before mxl_graph_node_parse.
 * -1 with the error set. */
int mxl_pass_absorb(mxl_graph_node *last, const mxl_op *op, const mxl_graph_node *source, int first,
                    int count);
int mxl_pass_set_number(mxl_graph_node *node, const char *key, double value);

#endif
