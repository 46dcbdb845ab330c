/* Backward: seed the heads, run the nodes latest first, deliver to the variables. */
#include "engine/backward.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/state.h"
#include "engine/anomaly.h"
#include "engine/callback.h"
#include "engine/deep.h"
#include "engine/deliver.h"
#include "engine/grad.h"
#include "engine/hooks.h"
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

/* What the hooks of a node that runs get to see. */
static mxl_hooked hooked_node(mxl_node *node, mxl_mode mode)
{
    return (mxl_hooked){.extra = mxl_extra_get(&node->extra),
                        .name = node->op->name,
                        .count = node->num_outputs,
                        .meta = node->out_meta,
                        .mode = mode};
}

static int hooks_after(mxl_node *node, mxl_mode mode, mxl_array **set, mxl_array *const *heads)
{
    mxl_hooked hooked = hooked_node(node, mode);
    int count = mxl_node_num_slots(node), status;
    int *slots;

    if (!mxl_extra_has(hooked.extra, MXL_HOOK_AFTER))
        return 0;
    slots = mxl_alloc(((size_t)count + 1) * sizeof(int));
    if (slots == NULL)
        return -1;
    for (int i = 0; i < count; i++)
        slots[i] = mxl_node_slot(node, i);
    status = mxl_hooks_after(&hooked, count, slots, node->in_meta, set, heads);
    mxl_free(slots, ((size_t)count + 1) * sizeof(int));
    return status;
}

/* Edges of a node that has run have nothing to bring any more: variables that wait for no others
 * are worked off. */
static int settle(mxl_walk *walk, const mxl_node *node, const mxl_backward_args *args,
                  mxl_mode mode)
{
    int status = 0;

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < node->num_inputs && status == 0; i++) {
            mxl_task *to = node->edges[i].output != MXL_PLACE_LEAF || node->edges[i].target == NULL
                               ? NULL
                               : mxl_walk_find(walk, node->edges[i]);

            if (to == NULL || !to->hooked || !to->needed)
                continue;
            if (round == 0)
                to->pending--;
            else if (to->pending == 0)
                status = mxl_deliver_hooked(to, args, mode);
        }
    }
    return status;
}

/* Runs the rule of a node whose gradients have all arrived, and passes its results on. */
static int run_rule(mxl_walk *walk, mxl_task *task, const mxl_backward_args *args, mxl_mode mode,
                    mxl_array **heads, bool *wants, mxl_array **set)
{
    mxl_node *node = (mxl_node *)task->target;
    mxl_scope scope;
    mxl_grad g = {.s = &scope,
                  .op = node->op,
                  .params = node->params,
                  .num_inputs = node->num_inputs,
                  .num_outputs = node->num_outputs,
                  .head = heads,
                  .spends = heads == task->grads && !mode.record,
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
    mxl_scope_begin(&scope, mode);
    status = any ? mxl_grad_run(&g) : 0;
    mxl_scope_end(&scope);
    if (status == 0 && walk->anomaly != 0)
        status = mxl_anomaly_check(node, set, walk->anomaly);
    if (status == 0 && mxl_extra_get(&node->extra) != NULL)
        status = hooks_after(node, mode, set, heads);
    for (int i = 0; i < node->num_inputs; i++) {
        if (set[i] != NULL && status == 0)
            status = flow(walk, node->edges[i], set[i], mode);
        else
            mxl_array_drop(set[i]);
    }
    if (status == 0 && walk->hooked)
        status = settle(walk, node, args, mode);
    return status;
}

/* Runs a node on `heads`, which are its task's gradients or copies of them. */
static int run_on(mxl_walk *walk, mxl_task *task, const mxl_backward_args *args, mxl_mode mode,
                  mxl_array **heads)
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
    status = run_rule(walk, task, args, mode, heads, wants, set);
    if (set != set_room)
        mxl_free(set, bytes);
    return status;
}

/* Whether anything that the node leads to is needed. */
static bool leads_on(const mxl_walk *walk, const mxl_node *node)
{
    for (int i = 0; i < node->num_inputs; i++) {
        mxl_task *to = node->edges[i].target == NULL ? NULL : mxl_walk_find(walk, node->edges[i]);

        if (to != NULL && to->needed)
            return true;
    }
    return false;
}

/* A node with hooks, or of which a gradient is asked for: that one is what the hooks on arrays
 * leave, and neither the hooks before the node nor its rule change it. */
