/* Visiting the graph without recursion, and the heap of ready nodes. */
#include "engine/backward/visit.h"

#include <string.h>

#include "base/error.h"
#include "base/memory/mem.h"
#include "engine/tape/saved.h"

static size_t task_bytes(int count)
{
    return sizeof(mxl_task) + (size_t)count * sizeof(mxl_array *);
}

void mxl_visit_clear(mxl_visit *walk)
{
    for (size_t i = 0; i < walk->num_tasks; i++) {
        mxl_task *task = walk->tasks[i];

        for (int k = 0; k < task->count; k++)
            mxl_array_release(task->grads[k]);
        if (task->node != NULL)
            mxl_ref_release(&task->node->ref);
        mxl_array_release(task->variable);
        mxl_free(task, task_bytes(task->count));
    }
    mxl_free(walk->tasks, walk->room_tasks * sizeof(*walk->tasks));
    mxl_free(walk->heap, walk->room_heap * sizeof(*walk->heap));
    for (size_t i = 0; i < walk->num_heads; i++)
        mxl_ref_release(walk->heads[i].target);
    mxl_free(walk->heads, walk->num_heads * sizeof(*walk->heads));
    mxl_free(walk->asked, walk->num_asked * sizeof(*walk->asked));
    mxl_map_clear(&walk->map);
}

mxl_task *mxl_visit_find(const mxl_visit *walk, mxl_edge edge)
{
    void **slot = mxl_map_find(&walk->map, edge.target);

    return slot == NULL ? NULL : *slot;
}

mxl_task *mxl_visit_task(mxl_visit *walk, mxl_edge edge)
{
    mxl_node *node = mxl_edge_node(edge);
    int count = node == NULL ? 2 : node->num_outputs;
    mxl_task *task;
    void **slot;

    if (MXL_GROW(walk->tasks, walk->num_tasks, walk->room_tasks) != 0)
        return NULL;
    slot = mxl_map_put(&walk->map, edge.target);
    if (slot == NULL || *slot != NULL)
        return slot == NULL ? NULL : *slot;
    task = mxl_alloc(task_bytes(count));
    if (task == NULL)
        return NULL;
    memset(task, 0, task_bytes(count));
    task->node = node;
    task->variable = mxl_edge_variable(edge);
    mxl_ref_retain(edge.target);
    task->count = count;
    *slot = task;
    walk->tasks[walk->num_tasks++] = task;
    return task;
}

/* ---- the visit: depth first, needed is known when a node is left ---- */

typedef struct step {
    mxl_task *task;
    int edge; /* next edge to follow */
} step;

typedef struct trail {
    step *steps;
    size_t count, room;
} trail;

/* Checks a node on the first visit. */
static int enter(mxl_visit *walk, mxl_node *node)
{
    bool released = atomic_load_explicit(&node->released, memory_order_acquire);

    if (released && node->dialect->released_is_constant)
        return mxl_error("%s: the graph was released by an earlier backward; call that one with "
                         "retain_graph=True to run backward over it again",
                         node->op->name);
    walk->updates = walk->updates || node->op->grad_updates;
    /* A rule that may fail must not cost the caller the graph. */
    if (walk->all_or_none && (node->payload != NULL || node->op->grad == NULL ||
                              mxl_hook_store_get(&node->store) != NULL || mxl_node_stale(node)))
        walk->keep_all = true;
    return 0;
}

/* Goes to the target of an edge: a visited task needs no visit, a leaf no steps. Returns its task.
 * */
static mxl_task *reach(mxl_visit *walk, trail *path, mxl_edge edge)
{
    mxl_task *task = mxl_visit_task(walk, edge);

    if (task == NULL)
        return NULL;
    if (task->node == NULL) {
        mxl_leaf *leaf = mxl_array_leaf(task->variable);

        if (!task->visited && mxl_hook_store_get(&leaf->store) != NULL) {
            task->hooked = walk->hooked = true;
            walk->keep_all = walk->keep_all || walk->all_or_none;
        }
        task->visited = true;
        task->needed = walk->only_wanted ? task->wanted : mxl_leaf_wants(leaf);
        task->pending++;
        return task;
    }
    if (task->visited)
        return task;
    if (enter(walk, task->node) != 0)
        return NULL;
    if (MXL_GROW(path->steps, path->count, path->room) != 0)
        return NULL;
    path->steps[path->count++] = (step){task, 0};
    task->visited = true;
    task->needed = task->wanted;
    return task;
}

static int follow(mxl_visit *walk, trail *path)
{
    while (path->count > 0) {
        step *top = &path->steps[path->count - 1];
        mxl_task *task = top->task, *next;
        const mxl_node *node = task->node;
        size_t depth = path->count;

        if (top->edge == node->num_inputs) {
            path->count--;
            if (path->count > 0)
                path->steps[path->count - 1].task->needed |= task->needed;
            continue;
        }
        if (node->edges[top->edge].target == NULL) {
            top->edge++;
            continue;
        }
        next = reach(walk, path, node->edges[top->edge]);
        if (next == NULL)
            return -1;
        path->steps[depth - 1].edge++;
        if (path->count == depth) /* visited before: nothing to step into */
            task->needed |= next->needed;
    }
    return 0;
}

int mxl_visit_edge(mxl_visit *walk, mxl_edge head)
{
    trail path = {0};
    int status = reach(walk, &path, head) == NULL ? -1 : follow(walk, &path);

    mxl_free(path.steps, path.room * sizeof(*path.steps));
    return status;
}

/* ---- the heap ---- */

static uint64_t seq_of(const mxl_task *task)
{
    return task->node->seq;
}

int mxl_visit_push(mxl_visit *walk, mxl_task *task)
{
    mxl_task **heap;
    size_t i;

    if (task->queued)
        return 0;
    if (MXL_GROW(walk->heap, walk->num_heap, walk->room_heap) != 0)
        return -1;
    heap = walk->heap;
    task->queued = true;
    for (i = walk->num_heap++; i > 0 && seq_of(heap[(i - 1) / 2]) < seq_of(task); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = task;
    return 0;
}

mxl_task *mxl_visit_pop(mxl_visit *walk)
{
    mxl_task **heap = walk->heap, *first, *last;
    size_t i = 0, child, count;

    if (walk->num_heap == 0)
        return NULL;
    first = heap[0];
    count = --walk->num_heap;
    last = heap[count];
    while ((child = 2 * i + 1) < count) {
        if (child + 1 < count && seq_of(heap[child + 1]) > seq_of(heap[child]))
            child++;
        if (seq_of(heap[child]) <= seq_of(last))
            break;
        heap[i] = heap[child];
        i = child;
    }
    if (count > 0)
        heap[i] = last;
    return first;
}
