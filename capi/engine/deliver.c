/* Writes, adds or returns the gradients of variables when all of them are known. */
#include "engine/deliver.h"

#include "array/copy.h"
#include "base/error.h"
#include "engine/known.h"

int mxl_deliver_prepare(mxl_walk *walk, const mxl_backward_args *args)
{
    walk->only_wanted = args->num_variables > 0;
    for (int i = 0; i < args->num_variables; i++) {
        mxl_place place = mxl_array_place(args->variables[i]);
        mxl_task *task;

        if (place.target == NULL)
            return mxl_error("backward: variable %d is not in a recorded graph and has no gradient "
                             "attached",
                             i);
        task = mxl_walk_task(walk, place);
        if (task == NULL)
            return -1;
        task->wanted = true;
        task->needed = true;
    }
    return 0;
}

static int check_buffer(mxl_array *variable)
{
    mxl_array *grad;
    char have[128], want[128];
    int status = 0;

    mxl_leaf_lock(variable->leaf);
    grad = variable->leaf->grad;
    if (grad != NULL && (grad->storage == NULL || grad->dtype != variable->dtype ||
                         !mxl_array_same_shape(grad, variable)))
        status = mxl_error("backward: the gradient buffer of a variable of shape %s has shape %s, or "
                         "another dtype",
                         mxl_shape_text(want, sizeof(want), variable->ndim, variable->shape),
                         mxl_shape_text(have, sizeof(have), grad->ndim, grad->shape));
    mxl_leaf_unlock(variable->leaf);
    return status;
}

int mxl_deliver_check(const mxl_walk *walk, const mxl_backward_args *args)
{
    bool any = args->num_variables > 0;

    for (int i = 0; i < args->num_variables; i++) {
        mxl_task *task = mxl_walk_find(walk, mxl_array_place(args->variables[i]));

        if (!task->visited)
            return mxl_error("backward: variable %d is not reached from the heads", i);
    }
    for (size_t i = 0; i < walk->num_tasks && args->num_variables == 0; i++) {
        const mxl_task *task = walk->tasks[i];

        if (!task->is_leaf || !task->needed)
            continue;
        any = true;
        if (check_buffer((mxl_array *)task->target) != 0)
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
    const mxl_known *known = mxl_known_get();

    mode.record = false;
    if (*slot == NULL && (known == NULL || mxl_invoke(known->zeros_like, NULL, 1, &array, 1, slot,
                                                      mode) != 0))
        return NULL;
    return *slot;
}

/* An array of its own with the slot's value: nobody's head gradient or saved value; new. */
static mxl_array *own_value(mxl_array **slot, mxl_array *array, mxl_mode mode)
{
    const mxl_known *known = mxl_known_get();
    mxl_array *value = slot_value(slot, array, mode), *copy = NULL;

    if (value == NULL || known == NULL)
        return NULL;
    if (mxl_array_alone(value) && value->contiguous && value->leaf == NULL) {
        mxl_array_keep(value);
        return value;
    }
    return mxl_invoke(known->copy, NULL, 1, &value, 1, &copy, mode) == 0 ? copy : NULL;
}

/* Puts the value into the buffer; under create_graph the buffer stands where the value stood. */
static int fill_buffer(mxl_array *buffer, mxl_array *value, bool record)
{
    mxl_place nowhere = {NULL, 0};

    if (mxl_array_copy_into(buffer, value) != 0)
        return -1;
    mxl_array_set_place(buffer, record ? mxl_array_place(value) : nowhere);
    return 0;
}

static int add_to_buffer(mxl_array *buffer, mxl_array *value, mxl_mode mode)
{
    const mxl_known *known = mxl_known_get();
    mxl_array *pair[2] = {buffer, value}, *sum = mode.record ? NULL : buffer;
    int status;

    if (known == NULL || mxl_invoke(known->add, NULL, 2, pair, 1, &sum, mode) != 0)
        return -1;
    if (!mode.record)
        return 0;
    status = fill_buffer(buffer, sum, true);
    mxl_array_drop(sum);
    return status;
}

static int fill_leaf(mxl_task *task, mxl_mode mode)
{
    mxl_array *variable = (mxl_array *)task->target;
    mxl_leaf *leaf = variable->leaf;
    int status = 0;

    if (slot_value(&task->grads[0], variable, mode) == NULL)
        return -1;
    mxl_leaf_lock(leaf);
    if (leaf->grad == NULL) {
        leaf->grad = own_value(&task->grads[0], variable, mode);
        status = leaf->grad == NULL ? -1 : 0;
    } else if (leaf->req == MXL_GRAD_ADD) {
        status = add_to_buffer(leaf->grad, task->grads[0], mode);
    } else {
        status = fill_buffer(leaf->grad, task->grads[0], mode.record);
    }
    if (status == 0)
        leaf->fresh = true;
    mxl_leaf_unlock(leaf);
    return status;
}

static int return_grads(mxl_walk *walk, const mxl_backward_args *args, mxl_mode mode)
{
    for (int i = 0; i < args->num_variables; i++)
        args->grads[i] = NULL;
    for (int i = 0; i < args->num_variables; i++) {
        mxl_place place = mxl_array_place(args->variables[i]);
        mxl_task *task = mxl_walk_find(walk, place);
        int slot = place.output == MXL_PLACE_LEAF ? 0 : place.output;

        args->grads[i] = own_value(&task->grads[slot], args->variables[i], mode);
        if (args->grads[i] != NULL)
            continue;
        while (--i >= 0) {
            mxl_array_drop(args->grads[i]);
            args->grads[i] = NULL;
        }
        return -1;
    }
    return 0;
}

int mxl_deliver(mxl_walk *walk, const mxl_backward_args *args, mxl_mode mode)
{
    if (args->num_variables > 0)
        return return_grads(walk, args, mode);
    for (size_t i = 0; i < walk->num_tasks; i++) {
        mxl_task *task = walk->tasks[i];

        if (task->is_leaf && task->needed && fill_leaf(task, mode) != 0)
            return -1;
    }
    return 0;
}
