/* Rules that complete the shapes of inputs: weights, states, labels, and whatever has the shape of
 * something else. */
#include <string.h>

#include "graph/infer.h"
#include "ops/nn/rnn_net.h"

/* ---- parameters by name ---- */

static const void *field_of(const mxl_rule *rule, const char *name, const mxl_param **param)
{
    *param = mxl_param_find(rule->op, name);
    return *param != NULL ? (const char *)rule->params + (*param)->offset : NULL;
}

int64_t mxl_rule_int(const mxl_rule *rule, const char *name, int64_t missing)
{
    const mxl_param *param;
    const void *field = field_of(rule, name, &param);

    if (field == NULL)
        return missing;
    if (param->type == MXL_P_INT || param->type == MXL_P_OPT_INT)
        return *(const int64_t *)field;
    return *(const int *)field;
}

bool mxl_rule_flag(const mxl_rule *rule, const char *name)
{
    return mxl_rule_int(rule, name, 0) > 0;
}

mxl_tuple mxl_rule_tuple(const mxl_rule *rule, const char *name)
{
    const mxl_param *param;
    const void *field = field_of(rule, name, &param);

    return field != NULL ? *(const mxl_tuple *)field : (mxl_tuple){-1, NULL};
}

bool mxl_rule_is(const mxl_rule *rule, const char *name, const char *value)
{
    const mxl_param *param;
    const void *field = field_of(rule, name, &param);

    if (field == NULL)
        return false;
    if (param->type == MXL_P_STRING)
        return strcmp(*(const char *const *)field, value) == 0;
    return param->values != NULL && strcmp(param->values[*(const int *)field], value) == 0;
}

/* ---- layers ---- */

/* The product of sizes; -1 if one is unknown. */
static int64_t product(int ndim, const int64_t *dim)
{
    int64_t size = 1;

    for (int i = 0; i < ndim; i++) {
        if (dim[i] < 0)
            return -1;
        size *= dim[i];
    }
    return size;
}

static int fully_connected(mxl_rule *rule)
{
    mxl_shape *data = mxl_rule_in(rule, 0), *out = mxl_rule_out(rule, 0);
    int64_t units = mxl_rule_int(rule, "num_hidden", -1);
    bool flatten = mxl_rule_flag(rule, "flatten");
    int64_t width = -1;

    if (data->ndim < 0)
        return 0;
    if (data->ndim > 0)
        width = flatten ? product(data->ndim - 1, data->dim + 1) : data->dim[data->ndim - 1];
    if (mxl_rule_say(rule, 1, 2, (int64_t[]){units, width}) != 0 ||
        mxl_rule_say(rule, 2, 1, &units) != 0)
        return -1;
    if (data->ndim > 0 && out->ndim > 0 && data->dim[0] < 0 && out->dim[0] >= 0) {
        data->dim[0] = out->dim[0];
        rule->changed = true;
    }
    return 0;
}

static int like_first(mxl_rule *rule);

/* The weight (filters, channels of a group, kernel) or, transposed, (channels, filters of a group,
 * kernel). */
static int weight_of_conv(mxl_rule *rule, int input, bool transposed)
{
    const mxl_shape *data = mxl_rule_in(rule, 0);
    mxl_tuple kernel = mxl_rule_tuple(rule, "kernel");
    int64_t filters = mxl_rule_int(rule, "num_filter", -1), dims[MXL_MAX_NDIM];
    int64_t groups = mxl_rule_int(rule, "num_group", 1);
    int64_t channels = data->ndim > 1 ? data->dim[1] : -1;

    if (data->ndim < 0 || kernel.n < 1 || kernel.n + 2 > MXL_MAX_NDIM || groups < 1)
        return 0;
    dims[0] = transposed ? channels : filters;
    dims[1] = transposed ? filters / groups : channels < 0 ? -1 : channels / groups;
    for (int i = 0; i < kernel.n; i++)
        dims[2 + i] = kernel.v[i];
    return mxl_rule_say(rule, input, kernel.n + 2, dims) != 0
               ? -1
               : mxl_rule_say(rule, input + 1, 1, &filters);
}

