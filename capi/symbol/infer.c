/* Inference: rules and the operators' own infer functions, until nothing changes. */
#include "symbol/infer.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/mem.h"
#include "engine/run/invoke.h"
#include "symbol/control/control.h"

/* ---- facts ---- */

static size_t facts_bytes(const mxl_indexed *graph)
{
    return ((size_t)graph->entries + 1) * (sizeof(mxl_shape) + sizeof(int));
}

/* The attributes are parsed like the parameters of an operator. */
static const mxl_op variable = {.name = "Variable",
                                MXL_ONLY_PARAM(mxl_tuple, shape, MXL_P_SHAPE, MXL_REQUIRED)};

static int parse_note(const char *text, mxl_tuple *list, mxl_arena *arena)
{
    if (mxl_param_parse(&variable, variable.params, text, list, arena) != 0)
        return -1;
    return list->n > MXL_MAX_NDIM
               ? mxl_error("attribute __shape__ has more than %d axes", MXL_MAX_NDIM)
               : 0;
}

int mxl_note_in_numpy_shape(mxl_graph_node *node)
{
    const char *text = mxl_attrs_get(&node->attrs, "__shape__");
    mxl_arena arena;
    mxl_tuple list;
    mxl_str made = {0};
    int status;

    if (text == NULL)
        return 0;
    mxl_arena_init(&arena);
    status = parse_note(text, &list, &arena);
    if (status == 0) {
        mxl_str_add(&made, list.n == 0 ? "None" : "[");
        for (int i = 0; i < list.n; i++)
            mxl_str_addf(&made, "%lld%s", (long long)(list.v[i] == 0 ? -1 : list.v[i]),
                         i == list.n - 1 ? "]" : ",");
        status = made.failed ? -1 : mxl_attrs_set(&node->attrs, "__shape__", made.text);
    }
    mxl_str_clear(&made);
    mxl_arena_clear(&arena);
    return status == 0 ? 0 : mxl_error_prefix(node->name);
}

/* The shape that a variable states by the attribute __shape__. */
static int note_shape(mxl_facts *facts, int entry, const mxl_graph_node *node)
{
    const char *text = mxl_attrs_get(&node->attrs, "__shape__");
    mxl_shape *said = &facts->shape[entry];
    mxl_arena arena;
    mxl_tuple list;
    int status;

    if (text == NULL || said->ndim >= 0 || strcmp(text, "None") == 0)
        return 0;
    mxl_arena_init(&arena);
    status = parse_note(text, &list, &arena);
    if (status == 0) {
        mxl_shape_set(said, list.n, list.v);
        mxl_shape_from_caller(said, facts->legacy_shape);
    }
    mxl_arena_clear(&arena);
    return status == 0 ? 0 : mxl_error_prefix(node->name);
}

/* The same of a dtype and __dtype__. */
static int note_dtype(mxl_facts *facts, int entry, const mxl_graph_node *node)
{
    const char *text = mxl_attrs_get(&node->attrs, "__dtype__");

    char *end;
    long dtype = text != NULL ? strtol(text, &end, 10) : -1;

    if (facts->dtype[entry] == MXL_DTYPE_UNKNOWN && dtype >= 0 && dtype < MXL_DTYPE_COUNT &&
        *end == '\0' && text[0] >= '0' && text[0] <= '9')
        facts->dtype[entry] = (int)dtype;
    return 0;
}

/* Takes what variables state by attributes, where the caller said nothing. */
static int read_notes(mxl_facts *facts, int (*note)(mxl_facts *, int, const mxl_graph_node *))
{
    const mxl_indexed *graph = facts->graph;

    for (int n = 0; n < graph->walk.count; n++) {
        const mxl_graph_node *node = graph->walk.node[n];

        if (node->op == NULL && note(facts, graph->first[n], node) != 0)
            return -1;
    }
    return 0;
}

int mxl_facts_begin(mxl_facts *facts, const mxl_indexed *graph, bool legacy_shape)
{
    facts->graph = graph;
    facts->legacy_shape = legacy_shape;
    facts->shape = mxl_alloc(facts_bytes(graph));
    if (facts->shape == NULL)
        return -1;
    facts->dtype = (int *)(facts->shape + graph->entries);
    for (int e = 0; e < graph->entries; e++)
        facts->shape[e].ndim = -1;
    mxl_facts_forget_dtypes(facts);
    return 0;
}

