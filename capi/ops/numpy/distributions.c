/* Random numbers of NumPy arrays: _npi_normal and its kin. Each parameter of a distribution is a
 * number, or an array that broadcasts. What scales or shifts standard numbers has gradients; what
 * is drawn otherwise has zeros, as in 1.9.1. */
#include <math.h>
#include <stddef.h>

#include "ops/elementwise/elementwise.h"
#include "ops/numpy/np_draw.h"

/* ---- parameters ---- */

/* Numbers are NaN where an input takes their place. */
typedef struct dist_params {
    double first, second;
    mxl_tuple size;
    const char *ctx;
    int dtype;
    int is_logit; /* of bernoulli */
} dist_params;

typedef struct dist_op {
    mxl_op op;
    const mxl_distribution *of;
} dist_op;

static const mxl_distribution *dist_of(const mxl_op *op)
{
    return ((const dist_op *)(const void *)op)->of;
}

static int dist_arity(const void *params, mxl_arity *arity)
{
    const dist_params *p = params;

    arity->inputs = isnan(p->first) + isnan(p->second);
    return 0;
}

/* ---- shapes ---- */

/* The shape of all inputs together. */
static int inputs_shape(const mxl_infer *infer, mxl_shape *shape)
{
    *shape = (mxl_shape){0};
    for (int i = 0; i < infer->num_inputs; i++) {
        const mxl_array *in = infer->in[i];
        mxl_shape before = *shape;

        if (mxl_shape_broadcast(shape, before.ndim, before.dim, in->ndim, in->shape) != 0)
            return mxl_error_prefix(infer->op->name);
    }
    return 0;
}

/* `size`, to which the inputs must broadcast; without it, their own shape. */
static int sized(mxl_infer *infer, const mxl_shape *inputs, mxl_tuple size)
{
    mxl_shape both;

    if (size.n <= 0)
        return mxl_infer_set(infer, infer->out_dtype[0], inputs->ndim, inputs->dim);
    infer->out_shape[0].ndim = 0;
    if (mxl_infer_append(infer, size.n, size.v) != 0 || mxl_shape_count(size.n, size.v) < 0)
        return mxl_error_prefix(infer->op->name);
    if (mxl_shape_broadcast(&both, inputs->ndim, inputs->dim, size.n, size.v) != 0 ||
        !mxl_shape_same(both.ndim, both.dim, size.n, size.v))
        return mxl_error("%s: parameters of shape %s do not broadcast to the size %s",
                         infer->op->name, MXL_SHAPE_TEXT(inputs->ndim, inputs->dim),
                         MXL_SHAPE_TEXT(size.n, size.v));
    return 0;
}

static int dist_shape(mxl_infer *infer, mxl_tuple size, bool batch)
{
    mxl_shape inputs;

    if (inputs_shape(infer, &inputs) != 0)
        return -1;
    if (!batch)
        return sized(infer, &inputs, size);
    if (size.n <= 0)
        return mxl_infer_set(infer, infer->out_dtype[0], inputs.ndim, inputs.dim);
    mxl_shape_set(&infer->out_shape[0], 0, NULL);
    return mxl_infer_append(infer, size.n, size.v) != 0 ||
                   mxl_infer_append(infer, inputs.ndim, inputs.dim) != 0
               ? -1
               : 0;
}

static int dist_infer(mxl_infer *infer)
{
    const dist_params *p = infer->params;
    int dtype = p->dtype;

    for (int i = 0; i < infer->num_inputs; i++)
        if (infer->in[i]->dtype == MXL_BOOL)
            return mxl_error("%s: parameters must be numbers, got bool", infer->op->name);
    if (dist_shape(infer, p->size, dist_of(infer->op)->batch) != 0)
        return -1;
    infer->out_dtype[0] = dtype;
    return 0;
}

/* ---- composites ---- */

/* Draws in the shape of the call's result, which infer knows. */
static mxl_array *draw_of(mxl_scope *s, const mxl_call *call, const mxl_distribution *of,
                          double first, double second, int dtype)
{
    const dist_params *p = call->params;
    mxl_shape shape = {0};
    mxl_infer infer = {.op = call->op,
                       .num_inputs = call->num_inputs,
                       .num_outputs = 1,
                       .in = call->in,
                       .out_shape = &shape,
                       .out_dtype = &dtype};
    mxl_draw_params params = {first, second, {0}, dtype, of, call->op->name};

    if (dist_shape(&infer, p->size, of->batch) != 0)
        return NULL;
    params.dtype = dtype;
    params.shape = (mxl_tuple){shape.ndim, shape.dim};
    return mxl_scope_call(s, &mxl_op_np_draw, &params, call->num_inputs, call->in);
}