/* The batch of the data, and, along spatial axes with stride 1, its size. */
static int data_of_conv(mxl_rule *rule)
{
    const mxl_shape *out = mxl_rule_out(rule, 0);
    mxl_tuple kernel = mxl_rule_tuple(rule, "kernel"), stride = mxl_rule_tuple(rule, "stride");
    mxl_tuple dilate = mxl_rule_tuple(rule, "dilate"), pad = mxl_rule_tuple(rule, "pad");
    int64_t dims[MXL_MAX_NDIM];

    if (kernel.n < 1 || out->ndim != kernel.n + 2)
        return 0;
    dims[0] = out->dim[0];
    dims[1] = -1;
    for (int i = 0; i < kernel.n; i++) {
        int64_t spread = i < dilate.n ? dilate.v[i] : 1, around = i < pad.n ? pad.v[i] : 0;
        int64_t size = out->dim[2 + i] + spread * (kernel.v[i] - 1) - 2 * around;
        bool follows = out->dim[2 + i] > 0 && (i >= stride.n || stride.v[i] == 1) && size > 0;

        dims[2 + i] = follows ? size : -1;
    }
    return mxl_rule_say(rule, 0, out->ndim, dims);
}

static int convolution(mxl_rule *rule)
{
    return data_of_conv(rule) != 0 ? -1 : weight_of_conv(rule, 1, false);
}

static int deformable_convolution(mxl_rule *rule)
{
    return weight_of_conv(rule, 2, false);
}

static int modulated_convolution(mxl_rule *rule)
{
    return weight_of_conv(rule, 3, false);
}

static int deconvolution(mxl_rule *rule)
{
    return weight_of_conv(rule, 1, true);
}

static int upsampling(mxl_rule *rule)
{
    int64_t scale = mxl_rule_int(rule, "scale", 1), kernel = 2 * scale - scale % 2;

    if (!mxl_rule_is(rule, "sample_type", "bilinear"))
        return 0;
    return mxl_rule_say(rule, 1, 4,
                        (int64_t[]){mxl_rule_int(rule, "num_filter", -1), 1, kernel, kernel});
}

/* Inputs after the first have the size of one axis of the data. */
static int sized_by_axis(mxl_rule *rule, int64_t axis)
{
    mxl_shape *data = mxl_rule_in(rule, 0);

    if (mxl_rule_merge(rule, mxl_rule_out(rule, 0), data) != 0 ||
        mxl_rule_merge(rule, data, mxl_rule_out(rule, 0)) != 0)
        return -1;
    axis = axis < 0 ? axis + data->ndim : axis;
    if (data->ndim < 0 || axis < 0 || axis >= data->ndim)
        return 0;
    for (int i = 1; i < rule->num_in; i++) {
        if (mxl_rule_say(rule, i, 1, &data->dim[axis]) != 0)
            return -1;
    }
    return 0;
}

static int norm(mxl_rule *rule)
{
    return sized_by_axis(rule, mxl_rule_int(rule, "axis", 1));
}

static int group_norm(mxl_rule *rule)
{
    int64_t groups = mxl_rule_int(rule, "num_groups", 1);

    return mxl_rule_say(rule, 1, 1, &groups) != 0 ? -1 : mxl_rule_say(rule, 2, 1, &groups);
}

/* A gamma that is given may be one number for all channels. */
static int leaky_relu(mxl_rule *rule)
{
    const mxl_shape *gamma = rule->num_in > 1 ? mxl_rule_in(rule, 1) : NULL;

    if (gamma == NULL || !mxl_rule_is(rule, "act_type", "prelu"))
        return 0;
    return gamma->ndim == 1 && gamma->dim[0] == 1 ? like_first(rule) : sized_by_axis(rule, 1);
}

static int embedding(mxl_rule *rule)
{
    return mxl_rule_say(
        rule, 1, 2,
        (int64_t[]){mxl_rule_int(rule, "input_dim", -1), mxl_rule_int(rule, "output_dim", -1)});
}

/* Steps and batch of the data, by the result. */
static int rnn_data(mxl_rule *rule)
{
    const mxl_shape *out = mxl_rule_out(rule, 0);

    return out->ndim != 3 ? 0 : mxl_rule_say(rule, 0, 3, (int64_t[]){out->dim[0], out->dim[1], -1});
}

