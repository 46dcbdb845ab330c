/* Graphs made of graphs. */
#include <string.h>

#include "symbol/symbol.h"

/* The entry that a cast reads, or NULL for an entry of anything else. */
static const mxl_entry *below_cast(const mxl_entry *entry)
{
    const mxl_graph_node *node = entry->node;

    return node->op != NULL && node->op->mixed_precision ? &node->inputs[entry->output] : NULL;
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
    mxl_node_walk walk;

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
    for (int n = 0; n < walk.count; n++)
        mxl_ref_release(&walk.node[n]->ref);
    mxl_walk_end(&walk);
    return copy;
}

/* ---- cutting a part out ---- */

static const char mark[] = "__subgraph_name__";

static bool is_marked(const mxl_graph_node *node, const char *name)
{
    const char *value = mxl_attrs_get(&node->attrs, mark);

    return value != NULL && strcmp(value, name) == 0;
}

/* The inputs of marked nodes that other nodes make, in the order of the walk. */
static mxl_symbol *crossing(const mxl_node_walk *walk, const char *name)
{
    mxl_symbol *found = NULL;

    for (int pass = 0; pass < 2; pass++) {
        int count = 0;

        for (int n = 0; n < walk->count; n++) {
            const mxl_graph_node *node = walk->node[n];

            for (int i = 0; i < node->num_inputs && is_marked(node, name); i++) {
                if (is_marked(node->inputs[i].node, name))
                    continue;
                if (found != NULL)
                    mxl_entry_set(&found->entry[count], node->inputs[i]);
                count++;
            }
        }
        if (pass == 0 && (found = mxl_symbol_new(count)) == NULL)
            return NULL;
    }
    return found;
}

/* A variable named as an entry. */
static mxl_graph_node *variable_of(const mxl_entry *entry)
{
    mxl_graph_node *variable = NULL;
    mxl_str name = {0};

    mxl_entry_name(entry, &name);
    if (name.failed)
        (void)mxl_error_memory(name.capacity);
    else
        variable = mxl_graph_node_new(NULL, mxl_text_copy(name.text != NULL ? name.text : ""));
    mxl_str_clear(&name);
    return variable;
}

/* A variable for each of the entries, one for those that are the same. */
static mxl_symbol *variables_for(const mxl_symbol *entries)
{
    mxl_symbol *made = mxl_symbol_new(entries->count);

    for (int i = 0; made != NULL && i < entries->count; i++) {
        const mxl_entry *entry = &entries->entry[i];
        mxl_graph_node *variable;

        for (int k = 0; k < i && made->entry[i].node == NULL; k++) {
            if (entries->entry[k].node == entry->node && entries->entry[k].output == entry->output)
                mxl_entry_set(&made->entry[i], made->entry[k]);
        }
        if (made->entry[i].node != NULL)
            continue;
        variable = variable_of(entry);
        if (variable == NULL) {
            mxl_symbol_release(made);
            return NULL;
        }
        made->entry[i] = (mxl_entry){variable, 0, 0};
    }
    return made;
}

mxl_symbol *mxl_symbol_cut(mxl_symbol *symbol)
{
    const char *name =
        symbol->count > 0 ? mxl_attrs_get(&symbol->entry[0].node->attrs, mark) : NULL;
    mxl_symbol *found, *variables = NULL;
    mxl_node_walk walk;
    int at = 0;

    if (name == NULL)
        return mxl_symbol_new(0);
    if (mxl_walk_begin(&walk, symbol) != 0)
        return NULL;
    found = crossing(&walk, name);
    if (found != NULL && (variables = variables_for(found)) == NULL) {
        mxl_symbol_release(found);
        found = NULL;
    }
    for (int n = 0; n < walk.count && found != NULL; n++) { /* `found` keeps what is cut off */
        mxl_graph_node *node = walk.node[n];

        for (int i = 0; i < node->num_inputs && is_marked(node, name); i++) {
            if (is_marked(node->inputs[i].node, name))
                continue;
            mxl_ref_release(&node->inputs[i].node->ref);
            mxl_entry_set(&node->inputs[i], variables->entry[at++]);
        }
    }
    mxl_symbol_release(variables);
    mxl_walk_end(&walk);
    return found;
}
