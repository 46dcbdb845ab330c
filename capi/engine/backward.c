/* Backward: seed the heads, run the nodes latest first, deliver to the variables. */
#include "engine/backward.h"

#include "base/error.h"
#include "base/mem.h"
#include "engine/deliver.h"
#include "engine/grad.h"
#include "engine/known.h"
#include "engine/walk.h"

/* Rules with up to this many inputs need no memory for their results. */
enum { RULE_ROOM = 16 };

/* ---- gradients that arrive ---- */

/* Adds `grad` (whose reference the task takes over in every case) to a slot. Adds in place only
 * where nobody else can see the sum so far. */
static int receive(mxl_array **slot, mxl_array *grad, mxl_mode mode)
{
    const mxl_known *known;
    mxl_array *pair[2], *sum = NULL;
    int status;

    if (*slot == NULL) {
        *slot = grad;
        return 0;
    }
    known = mxl_known_get();
    pair[0] = *slot;
    pair[1] = grad;
    if (!mode.record && mxl_array_alone(*slot))
        sum = *slot;
    else if (!mode.record && mxl_array_alone(grad))
        sum = grad;
    if (sum != NULL)
        mxl_array_keep(sum);
    status = known == NULL ? -1 : mxl_invoke(known->add, NULL, 2, pair, 1, &sum, mode);
    if (status == 0) {
        mxl_array_drop(*slot);
        *slot = sum;
    } else {
        mxl_array_drop(sum);
    }
    mxl_array_drop(grad);
    return status;
}

/* Hands a gradient (the caller's reference) to where it flows and makes that ready. */
static int flow(mxl_walk *walk, mxl_place place, mxl_array *grad, mxl_mode mode)
{
    mxl_task *task = mxl_walk_find(walk, place);

    if (task == NULL || !task->needed) {
        mxl_array_drop(grad);
        return 0;
    }
    if (!task->is_leaf && mxl_walk_push(walk, task) != 0) {
        mxl_array_drop(grad);
        return -1;
    }
    return receive(&task->grads[task->is_leaf ? 0 : place.output], grad, mode);
}

/* ---- one node ---- */

/* Runs the rule of a node whose gradients have all arrived, and passes its results on. */
static int run_rule(mxl_walk *walk, mxl_task *task, mxl_mode mode, bool *wants, mxl_array **set)
{
    mxl_node *node = (mxl_node *)task->target;
    mxl_scope scope;
    mxl_grad g = {.s = &scope,
                  .op = node->op,
                  .params = node->params,
                  .num_inputs = node->num_inputs,
                  .num_outputs = node->num_outputs,
                  .head = task->grads,
                  .spends = !task->wanted && !mode.record,
                  .training = node->training,
                  .node = node,
                  .wants = wants,
                  .set = set};
    bool any = false;
    int status;

    for (int i = 0; i < node->num_inputs; i++) {
        mxl_task *to = node->edges[i].target == NULL ? NULL : mxl_walk_find(walk, node->edges[i]);

        wants[i] = to != NULL && to->needed;
        set[i] = NULL;
        any = any || wants[i];
    }
    if (!any)
        return 0;
    mxl_scope_begin(&scope, mode);
    status = mxl_grad_run(&g);
    mxl_scope_end(&scope);
    for (int i = 0; i < node->num_inputs; i++) {
        if (set[i] != NULL && status == 0)
            status = flow(walk, node->edges[i], set[i], mode);
        else
            mxl_array_drop(set[i]);
    }
    return status;
}

static int run_node(mxl_walk *walk, mxl_task *task, mxl_mode mode)
{
    size_t count = (size_t)((mxl_node *)task->target)->num_inputs;
    bool wants_room[RULE_ROOM];
    mxl_array *set_room[RULE_ROOM];
    size_t bytes = count * (sizeof(mxl_array *) + sizeof(bool));
    mxl_array **set = set_room;
    bool *wants = wants_room;
    int status;

    if (count > RULE_ROOM) {
        set = mxl_alloc(bytes);
        if (set == NULL)
            return -1;
        wants = (bool *)(set + count);
    }
    status = run_rule(walk, task, mode, wants, set);
    if (set != set_room)
        mxl_free(set, bytes);
    return status;
}

