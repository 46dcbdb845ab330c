/* Handles of nodes, for api_graph.c, api_hooks.c and api_backward.c. */
#ifndef MXL_API_GRAPH_NODE_H
#define MXL_API_GRAPH_NODE_H

#include "api/common.h"
#include "engine/tape/tape.h"

/* What a node handle holds: a place of its own in the graph, target kept. That of a variable is its
 * accumulating node. A node can so outlive its arrays, and they it. */
typedef struct api_node {
    mxl_ref ref;
    mxl_edge edge; /* `output` is MXL_PLACE_LEAF or 0 */
} api_node;

/* A new handle of what a place leads to; NULL with the error set. The target is kept anew. */
MXLNodeHandle api_node_handle(mxl_edge edge);

/* Pins a node handle (until api_unpin); NULL with the error set, naming the function. */
const api_node *api_node_pin(const void *handle, const char *function);

static inline bool api_node_accumulates(const api_node *node)
{
    return node->edge.output == MXL_PLACE_LEAF;
}

/* The recorded node, or NULL: it is an accumulating one. */
static inline mxl_node *api_node_recorded(const api_node *node)
{
    return mxl_edge_node(node->edge);
}

/* The variable of an accumulating one, or NULL. */
static inline mxl_array *api_node_variable(const api_node *node)
{
    return mxl_edge_variable(node->edge);
}

#endif
