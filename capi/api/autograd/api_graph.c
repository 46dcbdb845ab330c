/* MXLNode* and the edges of arrays: for callers that walk or draw the graph, or list saved tensors.
 */
#include "api/autograd/node.h"

#include <string.h>

#include "base/memory/mem.h"
#include "engine/tape/node_names.h"
#include "engine/tape/rebase.h"
#include "engine/tape/saved.h"
#include "engine/tape/saved_hooks.h"

/* ---- handles ---- */

static void node_release(mxl_ref *ref)
{
    api_node *node = (api_node *)ref;

    mxl_ref_release(node->edge.target);
    mxl_free(node, sizeof(*node));
}

MXLNodeHandle api_node_handle(mxl_edge edge)
{
    api_node *node = mxl_alloc(sizeof(*node));
    uint64_t handle;

    if (node == NULL)
        return NULL;
    mxl_ref_init(&node->ref, node_release);
    node->edge.target = edge.target;
    node->edge.output = edge.output == MXL_PLACE_LEAF ? MXL_PLACE_LEAF : 0;
    mxl_ref_retain(edge.target);
    handle = mxl_handle_new(MXL_KIND_NODE, &node->ref);
    if (handle == 0)
        mxl_ref_release(&node->ref);
    return (MXLNodeHandle)(uintptr_t)handle;
}

const api_node *api_node_pin(const void *handle, const char *function)
{
    const api_node *node = (const api_node *)mxl_handle_pin(MXL_KIND_NODE, api_number(handle));

    if (node == NULL)
        (void)mxl_error_prefix(function);
    return node;
}

/* The same for a node of a recorded call. */
static mxl_node *pin_recorded(const void *handle, const char *function)
{
    const api_node *node = api_node_pin(handle, function);

    if (node == NULL)
        return NULL;
    if (!api_node_accumulates(node))
        return api_node_recorded(node);
    api_unpin(handle);
    return mxl_error_null("%s: the node accumulates the gradient of a variable; a node of a "
                          "recorded operator was expected",
                          function);
}

int MXLNodeFree(MXLNodeHandle node)
{
    return mxl_handle_free(MXL_KIND_NODE, api_number(node)) == 0 ? 0 : mxl_error_prefix(__func__);
}

/* ---- arrays ---- */

/* The array's edge, with a reference to its target if there is one. -1 with the error set. */
static int find_edge(NDArrayHandle array, mxl_edge *edge, const char *function)
{
    mxl_array *value = api_pin_for(array, function);
    int status;

    if (value == NULL)
        return -1;
    status = mxl_rebase_refresh(value);
    if (status == 0)
        *edge = mxl_array_edge(value);
    api_unpin(array);
    return status == 0 ? 0 : mxl_error_prefix(function);
}

int MXLNDArrayGetEdge(NDArrayHandle array, MXLNodeHandle *node, int *output)
{
    mxl_edge edge;

    API_NEED(node);
    API_NEED(output);
    *node = NULL;
    *output = 0;
    if (find_edge(array, &edge, __func__) != 0)
        return -1;
    if (edge.target == NULL)
        return 0;
    *node = api_node_handle(edge);
    mxl_ref_release(edge.target);
    if (*node == NULL)
        return mxl_error_prefix(__func__);
    *output = mxl_edge_slot(edge);
    return 0;
}

int MXLNDArrayGetEdgeKind(NDArrayHandle array)
{
    mxl_edge edge;
    int kind;

    if (find_edge(array, &edge, __func__) != 0)
        return -1;
    if (edge.target == NULL)
        return MXL_EDGE_CONSTANT;
    kind = mxl_edge_node(edge) == NULL ? MXL_EDGE_LEAF : MXL_EDGE_RECORDED;
    mxl_ref_release(edge.target);
    return kind;
}

/* A new array over the same memory, attached to an edge. */
static mxl_array *alias_at(const mxl_array *array, mxl_edge edge)
{
    mxl_array *alias = mxl_array_alias(array);

    if (alias != NULL)
        mxl_array_set_edge(alias, edge);
    return alias;
}

