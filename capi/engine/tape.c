/* Nodes: made in one block, released without recursion. */
#include "engine/tape.h"

#include <sched.h>
#include <string.h>

#include "array/copy.h"
#include "base/error.h"
#include "base/mem.h"
#include "engine/names.h"
#include "engine/packed.h"
#include "engine/watch.h"

static atomic_uint_fast64_t next_seq = 1;

/* ---- release ---- */

static void saved_drop(mxl_saved *saved, int count)
{
    for (int i = 0; i < count; i++) {
        mxl_array_drop(saved[i].array);
        saved[i].array = NULL;
    }
}

static void node_free(mxl_ref *ref)
{
    mxl_node *node = (mxl_node *)ref;

    if (node->saves_any) {
        saved_drop(node->in_saved, node->num_inputs);
        saved_drop(node->out_saved, node->num_outputs);
    }
    for (int i = 0; i < node->num_inputs; i++)
        mxl_ref_drop(node->edges[i].target);
    mxl_ref_drop(node->payload);
    mxl_ref_drop(atomic_load_explicit(&node->extra, memory_order_acquire));
    mxl_free(node, node->bytes);
}

static void node_lock(mxl_node *node)
{
    while (atomic_flag_test_and_set_explicit(&node->lock, memory_order_acquire))
        sched_yield();
}

static void node_unlock(mxl_node *node)
{
    atomic_flag_clear_explicit(&node->lock, memory_order_release);
}

/* Takes saved values out under the lock and drops them after it: a drop may call a caller's
 * function. */
static void saved_take(mxl_node *node, mxl_saved *saved, int count)
{
    enum { ROOM = 16 };
    mxl_array *taken[ROOM];

    for (int done = 0; done < count; done += ROOM) {
        int n = count - done < ROOM ? count - done : ROOM;

        node_lock(node);
        for (int i = 0; i < n; i++) {
            taken[i] = saved[done + i].array;
            saved[done + i].array = NULL;
        }
        node_unlock(node);
        for (int i = 0; i < n; i++)
            mxl_array_drop(taken[i]);
    }
}

void mxl_node_release_saved(mxl_node *node)
{
    mxl_extra *extra;

    if (atomic_exchange_explicit(&node->released, true, memory_order_acq_rel))
        return;
    if (mxl_node_inner(node) != NULL)
        mxl_node_release_saved(mxl_node_inner(node));
    extra = mxl_extra_get(&node->extra);
    if (extra != NULL)
        mxl_extra_remove_hooks(extra);
    if (!node->saves_any)
        return;
    if (extra != NULL)
        mxl_extra_drop_packed(extra);
    saved_take(node, node->in_saved, node->num_inputs);
    saved_take(node, node->out_saved, node->num_outputs);
}

static bool is_stale(const mxl_saved *saved, int count)
{
    for (int i = 0; i < count; i++) {
        if (saved[i].array != NULL &&
            mxl_storage_version(saved[i].array->storage) != saved[i].version)
            return true;
    }
    return false;
}

bool mxl_node_stale(mxl_node *node)
{
    mxl_node *inner = mxl_node_inner(node);
    bool stale;

    if (inner != NULL && mxl_node_stale(inner))
        return true;
    if (!node->saves_any)
        return false;
    node_lock(node);
    stale =
        is_stale(node->in_saved, node->num_inputs) || is_stale(node->out_saved, node->num_outputs);
    node_unlock(node);
    return stale;
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
    at.params_at = aligned(sizeof(mxl_node) + in * sizeof(mxl_place) +
                           (in + out) * (sizeof(mxl_meta) + sizeof(mxl_saved)));
    at.params_bytes = call->op->params_size > 0 ? mxl_params_bytes(call->op, call->params) : 0;
    at.dims_at = at.params_at + aligned(at.params_bytes);
    at.bytes = at.dims_at + dims * sizeof(int64_t);
    return at;
}

static int64_t *meta_fill(mxl_meta *meta, const mxl_array *array, int64_t *dims)
{
    meta->dtype = array->dtype;
    meta->ndim = array->ndim;
    meta->shape = dims;
    for (int i = 0; i < array->ndim; i++)
        dims[i] = array->shape[i];
    return dims + array->ndim;
}

/* Under the lock of the array's place: whether the dialect calls what the place leads to a
 * constant. */
static bool is_released(mxl_ref *target, const mxl_dialect *dialect)
{
    return dialect->released_is_constant &&
           atomic_load_explicit(&((mxl_node *)target)->released, memory_order_acquire);
}

bool mxl_tape_recorded(mxl_array *array, const mxl_dialect *dialect)
{
    mxl_leaf *leaf = mxl_array_leaf(array);
    mxl_ref *target;
    bool recorded;

    if (leaf != NULL && mxl_leaf_wants(leaf))
        return true;
    if (!mxl_array_has_target(array))
        return false;
    mxl_array_lock_place(array);
    target = atomic_load_explicit(&array->target, memory_order_relaxed);
    recorded = target != NULL && !is_released(target, dialect);
    mxl_array_unlock_place(array);
    return recorded;
}

