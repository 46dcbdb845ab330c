/* BatchNorm and relu in one pass, forward and backward. Of graphs that are trained. */
#include <stddef.h>

#include "ops/elementwise/elementwise.h"
#include "ops/nn/batch_norm.h"

static int cut_arity(const void *params, mxl_arity *arity)
{
    (void)params;
    arity->inputs = 5;
    arity->outputs = 3;
    arity->visible = 1;
    return 0;
}

static mxl_normalise cut_of(const mxl_op *op, const mxl_batch_norm_params *p, bool training,
                            int dtype, int ndim, const int64_t *shape)
{
    mxl_normalise n = mxl_batch_norm_of(op, p, training, ndim, shape);

    n.cut = mxl_normalise_joins(&n, dtype);
    return n;
}

static int cut_compute(const mxl_call *call)
{
    const mxl_batch_norm_params *p = call->params;
    mxl_array *x = call->in[0], *y = call->out[0];
    mxl_normalise n = cut_of(call->op, p, call->training, x->dtype, x->ndim, x->shape);

    if (p->fix_gamma && mxl_batch_norm_fix(call->op, call->in[1]) != 0)
        return -1;
    if (mxl_normalise_compute(call, &n) != 0)
        return -1;
    return n.cut ? 0 : mxl_run_kernels(call, mxl_op_relu.kernels, 1, &y, y);
}

static mxl_normalise cut_of_node(const mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);

    return cut_of(g->op, g->params, g->training, x->dtype, x->ndim, x->shape);
}

/* relu's vjp, and then that of the normalisation, both by one function for it. */
static int cut_back(mxl_grad *g, int (*cut)(mxl_grad *g),
                    int (*normalise)(mxl_grad *g, const mxl_normalise *n))
{
    mxl_normalise n = cut_of_node(g);
    mxl_array *dy = mxl_grad_output_grad(g, 0), *counts = NULL;
    mxl_array *first[3] = {dy, NULL, NULL},
              *second[3] = {NULL, g->grad_output[1], g->grad_output[2]};
    bool wants = true;
    mxl_grad inner = *g;

    inner.spends = false;
    inner.grad_output = first;
    inner.wants = &wants;
    inner.set = &counts;
    if (dy == NULL || cut(&inner) != 0 || mxl_scope_own(g->s, counts) == NULL)
        return -1;
    second[0] = counts;
    n.cut = false;
    inner.grad_output = second;
    inner.wants = g->wants;
    inner.set = g->set;
    return mxl_batch_norm_update(g, normalise(&inner, &n));
}

static int cut_grad(mxl_grad *g)
{
    return cut_back(g, mxl_op_relu.grad, mxl_normalise_grad);
}

static int cut_grad_kernel(mxl_grad *g)
{
    mxl_normalise n = cut_of_node(g);

    if (!n.cut || !mxl_normalise_in_one(g))
        return cut_back(g, mxl_op_relu.grad_kernel, mxl_normalise_grad_kernel);
    return mxl_batch_norm_update(g, mxl_normalise_grad_kernel(g, &n));
}

static void cut_saves(mxl_saves *saves)
{
    mxl_batch_norm_saves(saves);
    saves->out[0] = true;
}

const mxl_op mxl_op_batch_norm_cut = {
    .name = "_mxl_batch_norm_cut",
    .doc = "relu(BatchNorm(data, gamma, beta, moving_mean, moving_var)).",
    MXL_INPUTS(MXL_INPUT(data, "Input array, of a floating dtype."),
               MXL_INPUT(gamma, "Factor of each channel."),
               MXL_INPUT(beta, "Added to each channel."),
               MXL_INPUT(moving_mean, "Moving mean of each channel, which backward updates."),
               MXL_INPUT(moving_var, "Moving variance of each channel, which backward updates.")),
    MXL_PARAMS(mxl_batch_norm_params, mxl_batch_norm_table),
    .arity = cut_arity,
    MXL_SHAPES("data[*A,C@axis,*B] gamma[C] beta[C] moving_mean[C] moving_var[C] -> "
               "[*A,C,*B] [C] [C]"),
    .dtypes = "Fw*>Fw*",
    .output_names = "output mean var",
    .is_state = mxl_batch_norm_is_state,
    .compute = cut_compute,
    .grad = cut_grad,
    .grad_kernel = cut_grad_kernel,
    .saves = cut_saves,
    .grad_updates = true,
    .cheap = true,
};

const mxl_op *const mxl_ops_batch_norm_cut[] = {&mxl_op_batch_norm_cut, NULL};
