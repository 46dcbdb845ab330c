/* Composition: a symbol applied to symbols. */
#include <string.h>

#include "base/map.h"
#include "base/memory/mem.h"
#include "base/text/near.h"
#include "engine/run/invoke.h"
#include "symbol/symbol.h"
#include "ops/custom.h"

/* An operator without inputs yet that all outputs are of, or NULL. */
static mxl_graph_node *atomic_node(const mxl_symbol *symbol)
{
    mxl_graph_node *node = symbol->count > 0 ? symbol->entry[0].node : NULL;

    return node != NULL && node->op != NULL && node->num_inputs == 0 ? node : NULL;
}

static int check_args(const char *who, int count, mxl_symbol *const *args)
{
    for (int i = 0; i < count; i++) {
        if (args[i]->count != 1)
            return mxl_error("%s: argument %d is a symbol with %d outputs; one is needed", who, i,
                             args[i]->count);
    }
    return 0;
}

/* ---- an operator and its inputs ---- */

int mxl_graph_node_needs(const mxl_graph_node *node, int given)
{
    mxl_arity arity = {given, 1, 1};
    int listed = 0;

    if (node->op->arity != NULL)
        return node->op->arity(node->params, &arity) != 0 ? -1 : arity.inputs;
    while (mxl_op_inputs(node->op)[listed].name != NULL)
        listed++;
    return listed;
}

/* The input of that name; -1 with the error set. */
static int find_input(const mxl_graph_node *node, int count, const char *key)
{
    char room[MXL_NAME];
    mxl_near near;

    for (int i = 0; i < count; i++) {
        if (strcmp(mxl_graph_node_input(node, i, room), key) == 0)
            return i;
    }
    mxl_near_begin(&near, key);
    for (const mxl_input *input = mxl_op_inputs(node->op); input->name != NULL; input++)
        mxl_near_offer(&near, input->name);
    return mxl_error("%s: has no input named %.100s%s", node->op->name, key, mxl_near_text(&near));
}

/* Says how a variable that is input i begins, if nothing was said. */
static int say_first_value(const mxl_graph_node *node, int i, mxl_graph_node *variable)
{
    const mxl_op *op = node->op;
    const char *init = op->first_value != NULL ? op->first_value(node->params, i) : NULL;

    if (init == NULL || variable->op != NULL || mxl_attrs_get(&variable->attrs, "__init__") != NULL)
        return 0;
    return mxl_attrs_set(&variable->attrs, "__init__", init);
}

static mxl_graph_node *variable_for(const char *name, const char *input)
{
    mxl_graph_node *variable = NULL;
    mxl_str text = {0};

    mxl_str_addf(&text, "%s_%s", name, input);
    if (text.failed)
        (void)mxl_error_memory(text.capacity);
    else
        variable = mxl_graph_node_new(NULL, mxl_text_copy(text.text));
    mxl_str_clear(&text);
    return variable;
}

mxl_graph_node *mxl_graph_missing_input(const mxl_graph_node *node, const char *name, int i)
{
    char room[MXL_NAME];
    mxl_graph_node *variable = variable_for(name, mxl_graph_node_input(node, i, room));

    if (variable != NULL && (mxl_attrs_add(&variable->attrs, &node->attrs) != 0 ||
                             say_first_value(node, i, variable) != 0)) {
        mxl_ref_release(&variable->ref);
        return NULL;
    }
    return variable;
}

/* Fills `inputs` (zeros) with the arguments at their places; -1 with the error set. */
static int place_args(const mxl_graph_node *node, int needed, mxl_entry *inputs, int count,
                      const char *const *keys, mxl_symbol *const *args)
{
    for (int i = 0; i < count; i++) {
        int at = keys != NULL ? find_input(node, needed, keys[i]) : i;

        if (at < 0)
            return -1;
        if (inputs[at].node != NULL)
            return mxl_error("%s: input %.100s is given twice", node->op->name, keys[i]);
        mxl_entry_set(&inputs[at], args[i]->entry[0]);
    }
    return 0;
}

