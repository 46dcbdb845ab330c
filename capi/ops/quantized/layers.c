/* See layers.h. Sums are int32; a step of them is the product of a step of data and one of the
 * weight. */
#include "ops/quantized/layers.h"

#include <stddef.h>

#include "base/memory/mem.h"
#include "op/kept.h"

/* ---- shared ---- */

/* Names of inputs behind weight, where there is no bias. */
static const char *plain_name(int i)
{
    static const char *const names[] = {"min_data", "max_data", "min_weight", "max_weight"};

    return i >= 2 && i < 6 ? names[i - 2] : NULL;
}

#define LAYER_INPUTS(data_text, weight_text)                                                       \
    MXL_INPUT(data, "Bytes: int8 or uint8; " data_text "."),                                       \
        MXL_INPUT(weight, "int8: " weight_text "."),                                               \
        MXL_INPUT(bias, "int8, one for each channel; absent with no_bias, as its limits are."),    \
        MXL_QUANTIZED_LIMITS(data, "data"), MXL_QUANTIZED_LIMITS(weight, "weight"),                \
        MXL_QUANTIZED_LIMITS(bias, "bias")
#define DTYPES_PLAIN ".cffff>iff"
#define DTYPES_BIAS  ".ccffffff>iff"
#define LIMITS_PLAIN "min_data[1] max_data[1] min_weight[1] max_weight[1] "
#define LIMITS_BIAS  LIMITS_PLAIN "min_bias[1] max_bias[1] "

/* The number of one step of the sums. Limits begin at input `first`. */
static float step_of(const mxl_call *call, int first)
{
    return mxl_quantized_reach_of(call, first) / mxl_quantized_steps(call->in[0]->dtype) *
           (mxl_quantized_reach_of(call, first + 2) / mxl_quantized_steps(MXL_I8));
}

/* The bias (input 2) in steps of the sums, but with half a step more of data, and cut to integers,
 * as in 1.9.1: `count` new numbers; NULL with the error set. */
static int32_t *bias_of(const mxl_call *call, int64_t count, float step)
{
    const int dtype = call->in[0]->dtype;
    const int8_t *bias = mxl_array_read(call->in[2]);
    int32_t *made = mxl_alloc((size_t)count * sizeof(*made));
    double own = (double)(mxl_quantized_reach_of(call, 7) / mxl_quantized_steps(MXL_I8));
    float factor = step > 0 ? (float)(own / (double)step * (double)mxl_quantized_half_steps(dtype) /
                                      (double)mxl_quantized_steps(dtype))
                            : 0;

    if (made != NULL)
        mxl_quantized_cut(bias, made, count, factor);
    return made;
}

static void set_wide_range(const mxl_call *call, float step)
{
    mxl_quantized_set_range(call, -step * MXL_QUANTIZED_WIDE_STEPS,
                            step * MXL_QUANTIZED_WIDE_STEPS);
}

/* ---- convolution ---- */

#define DATA "data[N,C,*S:kernel] weight[num_filter,C/num_group,*kernel] "
#define BIAS "bias[num_filter] "
#define CONV "-> [N,num_filter,*window(S)] [1] [1]"

static int conv_inputs(const mxl_conv_params *p)
{
    return p->no_bias ? 6 : 9;
}

static int conv_arity(const void *params, mxl_arity *arity)
{
    return mxl_quantized_arity(arity, conv_inputs(params));
}

static const char *conv_input_name(const void *params, int i)
{
    return ((const mxl_conv_params *)params)->no_bias ? plain_name(i) : NULL;
}

static int conv_check(void *params)
{
    return mxl_conv_check("_contrib_quantized_conv", params);
}

static int conv_infer(mxl_infer *infer)
{
    return mxl_quantized_check(infer, 0) != 0 ? -1 : mxl_conv_infer(infer);
}

static const char *conv_shapes(const void *params)
{
    return ((const mxl_conv_params *)params)->no_bias ? DATA LIMITS_PLAIN CONV : NULL;
}

static const char *conv_dtypes(const void *params)
{
    return ((const mxl_conv_params *)params)->no_bias ? DTYPES_PLAIN : DTYPES_BIAS;
}

static void free_weights(void *form)
{
    mxl_quantized_weights_free(form);
}

/* The product of a layer, to int32 without a tail, with `filters` channels of the result. `step` is
 * that of the sums. */
