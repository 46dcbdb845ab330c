/* Common sub-expressions; see passes.h. */
#include <string.h>

#include "base/env.h"
#include "base/map.h"
#include "base/memory/mem.h"
#include "symbol/passes/passes.h"

/* Nodes that stay, by what they compute: open addressing, in a power of two of places, of which at
 * most half are taken. */
typedef struct table {
    mxl_graph_node **node;
    size_t room;
} table;

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15) ^ hash >> 29;
}

static size_t hash_of(const mxl_graph_node *node)
{
    uint64_t hash = (uintptr_t)node->op;

    for (int i = 0; i < node->num_inputs; i++)
        hash = mix(mix(hash, (uintptr_t)node->inputs[i].node), (uint64_t)node->inputs[i].output);
    return (size_t)(hash >> 20);
}

static bool same_attrs(const mxl_attrs *a, const mxl_attrs *b)
{
    bool same = a->count == b->count;

    for (int i = 0; i < a->count && same; i++)
        same = strcmp(a->list[i].key, b->list[i].key) == 0 &&
               strcmp(a->list[i].value, b->list[i].value) == 0;
    return same;
}

static bool same_nodes(const mxl_graph_node *a, const mxl_graph_node *b)
{
    bool same = a->op == b->op && a->num_inputs == b->num_inputs && a->is_numpys == b->is_numpys;

    for (int i = 0; i < a->num_inputs && same; i++)
        same = a->inputs[i].node == b->inputs[i].node &&
               a->inputs[i].output == b->inputs[i].output &&
               a->inputs[i].version == b->inputs[i].version;
    return same && same_attrs(&a->attrs, &b->attrs);
}

/* Whether another node with the same inputs has the same results and gradients. */
static bool may_merge(const mxl_graph_node *node)
{
    const mxl_op *op = node->op;

    if (op == NULL || node->num_inputs == 0 || node->held != NULL || op->graphs > 0 || op->draws ||
        (op->is_loss != NULL && op->is_loss(node->params)))
        return false;
    for (int i = 0; i < node->num_inputs; i++) {
        if (mxl_graph_node_mutates(node, i))
            return false;
    }
    return true;
}

/* The node that stays in place of this one: an equal one from before, or itself. */
static mxl_graph_node *first_of(table *t, mxl_graph_node *node)
{
    size_t i = hash_of(node) & (t->room - 1);

    while (t->node[i] != NULL && !same_nodes(t->node[i], node))
        i = (i + 1) & (t->room - 1);
    if (t->node[i] == NULL)
        t->node[i] = node;
    return t->node[i];
}

static void replace(mxl_entry *entry, mxl_graph_node *node)
{
    mxl_ref_retain(&node->ref);
    mxl_ref_release(&entry->node->ref);
    entry->node = node;
}

static bool is_output(const mxl_symbol *symbol, const mxl_graph_node *node)
{
    for (int i = 0; i < symbol->count; i++) {
        if (symbol->entry[i].node == node)
            return true;
    }
    return false;
}

/* Merges the nodes of a walk, which are kept meanwhile. */
static int merge(mxl_symbol *symbol, const mxl_node_walk *walk, table *t)
{
    mxl_map firsts = {0};
    int status = 0;

    for (int n = 0; n < walk->count && status >= 0; n++) {
        mxl_graph_node *node = walk->node[n], *first;
        void **slot;

        for (int i = 0; i < node->num_inputs; i++) {
            slot = mxl_map_find(&firsts, node->inputs[i].node);
            if (slot != NULL)
                replace(&node->inputs[i], *slot);
        }
        first = may_merge(node) ? first_of(t, node) : node;
        if (first == node)
            continue;
        slot = mxl_map_put(&firsts, node);
        if (slot != NULL)
            *slot = first;
        status = slot != NULL ? 1 : -1;
    }
    for (int i = 0; i < symbol->count && status >= 0; i++) {
        void **slot = mxl_map_find(&firsts, symbol->entry[i].node);

        if (slot != NULL && !is_output(symbol, *slot))
            replace(&symbol->entry[i], *slot);
    }
    mxl_map_clear(&firsts);
    return status;
}

int mxl_pass_repeats(mxl_symbol *symbol)
{
    table t = {.room = 16};
    mxl_node_walk walk;
    int status;

    if (!mxl_pass_is_on(MXL_PASS_REPEATS) || mxl_env_number("MXNET_ELIMINATE_COMMON_EXPR", 1) == 0)
        return 0;
    if (mxl_walk_begin(&walk, symbol) != 0)
        return -1;
    while (t.room < 2 * (size_t)walk.count)
        t.room *= 2;
    t.node = mxl_alloc_zero(t.room * sizeof(mxl_graph_node *));
    status = t.node != NULL ? 0 : -1;
    for (int n = 0; n < walk.count; n++)
        mxl_ref_retain(&walk.node[n]->ref);
    if (status == 0)
        status = merge(symbol, &walk, &t);
    for (int n = 0; n < walk.count; n++)
        mxl_ref_release(&walk.node[n]->ref);
    mxl_free(t.node, t.room * sizeof(mxl_graph_node *));
    mxl_walk_end(&walk);
    return status;
}
