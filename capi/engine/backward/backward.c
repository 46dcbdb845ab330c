/* Backward: seeds the roots, runs the nodes latest first, accumulates into the variables. */
#include "engine/backward/backward.h"

#include <string.h>

#include "array/expression.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "base/profile/profile.h"
#include "base/state.h"
#include "engine/tape/anomaly.h"
#include "engine/backward/reentrant.h"
#include "engine/backward/accumulate.h"
#include "engine/backward/grad.h"
#include "engine/backward/heads.h"
#include "engine/backward/hooks.h"
#include "engine/run/builtin_ops.h"
#include "engine/tape/saved.h"
#include "engine/backward/visit.h"

/* Rules with up to this many inputs need no memory for their results. */
enum { RULE_ROOM = 16 };

/* ---- gradients that arrive ---- */

/* Adds `grad`, whose reference it takes over in every case, to the sum so far; in place only where
 * that is uniquely owned. */
static int add_grad(mxl_array **slot, mxl_array *grad, mxl_mode mode)
{
    const mxl_builtin_ops *builtin = mxl_builtin_ops_get();
    mxl_array *pair[2] = {*slot, grad}, *sum = NULL;
    int status;

    if (mxl_defers(grad->size) || !mxl_array_is_dense(grad) || !mxl_array_is_dense(*slot))
        sum = NULL; /* a deferred sum needs memory of its own, and a sparse one is new */
    else if (!mode.record && mxl_array_is_unique(*slot))
        sum = *slot;
    else if (!mode.record && mxl_array_is_unique(grad))
        sum = grad;
    if (sum != NULL)
        mxl_array_retain(sum);
    status = builtin == NULL
                 ? -1
                 : mxl_invoke(mxl_builtin_sum(builtin, grad->dtype), NULL, 2, pair, 1, &sum, mode);
    if (status == 0) {
        mxl_array_release(*slot);
        *slot = sum;
    } else {
        mxl_array_release(sum);
    }
    mxl_array_release(grad);
    return status;
}

/* One backward while it is under way. */
typedef struct pass {
    mxl_visit walk;
    const mxl_backward_args *args;
    mxl_mode mode;
    bool early; /* gradients go to their variables as soon as they are complete */
} pass;

/* Gives a gradient (the caller's reference) to an edge whose task is needed, and makes a node
 * ready. */
static int flow(pass *p, mxl_task *task, mxl_edge edge, mxl_array *grad)
{
    mxl_array **slot = &task->grads[mxl_edge_slot(edge)];

    if (task->node != NULL && mxl_visit_push(&p->walk, task) != 0) {
        mxl_array_release(grad);
        return -1;
    }
    if (*slot != NULL)
        return add_grad(slot, grad, p->mode);
    *slot = grad;
    return 0;
}

/* ---- one node ---- */

/* The arguments of the hooks of a node that runs. */
static mxl_hooked hooked_node(mxl_task *task, mxl_mode mode)
{
    mxl_node *node = task->node;

    return (mxl_hooked){.store = mxl_hook_store_get(&node->store),
                        .name = node->op->name,
                        .count = node->num_outputs,
                        .meta = node->out_meta,
                        .mode = mode,
                        .constant = &task->constant};
}

static int hooks_after(mxl_task *task, mxl_mode mode, mxl_array **set,
                       mxl_array *const *grad_outputs)
{
    mxl_node *node = task->node;
    mxl_hooked hooked = hooked_node(task, mode);
    int count = mxl_node_num_slots(node), status;
    int *slots;

    if (!mxl_hook_store_has(hooked.store, MXL_HOOK_AFTER))
        return 0;
    slots = mxl_alloc(((size_t)count + 1) * sizeof(int));
    if (slots == NULL)
        return -1;
    for (int i = 0; i < count; i++)
        slots[i] = mxl_node_slot(node, i);
    status = mxl_hooks_after(&hooked, count, slots, node->in_meta, set, grad_outputs);
    mxl_free(slots, ((size_t)count + 1) * sizeof(int));
    return status;
}