/* Where a value recorded now is attached: the array's place, or nowhere. The target is kept. */
static mxl_place edge_to(mxl_array *array, const mxl_dialect *dialect)
{
    mxl_place place = {NULL, 0};

    if (mxl_array_leaf(array) == NULL && !mxl_array_has_target(array))
        return place;
    place = mxl_array_place(array);
    if (place.target != NULL && place.output != MXL_PLACE_LEAF &&
        is_released(place.target, dialect)) {
        mxl_ref_drop(place.target);
        place.target = NULL;
    }
    return place;
}

/* A part of an array that got its recorded value after the part was taken. */
static bool shows_later_record(const mxl_array *array)
{
    const mxl_array *base = array->base;

    return base != NULL && mxl_array_leaf(base) == NULL && mxl_array_has_target(base) &&
           mxl_array_place_version(base) > mxl_array_place_version(array);
}

int mxl_tape_wants(const mxl_op *op, int num_inputs, mxl_array *const *inputs,
                   const mxl_dialect *dialect)
{
    int wants = 0;

    for (int i = 0; i < num_inputs; i++) {
        mxl_array *array = inputs[i];

        if (!mxl_tape_recorded(array, dialect)) {
            if (!dialect->rebase && shows_later_record(array))
                return mxl_error("%s: input %d is a part of an array that was recorded after the "
                                 "part was taken; take it again",
                                 op->name, i);
            continue;
        }
        if (!dialect->rebase && mxl_array_leaf(array) == NULL &&
            mxl_array_place_version(array) != mxl_storage_version(array->storage))
            return mxl_error(
                "%s: input %d was edited in place after it was recorded; use detach() to "
                "take its present value as a constant",
                op->name, i);
        wants = 1;
    }
    return wants;
}

/* Small numbers of inputs and outputs, which is nearly all, need no memory for flags. */
enum { FLAGS_ROOM = 48 };

/* Saves an input, as an alias: the array itself may be given another place later (out=), which
 * could lead back to this node, and that would be a cycle. A variable is never given one. */
static int save_input(mxl_node *node, int index, mxl_array *array)
{
    mxl_array *kept = array;

    if (mxl_array_leaf(array) != NULL)
        mxl_array_keep(array);
    else
        kept = mxl_array_alias(array);
    if (kept == NULL)
        return -1;
    node->in_saved[index].array = kept;
    node->in_saved[index].version = mxl_storage_version(array->storage);
    node->saves_any = true;
    return 0;
}

/* Keeps what the rule will read. */
static int node_save(mxl_node *node, const mxl_call *call)
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
    call->op->saves(&saves);
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
    mxl_array *alias = mxl_array_alias(array);

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
    copy = mxl_array_new(saved->array->dtype, saved->array->ndim, saved->array->shape);
    if (copy == NULL || mxl_array_copy_into(copy, saved->array) != 0) {
        mxl_array_drop(copy);
        return -1;
    }
    mxl_array_drop(saved->array);
    saved->array = copy;
    saved->version = mxl_storage_version(copy->storage);
    return 0;
}

mxl_node *mxl_node_new(const mxl_call *call, const mxl_dialect *dialect)
{
    layout at = node_layout(call);
    mxl_node *node = mxl_alloc(at.bytes);
    int64_t *dims;

    if (node == NULL)
        return NULL;
    memset(node, 0, at.params_at);
    mxl_ref_init(&node->ref, node_free);
    node->op = call->op;
    node->dialect = dialect;
    node->seq = atomic_fetch_add_explicit(&next_seq, 1, memory_order_relaxed);
    node->num_inputs = call->num_inputs;
    node->num_outputs = call->num_outputs;
    node->training = call->training;
    atomic_init(&node->released, false);
    atomic_flag_clear_explicit(&node->lock, memory_order_relaxed);
    node->bytes = at.bytes;
    node->in_meta = (mxl_meta *)(node->edges + node->num_inputs);
    node->out_meta = node->in_meta + node->num_inputs;
    node->in_saved = (mxl_saved *)(node->out_meta + node->num_outputs);
    node->out_saved = node->in_saved + node->num_inputs;
    if (at.params_bytes > 0) {
        mxl_params_copy(call->op, (char *)node + at.params_at, call->params);
        node->params = (char *)node + at.params_at;
    }
    dims = (int64_t *)((char *)node + at.dims_at);
    for (int i = 0; i < node->num_inputs; i++) {
        node->edges[i] = edge_to(call->in[i], dialect);
        dims = meta_fill(&node->in_meta[i], call->in[i], dims);
    }
    for (int i = 0; i < node->num_outputs; i++)
        dims = meta_fill(&node->out_meta[i], call->out[i], dims);
    if (call->op->saves != NULL && node_save(node, call) != 0) {
        mxl_ref_drop(&node->ref);
        return NULL;
    }
    return node;
}

