/* LayerNorm, InstanceNorm and GroupNorm: normalisation with the statistics of each call. */
#include <stddef.h>

#include "kernel/norm/norm.h"
#include "ops/batch/rules.h"
#include "ops/nn/normalise.h"

static const mxl_input norm_inputs[] = {
    MXL_INPUT(data, "Input array, of a floating dtype."),
    MXL_INPUT(gamma, "Factors of the normalised values."),
    MXL_INPUT(beta, "Added to the results."),
    {0},
};

typedef struct norm_params {
    int64_t axis;
    int64_t num_groups;
    double eps;
    int output_mean_var;
} norm_params;

#define EPS(text)                                                                                  \
    MXL_PARAM(norm_params, eps, MXL_P_FLOAT, text, "Added to the variance, below the root.")
#define OUTPUT_MEAN_VAR                                                                            \
    MXL_PARAM(norm_params, output_mean_var, MXL_P_BOOL, "0",                                       \
              "Whether the means and the standard deviations, sqrt(variance + eps), are results "  \
              "too.",                                                                              \
              .sets_outputs = true)

static int norm_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = 3;
    arity->outputs = 3;
    arity->visible = ((const norm_params *)params)->output_mean_var ? 3 : 1;
    return 0;
}

/* ---- LayerNorm ---- */

static mxl_normalise layer_of(const void *params, int ndim, const int64_t *shape)
{
    const norm_params *p = params;
    int axis = (int)(p->axis < 0 ? p->axis + ndim : p->axis);
    mxl_normalise n = mxl_normalise_axis(MXL_OVER_AXIS, axis, ndim, shape);

    n.eps = p->eps;
    n.deviation = true;
    return n;
}

/* ---- InstanceNorm and GroupNorm ---- */

/* InstanceNorm has no parameter num_groups, which is 0 then: every channel is a group. */
static mxl_normalise groups_of(const void *params, int ndim, const int64_t *shape)
{
    const norm_params *p = params;
    int64_t rest = mxl_shape_size(ndim - 2, shape + 2);
    int64_t groups = p->num_groups == 0 ? shape[1] : p->num_groups;
    mxl_normalise n = mxl_normalise_of(MXL_OVER_REST, shape[0], groups,
                                       groups == 0 ? rest : shape[1] / groups * rest);

    n.eps = p->eps;
    n.deviation = true;
    return n;
}

static int group_check(void *params)
{
    int64_t groups = ((const norm_params *)params)->num_groups;

    return groups > 0
               ? 0
               : mxl_error("GroupNorm: num_groups must be at least 1, got %lld", (long long)groups);
}

/* ---- the operators ---- */

/* compute and vjps of the operator ID, whose data SEEN describes. */
#define NORM_FUNCTIONS(id, SEEN)                                                                   \
    static int id##_compute(const mxl_call *call)                                                  \
    {                                                                                              \
        mxl_normalise n = SEEN(call->params, call->in[0]->ndim, call->in[0]->shape);               \
                                                                                                   \
        return mxl_normalise_compute(call, &n);                                                    \
    }                                                                                              \
    static int id##_grad(mxl_grad *g)                                                              \
    {                                                                                              \
        const mxl_meta *x = mxl_grad_in_meta(g, 0);                                                \
        mxl_normalise n = SEEN(g->params, x->ndim, x->shape);                                      \
                                                                                                   \
        return mxl_normalise_grad(g, &n);                                                          \
    }                                                                                              \
    static int id##_grad_kernel(mxl_grad *g)                                                       \
    {                                                                                              \
        const mxl_meta *x = mxl_grad_in_meta(g, 0);                                                \
        mxl_normalise n = SEEN(g->params, x->ndim, x->shape);                                      \
                                                                                                   \
        return mxl_normalise_grad_kernel(g, &n);                                                   \
    }

NORM_FUNCTIONS(layer, layer_of)
NORM_FUNCTIONS(groups, groups_of)

#define NORM_FIELDS(id)                                                                            \
    .inputs = norm_inputs, .arity = norm_arity, .dtypes = "F*>F*", .compute = id##_compute,        \
    .grad = id##_grad, .grad_kernel = id##_grad_kernel, .saves = mxl_normalise_saves,              \
    .cheap = true

