/* Sums, products and normalisation of quantized arrays. */
#include <stddef.h>

#include "base/memory/mem.h"
#include "ops/nn/batch_norm.h"
#include "ops/quantized/quantized.h"

#define PAIR_INPUTS(place)                                                                         \
    MXL_INPUTS(                                                                                    \
        MXL_INPUT(lhs, "Bytes: int8 or uint8.", .after = (place)),                                 \
        MXL_INPUT(rhs, "Bytes of the same shape.", .after = (place)),                              \
        MXL_INPUT(lhs_min, "float32, one element: the smallest number of lhs.", .after = (place)), \
        MXL_INPUT(lhs_max, "float32, one element: the largest number of lhs.", .after = (place)),  \
        MXL_INPUT(rhs_min, "float32, one element: the smallest number of rhs.", .after = (place)), \
        MXL_INPUT(rhs_max, "float32, one element: the largest number of rhs.", .after = (place)))
#define LIMITS "lhs_min[1] lhs_max[1] rhs_min[1] rhs_max[1] "

typedef struct pair_params {
    double min_calib_range, max_calib_range;
    int enable_float_output;
} pair_params;

/* The dtype of results: uint8 of two uint8 with calibration, int8 of others. */
static int pair_dtype(const pair_params *p, int a, int b)
{
    if (p->enable_float_output)
        return MXL_F32;
    if (!mxl_quantized_is_calibrated(p->min_calib_range, p->max_calib_range))
        return MXL_I32;
    return a == MXL_U8 && b == MXL_U8 ? MXL_U8 : MXL_I8;
}

static int pair_infer(mxl_infer *infer)
{
    if (mxl_quantized_check(infer, 0) != 0 || mxl_quantized_check(infer, 1) != 0 ||
        mxl_infer_said(infer) != 0)
        return -1;
    infer->out_dtype[0] = pair_dtype(infer->params, infer->in[0]->dtype, infer->in[1]->dtype);
    return 0;
}

static int pair_dtypes(mxl_rule *rule)
{
    int a = mxl_rule_in_dtype(rule, 0), b = mxl_rule_in_dtype(rule, 1);
    int dtype = pair_dtype(rule->params, a, b);

    if (dtype == MXL_I8 && (a == MXL_DTYPE_UNKNOWN || b == MXL_DTYPE_UNKNOWN))
        dtype = MXL_DTYPE_UNKNOWN;
    if (mxl_rule_said_dtypes(rule, "..ffff>.ff") != 0)
        return -1;
    return mxl_rule_say_dtype(rule, rule->out, dtype);
}

/* ---- sum ---- */

static int add_arity(const void *params, mxl_arity *arity)
{
    (void)params;
    return mxl_quantized_arity(arity, 6);
}

static int add_compute(const mxl_call *call)
{
    const pair_params *p = call->params;
    const mxl_array *a = call->in[0], *b = call->in[1];
    mxl_array *y = call->out[0];
    float of_a = mxl_quantized_reach_of(call, 2), of_b = mxl_quantized_reach_of(call, 4);
    float low = (float)p->min_calib_range, high = (float)p->max_calib_range;
    mxl_quantized_pair pair = {a->dtype,
                               b->dtype,
                               y->dtype,
                               mxl_array_read(a),
                               mxl_array_read(b),
                               mxl_array_write(y),
                               mxl_quantized_sum_factor(a->dtype, of_a, of_a + of_b),
                               mxl_quantized_sum_factor(b->dtype, of_b, of_a + of_b)};

    if (y->dtype != MXL_I32) {
        float factor =
            mxl_quantized_over(mxl_quantized_half_steps(y->dtype), mxl_quantized_reach(low, high));

        pair.a_scale = of_a / mxl_quantized_half_steps(a->dtype) * factor;
        pair.b_scale = of_b / mxl_quantized_half_steps(b->dtype) * factor;
    } else {
        high = of_a + of_b;
        low = -high;
    }
    mxl_quantized_set_range(call, low, high);
    mxl_quantized_add(&pair, y->size);
    return 0;
}

const mxl_op mxl_op_quantized_add = {
    .name = "_contrib_quantized_elemwise_add",
    .doc = "The sum of two quantized arrays: bytes within the calibrated limits, or without them "
           "int32 within the sum of the larger magnitudes.",
    PAIR_INPUTS(2),
    MXL_PARAMS_OF(pair_params, MXL_QUANTIZED_CALIB(pair_params)),
    MXL_QUANTIZED_RESULTS(add_arity),
    .infer = pair_infer,
    MXL_SHAPES_TABLE("lhs[*S] rhs[*S] " LIMITS "-> [*S] [1] [1]"),
    .dtypes = "..ffff>.ff",
    .complete_dtypes = pair_dtypes,
    .compute = add_compute,
};

/* ---- product ---- */

static int mul_arity(const void *params, mxl_arity *arity)
{
    const int outputs = ((const pair_params *)params)->enable_float_output ? 1 : 3;

    *arity = (mxl_arity){6, outputs, outputs};
    return 0;
}

static const char *mul_shapes(const void *params)
{
    return ((const pair_params *)params)->enable_float_output ? "lhs[*S] rhs[*S] " LIMITS "-> [*S]"
                                                              : NULL;
}

