/* MXAutogradGetSymbol: the graph that an array was recorded in, as a symbol. The nodes of the tape
 * are written as a symbol's file, which the reader of such files makes a symbol of. */
#include <string.h>

#include "api/autograd/node.h"
#include "api/symbol/handles.h"
#include "base/map.h"
#include "base/memory/mem.h"
#include "symbol/json.h"
#include "ops/shape/movement.h"

/* A node or variable on the way down, and which of its inputs is next. */
typedef struct step {
    mxl_edge edge; /* borrowed */
    int next;
} step;

typedef struct writing {
    mxl_map places; /* of nodes and variables: position in the file, plus 1 */
    mxl_str text;
    int count;  /* nodes written */
    int leaves; /* variables and constants among them */
    int operators;
    step *stack;
    size_t depth, room;
} writing;

static size_t *place_of(writing *w, const void *target)
{
    return (size_t *)(void *)mxl_map_put(&w->places, target);
}

static int go_to(writing *w, mxl_edge edge)
{
    if (w->depth == w->room) {
        size_t room = w->room == 0 ? 64 : 2 * w->room;
        step *stack = mxl_realloc(w->stack, w->room * sizeof(*stack), room * sizeof(*stack));

        if (stack == NULL)
            return -1;
        w->stack = stack;
        w->room = room;
    }
    w->stack[w->depth++] = (step){edge, 0};
    return 0;
}

/* Texts of parameters, whose characters JSON knows but for two. */
static void add_text(mxl_str *out, const char *text)
{
    mxl_str_add(out, "\"");
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            mxl_str_add(out, "\\");
        mxl_str_addf(out, "%c", *text);
    }
    mxl_str_add(out, "\"");
}

/* A variable, or a constant that an operator was given. Returns its position. */
static int write_leaf(writing *w, const char *kind)
{
    mxl_str_addf(&w->text, "%s{\"op\": \"null\", \"name\": \"%s%d\", \"inputs\": []}",
                 w->count > 0 ? ", " : "", kind, w->leaves++);
    return w->count++;
}

/* The parameters of a node that have other values than their defaults. */
static int write_params(writing *w, mxl_edge edge, bool rows)
{
    MXLNodeHandle handle;
    const char **keys, **values;
    int count = 0, status;

    handle = api_node_handle(edge);
    if (handle == NULL)
        return -1;
    status = MXLNodeGetParams(handle, &count, &keys, &values);
    mxl_str_add(&w->text, ", \"attrs\": {");
    if (rows)
        mxl_str_add(&w->text, "\"axis\": \"0\"");
    for (int i = 0; status == 0 && i < count; i++) {
        mxl_str_add(&w->text, i > 0 || rows ? ", " : "");
        add_text(&w->text, keys[i]);
        mxl_str_add(&w->text, ": ");
        add_text(&w->text, values[i]);
    }
    mxl_str_add(&w->text, "}");
    return MXLNodeFree(handle) == 0 ? status : -1;
}

/* Writes a node whose inputs are written. */
static int write_node(writing *w, mxl_edge edge)
{
    const mxl_node *node = mxl_edge_node(edge);
    bool rows = node->op == &mxl_op_slice_rows; /* x[1:3], in 1.9.1's words */
    mxl_str inputs = {0};
    int status;

    if (node->payload != NULL)
        return mxl_error("%s was recorded with a function of the caller's, which no symbol has",
                         node->op->name);
    for (int i = 0; i < node->num_inputs; i++) {
        mxl_edge from = node->edges[i];
        size_t *place = from.target != NULL ? place_of(w, from.target) : NULL;
        int position = place != NULL ? (int)*place - 1 : write_leaf(w, "null");

        mxl_str_addf(&inputs, "%s[%d, %d, 0]", i > 0 ? ", " : "", position, mxl_edge_slot(from));
    }
    mxl_str_addf(&w->text, "%s{\"op\": \"%s\", \"name\": \"node_%d\"", w->count > 0 ? ", " : "",
                 (rows ? &mxl_op_slice_axis : node->op)->name, w->operators++);
    status = write_params(w, edge, rows);
    mxl_str_addf(&w->text, ", \"inputs\": [%s]}", inputs.text != NULL ? inputs.text : "");
    if (inputs.failed)
        status = -1;
    mxl_str_clear(&inputs);
    w->count++;
    return status;
}

/* One step: down to the next input, or writes what has none left. */
static int go_on(writing *w)
{
    step *top = &w->stack[w->depth - 1];
    const mxl_node *node = mxl_edge_node(top->edge);
    mxl_edge edge = top->edge;
    size_t *place;

    while (node != NULL && top->next < node->num_inputs) {
        mxl_edge from = node->edges[top->next++];

        if (from.target == NULL)
            continue;
        place = place_of(w, from.target);
        if (place == NULL)
            return -1;
        if (*place == 0)
            return go_to(w, from);
    }
    w->depth--;
    place = place_of(w, edge.target);
    if (place == NULL)
        return -1;
    if (*place != 0) /* two nodes wanted it */
        return 0;
    if (node == NULL)
        write_leaf(w, "var");
    else if (write_node(w, edge) != 0)
        return -1;
    place = place_of(w, edge.target);
    *place = (size_t)w->count;
    return 0;
}

/* The symbol whose output is the array of an edge; NULL with the error set. */
static mxl_symbol *symbol_of(mxl_edge edge)
{
    writing w = {.count = 0};
    mxl_symbol *symbol = NULL;
    int status;

    mxl_str_add(&w.text, "{\"nodes\": [");
    status = go_to(&w, edge);
    while (status == 0 && w.depth > 0)
        status = go_on(&w);
    mxl_str_addf(&w.text, "], \"heads\": [[%d, %d, 0]]}", w.count - 1, mxl_edge_slot(edge));
    if (status == 0 && w.text.failed)
        status = mxl_error("not enough memory for a graph of %d nodes", w.count);
    if (status == 0)
        symbol = mxl_symbol_read(w.text.text, false);
    mxl_str_clear(&w.text);
    mxl_map_clear(&w.places);
    mxl_free(w.stack, w.room * sizeof(*w.stack));
    return symbol;
}

int MXAutogradGetSymbol(NDArrayHandle handle, SymbolHandle *out)
{
    mxl_symbol *symbol;
    mxl_array *array;
    mxl_edge edge;
    mxl_node *node;

    API_NEED(out);
    array = api_pin_for(handle, __func__);
    if (array == NULL)
        return -1;
    edge = mxl_array_edge(array);
    api_unpin(handle);
    node = mxl_edge_node(edge);
    if (edge.target == NULL || (node != NULL && atomic_load(&node->released))) {
        mxl_ref_release(edge.target);
        return mxl_error("%s: the array is not part of a recorded graph: it was not computed "
                         "within autograd.record(), or backward has released the graph",
                         __func__);
    }
    symbol = symbol_of(edge);
    mxl_ref_release(edge.target);
    return api_symbol_give(symbol, out, __func__);
}
