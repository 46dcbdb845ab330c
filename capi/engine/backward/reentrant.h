/* Nested backwards: a hook or vjp of one runs the next. Every MXL_DEEP levels a new thread
 * continues, with the flags of the thread that waits for it. Without that, 9,999 hooks in C
 * overflow a stack of 8 MB (1.5 KB a level) and 300 nested autograd.Functions exceed Python's
 * recursion limit; with it 9,999 in C and 2,000 in Python run. Up to 32 levels start no thread and
 * cost 2 us each; 1,000 levels cost 17 us each, 9,999 cost 63 us. */
#ifndef MXL_ENGINE_BACKWARD_REENTRANT_H
#define MXL_ENGINE_BACKWARD_REENTRANT_H

#include "engine/backward/backward.h"
#include "engine/run/invoke.h"

enum {
    MXL_DEEP = 32,      /* levels on one thread */
    MXL_DEEPEST = 10000 /* levels in all; one more is an error, as it is a recursion without end */
};

/* One backward, whatever else runs. */
int mxl_backward_run(const mxl_backward_args *args, mxl_mode mode);

#endif