/* The array itself, or an alias attached to its current edge; new. */
static mxl_array *pinned(mxl_array *array)
{
    mxl_edge edge = mxl_array_edge(array);
    mxl_array *made = array;

    if (mxl_edge_variable(edge) == array)
        mxl_array_retain(array);
    else
        made = alias_at(array, edge);
    mxl_ref_release(edge.target);
    return made;
}

int MXLNDArrayPin(NDArrayHandle array, NDArrayHandle *out)
{
    mxl_array *value, *made;

    API_NEED(out);
    *out = NULL;
    value = api_pin_defined(array, __func__);
    if (value == NULL)
        return -1;
    made = mxl_rebase_refresh(value) == 0 ? pinned(value) : NULL;
    api_unpin(array);
    *out = made == NULL ? NULL : api_handle(made);
    return *out == NULL ? mxl_error_prefix(__func__) : 0;
}

/* The shapes and dtypes of a node's inputs or outputs. Returns their number. */
static int metas_of(const api_node *n, int which, const mxl_meta **metas, mxl_meta *variable)
{
    if (api_node_accumulates(n)) {
        *variable = mxl_array_meta(api_node_variable(n));
        *metas = variable;
        return which;
    }
    *metas = which == 0 ? api_node_recorded(n)->in_meta : api_node_recorded(n)->out_meta;
    return which == 0 ? api_node_recorded(n)->num_inputs : api_node_recorded(n)->num_outputs;
}

/* An alias of the array attached to an output of a node, whose shape and dtype it must have; new.
 */
static mxl_array *attached(const mxl_array *array, const api_node *node, int output)
{
    mxl_edge edge = node->edge;
    const mxl_meta *metas;
    mxl_meta variable;
    int count = metas_of(node, 1, &metas, &variable);

    if (output < 0 || output >= count)
        return mxl_error_null("output %d of a node with %d", output, count);
    if (array->dtype != metas[output].dtype ||
        !mxl_shape_same(array->ndim, array->shape, metas[output].ndim, metas[output].shape))
        return mxl_error_null("the array has not the shape and dtype of output %d", output);
    if (!api_node_accumulates(node))
        edge.output = output;
    return alias_at(array, edge);
}

int MXLNDArrayPlace(NDArrayHandle array, MXLNodeHandle node, int output, NDArrayHandle *out)
{
    const api_node *n;
    mxl_array *value, *made;

    API_NEED(out);
    *out = NULL;
    value = api_pin_defined(array, __func__);
    if (value == NULL)
        return -1;
    n = api_node_pin(node, __func__);
    if (n == NULL) {
        api_unpin(array);
        return -1;
    }
    made = attached(value, n, output);
    api_unpin(node);
    api_unpin(array);
    *out = made == NULL ? NULL : api_handle(made);
    return *out == NULL ? mxl_error_prefix(__func__) : 0;
}

int MXLNDArrayGetId(NDArrayHandle array, uint64_t *out)
{
    mxl_array *value;

    API_NEED(out);
    value = api_pin_for(array, __func__);
    if (value == NULL)
        return -1;
    *out = (uint64_t)(uintptr_t)value;
    api_unpin(array);
    return 0;
}

/* ---- properties of a node ---- */

/* One number of a recorded node, or that of all accumulating ones. */
static int number_of(const char *function, MXLNodeHandle node, int (*count)(mxl_node *),
                     int accumulating, int *out)
{
    const api_node *n = api_node_pin(node, function);

    if (n == NULL)
        return -1;
    *out = api_node_accumulates(n) ? accumulating : count(api_node_recorded(n));
    api_unpin(node);
    return 0;
}

static int is_released(mxl_node *node)
{
    return atomic_load_explicit(&node->released, memory_order_acquire);
}

static int num_outputs(mxl_node *node)
{
    return node->num_outputs;
}

int MXLNodeGetId(MXLNodeHandle node, uint64_t *out)
{
    const api_node *n;

    API_NEED(out);
    n = api_node_pin(node, __func__);
    if (n == NULL)
        return -1;
    *out = (uint64_t)(uintptr_t)n->edge.target;
    api_unpin(node);
    return 0;
}

