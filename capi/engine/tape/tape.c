/* Nodes: made in one block, released without recursion. */
#include "engine/tape/tape.h"

#include <string.h>

#include "base/error.h"
#include "base/memory/mem.h"
#include "engine/tape/node_names.h"
#include "engine/tape/saved.h"
#include "engine/tape/record_hooks.h"

static atomic_uint_fast64_t next_seq = 1;

/* ---- release ---- */

static void node_free(mxl_ref *ref)
{
    mxl_node *node = (mxl_node *)ref;

    mxl_node_free_saved(node);
    for (int i = 0; i < node->num_inputs; i++)
        mxl_ref_release(node->edges[i].target);
    mxl_ref_release(node->payload);
    mxl_ref_release(atomic_load_explicit(&node->store, memory_order_acquire));
    mxl_free(node, node->bytes);
}

/* ---- making ---- */

/* The block holds, in this order: the node, edges, metas, saved values, parameters, extents. */
typedef struct layout {
    size_t params_at, params_bytes, dims_at, bytes;
} layout;

static size_t aligned(size_t bytes)
{
    return (bytes + 15) & ~(size_t)15;
}

static layout node_layout(const mxl_call *call)
{
    size_t in = (size_t)call->num_inputs, out = (size_t)call->num_outputs, dims = 0;
    layout at;

    for (int i = 0; i < call->num_inputs; i++)
        dims += (size_t)call->in[i]->ndim;
    for (int i = 0; i < call->num_outputs; i++)
        dims += (size_t)call->out[i]->ndim;
    at.params_at = aligned(sizeof(mxl_node) + in * sizeof(mxl_edge) +
                           (in + out) * (sizeof(mxl_meta) + sizeof(mxl_saved)));
    at.params_bytes = call->op->params_size > 0 ? mxl_params_bytes(call->op, call->params) : 0;
    at.dims_at = at.params_at + aligned(at.params_bytes);
    at.bytes = at.dims_at + dims * sizeof(int64_t);
    return at;
}

static int64_t *meta_fill(mxl_meta *meta, const mxl_array *array, int64_t *dims)
{
    meta->dtype = array->dtype;
    meta->ndim = (int16_t)array->ndim;
    meta->stype = array->stype;
    meta->shape = dims;
    for (int i = 0; i < array->ndim; i++)
        dims[i] = array->shape[i];
    return dims + array->ndim;
}

/* Whether the edge counts as a constant's in this front end: that of a released node. */
static bool is_constant(mxl_edge edge, const mxl_dialect *dialect)
{
    const mxl_node *node = mxl_edge_node(edge);

    return dialect->released_is_constant && node != NULL &&
           atomic_load_explicit(&node->released, memory_order_acquire);
}

bool mxl_tape_is_attached(mxl_array *array, const mxl_dialect *dialect)
{
    mxl_edge edge;
    bool recorded;

    mxl_array_lock_edge(array);
    edge = mxl_array_given_edge(array);
    recorded = edge.target != NULL && !is_constant(edge, dialect);
    mxl_array_unlock_edge(array);
    return recorded;
}

/* The edge of a new node's input: the array's, or none. The target is kept. */
static mxl_edge edge_to(mxl_array *array, const mxl_dialect *dialect)
{
    mxl_edge edge = {NULL, 0};

    if (mxl_array_leaf(array) == NULL && !mxl_array_has_target(array))
        return edge;
    edge = mxl_array_edge(array);
    if (is_constant(edge, dialect)) {
        mxl_ref_release(edge.target);
        edge.target = NULL;
    }
    return edge;
}

/* A part of an array that got its recorded value after the part was taken. */
static bool shows_later_record(const mxl_array *array)
{
    const mxl_array *base = array->base;

    return mxl_array_leaf(base) == NULL && mxl_array_has_target(base) &&
           mxl_array_edge_version(base) > mxl_array_edge_version(array);
}

int mxl_tape_wants(const mxl_op *op, int num_inputs, mxl_array *const *inputs,
                   const mxl_dialect *dialect)
{
    int wants = 0;

    for (int i = 0; i < num_inputs; i++) {
        mxl_array *array = inputs[i];

        if (!mxl_tape_recorded(array, dialect)) {
            if (array->base != NULL && !dialect->rebase && shows_later_record(array))
                return mxl_error("%s: input %d is a part of an array that was recorded after the "
                                 "part was taken; take it again",
                                 op->name, i);
            continue;
        }
        if (!dialect->rebase && mxl_array_leaf(array) == NULL &&
            mxl_array_edge_version(array) != mxl_storage_version(array->storage))
            return mxl_error(
                "%s: input %d was edited in place after it was recorded; use detach() to "
                "take its present value as a constant",
                op->name, i);
        wants = 1;
    }
    return wants;
}

void mxl_tape_freeze(int num_inputs, mxl_array *const *inputs, int num_outputs,
                     mxl_array *const *outputs, const mxl_dialect *dialect)
{
    bool frozen = false;

    if (!dialect->lenient_heads)
        return;
    for (int i = 0; i < num_inputs && !frozen; i++)
        frozen = mxl_array_frozen(inputs[i]);
    for (int i = 0; i < num_outputs; i++)
        atomic_store_explicit(&outputs[i]->frozen, frozen, memory_order_relaxed);
}

