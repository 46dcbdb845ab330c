/* What nodes are called, and which slots their inputs are shown in: PyTorch's names where it has
 * the operator. Called by api_graph.c and tape.c. */
#ifndef MXL_ENGINE_NAMES_H
#define MXL_ENGINE_NAMES_H

#include <stddef.h>

#include "engine/tape.h"

/* Writes the node's name: its label, else its operator's ("AddBackward0" of broadcast_add). */
void mxl_node_name(const mxl_node *node, char *text, size_t size);

/* As mxl_dialect's slots; NULL: the inputs in order. */
const char *mxl_node_slots(const mxl_node *node);

#endif
