/* The functions that vjps call. */
#include "engine/backward/grad.h"

#include "array/failure.h"
#include "base/error.h"
#include "engine/backward/composite.h"
#include "engine/run/builtin_ops.h"
#include "engine/tape/rebase.h"
#include "engine/tape/saved.h"

mxl_array *mxl_grad_in(mxl_grad *g, int i)
{
    return mxl_scope_own(g->s, mxl_node_saved_input(g->node, i, g->s->mode.record));
}

mxl_array *mxl_grad_out(mxl_grad *g, int i)
{
    bool record = g->s->mode.record;
    mxl_array *out =
        mxl_scope_own(g->s, mxl_node_saved_output(g->node, i, record && g->outer == NULL));

    if (out == NULL || !record || g->outer == NULL)
        return out;
    /* The result of an edited view is attached as a part of its base, not by itself; the saved
     * tensor has no edge. */
    out = mxl_scope_own(g->s, mxl_array_alias(out));
    if (out != NULL && mxl_rebase_edge(g->outer, out) != 0)
        g->s->failed = true;
    return out;
}

mxl_array *mxl_grad_decides(mxl_grad *g, int i)
{
    mxl_array *in = mxl_grad_in(g, i);

    if (in == NULL || !g->s->mode.record || g->node->dialect->released_is_constant)
        return in;
    return mxl_scope_own(g->s, mxl_array_alias(in));
}

mxl_array *mxl_grad_state(mxl_grad *g, int i)
{
    mxl_array *state = mxl_node_saved_state(g->node, i);

    return state == NULL ? NULL : mxl_scope_own(g->s, state);
}

const mxl_meta *mxl_grad_in_meta(const mxl_grad *g, int i)
{
    return &g->node->in_meta[i];
}

const mxl_meta *mxl_grad_out_meta(const mxl_grad *g, int i)
{
    return &g->node->out_meta[i];
}

/* Scoped. */
static mxl_array *zeros_of(mxl_grad *g, const mxl_meta *meta)
{
    const mxl_builtin_ops *builtin = mxl_builtin_ops_get();
    mxl_array *like = mxl_scope_own(g->s, mxl_meta_new(meta));

    return builtin == NULL ? NULL : mxl_scope_call(g->s, builtin->zeros_like, NULL, 1, &like);
}

mxl_array *mxl_grad_output_grad(mxl_grad *g, int i)
{
    mxl_array *zeros;

    if (g->grad_output[i] != NULL)
        return g->grad_output[i];
    zeros = zeros_of(g, &g->node->out_meta[i]);
    if (zeros != NULL)
        mxl_array_retain(zeros);
    g->grad_output[i] = zeros;
    return zeros;
}

/* The value in the input's shape and dtype; scoped. */
static mxl_array *fitted(mxl_grad *g, const mxl_meta *meta, mxl_array *value)
{
    const mxl_builtin_ops *builtin = mxl_builtin_ops_get();

    if (builtin == NULL)
        return NULL;
    if (!mxl_shape_same(value->ndim, value->shape, meta->ndim, meta->shape)) {
        mxl_tuple to = {meta->ndim, meta->shape};

        value = mxl_scope_call(g->s, builtin->sum_to, &to, 1, &value);
    }
    if (value != NULL && value->dtype != meta->dtype)
        value = mxl_scope_call(g->s, builtin->cast, &meta->dtype, 1, &value);
    return value;
}

int mxl_grad_set(mxl_grad *g, int i, mxl_array *value)
{
    const mxl_meta *meta = &g->node->in_meta[i];

    if (!g->wants[i])
        return g->s->failed ? -1 : 0;
    if (value == NULL)
        return -1;
    if (value->dtype != meta->dtype ||
        !mxl_shape_same(value->ndim, value->shape, meta->ndim, meta->shape)) {
        value = fitted(g, meta, value);
        if (value == NULL)
            return -1;
    }
    mxl_array_retain(value);
    mxl_array_release(g->set[i]);
    g->set[i] = value;
    return 0;
}

int mxl_grad_fill(mxl_grad *g)
{
    for (int i = 0; i < g->num_inputs; i++) {
        if (!g->wants[i] || g->set[i] != NULL)
            continue;
        g->set[i] = zeros_of(g, &g->node->in_meta[i]);
        if (g->set[i] == NULL)
            return -1;
        mxl_array_retain(g->set[i]);
    }
    return 0;
}

/* Whether a dtype is among those of the node that the kernels lack. */
static bool is_carried(const mxl_node *node)
{
    for (int i = 0; i < node->num_inputs; i++) {
        if (mxl_dtype_is_carried(node->in_meta[i].dtype))
            return true;
    }
    return false;
}

/* Whether the rule gets an array that is not dense: it is then run as written, with operators that
 * take some. */
static bool has_others(const mxl_grad *g)
{
    for (int i = 0; i < g->num_outputs; i++) {
        if (g->grad_output[i] != NULL && !mxl_array_is_dense(g->grad_output[i]))
            return true;
    }
    return g->node->not_dense;
}

int mxl_grad_run(mxl_grad *g)
{
    const mxl_op *op = g->op;
    int status;

    if (op->grad_kernel != NULL && !g->s->mode.record && !is_carried(g->node) && !has_others(g) &&
        !mxl_failures_exist())
        status = op->grad_kernel(g);
    else if (op->grad != NULL)
        status = op->grad(g);
    else if (op->compose != NULL)
        status = mxl_composite_grad(g);
    else
        return mxl_error("%s: is not differentiable", op->name);
    return g->s->failed ? -1 : status;
}

int mxl_grad_run_node(mxl_grad *g, mxl_node *node, mxl_array **grad_output, const bool *wants,
                      mxl_array **set)
{
    mxl_grad inner = {.s = g->s,
                      .op = node->op,
                      .params = node->params,
                      .num_inputs = node->num_inputs,
                      .num_outputs = node->num_outputs,
                      .grad_output = grad_output,
                      .spends = false,
                      .training = node->training,
                      .node = node,
                      .outer = g,
                      .wants = wants,
                      .set = set};

    return mxl_grad_run(&inner);
}

int mxl_grad_set_zeros(mxl_grad *g, int i)
{
    return g->wants[i] ? mxl_grad_set(g, i, zeros_of(g, &g->node->in_meta[i])) : 0;
}

int mxl_grad_zero(mxl_grad *g)
{
    (void)g;
    return 0;
}

bool mxl_is_loss(const void *params)
{
    (void)params;
    return true;
}