static mxl_array *draw(mxl_scope *s, const mxl_call *call)
{
    const dist_params *p = call->params;

    return draw_of(s, call, dist_of(call->op), p->first, p->second, p->dtype);
}

static mxl_array *plain_compose(mxl_scope *s, const mxl_call *call)
{
    return draw(s, call);
}

/* The first or the second parameter as an array in the result's dtype, NULL if it is a number. */
static mxl_array *parameter(mxl_scope *s, const mxl_call *call, bool second)
{
    const dist_params *p = call->params;
    bool given = isnan(second ? p->second : p->first);
    int at = second && isnan(p->first) ? 1 : 0;

    return given ? mxl_cast(s, call->in[at], p->dtype) : NULL;
}

/* first + second * noise */
static mxl_array *shifted_compose(mxl_scope *s, const mxl_call *call)
{
    const dist_params *p = call->params;
    mxl_array *noise = draw(s, call), *a = parameter(s, call, false), *b = parameter(s, call, true);

    noise = b != NULL ? mxl_mul(s, noise, b) : mxl_mul_scalar(s, noise, p->second);
    return a != NULL ? mxl_add(s, noise, a) : mxl_add_scalar(s, noise, p->first);
}

/* first * noise */
static mxl_array *scaled_compose(mxl_scope *s, const mxl_call *call)
{
    const dist_params *p = call->params;
    mxl_array *noise = draw(s, call), *a = parameter(s, call, false);

    return a != NULL ? mxl_mul(s, noise, a) : mxl_mul_scalar(s, noise, p->first);
}

/* noise / first */
static mxl_array *divided(mxl_scope *s, const mxl_call *call)
{
    const dist_params *p = call->params;
    mxl_array *noise = draw(s, call), *a = parameter(s, call, false);

    return a != NULL ? mxl_div(s, noise, a) : mxl_div_scalar(s, noise, p->first);
}

/* exp(E / a) - 1, E exponential */
static mxl_array *pareto_compose(mxl_scope *s, const mxl_call *call)
{
    return mxl_apply(s, &mxl_op_expm1, divided(s, call));
}

/* E^(1 / a) = exp(-G / a), E exponential, and G = -log(E) of Gumbel's distribution, finite */
static mxl_array *weibull_compose(mxl_scope *s, const mxl_call *call)
{
    return mxl_exp(s, mxl_negative(s, divided(s, call)));
}

/* ---- bernoulli ---- */

static int bernoulli_arity(const void *params, mxl_arity *arity)
{
    const dist_params *p = params;

    arity->inputs = isnan(p->is_logit ? p->second : p->first);
    return 0;
}

static double draw_bernoulli(mxl_draws *d, double p, double unused)
{
    (void)unused;
    return mxl_draw_unit(d) < p ? 1 : 0;
}

static double draw_bernoulli_logit(mxl_draws *d, double logit, double unused)
{
    return draw_bernoulli(d, 1 / (1 + exp(-logit)), unused);
}

static mxl_array *bernoulli_compose(mxl_scope *s, const mxl_call *call)
{
    static const mxl_distribution of_prob = {"prob",         NULL,  MXL_WITHIN_0_1, MXL_ANY,
                                             draw_bernoulli, false, false};
    static const mxl_distribution of_logit = {"logit", NULL, MXL_ANY, MXL_ANY, draw_bernoulli_logit,
                                              false,   false};
    const dist_params *p = call->params;
    mxl_array *drawn = draw_of(s, call, p->is_logit ? &of_logit : &of_prob,
                               p->is_logit ? p->second : p->first, 0, MXL_F32);

    return mxl_cast(s, drawn, p->dtype);
}

/* U^(1 / a), of which 1.9.1 has no gradient. */
static double draw_power(mxl_draws *d, double a, double unused)
{
    (void)unused;
    return exp(-mxl_draw_exponential(d, 1, 0) / a);
}

/* ---- descriptors ---- */

static const char *const float_dtypes[] = {"float16", "float32", "float64", NULL};
static const char *const bernoulli_dtypes[] = {"bool",  "float16", "float32", "float64",
                                               "int32", "uint8",   NULL};

