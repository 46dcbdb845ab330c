/* BatchNorm, a sum, and relu in one pass, forward and backward. Of graphs that are trained. */
#include <stddef.h>

#include "ops/elementwise/elementwise.h"
#include "ops/nn/batch_norm.h"

enum { ADDED = 5 };

static int cut_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = ADDED + (((const mxl_batch_norm_params *)params)->adds != 0);
    arity->outputs = 3;
    arity->visible = 1;
    return 0;
}

static const char *cut_shapes(const void *params)
{
#define NORM   "data[*A,C@axis,*B] gamma[C] beta[C] moving_mean[C] moving_var[C] "
#define RESULT "-> [*A,C,*B] [C] [C]"
    return ((const mxl_batch_norm_params *)params)->adds ? NORM "added[*A,C,*B] " RESULT
                                                         : NORM RESULT;
}

static const char *cut_dtypes(const void *params)
{
    return ((const mxl_batch_norm_params *)params)->adds ? "FwwwwF>Fww" : "Fwwww>Fww";
}

static mxl_normalise cut_of(const mxl_op *op, const mxl_batch_norm_params *p, bool training,
                            int dtype, int ndim, const int64_t *shape)
{
    mxl_normalise n = mxl_batch_norm_of(op, p, training, ndim, shape);

    n.cut = mxl_normalise_joins(&n, dtype);
    n.added = n.cut && p->adds ? ADDED : 0;
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
    if (n.cut)
        return 0;
    if (p->adds && mxl_run_kernels(call, mxl_op_add_alike->kernels, 2,
                                   (mxl_array *[]){y, call->in[ADDED]}, y) != 0)
        return -1;
    return mxl_run_kernels(call, mxl_op_relu.kernels, 1, &y, y);
}

static mxl_normalise cut_of_node(const mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);

    return cut_of(g->op, g->params, g->training, x->dtype, x->ndim, x->shape);
}

/* dy counts where y is above 0: this reaches what was added, and the normalisation. */
static int cut_back(mxl_grad *g, int (*normalise)(mxl_grad *g, const mxl_normalise *n))
{
    const mxl_batch_norm_params *p = g->params;
    mxl_normalise n = cut_of_node(g);
    mxl_array *counts[3] = {NULL, g->grad_output[1], g->grad_output[2]};
    mxl_grad inner = *g;

    n.cut = false;
    counts[0] = mxl_mul(g->s, mxl_grad_output_grad(g, 0), mxl_positive(g->s, mxl_grad_out(g, 0)));
    if (counts[0] == NULL)
        return -1;
    if (p->adds && mxl_grad_wants(g, ADDED) && mxl_grad_set(g, ADDED, counts[0]) != 0)
        return -1;
    inner.grad_output = counts;
    inner.spends = false;
    return mxl_batch_norm_update(g, normalise(&inner, &n));
}

static int cut_grad(mxl_grad *g)
{
    return cut_back(g, mxl_normalise_grad);
}

static int cut_grad_kernel(mxl_grad *g)
{
    mxl_normalise n = cut_of_node(g);

    if (!n.cut || !mxl_normalise_in_one(g))
        return cut_back(g, mxl_normalise_grad_kernel);
    return mxl_batch_norm_update(g, mxl_normalise_grad_kernel(g, &n));
}

static void cut_saves(mxl_saves *saves)
{
    mxl_batch_norm_saves(saves);
    saves->out[0] = true;
}

const mxl_op mxl_op_batch_norm_cut = {
    .name = "_mxl_batch_norm_cut",
    .doc = "relu(BatchNorm(data, gamma, beta, moving_mean, moving_var) + added).",
    MXL_INPUTS(MXL_INPUT(data, "Input array, of a floating dtype."),
               MXL_INPUT(gamma, "Factor of each channel."),
               MXL_INPUT(beta, "Added to each channel."),
               MXL_INPUT(moving_mean, "Moving mean of each channel, which backward updates."),
               MXL_INPUT(moving_var, "Moving variance of each channel, which backward updates."),
               MXL_INPUT(added, "Of the shape of data; there if adds.")),
    MXL_PARAMS_OF(mxl_batch_norm_params, MXL_BATCH_NORM_PARAMS,
                  MXL_PARAM(mxl_batch_norm_params, adds, MXL_P_BOOL, "0",
                            "Whether there is an array to add.")),
    .arity = cut_arity,
    MXL_SHAPES(NORM RESULT),
    .shapes_of = cut_shapes,
    .dtypes = "Fw*>Fw*",
    .dtypes_of = cut_dtypes,
    .output_names = "output mean var",
    .is_state = mxl_batch_norm_is_state,
    .compute = cut_compute,
    .grad = cut_grad,
    .grad_kernel = cut_grad_kernel,
    .saves = cut_saves,
    .grad_updates = true,
};

const mxl_op *const mxl_ops_batch_norm_cut[] = {&mxl_op_batch_norm_cut, NULL};