static int mul_compute(const mxl_call *call)
{
    const pair_params *p = call->params;
    const mxl_array *a = call->in[0], *b = call->in[1];
    mxl_array *y = call->out[0];
    float of_a = mxl_quantized_reach_of(call, 2), of_b = mxl_quantized_reach_of(call, 4);
    float low = (float)p->min_calib_range, high = (float)p->max_calib_range;
    float step =
        of_a * of_b / (mxl_quantized_half_steps(a->dtype) * mxl_quantized_half_steps(b->dtype));
    mxl_quantized_pair pair = {a->dtype,          b->dtype,           y->dtype, mxl_array_read(a),
                               mxl_array_read(b), mxl_array_write(y), step,     0};

    if (y->dtype == MXL_I32) {
        high = of_a / mxl_quantized_steps(a->dtype) * (of_b / mxl_quantized_steps(b->dtype)) *
               MXL_QUANTIZED_WIDE_STEPS;
        low = -high;
    } else if (y->dtype != MXL_F32) {
        pair.a_scale *=
            mxl_quantized_over(mxl_quantized_half_steps(y->dtype), mxl_quantized_reach(low, high));
    }
    if (y->dtype != MXL_F32)
        mxl_quantized_set_range(call, low, high);
    mxl_quantized_mul(&pair, y->size);
    return 0;
}

const mxl_op mxl_op_quantized_mul = {
    .name = "_contrib_quantized_elemwise_mul",
    .doc = "The product of two quantized arrays: bytes within the calibrated limits, without them "
           "int32, or float32.",
    PAIR_INPUTS(0),
    MXL_PARAMS_OF(pair_params, MXL_QUANTIZED_CALIB(pair_params),
                  MXL_PARAM(pair_params, enable_float_output, MXL_P_BOOL, "0",
                            "Whether the result is float32, without limits.",
                            .sets_outputs = true)),
    .arity = mul_arity,
    .output_names = MXL_QUANTIZED_NAMES,
    .infer = pair_infer,
    MXL_SHAPES_TABLE("lhs[*S] rhs[*S] " LIMITS "-> [*S] [1] [1]"),
    .shapes_of = mul_shapes,
    .dtypes = "..ffff>.ff",
    .complete_dtypes = pair_dtypes,
    .compute = mul_compute,
};

/* ---- normalisation ---- */

static int norm_arity(const void *params, mxl_arity *arity)
{
    (void)params;
    return mxl_quantized_arity(arity, 7);
}

static bool norm_is_state(const void *params, int i)
{
    (void)params;
    return i == 3 || i == 4;
}

static const char *norm_first_value(const void *params, int i)
{
    (void)params;
    return i == 3 ? "[\"zero\", {}]" : i == 4 ? "[\"one\", {}]" : NULL;
}

static int norm_infer(mxl_infer *infer)
{
    const mxl_batch_norm_params *p = infer->params;

    if (!mxl_quantized_is_calibrated(p->min_calib_range, p->max_calib_range))
        return mxl_error("%s: needs min_calib_range and max_calib_range", infer->op->name);
    if (p->axis != 1)
        return mxl_error("%s: axis must be 1, got %lld", infer->op->name, (long long)p->axis);
    return mxl_quantized_infer(infer);
}

static int norm_compute(const mxl_call *call)
{
    const mxl_batch_norm_params *p = call->params;
    const mxl_array *x = call->in[0];
    int64_t channels = call->in[1]->size, inner = mxl_shape_size(x->ndim - 2, x->shape + 2);
    const float *gamma = mxl_array_read(call->in[1]), *beta = mxl_array_read(call->in[2]);
    const float *mean = mxl_array_read(call->in[3]), *variance = mxl_array_read(call->in[4]);
    float low = (float)p->min_calib_range, high = (float)p->max_calib_range;
    float step = mxl_quantized_reach_of(call, 5) / mxl_quantized_half_steps(x->dtype);
    float scale =
        mxl_quantized_over(mxl_quantized_half_steps(MXL_I8), mxl_quantized_reach(low, high));
    size_t bytes = 2 * (size_t)channels * sizeof(float);
    float *factor = mxl_alloc(bytes), *more = factor + channels;

    if (factor == NULL)
        return -1;
    for (int64_t c = 0; c < channels; c++) {
        double by = (p->fix_gamma ? 1 : (double)gamma[c]) / sqrt((double)variance[c] + p->eps);

        factor[c] = (float)(by * (double)step * (double)scale);
        more[c] = (float)(((double)beta[c] - (double)mean[c] * by) * (double)scale);
    }
    mxl_quantized_set_range(call, low, high);
    mxl_quantized_affine(x->dtype, mxl_array_read(x), mxl_array_write(call->out[0]),
                         x->shape[0] * channels, channels, inner, factor, more);
    mxl_free(factor, bytes);
    return 0;
}

const mxl_op mxl_op_quantized_norm = {
    .name = "_contrib_quantized_batch_norm",
    .doc = "BatchNorm of bytes by the moving statistics, as int8 within the calibrated limits, "
           "which it needs.",
    MXL_INPUTS(MXL_INPUT(data, "Bytes, int8 or uint8: batch, channels, then further axes."),
               MXL_INPUT(gamma, "float32: factor of each channel."),
               MXL_INPUT(beta, "float32: added to each channel."),
               MXL_INPUT(moving_mean, "float32: mean of each channel."),
               MXL_INPUT(moving_var, "float32: variance of each channel."),
               MXL_QUANTIZED_LIMITS(data, "data")),
    MXL_PARAMS(mxl_batch_norm_params, mxl_batch_norm_table),
    MXL_QUANTIZED_RESULTS(norm_arity),
    .infer = norm_infer,
    MXL_SHAPES_TABLE("data[N,C,*S] gamma[C] beta[C] moving_mean[C] moving_var[C] min_data[1] "
                     "max_data[1] -> [N,C,*S] [1] [1]"),
    .dtypes = ".ffffff>cff",
    .is_state = norm_is_state,
    .first_value = norm_first_value,
    .compute = norm_compute,
};

const mxl_op *const mxl_ops_arithmetic[] = {&mxl_op_quantized_add, &mxl_op_quantized_mul,
                                            &mxl_op_quantized_norm, NULL};
