/* Values that nodes keep for their rules: saved, counted, read, found to be edited, released. */
#include "engine/tape/saved.h"

#include <string.h>

#include "array/copy.h"
#include "array/remake.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "engine/tape/saved_hooks.h"
#include "base/system/threads.h"

static void node_lock(mxl_node *node)
{
    while (atomic_flag_test_and_set_explicit(&node->lock, memory_order_acquire))
        mxl_thread_yield();
}

static void node_unlock(mxl_node *node)
{
    atomic_flag_clear_explicit(&node->lock, memory_order_release);
}

/* ---- saving ---- */

/* Small numbers of inputs and outputs, which is nearly all, need no memory for flags. */
enum { FLAGS_ROOM = 48 };

static int refuse_inference(const mxl_node *node, const char *what, int index)
{
    return mxl_error("%s: its %s %d was made in inference mode and cannot be saved for backward; "
                     "use a copy that is made outside of it",
                     node->op->name, what, index);
}

/* Saves an input as an alias: the array itself may be attached to a later node (out=), which could
 * lead back to this one, and that would be a cycle. A variable, which the node's edge keeps in any
 * case, is never attached to another node. */
static int save_input(mxl_node *node, int index, mxl_array *array)
{
    mxl_array *kept = array;

    if (mxl_storage_inference(array->storage))
        return refuse_inference(node, "input", index);
    if (node->edges[index].target == &array->ref)
        mxl_array_retain(array);
    else
        kept = mxl_array_alias(array);
    if (kept == NULL)
        return -1;
    node->in_saved[index].array = kept;
    node->in_saved[index].version = mxl_storage_version(array->storage);
    node->saves_any = true;
    return 0;
}

int mxl_node_save(mxl_node *node, const mxl_call *call)
{
    bool room[FLAGS_ROOM] = {false};
    size_t count = 2 * (size_t)call->num_inputs + (size_t)call->num_outputs;
    bool *flags = count <= FLAGS_ROOM ? room : mxl_alloc_zero(count);
    mxl_saves saves = {.op = call->op,
                       .params = call->params,
                       .num_inputs = call->num_inputs,
                       .num_outputs = call->num_outputs,
                       .training = call->training};
    int status = 0;

    if (flags == NULL)
        return -1;
    for (int i = 0; i < call->num_inputs; i++)
        flags[i] = node->edges[i].target != NULL;
    saves.wants = flags;
    saves.in = flags + call->num_inputs;
    saves.out = saves.in + call->num_inputs;
    if (call->op->saves != NULL)
        call->op->saves(&saves);
    else
        memset(saves.in, 1, (size_t)call->num_inputs); /* for the second run of a composition */
    for (int i = 0; i < call->num_inputs && status == 0; i++) {
        if (saves.in[i])
            status = save_input(node, i, call->in[i]);
    }
    for (int i = 0; i < call->num_outputs && status == 0; i++) {
        if (saves.out[i])
            status = mxl_node_save_output(node, i, call->out[i]);
    }
    if (flags != room)
        mxl_free(flags, count);
    return status;
}

int mxl_node_save_output(mxl_node *node, int index, mxl_array *array)
{
    mxl_array *alias;

    if (mxl_storage_inference(array->storage))
        return refuse_inference(node, "output", index);
    alias = mxl_array_alias(array);
    if (alias == NULL)
        return -1;
    node->out_saved[index].array = alias;
    node->out_saved[index].version = mxl_storage_version(array->storage);
    node->saves_any = true;
    return 0;
}

int mxl_node_copy_saved_input(mxl_node *node, int index)
{
    mxl_saved *saved = &node->in_saved[index];
    mxl_array *copy;

    if (saved->array == NULL)
        return 0;
    copy = mxl_array_copy(saved->array);
    if (copy == NULL)
        return -1;
    mxl_array_release(saved->array);
    saved->array = copy;
    saved->version = mxl_storage_version(copy->storage);
    return 0;
}

/* ---- releasing ---- */

/* Inputs and outputs: their saved tensors lie side by side. */
static int num_edges(const mxl_node *node)
{
    return node->num_inputs + node->num_outputs;
}

void mxl_node_free_saved(mxl_node *node)
{
    for (int i = 0; i < num_edges(node) && node->saves_any; i++) {
        mxl_array_release(node->in_saved[i].array);
        node->in_saved[i].array = NULL;
    }
}

/* Takes the saved values out under the lock and drops them after it: a drop may call a caller's
 * function. */
static void take_saved(mxl_node *node)
{
    enum { ROOM = 16 };
    mxl_array *taken[ROOM];
    int count = num_edges(node);

    for (int done = 0; done < count; done += ROOM) {
        int n = count - done < ROOM ? count - done : ROOM;

        node_lock(node);
        for (int i = 0; i < n; i++) {
            taken[i] = node->in_saved[done + i].array;
            node->in_saved[done + i].array = NULL;
        }
        node_unlock(node);
        for (int i = 0; i < n; i++)
            mxl_array_release(taken[i]);
    }
}

void mxl_node_release_saved(mxl_node *node)
{
    mxl_hook_store *store;

    if (atomic_load_explicit(&node->released, memory_order_relaxed) ||
        atomic_exchange_explicit(&node->released, true, memory_order_acq_rel))
        return;
    if (mxl_node_inner(node) != NULL)
        mxl_node_release_saved(mxl_node_inner(node));
    store = mxl_hook_store_get(&node->store);
    if (store != NULL)
        mxl_hook_store_remove_hooks(store);
    if (node->op->forget != NULL)
        node->op->forget(node->payload);
    if (!node->saves_any)
        return;
    if (store != NULL)
        mxl_hook_store_release_packed(store);
    take_saved(node);
}