mxl_node *mxl_node_new(const mxl_call *call, const mxl_dialect *dialect)
{
    layout at = node_layout(call);
    mxl_node *node = mxl_alloc(at.bytes);
    int64_t *dims;

    if (node == NULL)
        return NULL;
    mxl_ref_init(&node->ref, node_free);
    node->op = call->op;
    node->dialect = dialect;
    node->params = NULL;
    node->payload = NULL;
    node->seq = atomic_fetch_add_explicit(&next_seq, 1, memory_order_relaxed);
    node->num_inputs = call->num_inputs;
    node->num_outputs = call->num_outputs;
    node->training = call->training;
    node->saves_any = false;
    node->not_dense = false;
    atomic_init(&node->released, false);
    atomic_flag_clear_explicit(&node->lock, memory_order_relaxed);
    atomic_init(&node->store, NULL);
    node->bytes = at.bytes;
    node->in_meta = (mxl_meta *)(node->edges + node->num_inputs);
    node->out_meta = node->in_meta + node->num_inputs;
    node->in_saved = (mxl_saved *)(node->out_meta + node->num_outputs);
    node->out_saved = node->in_saved + node->num_inputs;
    if (at.params_bytes > 0) {
        mxl_params_copy(call->op, (char *)node + at.params_at, call->params);
        node->params = (char *)node + at.params_at;
    }
    if (call->op->held != NULL) {
        node->payload = call->op->held(call->params);
        mxl_ref_retain(node->payload);
    }
    dims = (int64_t *)((char *)node + at.dims_at);
    for (int i = 0; i < node->num_inputs; i++) {
        node->edges[i] = edge_to(call->in[i], dialect);
        node->in_saved[i] = (mxl_saved){0};
        node->not_dense = node->not_dense || !mxl_array_is_dense(call->in[i]);
        dims = meta_fill(&node->in_meta[i], call->in[i], dims);
    }
    for (int i = 0; i < node->num_outputs; i++) {
        node->out_saved[i] = (mxl_saved){0};
        dims = meta_fill(&node->out_meta[i], call->out[i], dims);
    }
    if ((call->op->saves != NULL || call->op->compose != NULL) && mxl_node_save(node, call) != 0) {
        mxl_ref_release(&node->ref);
        return NULL;
    }
    return node;
}

/* Moves hooks that keep the gradient of an edited array to its new value. */
static int hooks_follow(mxl_array *array, mxl_node *node, int output)
{
    mxl_edge edge = mxl_array_edge(array);
    mxl_node *before = mxl_edge_node(edge);
    mxl_hook_store *store = before == NULL ? NULL : mxl_hook_store_get(&before->store);
    int status = 0;

    if (store != NULL && before != node)
        status = mxl_hook_store_follow(store, edge.output, &node->store, output);
    mxl_ref_release(edge.target);
    return status;
}

int mxl_node_attach_output(mxl_node *node, int output, mxl_array *array)
{
    mxl_edge edge = {&node->ref, output};
    int status = mxl_array_has_target(array) ? hooks_follow(array, node, output) : 0;

    mxl_array_set_edge(array, edge);
    return status;
}

int mxl_node_attach(mxl_node *node, int num_outputs, mxl_array *const *outputs)
{
    int status = 0;

    for (int i = 0; i < node->num_outputs && node->saves_any; i++) {
        mxl_saved *saved = &node->out_saved[i];

        if (saved->array != NULL)
            saved->version = mxl_storage_version(saved->array->storage);
    }
    for (int i = 0; i < num_outputs; i++) {
        /* Of PyTorch's results the indices beside values are no part of the graph. */
        if (node->dialect->only_floats && num_outputs > 1 && !mxl_dtype_is_float(outputs[i]->dtype))
            continue;
        if (mxl_node_attach_output(node, i, outputs[i]) != 0)
            status = -1;
    }
    for (int i = 0; i < num_outputs && status != 0; i++) {
        mxl_edge nowhere = {NULL, 0};

        mxl_array_set_edge(outputs[i], nowhere);
    }
    if (status != 0)
        return -1;
    return mxl_state_get()->watch == 0 ? 0 : mxl_record_hook_call(node, num_outputs, outputs);
}

int mxl_tape_view(const mxl_op *op, const void *params, mxl_array *array, mxl_array *view,
                  bool training, const mxl_dialect *dialect)
{
    mxl_call call = {.op = op,
                     .params = params,
                     .num_inputs = 1,
                     .num_outputs = 1,
                     .in = &array,
                     .out = &view,
                     .training = training};
    int wants = mxl_tape_wants(op, 1, &array, dialect);
    mxl_node *node;
    int status;

    if (wants == 0)
        mxl_tape_freeze(1, &array, 1, &view, dialect);
    if (wants <= 0)
        return wants;
    node = mxl_node_new(&call, dialect);
    if (node == NULL)
        return -1;
    status = mxl_node_attach(node, 1, &view);
    mxl_ref_release(&node->ref);
    return status;
}

/* ---- looking at a node ---- */

int mxl_node_num_slots(mxl_node *node)
{
    const char *slots = mxl_node_slots(node);

    return slots != NULL ? (int)strlen(slots) : node->num_inputs;
}

int mxl_node_slot(const mxl_node *node, int slot)
{
    const char *slots = mxl_node_slots(node);
    int input = slots == NULL ? slot : slots[slot] - '0';

    return input >= 0 && input < node->num_inputs ? input : -1;
}