/* Makes variables for the places without one; says of the others how they start. */
static int fill_missing(const mxl_graph_node *node, const char *name, int needed, mxl_entry *inputs)
{
    for (int i = 0; i < needed; i++) {
        if (inputs[i].node != NULL) {
            if (say_first_value(node, i, inputs[i].node) != 0)
                return -1;
            continue;
        }
        inputs[i].node = mxl_graph_missing_input(node, name, i);
        if (inputs[i].node == NULL)
            return -1;
    }
    return 0;
}

static void release_inputs(mxl_entry *inputs, int count)
{
    for (int i = 0; i < count; i++) {
        if (inputs[i].node != NULL)
            mxl_ref_release(&inputs[i].node->ref);
    }
    mxl_free(inputs, (size_t)count * sizeof(*inputs));
}

/* Entries of variables carry the version that the operator sees; writing into one makes a new
 * version. */
static void set_versions(mxl_graph_node *node)
{
    for (int i = 0; i < node->num_inputs; i++) {
        mxl_graph_node *from = node->inputs[i].node;

        if (from->op != NULL)
            continue;
        if (mxl_graph_node_mutates(node, i))
            from->version++;
        node->inputs[i].version = from->version;
    }
}

/* Notes how many inputs were given, as 1.9.1 does. */
static int note_count(mxl_graph_node *node, int count)
{
    const char *key = node->op->key_var_num_args;
    char text[16];
    int at = 16;

    if (key == NULL || mxl_attrs_get(&node->attrs, key) != NULL)
        return 0;
    text[--at] = '\0';
    do
        text[--at] = (char)('0' + count % 10);
    while ((count /= 10) > 0);
    return mxl_attrs_set(&node->attrs, key, text + at);
}

/* Copies of the first arguments become the graphs of the node. */
static int take_graphs(mxl_graph_node *node, int count, const char *const *keys,
                       mxl_symbol *const *args)
{
    enum { MOST = 3 };
    mxl_symbol *graphs[MOST] = {NULL};
    int made = 0, status = -1;

    if (keys != NULL || count < node->op->graphs)
        return mxl_error("%s: takes %d graph%s first, by position, got %d argument%s%s",
                         node->op->name, node->op->graphs, node->op->graphs == 1 ? "" : "s", count,
                         count == 1 ? "" : "s", keys != NULL ? " by name" : "");
    while (made < node->op->graphs && (graphs[made] = mxl_symbol_copy(args[made])) != NULL)
        made++;
    if (made == node->op->graphs)
        status = mxl_graph_node_set_graphs(node, graphs);
    for (int g = 0; g < made; g++)
        mxl_symbol_release(graphs[g]);
    return status;
}

/* Whether variables take the place of inputs that are missing. The inputs of an operator of a
 * library have no names: it can be its only input alone, as in 1.9.1. */
static bool names_missing(const mxl_graph_node *node, int needed)
{
    const mxl_custom *custom = mxl_custom_of(node->op, node->params);

    return custom == NULL || custom->names != NULL || needed == 1;
}

/* How many inputs the node needs if `count` are given; -1 with the error set. Where the operator
 * takes any number, notes it and parses the parameters again. */
static int count_needed(mxl_graph_node *node, int count)
{
    int said, needed;

    if (node->op->key_var_num_args != NULL) {
        if (note_count(node, count + node->op->graphs) != 0)
            return -1;
        said = mxl_graph_node_said(node);
        if (mxl_graph_node_parse(node, said > 0 ? said : count) != 0)
            return -1;
        needed = mxl_graph_node_needs(node, said > 0 ? said : count);
    } else {
        needed = mxl_graph_node_needs(node, count);
    }
    if (needed >= 0 && (count > needed || (count < needed && !names_missing(node, needed))))
        return mxl_error("%s: takes %d input%s, got %d", node->op->name, needed,
                         needed == 1 ? "" : "s", count);
    return needed;
}

