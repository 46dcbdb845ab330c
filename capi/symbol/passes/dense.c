/* Dense layers with what follows them; see passes.h. As in fuse.c a node takes over the inputs and
 * attributes of the one that it reads. */
#include <string.h>

#include "ops/elementwise/elementwise.h"
#include "ops/linalg/dense.h"
#include "ops/nn/batch_norm.h"
#include "symbol/passes/readers.h"

static bool is_fused(const mxl_graph_node *node)
{
    return node->op == &mxl_op_fused_dense;
}

/* A dense layer that no function follows yet; NULL: node n's input i is none, or another node reads
 * it too. */
static mxl_graph_node *dense_before(const mxl_readers *r, int n, int i)
{
    mxl_graph_node *node = mxl_read_alone(r, n, i);

    return node != NULL && is_fused(node) &&
                   ((const mxl_fused_dense_params *)node->params)->follows[0] == '\0'
               ? node
               : NULL;
}

static bool is_plain(const mxl_graph_node *dense)
{
    const mxl_fused_dense_params *p = dense->params;

    return !p->normalises && !p->adds;
}

/* ---- fusing: 1, or -1 with the error set ---- */

static int parse(mxl_graph_node *node)
{
    return mxl_graph_node_parse(node, node->num_inputs) == 0 ? 1 : -1;
}

/* A normalisation of the last axis. */
static int fuse_norm(mxl_graph_node *node, const mxl_graph_node *dense)
{
    mxl_batch_norm_params p = *(const mxl_batch_norm_params *)node->params;

    if (p.axis != -1 && (p.axis != 1 || !((const mxl_dense_params *)dense->params)->flatten))
        return 0;
    if (mxl_pass_absorb(node, &mxl_op_fused_dense, dense, 1, 4) != 0 ||
        mxl_pass_set_number(node, "normalises", 1) != 0 ||
        mxl_pass_set_number(node, "fix_gamma", p.fix_gamma) != 0 ||
        mxl_pass_set_number(node, "eps", p.eps) != 0)
        return -1;
    return parse(node);
}

/* Of two layers that are added, the one that runs last: the other is there by then. */
static int fuse_sum(const mxl_readers *r, int n)
{
    mxl_graph_node *node = r->graph.walk.node[n], *found = NULL;
    int which = -1;

    for (int i = 0; i < 2; i++) {
        mxl_graph_node *dense = dense_before(r, n, i);

        if (dense == NULL || ((const mxl_fused_dense_params *)dense->params)->adds ||
            (which >= 0 &&
             r->maker[mxl_read_entry(r, n, i)] < r->maker[mxl_read_entry(r, n, which)]))
            continue;
        found = dense;
        which = i;
    }
    if (found == NULL)
        return 0;
    if (mxl_pass_absorb(node, &mxl_op_fused_dense, found, 1 - which, 1) != 0 ||
        mxl_pass_set_number(node, "adds", 1) != 0)
        return -1;
    return parse(node);
}

/* The operator and its attributes as one text; false: they are no words, or too long. */
static bool function_text(const mxl_graph_node *node, mxl_str *out)
{
    const char *mark = "__";

    mxl_str_addf(out, "%s", node->op->name);
    for (int i = 0; i < node->attrs.count; i++) {
        const char *key = node->attrs.list[i].key, *value = node->attrs.list[i].value;

        if (strncmp(key, mark, 2) == 0 || mxl_param_find(node->op, key) == NULL)
            continue;
        if (strpbrk(value, " =") != NULL)
            return false;
        mxl_str_addf(out, " %s=%s", key, value);
    }
    return !out->failed && out->length < MXL_DENSE_FOLLOWS;
}

static int fuse_function(mxl_graph_node *node, const mxl_graph_node *dense)
{
    mxl_str text = {0};
    int status = 0;

    if (function_text(node, &text)) {
        status = mxl_pass_absorb(node, &mxl_op_fused_dense, dense, 1, 0) == 0 &&
                         mxl_attrs_set(&node->attrs, "follows", text.text) == 0
                     ? parse(node)
                     : -1;
    }
    mxl_str_clear(&text);
    return status;
}

/* A layer becomes the operator that packs its weight for any number of rows. */
static int begin(mxl_graph_node *node)
{
    node->op = &mxl_op_fused_dense;
    node->is_numpys = false;
    return parse(node);
}

/* 0: it stays as it is. */
static int fuse_node(const mxl_readers *r, int n)
{
    mxl_graph_node *node = r->graph.walk.node[n], *dense;

    if (node->op == &mxl_op_fully_connected)
        return begin(node);
    if (node->op == mxl_op_add_alike)
        return fuse_sum(r, n);
    dense = dense_before(r, n, 0);
    if (dense == NULL)
        return 0;
    if (mxl_read_norm(r, n))
        return is_plain(dense) ? fuse_norm(node, dense) : 0;
    return mxl_activation_kernels(node->op, node->params) != NULL ? fuse_function(node, dense) : 0;
}

int mxl_pass_dense(mxl_symbol *symbol)
{
    return mxl_pass_nodes(symbol, MXL_PASS_DENSE, fuse_node);
}