static int run_layer(const mxl_call *call, const mxl_conv *v, bool no_bias, int64_t filters,
                     mxl_quantized_order order, float step, const mxl_quantized_tail *tail)
{
    mxl_kept *kept = mxl_kept_of(call->kept, 1, call->in + 1);
    mxl_quantized_weights *weights = kept != NULL ? kept->form : NULL;
    int32_t *bias = NULL;
    int status = -1;

    if (weights == NULL)
        weights = mxl_quantized_weights_new(v, mxl_array_read(call->in[1]));
    if (weights == NULL)
        return -1;
    if (!no_bias)
        bias = bias_of(call, filters, step);
    if (no_bias || bias != NULL)
        status = mxl_quantized_convolve(v, order, mxl_array_read(call->in[0]), weights, bias, tail,
                                        mxl_array_write(call->out[0]));
    mxl_free(bias, (size_t)filters * sizeof(*bias));
    if (kept == NULL) {
        mxl_quantized_weights_free(weights);
    } else {
        kept->form = weights;
        kept->free = free_weights;
    }
    return status;
}

static int convolve(const mxl_call *call, const mxl_conv_params *p, mxl_quantized_order order,
                    float step, const mxl_quantized_tail *tail)
{
    const mxl_array *x = call->in[0], *w = call->in[1];
    mxl_conv v = mxl_conv_of(p, x->dtype, x->ndim, x->shape, w->shape, call->out[0]->shape);

    return run_layer(call, &v, p->no_bias, p->num_filter, order, step, tail);
}

static int conv_compute(const mxl_call *call)
{
    const mxl_conv_params *p = call->params;
    float step = step_of(call, p->no_bias ? 2 : 3);

    set_wide_range(call, step);
    return convolve(call, p, (mxl_quantized_order){false, false}, step, NULL);
}

const mxl_op mxl_op_quantized_conv = {
    .name = "_contrib_quantized_conv",
    .doc = "Convolution of bytes with int8 weights to int32, exact but for the bias, which is "
           "cut to steps of the sums; and the limits that all int32 together have.",
    MXL_INPUTS(LAYER_INPUTS("batch, channels, then one to three spatial axes",
                            "num_filter, channels of a group, kernel")),
    MXL_PARAMS_OF(mxl_conv_params, MXL_CONV_WINDOW, MXL_CONV_CHANNELS("1024", "0"),
                  MXL_CONV_LAYOUT(mxl_conv_layouts)),
    .arity = conv_arity,
    .output_names = MXL_QUANTIZED_NAMES,
    .input_name = conv_input_name,
    .check = conv_check,
    .infer = conv_infer,
    MXL_SHAPES_TABLE(DATA BIAS LIMITS_BIAS CONV),
    .shapes_of = conv_shapes,
    .size_functions = mxl_conv_sizes,
    .dtypes = DTYPES_BIAS,
    .dtypes_of = conv_dtypes,
    .compute = conv_compute,
    .keeps_form = true,
};

/* ---- convolution and what follows ---- */

#define ADDED      "added[N,num_filter,*R] min_added[1] max_added[1] "
#define ADDED_TYPE ".ff>"

int mxl_block_added(const mxl_block_params *p)
{
    return conv_inputs(&p->conv);
}

static int block_arity(const void *params, mxl_arity *arity)
{
    const mxl_block_params *p = params;

    return mxl_quantized_arity(arity, conv_inputs(&p->conv) + (p->adds ? 3 : 0));
}

static const char *block_input_name(const void *params, int i)
{
    static const char *const names[] = {"added", "min_added", "max_added"};
    const mxl_block_params *p = params;
    int first = conv_inputs(&p->conv);

    return i >= first ? (i < first + 3 ? names[i - first] : NULL) : conv_input_name(&p->conv, i);
}

static const char *block_shapes(const void *params)
{
    static const char *const texts[2][2] = {
        {DATA LIMITS_PLAIN CONV, DATA LIMITS_PLAIN ADDED CONV},
        {DATA BIAS LIMITS_BIAS CONV, DATA BIAS LIMITS_BIAS ADDED CONV}};
    const mxl_block_params *p = params;

    return texts[!p->conv.no_bias][p->adds != 0];
}

static const char *block_dtypes(const void *params)
{
    static const char *const texts[2][2][2] = {
        {{".cffff>cff", ".cffff>uff"}, {".cffff.ff>cff", ".cffff.ff>uff"}},
        {{".ccffffff>cff", ".ccffffff>uff"}, {".ccffffff.ff>cff", ".ccffffff.ff>uff"}}};
    const mxl_block_params *p = params;

    return texts[!p->conv.no_bias][p->adds != 0]
                [mxl_quantized_dtype(p->adds ? &p->sum : &p->to) == MXL_U8];
}

static int block_infer(mxl_infer *infer)
{
    const mxl_block_params *p = infer->params;
    int added = conv_inputs(&p->conv);
    const mxl_shape *result = &infer->out_shape[0];

    if (conv_infer(infer) != 0 || (p->adds && mxl_quantized_check(infer, added) != 0))
        return -1;
    for (int i = 0; p->adds && i < result->ndim; i++) {
        if (mxl_sizes_differ(infer->in[added]->shape[i], result->dim[i]))
            return mxl_error("%s: added has shape %s, the result %s", infer->op->name,
                             MXL_SHAPE_OF(infer->in[added]),
                             MXL_SHAPE_TEXT(result->ndim, result->dim));
    }
    return 0;
}