static int run_watched(mxl_walk *walk, mxl_task *task, const mxl_backward_args *args, mxl_mode mode)
{
    mxl_node *node = (mxl_node *)task->target;
    mxl_hooked hooked = hooked_node(node, mode);
    size_t bytes = (size_t)task->count * sizeof(mxl_array *);
    mxl_array **heads;
    int status;

    if (mxl_hooks_array(&hooked, task->grads) != 0)
        return -1;
    if (task->wanted && args->grads != NULL && !leads_on(walk, node))
        return 0;
    heads = mxl_alloc(bytes);
    if (heads == NULL)
        return -1;
    for (int i = 0; i < task->count; i++) {
        heads[i] = task->grads[i];
        if (heads[i] != NULL)
            mxl_array_keep(heads[i]);
    }
    status = mxl_hooks_before(&hooked, heads);
    if (status == 0)
        status = run_on(walk, task, args, mode, heads);
    for (int i = 0; i < task->count; i++)
        mxl_array_drop(heads[i]);
    mxl_free(heads, bytes);
    return status;
}

static int run_node(mxl_walk *walk, mxl_task *task, const mxl_backward_args *args, mxl_mode mode)
{
    if (task->wanted || mxl_extra_get(&((mxl_node *)task->target)->extra) != NULL)
        return run_watched(walk, task, args, mode);
    return run_on(walk, task, args, mode, task->grads);
}

/* Runs all nodes, the latest recorded first: a node's gradients come from later nodes only. */
static int run_nodes(mxl_walk *walk, const mxl_backward_args *args, mxl_mode mode)
{
    mxl_task *task;

    while ((task = mxl_walk_pop(walk)) != NULL) {
        if (run_node(walk, task, args, mode) != 0) {
            if (walk->anomaly != 0)
                mxl_anomaly_keep((mxl_node *)task->target);
            return -1;
        }
        if (!args->retain_graph && !walk->keep_all)
            mxl_node_release_saved((mxl_node *)task->target);
        for (int i = 0; i < task->count && !task->wanted; i++) {
            mxl_array_drop(task->grads[i]);
            task->grads[i] = NULL;
        }
    }
    /* Variables with hooks of which a gradient was held back on the way. */
    for (size_t i = 0; i < walk->num_tasks && walk->hooked; i++) {
        task = walk->tasks[i];
        if (task->hooked && task->needed && mxl_deliver_hooked(task, args, mode) != 0)
            return -1;
    }
    return 0;
}

/* ---- heads ---- */

/* dtype and shape of the gradients that flow to a place. */
static mxl_meta place_meta(mxl_place place)
{
    const mxl_array *array = (const mxl_array *)place.target;

    if (place.output != MXL_PLACE_LEAF)
        return ((const mxl_node *)place.target)->out_meta[place.output];
    return (mxl_meta){array->dtype, array->ndim, array->shape};
}

static int check_head(const mxl_walk *walk, const mxl_backward_args *args, int i)
{
    mxl_array *grad = args->head_grads == NULL ? NULL : args->head_grads[i];
    char have[128], want[128];
    mxl_meta meta;

    if (walk->heads[i].target == NULL)
        return mxl_error("backward: head %d is not in a recorded graph: compute it inside "
                         "autograd.record() from an array with a gradient attached",
                         i);
    if (grad == NULL)
        return 0;
    meta = place_meta(walk->heads[i]);
    if (grad->storage == NULL || !mxl_shape_same(grad->ndim, grad->shape, meta.ndim, meta.shape))
        return mxl_error("backward: head gradient %d has shape %s, head %d has %s", i,
                         mxl_shape_text(have, sizeof(have), grad->ndim, grad->shape), i,
                         mxl_shape_text(want, sizeof(want), meta.ndim, meta.shape));
    if (grad->dtype != meta.dtype)
        return mxl_error("backward: head gradient %d is %s, head %d is %s", i,
                         mxl_dtype_name(grad->dtype), i, mxl_dtype_name(meta.dtype));
    return 0;
}

/* Ones for a head without a gradient; new. */
static mxl_array *ones_for(const mxl_walk *walk, const mxl_backward_args *args, int i,
                           mxl_mode mode)
{
    const mxl_known *known = mxl_known_get();
    mxl_meta meta = place_meta(walk->heads[i]);
    mxl_array *like, *ones = NULL;

    if (args->heads != NULL) {
        like = args->heads[i];
        mxl_array_keep(like);
    } else {
        like = mxl_array_new(meta.dtype, meta.ndim, meta.shape);
    }
    mode.record = false;
    if (known != NULL && like != NULL)
        (void)mxl_invoke(known->ones_like, NULL, 1, &like, 1, &ones, mode);
    mxl_array_drop(like);
    return ones;
}