/* Counts the edges of a node that has run as done: variables that wait for no other edge are
 * accumulated, those with hooks in any case. */
static int settle(pass *p, const mxl_node *node, mxl_task *const *to)
{
    int status = 0;

    for (int i = 0; i < node->num_inputs; i++) {
        if (to[i] != NULL && to[i]->variable != NULL)
            to[i]->pending--;
    }
    for (int i = 0; i < node->num_inputs && status == 0; i++) {
        if (to[i] == NULL || to[i]->variable == NULL || to[i]->pending > 0)
            continue;
        if (to[i]->hooked)
            status = mxl_accumulate_hooked(to[i], p->args, p->mode);
        else if (p->early)
            status = mxl_accumulate_early(to[i], p->mode);
    }
    return status;
}

/* For each input of a node: the task its gradient flows to (NULL: none), whether it is wanted, and
 * the gradient. */
typedef struct inputs {
    mxl_task **to;
    mxl_array **set;
    bool *wants;
} inputs;

/* Fills `to` and `wants`; whether any is wanted. */
static bool find_inputs(const pass *p, const mxl_node *node, inputs *in)
{
    bool any = false;

    for (int i = 0; i < node->num_inputs; i++) {
        mxl_task *to =
            node->edges[i].target == NULL ? NULL : mxl_visit_find(&p->walk, node->edges[i]);

        in->wants[i] = to != NULL && to->needed;
        in->to[i] = in->wants[i] ? to : NULL;
        in->set[i] = NULL;
        any = any || in->wants[i];
    }
    return any;
}

/* Whether a vjp is to run. Without any grad_output only a caller's function runs, which may still
 * return gradients. */
static bool runs(const mxl_node *node, mxl_array *const *grad_outputs)
{
    if (node->op->forget != NULL)
        return true;
    for (int i = 0; i < node->num_outputs; i++) {
        if (grad_outputs[i] != NULL)
            return true;
    }
    return false;
}

/* Whether the vjp is a caller's function, which may return constants. */
static bool is_callers(const mxl_node *node)
{
    const mxl_node *inner = mxl_node_inner(node);

    return inner != NULL ? inner->payload != NULL : node->payload != NULL;
}

static int run_rule(mxl_grad *g)
{
    mxl_span span;
    int status;

    if (!mxl_profile_runs())
        return mxl_grad_run(g);
    span = mxl_span_begin(true);
    status = mxl_grad_run(g);
    mxl_span_end(&span, "_backward_", g->op->name, status == 0);
    return status;
}

/* Runs the vjp of a node whose gradients have all arrived, and passes its results on. A vjp
 * replaces missing grad_outputs by zeros; hooks after it see `arrived`. */
