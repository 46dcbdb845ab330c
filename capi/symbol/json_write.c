/* Symbols as JSON, in the bytes that 1.9.1 writes. */
#include "base/map.h"
#include "symbol/json.h"

static void add_text(mxl_str *out, const char *text)
{
    mxl_str_add(out, "\"");
    for (; *text != '\0'; text++) {
        char one[3] = {*text, '\0', '\0'};

        if (*text == '"' || *text == '\\' || *text == '\n' || *text == '\r' || *text == '\t') {
            one[0] = '\\';
            one[1] = *text == '\n' ? 'n' : *text == '\r' ? 'r' : *text == '\t' ? 't' : *text;
        }
        mxl_str_add(out, one);
    }
    mxl_str_add(out, "\"");
}

/* The `indent` is that of the object which has the attributes. */
static void add_attrs(mxl_str *out, int indent, const mxl_attrs *attrs)
{
    bool many = attrs->count > 1;

    mxl_str_addf(out, "%*s\"attrs\": {", indent + 2, "");
    for (int i = 0; i < attrs->count; i++) {
        mxl_str_add(out, i > 0 ? ", " : "");
        if (many)
            mxl_str_addf(out, "\n%*s", indent + 4, "");
        add_text(out, attrs->list[i].key);
        mxl_str_add(out, ": ");
        add_text(out, attrs->list[i].value);
    }
    if (many)
        mxl_str_addf(out, "\n%*s", indent + 2, "");
    mxl_str_add(out, "}, \n");
}

/* A list of items: more than ten stand below each other. `add` appends item i. */
static void add_list(mxl_str *out, int indent, int count, void (*add)(mxl_str *, int, const void *),
                     const void *payload)
{
    bool many = count > 10;

    mxl_str_add(out, "[");
    for (int i = 0; i < count; i++) {
        if (i > 0)
            mxl_str_add(out, ", ");
        if (many)
            mxl_str_addf(out, "\n%*s", indent + 2, "");
        add(out, i, payload);
    }
    if (many)
        mxl_str_addf(out, "\n%*s", indent, "");
    mxl_str_add(out, "]");
}

/* ---- lists of the graph ---- */

typedef struct writing {
    const mxl_symbol *symbol;
    mxl_node_walk walk;
    mxl_map numbers; /* of nodes, from 1 */
    const mxl_graph_node *node;
    const int *row;
    int indent; /* of the whole graph */
} writing;

static int number_of(const writing *w, const mxl_graph_node *node)
{
    return (int)(intptr_t)*mxl_map_find(&w->numbers, node) - 1;
}

static void add_entry(mxl_str *out, const writing *w, const mxl_entry *entry)
{
    mxl_str_addf(out, "[%d, %d, %d]", number_of(w, entry->node), entry->output, entry->version);
}

static void add_input(mxl_str *out, int i, const void *payload)
{
    const writing *w = payload;

    add_entry(out, w, &w->node->inputs[i]);
}

static void add_head(mxl_str *out, int i, const void *payload)
{
    const writing *w = payload;

    add_entry(out, w, &w->symbol->entry[i]);
}

static void add_number(mxl_str *out, int i, const void *payload)
{
    const writing *w = payload;

    mxl_str_addf(out, "%d", w->row[i]);
}

static int add_graph(mxl_str *out, const mxl_symbol *symbol, int indent);

/* The graphs that a node runs, after its inputs. */
static int add_graphs(mxl_str *out, int indent, const mxl_graph_node *node)
{
    mxl_str_addf(out, ", \n%*s\"subgraphs\": [", indent + 2, "");
    for (int g = 0; g < node->op->graphs; g++) {
        mxl_str_addf(out, "%s\n%*s", g > 0 ? ", " : "", indent + 4, "");
        if (add_graph(out, node->graphs[g], indent + 4) != 0)
            return -1;
        mxl_str_addf(out, "\n%*s}", indent + 4, "");
    }
    mxl_str_addf(out, "\n%*s]", indent + 2, "");
    return 0;
}