static const mxl_op op_layer_norm = {
    .name = "LayerNorm",
    .aliases = MXL_ALIASES("_npx_layer_norm"),
    .doc = "(data - mean) / sqrt(variance + eps) * gamma + beta, with the mean and the variance "
           "along one axis; gamma and beta have its size.",
    MXL_PARAMS_OF(norm_params,
                  MXL_PARAM(norm_params, axis, MXL_P_INT, "-1",
                            "The axis to normalise along, counted from either end."),
                  EPS("9.99999975e-06"), OUTPUT_MEAN_VAR),
    MXL_SHAPES("data[*A,C@axis,*B] gamma[C] beta[C] -> [*A,C,*B] [*A,1,*B] [*A,1,*B]"),
    .output_names = "output mean std",
    NORM_FIELDS(layer),
};

/* For graphs in which several nodes compute it: an axis that is not the last one is refused. */
static int last_infer(mxl_infer *infer)
{
    const norm_params *p = infer->params;
    int ndim = infer->in[0]->ndim;

    if (mxl_infer_said(infer) != 0)
        return -1;
    return p->axis == -1 || p->axis == ndim - 1
               ? 0
               : mxl_error("%s: axis %lld is not the last one of %d", infer->op->name,
                           (long long)p->axis, ndim);
}

const mxl_op mxl_op_last_norm = {
    .name = "_mxl_last_norm",
    .doc = "LayerNorm along an axis that must be the last one.",
    MXL_PARAMS_OF(norm_params,
                  MXL_PARAM(norm_params, axis, MXL_P_INT, "-1", "The last axis, from either end."),
                  EPS("1e-5")),
    .infer = last_infer,
    MXL_SHAPES_TABLE("data[*A,C] gamma[C] beta[C] -> [*A,C] [*A,1] [*A,1]"),
    NORM_FIELDS(layer),
};

static const mxl_op op_instance_norm = {
    .name = "InstanceNorm",
    .doc = "(data - mean) / sqrt(variance + eps) * gamma + beta, with the mean and the variance of "
           "each channel (position along axis 1) of each example; gamma and beta have a value for "
           "each channel.",
    MXL_PARAMS_OF(norm_params, EPS("0.00100000005")),
    MXL_SHAPES("data[N,C,L,*S] gamma[C] beta[C] -> [N,C,L,*S] [N,C] [N,C]"),
    .output_names = "output mean var",
    NORM_FIELDS(groups),
};

static const mxl_op op_group_norm = {
    .name = "GroupNorm",
    .doc = "(data - mean) / sqrt(variance + eps) * gamma + beta, with the mean and the variance of "
           "each group of channels (positions along axis 1) of each example; gamma and beta have a "
           "value for each group.",
    MXL_PARAMS_OF(norm_params,
                  MXL_PARAM(norm_params, num_groups, MXL_P_INT, "1",
                            "Number of groups, which divides the number of channels."),
                  EPS("9.99999975e-06"), OUTPUT_MEAN_VAR),
    .check = group_check,
    MXL_SHAPES("data[N,num_groups*C,L,*S] gamma[num_groups] beta[num_groups] -> "
               "[N,num_groups*C,L,*S] [N,num_groups] [N,num_groups]"),
    .output_names = "output mean std",
    NORM_FIELDS(groups),
};

/* ---- all of them, without what is not given ---- */

static const char *const over_names[] = {"last", "others", "rest", NULL};

static int any_arity(const void *params, mxl_arity *arity)
{
    const mxl_normalise_params *p = params;

    arity->inputs = 1 + (p->scaled != 0) + (p->shifted != 0) + 2 * (p->given != 0);
    arity->outputs = 3;
    arity->visible = 1;
    return 0;
}

static mxl_normalise any_of(const void *params, int ndim, const int64_t *shape)
{
    const mxl_normalise_params *p = params;
    int kept = p->over == MXL_NORM_LAST ? ndim - (int)p->count : 2;
    int64_t rest = mxl_shape_size(ndim - kept, shape + kept);
    mxl_normalise n;

    if (p->over == MXL_NORM_LAST)
        n = mxl_normalise_of(MXL_OVER_AXIS, mxl_shape_size(kept, shape), rest, 1);
    else
        n = mxl_normalise_of(p->over == MXL_NORM_OTHERS ? MXL_OVER_OTHERS : MXL_OVER_REST, shape[0],
                             shape[1], rest);
    n.eps = p->eps;
    n.scale = p->scaled != 0;
    n.shift = p->shifted != 0 ? 1 + n.scale : 0;
    n.given = p->given != 0 ? 1 + n.scale + (p->shifted != 0) : 0;
    return n;
}

