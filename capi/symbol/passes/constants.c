/* What depends on no variable, apart; see passes.h. */
#include "base/memory/mem.h"
#include "op/rule.h"
#include "symbol/attrs.h"
#include "symbol/indexed.h"
#include "symbol/passes/passes.h"

/* The graph, by entries: the node that makes each, if that is constant, and the variable that
 * stands for it; both are NULL where the entry is not constant. */
typedef struct folding {
    mxl_indexed graph;
    mxl_graph_node **maker, **variable;
    int count; /* of variables */
} folding;

/* Whether an array is made without inputs, of a shape that no graph completes. */
static bool creates(const mxl_graph_node *node)
{
    mxl_tuple shape = mxl_op_shape_parameter(node->op, node->params);

    for (int i = 0; i < shape.n; i++) {
        if (shape.v[i] <= 0)
            return false;
    }
    return true;
}

/* Whether node n has the same results in each run. */
static bool is_constant(const folding *f, int n)
{
    const mxl_graph_node *node = f->graph.walk.node[n];
    bool same = node->op != NULL && !node->op->draws && node->op->graphs == 0 && node->held == NULL;

    for (int i = f->graph.args[n]; i < f->graph.args[n + 1]; i++)
        same = same && f->maker[f->graph.input[i]] != NULL;
    return same && creates(node);
}

/* The variable for an entry, made when it is first asked for; NULL with the error set. */
static mxl_graph_node *variable_of(folding *f, int entry)
{
    if (f->variable[entry] == NULL) {
        char *name = mxl_text_copy("constant");

        f->variable[entry] = name != NULL ? mxl_graph_node_new(NULL, name) : NULL;
        f->count += f->variable[entry] != NULL;
    }
    return f->variable[entry];
}

/* The inputs of a node that is not constant become variables where they are. */
static int replace_inputs(folding *f, int n)
{
    mxl_graph_node *node = f->graph.walk.node[n];

    for (int i = 0; i < node->num_inputs; i++) {
        int entry = f->graph.input[f->graph.args[n] + i];
        mxl_graph_node *variable;

        if (f->maker[entry] == NULL)
            continue;
        variable = variable_of(f, entry);
        if (variable == NULL)
            return -1;
        mxl_ref_retain(&variable->ref);
        mxl_ref_release(&node->inputs[i].node->ref);
        node->inputs[i] = (mxl_entry){variable, 0, 0};
    }
    return 0;
}

static int replace_all(folding *f)
{
    for (int n = 0; n < f->graph.walk.count; n++) {
        if (is_constant(f, n)) {
            for (int e = f->graph.first[n]; e < f->graph.first[n + 1]; e++)
                f->maker[e] = f->graph.walk.node[n];
        } else if (f->graph.walk.node[n]->op != NULL && replace_inputs(f, n) != 0) {
            return -1;
        }
    }
    return 0;
}

/* The entries that variables stand for, as a symbol, and the variables, in `numbers` from -1 on
 * downwards. NULL with the error set. */
static mxl_symbol *take(const folding *f, mxl_map *numbers)
{
    mxl_symbol *symbol = mxl_symbol_new(f->count);
    int at = 0;

    for (int e = 0; e < f->graph.entries && symbol != NULL; e++) {
        mxl_graph_node *maker = f->maker[e];
        void **slot;
        int output = 0;

        if (f->variable[e] == NULL)
            continue;
        slot = mxl_map_put(numbers, f->variable[e]);
        while (e > output && f->maker[e - output - 1] == maker)
            output++;
        mxl_entry_set(&symbol->entry[at++], (mxl_entry){maker, output, 0});
        if (slot == NULL) {
            symbol->count = at;
            mxl_symbol_release(symbol);
            symbol = NULL;
        } else {
            *slot = (void *)(intptr_t)-at;
        }
    }
    return symbol;
}

int mxl_pass_constants(mxl_symbol *symbol, mxl_symbol **constants, mxl_map *numbers)
{
    folding f = {0};
    size_t bytes;
    int status;

    *constants = NULL;
    if (!mxl_pass_is_on(MXL_PASS_CONSTANTS))
        return 0;
    if (mxl_indexed_begin(&f.graph, symbol) != 0)
        return -1;
    bytes = 2 * ((size_t)f.graph.entries + 1) * sizeof(*f.maker);
    f.maker = mxl_alloc_zero(bytes);
    if (f.maker == NULL) {
        mxl_indexed_end(&f.graph);
        return -1;
    }
    f.variable = f.maker + f.graph.entries;
    for (int n = 0; n < f.graph.walk.count; n++)
        mxl_ref_retain(&f.graph.walk.node[n]->ref);
    status = replace_all(&f);
    if (status == 0 && f.count > 0) {
        *constants = take(&f, numbers);
        status = *constants != NULL ? 1 : -1;
    }
    for (int e = 0; e < f.graph.entries; e++) {
        if (f.variable[e] != NULL)
            mxl_ref_release(&f.variable[e]->ref);
    }
    for (int n = 0; n < f.graph.walk.count; n++)
        mxl_ref_release(&f.graph.walk.node[n]->ref);
    mxl_free(f.maker, bytes);
    mxl_indexed_end(&f.graph);
    return status;
}
