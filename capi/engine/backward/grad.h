/* The state and functions of one vjp. All arrays that it gets and makes belong to the scope g->s.
 * */
#ifndef MXL_ENGINE_BACKWARD_GRAD_H
#define MXL_ENGINE_BACKWARD_GRAD_H

#include "engine/run/scope.h"
#include "engine/tape/tape.h"

struct mxl_grad {
    mxl_scope *s;
    const mxl_op *op;
    const void *params;
    int num_inputs, num_outputs;
    mxl_array *
        *grad_output; /* [num_outputs], kept by the caller of the rule: gradient of each output;
                  NULL where none arrived (zero), but never NULL for an operator with one output */
    bool spends;      /* uniquely owned grad_outputs may be overwritten */
    bool training;
    mxl_node *node;
    const mxl_grad *outer; /* of a node that CopySlices wraps: the call for CopySlices; else NULL */
    const bool *wants;     /* [num_inputs] */
    mxl_array **set;       /* [num_inputs]: results, kept; NULL: zero */
};

/* Whether the gradient of input i is wanted. */
static inline bool mxl_grad_wants(const mxl_grad *g, int i)
{
    return g->wants[i];
}

/* Saved values; NULL (and g->s failed) when undeclared, released or edited. Undeclared is an error.
 */
mxl_array *mxl_grad_in(mxl_grad *g, int i);
mxl_array *mxl_grad_out(mxl_grad *g, int i);

/* A saved input of which the rule only asks where it is greater, or 0: the same, but in PyTorch's
 * dialect no gradient flows to it. */
mxl_array *mxl_grad_decides(mxl_grad *g, int i);

/* A saved input that the rule updates and does not read as a saved tensor: the statistics of a
 * BatchNorm, which another node may have updated since. Scoped; NULL without failure where it is
 * not there any more. */
mxl_array *mxl_grad_state(mxl_grad *g, int i);

/* dtype and shape of an input or output, always there. */
const mxl_meta *mxl_grad_in_meta(const mxl_grad *g, int i);
const mxl_meta *mxl_grad_out_meta(const mxl_grad *g, int i);

/* grad_output i, or zeros of its shape where none arrived. */
mxl_array *mxl_grad_output_grad(mxl_grad *g, int i);

/* Sets the gradient of input i (ignored when it is not wanted). A shape that broadcasting enlarged
 * is summed, another dtype is cast. -1 when `value` is NULL or anything failed before. */
int mxl_grad_set(mxl_grad *g, int i, mxl_array *value);

/* Runs the vjp of another node within this one, on its grad_output. `wants` says which results are
 * wanted, `set` gets them (new references; the entries are NULL before). */
int mxl_grad_run_node(mxl_grad *g, mxl_node *node, mxl_array **grad_output, const bool *wants,
                      mxl_array **set);

/* The rule itself, or the operator's one pass where nothing is recorded; 0, or -1. */
int mxl_grad_run(mxl_grad *g);

/* Sets wanted gradients that the vjp left out to zeros: in PyTorch the gradient of floor(x) is
 * zero, not missing. 0, or -1. */
int mxl_grad_fill(mxl_grad *g);

/* Sets the gradient of input i to zeros, which are no result of anything: unlike no gradient at
 * all, this reaches a variable. */
int mxl_grad_set_zeros(mxl_grad *g, int i);

/* A rule for operators whose gradient is zero everywhere (argmax, BlockGrad). */
int mxl_grad_zero(mxl_grad *g);

/* is_loss of operators whose parameters do not matter for that: true. */
bool mxl_is_loss(const void *params);

#endif