/* ---- looking at them ---- */

bool mxl_node_stale(mxl_node *node)
{
    mxl_node *inner = mxl_node_inner(node);
    bool stale = false;

    if (inner != NULL && mxl_node_stale(inner))
        return true;
    if (!node->saves_any)
        return false;
    node_lock(node);
    for (int i = 0; i < num_edges(node) && !stale; i++) {
        const mxl_saved *saved = &node->in_saved[i];

        stale =
            saved->array != NULL && mxl_storage_version(saved->array->storage) != saved->version;
    }
    node_unlock(node);
    return stale;
}

bool mxl_node_saves_variable(mxl_node *node, int index)
{
    bool saves;

    if (!node->saves_any || mxl_edge_variable(node->edges[index]) == NULL)
        return false;
    node_lock(node);
    saves = node->in_saved[index].array == mxl_edge_variable(node->edges[index]);
    node_unlock(node);
    return saves;
}

/* Whether the saved tensor is packed. */
static bool is_packed(mxl_node *node, int at)
{
    mxl_hook_store *store = mxl_hook_store_get(&node->store);
    mxl_ref *packed = store == NULL ? NULL : mxl_hook_store_get_packed(store, at);

    mxl_ref_release(packed);
    return packed != NULL;
}

static bool is_saved(mxl_node *node, int at)
{
    bool saved;

    node_lock(node);
    saved = node->in_saved[at].array != NULL;
    node_unlock(node);
    return saved || is_packed(node, at);
}

int mxl_node_find_saved(mxl_node *node, int index, bool *is_output)
{
    int found = -1;

    for (int i = 0; i < num_edges(node) && found < 0 && index >= 0; i++) {
        if (is_saved(node, i) && index-- == 0)
            found = i;
    }
    *is_output = found >= node->num_inputs;
    return *is_output ? found - node->num_inputs : found;
}

int mxl_node_num_saved(mxl_node *node)
{
    int count = 0;

    for (int i = 0; i < num_edges(node); i++)
        count += is_saved(node, i);
    return count;
}

/* ---- reading saved values ---- */

/* An alias of `array` with that edge. */
static mxl_array *attached(mxl_array *array, mxl_edge edge)
{
    mxl_array *alias = mxl_array_alias(array);

    if (alias != NULL)
        mxl_array_set_edge(alias, edge);
    return alias;
}

/* Sets the error of an edited saved tensor, with the writer where its storage has noted one. */
static void stale_error(const mxl_node *node, const mxl_saved *saved, const mxl_array *array,
                        const char *what, int index)
{
    const mxl_op *writer = mxl_op_at((int)mxl_storage_writer(array->storage) - 1);

    mxl_error("%s: its %s %d (%s, shape %s), saved for backward, was edited in place%s%s: it is at "
              "version %llu, expected version %llu; edit a copy, or edit it after backward",
              node->op->name, what, index, mxl_dtype_name(array->dtype), MXL_SHAPE_OF(array),
              writer != NULL ? " by " : "", writer != NULL ? writer->name : "",
              (unsigned long long)mxl_storage_version(array->storage),
              (unsigned long long)saved->version);
}

/* The saved value; `record`: whether what unpacks it is recorded. */
static mxl_array *saved_get(mxl_node *node, mxl_saved *saved, const char *what, int index,
                            bool record)
{
    mxl_array *array;

    if (mxl_hook_store_get(&node->store) != NULL &&
        mxl_node_unpack(node, saved >= node->out_saved ? node->num_inputs + index : index, record,
                        &array))
        return array;
    node_lock(node);
    array = saved->array;
    if (array != NULL)
        mxl_array_retain(array);
    node_unlock(node);
    if (array == NULL) {
        if (atomic_load_explicit(&node->released, memory_order_acquire))
            return mxl_error_null("%s: the values saved for backward have been released by an "
                                  "earlier backward; call that one with retain_graph=True",
                                  node->op->name);
        return mxl_error_null("%s: its gradient rule reads %s %d, which it did not declare",
                              node->op->name, what, index);
    }
    if (mxl_storage_version(array->storage) != saved->version) {
        stale_error(node, saved, array, what, index);
        mxl_array_release(array);
        return NULL;
    }
    if (mxl_remake_now(array->storage) != 0) {
        mxl_array_release(array);
        return NULL;
    }
    return array;
}

mxl_array *mxl_node_saved_input(mxl_node *node, int index, bool with_edge)
{
    mxl_array *array = saved_get(node, &node->in_saved[index], "input", index, with_edge);
    mxl_array *alias;

    if (array == NULL || !with_edge || mxl_array_is_attached_to(array, node->edges[index]))
        return array;
    /* An alias, or a variable that was marked since: use the edge it had. */
    alias = attached(array, node->edges[index]);
    mxl_array_release(array);
    return alias;
}

mxl_array *mxl_node_saved_state(mxl_node *node, int index)
{
    mxl_array *array;

    node_lock(node);
    array = node->in_saved[index].array;
    if (array != NULL)
        mxl_array_retain(array);
    node_unlock(node);
    return array;
}

mxl_array *mxl_node_saved_output(mxl_node *node, int index, bool with_edge)
{
    mxl_array *array = saved_get(node, &node->out_saved[index], "output", index, with_edge);
    mxl_edge edge = {&node->ref, index};
    mxl_array *alias;

    if (array == NULL || !with_edge)
        return array;
    alias = attached(array, edge);
    mxl_array_release(array);
    return alias;
}
