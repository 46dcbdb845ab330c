/* A convolution, a normalisation by moving statistics, a sum and limits in one pass. Of graphs that
 * only predict: there is no gradient. */
#include "ops/conv/fused_convolution.h"

#include <math.h>
#include <stddef.h>

#include "base/half.h"
#include "base/memory/mem.h"
#include "op/kept.h"
#include "ops/nn/batch_norm.h"
#include "ops/fused_places.h"

static mxl_fused_places places_of(const mxl_fused_params *p)
{
    return mxl_fused_places_of(!p->conv.no_bias, p->normalises != 0, p->adds != 0);
}

static int fused_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = places_of(params).count;
    return 0;
}

static const char *fused_input_name(const void *params, int i)
{
    return mxl_fused_input_name(places_of(params), i);
}

static int fused_check(void *params)
{
    return mxl_conv_check("_mxl_fused_convolution", params);
}

#define DATA   "data[N,C,*S:kernel] weight[num_filter,C/num_group,*kernel] "
#define BIAS   "bias[num_filter] "
#define NORM   "gamma[num_filter] beta[num_filter] moving_mean[num_filter] moving_var[num_filter] "
#define ADDED  "added[N,num_filter,*R] "
#define RESULT "-> [N,num_filter,*window(S)]"

static const char *fused_shapes(const void *params)
{
    static const char *const texts[2][2][2] = {
        {{DATA RESULT, DATA ADDED RESULT}, {DATA NORM RESULT, DATA NORM ADDED RESULT}},
        {{DATA BIAS RESULT, DATA BIAS ADDED RESULT},
         {DATA BIAS NORM RESULT, DATA BIAS NORM ADDED RESULT}}};
    const mxl_fused_params *p = params;

    return texts[!p->conv.no_bias][p->normalises != 0][p->adds != 0];
}

/* Statistics are float32 for float16 and bfloat16. */
static const char *fused_dtypes(const void *params)
{
    const mxl_fused_params *p = params;

    if (!p->normalises)
        return NULL;
    return p->conv.no_bias ? "FFwwwwF>F" : "FFFwwwwF>F";
}

static int fused_infer(mxl_infer *infer)
{
    const mxl_fused_params *p = infer->params;
    const mxl_array *added = p->adds ? infer->in[places_of(p).added] : NULL;
    const mxl_shape *result = &infer->out_shape[0];

    if (mxl_conv_infer(infer) != 0)
        return -1;
    for (int i = 0; added != NULL && i < result->ndim; i++) {
        if (mxl_sizes_differ(added->shape[i], result->dim[i]))
            return mxl_error("%s: added has shape %s, the result %s", infer->op->name,
                             MXL_SHAPE_OF(added), MXL_SHAPE_TEXT(result->ndim, result->dim));
    }
    return 0;
}

/* ---- what is kept between calls ---- */

/* Factors of the kernels, and the bias, of each channel; and the kernels as the loops read them. */
typedef struct form {
    size_t bytes;
    mxl_conv_form *weights;
    void *scale, *bias;
    double numbers[];
} form;

static void free_form(void *data)
{
    form *f = data;

    mxl_conv_form_free(f->weights);
    mxl_free(f, f->bytes);
}

static double number(const mxl_array *x, int64_t i)
{
    const void *from = mxl_array_read(x);

    union {
        uint32_t u;
        float f;
    } bits;

    if (x->dtype == MXL_BF16) {
        bits.u = (uint32_t)((const uint16_t *)from)[i] << 16;
        return (double)bits.f;
    }
    return x->dtype == MXL_F64   ? ((const double *)from)[i]
           : x->dtype == MXL_F32 ? (double)((const float *)from)[i]
                                 : (double)mxl_half_to_float(((const mxl_half *)from)[i]);
}

/* Number i of a list for the kernel, of the convolution's dtype; the factors of float16 are
 * float32, as is all of bfloat16. */
static void set_number(void *list, int dtype, bool factor, int64_t i, double value)
{
    if (dtype == MXL_F64)
        ((double *)list)[i] = value;
    else if (dtype == MXL_F32 || dtype == MXL_BF16 || factor)
        ((float *)list)[i] = (float)value;
    else
        ((mxl_half *)list)[i] = mxl_half_from_float((float)value);
}

