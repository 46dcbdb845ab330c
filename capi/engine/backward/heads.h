/* The roots of a backward and the gradients given for them; backward.c calls it. */
#ifndef MXL_ENGINE_BACKWARD_HEADS_H
#define MXL_ENGINE_BACKWARD_HEADS_H

#include "engine/backward/backward.h"
#include "engine/backward/visit.h"
#include "engine/run/invoke.h"

/* Whether the rule of an edge's node is the same for every gradient that arrives: of a loss, or
 * where it is zero. */
bool mxl_head_ignores(mxl_edge edge);

/* Fills walk->heads, the edges of the roots, their targets kept, and checks what is given for them.
 * -1 with the error set. */
int mxl_heads_begin(mxl_visit *walk, const mxl_backward_args *args);

/* The gradient of root i: what is given, in the root's shape and dtype, or ones. New; NULL with the
 * error set. */
mxl_array *mxl_head_gradient(const mxl_visit *walk, const mxl_backward_args *args, int i,
                             mxl_mode mode);

#endif
