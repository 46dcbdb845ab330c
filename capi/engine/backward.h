/* Backward: from heads to variables, in reverse order of recording. */
#ifndef MXL_ENGINE_BACKWARD_H
#define MXL_ENGINE_BACKWARD_H

#include "engine/dialect.h"
#include "engine/tape.h"

typedef struct mxl_backward_args {
    int num_heads;
    mxl_array *const *heads;
    mxl_array *const *head_grads; /* NULL, or entries NULL: ones */
    int num_variables;            /* > 0: return these gradients and touch no variable's buffer */
    mxl_array *const *variables;
    mxl_array **grads; /* [num_variables]: new references on success */
    bool retain_graph;
    bool create_graph;
    bool training;
    const mxl_dialect *dialect;
} mxl_backward_args;

/* 0, or -1 with the error set; on failure no gradient buffer has changed. The caller's thread flags
 * are neither read nor changed. */
int mxl_backward(const mxl_backward_args *args);

#endif