static int seed_head(mxl_walk *walk, const mxl_backward_args *args, int i, mxl_mode mode)
{
    mxl_array *grad = args->head_grads == NULL ? NULL : args->head_grads[i];
    mxl_task *task = mxl_walk_find(walk, walk->heads[i]);

    if (grad != NULL)
        mxl_array_keep(grad);
    else
        grad = ones_for(walk, args, i, mode);
    if (grad == NULL || flow(walk, walk->heads[i], grad, mode) != 0)
        return -1;
    /* A head may be a variable itself. */
    if (task->hooked && task->needed && --task->pending == 0)
        return mxl_deliver_hooked(task, args, mode);
    return 0;
}

/* Where the heads stand, their targets kept. */
static int seed_places(mxl_walk *walk, const mxl_backward_args *args)
{
    walk->heads = mxl_alloc((size_t)args->num_heads * sizeof(*walk->heads));
    if (walk->heads == NULL)
        return -1;
    walk->num_heads = (size_t)args->num_heads;
    for (int i = 0; i < args->num_heads; i++) {
        if (args->heads != NULL) {
            walk->heads[i] = mxl_array_place(args->heads[i]);
            continue;
        }
        walk->heads[i] = args->roots[i];
        if (walk->heads[i].target != NULL)
            mxl_ref_keep(walk->heads[i].target);
    }
    for (int i = 0; i < args->num_heads; i++) {
        if (check_head(walk, args, i) != 0)
            return -1;
    }
    return 0;
}

static int seed(mxl_walk *walk, const mxl_backward_args *args, mxl_mode mode)
{
    if (seed_places(walk, args) != 0 || mxl_deliver_prepare(walk, args) != 0)
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

static int run(const mxl_backward_args *args, mxl_mode mode)
{
    mxl_walk walk = {.all_or_none = args->dialect->released_is_constant,
                     .anomaly = mxl_state_get()->anomaly};
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

/* ---- backwards of one thread, one inside the other ---- */

typedef struct running {
    struct running *outer;
    int depth;
    bool only_some;
    mxl_queued *queue;
    size_t num_queue, room_queue;
} running;

static _Thread_local running *innermost MXL_TLS_FAST;

int mxl_backward_state(void)
{
    return innermost == NULL ? 0 : innermost->only_some ? 2 : 1;
}

int mxl_backward_queue(const mxl_queued *queued)
{
    running *here = innermost;

    if (here == NULL)
        return mxl_error("no backward is running on this thread");
    if (here->num_queue == here->room_queue) {
        size_t room = here->room_queue == 0 ? 4 : 2 * here->room_queue;
        mxl_queued *more =
            mxl_realloc(here->queue, here->room_queue * sizeof(*more), room * sizeof(*more));

        if (more == NULL)
            return -1;
        here->queue = more;
        here->room_queue = room;
    }
    here->queue[here->num_queue++] = *queued;
    return 0;
}

/* Calls what was queued, in order, and what that queues; after a failure it is only released. */
static int run_queue(running *here, mxl_mode mode, int status)
{
    for (size_t i = 0; i < here->num_queue; i++) {
        mxl_queued queued = here->queue[i];

        if (status == 0) {
            mxl_callback before;

            mxl_callback_enter(&before, mode.record, mode.training);
            status = queued.call(queued.payload);
            status = mxl_callback_leave(&before, status != 0, "a callback at the end of backward");
        }
        if (queued.release != NULL)
            queued.release(queued.payload);
    }
    mxl_free(here->queue, here->room_queue * sizeof(*here->queue));
    return status;
}

int mxl_backward(const mxl_backward_args *args)
{
    mxl_mode mode = {.record = args->create_graph,
                     .training = args->training,
                     .legacy_shape = false,
                     .dialect = args->dialect};
    running here = {.outer = innermost,
                    .depth = innermost == NULL ? 1 : innermost->depth + 1,
                    .only_some = args->num_variables > 0};
    int status;

    if (here.depth > MXL_DEEP)
        return mxl_deep_backward(args);
    innermost = &here;
    status = run(args, mode);
    if (here.num_queue > 0) {
        int queued = run_queue(&here, mode, status);

        for (int i = 0;
             i < args->num_variables && args->grads != NULL && status == 0 && queued != 0; i++) {
            mxl_array_drop(args->grads[i]);
            args->grads[i] = NULL;
        }
        status = queued;
    }
    innermost = here.outer;
    return status;
}
