/* Executors: a program with arrays for its variables, their gradients and its outputs. */
#ifndef MXL_SYMBOL_EXECUTOR_H
#define MXL_SYMBOL_EXECUTOR_H

#include "symbol/executor/place.h"
#include "symbol/program.h"

typedef struct mxl_executor {
    mxl_ref ref;
    mxl_program program;
    int args, aux, outputs; /* numbers of them */
    mxl_array **arg;        /* [args], kept; what follows is in the same block */
    mxl_array **grad;       /* [args], kept; NULL: none is wanted */
    mxl_array **converted;  /* [args]: where a gradient arrives whose array has another dtype or
                               shape, or NULL */
    mxl_array **variable;   /* [args]: what is recorded: an alias with the gradient, or NULL */
    mxl_array **state;      /* [aux], kept: auxiliary states */
    mxl_array **input;      /* [args + aux]: in the order of the walk, borrowed */
    mxl_array **output;     /* [outputs], kept; the caller's view of the results */
    mxl_array **head;       /* [outputs]: the results of the last recorded forward, or NULL */
    mxl_grad_req *req;      /* [args] */
    bool *is_state;         /* [args + aux]: which variables are auxiliary */
    mxl_grad_watch **watch; /* [entries]: of a recorded forward with a monitor; NULL: none yet */
    mxl_array **unasked;    /* [args], with `watch`: gradients that only a monitor sees, or NULL */
    size_t bytes;
    atomic_flag busy; /* a thread runs it */
    bool has_run;     /* the last forward succeeded */
    bool training;    /* it was one of training */
    bool repeatable;  /* another one would give the same: no random numbers, no user's functions */
    void *monitor_payload;
    void (*monitor)(void); /* the caller's callback, or NULL */
    bool monitor_inputs;
} mxl_executor;

/* An executor of a copy of the symbol, without arrays. NULL with the error set. */
mxl_executor *mxl_executor_new(const mxl_symbol *symbol);

/* The variables in the order of the walk: for argument i, or state i, its node. */
const mxl_graph_node *mxl_executor_variable(const mxl_executor *e, int i, bool is_state);

/* An alias of an argument whose gradient goes to `grad`; NULL with the error set. */
mxl_array *mxl_executor_leaf(const mxl_array *arg, mxl_array *grad, mxl_grad_req req);

/* Puts in argument i with its gradient, which may be NULL, or state i. Retains them. A gradient may
 * have another dtype, and another shape of as many elements; -1 with the error set for others. */
int mxl_executor_set_arg(mxl_executor *e, int i, mxl_array *arg, mxl_array *grad, mxl_grad_req req);
int mxl_executor_set_state(mxl_executor *e, int i, mxl_array *state);

/* Notes that arrays were put in after mxl_executor_finish. */
void mxl_executor_list_inputs(mxl_executor *e);

/* Makes the outputs, once all arrays are there, on the devices of their nodes. -1 with the error
 * set, also where the arrays' shapes contradict the graph. */
int mxl_executor_finish(mxl_executor *e, const mxl_places *places, bool legacy_shape);

/* Sets *out to a new array over the first elements of another one, or to NULL where that has too
 * few or another dtype. -1 with the error set. */
int mxl_executor_first_of(mxl_array *old, int dtype, const mxl_shape *shape, mxl_array **out);

/* Puts the outputs into the memory of those of another executor of the symbol, where it is enough.
 * -1 with the error set, also while another thread runs that one. */
int mxl_executor_share_outputs(mxl_executor *e, mxl_executor *from);

/* Runs it (an error while another thread does), recorded if it is `training` and a gradient is
 * wanted. The outputs get the results. -1 with the error set. */
int mxl_executor_forward(mxl_executor *e, mxl_mode mode, const mxl_monitor *monitor);

/* Gradients of the last forward into the arguments' buffers; one without training is run again.
 * `head_grads`: NULL, or one for each output, of its shape and of any dtype, NULL for ones.
 * `monitor` (NULL: none), if the forward had it too, is called with the gradients of all nodes'
 * inputs, from the last node to the first: fc1_backward_output0 and so on. -1 with the error set.
 */
int mxl_executor_backward(mxl_executor *e, mxl_array *const *head_grads, mxl_mode mode,
                          const mxl_monitor *monitor);

/* For executor.c: watch.c. Makes the watches of a forward, and gradients for arguments
 * that have none, so that all of them are computed; NULL with the error set. What a backward says
 * of them; and their end. */
mxl_grad_watch **mxl_executor_watches(mxl_executor *e);
int mxl_executor_show_gradients(const mxl_executor *e, const mxl_monitor *monitor);
void mxl_executor_drop_watches(mxl_executor *e);

#endif
