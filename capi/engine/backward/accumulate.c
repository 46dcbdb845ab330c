/* Writes, adds or returns the gradients of variables once all of them have arrived. */
#include "engine/backward/accumulate.h"

#include "array/copy.h"
#include "array/remake.h"
#include "array/sparse/sparse.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "engine/backward/grad.h"
#include "engine/backward/hooks.h"
#include "engine/run/builtin_ops.h"
#include "engine/tape/record_hooks.h"

int mxl_accumulate_prepare(mxl_visit *walk, const mxl_backward_args *args)
{
    walk->only_wanted = args->num_variables > 0;
    if (!walk->only_wanted)
        return 0;
    walk->asked = mxl_alloc((size_t)args->num_variables * sizeof(*walk->asked));
    if (walk->asked == NULL)
        return -1;
    walk->num_asked = (size_t)args->num_variables;
    for (int i = 0; i < args->num_variables; i++) {
        bool given = args->variables == NULL;
        mxl_edge edge = given ? args->wanted[i] : mxl_array_edge(args->variables[i]);
        mxl_task *task;

        if (edge.target == NULL)
            return mxl_error("backward: variable %d is not in a recorded graph and has no gradient "
                             "attached",
                             i);
        task = mxl_visit_task(walk, edge);
        if (!given)
            mxl_ref_release(edge.target); /* the task keeps it */
        if (task == NULL)
            return -1;
        walk->asked[i] = edge;
        task->wanted = true;
        task->needed = true;
    }
    return 0;
}

static int check_buffer(mxl_array *variable)
{
    mxl_leaf *leaf = mxl_array_leaf(variable);
    mxl_array *grad;
    int status = 0;

    mxl_leaf_lock(leaf);
    grad = leaf->grad;
    if (grad != NULL && (grad->storage == NULL || grad->dtype != variable->dtype ||
                         !mxl_array_same_shape(grad, variable)))
        status =
            mxl_error("backward: the gradient buffer of a variable of shape %s has shape %s, or "
                      "another dtype",
                      MXL_SHAPE_OF(variable), MXL_SHAPE_OF(grad));
    if (status == 0 && grad != NULL && mxl_array_check_writable(grad) != 0)
        status = mxl_error_prefix("backward: a gradient buffer");
    mxl_leaf_unlock(leaf);
    return status;
}

int mxl_accumulate_check(const mxl_visit *walk, const mxl_backward_args *args)
{
    bool any = args->num_variables > 0 || args->dialect->new_grads;

    for (int i = 0; i < args->num_variables; i++) {
        mxl_task *task = mxl_visit_find(walk, walk->asked[i]);

        if (!task->visited && !args->allow_unreachable)
            return mxl_error("backward: variable %d is not reached from the heads", i);
    }
    for (size_t i = 0; i < walk->num_tasks && args->grads == NULL; i++) {
        const mxl_task *task = walk->tasks[i];

        if (task->variable == NULL || !task->needed)
            continue;
        any = true;
        if (check_buffer(task->variable) != 0)
            return -1;
    }
    if (!any)
        return mxl_error("backward: nothing that the heads were computed from wants a gradient");
    return 0;
}

/* ---- results ---- */

/* The gradient that arrived in a slot, or zeros like `array`; borrowed from the slot. */
static mxl_array *slot_value(mxl_array **slot, mxl_array *array, mxl_mode mode)
{
    const mxl_builtin_ops *builtin = mxl_builtin_ops_get();

    mode.record = false;
    if (*slot == NULL &&
        (builtin == NULL || mxl_invoke(builtin->zeros_like, NULL, 1, &array, 1, slot, mode) != 0))
        return NULL;
    return *slot;
}

/* The axes of a dense array in the order of its memory, the innermost first; false where elements
 * do not fill their memory. */