static int rnn(mxl_rule *rule)
{
    const mxl_shape *data = mxl_rule_in(rule, 0);
    mxl_rnn_net net;
    int64_t states, size;

    if (rnn_data(rule) != 0)
        return -1;
    if (data->ndim != 3)
        return 0;
    net = mxl_rnn_net_of(rule->params, data->dim);
    states = net.layers * net.directions;
    size = data->dim[2] < 0 ? -1 : mxl_rnn_parameters(&net);
    if (mxl_rule_merge(
            rule, mxl_rule_out(rule, 0),
            &(mxl_shape){.ndim = 3,
                         .dim = {data->dim[0], data->dim[1], net.out * net.directions}}) != 0)
        return -1;
    if (mxl_rule_say(rule, 1, 1, &size) != 0 ||
        mxl_rule_say(rule, 2, 3, (int64_t[]){states, data->dim[1], net.out}) != 0)
        return -1;
    if (net.lstm &&
        mxl_rule_say(rule, net.cell_input, 3, (int64_t[]){states, data->dim[1], net.hidden}) != 0)
        return -1;
    return net.length_input < 0 ? 0 : mxl_rule_say(rule, net.length_input, 1, &data->dim[1]);
}

/* One length for each sequence of the batch. */
static int sequence(mxl_rule *rule)
{
    const mxl_shape *data = mxl_rule_in(rule, 0);
    int64_t batch = 1 - mxl_rule_int(rule, "axis", 0);

    return data->ndim < 2 || batch < 0 ? 0 : mxl_rule_say(rule, 1, 1, &data->dim[batch]);
}

/* The result has the shape of the data; there is one length for each of its slices along the axis.
 */
static int softmax(mxl_rule *rule)
{
    const mxl_shape *data = mxl_rule_in(rule, 0);
    int64_t axis = mxl_rule_int(rule, "axis", -1);
    int64_t slices[MXL_MAX_NDIM];
    int count = 0;

    if (like_first(rule) != 0)
        return -1;
    axis += axis < 0 ? data->ndim : 0;
    if (axis < 0 || axis >= data->ndim)
        return 0;
    for (int i = 0; i < data->ndim; i++) {
        if (i != axis)
            slices[count++] = data->dim[i];
    }
    return mxl_rule_say(rule, 1, count, slices);
}

/* ---- labels ---- */

static int softmax_output(mxl_rule *rule)
{
    const mxl_shape *data = mxl_rule_in(rule, 0);
    int64_t pair[2];

    if (data->ndim < 1 || mxl_rule_in(rule, 1)->ndim >= 0)
        return 0;
    if (!mxl_rule_flag(rule, "multi_output"))
        return mxl_rule_say(rule, 1, data->ndim - 1, data->dim);
    if (data->ndim < 2)
        return 0;
    pair[0] = data->dim[0];
    pair[1] = product(data->ndim - 2, data->dim + 2);
    return mxl_rule_say(rule, 1, 2, pair);
}

static int regression_output(mxl_rule *rule)
{
    const mxl_shape *data = mxl_rule_in(rule, 0);
    bool column = data->ndim == 2 && data->dim[1] == 1;

    if (data->ndim < 1 || mxl_rule_in(rule, 1)->ndim >= 0)
        return 0;
    return mxl_rule_say(rule, 1, column ? 1 : data->ndim, data->dim);
}

static int svm_output(mxl_rule *rule)
{
    const mxl_shape *data = mxl_rule_in(rule, 0);

    return data->ndim < 1 ? 0 : mxl_rule_say(rule, 1, data->ndim - 1, data->dim);
}

/* One number for each row of the weight. */
static int group_adagrad(mxl_rule *rule)
{
    const mxl_shape *weight = mxl_rule_in(rule, 0);

    return weight->ndim < 1 || mxl_rule_in(rule, 2)->ndim >= 0
               ? 0
               : mxl_rule_say(rule, 2, 2, (int64_t[]){weight->dim[0], 1});
}

/* ---- inputs and outputs alike ---- */

static mxl_shape *place(const mxl_rule *rule, int i)
{
    return i < rule->num_in ? mxl_rule_in(rule, i) : mxl_rule_out(rule, i - rule->num_in);
}