static int run_vjp(pass *p, mxl_task *task, mxl_array **grad_outputs, mxl_array *const *arrived,
                   inputs *in)
{
    mxl_node *node = task->node;
    bool may_be_constant = p->mode.record && is_callers(node);
    mxl_scope scope;
    mxl_grad g = {.s = &scope,
                  .op = node->op,
                  .params = node->params,
                  .num_inputs = node->num_inputs,
                  .num_outputs = node->num_outputs,
                  .grad_output = grad_outputs,
                  .spends = grad_outputs == task->grads && !p->mode.record,
                  .training = node->training,
                  .node = node,
                  .wants = in->wants,
                  .set = in->set};
    bool leads = find_inputs(p, node, in), arrives = runs(node, grad_outputs);
    int status = 0;

    if (!arrives && leads && node->op->grad_updates && !p->mode.dialect->new_grads) {
        memset(in->wants, 0, (size_t)node->num_inputs * sizeof(*in->wants));
        arrives = true; /* gradients are zero, which needs no computation */
    }
    if (leads && arrives) {
        mxl_scope_begin(&scope, p->mode);
        status = run_rule(&g);
        if (status == 0 && p->mode.dialect->new_grads && node->op->forget == NULL)
            status = mxl_grad_fill(&g);
        mxl_scope_end(&scope);
    }
    if (status == 0 && p->walk.anomaly != 0)
        status = mxl_anomaly_check(node, in->set, p->walk.anomaly);
    if (status == 0 && mxl_hook_store_get(&node->store) != NULL)
        status = hooks_after(task, p->mode, in->set, arrived);
    for (int i = 0; i < node->num_inputs; i++) {
        if (may_be_constant && in->set[i] != NULL &&
            !mxl_tape_recorded(in->set[i], p->mode.dialect))
            task->constant = true;
        if (in->set[i] != NULL && in->to[i] != NULL && status == 0)
            status = flow(p, in->to[i], node->edges[i], in->set[i]);
        else
            mxl_array_release(in->set[i]);
        if (in->set[i] == NULL && in->to[i] != NULL && in->to[i]->node != NULL && status == 0 &&
            (p->walk.updates || p->mode.dialect->new_grads))
            status = mxl_visit_push(&p->walk, in->to[i]); /* it runs, though nothing may arrive */
    }
    return status == 0 && (p->walk.hooked || p->early) ? settle(p, node, in->to) : status;
}

/* Runs a node on `grad_outputs`, which are its task's gradients or copies of them; `arrived`: the
 * same, for hooks. */
static int run_on(pass *p, mxl_task *task, mxl_array **grad_outputs, mxl_array *const *arrived)
{
    size_t count = (size_t)task->node->num_inputs;
    bool wants_room[RULE_ROOM];
    mxl_array *set_room[RULE_ROOM];
    mxl_task *to_room[RULE_ROOM];
    size_t bytes = count * (2 * sizeof(void *) + sizeof(bool));
    inputs in = {to_room, set_room, wants_room};
    int status;

    if (count > RULE_ROOM) {
        in.to = mxl_alloc(bytes);
        if (in.to == NULL)
            return -1;
        in.set = (mxl_array **)(in.to + count);
        in.wants = (bool *)(in.set + count);
    }
    status = run_vjp(p, task, grad_outputs, arrived, &in);
    if (in.to != to_room)
        mxl_free(in.to, bytes);
    return status;
}

/* Whether anything that the node leads to is needed. */
static bool leads_on(const pass *p, const mxl_node *node)
{
    for (int i = 0; i < node->num_inputs; i++) {
        mxl_task *to =
            node->edges[i].target == NULL ? NULL : mxl_visit_find(&p->walk, node->edges[i]);

        if (to != NULL && to->needed)
            return true;
    }
    return false;
}

/* Runs a node that has hooks, or whose gradient is asked for. The gradient asked for is the one
 * that hooks on arrays return; hooks before the node and its vjp do not change it. */
static int run_watched(pass *p, mxl_task *task)
{
    mxl_node *node = task->node;
    mxl_hooked hooked = hooked_node(task, p->mode);
    size_t bytes = 2 * (size_t)task->count * sizeof(mxl_array *);
    mxl_array **grad_outputs, **arrived;
    int status;

    if (mxl_hooks_array(&hooked, task->grads) != 0)
        return -1;
    if (task->wanted && p->args->grads != NULL && !leads_on(p, node))
        return 0;
    task->ran = true;
    grad_outputs = mxl_alloc(bytes);
    if (grad_outputs == NULL)
        return -1;
    for (int i = 0; i < task->count; i++) {
        grad_outputs[i] = task->grads[i];
        if (grad_outputs[i] != NULL)
            mxl_array_retain(grad_outputs[i]);
    }
    status = mxl_hooks_before(&hooked, grad_outputs);
    arrived = grad_outputs + task->count;
    for (int i = 0; i < task->count; i++)
        arrived[i] = grad_outputs[i]; /* a rule replaces no others than those that are NULL */
    if (status == 0)
        status = run_on(p, task, grad_outputs, arrived);
    for (int i = 0; i < task->count; i++)
        mxl_array_release(grad_outputs[i]);
    mxl_free(grad_outputs, bytes);
    return status;
}

