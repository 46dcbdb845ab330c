/* Symbols from JSON. Files of older versions of MXNet are brought to the form of 1.9.1. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/memory/mem.h"
#include "symbol/infer.h"
#include "symbol/json.h"

enum { VERSION_0_9 = 900, VERSION_0_9_5 = 905 };

typedef struct reading {
    mxl_graph_node **node;
    int count, room; /* nodes that are complete; all */
    int version;     /* that wrote the file: 10901 is 1.9.1 */
    bool notes;      /* its variables' shapes are brought to numpy-shape mode */
} reading;

/* ---- attributes ---- */

static int add_texts(mxl_attrs *attrs, const mxl_json *object)
{
    if (object == NULL)
        return 0;
    if (object->type != MXL_JSON_OBJECT)
        return mxl_error("the attributes are no object");
    for (const mxl_json *each = object->first; each != NULL; each = each->next) {
        if (each->type != MXL_JSON_TEXT)
            return mxl_error("attribute %.100s is no text", each->key);
        if (mxl_attrs_set(attrs, each->key, each->text) != 0)
            return -1;
    }
    return 0;
}

/* Older files call the parameters "param", and "attr" what users noted. */
static int read_attrs(mxl_attrs *attrs, const mxl_json *json)
{
    static const char *const members[] = {"param", "attr", "attrs"};

    for (int i = 0; i < 3; i++) {
        if (add_texts(attrs, mxl_json_member(json, members[i])) != 0)
            return -1;
    }
    return 0;
}

/* The variable that input `input` of the node is, or NULL. */
static mxl_graph_node *input_variable(const mxl_graph_node *node, const char *input, size_t length)
{
    char room[MXL_NAME];

    for (int i = 0; i < node->num_inputs; i++) {
        const char *name = mxl_graph_node_input(node, i, room);

        if (strlen(name) == length && memcmp(name, input, length) == 0)
            return node->inputs[i].node->op == NULL ? node->inputs[i].node : NULL;
    }
    return NULL;
}

/* Before 0.9, lr_mult stood without underscores, and weight_lr_mult at the layer. Brings one such
 * attribute to where it belongs now. */
static int move_attr(const mxl_graph_node *node, mxl_attrs *into, const mxl_attr *attr)
{
    const char *hidden = mxl_attr_hidden(attr->key), *tail = attr->key;
    mxl_graph_node *variable;

    if (hidden != NULL)
        return mxl_attrs_set(into, hidden, attr->value);
    if (node->op == NULL || !mxl_attr_of_variable(attr->key))
        return mxl_attrs_set(into, attr->key, attr->value);
    while ((tail = strchr(tail + 1, '_')) != NULL) {
        hidden = mxl_attr_hidden(tail + 1);
        if (hidden == NULL)
            continue;
        variable = input_variable(node, attr->key, (size_t)(tail - attr->key));
        return variable == NULL ? 0 : mxl_attrs_set(&variable->attrs, hidden, attr->value);
    }
    return 0;
}

static int upgrade_attrs(const reading *r, mxl_graph_node *node)
{
    mxl_attrs old = node->attrs;
    int status = 0;

    node->attrs = (mxl_attrs){0};
    for (int i = 0; i < old.count && status == 0; i++) {
        bool is_axis = r->version < VERSION_0_9_5 && node->op != NULL && node->op->axis_was_none &&
                       strcmp(old.list[i].key, "axis") == 0 && strcmp(old.list[i].value, "-1") == 0;

        if (is_axis) /* meant: none */
            continue;
        status = r->version < VERSION_0_9
                     ? move_attr(node, &node->attrs, &old.list[i])
                     : mxl_attrs_set(&node->attrs, old.list[i].key, old.list[i].value);
    }
    mxl_attrs_clear(&old);
    return status;
}

/* ---- inputs ---- */

/* An entry [node, output, version] of a node before `count`; not counted yet. */
static int read_entry(const reading *r, const mxl_json *json, mxl_entry *entry)
{
    int node, output, version = 0;

    if (json->type != MXL_JSON_LIST || json->count < 2)
        return mxl_error("an input is no list of a node and an output");
    node = mxl_json_count(json->first, r->count - 1, "the node of an input");
    if (node < 0)
        return -1;
    output =
        mxl_json_count(json->first->next, r->node[node]->outputs - 1, "the output of an input");
    if (json->count > 2)
        version = mxl_json_count(json->first->next->next, INT_MAX, "the version of an input");
    if (output < 0 || version < 0)
        return -1;
    *entry = (mxl_entry){r->node[node], output, version};
    return 0;
}

