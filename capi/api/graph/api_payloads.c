/* Payloads that a handle keeps alive, for a caller whose own objects are the payloads and which
 * collects cycles among them. */
#include "api/common.h"

#include "api/graph/function.h"
#include "base/memory/mem.h"
#include "engine/tape/tape.h"

/* A walk over what the handle alone keeps. Every object that it comes to has one reference, the one
 * that it came by: so no other path leads there, and no other thread is there. */
typedef struct walk {
    MXLReleaseFunction release;
    MXLVisitFunction visit;
    void *data;
    int budget;      /* nodes and variables that it may still look at */
    mxl_edge *found; /* whose targets are looked at later; borrowed */
    size_t num_found, room_found;
} walk;

static void note_payload(const walk *w, void *payload, MXLReleaseFunction release)
{
    if (release == w->release && release != NULL)
        w->visit(w->data, payload);
}

/* Without memory for it the edge is left out: what it leads to counts as kept by others. */
static void note_edge(walk *w, mxl_edge edge)
{
    if (edge.target != NULL && mxl_ref_is_unique(edge.target) &&
        MXL_GROW(w->found, w->num_found, w->room_found) == 0)
        w->found[w->num_found++] = edge;
}

static void visit_store(const walk *w, mxl_hook_store *store)
{
    if (store == NULL || !mxl_ref_is_unique(&store->ref))
        return;
    mxl_hook_store_lock(store);
    note_payload(w, store->payload, store->release);
    for (size_t i = 0; i < store->num_hooks; i++) {
        const mxl_hook *hook = store->hooks[i];

        if (mxl_ref_is_unique(&hook->ref) && !atomic_load(&hook->removed) &&
            atomic_load(&hook->users) == 1)
            note_payload(w, hook->payload, hook->release);
    }
    mxl_hook_store_unlock(store);
}

static void visit_node(walk *w, mxl_node *node)
{
    mxl_node *inner = mxl_node_inner(node);
    MXLReleaseFunction release;
    void *payload;

    if (inner != NULL)
        note_edge(w, (mxl_edge){&inner->ref, 0});
    else if (api_function_payload(node, &payload, &release))
        note_payload(w, payload, release);
    visit_store(w, mxl_hook_store_get(&node->store));
    for (int i = 0; i < node->num_inputs; i++)
        note_edge(w, node->edges[i]);
}

/* What the array's edge leads to, and its hooks. Its edge is locked, or no other thread sees it. */
static void visit_array(walk *w, mxl_array *array)
{
    mxl_leaf *leaf = mxl_array_leaf(array);

    if (leaf != NULL)
        visit_store(w, mxl_hook_store_get(&leaf->store));
    note_edge(w, mxl_array_given_edge(array));
}

static void visit_found(walk *w)
{
    while (w->num_found > 0 && w->budget-- > 0) {
        mxl_edge edge = w->found[--w->num_found];

        if (mxl_edge_node(edge) != NULL)
            visit_node(w, mxl_edge_node(edge));
        else
            visit_array(w, mxl_edge_variable(edge));
    }
}

/* The array of a handle, and its base if only the array keeps that. Other threads may have the
 * handle: the edges stay locked, so that what they lead to stays. */
static void visit_root(walk *w, mxl_array *root)
{
    mxl_array *base = root->base;

    if (base != NULL && !mxl_ref_is_unique(&base->ref))
        base = NULL;
    mxl_array_lock_edge(root);
    if (base != NULL) {
        mxl_array_lock_edge(base);
        visit_array(w, base);
    }
    visit_array(w, root);
    visit_found(w);
    if (base != NULL)
        mxl_array_unlock_edge(base);
    mxl_array_unlock_edge(root);
}

int MXLNDArrayVisitPayloads(NDArrayHandle array, MXLReleaseFunction release, int budget,
                            MXLVisitFunction visit, void *data)
{
    walk w = {.release = release, .visit = visit, .data = data, .budget = budget};
    mxl_array *root;

    API_NEED(visit);
    root = api_pin_for(array, __func__);
    if (root == NULL)
        return -1;
    if (mxl_ref_is_unique(&root->ref))
        visit_root(&w, root);
    mxl_free(w.found, w.room_found * sizeof(*w.found));
    api_unpin(array);
    return 0;
}
