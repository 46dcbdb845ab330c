/* Backward inside backward inside backward: each level needs stack, of which a thread has so much.
 * Every MXL_DEEP levels another thread goes on, with the flags of the one that waits for it.
 * mxl_backward stands here; each level is mxl_backward_run. */
#ifndef MXL_ENGINE_BACKWARD_REENTRANT_H
#define MXL_ENGINE_BACKWARD_REENTRANT_H

#include "engine/backward/backward.h"
#include "engine/run/invoke.h"

enum {
    MXL_DEEP = 32,      /* levels on one thread */
    MXL_DEEPEST = 10000 /* levels in all; one more is an error: what calls backward has no end */
};

/* One backward, whatever else runs. */
int mxl_backward_run(const mxl_backward_args *args, mxl_mode mode);

#endif