static int alike(mxl_rule *rule)
{
    mxl_shape all = {.ndim = -1};
    mxl_rule gather = *rule; /* what it changes is `all` */

    for (int i = 0; i < rule->num_in + rule->num_out; i++) {
        if (mxl_rule_merge(&gather, &all, place(rule, i)) != 0)
            return -1;
    }
    for (int i = 0; i < rule->num_in + rule->num_out; i++) {
        if (mxl_rule_merge(rule, place(rule, i), &all) != 0)
            return -1;
    }
    return 0;
}

static int like_first(mxl_rule *rule)
{
    return mxl_rule_merge(rule, mxl_rule_out(rule, 0), mxl_rule_in(rule, 0)) != 0
               ? -1
               : mxl_rule_merge(rule, mxl_rule_in(rule, 0), mxl_rule_out(rule, 0));
}

/* Without an axis, a running sum is that of all elements in a row. */
static int cumsum(mxl_rule *rule)
{
    return mxl_rule_int(rule, "axis", MXL_NONE) == MXL_NONE ? 0 : like_first(rule);
}

/* Everything but one axis is alike; there, the sizes of the inputs add up. */
static int concat(mxl_rule *rule, int64_t axis)
{
    mxl_shape all = {.ndim = -1}, one;
    mxl_rule gather = *rule;

    for (int i = 0; i < rule->num_in + rule->num_out; i++) {
        one = *place(rule, i);
        if (one.ndim >= 0 && axis < 0)
            axis += one.ndim;
        if (axis >= 0 && axis < one.ndim)
            one.dim[axis] = -1;
        if (mxl_rule_merge(&gather, &all, &one) != 0)
            return -1;
    }
    for (int i = 0; i < rule->num_in + rule->num_out; i++) {
        if (mxl_rule_merge(rule, place(rule, i), &all) != 0)
            return -1;
    }
    return 0;
}

/* The axis along which inputs add up: unknown sizes of inputs share what is left of a known total.
 * Only the packed parameters of a recurrent layer may have several of them, of one size each. */
static int share_rest(mxl_rule *rule, int axis, bool several)
{
    int64_t rest = axis < mxl_rule_out(rule, 0)->ndim ? mxl_rule_out(rule, 0)->dim[axis] : -1;
    int unknown = 0;

    for (int i = 0; i < rule->num_in; i++) {
        const mxl_shape *in = mxl_rule_in(rule, i);

        if (in->ndim <= axis)
            return 0;
        unknown += in->dim[axis] < 0;
        rest -= in->dim[axis] < 0 ? 0 : in->dim[axis];
    }
    if (rest < 0 || unknown == 0 || (unknown > 1 && !several) || rest % unknown != 0)
        return 0;
    for (int i = 0; i < rule->num_in; i++) {
        mxl_shape *in = mxl_rule_in(rule, i);

        if (in->dim[axis] < 0) {
            in->dim[axis] = rest / unknown;
            rule->changed = true;
        }
    }
    return 0;
}

static int concat_parameters(mxl_rule *rule)
{
    return concat(rule, mxl_rule_int(rule, "dim", 1)) != 0 ? -1 : share_rest(rule, 0, true);
}

static int concat_along(mxl_rule *rule, int64_t axis)
{
    if (concat(rule, axis) != 0)
        return -1;
    axis += axis < 0 ? mxl_rule_out(rule, 0)->ndim : 0;
    return axis < 0 ? 0 : share_rest(rule, (int)axis, false);
}

static int concat_rest(mxl_rule *rule)
{
    return concat_along(rule, mxl_rule_int(rule, "dim", 1));
}

/* Without an axis the inputs are flat, whatever they have. */
static int concatenate(mxl_rule *rule)
{
    int64_t axis = mxl_rule_int(rule, "axis", MXL_NONE);

    return axis == MXL_NONE ? 0 : concat_along(rule, axis);
}

/* ---- which rule ---- */

