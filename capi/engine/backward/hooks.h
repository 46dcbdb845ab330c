/* Calls of hooks within a backward. Handles are made for each call; a hook's results are checked
 * and replace its arguments. All return 0, or -1 with the error set. */
#ifndef MXL_ENGINE_BACKWARD_HOOKS_H
#define MXL_ENGINE_BACKWARD_HOOKS_H

#include "engine/tape/hook_store.h"
#include "engine/run/invoke.h"
#include "engine/tape/tape.h"

/* The node or variable whose hooks are called: dtype and shape of its gradients (of a variable
 * one). */
typedef struct mxl_hooked {
    mxl_hook_store *store; /* NULL: nothing is called */
    const char *name;      /* for errors */
    int count;
    const mxl_meta *meta; /* [count] */
    mxl_mode mode;        /* of the backward */
    bool *constant;       /* set where a hook's result is not recorded */
} mxl_hooked;

/* Hooks on arrays, each on the gradient of its output; grads[i] NULL: none arrived. */
int mxl_hooks_array(const mxl_hooked *hooked, mxl_array **grads);

/* Hooks before the node, on all of them at once. */
int mxl_hooks_before(const mxl_hooked *hooked, mxl_array **grads);

/* Hooks after the node. `grads` are the grad_inputs that its vjp has set, `slots[i]` the input that
 * slot i shows (-1: none), `heads` its grad_outputs. */
int mxl_hooks_after(const mxl_hooked *hooked, int num_slots, const int *slots,
                    const mxl_meta *in_meta, mxl_array **grads, mxl_array *const *heads);

/* Hooks after a gradient was added to a variable's. */
int mxl_hooks_accumulated(const mxl_hooked *hooked, mxl_array *variable);

#endif
