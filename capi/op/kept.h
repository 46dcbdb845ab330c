/* What an operator keeps from one call to the next for a node of a graph that runs again and again:
 * a form of an input that takes time to make, such as packed weights. symbol/program.c holds it. */
#ifndef MXL_OP_KEPT_H
#define MXL_OP_KEPT_H

#include "array/array.h"

typedef struct mxl_kept {
    void *form; /* the operator's; NULL: none yet */
    void (*free)(void *form);
    mxl_storage *of; /* kept; the bytes that the form was made of, as of `version` */
    uint64_t version;
    int64_t offset;
} mxl_kept;

/* What a call that may keep `kept` (NULL: nothing) keeps of an array: without a form if the array
 * is another one or has changed; borrowed. NULL if nothing is to be kept, or if someone may change
 * the bytes unseen. */
mxl_kept *mxl_kept_of(mxl_kept *kept, const mxl_array *array);

/* Frees the form. */
void mxl_kept_clear(mxl_kept *kept);

#endif
