/* The search for NaN and infinities in a backward's results. */
#ifndef MXL_ENGINE_TAPE_ANOMALY_H
#define MXL_ENGINE_TAPE_ANOMALY_H

#include "engine/tape/tape.h"

/* The first element (in C order) that is NaN (check 1), or NaN or infinite (2); -1: none. -2 with
 * the error set: no memory for a copy of an array with gaps. */
int64_t mxl_anomaly_find(mxl_array *array, int check);

/* An error where a gradient that a node's rule has set is not clean; NULL ones are. */
int mxl_anomaly_check(const mxl_node *node, mxl_array *const *set, int check);

/* Keeps the node at which this thread's backward failed, in place of an earlier one. */
void mxl_anomaly_keep(mxl_node *node);

/* That node, whose reference goes to the caller; NULL: none since the last time. */
mxl_node *mxl_anomaly_take(void);

#endif
