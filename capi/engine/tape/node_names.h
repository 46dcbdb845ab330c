/* How the graph shows nodes: their names, and the slots of their inputs. */
#ifndef MXL_ENGINE_TAPE_NODE_NAMES_H
#define MXL_ENGINE_TAPE_NODE_NAMES_H

#include <stddef.h>

#include "engine/tape/tape.h"

enum { MXL_NAME_ROOM = 256 };

/* The node's name: its label, that of its operator (node_name), or one made of the operator's name
 * in `room`. Valid as long as node and room. */
const char *mxl_node_name(const mxl_node *node, char room[MXL_NAME_ROOM]);

/* A digit for each slot, as in mxl_dialect; NULL: the inputs in order. */
const char *mxl_node_slots(const mxl_node *node);

#endif
