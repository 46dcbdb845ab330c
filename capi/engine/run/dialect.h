/* The rules of a front end, of which several share the engine. A node keeps one pointer to them. */
#ifndef MXL_ENGINE_RUN_DIALECT_H
#define MXL_ENGINE_RUN_DIALECT_H

#include <stdbool.h>

typedef struct mxl_dialect {
    const char *name;
    /* Recorded arrays may be written to, and the tape follows (false: it is refused). */
    bool rebase;
    /* After a backward without retain_graph an array on a released node counts as a constant, and
     * reaching a released node is an error (MXNet). False: only reading a freed value is (PyTorch).
     */
    bool released_is_constant;
    /* Results of operators that select or reorder share memory with their input, wherever strides
     * can say which elements they are. */
    bool views;
    /* Under create_graph a variable's gradient is a new array each time (PyTorch), and one that
     * nothing reached stays as it is. False: its buffer is written to, and what was not reached is
     * zero. */
    bool new_grads;
    /* A head may be recorded from variables that want no gradient, and adds nothing; its gradient
     * may have another dtype, and more elements (MXNet). */
    bool lenient_heads;
    /* Errors of some operators are reported where their results are read (MXNet). */
    bool keeps_failures;
    /* An operator takes operands of several dtypes, and numbers (PyTorch): promote.h. */
    bool promotes;
    /* Gradients flow through fractions alone: a call none of whose outputs has a floating dtype is
     * not recorded (PyTorch). */
    bool only_floats;
    /* How nodes recorded by one prepared call are shown, or NULL: by their operator. `slots` has a
     * digit for each input, in the order shown, and '-' where nothing is ("0-": x + 5); NULL: the
     * inputs in order. */
    const char *label, *slots;
    const struct mxl_dialect *plain; /* the same without label and slots: for the parts of a
                                        composed operator */
} mxl_dialect;

extern const mxl_dialect mxl_dialect_mxnet;
extern const mxl_dialect mxl_dialect_mxnet_follow; /* MXNet's, but edits in place are followed */
extern const mxl_dialect mxl_dialect_torch;

#endif
