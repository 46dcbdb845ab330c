/* Payloads that handles keep alive, for a caller whose own objects are the payloads and which
 * collects cycles among them. */
#include "api/common.h"

#include "api/autograd/function.h"
#include "base/memory/mem.h"
#include "engine/tape/saved.h"
#include "engine/tape/tape.h"

/* A walk from an array to what the caller wants to see of what it keeps. All of that lives as long
 * as the walk: the edges of arrays on the way are locked, and those of nodes never change. */
typedef struct walk {
    const MXLPayloadVisitor *visitor;
    void *data;
    mxl_edge *found; /* whose targets are looked at later; borrowed */
    size_t num_found, room_found;
    mxl_array **locked; /* borrowed */
    size_t num_locked, room_locked;
} walk;

static void note_payload(const walk *w, const void *from, void *payload, MXLReleaseFunction release)
{
    if (release == w->visitor->release && release != NULL)
        w->visitor->payload(w->data, from, payload);
}

/* Without memory for it the target is not looked at: what it keeps counts as kept by others. */
static void note_edge(walk *w, const void *from, mxl_edge edge)
{
    if (edge.target == NULL || MXL_GROW(w->found, w->num_found, w->room_found) != 0)
        return;
    if (w->visitor->reference(w->data, from, edge.target,
                              atomic_load_explicit(&edge.target->count, memory_order_acquire)))
        w->found[w->num_found++] = edge;
}

static void visit_store(const walk *w, const void *from, mxl_hook_store *store)
{
    if (store == NULL || !mxl_ref_is_unique(&store->ref))
        return;
    mxl_hook_store_lock(store);
    note_payload(w, from, store->payload, store->release);
    for (size_t i = 0; i < store->num_hooks; i++) {
        const mxl_hook *hook = store->hooks[i];

        if (mxl_ref_is_unique(&hook->ref) && !atomic_load(&hook->removed) &&
            atomic_load(&hook->users) == 1)
            note_payload(w, from, hook->payload, hook->release);
    }
    mxl_hook_store_unlock(store);
}

static void visit_node(walk *w, mxl_node *node)
{
    mxl_node *inner = mxl_node_inner(node);
    MXLReleaseFunction release;
    void *payload;

    if (inner != NULL)
        note_edge(w, node, (mxl_edge){&inner->ref, 0});
    else if (api_function_payload(node, &payload, &release))
        note_payload(w, node, payload, release);
    visit_store(w, node, mxl_hook_store_get(&node->store));
    for (int i = 0; i < node->num_inputs; i++) {
        note_edge(w, node, node->edges[i]);
        if (mxl_node_saves_variable(node, i)) /* a second reference to it */
            note_edge(w, node, node->edges[i]);
    }
}

/* What a locked array keeps: its hooks, its base, and what its edge leads to. */
static void visit_array(walk *w, mxl_array *array)
{
    mxl_leaf *leaf = mxl_array_leaf(array);

    if (leaf != NULL)
        visit_store(w, array, mxl_hook_store_get(&leaf->store));
    if (array->base != NULL)
        note_edge(w, array, (mxl_edge){&array->base->ref, MXL_PLACE_LEAF});
    note_edge(w, array, mxl_array_given_edge(array));
}

/* Whether the array's edge is locked now. Only the first one waits: a thread that has one of the
 * others may wait for what this walk has locked. */
static bool lock(walk *w, mxl_array *array)
{
    if (MXL_GROW(w->locked, w->num_locked, w->room_locked) != 0)
        return false;
    if (w->num_locked == 0)
        mxl_array_lock_edge(array);
    else if (!mxl_array_try_lock_edge(array))
        return false;
    w->locked[w->num_locked++] = array;
    return true;
}

static void visit_found(walk *w)
{
    while (w->num_found > 0) {
        mxl_edge edge = w->found[--w->num_found];

        if (mxl_edge_node(edge) != NULL)
            visit_node(w, mxl_edge_node(edge));
        else if (lock(w, mxl_edge_variable(edge)))
            visit_array(w, mxl_edge_variable(edge));
    }
    while (w->num_locked > 0)
        mxl_array_unlock_edge(w->locked[--w->num_locked]);
}

/* Whether the array keeps anything: most do not. */
static bool keeps(const mxl_array *array)
{
    return mxl_array_has_target(array) || mxl_array_leaf(array) != NULL || array->base != NULL;
}

int MXLNDArrayVisitPayloads(NDArrayHandle array, const MXLPayloadVisitor *visitor, void *data)
{
    walk w = {.visitor = visitor, .data = data};
    mxl_array *root;

    API_NEED(visitor);
    API_NEED(visitor->reference);
    API_NEED(visitor->payload);
    root = api_pin_for(array, __func__);
    if (root == NULL)
        return -1;
    if (keeps(root)) {
        note_edge(&w, NULL, (mxl_edge){&root->ref, MXL_PLACE_LEAF});
        visit_found(&w);
    }
    mxl_free(w.found, w.room_found * sizeof(*w.found));
    mxl_free(w.locked, w.room_locked * sizeof(*w.locked));
    api_unpin(array);
    return 0;
}