/* As _contrib_requantize, _contrib_quantized_act and _contrib_quantized_elemwise_add compute it. */
static int block_compute(const mxl_call *call)
{
    const mxl_block_params *p = call->params;
    const int dtype = mxl_quantized_dtype(&p->to), added = conv_inputs(&p->conv);
    float step = step_of(call, p->conv.no_bias ? 2 : 3);
    float reach = mxl_quantized_reach((float)p->to.min_calib_range, (float)p->to.max_calib_range);
    mxl_quantized_tail tail = {.dtype = dtype,
                               .scale =
                                   mxl_quantized_factor(&p->to, step * MXL_QUANTIZED_WIDE_STEPS),
                               .least = p->relu ? 0 : -128};

    if (p->adds) {
        float more = mxl_quantized_reach_of(call, added + 1);

        tail.add = mxl_array_read(call->in[added]);
        tail.add_dtype = call->in[added]->dtype;
        tail.sum_dtype = mxl_quantized_dtype(&p->sum);
        tail.byte_scale = mxl_quantized_sum_factor(dtype, reach, reach + more);
        tail.add_scale = mxl_quantized_sum_factor(tail.add_dtype, more, reach + more);
        tail.sum_scale = mxl_quantized_factor(&p->sum, reach + more);
        tail.sum_least = p->sum_relu ? 0 : -128;
        reach = mxl_quantized_reach((float)p->sum.min_calib_range, (float)p->sum.max_calib_range);
    }
    mxl_quantized_set_range(call, call->out[0]->dtype == MXL_U8 ? 0 : -reach, reach);
    return convolve(call, &p->conv, (mxl_quantized_order){p->data_last, p->last}, step, &tail);
}