#define NUMBER_OR_NONE(param_name, at, def, number_doc)                                            \
    MXL_PARAM_AS(param_name, dist_params, at, MXL_P_OPT_FLOAT, def, number_doc " None: an input.")
#define NEEDED(param_name, at, number_doc)                                                         \
    MXL_PARAM_AS(param_name, dist_params, at, MXL_P_OPT_FLOAT, MXL_REQUIRED,                       \
                 number_doc " None: an input.", .type_text = "float or None, required")
#define SIZE                                                                                       \
    MXL_PARAM(dist_params, size, MXL_P_OPT_SHAPE, "None",                                          \
              "Shape of the result; None: that of the parameters together.")
#define BATCH                                                                                      \
    MXL_PARAM(dist_params, size, MXL_P_OPT_SHAPE, "None",                                          \
              "Shape of what is drawn for each element of the parameters.")
#define CTX MXL_PARAM(dist_params, ctx, MXL_P_STRING, "cpu", "Where the result lives.")
#define DTYPE(names)                                                                               \
    MXL_PARAM(dist_params, dtype, MXL_P_DTYPE, "float32", "dtype of the result.", .values = names)
#define ONE_INPUT MXL_INPUTS(MXL_INPUT(input1, "The parameter that is None."))
#define TWO_INPUTS                                                                                 \
    MXL_INPUTS(MXL_INPUT(input1, "The first parameter that is None."),                             \
               MXL_INPUT(input2, "The second one."))

/* 1.9.1 keeps the numbers drawn where they are moved or scaled: its gradients read them. 0: not. */
enum {
    shifted_outputs = 2,
    scaled_outputs = 2,
    pareto_outputs = 2,
    weibull_outputs = 2,
    plain_outputs = 0,
    bernoulli_outputs = 0
};

/* The operator _npi_ID; `of` is its distribution, the last fields its parameters. Without a
 * parameter of its own, dtype is float32 (`set_float`), and `second` is no input (0). */
#define DISTRIBUTION(id, text, its_arity, its_check, its_compose, its_inputs, distribution_of,     \
                     ...)                                                                          \
    static const mxl_distribution id##_distribution = distribution_of;                             \
    static const dist_op op_##id = {                                                               \
        .op = {.name = MXL_NUMPY("_npi_" #id),                                                     \
               .doc = text,                                                                        \
               its_inputs,                                                                         \
               MXL_PARAMS_OF(dist_params, __VA_ARGS__),                                            \
               .arity = its_arity,                                                                 \
               .check = its_check,                                                                 \
               .infer = dist_infer,                                                                \
               .compose = its_compose##_compose,                                                   \
               .total_outputs = its_compose##_outputs},                                            \
        .of = &id##_distribution,                                                                  \
    }
#define OF(...) {__VA_ARGS__}

/* For operators without the parameter dtype. */
static int float_check(void *params)
{
    ((dist_params *)params)->dtype = MXL_F32;
    return 0;
}

/* For operators with one parameter: the second is a number, which is not used. */
static int single_check(void *params)
{
    ((dist_params *)params)->second = 0;
    return float_check(params);
}

static int single_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = isnan(((const dist_params *)params)->first);
    return 0;
}

DISTRIBUTION(normal, "Random numbers, normally distributed.", dist_arity, NULL, shifted, TWO_INPUTS,
             OF("loc", "scale", MXL_ANY, MXL_NOT_BELOW_0, mxl_draw_normal, true, false),
             NEEDED("loc", first, "The mean."), NEEDED("scale", second, "The deviation."), SIZE,
             CTX, DTYPE(float_dtypes));
DISTRIBUTION(normal_n, "Random numbers, normally distributed, in batches.", dist_arity, NULL,
             shifted, TWO_INPUTS,
             OF("loc", "scale", MXL_ANY, MXL_NOT_BELOW_0, mxl_draw_normal, true, true),
             NEEDED("loc", first, "The mean."), NEEDED("scale", second, "The deviation."), BATCH,
             CTX, DTYPE(float_dtypes));
DISTRIBUTION(uniform, "Random numbers, uniformly distributed over [low, high).", dist_arity, NULL,
             plain, TWO_INPUTS, OF("low", "high", MXL_ANY, MXL_ANY, mxl_draw_uniform, false, false),
             NEEDED("low", first, "The lower bound."), NEEDED("high", second, "The upper bound."),
             SIZE, CTX, DTYPE(float_dtypes));
