/* The nodes of MXLFunctionRecord, for the other files of this folder. */
#ifndef MXL_API_GRAPH_FUNCTION_H
#define MXL_API_GRAPH_FUNCTION_H

#include "engine/tape/tape.h"
#include "mxlite/mxlite.h"

/* Whether MXLFunctionRecord made the node and the node alone keeps the function: its payload, and
 * how it is released. */
bool api_function_payload(const mxl_node *node, void **payload, MXLReleaseFunction *release);

#endif