int mxl_node_attach(mxl_node *node, int num_outputs, mxl_array *const *outputs)
{
    for (int i = 0; i < node->num_outputs && node->saves_any; i++) {
        mxl_saved *saved = &node->out_saved[i];

        if (saved->array != NULL)
            saved->version = mxl_storage_version(saved->array->storage);
    }
    for (int i = 0; i < num_outputs; i++) {
        mxl_place place = {&node->ref, i};

        mxl_array_set_place(outputs[i], place);
    }
    return mxl_state_get()->watch == 0 ? 0 : mxl_watch_recorded(node, num_outputs, outputs);
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

    if (wants <= 0)
        return wants;
    node = mxl_node_new(&call, dialect);
    if (node == NULL)
        return -1;
    status = mxl_node_attach(node, 1, &view);
    mxl_ref_drop(&node->ref);
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

/* Whether somebody keeps the value in a form of his own. */
static bool is_packed(mxl_node *node, int at)
{
    mxl_extra *extra = mxl_extra_get(&node->extra);
    mxl_ref *packed = extra == NULL ? NULL : mxl_extra_get_packed(extra, at);

    mxl_ref_drop(packed);
    return packed != NULL;
}

static bool is_saved(mxl_node *node, int at)
{
    bool saved;

    node_lock(node);
    saved = at < node->num_inputs ? node->in_saved[at].array != NULL
                                  : node->out_saved[at - node->num_inputs].array != NULL;
    node_unlock(node);
    return saved || is_packed(node, at);
}

int mxl_node_find_saved(mxl_node *node, int index, bool *is_output)
{
    int found = -1, total = node->num_inputs + node->num_outputs;

    for (int i = 0; i < total && found < 0 && index >= 0; i++) {
        if (is_saved(node, i) && index-- == 0)
            found = i;
    }
    *is_output = found >= node->num_inputs;
    return *is_output ? found - node->num_inputs : found;
}

int mxl_node_num_saved(mxl_node *node)
{
    int count = 0;

    for (int i = 0; i < node->num_inputs + node->num_outputs; i++)
        count += is_saved(node, i);
    return count;
}

/* ---- reading saved values ---- */

/* An alias of `array` that stands at `place`. */
static mxl_array *placed(mxl_array *array, mxl_place place)
{
    mxl_array *alias = mxl_array_alias(array);

    if (alias != NULL)
        mxl_array_set_place(alias, place);
    return alias;
}

/* Which value was edited, and by whom where that is known. */
static void stale_error(const mxl_node *node, const mxl_saved *saved, const mxl_array *array,
                        const char *what, int index)
{
    const mxl_op *writer = mxl_op_at((int)mxl_storage_writer(array->storage) - 1);
    char shape[128];

    mxl_error("%s: its %s %d (%s, shape %s), saved for backward, has been modified by an inplace "
              "operation (edited in place%s%s): it is at version %llu, expected version %llu; edit "
              "a copy, "
              "or edit it after backward",
              node->op->name, what, index, mxl_dtype_name(array->dtype),
              mxl_shape_text(shape, sizeof(shape), array->ndim, array->shape),
              writer != NULL ? " by " : "", writer != NULL ? writer->name : "",
              (unsigned long long)mxl_storage_version(array->storage),
              (unsigned long long)saved->version);
}

/* The saved value; `record`: whether what unpacks it is recorded. */
static mxl_array *saved_get(mxl_node *node, mxl_saved *saved, const char *what, int index,
                            bool record)
{
    mxl_array *array;

    if (mxl_extra_get(&node->extra) != NULL) {
        bool is_output = saved >= node->out_saved;

        if (is_packed(node, is_output ? node->num_inputs + index : index))
            return mxl_node_unpack(node, is_output ? node->num_inputs + index : index, record);
    }
    node_lock(node);
    array = saved->array;
    if (array != NULL)
        mxl_array_keep(array);
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
        mxl_array_drop(array);
        return NULL;
    }
    return array;
}

mxl_array *mxl_node_saved_input(mxl_node *node, int index, bool with_place)
{
    mxl_array *array = saved_get(node, &node->in_saved[index], "input", index, with_place);
    mxl_array *alias;

    if (array == NULL || !with_place || mxl_array_stands_at(array, node->edges[index]))
        return array;
    /* An alias, or a variable that was marked since: use the place it had. */
    alias = placed(array, node->edges[index]);
    mxl_array_drop(array);
    return alias;
}

mxl_array *mxl_node_saved_output(mxl_node *node, int index, bool with_place)
{
    mxl_array *array = saved_get(node, &node->out_saved[index], "output", index, with_place);
    mxl_place place = {&node->ref, index};
    mxl_array *alias;

    if (array == NULL || !with_place)
        return array;
    alias = placed(array, place);
    mxl_array_drop(array);
    return alias;
}
