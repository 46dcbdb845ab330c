/* Normalisations with what follows them, for training; see passes.h. */
#include "base/memory/mem.h"
#include "ops/elementwise/elementwise.h"
#include "ops/nn/batch_norm.h"
#include "symbol/indexed.h"
#include "symbol/passes/passes.h"

typedef struct joining {
    mxl_indexed graph;
    int *readers; /* [entries]: inputs of nodes, and outputs of the graph */
    int *maker;   /* [entries]: the node */
} joining;

/* The number of the node that makes input i of node n and that no other reads; -1: others do. */
static int alone_before(const joining *j, int n, int i)
{
    int entry = j->graph.input[j->graph.args[n] + i];

    return j->readers[entry] == 1 ? j->maker[entry] : -1;
}

/* Whether node n is a normalisation of which the first result is all that is read. */
static bool is_norm(const joining *j, int n)
{
    const mxl_graph_node *node = n >= 0 ? j->graph.walk.node[n] : NULL;

    if (node == NULL || node->op != &mxl_op_batch_norm || node->visible != 1)
        return false;
    for (int i = 1; i < node->outputs; i++) {
        if (j->readers[j->graph.first[n] + i] > 0)
            return false;
    }
    return true;
}

static bool is_relu(const mxl_graph_node *node)
{
    return node->op == &mxl_op_relu ||
           (node->op == &mxl_op_activation && mxl_activation_of(node->params) == &mxl_op_relu);
}

/* Node n, which is relu, becomes the normalisation before it. 1, or -1 with the error set. */
static int join(const joining *j, int n, int norm)
{
    mxl_graph_node *node = j->graph.walk.node[n];
    const mxl_graph_node *from = j->graph.walk.node[norm];
    mxl_attrs attrs = {0};

    if (mxl_attrs_add(&attrs, &from->attrs) != 0) {
        mxl_attrs_clear(&attrs);
        return -1;
    }
    mxl_attrs_clear(&node->attrs);
    node->attrs = attrs;
    node->op = &mxl_op_batch_norm_cut;
    node->is_numpys = false;
    return mxl_pass_set_inputs(node, from->inputs, from->num_inputs) == 0 ? 1 : -1;
}

/* 0: it stays as it is. */
static int join_node(const joining *j, int n)
{
    const mxl_graph_node *node = j->graph.walk.node[n];
    int before;

    if (node->op == NULL || !is_relu(node))
        return 0;
    before = alone_before(j, n, 0);
    return is_norm(j, before) ? join(j, n, before) : 0;
}

static void note_readers(joining *j)
{
    const mxl_indexed *graph = &j->graph;

    for (int n = 0; n < graph->walk.count; n++) {
        for (int e = graph->first[n]; e < graph->first[n + 1]; e++)
            j->maker[e] = n;
        for (int i = graph->args[n]; i < graph->args[n + 1]; i++)
            j->readers[graph->input[i]]++;
    }
    for (int i = 0; i < graph->symbol->count; i++)
        j->readers[graph->head[i]]++;
}

int mxl_pass_join(mxl_symbol *symbol)
{
    joining j = {0};
    int status = 0, changed = 0, count;
    size_t bytes;

    if (!mxl_pass_is_on(MXL_PASS_JOIN))
        return 0;
    if (mxl_indexed_begin(&j.graph, symbol) != 0)
        return -1;
    count = j.graph.walk.count;
    bytes = 2 * ((size_t)j.graph.entries + 1) * sizeof(int);
    j.readers = mxl_alloc_zero(bytes);
    if (j.readers == NULL) {
        mxl_indexed_end(&j.graph);
        return -1;
    }
    j.maker = j.readers + j.graph.entries;
    note_readers(&j);
    for (int n = 0; n < count; n++)
        mxl_ref_retain(&j.graph.walk.node[n]->ref);
    for (int n = 0; n < count && status >= 0; n++) {
        status = join_node(&j, n);
        changed |= status;
    }
    for (int n = 0; n < count; n++)
        mxl_ref_release(&j.graph.walk.node[n]->ref);
    mxl_free(j.readers, bytes);
    mxl_indexed_end(&j.graph);
    return status < 0 ? -1 : changed;
}
