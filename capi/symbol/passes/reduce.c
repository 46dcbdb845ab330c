/* Graphs in 16 bits; see passes.h. Nodes get casted inputs in the order of the walk, so that the
 * dtypes of a node's inputs are known when it is its turn. */
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/memory/mem.h"
#include "ops/elementwise/elementwise.h"
#include "symbol/infer.h"
#include "symbol/passes/passes.h"

/* An entry of the graph as it was. */
typedef struct number {
    int dtype;                    /* of the entry itself; MXL_DTYPE_UNKNOWN: nobody knows */
    mxl_graph_node *low, *single; /* kept; its casts. NULL: none yet */
} number;

typedef struct reducing {
    const mxl_reducing *asked;
    mxl_indexed graph;
    number *numbers; /* [entries] */
    int *dtypes;     /* [entries]: room for the rule of one node */
} reducing;

/* ---- what becomes of a node ---- */

typedef enum way { STAYS, LOW, SINGLE, WIDEST } way;

/* Whether a parameter has a value for which the operator needs float32. */
static bool is_conditional(const mxl_reducing *asked, const mxl_graph_node *node, const char *op)
{
    for (int i = 0; i < asked->num_conditional; i++) {
        const char *value = strcmp(asked->conditional_ops[i], op) == 0
                                ? mxl_attrs_get(&node->attrs, asked->conditional_params[i])
                                : NULL;

        if (value != NULL && strcmp(value, asked->conditional_values[i]) == 0)
            return true;
    }
    return false;
}

static way way_of(const mxl_reducing *asked, const mxl_graph_node *node)
{
    const char *op = mxl_graph_node_op_name(node);

    if (mxl_pass_is_listed(asked->num_excluded, asked->excluded, node->name) ||
        mxl_pass_is_listed(asked->num_single, asked->single_ops, op) ||
        is_conditional(asked, node, op))
        return SINGLE;
    if (mxl_pass_is_listed(asked->num_low, asked->low_ops, op))
        return LOW;
    return mxl_pass_is_listed(asked->num_widest, asked->widest_ops, op) ? WIDEST : STAYS;
}

/* ---- new nodes; NULL with the error set ---- */

/* A node of `count` inputs called FIRST_amp_ENDING, where FIRST is the name of the first input. */
static mxl_graph_node *node_over(const mxl_op *op, const char *ending, const char *key,
                                 const char *value, const mxl_entry *inputs, int count)
{
    mxl_graph_node *node = NULL;
    mxl_str name = {0};

    mxl_pass_entry_name(&inputs[0], &name);
    mxl_str_addf(&name, "_%s", ending);
    if (name.failed)
        (void)mxl_error_memory(name.capacity);
    else
        node = mxl_graph_node_new(op, mxl_text_copy(name.text));
    mxl_str_clear(&name);
    if (node != NULL && (mxl_attrs_set(&node->attrs, key, value) != 0 ||
                         mxl_pass_set_inputs(node, inputs, count) != 0)) {
        mxl_ref_release(&node->ref);
        return NULL;
    }
    return node;
}

/* Entry e, which is `entry`, in a dtype. A node that is missing: there was an error. */
static mxl_entry as(reducing *r, int e, mxl_entry entry, int dtype)
{
    number *n = &r->numbers[e];
    mxl_graph_node **cast = dtype == MXL_F32 ? &n->single : &n->low;

    if (n->dtype == dtype)
        return entry;
    if (*cast == NULL) {
        const char *name = mxl_dtype_name(dtype);
        mxl_str ending = {0};

        mxl_str_addf(&ending, "%s_%s", mxl_op_amp_cast.name, name);
        if (ending.failed)
            (void)mxl_error_memory(ending.capacity);
        else
            *cast = node_over(&mxl_op_amp_cast, ending.text, "dtype", name, &entry, 1);
        mxl_str_clear(&ending);
    }
    return (mxl_entry){*cast, 0, 0};
}

/* ---- nodes ---- */

/* Input i of the node in another dtype. -1 with the error set. */
static int set_input(reducing *r, int n, int i, int dtype)
{
    mxl_entry *input = &r->graph.walk.node[n]->inputs[i];
    mxl_entry changed = as(r, r->graph.input[r->graph.args[n] + i], *input, dtype);

    if (changed.node == NULL)
        return -1;
    if (changed.node != input->node) {
        mxl_ref_retain(&changed.node->ref);
        mxl_ref_release(&input->node->ref);
        *input = changed;
    }
    return 0;
}