#define FIELD(field, kind, text, ...) MXL_PARAM(mxl_block_params, field, kind, text, __VA_ARGS__)
#define FIELD_AS(name, field, kind, text, ...)                                                     \
    MXL_PARAM_AS(#name, mxl_block_params, field, kind, text, __VA_ARGS__)

static const char *const block_types[] = {"auto", "int8", "uint8", NULL};

const mxl_op mxl_op_quantized_block = {
    .name = "_mxl_quantized_block",
    .doc =
        "_contrib_quantized_conv and what follows it: _contrib_requantize, relu if relu; then, "
        "if adds, the sum with another quantized array, as bytes, and relu if sum_relu. The same "
        "bytes as from those operators.",
    MXL_INPUTS(LAYER_INPUTS("batch, channels, then one to three spatial axes",
                            "num_filter, channels of a group, kernel"),
               MXL_INPUT(added, "Bytes of the result's shape; there if adds."),
               MXL_QUANTIZED_LIMITS(added, "added")),
    MXL_PARAMS_OF(mxl_block_params, MXL_CONV_WINDOW, MXL_CONV_CHANNELS("1024", "0"),
                  MXL_CONV_LAYOUT(mxl_conv_layouts),
                  FIELD_AS(out_type, to.out_type, MXL_P_ENUM, "int8", "The dtype of the bytes.",
                           .values = block_types),
                  FIELD_AS(low, to.min_calib_range, MXL_P_FLOAT, MXL_REQUIRED,
                           "The smallest number of the convolution's bytes."),
                  FIELD_AS(high, to.max_calib_range, MXL_P_FLOAT, MXL_REQUIRED,
                           "The largest number of the convolution's bytes."),
                  FIELD(relu, MXL_P_BOOL, "0", "Whether bytes below 0 become 0."),
                  FIELD(adds, MXL_P_BOOL, "0", "Whether there is an array to add."),
                  FIELD_AS(sum_type, sum.out_type, MXL_P_ENUM, "int8",
                           "The dtype of the sum's bytes.", .values = block_types),
                  FIELD_AS(sum_low, sum.min_calib_range, MXL_P_FLOAT, "0",
                           "The smallest number of the sum's bytes."),
                  FIELD_AS(sum_high, sum.max_calib_range, MXL_P_FLOAT, "0",
                           "The largest number of the sum's bytes."),
                  FIELD(sum_relu, MXL_P_BOOL, "0", "Whether bytes of the sum below 0 become 0."),
                  FIELD(data_last, MXL_P_BOOL, "0",
                        "Whether the bytes of data have the channels as the last axis, whatever "
                        "the shape says."),
                  FIELD(last, MXL_P_BOOL, "0",
                        "Whether the bytes of the result, and those that are added, have.")),
    .arity = block_arity,
    .output_names = MXL_QUANTIZED_NAMES,
    .input_name = block_input_name,
    .check = conv_check,
    .infer = block_infer,
    MXL_SHAPES_TABLE(DATA BIAS LIMITS_BIAS CONV),
    .shapes_of = block_shapes,
    .size_functions = mxl_conv_sizes,
    .dtypes = ".ccffffff>cff",
    .dtypes_of = block_dtypes,
    .compute = block_compute,
    .keeps_form = true,
};

/* ---- dense ---- */

typedef struct dense_params {
    int64_t num_hidden;
    int no_bias;
    int flatten;
} dense_params;

static int dense_arity(const void *params, mxl_arity *arity)
{
    return mxl_quantized_arity(arity, ((const dense_params *)params)->no_bias ? 6 : 9);
}

static const char *dense_input_name(const void *params, int i)
{
    return ((const dense_params *)params)->no_bias ? plain_name(i) : NULL;
}

#define FLAT       "data[N,*S] weight[num_hidden,prod(S)] "
#define LAST       "data[*S,C] weight[num_hidden,C] "
#define FLAT_DENSE "-> [N,num_hidden] [1] [1]"
#define LAST_DENSE "-> [*S,num_hidden] [1] [1]"

static const char *dense_shapes(const void *params)
{
    static const char *const texts[2][2] = {
        {LAST LIMITS_PLAIN LAST_DENSE, LAST "bias[num_hidden] " LIMITS_BIAS LAST_DENSE},
        {FLAT LIMITS_PLAIN FLAT_DENSE, NULL}};
    const dense_params *p = params;

    return texts[p->flatten != 0][!p->no_bias];
}

static const char *dense_dtypes(const void *params)
{
    return ((const dense_params *)params)->no_bias ? DTYPES_PLAIN : DTYPES_BIAS;
}

/* Rows of features are pixels with channels; few of them meet the weights as they are. */
static int dense_compute(const mxl_call *call)
{
    enum { FEW = 4 };
    const dense_params *p = call->params;
    const mxl_array *x = call->in[0], *w = call->in[1], *y = call->out[0];
    int64_t rows = mxl_shape_size(y->ndim - 1, y->shape), features = w->shape[1];
    float step = step_of(call, p->no_bias ? 2 : 3);
    int32_t *bias;

    set_wide_range(call, step);
    if (rows >= FEW && (call->kept != NULL || rows >= 4 * FEW)) {
        mxl_conv v = {.dtype = x->dtype,
                      .batch = 1,
                      .groups = 1,
                      .in = features,
                      .out = p->num_hidden,
                      .x_size = {1, 1, rows},
                      .y_size = {1, 1, rows},
                      .kernel = {1, 1, 1},
                      .stride = {1, 1, 1},
                      .dilate = {1, 1, 1}};

        return run_layer(call, &v, p->no_bias, p->num_hidden, (mxl_quantized_order){true, true},
                         step, NULL);
    }
    bias = p->no_bias ? NULL : bias_of(call, p->num_hidden, step);
    if (!p->no_bias && bias == NULL)
        return -1;
    mxl_quantized_dense(x->dtype == MXL_U8, rows, p->num_hidden, features, mxl_array_read(x),
                        mxl_array_read(w), bias, mxl_array_write(call->out[0]));
    mxl_free(bias, (size_t)p->num_hidden * sizeof(*bias));
    return 0;
}

const mxl_op mxl_op_quantized_dense = {
    .name = "_contrib_quantized_fully_connected",
    .doc =
        "Linear map of rows of bytes, with int8 weights, to int32, exact but for the bias, which "
        "is rounded to steps of the sums; and the limits that all int32 together have.",
    MXL_INPUTS(LAYER_INPUTS("rows of features", "a matrix of shape (num_hidden, features)")),
    MXL_PARAMS_OF(
        dense_params,
        MXL_PARAM(dense_params, num_hidden, MXL_P_INT, MXL_REQUIRED,
                  "Extent of the last axis of the result.", MXL_AT_LEAST(1)),
        MXL_PARAM(dense_params, no_bias, MXL_P_BOOL, "0", "Whether there is no bias."),
        MXL_PARAM(dense_params, flatten, MXL_P_BOOL, "1",
                  "Whether all axes but the first are features; otherwise the last one is.")),
    .arity = dense_arity,
    .output_names = MXL_QUANTIZED_NAMES,
    .input_name = dense_input_name,
    .infer = mxl_quantized_infer,
    MXL_SHAPES_TABLE(FLAT "bias[num_hidden] " LIMITS_BIAS FLAT_DENSE),
    .shapes_of = dense_shapes,
    .dtypes = DTYPES_BIAS,
    .dtypes_of = dense_dtypes,
    .compute = dense_compute,
    .keeps_form = true,
};

const mxl_op *const mxl_ops_layers[] = {&mxl_op_quantized_conv, &mxl_op_quantized_block,
                                        &mxl_op_quantized_dense, NULL};