int MXLNodeGetName(MXLNodeHandle node, const char **out)
{
    char room[MXL_NAME_ROOM], *text;
    const api_node *n;
    const char *name;

    API_NEED(out);
    *out = NULL;
    n = api_node_pin(node, __func__);
    if (n == NULL)
        return -1;
    name = api_node_accumulates(n) ? "AccumulateGrad" : mxl_node_name(api_node_recorded(n), room);
    text = api_buffer_get(API_BUFFER_TEXT, strlen(name) + 1);
    if (text != NULL)
        strcpy(text, name);
    api_unpin(node);
    *out = text;
    return text != NULL ? 0 : mxl_error_prefix(__func__);
}

int MXLNodeGetOperator(MXLNodeHandle node, const char **out)
{
    const api_node *n;

    API_NEED(out);
    *out = NULL;
    n = api_node_pin(node, __func__);
    if (n == NULL)
        return -1;
    if (!api_node_accumulates(n))
        *out = api_node_recorded(n)->op->name;
    api_unpin(node);
    return 0;
}

int MXLNodeGetSequence(MXLNodeHandle node, uint64_t *out)
{
    const api_node *n;

    API_NEED(out);
    n = api_node_pin(node, __func__);
    if (n == NULL)
        return -1;
    *out = api_node_accumulates(n) ? UINT64_MAX : api_node_recorded(n)->seq;
    api_unpin(node);
    return 0;
}

int MXLNodeIsReleased(MXLNodeHandle node, int *out)
{
    API_NEED(out);
    return number_of(__func__, node, is_released, 0, out);
}

/* ---- edges ---- */

int MXLNodeGetNumInputs(MXLNodeHandle node, int *out)
{
    API_NEED(out);
    return number_of(__func__, node, mxl_node_num_slots, 0, out);
}

int MXLNodeGetInput(MXLNodeHandle node, int index, MXLNodeHandle *input, int *output)
{
    mxl_edge edge = {NULL, 0};
    const api_node *n;
    int count, slot, status = 0;

    API_NEED(input);
    API_NEED(output);
    *input = NULL;
    *output = 0;
    n = api_node_pin(node, __func__);
    if (n == NULL)
        return -1;
    count = api_node_accumulates(n) ? 0 : mxl_node_num_slots(api_node_recorded(n));
    if (index < 0 || index >= count) {
        status = mxl_error("%s: input %d of a node with %d", __func__, index, count);
    } else {
        slot = mxl_node_slot(api_node_recorded(n), index);
        if (slot >= 0)
            edge = api_node_recorded(n)->edges[slot];
    }
    if (edge.target != NULL) {
        *input = api_node_handle(edge);
        if (*input == NULL)
            status = mxl_error_prefix(__func__);
        else
            *output = mxl_edge_slot(edge);
    }
    api_unpin(node);
    return status;
}

int MXLNodeGetSlots(MXLNodeHandle node, int room, int *slots)
{
    const api_node *n;
    int count = 0, inputs = 0;

    if (room > 0)
        API_NEED(slots);
    n = api_node_pin(node, __func__);
    if (n == NULL)
        return -1;
    if (!api_node_accumulates(n)) {
        inputs = api_node_recorded(n)->num_inputs;
        count = mxl_node_num_slots(api_node_recorded(n));
    }
    for (int i = 0; i < count && i < room; i++)
        slots[i] = mxl_node_slot(api_node_recorded(n), i);
    api_unpin(node);
    return inputs;
}

int MXLNodeGetNumOutputs(MXLNodeHandle node, int *out)
{
    API_NEED(out);
    return number_of(__func__, node, num_outputs, 1, out);
}

int MXLNodeGetInfo(MXLNodeHandle node, int which, int index, int room, int64_t *shape, int *dtype)
{
    const mxl_meta *metas;
    mxl_meta variable;
    const api_node *n;
    int count, ndim;

    if (which != 0 && which != 1)
        return mxl_error("%s: which is %d; 0 is an input, 1 an output", __func__, which);
    n = api_node_pin(node, __func__);
    if (n == NULL)
        return -1;
    count = metas_of(n, which, &metas, &variable);
    if (index < 0 || index >= count) {
        ndim = mxl_error("%s: %s %d of a node with %d", __func__, which == 0 ? "input" : "output",
                         index, count);
    } else {
        ndim = metas[index].ndim;
        for (int i = 0; i < ndim && i < room && shape != NULL; i++)
            shape[i] = metas[index].shape[i];
        if (dtype != NULL)
            *dtype = metas[index].dtype;
    }
    api_unpin(node);
    return ndim;
}

