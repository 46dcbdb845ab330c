/* Where an executor's arrays are: the devices of its groups of nodes. All of it is computed in this
 * machine's memory; the arrays say the device that was asked for. */
#ifndef MXL_SYMBOL_PLACE_H
#define MXL_SYMBOL_PLACE_H

#include "array/array.h"
#include "symbol/indexed.h"

/* Devices by group (a node's attribute __ctx_group__), as the caller gives them, borrowed. Groups
 * that no node has are not read. */
typedef struct mxl_places {
    mxl_device own; /* of nodes without a group */
    uint32_t count; /* 0: groups mean nothing */
    const char *const *group;
    const int *types, *ids; /* [count]: MXNet's device types, and numbers */
} mxl_places;

/* Sets *device to that of the node's group, or leaves it where the node has none. -1 with the error
 * set, as for a group without a device. */
int mxl_place_of_group(const mxl_places *places, const mxl_graph_node *node, mxl_device *device);

/* The device of each entry: that of its node's group; else, of a variable, that of its array in
 * `variables` (in the order of the walk), of another node that of its first input. -1 with the
 * error set. */
int mxl_place_entries(const mxl_places *places, const mxl_indexed *graph,
                      mxl_array *const *variables, mxl_device *devices);

#endif