/* Runs all nodes, the latest recorded first: a node's gradients come from later nodes only. */
static int run_nodes(mxl_walk *walk, const mxl_backward_args *args, mxl_mode mode)
{
    mxl_task *task;

    while ((task = mxl_walk_pop(walk)) != NULL) {
        if (run_node(walk, task, mode) != 0)
            return -1;
        if (!args->retain_graph && !walk->keep_all)
            mxl_node_release_saved((mxl_node *)task->target);
        for (int i = 0; i < task->count && !task->wanted; i++) {
            mxl_array_drop(task->grads[i]);
            task->grads[i] = NULL;
        }
    }
    return 0;
}

/* ---- heads ---- */

static int check_head(const mxl_walk *walk, const mxl_backward_args *args, int i)
{
    mxl_array *head = args->heads[i], *grad = args->head_grads == NULL ? NULL : args->head_grads[i];
    char have[128], want[128];

    if (walk->heads[i].target == NULL)
        return mxl_error("backward: head %d is not in a recorded graph: compute it inside "
                         "autograd.record() from an array with a gradient attached",
                         i);
    if (grad == NULL)
        return 0;
    if (grad->storage == NULL || !mxl_array_same_shape(head, grad))
        return mxl_error("backward: head gradient %d has shape %s, head %d has %s", i,
                         mxl_shape_text(have, sizeof(have), grad->ndim, grad->shape), i,
                         mxl_shape_text(want, sizeof(want), head->ndim, head->shape));
    if (grad->dtype != head->dtype)
        return mxl_error("backward: head gradient %d is %s, head %d is %s", i,
                         mxl_dtype_name(grad->dtype), i, mxl_dtype_name(head->dtype));
    return 0;
}

static int seed_head(mxl_walk *walk, const mxl_backward_args *args, int i, mxl_mode mode)
{
    mxl_array *head = args->heads[i], *grad = args->head_grads == NULL ? NULL : args->head_grads[i];
    mxl_mode silent = mode;

    if (grad != NULL) {
        mxl_array_keep(grad);
    } else {
        const mxl_known *known = mxl_known_get();

        silent.record = false;
        if (known == NULL || mxl_invoke(known->ones_like, NULL, 1, &head, 1, &grad, silent) != 0)
            return -1;
    }
    return flow(walk, walk->heads[i], grad, mode);
}

static int seed(mxl_walk *walk, const mxl_backward_args *args, mxl_mode mode)
{
    walk->heads = mxl_alloc((size_t)args->num_heads * sizeof(*walk->heads));
    if (walk->heads == NULL)
        return -1;
    walk->num_heads = (size_t)args->num_heads;
    for (int i = 0; i < args->num_heads; i++)
        walk->heads[i] = mxl_array_place(args->heads[i]);
    for (int i = 0; i < args->num_heads; i++) {
        if (check_head(walk, args, i) != 0)
            return -1;
    }
    if (mxl_deliver_prepare(walk, args) != 0)
        return -1;
    for (int i = 0; i < args->num_heads; i++) {
        if (mxl_walk_visit(walk, walk->heads[i]) != 0)
            return -1;
    }
    if (mxl_deliver_check(walk, args) != 0)
        return -1;
    for (int i = 0; i < args->num_heads; i++) {
        if (seed_head(walk, args, i, mode) != 0)
            return -1;
    }
    return 0;
}

int mxl_backward(const mxl_backward_args *args)
{
    mxl_mode mode = {.record = args->create_graph,
                     .training = args->training,
                     .legacy_shape = false,
                     .dialect = args->dialect};
    mxl_walk walk = {0};
    int status = seed(&walk, args, mode);

    if (status == 0)
        status = run_nodes(&walk, args, mode);
    if (status == 0)
        status = mxl_deliver(&walk, args, mode);
    for (size_t i = 0; i < walk.num_tasks && status == 0 && !args->retain_graph; i++) {
        if (!walk.tasks[i]->is_leaf)
            mxl_node_release_saved((mxl_node *)walk.tasks[i]->target);
    }
    mxl_walk_clear(&walk);
    return status;
}