/* Frees a list of inputs that has room for more than it has. Returns -1. */
static int drop_inputs(mxl_graph_node *node, int room)
{
    for (int i = 0; i < node->num_inputs; i++)
        mxl_ref_release(&node->inputs[i].node->ref);
    mxl_free(node->inputs, (size_t)room * sizeof(*node->inputs));
    node->inputs = NULL;
    node->num_inputs = 0;
    return -1;
}

static int read_inputs(const reading *r, const mxl_json *list, mxl_graph_node *node)
{
    if (list == NULL || list->type != MXL_JSON_LIST)
        return mxl_error("the inputs are no list");
    if (list->count == 0)
        return 0;
    node->inputs = mxl_alloc((size_t)list->count * sizeof(*node->inputs));
    if (node->inputs == NULL)
        return -1;
    for (const mxl_json *each = list->first; each != NULL; each = each->next) {
        mxl_entry entry;

        if (read_entry(r, each, &entry) != 0)
            return drop_inputs(node, list->count);
        mxl_entry_set(&node->inputs[node->num_inputs++], entry);
        if (entry.node->version < entry.version)
            entry.node->version = entry.version;
    }
    return 0;
}

/* Files before 0.9 leave out the auxiliary states. Adds variables name_input up to `needed`. */
static int add_inputs(mxl_graph_node *node, int needed)
{
    mxl_entry *inputs = mxl_alloc((size_t)needed * sizeof(*inputs));

    if (inputs == NULL)
        return -1;
    for (int i = 0; i < node->num_inputs; i++)
        inputs[i] = node->inputs[i];
    for (int i = node->num_inputs; i < needed; i++) {
        mxl_graph_node *variable = mxl_graph_missing_input(node, node->name, i);

        if (variable == NULL) {
            while (i-- > node->num_inputs)
                mxl_ref_release(&inputs[i].node->ref);
            mxl_free(inputs, (size_t)needed * sizeof(*inputs));
            return -1;
        }
        inputs[i] = (mxl_entry){variable, 0, 0};
    }
    mxl_free(node->inputs, (size_t)node->num_inputs * sizeof(*inputs));
    node->inputs = inputs;
    node->num_inputs = needed;
    return 0;
}

/* ---- nodes ---- */

/* Parses the parameters and checks the number of inputs. */
static int finish_node(const reading *r, mxl_graph_node *node)
{
    int needed, given = node->num_inputs;

    if (r->version < VERSION_0_9_5 && upgrade_attrs(r, node) != 0)
        return -1;
    if (node->op == NULL && given > 0)
        return mxl_error("a variable has no inputs");
    if (node->op == NULL)
        return r->notes ? mxl_note_in_numpy_shape(node) : 0;
    if (mxl_graph_node_parse(node, given) != 0)
        return -1;
    needed = mxl_graph_node_needs(node, given);
    if (needed < 0 || needed == given)
        return needed < 0 ? -1 : 0;
    if (r->version < VERSION_0_9 && given < needed)
        return add_inputs(node, needed);
    return mxl_error("%s: takes %d input%s, got %d", node->op->name, needed, needed == 1 ? "" : "s",
                     given);
}

static mxl_symbol *read_graph(const mxl_json *graph, int version, bool notes);

/* The graphs that the node runs. */
static int read_graphs(const reading *r, const mxl_json *list, mxl_graph_node *node)
{
    enum { MOST = 3 };
    int expected = node->op != NULL ? node->op->graphs : 0, made = 0, status = -1;
    mxl_symbol *graphs[MOST] = {NULL};
    const mxl_json *each;

    if (list == NULL && expected == 0)
        return 0;
    if (list == NULL || list->type != MXL_JSON_LIST || list->count != expected)
        return mxl_error("%s: \"subgraphs\" must be a list of %d",
                         node->op != NULL ? node->op->name : "a variable", expected);
    each = list->first;
    for (; made < expected && (graphs[made] = read_graph(each, r->version, r->notes)) != NULL;
         made++)
        each = each->next;
    if (made == expected)
        status = expected == 0 ? 0 : mxl_graph_node_set_graphs(node, graphs);
    while (made-- > 0)
        mxl_symbol_release(graphs[made]);
    return status;
}

