/* What an operator keeps from one call to the next for a node of a graph that runs again and again:
 * a form of inputs that takes time to make, such as packed weights. symbol/program.c holds it. */
#ifndef MXL_OP_KEPT_H
#define MXL_OP_KEPT_H

#include "array/array.h"

enum { MXL_KEPT_ARRAYS = 6 }; /* most arrays that a form is made of */

/* The bytes of an array that a form was made of. */
typedef struct mxl_kept_source {
    mxl_storage *storage; /* kept */
    uint64_t version;
    int64_t offset;
} mxl_kept_source;

typedef struct mxl_kept {
    void *form; /* the operator's; NULL: none yet */
    void (*free)(void *form);
    int count; /* of sources */
    mxl_kept_source of[MXL_KEPT_ARRAYS];
} mxl_kept;

/* What a call that may keep `kept` (NULL: nothing) keeps of arrays: without a form if one of them
 * is another one or has changed; borrowed. NULL if nothing is to be kept, or if someone may change
 * the bytes unseen. */
mxl_kept *mxl_kept_of(mxl_kept *kept, int count, mxl_array *const *arrays);

/* Frees the form. */
void mxl_kept_clear(mxl_kept *kept);

/* Frees the form and what keeps it, which mxl_alloc gave; NULL is legal. */
void mxl_kept_free(mxl_kept *kept);

#endif
