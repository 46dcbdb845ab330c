/* Backward: from roots to variables, in reverse order of recording. */
#ifndef MXL_ENGINE_BACKWARD_BACKWARD_H
#define MXL_ENGINE_BACKWARD_BACKWARD_H

#include "engine/run/dialect.h"
#include "engine/tape/tape.h"

typedef struct mxl_backward_args {
    int num_heads;
    mxl_array *const *heads;      /* NULL: `roots` */
    const mxl_edge *roots;        /* targets kept by the caller */
    mxl_array *const *head_grads; /* NULL, or entries NULL: ones */
    int num_variables;            /* > 0: only what leads to these runs */
    mxl_array *const *variables;  /* NULL: `wanted` */
    const mxl_edge *wanted;       /* targets kept by the caller */
    mxl_array **grads; /* [num_variables]: new references on success; no variable's buffer is
                          touched. NULL: into the buffers of those that are variables */
    bool retain_graph;
    bool create_graph;
    bool training;
    bool allow_unreachable; /* `variables` may be out of reach of the heads */
    bool allow_constants;   /* heads that are not in a recorded graph add nothing */
    bool as_arrived; /* gradients are given as they are, NULL where none arrived, instead of zeros
                        and arrays of their own */
    const mxl_dialect *dialect;
} mxl_backward_args;

/* 0, or -1 with the error set; on failure no gradient buffer has changed, but of variables with
 * hooks that see it changed. The caller's thread flags are neither read nor changed. Deep inside of
 * other backwards of this thread it runs on another one, which this one waits for. */
int mxl_backward(const mxl_backward_args *args);

/* A function to be called at the end of the backward that runs on this thread. */
typedef struct mxl_queued {
    int (*call)(void *payload);
    void *payload;
    void (*release)(void *payload); /* may be NULL */
} mxl_queued;

/* -1 with the error set, nothing released: none runs, or no memory. */
int mxl_backward_queue(const mxl_queued *queued);

/* Whether a backward runs on this thread: 0 none, 1 one for all variables, 2 one for some. */
int mxl_backward_state(void);

#endif