static const struct {
    const char *op;
    int (*rule)(mxl_rule *);
} rules[] = {
    {"FullyConnected", fully_connected},
    {"Convolution", convolution},
    {"Convolution_v1", convolution},
    {"_contrib_DeformableConvolution", deformable_convolution},
    {"_contrib_ModulatedDeformableConvolution", modulated_convolution},
    {"Deconvolution", deconvolution},
    {"UpSampling", upsampling},
    {"BatchNorm", norm},
    {"BatchNorm_v1", norm},
    {"IdentityAttachKLSparseReg", norm},
    {"_contrib_SyncBatchNorm", norm},
    {"_contrib_BatchNormWithReLU", norm},
    {"LayerNorm", norm},
    {"InstanceNorm", norm},
    {"GroupNorm", group_norm},
    {"LeakyReLU", leaky_relu},
    {"Embedding", embedding},
    {"RNN", rnn},
    {"SequenceMask", sequence},
    {"SequenceLast", sequence},
    {"SequenceReverse", sequence},
    {"SoftmaxOutput", softmax_output},
    {"LinearRegressionOutput", regression_output},
    {"LogisticRegressionOutput", regression_output},
    {"MAERegressionOutput", regression_output},
    {"SVMOutput", svm_output},
    {"Concat", concat_rest},
    {"_rnn_param_concat", concat_parameters},
    {"_npi_concatenate", concatenate},
    {"_linalg_gemm", mxl_rule_gemm},
    {"_linalg_trmm", mxl_rule_triangular},
    {"_linalg_trsm", mxl_rule_triangular},
    {"_np_transpose", mxl_rule_transpose},
    {"_slice_assign", mxl_rule_slice_assign},
    {"_contrib_box_encode", mxl_rule_box_encode},
    {"_npi_pinv", mxl_rule_pinv},
    {"_npi_pinv_scalar_rcond", mxl_rule_pinv},
    {"_npi_eigvals", mxl_rule_eigenvalues},
    {"_npi_eigvalsh", mxl_rule_eigenvalues},
    {"_contrib_Proposal", mxl_rule_proposal},
    {"_contrib_MultiProposal", mxl_rule_proposal},
    {"_scatter_set_nd", mxl_rule_by_parameter},
    {"_ravel_multi_index", mxl_rule_ravel},
    {"_unravel_index", mxl_rule_unravel},
    {"scatter_nd", mxl_rule_by_parameter},
    {"_contrib_group_adagrad_update", group_adagrad},
    {"_sample_uniform", mxl_rule_samples},
    {"_sample_normal", mxl_rule_samples},
    {"_sample_gamma", mxl_rule_samples},
    {"_sample_exponential", mxl_rule_samples},
    {"_sample_poisson", mxl_rule_samples},
    {"_sample_negative_binomial", mxl_rule_samples},
    {"_sample_generalized_negative_binomial", mxl_rule_samples},
    {"Reshape", mxl_rule_reshape},
    {"_np_reshape", mxl_rule_reshape},
    {"_npx_reshape", mxl_rule_reshape},
    {"Flatten", mxl_rule_reshape},
    {"elemwise_add", alike},
    {"elemwise_sub", alike},
    {"elemwise_mul", alike},
    {"elemwise_div", alike},
    {"_mod", alike},
    {"_power", alike},
    {"_maximum", alike},
    {"_minimum", alike},
    {"_hypot", alike},
    {"_equal", alike},
    {"_not_equal", alike},
    {"_greater", alike},
    {"_greater_equal", alike},
    {"_lesser", alike},
    {"_lesser_equal", alike},
    {"_logical_and", alike},
    {"_logical_or", alike},
    {"_logical_xor", alike},
    {"_copyto", like_first},
    {"_copy", like_first},
    {"reverse", like_first},
    {"_np_cumsum", cumsum},
    {"_contrib_div_sqrt_dim", like_first},
    {"where", mxl_rule_where},
    {"expand_dims", mxl_rule_expand_dims},
    {"transpose", mxl_rule_transpose},
    {"pick", mxl_rule_pick},
    {"SliceChannel", mxl_rule_split},
    {"softmax", softmax},
    {"softmin", like_first},
    {"log_softmax", like_first},
    {"SoftmaxActivation", like_first},
    {"Dropout", like_first},
    {"Cast", like_first},
    {"amp_cast", like_first},
};

int mxl_rule_table_shapes(mxl_rule *rule)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (strcmp(rules[i].op, rule->op->name) == 0)
            return rule->op->shapes != NULL && mxl_rule_said_shapes(rule, rule->op->shapes) != 0
                       ? -1
                       : rules[i].rule(rule);
    }
    return mxl_rule_shapes(rule);
}