static void say_outputs(reducing *r, int n, int dtype)
{
    for (int e = r->graph.first[n]; e < r->graph.first[n + 1]; e++)
        r->numbers[e].dtype = dtype;
}

/* What the operator says of its dtypes, in r->dtypes, if its inputs have those of `known`, which is
 * one for each input. */
static void ask(reducing *r, int n, const int *known)
{
    const mxl_indexed *g = &r->graph;
    mxl_graph_node *node = g->walk.node[n];
    mxl_rule rule = {.op = node->op,
                     .params = node->params,
                     .in = g->input + g->args[n],
                     .num_in = node->num_inputs,
                     .out = g->first[n],
                     .num_out = node->outputs,
                     .visible = node->visible,
                     .dtypes = r->dtypes};

    for (int i = 0; i < node->num_inputs; i++)
        r->dtypes[rule.in[i]] = MXL_DTYPE_UNKNOWN;
    for (int i = 0; i < node->outputs; i++)
        r->dtypes[rule.out + i] = MXL_DTYPE_UNKNOWN;
    for (int i = 0; i < node->num_inputs; i++) {
        if (r->dtypes[rule.in[i]] == MXL_DTYPE_UNKNOWN)
            r->dtypes[rule.in[i]] = known[i];
    }
    if (node->op->graphs > 0)
        return;
    do {
        rule.changed = false;
        if (mxl_rule_dtypes(&rule) != 0) /* what contradicts is found when the graph runs */
            return;
    } while (rule.changed);
}

/* Inputs that the operator wants in the dtype of its first one are cast; statistics of a
 * normalisation stay. */
static int make_low(reducing *r, int n, int *known)
{
    const mxl_graph_node *node = r->graph.walk.node[n];
    int low = r->asked->dtype;

    for (int i = 0; i < node->num_inputs; i++)
        known[i] = i == 0 ? low : MXL_DTYPE_UNKNOWN;
    ask(r, n, known);
    for (int i = 0; i < node->num_inputs; i++) {
        int wanted = r->dtypes[r->graph.input[r->graph.args[n] + i]];

        if ((wanted == low || wanted == MXL_DTYPE_UNKNOWN) && set_input(r, n, i, low) != 0)
            return -1;
    }
    say_outputs(r, n, low);
    for (int o = 1; o < node->outputs; o++)
        r->numbers[r->graph.first[n] + o].dtype = r->dtypes[r->graph.first[n] + o];
    return 0;
}

/* A variable stays as it is where nothing is known of it: the caller gives float32. */
static int make_single(reducing *r, int n)
{
    const mxl_graph_node *node = r->graph.walk.node[n];

    for (int i = 0; i < node->num_inputs; i++) {
        const number *of = &r->numbers[r->graph.input[r->graph.args[n] + i]];
        bool given = node->inputs[i].node->op == NULL && of->dtype == MXL_DTYPE_UNKNOWN;

        if ((!given || of->single != NULL) && set_input(r, n, i, MXL_F32) != 0)
            return -1;
    }
    say_outputs(r, n, MXL_F32);
    return 0;
}

/* All inputs in float32 if one of them is, or in 16 bits if all can be had so; else a node finds
 * the widest dtype when it runs. */
static int make_widest(reducing *r, int n)
{
    mxl_graph_node *node = r->graph.walk.node[n], *cast;
    bool all = true, single = false;
    mxl_entry *outputs;
    char count[16];
    int status;

    for (int i = 0; i < node->num_inputs; i++) {
        const number *of = &r->numbers[r->graph.input[r->graph.args[n] + i]];
        bool is_single = of->dtype == MXL_F32 || of->single != NULL;

        all = all && (is_single || of->dtype == r->asked->dtype || of->low != NULL);
        single = single || is_single;
    }
    if (all) {
        for (int i = 0; i < node->num_inputs; i++) {
            if (set_input(r, n, i, single ? MXL_F32 : r->asked->dtype) != 0)
                return -1;
        }
        say_outputs(r, n, single ? MXL_F32 : r->asked->dtype);
        return 0;
    }
    snprintf(count, sizeof(count), "%d", node->num_inputs);
    cast = node_over(&mxl_op_amp_multicast, mxl_op_amp_multicast.name, "num_outputs", count,
                     node->inputs, node->num_inputs);
    outputs = mxl_alloc((size_t)node->num_inputs * sizeof(*outputs));
    for (int i = 0; i < node->num_inputs && outputs != NULL; i++)
        outputs[i] = (mxl_entry){cast, i, 0};
    status =
        cast != NULL && outputs != NULL ? mxl_pass_set_inputs(node, outputs, node->num_inputs) : -1;
    mxl_free(outputs, (size_t)node->num_inputs * sizeof(*outputs));
    if (cast != NULL)
        mxl_ref_release(&cast->ref);
    return status;
}