static bool order_of(const mxl_array *array, int *order)
{
    int64_t run = 1;

    for (int i = 0; i < array->ndim; i++) {
        int at = i;

        for (; at > 0 && array->strides[order[at - 1]] > array->strides[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (int i = 0; i < array->ndim; i++) {
        if (array->shape[order[i]] > 1 && array->strides[order[i]] != run)
            return false;
        run *= array->shape[order[i]];
    }
    return true;
}

/* PyTorch's gradients lie in memory as their variables do: whether this one would not, and how. */
static bool lies_otherwise(const mxl_array *value, const mxl_array *variable, mxl_mode mode,
                           int *order)
{
    bool same = true;

    if (!mode.dialect->new_grads || mode.record || (value->contiguous && variable->contiguous) ||
        !mxl_array_same_shape(value, variable))
        return false;
    for (int i = 0; i < value->ndim && same; i++) {
        if (value->shape[i] > 1 && value->strides[i] != variable->strides[i])
            same = false;
    }
    return !same && mxl_array_is_dense(value) && mxl_array_is_dense(variable) &&
           order_of(variable, order);
}

static mxl_array *relaid(const mxl_array *value, const int *order)
{
    mxl_array *made = mxl_array_new(value->dtype, value->ndim, value->shape);

    if (made == NULL)
        return NULL;
    mxl_array_lay(made, order);
    if (mxl_array_copy_into(made, value) == 0)
        return made;
    mxl_array_release(made);
    return NULL;
}

/* A new array with the slot's value, which shares no memory with a gradient of a root or a saved
 * tensor. */
static mxl_array *own_value(mxl_array **slot, mxl_array *array, mxl_mode mode)
{
    const mxl_builtin_ops *builtin = mxl_builtin_ops_get();
    mxl_array *value = slot_value(slot, array, mode), *copy = NULL;
    int order[MXL_MAX_NDIM];

    if (value == NULL || builtin == NULL)
        return NULL;
    if (lies_otherwise(value, array, mode, order)) {
        copy = relaid(value, order);
        if (copy == NULL)
            return NULL;
    } else if (!(mode.record && mode.dialect->new_grads) && mxl_array_is_unique(value) &&
               value->contiguous && mxl_array_leaf(value) == NULL) {
        mxl_array_retain(value);
        copy = value;
    } else if (mxl_invoke(builtin->copy, NULL, 1, &value, 1, &copy, mode) != 0) {
        return NULL;
    }
    copy->device = mxl_device_of_results(array->device);
    return copy;
}

/* Whether the bytes that arrived can become the buffer's: nothing else refers to them, and both are
 * whole storages. */
static bool hand_over(mxl_array *buffer, mxl_array *value)
{
    if (!mxl_array_is_dense(buffer) || !mxl_array_is_dense(value) || !buffer->contiguous ||
        !value->contiguous || buffer->offset != 0 || value->offset != 0 ||
        !mxl_array_is_unique(value) || value->storage->bytes != buffer->storage->bytes ||
        value->dtype != buffer->dtype || value->size != buffer->size)
        return false;
    (void)mxl_array_read(value);
    if (!mxl_remake_exchange(buffer->storage, value->storage))
        return false;
    mxl_storage_bump(buffer->storage);
    return true;
}

/* Puts the value into the buffer. Under create_graph the buffer is attached to the value's edge;
 * the caller gets the reference to the target of the buffer's old edge. */
static int fill_buffer(mxl_array *buffer, mxl_array *value, bool record, mxl_ref **old)
{
    mxl_edge edge = {NULL, 0};
    bool moves = !record && mxl_array_is_sparse(value) && mxl_array_is_unique(value);

    if (!(!record && hand_over(buffer, value)) &&
        (moves ? mxl_sparse_move_into(buffer, value) : mxl_array_copy_into(buffer, value)) != 0)
        return -1;
    if (record)
        edge = mxl_array_edge(value);
    *old = mxl_array_swap_edge(buffer, edge);
    mxl_ref_release(edge.target); /* the value keeps it too */
    return 0;
}

/* buffer + value as a new array. A buffer that was edited since it was recorded is a constant: its
 * owner has set it anew. */
static mxl_array *recorded_sum(mxl_array *buffer, mxl_array *value, mxl_mode mode)
{
    const mxl_builtin_ops *builtin = mxl_builtin_ops_get();
    bool edited = mxl_array_edge_version(buffer) != mxl_storage_version(buffer->storage);
    mxl_array *pair[2] = {edited ? mxl_array_alias(buffer) : buffer, value}, *sum = NULL;

    if (builtin != NULL && pair[0] != NULL)
        (void)mxl_invoke(mxl_builtin_sum(builtin, value->dtype), NULL, 2, pair, 1, &sum, mode);
    if (edited)
        mxl_array_release(pair[0]);
    return sum;
}

static int add_to_buffer(mxl_array *buffer, mxl_task *task, mxl_mode mode, mxl_ref **old)
{
    const mxl_builtin_ops *builtin = mxl_builtin_ops_get();
    mxl_array *pair[2] = {buffer, task->grads[0]};
    mxl_edge nowhere = {NULL, 0};

    if (!mode.record) {
        if (builtin == NULL || mxl_invoke(mxl_builtin_sum(builtin, buffer->dtype), NULL, 2, pair, 1,
                                          &pair[0], mode) != 0)
            return -1;
        *old = mxl_array_swap_edge(buffer, nowhere);
        return 0;
    }
    if (task->grads[1] == NULL || task->version != mxl_storage_version(buffer->storage)) {
        /* Another thread has added meanwhile. */
        mxl_array *sum = recorded_sum(buffer, task->grads[0], mode);

        if (sum == NULL)
            return -1;
        mxl_array_release(task->grads[1]);
        task->grads[1] = sum;
    }
    return fill_buffer(buffer, task->grads[1], true, old);
}

/* The gradient has the variable's shape, unless that was changed in place since it was recorded. */
static int check_arrived(const mxl_array *value, const mxl_array *variable)
{
    if (mxl_array_same_shape(value, variable))
        return 0;
    return mxl_error("backward: a gradient of shape %s arrived at a variable of shape %s, whose "
                     "shape was changed in place since it was recorded",
                     MXL_SHAPE_OF(value), MXL_SHAPE_OF(variable));
}

/* Makes everything that needs memory, so that a failure finds no variable's gradient changed. */
static int ready_leaf(mxl_task *task, mxl_mode mode)
{
    mxl_array *variable = task->variable, *buffer, *own;
    mxl_leaf *leaf = mxl_array_leaf(variable);
    int status = 0;

    mxl_leaf_lock(leaf);
    buffer = leaf->grad;
    if (buffer != NULL)
        mxl_array_retain(buffer);
    mxl_leaf_unlock(leaf);
    if (slot_value(&task->grads[0], variable, mode) == NULL ||
        check_arrived(task->grads[0], variable) != 0) {
        status = -1;
    } else if (buffer == NULL) {
        own = own_value(&task->grads[0], variable, mode);
        status = own == NULL ? -1 : 0;
        if (own != NULL) {
            mxl_array_release(task->grads[0]);
            task->grads[0] = own;
            task->own = true;
        }
    } else if (leaf->req == MXL_GRAD_ADD && mode.record) {
        mxl_leaf_lock(leaf); /* other threads add to the buffer */
        task->version = mxl_storage_version(buffer->storage);
        task->grads[1] = recorded_sum(buffer, task->grads[0], mode);
        mxl_leaf_unlock(leaf);
        status = task->grads[1] == NULL ? -1 : 0;
    }
    mxl_array_release(buffer);
    return status;
}

/* The recorded sum replaces the gradient, whose reference goes to *old. */
static int replace_buffer(mxl_leaf *leaf, mxl_task *task, mxl_mode mode, mxl_ref **old)
{
    if (task->grads[1] == NULL || task->version != mxl_storage_version(leaf->grad->storage)) {
        /* Another thread has added meanwhile. */
        mxl_array *sum = recorded_sum(leaf->grad, task->grads[0], mode);

        if (sum == NULL)
            return -1;
        mxl_array_release(task->grads[1]);
        task->grads[1] = sum;
    }
    *old = &leaf->grad->ref;
    leaf->grad = task->grads[1];
    task->grads[1] = NULL;
    return 0;
}

static int fill_leaf(mxl_task *task, mxl_mode mode)
{
    mxl_leaf *leaf = mxl_array_leaf(task->variable);
    mxl_ref *old = NULL; /* dropped without the lock: that may call a caller's function */
    int status = 0;

    mxl_leaf_lock(leaf);
    if (leaf->req == MXL_GRAD_NULL) {
        /* A callback on the way has ended the variable: it wants nothing any more. */
        mxl_leaf_unlock(leaf);
        return 0;
    }
    if (leaf->grad == NULL && task->own) {
        leaf->grad = task->grads[0];
        task->grads[0] = NULL;
    } else if (leaf->grad == NULL) {
        /* Another thread has taken the buffer away meanwhile. */
        leaf->grad = own_value(&task->grads[0], task->variable, mode);
        status = leaf->grad == NULL ? -1 : 0;
    } else if (leaf->req == MXL_GRAD_ADD && mode.record && mode.dialect->new_grads) {
        status = replace_buffer(leaf, task, mode, &old);
    } else if (leaf->req == MXL_GRAD_ADD) {
        status = add_to_buffer(leaf->grad, task, mode, &old);
    } else {
        status = fill_buffer(leaf->grad, task->grads[0], mode.record, &old);
    }
    if (status == 0)
        leaf->fresh = true;
    mxl_leaf_unlock(leaf);
    mxl_ref_release(old);
    return status;
}

/* ---- derivatives that vanish ---- */

/* dg = dy; nothing for x. */
static int gradient_of_grad(mxl_grad *g)
{
    return mxl_grad_set(g, 0, g->grad_output[0]);
}

/* Outside the registry: it is never called by name. */
static const mxl_op op_gradient_of = {.name = "_mxl_gradient_of", .grad = gradient_of_grad};

/* Whether recorded gradients lead to their variables even where they do not depend on them:
 * derivatives are then zeros and no error. False for PyTorch's front end, and where a caller's
 * function or hook gave constants. */
static bool leads_back(const mxl_visit *walk, mxl_mode mode)
{
    bool leads = mode.record && !mode.dialect->new_grads;

    for (size_t i = 0; i < walk->num_tasks && leads; i++)
        leads = !walk->tasks[i]->constant;
    return leads;
}

static int lead_back(mxl_array *grad, mxl_array *variable, mxl_mode mode)
{
    mxl_array *in[2] = {grad, variable};
    mxl_call call = {.op = &op_gradient_of,
                     .num_inputs = 2,
                     .num_outputs = 1,
                     .in = in,
                     .out = &grad,
                     .training = mode.training};
    mxl_node *node;
    mxl_edge edge;

    if (!mxl_tape_recorded(variable, mode.dialect))
        return 0;
    node = mxl_node_new(&call, mode.dialect);
    if (node == NULL)
        return -1;
    edge = (mxl_edge){&node->ref, 0};
    mxl_array_set_edge(grad, edge);
    mxl_ref_release(&node->ref);
    return 0;
}

/* The gradient of a variable that was asked for, as the caller gets it; new. */
static mxl_array *asked_value(mxl_array **slot, mxl_array *variable, bool leads, mxl_mode mode)
{
    mxl_array *value = own_value(slot, variable, mode);

    if (value == NULL || !leads || lead_back(value, variable, mode) == 0)
        return value;
    mxl_array_release(value);
    return NULL;
}

static int return_grads(mxl_visit *walk, const mxl_backward_args *args, mxl_mode mode)
{
    bool leads = leads_back(walk, mode);

    for (int i = 0; i < args->num_variables; i++)
        args->grads[i] = NULL;
    for (int i = 0; i < args->num_variables; i++) {
        mxl_edge edge = walk->asked[i];
        mxl_task *task = mxl_visit_find(walk, edge);
        int slot = mxl_edge_slot(edge);

        if (args->as_arrived) {
            args->grads[i] = task->grads[slot];
            if (args->grads[i] != NULL)
                mxl_array_retain(args->grads[i]);
            continue;
        }
        args->grads[i] = asked_value(&task->grads[slot], args->variables[i], leads, mode);
        if (args->grads[i] != NULL)
            continue;
        while (--i >= 0) {
            mxl_array_release(args->grads[i]);
            args->grads[i] = NULL;
        }
        return -1;
    }
    return 0;
}

/* Whether the end of the backward writes this task's gradient. Of a dialect that replaces
 * gradients, one that nothing reached stays. */
static bool to_store(const mxl_task *task, mxl_mode mode)
{
    return task->variable != NULL && task->needed && !task->stored &&
           (task->grads[0] != NULL || !mode.dialect->new_grads);
}

/* Writes the gradients into their buffers: all, or on failure none. Record hooks are paused, as
 * variables are locked meanwhile. */
static int store(mxl_task *const *tasks, size_t count, mxl_mode mode)
{
    bool paused = mxl_record_hook_pause();
    int status = 0;

    for (size_t i = 0; i < count && status == 0; i++) {
        if (to_store(tasks[i], mode))
            status = ready_leaf(tasks[i], mode);
    }
    for (size_t i = 0; i < count && status == 0; i++) {
        if (to_store(tasks[i], mode))
            status = fill_leaf(tasks[i], mode);
    }
    mxl_record_hook_resume(paused);
    return status;
}

/* Whether the buffer is large, will be replaced, and is all that refers to its bytes. */
static bool held_replaces(const mxl_leaf *leaf)
{
    return leaf->req == MXL_GRAD_WRITE && leaf->grad != NULL && mxl_array_is_dense(leaf->grad) &&
           leaf->grad->storage->bytes >= MXL_OWN_BLOCK &&
           mxl_ref_is_unique(&leaf->grad->storage->ref);
}

void mxl_accumulate_let_go(const mxl_visit *walk)
{
    for (size_t i = 0; i < walk->num_tasks; i++) {
        const mxl_task *task = walk->tasks[i];
        mxl_leaf *leaf = task->variable == NULL ? NULL : mxl_array_leaf(task->variable);

        if (leaf == NULL || !task->needed || task->hooked)
            continue;
        mxl_leaf_lock(leaf);
        if (held_replaces(leaf) && mxl_remake_zeros_later(leaf->grad->storage))
            mxl_storage_bump(leaf->grad->storage);
        mxl_leaf_unlock(leaf);
    }
}

int mxl_accumulate_early(mxl_task *task, mxl_mode mode)
{
    mxl_leaf *leaf = mxl_array_leaf(task->variable);
    bool replaces;

    if (task->grads[0] == NULL || !task->needed || task->stored)
        return 0;
    mxl_leaf_lock(leaf);
    replaces = held_replaces(leaf) && mxl_array_same_shape(task->grads[0], leaf->grad);
    mxl_leaf_unlock(leaf);
    if (!replaces)
        return 0;
    if (store(&task, 1, mode) != 0)
        return -1;
    task->stored = true;
    mxl_array_release(task->grads[0]);
    task->grads[0] = NULL;
    return 0;
}

static int store_hooked(mxl_task *task, const mxl_hooked *hooked)
{
    mxl_array *variable = task->variable, *head = NULL;
    int status;

    if (mxl_hooks_before(hooked, task->grads) != 0)
        return -1;
    if (task->grads[0] == NULL) {
        task->stored = true;
        return 0;
    }
    if (mxl_hook_store_has(hooked->store, MXL_HOOK_AFTER)) {
        head = task->grads[0];
        mxl_array_retain(head);
    }
    status = store(&task, 1, hooked->mode);
    task->stored = true;
    if (status == 0)
        status = mxl_hooks_accumulated(hooked, variable);
    if (status == 0 && head != NULL)
        status = mxl_hooks_after(hooked, 0, NULL, NULL, NULL, &head);
    mxl_array_release(head);
    return status;
}

int mxl_accumulate_hooked(mxl_task *task, const mxl_backward_args *args, mxl_mode mode)
{
    mxl_array *variable = task->variable;
    mxl_meta meta = mxl_array_meta(variable);
    mxl_hooked hooked = {.store = mxl_hook_store_get(&mxl_array_leaf(variable)->store),
                         .name = "a variable",
                         .count = 1,
                         .meta = &meta,
                         .mode = mode,
                         .constant = &task->constant};

    if (task->done || task->grads[0] == NULL)
        return 0;
    task->done = true;
    if (mxl_hooks_array(&hooked, task->grads) != 0)
        return -1;
    if (args->grads != NULL || !(mxl_hook_store_has(hooked.store, MXL_HOOK_BEFORE) ||
                                 mxl_hook_store_has(hooked.store, MXL_HOOK_AFTER) ||
                                 mxl_hook_store_has(hooked.store, MXL_HOOK_ACCUMULATED)))
        return 0;
    return store_hooked(task, &hooked);
}

int mxl_accumulate(mxl_visit *walk, const mxl_backward_args *args, mxl_mode mode)
{
    if (args->grads != NULL)
        return return_grads(walk, args, mode);
    return store(walk->tasks, walk->num_tasks, mode);
}
