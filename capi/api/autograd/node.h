/* Handles of nodes, for api_graph.c, api_hooks.c and api_backward.c. */
#ifndef MXL_API_GRAPH_NODE_H
#define MXL_API_GRAPH_NODE_H

#include "api/common.h"
#include "engine/tape/tape.h"

/* The object of a node handle: its own edge, target retained. For a variable it is the accumulating
 * node. Nodes may outlive their arrays, and arrays their nodes. */
typedef struct api_node {
    mxl_ref ref;
    mxl_edge edge; /* `output` is MXL_PLACE_LEAF or 0 */
} api_node;

/* A new handle of an edge's target; NULL with the error set. Retains the target. */
MXLNodeHandle api_node_handle(mxl_edge edge);

/* Pins a node handle (until api_unpin). NULL with an error that names the function. */
const api_node *api_node_pin(const void *handle, const char *function);

static inline bool api_node_accumulates(const api_node *node)
{
    return node->edge.output == MXL_PLACE_LEAF;
}

/* The recorded node; NULL for an accumulating one. */
static inline mxl_node *api_node_recorded(const api_node *node)
{
    return mxl_edge_node(node->edge);
}

/* The variable of an accumulating node, or NULL. */
static inline mxl_array *api_node_variable(const api_node *node)
{
    return mxl_edge_variable(node->edge);
}

#endif