/* Its inputs are as they were; the operator says what its outputs are. */
static void pass_on(reducing *r, int n, int *known)
{
    const mxl_graph_node *node = r->graph.walk.node[n];
    bool any = false;

    for (int i = 0; i < node->num_inputs; i++) {
        known[i] = r->numbers[r->graph.input[r->graph.args[n] + i]].dtype;
        any = any || known[i] != MXL_DTYPE_UNKNOWN;
    }
    if (!any)
        return;
    ask(r, n, known);
    for (int e = r->graph.first[n]; e < r->graph.first[n + 1]; e++)
        r->numbers[e].dtype = r->dtypes[e];
}

static int reduce_node(reducing *r, int n)
{
    const mxl_graph_node *node = r->graph.walk.node[n];
    size_t bytes = (size_t)node->num_inputs * sizeof(int);
    int status = 0, *known;

    if (node->op == NULL)
        return 0;
    if (node->num_inputs == 0) {
        if (way_of(r->asked, node) == SINGLE)
            say_outputs(r, n, MXL_F32);
        return 0;
    }
    known = mxl_alloc(bytes);
    if (known == NULL)
        return -1;
    switch (way_of(r->asked, node)) {
    case LOW:
        status = make_low(r, n, known);
        break;
    case SINGLE:
        status = make_single(r, n);
        break;
    case WIDEST:
        status = make_widest(r, n);
        break;
    default:
        pass_on(r, n, known);
    }
    mxl_free(known, bytes);
    return status;
}

/* Parameters that a node of 16 bits reads are given in 16 bits. */
static int choose_params(reducing *r)
{
    const mxl_indexed *g = &r->graph;
    int status = 0;

    for (int n = 0; n < g->walk.count && status == 0; n++) {
        const mxl_graph_node *node = g->walk.node[n];
        int *known;

        if (node->op == NULL || node->num_inputs == 0 || way_of(r->asked, node) != LOW)
            continue;
        known = mxl_alloc((size_t)node->num_inputs * sizeof(int));
        if (known == NULL)
            return -1;
        for (int i = 0; i < node->num_inputs; i++)
            known[i] = i == 0 ? r->asked->dtype : MXL_DTYPE_UNKNOWN;
        ask(r, n, known);
        mxl_free(known, (size_t)node->num_inputs * sizeof(int));
        for (int i = 0; i < node->num_inputs; i++) {
            const mxl_graph_node *from = node->inputs[i].node;
            int e = g->input[g->args[n] + i];

            if (from->op == NULL && r->dtypes[e] == r->asked->dtype &&
                mxl_pass_is_listed(r->asked->num_params, r->asked->params, from->name))
                r->numbers[e].dtype = r->asked->dtype;
        }
    }
    return status;
}

static int reduce_all(reducing *r)
{
    const mxl_indexed *g = &r->graph;
    int status = 0;

    for (int e = 0; e < g->entries; e++)
        r->numbers[e].dtype = MXL_DTYPE_UNKNOWN;
    if (r->asked->cast_params)
        status = choose_params(r);
    for (int n = 0; n < g->walk.count && status == 0; n++)
        status = reduce_node(r, n);
    for (int i = 0; i < g->symbol->count && status == 0; i++) {
        mxl_entry *entry = &g->symbol->entry[i], made = as(r, g->head[i], *entry, MXL_F32);

        if (made.node == NULL)
            return -1;
        if (made.node != entry->node) {
            mxl_ref_retain(&made.node->ref);
            mxl_ref_release(&entry->node->ref);
            *entry = made;
        }
    }
    return status;
}

/* ---- what is said of variables ---- */

static bool is_param(const mxl_reducing *asked, const mxl_graph_node *node)
{
    return node->op == NULL && mxl_pass_is_listed(asked->num_params, asked->params, node->name);
}

