/* Graphs made of graphs. */
#include <string.h>

#include "graph/symbol.h"

/* The entry that a cast reads, or NULL for an entry of anything else. */
static const mxl_entry *below_cast(const mxl_entry *entry)
{
    const mxl_graph_node *node = entry->node;

    if (node->op == NULL)
        return NULL;
    if (strcmp(node->op->name, "amp_cast") == 0)
        return &node->inputs[0];
    if (strcmp(node->op->name, "amp_multicast") == 0)
        return &node->inputs[entry->output];
    return NULL;
}

static void skip_casts(mxl_entry *entry)
{
    const mxl_entry *below;

    while ((below = below_cast(entry)) != NULL) {
        mxl_graph_node *cast = entry->node;

        mxl_entry_set(entry, *below);
        mxl_ref_release(&cast->ref);
    }
}

mxl_symbol *mxl_symbol_without_casts(const mxl_symbol *symbol)
{
    mxl_symbol *copy = mxl_symbol_copy(symbol);
    mxl_walk walk;

    if (copy == NULL)
        return NULL;
    if (mxl_walk_begin(&walk, copy) != 0) {
        mxl_symbol_release(copy);
        return NULL;
    }
    for (int n = walk.count; n-- > 0;)
        mxl_ref_retain(&walk.node[n]->ref);
    for (int n = 0; n < walk.count; n++) {
        for (int i = 0; i < walk.node[n]->num_inputs; i++)
            skip_casts(&walk.node[n]->inputs[i]);
    }
    for (int i = 0; i < copy->count; i++)
        skip_casts(&copy->entry[i]);
    for (int n = 0; n < walk.count; n++)
        mxl_ref_release(&walk.node[n]->ref);
    mxl_walk_end(&walk);
    return copy;
}
