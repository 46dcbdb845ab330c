/* Runs operators: infer, allocate, record, compute, attach. */
#ifndef MXL_ENGINE_RUN_INVOKE_H
#define MXL_ENGINE_RUN_INVOKE_H

#include "engine/run/dialect.h"
#include "op/op.h"

/* How to run. Engine and rules pass a mode along; only api reads the thread's flags into one. */
typedef struct mxl_mode {
    bool record;
    bool training;
    bool legacy_shape; /* as MXNet begins: see mxl_infer_legacy */
    bool meta;         /* a meta run: finds dtypes and shapes of results, and computes nothing */
    bool in_order;     /* new results lie in C order, whatever the layout of inputs */
    const mxl_dialect *dialect;
} mxl_mode;

/* Runs `op` with parameters in its struct. out[i] NULL: set to a new array; otherwise written to
 * (it must fit). `num_outputs` is the number of entries of `out`: the visible outputs. On failure
 * -1, entries that were NULL are NULL again and given ones are unchanged. Inputs are borrowed. */
int mxl_invoke(const mxl_op *op, const void *params, int num_inputs, mxl_array *const *inputs,
               int num_outputs, mxl_array **out, mxl_mode mode);

/* The same of a call that keeps a form of its inputs from one run to the next (op/kept.h). */
int mxl_invoke_keeping(const mxl_op *op, const void *params, int num_inputs,
                       mxl_array *const *inputs, int num_outputs, mxl_array **out, mxl_mode mode,
                       struct mxl_kept *kept);

/* Dtypes and shapes of the outputs, from those of the inputs: the operator's infer or, of a
 * composite without it, a meta run of its composition. -1 with the error set. */
int mxl_invoke_infer(mxl_infer *infer, const mxl_dialect *dialect);

/* How many outputs a caller sees; -1 with the error set when the number of inputs is wrong. */
int mxl_invoke_arity(const mxl_op *op, const void *params, int num_inputs, mxl_arity *arity);

#endif