/* Weight, bias and given statistics: of as many elements as there are positions, in data's dtype or
 * in that of computations. */
static int check_factor(const mxl_array *x, const mxl_array *in, const mxl_normalise *n)
{
    if (in->dtype != x->dtype && in->dtype != mxl_norm_wide(x->dtype))
        return mxl_error("norm: data has dtype %s, the weight, the bias or a statistic %s",
                         mxl_dtype_name(x->dtype), mxl_dtype_name(in->dtype));
    if (in->size != n->shape[1])
        return mxl_error("norm: the weight, the bias or a statistic has shape %s, it must have "
                         "%lld elements",
                         MXL_SHAPE_OF(in), (long long)n->shape[1]);
    return 0;
}

static int any_infer(mxl_infer *infer)
{
    const mxl_normalise_params *p = infer->params;
    const mxl_array *x = infer->in[0];
    mxl_normalise n;

    if (!mxl_dtype_is_float(x->dtype))
        return mxl_error("norm: takes floating dtypes, got %s", mxl_dtype_name(x->dtype));
    if (p->over == MXL_NORM_LAST ? p->count < 1 || p->count > x->ndim : x->ndim < 2)
        return mxl_error("norm: an array of shape %s does not have the axes to normalise over",
                         MXL_SHAPE_OF(x));
    if (p->given != 0 && p->over != MXL_NORM_OTHERS)
        return mxl_error("norm: statistics are given for channels alone (over=others)");
    n = any_of(p, x->ndim, x->shape);
    for (int i = 1; i < infer->num_inputs; i++) {
        if (check_factor(x, infer->in[i], &n) != 0)
            return -1;
    }
    if (mxl_infer_set(infer, x->dtype, x->ndim, x->shape) != 0)
        return -1;
    mxl_shape_set(&infer->out_shape[1], 3, n.kept);
    mxl_shape_set(&infer->out_shape[2], 3, n.kept);
    return 0;
}

NORM_FUNCTIONS(any, any_of)

static void any_saves(mxl_saves *saves)
{
    saves->in[0] = saves->out[1] = saves->out[2] = true;
    if (((const mxl_normalise_params *)saves->params)->scaled)
        saves->in[1] = true;
}

static const mxl_op op_normalise = {
    .name = "_mxl_normalise",
    .doc = "(data - mean) / sqrt(variance + eps), times a weight and plus a bias where they are "
           "given: over the last axes (weight and bias have their sizes), over all axes but the "
           "channels of axis 1, or over those after it (with a value for each channel).",
    MXL_PARAMS_OF(
        mxl_normalise_params,
        MXL_PARAM(mxl_normalise_params, over, MXL_P_ENUM, "last", "The axes.",
                  .values = over_names),
        MXL_PARAM(mxl_normalise_params, count, MXL_P_INT, "1", "The number of last axes."),
        MXL_PARAM(mxl_normalise_params, eps, MXL_P_FLOAT, "1e-5",
                  "Added to the variance, below the root.", .type_name = "double"),
        MXL_PARAM(mxl_normalise_params, scaled, MXL_P_BOOL, "0", "Whether a weight follows data."),
        MXL_PARAM(mxl_normalise_params, shifted, MXL_P_BOOL, "0", "Whether a bias follows."),
        MXL_PARAM(mxl_normalise_params, given, MXL_P_BOOL, "0",
                  "Whether means and variances of the channels follow, which have no gradient.")),
    .inputs = norm_inputs,
    .arity = any_arity,
    .infer = any_infer,
    .compute = any_compute,
    .grad = any_grad,
    .grad_kernel = any_grad_kernel,
    .saves = any_saves,
    MXL_BATCH(mxl_vmap_normalise),
};

const mxl_op *const mxl_ops_layer_norm[] = {&op_layer_norm, &mxl_op_last_norm, &op_instance_norm,
                                            &op_group_norm, &op_normalise,     NULL};