void mxl_facts_forget_dtypes(mxl_facts *facts)
{
    for (int e = 0; e < facts->graph->entries; e++)
        facts->dtype[e] = MXL_DTYPE_UNKNOWN;
}

void mxl_facts_end(mxl_facts *facts)
{
    if (facts->shape != NULL)
        mxl_free(facts->shape, facts_bytes(facts->graph));
    facts->shape = NULL;
}

int mxl_facts_say_shape(mxl_facts *facts, int entry, const mxl_shape *shape)
{
    return mxl_shape_complete(&facts->shape[entry], shape) < 0 ? -1 : 0;
}

int mxl_facts_say_dtype(mxl_facts *facts, int entry, int dtype)
{
    return mxl_dtype_complete(&facts->dtype[entry], dtype);
}

/* ---- one node ---- */

/* Whether rules say all that infer does. */
static bool says_all(const mxl_op *op)
{
    return op->completes_alone || op->infer == mxl_infer_said;
}

static int infer_dtypes_of(const mxl_graph_node *node, mxl_rule *rule)
{
    return node->op->graphs > 0 ? mxl_control_dtypes(node, rule) : mxl_rule_dtypes(rule);
}

static int infer_shapes_of(const mxl_graph_node *node, mxl_rule *rule)
{
    const mxl_op *op = node->op;

    if (op->graphs > 0)
        return mxl_control_shapes(node, rule);
    if (mxl_rule_shapes(rule) != 0)
        return -1;
    return says_all(op) || op->needs_out || mxl_op_creates(op) || mxl_rule_by_values(rule)
               ? 0
               : mxl_rule_own_shapes(rule);
}

/* ---- all nodes ---- */

typedef int infer_of(const mxl_graph_node *node, mxl_rule *rule);

static int infer_node(mxl_facts *facts, int n, infer_of *infer, bool *changed)
{
    const mxl_indexed *graph = facts->graph;
    mxl_graph_node *node = graph->walk.node[n];
    mxl_rule rule = {.op = node->op,
                     .params = node->params,
                     .in = graph->input + graph->args[n],
                     .num_in = node->num_inputs,
                     .out = graph->first[n],
                     .num_out = node->outputs,
                     .visible = node->visible,
                     .shapes = facts->shape,
                     .dtypes = facts->dtype,
                     .legacy_shape = facts->legacy_shape};

    if (node->op == NULL || infer(node, &rule) == 0) {
        *changed |= rule.changed;
        return 0;
    }
    mxl_error_prefix(node->name);
    return mxl_error_prefix("Error in operator");
}

static int infer_all(mxl_facts *facts, infer_of *infer)
{
    int count = facts->graph->walk.count;
    bool changed = true;

    while (changed) {
        changed = false;
        for (int n = 0; n < count; n++) {
            if (infer_node(facts, n, infer, &changed) != 0)
                return -1;
        }
        if (!changed)
            break;
        changed = false;
        for (int n = count; n-- > 0;) {
            if (infer_node(facts, n, infer, &changed) != 0)
                return -1;
        }
    }
    return 0;
}

/* Every operator has its inputs and outputs: rules and infer functions read them unchecked. It
 * lacks them before it is composed, and where attributes that were set later say another number. */
static int check_nodes(const mxl_indexed *graph)
{
    for (int n = 0; n < graph->walk.count; n++) {
        const mxl_graph_node *node = graph->walk.node[n];
        mxl_arity arity;

        if (node->op == NULL)
            continue;
        if (mxl_invoke_arity(node->op, node->params, node->num_inputs, &arity) != 0) {
            if (node->num_inputs == 0)
                (void)mxl_error("%s: is not composed with its inputs", node->op->name);
            return mxl_error_prefix("Error in operator");
        }
    }
    return 0;
}

static int infer_facts(mxl_facts *facts, int (*note)(mxl_facts *, int, const mxl_graph_node *),
                       infer_of *infer)
{
    if (check_nodes(facts->graph) != 0 || read_notes(facts, note) != 0)
        return -1;
    return infer_all(facts, infer);
}

int mxl_infer_shapes(mxl_facts *facts)
{
    return infer_facts(facts, note_shape, infer_shapes_of);
}

int mxl_infer_dtypes(mxl_facts *facts)
{
    return infer_facts(facts, note_dtype, infer_dtypes_of);
}