static int compose_atomic(mxl_graph_node *node, const char *name, int count,
                          const char *const *keys, mxl_symbol *const *args)
{
    char *own = mxl_text_copy(name != NULL ? name : "");
    int needed = -1, graphs = node->op->graphs;
    mxl_entry *inputs = NULL;

    if (own == NULL || (graphs > 0 && take_graphs(node, count, keys, args) != 0))
        goto failed;
    count -= graphs;
    args += graphs;
    if (check_args(node->op->name, count, args) != 0)
        goto failed;
    needed = count_needed(node, count);
    if (needed < 0)
        goto failed;
    if (needed > 0) {
        inputs = mxl_alloc_zero((size_t)needed * sizeof(*inputs));
        if (inputs == NULL || place_args(node, needed, inputs, count, keys, args) != 0 ||
            fill_missing(node, own, needed, inputs) != 0)
            goto failed;
    }
    mxl_text_free(node->name);
    node->name = own;
    node->inputs = inputs;
    node->num_inputs = needed;
    set_versions(node);
    return 0;
failed:
    if (inputs != NULL)
        release_inputs(inputs, needed);
    mxl_graph_node_drop_graphs(node);
    mxl_text_free(own);
    return -1;
}

/* ---- a graph whose variables are replaced ---- */

static int find_key(int count, const char *const *keys, const char *name)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(keys[i], name) == 0)
            return i;
    }
    return -1;
}

static void replace_entry(mxl_entry *entry, mxl_entry by)
{
    mxl_graph_node *old = entry->node;

    mxl_entry_set(entry, by);
    mxl_ref_release(&old->ref);
}

/* Every key must name a variable of the walk. */
static int check_keys(const mxl_node_walk *walk, int count, const char *const *keys)
{
    mxl_near near;

    for (int i = 0; i < count; i++) {
        bool found = false;

        for (int n = 0; n < walk->count && !found; n++)
            found = walk->node[n]->op == NULL && strcmp(walk->node[n]->name, keys[i]) == 0;
        if (found)
            continue;
        mxl_near_begin(&near, keys[i]);
        for (int n = 0; n < walk->count; n++)
            if (walk->node[n]->op == NULL)
                mxl_near_offer(&near, walk->node[n]->name);
        return mxl_error("the symbol has no variable named %.100s%s", keys[i],
                         mxl_near_text(&near));
    }
    return 0;
}

static void replace_inputs(mxl_graph_node *node, int count, const char *const *keys,
                           mxl_symbol *const *args)
{
    for (int i = 0; i < node->num_inputs; i++) {
        const mxl_graph_node *from = node->inputs[i].node;
        int at = from->op == NULL ? find_key(count, keys, from->name) : -1;

        if (at >= 0)
            replace_entry(&node->inputs[i], args[at]->entry[0]);
    }
}

static int compose_graph(mxl_symbol *symbol, const char *name, int count, const char *const *keys,
                         mxl_symbol *const *args)
{
    char *own = NULL;
    mxl_node_walk walk;
    int status = -1;

    if (count > 0 && keys == NULL)
        return mxl_error("a symbol that is composed already takes arguments by name only");
    if (check_args("the symbol", count, args) != 0 || mxl_walk_begin(&walk, symbol) != 0)
        return -1;
    if (name != NULL && symbol->count == 1 && (own = mxl_text_copy(name)) == NULL)
        goto done;
    status = check_keys(&walk, count, keys);
    for (int n = 0; n < walk.count && status == 0; n++)
        replace_inputs(walk.node[n], count, keys, args);
    for (int i = 0; i < symbol->count && status == 0; i++) {
        const mxl_graph_node *node = symbol->entry[i].node;
        int at = node->op == NULL ? find_key(count, keys, node->name) : -1;

        if (at >= 0)
            replace_entry(&symbol->entry[i], args[at]->entry[0]);
    }
    if (status == 0 && own != NULL) {
        mxl_graph_node *head = symbol->entry[0].node;
        char *old = head->name;

        head->name = own;
        own = old;
    }
done:
    mxl_text_free(own);
    mxl_walk_end(&walk);
    return status;
}

int mxl_symbol_compose(mxl_symbol *symbol, const char *name, int count, const char *const *keys,
                       mxl_symbol *const *args)
{
    mxl_graph_node *node = atomic_node(symbol);

    return node != NULL ? compose_atomic(node, name, count, keys, args)
                        : compose_graph(symbol, name, count, keys, args);
}
