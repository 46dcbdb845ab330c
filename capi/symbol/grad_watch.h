/* Gradients that reach the results of a program's nodes, kept for a monitor of its backward. */
#ifndef MXL_SYMBOL_GRAD_WATCH_H
#define MXL_SYMBOL_GRAD_WATCH_H

#include "array/array.h"
#include "symbol/indexed.h"

/* The gradient of one entry. */
typedef struct mxl_grad_watch {
    mxl_ref ref;
    mxl_array *grad; /* kept; NULL: none arrived */
} mxl_grad_watch;

/* Puts a new watch on a recorded array into *watch, in place of one that is there; one of a
 * constant stays NULL. -1 with the error set. */
int mxl_grad_watch_set(mxl_grad_watch **watch, mxl_array *array);

static inline void mxl_grad_watch_release(mxl_grad_watch *watch)
{
    if (watch != NULL)
        mxl_ref_release(&watch->ref);
}

#endif
