/* Convolutions with what follows them; see passes.h.
 *
 * A node takes over the inputs and attributes of the convolution that it reads, and becomes the
 * fused one itself: so its name, its readers and the graph's outputs stay. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory/mem.h"
#include "ops/elementwise/elementwise.h"
#include "ops/nn/batch_norm.h"
#include "ops/conv/fused_convolution.h"
#include "symbol/indexed.h"
#include "symbol/passes/passes.h"

typedef struct fusing {
    mxl_indexed graph;
    int *readers; /* [entries]: inputs of nodes, and outputs of the graph */
    int *maker;   /* [entries]: the node */
} fusing;

/* ---- what nodes are ---- */

/* A convolution that no sum and no limits follow yet; NULL: node n's input i is none, or another
 * node reads it too. */
static mxl_graph_node *convolution_before(const fusing *f, int n, int i)
{
    int entry = f->graph.input[f->graph.args[n] + i];
    mxl_graph_node *node = f->graph.walk.node[f->maker[entry]];
    const mxl_fused_params *p = node->params;

    if (f->readers[entry] != 1)
        return NULL;
    if (node->op == &mxl_op_convolution)
        return node;
    return node->op == &mxl_op_fused_convolution && isinf(p->low) && isinf(p->high) ? node : NULL;
}

static bool has_sum(const mxl_graph_node *convolution)
{
    const mxl_fused_params *p = convolution->params;

    return convolution->op == &mxl_op_fused_convolution && p->adds;
}

bool mxl_pass_is_limit(const mxl_graph_node *node, double *low, double *high)
{
    const mxl_op *op = node->op == &mxl_op_activation ? mxl_activation_of(node->params) : node->op;

    *low = 0;
    *high = INFINITY;
    if (op == &mxl_op_relu)
        return true;
    if (op != &mxl_op_clip)
        return false;
    *low = ((const mxl_clip_params *)node->params)->a_min;
    *high = ((const mxl_clip_params *)node->params)->a_max;
    return *low <= *high;
}

/* Whether node n normalises channels, and its first result is all that is read. */
static bool is_norm(const fusing *f, int n)
{
    const mxl_graph_node *node = f->graph.walk.node[n];
    const mxl_batch_norm_params *p = node->params;
    bool read = false;

    for (int i = 1; node->op == &mxl_op_batch_norm && i < node->outputs; i++)
        read = read || f->readers[f->graph.first[n] + i] > 0;
    return node->op == &mxl_op_batch_norm && p->axis == 1 && !read && node->visible == 1;
}

/* ---- fusing: 1, or -1 with the error set ---- */

static int set_number(mxl_graph_node *node, const char *key, double value)
{
    char text[32];

    snprintf(text, sizeof(text), "%.17g", value);
    return mxl_attrs_set(&node->attrs, key, text);
}

/* Node `last` becomes the convolution before it, with its own inputs [first, first + count) behind
 * that one's. Attributes are set afterwards. */
static int absorb(mxl_graph_node *last, const mxl_graph_node *convolution, int first, int count)
{
    int all = convolution->num_inputs + count;
    mxl_entry *inputs = mxl_alloc((size_t)all * sizeof(*inputs));
    mxl_attrs attrs = {0};

    if (inputs == NULL)
        return -1;
    if (mxl_attrs_add(&attrs, &convolution->attrs) != 0) {
        mxl_free(inputs, (size_t)all * sizeof(*inputs));
        mxl_attrs_clear(&attrs);
        return -1;
    }
    for (int i = 0; i < all; i++)
        mxl_entry_set(&inputs[i], i < convolution->num_inputs
                                      ? convolution->inputs[i]
                                      : last->inputs[first + i - convolution->num_inputs]);
    mxl_attrs_clear(&last->attrs);
    last->attrs = attrs;
    last->op = &mxl_op_fused_convolution;
    last->is_numpys = false;
    for (int i = 0; i < last->num_inputs; i++)
        mxl_ref_release(&last->inputs[i].node->ref);
    mxl_free(last->inputs, (size_t)last->num_inputs * sizeof(*last->inputs));
    last->inputs = inputs;
    last->num_inputs = all;
    return 0;
}