int MXLNodeGetVariable(MXLNodeHandle node, NDArrayHandle *out)
{
    const api_node *n;
    int status = 0;

    API_NEED(out);
    *out = NULL;
    n = api_node_pin(node, __func__);
    if (n == NULL)
        return -1;
    if (api_node_accumulates(n)) {
        mxl_array_retain(api_node_variable(n));
        *out = api_handle(api_node_variable(n));
        status = *out != NULL ? 0 : mxl_error_prefix(__func__);
    } else {
        status = mxl_error("%s: the node is one of operator %s, not a variable's", __func__,
                           api_node_recorded(n)->op->name);
    }
    api_unpin(node);
    return status;
}

/* ---- saved tensors of a node ---- */

int MXLNodeGetNumSaved(MXLNodeHandle node, int *out)
{
    API_NEED(out);
    return number_of(__func__, node, mxl_node_num_saved, 0, out);
}

static int64_t meta_bytes(const mxl_meta *meta)
{
    int64_t bytes = (int64_t)mxl_dtype_size(meta->dtype);

    for (int i = 0; i < meta->ndim; i++)
        bytes *= meta->shape[i];
    return bytes;
}

/* A handle of a saved tensor, without edge. */
static NDArrayHandle saved_handle(mxl_node *node, bool is_output, int position)
{
    mxl_array *array = is_output ? mxl_node_saved_output(node, position, false)
                                 : mxl_node_saved_input(node, position, false);
    mxl_array *alias = array == NULL ? NULL : mxl_array_alias(array);

    mxl_array_release(array);
    return alias == NULL ? NULL : api_handle(alias);
}

int MXLNodeGetSaved(MXLNodeHandle node, int index, NDArrayHandle *array, int *is_output,
                    int *position, int64_t *bytes)
{
    mxl_node *n;
    bool output;
    int at, status = 0;

    if (array != NULL)
        *array = NULL;
    n = pin_recorded(node, __func__);
    if (n == NULL)
        return -1;
    at = mxl_node_find_saved(n, index, &output);
    if (at < 0) {
        status = mxl_error("%s: saved value %d of a node with %d", __func__, index,
                           mxl_node_num_saved(n));
    } else if (array != NULL) {
        *array = saved_handle(n, output, at);
        status = *array != NULL ? 0 : mxl_error_prefix(__func__);
    }
    if (status == 0) {
        if (is_output != NULL)
            *is_output = output;
        if (position != NULL)
            *position = at;
        if (bytes != NULL)
            *bytes = meta_bytes(output ? &n->out_meta[at] : &n->in_meta[at]);
    }
    api_unpin(node);
    return status;
}

int MXLNodePackSaved(MXLNodeHandle node, int index)
{
    mxl_node *n = pin_recorded(node, __func__);
    bool output;
    int at, status;

    if (n == NULL)
        return -1;
    at = mxl_node_find_saved(n, index, &output);
    if (at < 0)
        status = mxl_error("%s: saved value %d of a node with %d", __func__, index,
                           mxl_node_num_saved(n));
    else
        status = mxl_node_pack_one(n, output ? n->num_inputs + at : at);
    api_unpin(node);
    return status;
}

int MXLNodeSetPayload(MXLNodeHandle node, void *payload, MXLReleaseFunction release)
{
    const api_node *n = api_node_pin(node, __func__);
    mxl_hook_store *store;

    if (n == NULL)
        return -1;
    store = mxl_hook_store_make(mxl_edge_hooks(n->edge));
    if (store != NULL)
        mxl_hook_store_set_payload(store, payload, release);
    api_unpin(node);
    return store != NULL ? 0 : mxl_error_prefix(__func__);
}

int MXLNodeGetPayload(MXLNodeHandle node, void **out)
{
    const api_node *n;
    mxl_hook_store *store;

    API_NEED(out);
    *out = NULL;
    n = api_node_pin(node, __func__);
    if (n == NULL)
        return -1;
    store = mxl_hook_store_get(mxl_edge_hooks(n->edge));
    if (store != NULL)
        *out = mxl_hook_store_payload(store);
    api_unpin(node);
    return 0;
}
