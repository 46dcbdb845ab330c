/* Symbols as JSON, in the bytes that 1.9.1 writes. */
#include "base/map.h"
#include "graph/json.h"

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

static void add_attrs(mxl_str *out, const mxl_attrs *attrs)
{
    bool many = attrs->count > 1;

    mxl_str_add(out, "      \"attrs\": {");
    for (int i = 0; i < attrs->count; i++) {
        mxl_str_add(out, many ? (i > 0 ? ", \n        " : "\n        ") : "");
        add_text(out, attrs->list[i].key);
        mxl_str_add(out, ": ");
        add_text(out, attrs->list[i].value);
    }
    mxl_str_add(out, many ? "\n      }, \n" : "}, \n");
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
    mxl_walk walk;
    mxl_map numbers; /* of nodes, from 1 */
    const mxl_graph_node *node;
    const int *row;
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

static void add_node(mxl_str *out, writing *w, const mxl_graph_node *node)
{
    w->node = node;
    mxl_str_addf(out, "    {\n      \"op\": \"%s\", \n      \"name\": ",
                 node->op != NULL ? node->op->name : "null");
    add_text(out, node->name);
    mxl_str_add(out, ", \n");
    if (node->attrs.count > 0)
        add_attrs(out, &node->attrs);
    mxl_str_add(out, "      \"inputs\": ");
    add_list(out, 6, node->num_inputs, add_input, w);
    mxl_str_add(out, "\n    }");
}

/* The lists after the nodes; `row` has room for a number more than there are nodes. */
static void add_lists(mxl_str *out, writing *w, int *row)
{
    int count = 0;

    w->row = row;
    for (int n = 0; n < w->walk.count; n++) {
        if (w->walk.node[n]->op == NULL)
            row[count++] = n;
    }
    mxl_str_add(out, "\n  ], \n  \"arg_nodes\": ");
    add_list(out, 2, count, add_number, w);
    row[0] = 0;
    for (int n = 0; n < w->walk.count; n++)
        row[n + 1] = row[n] + mxl_graph_node_total(w->walk.node[n]);
    mxl_str_add(out, ", \n  \"node_row_ptr\": ");
    add_list(out, 2, w->walk.count + 1, add_number, w);
    mxl_str_add(out, ", \n  \"heads\": ");
    add_list(out, 2, w->symbol->count, add_head, w);
    mxl_str_add(out, ", \n  \"attrs\": {\"mxnet_version\": [\"int\", 10901]}\n}");
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

int mxl_symbol_write(const mxl_symbol *symbol, mxl_str *out)
{
    writing w = {.symbol = symbol};
    mxl_arena arena;
    int *row, status = -1;

    if (mxl_walk_begin(&w.walk, symbol) != 0)
        return -1;
    mxl_arena_init(&arena);
    row = mxl_arena_alloc(&arena, ((size_t)w.walk.count + 1) * sizeof(*row));
    if (row != NULL && number_nodes(&w) == 0) {
        mxl_str_add(out, "{\n  \"nodes\": [");
        for (int n = 0; n < w.walk.count; n++) {
            mxl_str_add(out, n > 0 ? ", \n" : "\n");
            add_node(out, &w, w.walk.node[n]);
        }
        add_lists(out, &w, row);
        status = out->failed ? mxl_error_memory(out->capacity) : 0;
    }
    mxl_arena_clear(&arena);
    mxl_map_clear(&w.numbers);
    mxl_walk_end(&w.walk);
    return status;
}
