/* What differs between front ends that share the engine. A node keeps one pointer to its dialect.
 */
#ifndef MXL_ENGINE_DIALECT_H
#define MXL_ENGINE_DIALECT_H

#include <stdbool.h>

typedef struct mxl_dialect {
    const char *name;
    /* Recorded arrays may be written to, and the tape follows (false: it is refused). */
    bool rebase;
    /* After a backward without retain_graph an array on a released node counts as a constant, and
     * reaching a released node is an error (MXNet). False: only reading a freed value is (PyTorch).
     */
    bool released_is_constant;
} mxl_dialect;

extern const mxl_dialect mxl_dialect_mxnet;
extern const mxl_dialect mxl_dialect_torch;

#endif