static int read_node(reading *r, const mxl_json *json)
{
    const mxl_json *op = mxl_json_member(json, "op"), *name = mxl_json_member(json, "name");
    const mxl_op *found = NULL;
    mxl_graph_node *node;

    if (op == NULL || op->type != MXL_JSON_TEXT || name == NULL || name->type != MXL_JSON_TEXT)
        return mxl_error("has no \"op\" and \"name\"");
    if (strcmp(op->text, "null") != 0 && (found = mxl_op_find(op->text)) == NULL)
        return -1;
    node = mxl_graph_node_new(found, mxl_text_copy(name->text));
    if (node == NULL)
        return -1;
    node->is_numpys = found != NULL && mxl_op_is_numpys(found, op->text);
    if (read_attrs(&node->attrs, json) != 0 ||
        read_inputs(r, mxl_json_member(json, "inputs"), node) != 0 ||
        read_graphs(r, mxl_json_member(json, "subgraphs"), node) != 0 ||
        finish_node(r, node) != 0) {
        mxl_ref_release(&node->ref);
        return -1;
    }
    r->node[r->count++] = node;
    return 0;
}

static int read_nodes(reading *r, const mxl_json *list)
{
    if (list == NULL || list->type != MXL_JSON_LIST || list->count == 0)
        return mxl_error("the graph has no list of \"nodes\"");
    r->node = mxl_alloc((size_t)list->count * sizeof(*r->node));
    if (r->node == NULL)
        return -1;
    r->room = list->count;
    for (const mxl_json *each = list->first; each != NULL; each = each->next) {
        if (read_node(r, each) != 0) {
            char where[32];

            snprintf(where, sizeof where, "node %d", r->count);
            return mxl_error_prefix(where);
        }
    }
    return 0;
}

static mxl_symbol *read_heads(const reading *r, const mxl_json *list)
{
    mxl_symbol *symbol;
    int at = 0;

    if (list == NULL || list->type != MXL_JSON_LIST || list->count == 0)
        return mxl_error_null("the graph has no list of \"heads\"");
    symbol = mxl_symbol_new(list->count);
    if (symbol == NULL)
        return NULL;
    for (const mxl_json *each = list->first; each != NULL; each = each->next) {
        mxl_entry entry;

        if (read_entry(r, each, &entry) != 0) {
            mxl_symbol_release(symbol);
            return NULL;
        }
        mxl_entry_set(&symbol->entry[at++], entry);
    }
    return symbol;
}

/* "attrs": {"mxnet_version": ["int", 10901]}; without it, the file is older than 0.9. */
static int read_version(const mxl_json *graph)
{
    const mxl_json *version = mxl_json_member(mxl_json_member(graph, "attrs"), "mxnet_version");

    if (version == NULL)
        return VERSION_0_9 - 100;
    if (version->type != MXL_JSON_LIST || version->count != 2)
        return mxl_error("\"mxnet_version\" is no list of a type and a number");
    return mxl_json_count(version->first->next, INT_MAX, "\"mxnet_version\"");
}

/* "attrs": {"is_np_shape": ["int", 1]} */
static bool read_numpy_shape(const mxl_json *graph)
{
    const mxl_json *mode = mxl_json_member(mxl_json_member(graph, "attrs"), "is_np_shape");

    return mode != NULL && mode->type == MXL_JSON_LIST && mode->count == 2 &&
           mxl_json_count(mode->first->next, INT_MAX, "\"is_np_shape\"") > 0;
}

/* A graph, which may be within another one: then the version is the outer one's. Calls itself no
 * deeper than the parser goes. */
static mxl_symbol *read_graph(const mxl_json *graph, int version, bool notes)
{
    mxl_symbol *symbol = NULL;
    reading r = {.version = version, .notes = notes};

    if (graph->type != MXL_JSON_OBJECT)
        return mxl_error_null("JSON: a symbol is an object");
    if (read_nodes(&r, mxl_json_member(graph, "nodes")) == 0)
        symbol = read_heads(&r, mxl_json_member(graph, "heads"));
    for (int n = 0; n < r.count; n++)
        mxl_ref_release(&r.node[n]->ref);
    mxl_free(r.node, (size_t)r.room * sizeof(*r.node));
    return symbol;
}

mxl_symbol *mxl_symbol_read(const char *text, bool numpy_shape)
{
    mxl_symbol *symbol = NULL;
    mxl_json *graph;
    mxl_arena arena;
    int version;

    mxl_arena_init(&arena);
    graph = mxl_json_parse(text, &arena);
    if (graph != NULL && (version = read_version(graph)) >= 0)
        symbol = read_graph(graph, version, numpy_shape && !read_numpy_shape(graph));
    mxl_arena_clear(&arena);
    return symbol;
}
