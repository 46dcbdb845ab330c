/* Rules: what is known of the shapes and dtypes of one node of a graph, and how an operator
 * completes it (`complete_shapes` and `complete_dtypes` of its descriptor, or the texts `shapes`
 * and `dtypes`). symbol/infer.c runs them until nothing changes. */
#ifndef MXL_OP_RULE_H
#define MXL_OP_RULE_H

#include "op/op.h"

/* One node: shapes and dtypes of its inputs and outputs by their numbers (entries) in the lists. A
 * shape with ndim -1, a size of -1 and MXL_DTYPE_UNKNOWN are unknown. */
struct mxl_rule {
    const mxl_op *op;
    const void *params;
    const int *in; /* [num_in]: the entries of inputs; those of outputs follow each other */
    int num_in, out, num_out;
    int visible; /* outputs that a caller sees */
    mxl_shape *shapes;
    int *dtypes;
    bool legacy_shape; /* MXNet's legacy mode: shapes () and sizes 0 of a caller mean unknown */
    bool changed;      /* something is known that was not */
};

static inline mxl_shape *mxl_rule_in(const mxl_rule *rule, int i)
{
    return &rule->shapes[rule->in[i]];
}

static inline mxl_shape *mxl_rule_out(const mxl_rule *rule, int i)
{
    return &rule->shapes[rule->out + i];
}

/* The entry of input i, or, from num_in on, of an output. */
static inline int mxl_rule_entry(const mxl_rule *rule, int i)
{
    return i < rule->num_in ? rule->in[i] : rule->out + i - rule->num_in;
}

static inline int mxl_rule_in_dtype(const mxl_rule *rule, int i)
{
    return rule->dtypes[rule->in[i]];
}

/* ---- shapes ---- */

/* Fills `to`: 1 if something was new, 0 if not; -1 with the error set where they contradict. */
int mxl_shape_complete(mxl_shape *to, const mxl_shape *from);
/* The same of a shape of the node. 0, or -1. */
int mxl_rule_merge(mxl_rule *rule, mxl_shape *to, const mxl_shape *from);
/* The same of input i, if there is one, with sizes. An error names the input. */
int mxl_rule_say(mxl_rule *rule, int i, int ndim, const int64_t *dim);
/* Two shapes are the same: each completes the other one. */
int mxl_rule_same(mxl_rule *rule, mxl_shape *a, mxl_shape *b);

/* What a text as `shapes` of a descriptor says. */
int mxl_rule_said_shapes(mxl_rule *rule, const char *text);
/* What the operator says: its text and its function; without both, all are alike if its infer is
 * mxl_infer_same or it has loops over one input, and sizes are broadcast with mxl_infer_broadcast.
 */
int mxl_rule_shapes(mxl_rule *rule);

/* The result has the shape of the parameter `shape`, in which sizes of 0 may be unknown. */
int mxl_rule_creation(mxl_rule *rule);
/* The same without unknown sizes. */
int mxl_rule_by_parameter(mxl_rule *rule);
/* As many elements as the result: one unknown size follows. */
int mxl_rule_reshape(mxl_rule *rule);
/* The inputs after the first are vectors with the size of one axis of the data, of which the result
 * has the shape; a negative axis counts from the end. */
int mxl_rule_sized_by_axis(mxl_rule *rule, int64_t axis);
/* The product of sizes; -1 if one is unknown. */
int64_t mxl_rule_product(int ndim, const int64_t *dim);

/* ---- dtypes ---- */

/* Adds the dtype of an entry; unknown says nothing. -1 with the error set where it contradicts. */
int mxl_dtype_complete(int *known, int dtype);
int mxl_rule_say_dtype(mxl_rule *rule, int entry, int dtype);
/* The same of all outputs. */
int mxl_rule_say_out_dtypes(mxl_rule *rule, int dtype);

int mxl_rule_said_dtypes(mxl_rule *rule, const char *text);
/* What the operator says: its function or its text; or the dtype that its parameter `dtype` names;
 * or else that all inputs and results have one dtype. */
int mxl_rule_dtypes(mxl_rule *rule);

/* The dtype that the parameter `dtype` names; unknown where it says nothing or is not there. */
int mxl_rule_dtype_parameter(const mxl_rule *rule);
/* That of all outputs; float32 where it says nothing. */
int mxl_rule_creation_dtypes(mxl_rule *rule);

/* ---- the operator ---- */

/* The parameter `shape`; n -1: there is none. */
mxl_tuple mxl_op_shape_parameter(const mxl_op *op, const void *params);

/* Whether it makes an array whose parameter `shape` may have unknown sizes. */
static inline bool mxl_op_creates(const mxl_op *op)
{
    return op->complete_shapes == mxl_rule_creation;
}

/* Whether shapes of results depend on values, which a graph does not have. */
static inline bool mxl_rule_by_values(const mxl_rule *rule)
{
    return rule->op->by_values > 0 && rule->op->by_values <= rule->num_in;
}

#endif
