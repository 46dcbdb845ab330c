/* Inference: rules and the operators' own infer functions, until nothing changes. */
#include "graph/infer.h"

#include <string.h>

#include "base/memory/mem.h"
#include "base/dtype.h"
#include "engine/run/invoke.h"
#include "graph/control/control.h"
#include "op/plan.h"
#include "ops/custom.h"

/* ---- facts ---- */

bool mxl_shape_known(const mxl_shape *shape)
{
    for (int i = 0; i < shape->ndim; i++) {
        if (shape->dim[i] < 0)
            return false;
    }
    return shape->ndim >= 0;
}

static size_t facts_bytes(const mxl_indexed *graph)
{
    return ((size_t)graph->entries + 1) * (sizeof(mxl_shape) + sizeof(int));
}

/* The attributes are parsed like the parameters of an operator. */
static const mxl_op variable = {.name = "Variable",
                                MXL_ONLY_PARAM(mxl_tuple, shape, MXL_P_SHAPE, MXL_REQUIRED)};

/* The shape that a variable states by the attribute __shape__. */
static int note_shape(mxl_facts *facts, int entry, const mxl_graph_node *node)
{
    const char *text = mxl_attrs_get(&node->attrs, "__shape__");
    mxl_shape *said = &facts->shape[entry];
    mxl_arena arena;
    mxl_tuple list;
    int status;

    if (text == NULL || said->ndim >= 0)
        return 0;
    mxl_arena_init(&arena);
    status = mxl_param_parse(&variable, variable.params, text, &list, &arena);
    if (status == 0 && list.n > MXL_MAX_NDIM)
        status = mxl_error("attribute __shape__ has more than %d axes", MXL_MAX_NDIM);
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

    if (text != NULL && facts->dtype[entry] == MXL_DTYPE_UNKNOWN && text[0] >= '0' &&
        text[0] <= '9' && text[1] == '\0')
        facts->dtype[entry] = text[0] - '0';
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

void mxl_shape_from_caller(mxl_shape *shape, bool legacy_shape)
{
    for (int i = 0; i < shape->ndim; i++) {
        if (shape->dim[i] < 0 || (legacy_shape && shape->dim[i] == 0))
            shape->dim[i] = -1;
    }
    if (legacy_shape && shape->ndim == 0)
        shape->ndim = -1;
}

/* Fills `to`; 1 where something was new, 0 where not, -1 where they contradict (no error set). */
static int merge(mxl_shape *to, const mxl_shape *from)
{
    int changed = 0;

    if (from->ndim < 0)
        return 0;
    if (to->ndim < 0) {
        *to = *from;
        return 1;
    }
    if (to->ndim != from->ndim)
        return -1;
    for (int i = 0; i < to->ndim; i++) {
        if (to->dim[i] >= 0 && from->dim[i] >= 0 && to->dim[i] != from->dim[i])
            return -1;
    }
    for (int i = 0; i < to->ndim; i++) {
        if (to->dim[i] < 0 && from->dim[i] >= 0) {
            to->dim[i] = from->dim[i];
            changed = 1;
        }
    }
    return changed;
}

static int contradicts(const mxl_shape *to, const mxl_shape *from)
{
    return mxl_error("Shape inconsistent, Provided = %s, inferred shape=%s",
                     MXL_SHAPE_TEXT(to->ndim, to->dim), MXL_SHAPE_TEXT(from->ndim, from->dim));
}

int mxl_facts_say_shape(mxl_facts *facts, int entry, const mxl_shape *shape)
{
    return merge(&facts->shape[entry], shape) < 0 ? contradicts(&facts->shape[entry], shape) : 0;
}

int mxl_facts_say_dtype(mxl_facts *facts, int entry, int dtype)
{
    int *known = &facts->dtype[entry];

    if (*known != MXL_DTYPE_UNKNOWN && dtype != MXL_DTYPE_UNKNOWN && *known != dtype)
        return mxl_error("Type inconsistent, Provided = %s, inferred type = %s",
                         mxl_dtype_name(*known), mxl_dtype_name(dtype));
    if (dtype != MXL_DTYPE_UNKNOWN)
        *known = dtype;
    return 0;
}

int mxl_rule_merge(mxl_rule *rule, mxl_shape *to, const mxl_shape *from)
{
    int status = merge(to, from);

    rule->changed |= status > 0;
    return status < 0 ? contradicts(to, from) : 0;
}

int mxl_rule_say(mxl_rule *rule, int i, int ndim, const int64_t *dim)
{
    mxl_shape said;
    char room[32];

    if (i >= rule->num_in)
        return 0;
    mxl_shape_set(&said, ndim, dim);
    return mxl_rule_merge(rule, mxl_rule_in(rule, i), &said) == 0
               ? 0
               : mxl_error_prefix(mxl_graph_node_input(rule->node, i, room));
}

/* ---- one node ---- */

static int infer_dtypes_of(mxl_rule *rule)
{
    bool found;

    if (rule->node->op->graphs > 0)
        return mxl_control_dtypes(rule);
    if (mxl_custom_of(rule->node->op, rule->node->params) != NULL)
        return mxl_rule_custom_dtypes(rule);
    if (mxl_rule_own_dtypes(rule, &found) != 0)
        return -1;
    return found ? 0 : mxl_rule_dtypes(rule);
}

static int infer_shapes_of(mxl_rule *rule)
{
    if (rule->node->op->graphs > 0)
        return mxl_control_shapes(rule);
    if (mxl_custom_of(rule->node->op, rule->node->params) != NULL)
        return mxl_rule_custom_shapes(rule);
    if (mxl_rule_shapes(rule) != 0)
        return -1;
    return mxl_rule_says_all(rule->node) ? 0 : mxl_rule_own_shapes(rule);
}

/* ---- all nodes ---- */

static int infer_node(mxl_facts *facts, int n, int (*infer)(mxl_rule *), bool *changed)
{
    const mxl_indexed *graph = facts->graph;
    mxl_graph_node *node = graph->walk.node[n];
    mxl_rule rule = {.node = node,
                     .facts = facts,
                     .in = graph->input + graph->args[n],
                     .num_in = node->num_inputs,
                     .out = graph->first[n],
                     .num_out = node->outputs};

    if (node->op == NULL || infer(&rule) == 0) {
        *changed |= rule.changed;
        return 0;
    }
    mxl_error_prefix(node->name);
    return mxl_error_prefix("Error in operator");
}

static int infer_all(mxl_facts *facts, int (*infer)(mxl_rule *))
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
                       int (*infer)(mxl_rule *))
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