static int run_node(pass *p, mxl_task *task)
{
    if (task->wanted || mxl_hook_store_get(&task->node->store) != NULL)
        return run_watched(p, task);
    task->ran = true;
    return run_on(p, task, task->grads, task->grads);
}

/* Whether a backward that keeps no graph releases the node: MXNet's whatever it reached, PyTorch's
 * what ran. Another backward may still run the others. */
static bool releases(const pass *p, const mxl_task *task)
{
    return !p->args->retain_graph && task->node != NULL &&
           (task->ran || p->args->dialect->released_is_constant);
}

/* Runs all nodes, the latest recorded first: a node's gradients come from later nodes only. */
static int run_nodes(pass *p)
{
    mxl_visit *walk = &p->walk;
    mxl_task *task;

    while ((task = mxl_visit_pop(walk)) != NULL) {
        if (run_node(p, task) != 0) {
            if (walk->anomaly != 0)
                mxl_anomaly_keep(task->node);
            return -1;
        }
        if (releases(p, task) && !walk->keep_all)
            mxl_node_release_saved(task->node);
        for (int i = 0; i < task->count && !task->wanted; i++) {
            mxl_array_release(task->grads[i]);
            task->grads[i] = NULL;
        }
    }
    /* Variables with hooks of which a gradient was held back on the way. */
    for (size_t i = 0; i < walk->num_tasks && walk->hooked; i++) {
        task = walk->tasks[i];
        if (task->hooked && task->needed && mxl_accumulate_hooked(task, p->args, p->mode) != 0)
            return -1;
    }
    return 0;
}

/* ---- heads ---- */

static int seed_head(pass *p, int i)
{
    mxl_task *task = mxl_visit_find(&p->walk, p->walk.heads[i]);
    mxl_array *grad;

    if (task == NULL || !task->needed)
        return 0;
    grad = mxl_head_gradient(&p->walk, p->args, i, p->mode);
    if (grad == NULL || flow(p, task, p->walk.heads[i], grad) != 0)
        return -1;
    /* A root may be a variable itself. */
    if (task->variable != NULL && --task->pending == 0 && task->hooked)
        return mxl_accumulate_hooked(task, p->args, p->mode);
    return 0;
}

static int seed(pass *p)
{
    const mxl_backward_args *args = p->args;
    mxl_visit *walk = &p->walk;

    if (mxl_heads_begin(walk, args) != 0 || mxl_accumulate_prepare(walk, args) != 0)
        return -1;
    for (int i = 0; i < args->num_heads; i++) {
        if (walk->heads[i].target != NULL && mxl_visit_edge(walk, walk->heads[i]) != 0)
            return -1;
    }
    if (mxl_accumulate_check(walk, args) != 0)
        return -1;
    for (int i = 0; i < args->num_heads; i++) {
        if (seed_head(p, i) != 0)
            return -1;
    }
    return 0;
}

int mxl_backward_run(const mxl_backward_args *args, mxl_mode mode)
{
    pass p = {.walk = {.all_or_none = args->dialect->released_is_constant,
                       .anomaly = mxl_state_get()->anomaly},
              .args = args,
              .mode = mode};
    int status = seed(&p);

    p.early = !p.walk.keep_all && p.walk.all_or_none && p.walk.anomaly == 0 && !mode.record &&
              !args->retain_graph && args->grads == NULL;
    if (status == 0 && p.early)
        mxl_accumulate_let_go(&p.walk);
    if (status == 0)
        status = run_nodes(&p);
    if (status == 0)
        status = mxl_accumulate(&p.walk, args, mode);
    for (size_t i = 0; i < p.walk.num_tasks && status == 0; i++) {
        if (releases(&p, p.walk.tasks[i]))
            mxl_node_release_saved(p.walk.tasks[i]->node);
    }
    mxl_visit_clear(&p.walk);
    return status;
}