/* With s = gamma / sqrt(var + eps): s * (sum + bias) + beta - s * mean. */
static form *make_form(const mxl_fused_params *p, mxl_array *const *in)
{
    mxl_fused_places at = places_of(p);
    int64_t count = p->conv.num_filter;
    size_t bytes = sizeof(form) + 2 * (size_t)count * sizeof(double);
    form *f = mxl_alloc_zero(bytes);

    if (f == NULL)
        return NULL;
    f->bytes = bytes;
    f->scale = p->normalises ? f->numbers : NULL;
    f->bias = f->numbers + count;
    for (int64_t k = 0; k < count; k++) {
        double bias = at.bias >= 0 ? number(in[at.bias], k) : 0, scale = 1;

        if (p->normalises) {
            mxl_array *const *norm = in + at.gamma;

            scale = (p->fix_gamma ? 1 : number(norm[0], k)) / sqrt(number(norm[3], k) + p->eps);
            bias = (bias - number(norm[2], k)) * scale + number(norm[1], k);
            set_number(f->scale, in[0]->dtype, true, k, scale);
        }
        set_number(f->bias, in[0]->dtype, false, k, bias);
    }
    return f;
}

static int fused_compute(const mxl_call *call)
{
    const mxl_fused_params *p = call->params;
    mxl_fused_places at = places_of(p);
    const mxl_array *x = call->in[0], *w = call->in[1];
    mxl_conv v = mxl_conv_of(&p->conv, x->dtype, x->ndim, x->shape, w->shape, call->out[0]->shape);
    mxl_conv_tail tail = {.low = p->low, .high = p->high};
    mxl_kept *kept;
    form *f;
    int status;

    if (!mxl_conv_takes(&v))
        return 1;
    if (p->normalises && p->fix_gamma && mxl_batch_norm_fix(call->op, call->in[at.gamma]) != 0)
        return -1;
    kept = mxl_kept_of(call->kept, at.count - 1 - (at.added >= 0), call->in + 1);
    f = kept != NULL && kept->form != NULL ? kept->form : make_form(p, call->in);
    if (f == NULL)
        return -1;
    tail.scale = f->scale;
    tail.add = at.added >= 0 ? mxl_array_read(call->in[at.added]) : NULL;
    v.tail = &tail;
    v.form = kept != NULL ? &f->weights : NULL;
    status = mxl_conv_forward(&v, mxl_array_read(x), mxl_array_read(w), f->bias,
                              mxl_array_write(call->out[0]));
    if (kept == NULL) {
        free_form(f);
    } else {
        kept->form = f;
        kept->free = free_form;
    }
    return status;
}

#define FIELD(field, kind, text, ...) MXL_PARAM(mxl_fused_params, field, kind, text, __VA_ARGS__)

const mxl_op mxl_op_fused_convolution = {
    .name = "_mxl_fused_convolution",
    .doc = "min(max(normalise(Convolution(data, weight, bias)) + added, low), high), where "
           "normalise is BatchNorm by moving statistics.",
    MXL_INPUTS(MXL_INPUT(data, "Images: batch, channels, then one to three spatial axes."),
               MXL_INPUT(weight, "Kernels: num_filter, channels of a group, kernel."),
               MXL_INPUT(bias, "Vector of num_filter numbers; absent with no_bias."),
               MXL_INPUT(gamma, "Factor of each channel; the next four are there if normalises."),
               MXL_INPUT(beta, "Added to each channel."),
               MXL_INPUT(moving_mean, "Mean of each channel."),
               MXL_INPUT(moving_var, "Variance of each channel."),
               MXL_INPUT(added, "Of the result's shape; there if adds.")),
    MXL_PARAMS_OF(mxl_fused_params, MXL_CONV_WINDOW, MXL_CONV_CHANNELS("1024", "0"),
                  MXL_CONV_LAYOUT(mxl_conv_layouts),
                  FIELD(normalises, MXL_P_BOOL, "0", "Whether there are statistics."),
                  FIELD(fix_gamma, MXL_P_BOOL, "0", "Whether gamma is 1, and set to it."),
                  FIELD(eps, MXL_P_FLOAT, "0.001", "Added to the variance, below the root."),
                  FIELD(adds, MXL_P_BOOL, "0", "Whether there is an array to add."),
                  FIELD(low, MXL_P_FLOAT, "-inf", "Smallest value of the result; NaN stays."),
                  FIELD(high, MXL_P_FLOAT, "inf", "Largest value of the result.")),
    .arity = fused_arity,
    .input_name = fused_input_name,
    .check = fused_check,
    .infer = fused_infer,
    MXL_SHAPES_TABLE(DATA RESULT),
    .shapes_of = fused_shapes,
    .size_functions = mxl_conv_sizes,
    .dtypes = "F*>F",
    .dtypes_of = fused_dtypes,
    .compute = fused_compute,
    .keeps_form = true,
    .low = true,
};

const mxl_op *const mxl_ops_fused_convolution[] = {&mxl_op_fused_convolution, NULL};
