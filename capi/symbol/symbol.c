/* Symbols: making them of nodes and of other symbols, names and attributes. */
#include "symbol/symbol.h"

#include <string.h>

#include "base/map.h"
#include "base/memory/mem.h"

static size_t symbol_bytes(int count)
{
    return sizeof(mxl_symbol) + (size_t)count * sizeof(mxl_entry);
}

static void symbol_free(mxl_ref *ref)
{
    mxl_symbol *symbol = (mxl_symbol *)ref;

    for (int i = 0; i < symbol->count; i++) {
        if (symbol->entry[i].node != NULL)
            mxl_ref_release(&symbol->entry[i].node->ref);
    }
    mxl_free(symbol, symbol_bytes(symbol->count));
}

mxl_symbol *mxl_symbol_new(int count)
{
    mxl_symbol *symbol = mxl_alloc_zero(symbol_bytes(count));

    if (symbol == NULL)
        return NULL;
    mxl_ref_init(&symbol->ref, symbol_free);
    symbol->count = count;
    return symbol;
}

/* The visible outputs of a node; takes over the reference to it. */
static mxl_symbol *symbol_of(mxl_graph_node *node)
{
    mxl_symbol *symbol = node != NULL ? mxl_symbol_new(node->visible) : NULL;

    for (int i = 0; symbol != NULL && i < symbol->count; i++)
        mxl_entry_set(&symbol->entry[i], (mxl_entry){node, i, 0});
    if (node != NULL)
        mxl_ref_release(&node->ref);
    return symbol;
}

mxl_symbol *mxl_symbol_variable(const char *name)
{
    return symbol_of(mxl_graph_node_new(NULL, mxl_text_copy(name)));
}

mxl_symbol *mxl_symbol_atomic(const mxl_op *op, int count, const char *const *keys,
                              const char *const *values)
{
    mxl_graph_node *node = mxl_graph_node_new(op, mxl_text_copy(""));
    int status = node == NULL ? -1 : 0;

    for (int i = 0; i < count && status == 0; i++) {
        const char *hidden = mxl_attr_hidden(keys[i]);

        if (mxl_attr_of_variable(keys[i]) && mxl_param_find(op, keys[i]) == NULL)
            status =
                mxl_error("%s: attribute %.100s belongs to a variable: give it to the Variable "
                          "and pass that as input",
                          op->name, keys[i]);
        else
            status = mxl_attrs_set(&node->attrs, hidden != NULL ? hidden : keys[i], values[i]);
    }
    if (status == 0)
        status = mxl_graph_node_parse(node, 0);
    if (status != 0 && node != NULL) {
        mxl_ref_release(&node->ref);
        node = NULL;
    }
    return symbol_of(node);
}

mxl_symbol *mxl_symbol_group(int count, mxl_symbol *const *symbols)
{
    mxl_symbol *group;
    int total = 0, at = 0;

    for (int i = 0; i < count; i++)
        total += symbols[i]->count;
    group = mxl_symbol_new(total);
    for (int i = 0; group != NULL && i < count; i++) {
        for (int k = 0; k < symbols[i]->count; k++)
            mxl_entry_set(&group->entry[at++], symbols[i]->entry[k]);
    }
    return group;
}

mxl_symbol *mxl_symbol_share(const mxl_symbol *symbol)
{
    mxl_symbol *one = (mxl_symbol *)(uintptr_t)symbol;

    return mxl_symbol_group(1, &one);
}

mxl_symbol *mxl_symbol_output(const mxl_symbol *symbol, int i)
{
    mxl_symbol *one;

    if (i < 0 || i >= symbol->count)
        return mxl_error_null("output %d of a symbol with %d output%s", i, symbol->count,
                              symbol->count == 1 ? "" : "s");
    one = mxl_symbol_new(1);
    if (one != NULL)
        mxl_entry_set(&one->entry[0], symbol->entry[i]);
    return one;
}

/* ---- copies ---- */

/* A copy of a node, whose inputs have copies in the map. */
static mxl_graph_node *copy_node(const mxl_graph_node *node, const mxl_map *copies)
{
    mxl_graph_node *copy = mxl_graph_node_new(node->op, mxl_text_copy(node->name));

    if (copy == NULL)
        return NULL;
    copy->version = node->version;
    copy->is_numpys = node->is_numpys;
    if (node->num_inputs > 0) {
        copy->inputs = mxl_alloc((size_t)node->num_inputs * sizeof(*copy->inputs));
        if (copy->inputs == NULL)
            goto failed;
    }
    for (; copy->num_inputs < node->num_inputs; copy->num_inputs++) {
        mxl_entry from = node->inputs[copy->num_inputs];

        from.node = *mxl_map_find(copies, from.node);
        mxl_entry_set(&copy->inputs[copy->num_inputs], from);
    }
    if (mxl_attrs_add(&copy->attrs, &node->attrs) != 0 ||
        (node->graphs != NULL && mxl_graph_node_set_graphs(copy, node->graphs) != 0))
        goto failed;
    if (node->op != NULL && mxl_graph_node_parse(copy, node->num_inputs) != 0)
        goto failed;
    return copy;
failed:
    mxl_ref_release(&copy->ref);
    return NULL;
}

