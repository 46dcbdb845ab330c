/* Backward inside backward inside backward: each level needs stack, of which a thread has so much.
 * Every MXL_DEEP levels another thread goes on. */
#ifndef MXL_ENGINE_DEEP_H
#define MXL_ENGINE_DEEP_H

#include "engine/backward.h"

enum { MXL_DEEP = 32 }; /* levels on one thread */

/* mxl_backward on a new thread with this one's flags; returns when it has ended, with its error as
 * this thread's. -1 too where no thread can be started. */
int mxl_deep_backward(const mxl_backward_args *args);

#endif