static int fuse_norm(mxl_graph_node *node, const mxl_graph_node *convolution)
{
    mxl_batch_norm_params p = *(const mxl_batch_norm_params *)node->params;

    if (absorb(node, convolution, 1, 4) != 0 || set_number(node, "normalises", 1) != 0 ||
        set_number(node, "fix_gamma", p.fix_gamma) != 0 || set_number(node, "eps", p.eps) != 0)
        return -1;
    return mxl_graph_node_parse(node, node->num_inputs) == 0 ? 1 : -1;
}

static int fuse_limit(mxl_graph_node *node, const mxl_graph_node *convolution, double low,
                      double high)
{
    if (absorb(node, convolution, 1, 0) != 0 || set_number(node, "low", low) != 0 ||
        set_number(node, "high", high) != 0)
        return -1;
    return mxl_graph_node_parse(node, node->num_inputs) == 0 ? 1 : -1;
}

static int fuse_sum(mxl_graph_node *node, const mxl_graph_node *convolution, int added)
{
    if (absorb(node, convolution, added, 1) != 0 || set_number(node, "adds", 1) != 0)
        return -1;
    return mxl_graph_node_parse(node, node->num_inputs) == 0 ? 1 : -1;
}

/* Of two convolutions that are added, the one that runs last: the other is there by then. */
static int fuse_operand(const fusing *f, int n)
{
    mxl_graph_node *node = f->graph.walk.node[n], *found = NULL;
    int which = -1;

    for (int i = 0; i < 2; i++) {
        const int *input = f->graph.input + f->graph.args[n];
        mxl_graph_node *convolution = convolution_before(f, n, i);

        if (convolution == NULL || has_sum(convolution) ||
            (which >= 0 && f->maker[input[i]] < f->maker[input[which]]))
            continue;
        found = convolution;
        which = i;
    }
    return found != NULL ? fuse_sum(node, found, 1 - which) : 0;
}

/* 0: it stays as it is. */
static int fuse_node(const fusing *f, int n)
{
    mxl_graph_node *node = f->graph.walk.node[n], *convolution;
    double low, high;

    if (node->op == NULL || node->num_inputs == 0)
        return 0;
    if (node->op == mxl_op_add_alike)
        return fuse_operand(f, n);
    convolution = convolution_before(f, n, 0);
    if (convolution == NULL)
        return 0;
    if (is_norm(f, n))
        return convolution->op == &mxl_op_convolution ? fuse_norm(node, convolution) : 0;
    return mxl_pass_is_limit(node, &low, &high) ? fuse_limit(node, convolution, low, high) : 0;
}

/* ---- the pass ---- */

static void note_readers(fusing *f)
{
    const mxl_indexed *graph = &f->graph;

    for (int n = 0; n < graph->walk.count; n++) {
        for (int e = graph->first[n]; e < graph->first[n + 1]; e++)
            f->maker[e] = n;
        for (int i = graph->args[n]; i < graph->args[n + 1]; i++)
            f->readers[graph->input[i]]++;
    }
    for (int i = 0; i < graph->symbol->count; i++)
        f->readers[graph->head[i]]++;
}

int mxl_pass_fuse(mxl_symbol *symbol)
{
    fusing f = {0};
    int status = 0, count, changed = 0;
    size_t bytes;

    if (!mxl_pass_is_on(MXL_PASS_FUSE))
        return 0;
    if (mxl_indexed_begin(&f.graph, symbol) != 0)
        return -1;
    count = f.graph.walk.count;
    bytes = 2 * ((size_t)f.graph.entries + 1) * sizeof(int);
    f.readers = mxl_alloc_zero(bytes);
    if (f.readers == NULL) {
        mxl_indexed_end(&f.graph);
        return -1;
    }
    f.maker = f.readers + f.graph.entries;
    note_readers(&f);
    for (int n = 0; n < count; n++)
        mxl_ref_retain(&f.graph.walk.node[n]->ref);
    for (int n = 0; n < count && status >= 0; n++) {
        status = fuse_node(&f, n);
        changed |= status;
    }
    for (int n = 0; n < count; n++)
        mxl_ref_release(&f.graph.walk.node[n]->ref);
    mxl_free(f.readers, bytes);
    mxl_indexed_end(&f.graph);
    return status < 0 ? -1 : changed;
}
