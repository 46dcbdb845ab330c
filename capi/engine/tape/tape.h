/* The tape: nodes of the graph that backward walks. invoke makes them, backward reads them. */
#ifndef MXL_ENGINE_TAPE_TAPE_H
#define MXL_ENGINE_TAPE_TAPE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "array/array.h"
#include "engine/run/dialect.h"
#include "engine/tape/hook_store.h"
#include "op/op.h"

/* dtype and shape of an input or output; kept for as long as the node lives. */
typedef struct mxl_meta {
    int dtype;
    int16_t ndim;
    int16_t stype; /* an mxl_stype */
    const int64_t *shape;
} mxl_meta;

/* The same of an array, borrowed from it. */
/* A new array of any values, on the meta device for what was there; NULL with the error set. */
static inline mxl_array *mxl_meta_new(const mxl_meta *meta)
{
    return (meta->stype == MXL_META ? mxl_array_on_meta : mxl_array_new)(meta->dtype, meta->ndim,
                                                                         meta->shape);
}

static inline mxl_meta mxl_array_meta(const mxl_array *array)
{
    return (mxl_meta){array->dtype, (int16_t)array->ndim, array->stype, array->shape};
}

/* A value that the rule reads. */
typedef struct mxl_saved {
    mxl_array *array; /* kept; an output is an alias without an edge. NULL once released */
    uint64_t version; /* of its storage when saved */
} mxl_saved;

typedef struct mxl_node {
    mxl_ref ref;
    const mxl_op *op;
    const mxl_dialect *dialect;
    uint64_t seq;
    const void *params; /* self-contained, inside the node's block */
    mxl_ref *payload;   /* kept; of a node made by a caller's function or operator, else NULL */
    int num_inputs, num_outputs;
    bool training;
    bool saves_any;
    bool not_dense; /* an input is sparse, batched or on the meta device */
    atomic_bool released;
    atomic_flag lock;    /* guards saved values between reading and releasing */
    mxl_hook_slot store; /* hooks, payload, packed tensors; NULL nearly always */
    size_t bytes;        /* of the block that holds node and all arrays below */
    mxl_meta *in_meta;   /* [num_inputs] */
    mxl_meta *out_meta;
    mxl_saved *in_saved;  /* [num_inputs] */
    mxl_saved *out_saved; /* [num_outputs], right behind */
    mxl_edge edges[];     /* [num_inputs]; targets kept */
} mxl_node;

/* The target of an edge: a node or a variable, the other of the two is NULL. Both are NULL for a
 * constant's edge. No other code casts a target. */
static inline mxl_node *mxl_edge_node(mxl_edge edge)
{
    return edge.output == MXL_PLACE_LEAF ? NULL : (mxl_node *)edge.target;
}

static inline mxl_array *mxl_edge_variable(mxl_edge edge)
{
    return edge.output == MXL_PLACE_LEAF ? (mxl_array *)edge.target : NULL;
}

/* The number of the edge's gradient among those of its node or variable. */
static inline int mxl_edge_slot(mxl_edge edge)
{
    return edge.output == MXL_PLACE_LEAF ? 0 : edge.output;
}

/* The hook store of an edge's target. */
static inline mxl_hook_slot *mxl_edge_hooks(mxl_edge edge)
{
    mxl_node *node = mxl_edge_node(edge);

    return node != NULL ? &node->store : &mxl_array_leaf(mxl_edge_variable(edge))->store;
}

/* Whether an array that had an edge a moment ago has one that gradients flow to. */
bool mxl_tape_is_attached(mxl_array *array, const mxl_dialect *dialect);

/* Whether a call recorded now would get an edge to the array: not to a constant, nor to an array on
 * a released node where the front end counts that as a constant. */
static inline bool mxl_tape_recorded(mxl_array *array, const mxl_dialect *dialect)
{
    mxl_leaf *leaf = mxl_array_leaf(array);

    if (leaf != NULL && mxl_leaf_wants(leaf))
        return true;
    return mxl_array_has_target(array) && mxl_tape_is_attached(array, dialect);
}

/* Whether a call recorded now gets a node: 1 when a gradient flows to an input, else 0. -1 with the
 * error set when an input was written to since it was recorded, or is a part of an array that was
 * recorded later. A gradient through it would be wrong. */
int mxl_tape_wants(const mxl_op *op, int num_inputs, mxl_array *const *inputs,
                   const mxl_dialect *dialect);

/* For outputs of a call that is recorded and gets no node: notes whether they are frozen, as one of
 * the inputs is (mxl_array_frozen). */
void mxl_tape_freeze(int num_inputs, mxl_array *const *inputs, int num_outputs,
                     mxl_array *const *outputs, const mxl_dialect *dialect);

/* A new node for one execution, made before it computes: edges set, parameters copied, tensors
 * saved at their present version, so that an input that the call itself overwrites is found to be
 * stale. NULL with the error set. */
mxl_node *mxl_node_new(const mxl_call *call, const mxl_dialect *dialect);

/* Attaches an array to output `output` of a node; hooks that keep its gradient move there. -1 with
 * the error set: no memory for these. */
int mxl_node_attach_output(mxl_node *node, int output, mxl_array *array);

/* After compute: fixes the versions of saved outputs and attaches outputs 0, 1, ... -1 with the
 * error set where there is no memory, or a record hook failed: the call has failed, and the outputs
 * have no edge. */
int mxl_node_attach(mxl_node *node, int num_outputs, mxl_array *const *outputs);

/* Records that `view` shows the value of `op` applied to `array` (they share storage): attaches the
 * view when a gradient flows to the array. -1 with the error set. */
int mxl_tape_view(const mxl_op *op, const void *params, mxl_array *array, mxl_array *view,
                  bool training, const mxl_dialect *dialect);

/* The slots that show a node's inputs: their number, and the input of one; -1: none (the scalar of
 * x + 5). */
int mxl_node_num_slots(mxl_node *node);
int mxl_node_slot(const mxl_node *node, int slot);

/* The node whose rule this node's rule calls, or NULL. */
static inline mxl_node *mxl_node_inner(const mxl_node *node)
{
    return node->op->wraps_node ? (mxl_node *)node->payload : NULL;
}

#endif
