/* A scope owns the temporaries of a rule or a composed operator. Helpers given NULL return NULL and
 * keep the first error, so that a rule reads like a formula and is checked once, at its end. */
#ifndef MXL_ENGINE_RUN_SCOPE_H
#define MXL_ENGINE_RUN_SCOPE_H

#include "engine/run/invoke.h"
#include "op/op.h"

enum { MXL_SCOPE_ROOM = 14 };

struct mxl_scope {
    mxl_mode mode;
    bool failed;
    int count;
    struct mxl_scope_more *more; /* older temporaries, owned */
    mxl_array *arrays[MXL_SCOPE_ROOM];
};

void mxl_scope_begin(mxl_scope *scope, mxl_mode mode);
void mxl_scope_end(mxl_scope *scope); /* drops the temporaries */

/* Hands a new array (the caller's reference) to the scope; returns it, scoped. NULL (and failed)
 * when `array` is NULL or there is no memory; the reference is dropped then. */
mxl_array *mxl_scope_own(mxl_scope *scope, mxl_array *array);

/* A new array for the caller to fill; scoped. In a meta run it has no memory. */
mxl_array *mxl_scope_new(mxl_scope *scope, int dtype, int ndim, const int64_t *shape);
/* Where to write its elements; NULL in a meta run, where they are not needed, and of NULL. */
void *mxl_scope_fill(const mxl_scope *scope, mxl_array *array);

/* One operator with one visible output; scoped. Any NULL among the inputs: NULL. */
mxl_array *mxl_scope_call(mxl_scope *scope, const mxl_op *op, const void *params, int num_inputs,
                          mxl_array *const *inputs);
/* The same with several outputs; -1 on failure. */
int mxl_scope_call_many(mxl_scope *scope, const mxl_op *op, const void *params, int num_inputs,
                        mxl_array *const *inputs, int num_outputs, mxl_array **out);

/* Runs the composition of a composite operator; call->out gets all outputs, scoped. -1 with all of
 * them NULL. One that keeps scalars has NumPy's shapes in the scope from then on. */
int mxl_compose(mxl_scope *scope, mxl_call *call);

#endif
