/* Processors, and which of them threads run on. */
#ifndef MXL_BASE_SYSTEM_PROCESSORS_H
#define MXL_BASE_SYSTEM_PROCESSORS_H

#include <stdint.h>

#include "base/system/threads.h"

typedef struct mxl_processor_set {
    uint64_t words[16]; /* bit i: processor i */
} mxl_processor_set;

/* The number of processors that this process may use, at least 1. */
int mxl_processors(void);

/* The processors that the calling thread may use; false where the system does not tell. */
bool mxl_processors_allowed(mxl_processor_set *allowed);

/* Those of a set without the one that the calling thread runs on. False: none is left, or the
 * system does not tell. */
bool mxl_processors_but_here(const mxl_processor_set *set, mxl_processor_set *others);

/* Lets a thread, NULL for the calling one, run on these alone. False: it stays where it was. */
bool mxl_processors_bind(const mxl_thread *thread, const mxl_processor_set *set);

#endif