static int add_node(mxl_str *out, writing *w, const mxl_graph_node *node)
{
    int indent = w->indent + 4;

    w->node = node;
    mxl_str_addf(out, "%*s{\n%*s\"op\": \"%s\", \n%*s\"name\": ", indent, "", indent + 2, "",
                 mxl_graph_node_op_name(node), indent + 2, "");
    add_text(out, node->name);
    mxl_str_add(out, ", \n");
    if (node->attrs.count > 0)
        add_attrs(out, indent, &node->attrs);
    mxl_str_addf(out, "%*s\"inputs\": ", indent + 2, "");
    add_list(out, indent + 2, node->num_inputs, add_input, w);
    if (node->graphs != NULL && add_graphs(out, indent, node) != 0)
        return -1;
    mxl_str_addf(out, "\n%*s}", indent, "");
    return 0;
}

/* The lists after the nodes; `row` has room for a number more than there are nodes. */
static void add_lists(mxl_str *out, writing *w, int *row)
{
    int count = 0, indent = w->indent + 2;

    w->row = row;
    for (int n = 0; n < w->walk.count; n++) {
        if (w->walk.node[n]->op == NULL)
            row[count++] = n;
    }
    mxl_str_addf(out, "\n%*s], \n%*s\"arg_nodes\": ", indent, "", indent, "");
    add_list(out, indent, count, add_number, w);
    row[0] = 0;
    for (int n = 0; n < w->walk.count; n++)
        row[n + 1] = row[n] + mxl_graph_node_total(w->walk.node[n]);
    mxl_str_addf(out, ", \n%*s\"node_row_ptr\": ", indent, "");
    add_list(out, indent, w->walk.count + 1, add_number, w);
    mxl_str_addf(out, ", \n%*s\"heads\": ", indent, "");
    add_list(out, indent, w->symbol->count, add_head, w);
}

static int number_nodes(writing *w)
{
    for (int n = 0; n < w->walk.count; n++) {
        void **number = mxl_map_put(&w->numbers, w->walk.node[n]);

        if (number == NULL)
            return -1;
        *number = (void *)(intptr_t)(n + 1);
    }
    return 0;
}

/* A graph from its first brace to the end of its last list, at the indent of its braces. Calls
 * itself for graphs within, which are few levels deep (control/check.c). */
static int add_graph(mxl_str *out, const mxl_symbol *symbol, int indent)
{
    writing w = {.symbol = symbol, .indent = indent};
    mxl_arena arena;
    int *row, status = -1;

    if (mxl_walk_begin(&w.walk, symbol) != 0)
        return -1;
    mxl_arena_init(&arena);
    row = mxl_arena_alloc(&arena, ((size_t)w.walk.count + 1) * sizeof(*row));
    if (row != NULL && number_nodes(&w) == 0) {
        status = 0;
        mxl_str_addf(out, "{\n%*s\"nodes\": [", indent + 2, "");
        for (int n = 0; n < w.walk.count && status == 0; n++) {
            mxl_str_add(out, n > 0 ? ", \n" : "\n");
            status = add_node(out, &w, w.walk.node[n]);
        }
        add_lists(out, &w, row);
    }
    mxl_arena_clear(&arena);
    mxl_map_clear(&w.numbers);
    mxl_walk_end(&w.walk);
    return status;
}

int mxl_symbol_write(const mxl_symbol *symbol, bool numpy_shape, mxl_str *out)
{
    if (add_graph(out, symbol, 0) != 0)
        return -1;
    if (numpy_shape)
        mxl_str_add(out, ", \n  \"attrs\": {\n    \"is_np_shape\": [\"int\", 1], \n"
                         "    \"mxnet_version\": [\"int\", 10901]\n  }\n}");
    else
        mxl_str_add(out, ", \n  \"attrs\": {\"mxnet_version\": [\"int\", 10901]}\n}");
    return out->failed ? mxl_error_memory(out->capacity) : 0;
}
