/* What is said of calls that run on dense copies. The library does not print: a program gives a
 * function, and gets a line. */
#ifndef MXL_ENGINE_RUN_FALLBACK_H
#define MXL_ENGINE_RUN_FALLBACK_H

#include "engine/run/run.h"

typedef void (*mxl_notice)(const char *line);

/* The function of the whole process; NULL: nothing is said. */
void mxl_fallback_tell(mxl_notice notice);

/* Says that the call runs on dense copies: once in a process for an operator and its storage types,
 * and not where MXNET_STORAGE_FALLBACK_LOG_VERBOSE is 0. Nothing of calls without inputs: what they
 * make is dense. Called without locks, on any thread. */
void mxl_fallback_say(const mxl_run *r);

#endif