/* The dtypes of the variables of the graph, if data are float32 or what their attributes say. */
static int find_dtypes(const mxl_reducing *asked, const mxl_map *low, mxl_facts *facts)
{
    const mxl_indexed *g = facts->graph;

    for (int n = 0; n < g->walk.count; n++) {
        const mxl_graph_node *node = g->walk.node[n];
        int e = g->first[n];

        if (node->op != NULL)
            continue;
        if (mxl_map_find(low, node) != NULL)
            facts->dtype[e] = asked->dtype;
        else if (!is_param(asked, node) && mxl_attrs_get(&node->attrs, "__dtype__") == NULL)
            facts->dtype[e] = MXL_F32;
    }
    return mxl_infer_dtypes(facts);
}

/* Gives variables the attribute __dtype__: parameters, or, where there are none, those that have
 * it. `low`: the parameters in 16 bits. */
static int note_dtypes(const mxl_reducing *asked, const mxl_map *low, mxl_symbol *symbol)
{
    mxl_indexed g;
    mxl_facts facts;
    int status = 0;

    if (mxl_indexed_begin(&g, symbol) != 0)
        return -1;
    for (int n = 0; n < g.walk.count && status == 0; n++) {
        mxl_graph_node *node = g.walk.node[n];

        if (node->op == NULL &&
            (asked->num_params > 0 ? is_param(asked, node)
                                   : mxl_attrs_get(&node->attrs, "__dtype__") != NULL))
            status = mxl_attrs_set(&node->attrs, "__dtype__", "-1");
    }
    if (status == 0)
        status = mxl_facts_begin(&facts, &g, false);
    if (status == 0) {
        status = find_dtypes(asked, low, &facts);
        for (int n = 0; n < g.walk.count && status == 0; n++) {
            mxl_graph_node *node = g.walk.node[n];
            const char *noted = node->op == NULL ? mxl_attrs_get(&node->attrs, "__dtype__") : NULL;
            int dtype = facts.dtype[g.first[n]];
            char text[16];

            if (noted == NULL || strcmp(noted, "-1") != 0)
                continue;
            snprintf(text, sizeof(text), "%d", dtype == MXL_DTYPE_UNKNOWN ? MXL_F32 : dtype);
            status = mxl_attrs_set(&node->attrs, "__dtype__", text);
        }
        mxl_facts_end(&facts);
    }
    mxl_indexed_end(&g);
    return status;
}

/* The parameters in 16 bits. */
static int list_low(const reducing *r, mxl_map *low)
{
    const mxl_indexed *g = &r->graph;

    for (int n = 0; n < g->walk.count; n++) {
        if (g->walk.node[n]->op == NULL && r->numbers[g->first[n]].dtype == r->asked->dtype &&
            mxl_map_put(low, g->walk.node[n]) == NULL)
            return -1;
    }
    return 0;
}

int mxl_pass_reduce(mxl_symbol *symbol, const mxl_reducing *asked)
{
    reducing r = {.asked = asked};
    mxl_map low = {0};
    int status = -1, count, entries;
    size_t bytes;

    if (mxl_indexed_begin(&r.graph, symbol) != 0)
        return -1;
    count = r.graph.walk.count;
    entries = r.graph.entries;
    bytes = ((size_t)entries + 1) * (sizeof(number) + sizeof(int));
    r.numbers = mxl_alloc_zero(bytes);
    for (int n = 0; n < count; n++)
        mxl_ref_retain(&r.graph.walk.node[n]->ref);
    if (r.numbers != NULL) {
        r.dtypes = (int *)(void *)(r.numbers + entries);
        status = reduce_all(&r);
        if (status == 0)
            status = list_low(&r, &low);
        if (status == 0)
            status = note_dtypes(asked, &low, symbol);
        mxl_map_clear(&low);
        for (int e = 0; e < entries; e++) {
            if (r.numbers[e].low != NULL)
                mxl_ref_release(&r.numbers[e].low->ref);
            if (r.numbers[e].single != NULL)
                mxl_ref_release(&r.numbers[e].single->ref);
        }
    }
    for (int n = 0; n < count; n++)
        mxl_ref_release(&r.graph.walk.node[n]->ref);
    mxl_free(r.numbers, bytes);
    mxl_indexed_end(&r.graph);
    return status;
}