mxl_symbol *mxl_symbol_copy(const mxl_symbol *symbol)
{
    mxl_symbol *result = NULL;
    mxl_map copies = {0};
    mxl_node_walk walk;
    int made = 0;

    if (mxl_walk_begin(&walk, symbol) != 0)
        return NULL;
    for (; made < walk.count; made++) {
        void **slot = mxl_map_put(&copies, walk.node[made]);

        if (slot == NULL)
            break;
        *slot = copy_node(walk.node[made], &copies);
        if (*slot == NULL)
            break;
    }
    if (made == walk.count)
        result = mxl_symbol_new(symbol->count);
    for (int i = 0; result != NULL && i < symbol->count; i++) {
        mxl_entry from = symbol->entry[i];

        from.node = *mxl_map_find(&copies, from.node);
        mxl_entry_set(&result->entry[i], from);
    }
    for (int i = 0; i < made; i++)
        mxl_ref_release(*mxl_map_find(&copies, walk.node[i]));
    mxl_map_clear(&copies);
    mxl_walk_end(&walk);
    return result;
}

/* ---- parts ---- */

mxl_symbol *mxl_symbol_internals(const mxl_symbol *symbol)
{
    mxl_symbol *all = NULL;
    mxl_node_walk walk;
    int count = 0, at = 0;

    if (mxl_walk_begin(&walk, symbol) != 0)
        return NULL;
    for (int n = 0; n < walk.count; n++)
        count += walk.node[n]->visible;
    all = mxl_symbol_new(count);
    for (int n = 0; all != NULL && n < walk.count; n++) {
        for (int i = 0; i < walk.node[n]->visible; i++)
            mxl_entry_set(&all->entry[at++], (mxl_entry){walk.node[n], i, walk.node[n]->version});
    }
    mxl_walk_end(&walk);
    return all;
}

/* Whether entry i is the first one of its node. */
static bool is_first(const mxl_symbol *symbol, int i)
{
    for (int k = 0; k < i; k++) {
        if (symbol->entry[k].node == symbol->entry[i].node)
            return false;
    }
    return true;
}

mxl_symbol *mxl_symbol_children(const mxl_symbol *symbol)
{
    mxl_symbol *children;
    int count = 0, at = 0;

    for (int i = 0; i < symbol->count; i++)
        count += is_first(symbol, i) ? symbol->entry[i].node->num_inputs : 0;
    children = mxl_symbol_new(count);
    for (int i = 0; children != NULL && i < symbol->count; i++) {
        const mxl_graph_node *node = symbol->entry[i].node;

        for (int k = 0; is_first(symbol, i) && k < node->num_inputs; k++)
            mxl_entry_set(&children->entry[at++], node->inputs[k]);
    }
    return children;
}

/* ---- attributes ---- */

/* The node of all outputs; NULL if they have several. */
static mxl_graph_node *only_node(const mxl_symbol *symbol)
{
    mxl_graph_node *node = symbol->count > 0 ? symbol->entry[0].node : NULL;

    for (int i = 1; i < symbol->count; i++) {
        if (symbol->entry[i].node != node)
            return NULL;
    }
    return node;
}

/* Puts back the value that an attribute had, or sets it to the empty text. */
static int refuse_attr(mxl_graph_node *node, const char *key, char *before)
{
    mxl_attr *list = node->attrs.list;
    int at = 0;

    while (strcmp(list[at].key, key) != 0)
        at++;
    mxl_text_free(list[at].value);
    list[at].value = before;
    if (before == NULL) {
        mxl_text_free(list[at].key);
        memmove(list + at, list + at + 1, (size_t)(--node->attrs.count - at) * sizeof(*list));
    }
    return -1;
}

int mxl_symbol_set_attr(mxl_symbol *symbol, const char *key, const char *value)
{
    mxl_graph_node *node = only_node(symbol);
    const char *hidden = mxl_attr_hidden(key), *old;
    char *before = NULL;

    if (node == NULL)
        return mxl_error("attribute %.100s: the symbol has outputs of several nodes", key);
    if (mxl_attr_of_variable(key))
        return mxl_error("attribute %.100s belongs to a variable: give it to the Variable and pass "
                         "that as input",
                         key);
    key = hidden != NULL ? hidden : key;
    old = mxl_attrs_get(&node->attrs, key);
    if (old != NULL && (before = mxl_text_copy(old)) == NULL)
        return -1;
    if (mxl_attrs_set(&node->attrs, key, value) != 0) {
        mxl_text_free(before);
        return -1;
    }
    if (node->op != NULL && mxl_graph_node_parse(node, node->num_inputs) != 0)
        return refuse_attr(node, key, before);
    mxl_text_free(before);
    return 0;
}

const char *mxl_symbol_get_attr(const mxl_symbol *symbol, const char *key)
{
    const mxl_graph_node *node = only_node(symbol);
    const char *hidden = mxl_attr_hidden(key), *value;

    if (node == NULL)
        return NULL;
    if (strcmp(key, "name") == 0)
        return node->name;
    value = mxl_attrs_get(&node->attrs, key);
    return value == NULL && hidden != NULL ? mxl_attrs_get(&node->attrs, hidden) : value;
}

void mxl_symbol_places(const mxl_symbol *symbol, mxl_str *out)
{
    for (int i = 0; i < symbol->count && only_node(symbol) != NULL; i++)
        mxl_str_addf(out, i > 0 ? ", %d" : "%d", symbol->entry[i].output);
}
