/* Graph nodes: their life, and parameters parsed from attributes. */
#include "symbol/symbol.h"

#include <stdio.h>
#include <string.h>

#include "base/memory/mem.h"
#include "engine/run/invoke.h"
#include "engine/run/run.h"

static void release_params(mxl_graph_node *node)
{
    mxl_free(node->params, node->params_bytes);
    mxl_ref_release(node->held);
}

static void node_free(mxl_ref *ref)
{
    mxl_graph_node *node = (mxl_graph_node *)ref;

    for (int i = 0; i < node->num_inputs; i++)
        mxl_ref_release(&node->inputs[i].node->ref);
    mxl_free(node->inputs, (size_t)node->num_inputs * sizeof(*node->inputs));
    mxl_graph_node_drop_graphs(node);
    release_params(node);
    mxl_attrs_clear(&node->attrs);
    mxl_text_free(node->name);
    mxl_free(node, sizeof(*node));
}

mxl_graph_node *mxl_graph_node_new(const mxl_op *op, char *name)
{
    mxl_graph_node *node = name != NULL ? mxl_alloc_zero(sizeof(*node)) : NULL;

    if (node == NULL) {
        mxl_text_free(name);
        return NULL;
    }
    mxl_ref_init(&node->ref, node_free);
    node->op = op;
    node->name = name;
    node->outputs = node->visible = 1;
    return node;
}

const char *mxl_graph_node_op_name(const mxl_graph_node *node)
{
    if (node->op == NULL)
        return "null";
    return node->is_numpys ? node->op->numpy_name : node->op->name;
}

/* ---- graphs ---- */

int mxl_graph_node_set_graphs(mxl_graph_node *node, mxl_symbol *const *graphs)
{
    size_t bytes = (size_t)node->op->graphs * sizeof(*graphs);
    mxl_symbol **own = mxl_alloc(bytes);

    if (own == NULL)
        return -1;
    memcpy(own, graphs, bytes);
    for (int g = 0; g < node->op->graphs; g++)
        mxl_ref_retain(&own[g]->ref);
    mxl_graph_node_drop_graphs(node);
    node->graphs = own;
    return 0;
}

void mxl_graph_node_drop_graphs(mxl_graph_node *node)
{
    if (node->graphs == NULL)
        return;
    for (int g = 0; g < node->op->graphs; g++)
        mxl_symbol_release(node->graphs[g]);
    mxl_free(node->graphs, (size_t)node->op->graphs * sizeof(*node->graphs));
    node->graphs = NULL;
}

/* ---- parameters ---- */

/* True for an attribute that is no parameter: __shape__, __lr_mult__. */
static bool is_note(const char *key)
{
    return strncmp(key, "__", 2) == 0;
}

/* A struct in an arena, parsed. -1 with the error set. */
static int parse_into(const mxl_graph_node *node, int num_inputs, void *params, mxl_arena *arena)
{
    const mxl_op *op = node->op;
    size_t room = ((size_t)node->attrs.count + 1) * sizeof(char *);
    const char **keys = mxl_arena_alloc(arena, room), **values = mxl_arena_alloc(arena, room);
    const char *counts = op->key_var_num_args;
    char *number = mxl_arena_alloc(arena, 16);
    int count = 0;

    if (keys == NULL || values == NULL || number == NULL)
        return -1;
    for (int i = 0; i < node->attrs.count; i++) {
        const mxl_attr *attr = &node->attrs.list[i];

        if (is_note(attr->key) || (counts != NULL && strcmp(attr->key, counts) == 0))
            continue;
        keys[count] = attr->key;
        values[count++] = attr->value;
    }
    if (counts != NULL && mxl_param_find(op, counts) != NULL) {
        snprintf(number, 16, "%d", num_inputs + op->graphs);
        keys[count] = counts;
        values[count++] = number;
    }
    return mxl_params_parse(op, count, keys, values, params, arena);
}

const void *mxl_graph_node_call_params(const mxl_graph_node *node, mxl_arena *arena)
{
    void *params = mxl_arena_alloc(arena, node->op->params_size + 1);

    return params != NULL && parse_into(node, node->num_inputs, params, arena) == 0 ? params : NULL;
}

int mxl_graph_node_said(const mxl_graph_node *node)
{
    const char *key = node->op->key_var_num_args;
    const char *text = key != NULL ? mxl_attrs_get(&node->attrs, key) : NULL;
    int count;

    if (text == NULL || sscanf(text, "%d", &count) != 1 || count <= node->op->graphs)
        return 0;
    return count - node->op->graphs;
}

static int set_arity(mxl_graph_node *node, const void *params, int num_inputs)
{
    mxl_arity arity = {num_inputs, 1, 1};

    if (node->op->arity != NULL && node->op->arity(params, &arity) != 0)
        return mxl_error_prefix(node->op->name);
    node->outputs = arity.outputs;
    node->visible = arity.visible;
    return 0;
}

int mxl_graph_node_parse(mxl_graph_node *node, int num_inputs)
{
    const mxl_op *op = node->op;
    int count = num_inputs > 0 ? num_inputs : mxl_graph_node_said(node), status = -1;
    mxl_arena arena;
    size_t bytes;
    void *params, *own = NULL;

    count = count > 0 ? count : 1;
    mxl_arena_init(&arena);
    params = mxl_arena_alloc(&arena, op->params_size + 1);
    if (params == NULL || parse_into(node, count, params, &arena) != 0)
        goto done;
    bytes = mxl_params_bytes(op, params);
    own = mxl_alloc(bytes + 1);
    if (node->graphs != NULL && mxl_graph_node_check_graphs(node, params, num_inputs) != 0)
        goto done;
    if (own == NULL || set_arity(node, params, count) != 0)
        goto done;
    mxl_params_copy(op, own, params);
    release_params(node);
    node->params = own;
    node->params_bytes = bytes + 1;
    node->held = op->held != NULL ? op->held(params) : NULL;
    if (node->held != NULL)
        mxl_ref_retain(node->held);
    own = NULL;
    status = 0;
done:
    if (own != NULL)
        mxl_free(own, bytes + 1);
    mxl_arena_clear(&arena);
    return status;
}

/* ---- inputs ---- */

bool mxl_graph_node_mutates(const mxl_graph_node *node, int i)
{
    const mxl_op *op = node->op;
    const mxl_call call = {.op = op, .params = node->params, .num_inputs = node->num_inputs};

    if (op == NULL)
        return false;
    return (op->is_state != NULL && op->is_state(node->params, i)) || mxl_run_mutates(&call, i);
}
