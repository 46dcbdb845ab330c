/* See readers.h. */
#include "symbol/passes/readers.h"

#include <stdio.h>

#include "base/memory/mem.h"
#include "ops/nn/batch_norm.h"

int mxl_read_number(const mxl_readers *r, int n, int i)
{
    int entry = mxl_read_entry(r, n, i);

    return r->readers[entry] == 1 && r->graph.walk.node[r->maker[entry]]->op != NULL
               ? r->maker[entry]
               : -1;
}

mxl_graph_node *mxl_read_alone(const mxl_readers *r, int n, int i)
{
    int at = mxl_read_number(r, n, i);

    return at >= 0 ? r->graph.walk.node[at] : NULL;
}

bool mxl_read_norm(const mxl_readers *r, int n)
{
    const mxl_graph_node *node = r->graph.walk.node[n];
    bool read = false;

    for (int i = 1; node->op == &mxl_op_batch_norm && i < node->outputs; i++)
        read = read || r->readers[r->graph.first[n] + i] > 0;
    return node->op == &mxl_op_batch_norm && !read && node->visible == 1;
}

int mxl_pass_set_number(mxl_graph_node *node, const char *key, double value)
{
    char text[32];

    snprintf(text, sizeof(text), "%.17g", value);
    return mxl_attrs_set(&node->attrs, key, text);
}

int mxl_pass_absorb(mxl_graph_node *last, const mxl_op *op, const mxl_graph_node *source, int first,
                    int count)
{
    int all = source->num_inputs + count;
    mxl_entry *inputs = mxl_alloc((size_t)all * sizeof(*inputs));
    mxl_attrs attrs = {0};

    if (inputs == NULL)
        return -1;
    if (mxl_attrs_add(&attrs, &source->attrs) != 0) {
        mxl_free(inputs, (size_t)all * sizeof(*inputs));
        mxl_attrs_clear(&attrs);
        return -1;
    }
    for (int i = 0; i < all; i++)
        mxl_entry_set(&inputs[i], i < source->num_inputs
                                      ? source->inputs[i]
                                      : last->inputs[first + i - source->num_inputs]);
    mxl_attrs_clear(&last->attrs);
    last->attrs = attrs;
    last->op = op;
    last->is_numpys = false;
    for (int i = 0; i < last->num_inputs; i++)
        mxl_ref_release(&last->inputs[i].node->ref);
    mxl_free(last->inputs, (size_t)last->num_inputs * sizeof(*last->inputs));
    last->inputs = inputs;
    last->num_inputs = all;
    return 0;
}

/* ---- a pass ---- */

static void note_readers(mxl_readers *r)
{
    const mxl_indexed *graph = &r->graph;

    for (int n = 0; n < graph->walk.count; n++) {
        for (int e = graph->first[n]; e < graph->first[n + 1]; e++)
            r->maker[e] = n;
        for (int i = graph->args[n]; i < graph->args[n + 1]; i++)
            r->readers[graph->input[i]]++;
    }
    for (int i = 0; i < graph->symbol->count; i++)
        r->readers[graph->head[i]]++;
}

int mxl_pass_nodes(mxl_symbol *symbol, mxl_which_pass pass,
                   int (*each)(const mxl_readers *r, int n))
{
    mxl_readers r = {0};
    int status = 0, count, changed = 0;
    size_t bytes;

    if (!mxl_pass_is_on(pass))
        return 0;
    if (mxl_indexed_begin(&r.graph, symbol) != 0)
        return -1;
    count = r.graph.walk.count;
    bytes = 2 * ((size_t)r.graph.entries + 1) * sizeof(int);
    r.readers = mxl_alloc_zero(bytes);
    if (r.readers == NULL) {
        mxl_indexed_end(&r.graph);
        return -1;
    }
    r.maker = r.readers + r.graph.entries;
    note_readers(&r);
    for (int n = 0; n < count; n++)
        mxl_ref_retain(&r.graph.walk.node[n]->ref);
    for (int n = 0; n < count && status >= 0; n++) {
        if (r.graph.walk.node[n]->op == NULL || r.graph.walk.node[n]->num_inputs == 0)
            continue;
        status = each(&r, n);
        changed |= status;
    }
    for (int n = 0; n < count; n++)
        mxl_ref_release(&r.graph.walk.node[n]->ref);
    mxl_free(r.readers, bytes);
    mxl_indexed_end(&r.graph);
    return status < 0 ? -1 : changed;
}
