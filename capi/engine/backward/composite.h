/* The backward rule of composite operators that were recorded as one node. */
#ifndef MXL_ENGINE_BACKWARD_COMPOSITE_H
#define MXL_ENGINE_BACKWARD_COMPOSITE_H

#include "engine/backward/grad.h"

/* Runs the composition again, recorded on aliases of the saved inputs, and differentiates that.
 * With create_graph the second run stays in the graph, so that derivatives of every order follow.
 */
int mxl_composite_grad(mxl_grad *g);

#endif
