/* What nodes are called, and which slots their inputs are shown in: PyTorch's names where it has
 * the operator. Called by api_graph.c and tape.c. */
#ifndef MXL_ENGINE_TAPE_NODE_NAMES_H
#define MXL_ENGINE_TAPE_NODE_NAMES_H

#include <stddef.h>

#include "engine/tape/tape.h"

enum { MXL_NAME_ROOM = 256 };

/* The node's name: its label, of any length, or one made of its operator's in `room`
 * ("AddBackward0" of broadcast_add). Valid as long as node and room. */
const char *mxl_node_name(const mxl_node *node, char room[MXL_NAME_ROOM]);

/* As mxl_dialect's slots; NULL: the inputs in order. */
const char *mxl_node_slots(const mxl_node *node);

#endif