DISTRIBUTION(uniform_n, "Random numbers, uniformly distributed over [low, high), in batches.",
             dist_arity, NULL, plain, TWO_INPUTS,
             OF("low", "high", MXL_ANY, MXL_ANY, mxl_draw_uniform, false, true),
             NEEDED("low", first, "The lower bound."), NEEDED("high", second, "The upper bound."),
             BATCH, CTX, DTYPE(float_dtypes));
DISTRIBUTION(gamma, "Random numbers of the gamma distribution, by its shape and its scale.",
             dist_arity, NULL, plain, TWO_INPUTS,
             OF("shape", "scale", MXL_ABOVE_0, MXL_ABOVE_0, mxl_draw_gamma, false, false),
             NEEDED("shape", first, "The shape, above 0."),
             NEEDED("scale", second, "The scale, above 0."), SIZE, CTX, DTYPE(float_dtypes));
DISTRIBUTION(gumbel, "Random numbers of Gumbel's distribution.", dist_arity, float_check, shifted,
             TWO_INPUTS, OF("loc", "scale", MXL_ANY, MXL_NOT_BELOW_0, mxl_draw_gumbel, true, false),
             NEEDED("loc", first, "The location, which is the mode."),
             NEEDED("scale", second, "The scale."), SIZE, CTX);
DISTRIBUTION(logistic, "Random numbers of the logistic distribution.", dist_arity, float_check,
             shifted, TWO_INPUTS,
             OF("loc", "scale", MXL_ANY, MXL_NOT_BELOW_0, mxl_draw_logistic, true, false),
             NEEDED("loc", first, "The mean."), NEEDED("scale", second, "The scale."), SIZE, CTX);
DISTRIBUTION(exponential, "Random numbers, exponentially distributed.", single_arity, single_check,
             scaled, ONE_INPUT,
             OF("scale", NULL, MXL_NOT_BELOW_0, MXL_ANY, mxl_draw_exponential, true, false),
             NUMBER_OR_NONE("scale", first, "1", "The mean."), SIZE, CTX);
DISTRIBUTION(rayleigh, "Random numbers of Rayleigh's distribution.", single_arity, single_check,
             scaled, ONE_INPUT,
             OF("scale", NULL, MXL_NOT_BELOW_0, MXL_ANY, mxl_draw_rayleigh, true, false),
             NUMBER_OR_NONE("scale", first, "1", "The scale, which is the mode."), SIZE, CTX);
DISTRIBUTION(pareto, "Random numbers of Pareto's second distribution, which begins at 0.",
             single_arity, single_check, pareto, ONE_INPUT,
             OF("a", NULL, MXL_ABOVE_0, MXL_ANY, mxl_draw_exponential, true, false),
             NUMBER_OR_NONE("a", first, "None", "The shape, above 0."), SIZE, CTX);
DISTRIBUTION(weibull, "Random numbers of Weibull's distribution, with scale 1.", single_arity,
             single_check, weibull, ONE_INPUT,
             OF("a", NULL, MXL_ABOVE_0, MXL_ANY, mxl_draw_gumbel, true, false),
             NUMBER_OR_NONE("a", first, "None", "The shape, above 0."), SIZE, CTX);
DISTRIBUTION(powerd, "Random numbers of the power distribution over [0, 1].", single_arity,
             single_check, plain, ONE_INPUT,
             OF("a", NULL, MXL_ABOVE_0, MXL_ANY, draw_power, false, false),
             NUMBER_OR_NONE("a", first, "None", "The shape, above 0: the density is a x^(a-1)."),
             SIZE);
DISTRIBUTION(bernoulli, "Random ones and zeros.", bernoulli_arity, NULL, bernoulli, ONE_INPUT,
             OF("prob", NULL, MXL_WITHIN_0_1, MXL_ANY, draw_bernoulli, false, false),
             NEEDED("prob", first, "The probability of a one."),
             NEEDED("logit", second, "The logarithm of its odds."), SIZE, CTX,
             DTYPE(bernoulli_dtypes),
             MXL_PARAM(dist_params, is_logit, MXL_P_BOOL, MXL_REQUIRED,
                       "Whether logit is given, not prob."));

const mxl_op *const mxl_ops_np_distributions[] = {
    &op_normal.op,    &op_normal_n.op,
    &op_uniform.op,   &op_uniform_n.op,
    &op_gamma.op,     &op_gumbel.op,
    &op_logistic.op,  &op_exponential.op,
    &op_rayleigh.op,  &op_pareto.op,
    &op_weibull.op,   &op_powerd.op,
    &op_bernoulli.op, NULL,
};
