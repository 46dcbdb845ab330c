/* Random numbers of NumPy arrays: _npi_normal and its kin. Each parameter of a distribution is a
 * number, or an array that broadcasts. What scales or shifts standard numbers has gradients; what
 * is drawn otherwise has zeros, as in 1.9.1. */
#include <math.h>
#include <stddef.h>

#include "base/memory/mem.h"
#include "ops/elementwise/elementwise.h"
#include "ops/numpy/numpy.h"
#include "ops/random/random_ops.h"

/* ---- the operator that draws ---- */

/* What a parameter must be. */
typedef enum bound { ANY, NOT_BELOW_0, ABOVE_0, WITHIN_0_1 } bound;

typedef struct distribution {
    const char *first, *second; /* names of the parameters; NULL: there is no second */
    bound first_bound, second_bound;
    mxl_sampler sampler; /* NULL: normal or exponential numbers by rng.h */
    bool standard;       /* draws numbers of parameters 0 and 1, which the composite scales */
    bool batch;          /* `size` comes before the parameters' shape, in place of it */
} distribution;

/* One call of the operator that draws; `shape` and `dtype` are the result's. Numbers are NaN where
 * an input takes their place. */
typedef struct draw_params {
    double first, second;
    mxl_tuple shape;
    int dtype;
    const distribution *of;
    const char *name; /* of the operator that errors are about */
} draw_params;

static int draw_infer(mxl_infer *infer)
{
    const draw_params *p = infer->params;

    return mxl_infer_set(infer, p->dtype, p->shape.n, p->shape.v);
}

static int draw_arity(const void *params, mxl_arity *arity)
{
    (void)params;
    arity->visible = arity->outputs = 1; /* and as many inputs as are given */
    return 0;
}

static int check_number(const draw_params *p, const char *name, bound limit, double value)
{
    if (limit == NOT_BELOW_0 && value < 0)
        return mxl_error("ValueError: %s: %s must not be below 0, got %g", p->name, name, value);
    if (limit == ABOVE_0 && value <= 0)
        return mxl_error("ValueError: %s: %s must be above 0, got %g", p->name, name, value);
    if (limit == WITHIN_0_1 && (value < 0 || value > 1))
        return mxl_error("ValueError: %s: %s must be from 0 to 1, got %g", p->name, name, value);
    return 0;
}

/* One parameter of each element of the result, or a single one if it is a number. */
typedef struct operand {
    double number;
    double *all; /* owned; NULL: all elements have the number */
    size_t bytes;
} operand;

/* Reads and checks a parameter; with `spread` there is one value for each element of `out`. */
static int operand_read(const draw_params *p, const char *name, bound limit, const mxl_array *in,
                        double number, const mxl_array *out, bool spread, operand *to)
{
    double *values;

    *to = (operand){.number = number};
    if (in == NULL)
        return check_number(p, name, limit, number);
    values = mxl_np_doubles(in);
    if (values == NULL)
        return -1;
    for (int64_t i = 0; i < in->size; i++) {
        if (check_number(p, name, limit, values[i]) == 0)
            continue;
        mxl_free(values, (size_t)in->size * sizeof(double));
        return -1;
    }
    if (spread) {
        to->bytes = (size_t)out->size * sizeof(double);
        to->all = mxl_alloc(to->bytes);
        for (int64_t i = 0; to->all != NULL && i < out->size; i++)
            to->all[i] = values[mxl_np_position(out->ndim, out->shape, in, i)];
    }
    mxl_free(values, (size_t)in->size * sizeof(double));
    return spread && to->all == NULL ? -1 : 0;
}

/* All elements get the parameter; its values are repeated where the other one's are not. */
static int operand_fill(operand *o, int64_t count)
{
    if (o->all != NULL)
        return 0;
    o->bytes = (size_t)count * sizeof(double);
    o->all = mxl_alloc(o->bytes);
    for (int64_t i = 0; o->all != NULL && i < count; i++)
        o->all[i] = o->number;
    return o->all == NULL ? -1 : 0;
}

static int draw_with(const draw_params *p, operand *a, operand *b, mxl_array *out)
{
    mxl_rng rng = mxl_random_stream();
    bool each = a->all != NULL || b->all != NULL;

    if (each && (operand_fill(a, out->size) != 0 || operand_fill(b, out->size) != 0))
        return -1;
    return mxl_draw_fill(rng, p->of->sampler, out->dtype, out->size, mxl_array_write(out), MXL_F64,
                         each ? a->all : &a->number, each ? b->all : &b->number,
                         each ? 1 : out->size);
}

static int draw_standard(const draw_params *p, mxl_array *out)
{
    static const double zero = 0, one = 1;
    void *to = mxl_array_write(out);

    if (p->of->sampler == mxl_draw_normal)
        return mxl_rng_normal(mxl_random_stream(), out->dtype, 0, 1, out->size, to);
    if (p->of->sampler == mxl_draw_exponential)
        return mxl_rng_exponential(mxl_random_stream(), out->dtype, 1, out->size, to);
    return mxl_draw_fill(mxl_random_stream(), p->of->sampler, out->dtype, out->size, to, MXL_F64,
                         &zero, &one, out->size);
}

static int draw_compute(const mxl_call *call)
{
    const draw_params *p = call->params;
    const distribution *of = p->of;
    mxl_array *out = call->out[0];
    bool first = isnan(p->first), second = isnan(p->second) && of->second != NULL;
    operand a, b = {0};
    int status;

    status = operand_read(p, of->first, of->first_bound, first ? call->in[0] : NULL, p->first, out,
                          !of->standard, &a);
    if (status == 0 && of->second != NULL)
        status = operand_read(p, of->second, of->second_bound, second ? call->in[first] : NULL,
                              p->second, out, !of->standard, &b);
    if (status == 0 && out->size > 0)
        status = of->standard ? draw_standard(p, out) : draw_with(p, &a, &b, out);
    mxl_free(a.all, a.bytes);
    mxl_free(b.all, b.bytes);
    return status;
}

static const mxl_op op_draw = {
    .name = "_mxl_draw",
    .doc = "Random numbers of a distribution, whose parameters get zeros as gradients.",
    .inputs = (const mxl_input[]){MXL_INPUT(first, "A parameter."),
                                  MXL_INPUT(second, "Another one."),
                                  {0}},
    .arity = draw_arity,
    MXL_PARAMS_OF(draw_params,
                  MXL_PARAM(draw_params, shape, MXL_P_SHAPE, "()", "Shape of the result.")),
    .infer = draw_infer,
    .compute = draw_compute,
    .draws = true,
    .fails_late = true,
    .grad = mxl_grad_zero,
};

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
    const distribution *of;
} dist_op;

static const distribution *dist_of(const mxl_op *op)
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

/* The shape of the result: `size`, to which the inputs must broadcast, or which comes before their
 * shape (`batch`); without it, their own. -1 with the error set. */
static int dist_shape(const mxl_call *call, bool batch, mxl_shape *shape)
{
    mxl_tuple size = ((const dist_params *)call->params)->size;
    mxl_shape inputs = {0}, both;

    for (int i = 0; i < call->num_inputs; i++) {
        const mxl_array *in = call->in[i];

        both = inputs;
        if (in->dtype == MXL_BOOL)
            return mxl_error("parameters must be numbers, got bool");
        if (mxl_shape_broadcast(&inputs, both.ndim, both.dim, in->ndim, in->shape) != 0)
            return -1;
    }
    *shape = inputs;
    if (size.n <= 0)
        return 0;
    if (size.n + (batch ? inputs.ndim : 0) > MXL_MAX_NDIM)
        return mxl_error("the result would have more than %d axes", MXL_MAX_NDIM);
    if (mxl_shape_count(size.n, size.v) < 0)
        return -1;
    mxl_shape_set(shape, size.n, size.v);
    for (int i = 0; batch && i < inputs.ndim; i++)
        shape->dim[shape->ndim++] = inputs.dim[i];
    if (batch || (mxl_shape_broadcast(&both, inputs.ndim, inputs.dim, size.n, size.v) == 0 &&
                  mxl_shape_same(both.ndim, both.dim, size.n, size.v)))
        return 0;
    return mxl_error("parameters of shape %s do not broadcast to the size %s",
                     MXL_SHAPE_TEXT(inputs.ndim, inputs.dim), MXL_SHAPE_TEXT(size.n, size.v));
}

/* ---- composites ---- */

/* Draws in the shape of the call's result. */
static mxl_array *draw_of(mxl_scope *s, const mxl_call *call, const distribution *of, double first,
                          double second, int dtype)
{
    draw_params params = {first, second, {0}, dtype, of, call->op->name};
    mxl_shape shape;

    if (dist_shape(call, of->batch, &shape) != 0)
        return NULL;
    params.shape = (mxl_tuple){shape.ndim, shape.dim};
    return mxl_scope_call(s, &op_draw, &params, call->num_inputs, call->in);
}

static mxl_array *plain_compose(mxl_scope *s, const mxl_call *call)
{
    const dist_params *p = call->params;

    return draw_of(s, call, dist_of(call->op), p->first, p->second, p->dtype);
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
    mxl_array *noise = plain_compose(s, call), *a = parameter(s, call, false),
              *b = parameter(s, call, true);

    noise = b != NULL ? mxl_mul(s, noise, b) : mxl_mul_scalar(s, noise, p->second);
    return a != NULL ? mxl_add(s, noise, a) : mxl_add_scalar(s, noise, p->first);
}

/* first * noise */
static mxl_array *scaled_compose(mxl_scope *s, const mxl_call *call)
{
    const dist_params *p = call->params;
    mxl_array *noise = plain_compose(s, call), *a = parameter(s, call, false);

    return a != NULL ? mxl_mul(s, noise, a) : mxl_mul_scalar(s, noise, p->first);
}

/* noise / first */
static mxl_array *divided(mxl_scope *s, const mxl_call *call)
{
    const dist_params *p = call->params;
    mxl_array *noise = plain_compose(s, call), *a = parameter(s, call, false);

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
    static const distribution of_prob = {"prob",         NULL,  WITHIN_0_1, ANY,
                                         draw_bernoulli, false, false};
    static const distribution of_logit = {"logit", NULL, ANY, ANY, draw_bernoulli_logit,
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

/* The operator _npi_ID; `of` is its distribution, the last fields its parameters. A field
 * without a parameter is 0: dtype float32, and `second` no input. */
#define DISTRIBUTION(id, text, its_arity, its_compose, its_inputs, distribution_of, ...)           \
    static const distribution id##_distribution = distribution_of;                                 \
    static const dist_op op_##id = {                                                               \
        .op = {.name = MXL_NUMPY("_npi_" #id),                                                     \
               .doc = text,                                                                        \
               its_inputs,                                                                         \
               MXL_PARAMS_OF(dist_params, __VA_ARGS__),                                            \
               .arity = its_arity,                                                                 \
               .compose = its_compose##_compose,                                                   \
               .draws = true,                                                                      \
               .complete_dtypes = mxl_rule_creation_dtypes,                                        \
               .total_outputs = its_compose##_outputs},                                            \
        .of = &id##_distribution,                                                                  \
    }
#define OF(...) {__VA_ARGS__}

DISTRIBUTION(normal, "Random numbers, normally distributed.", dist_arity, shifted, TWO_INPUTS,
             OF("loc", "scale", ANY, NOT_BELOW_0, mxl_draw_normal, true, false),
             NEEDED("loc", first, "The mean."), NEEDED("scale", second, "The deviation."), SIZE,
             CTX, DTYPE(float_dtypes));
DISTRIBUTION(normal_n, "Random numbers, normally distributed, in batches.", dist_arity, shifted,
             TWO_INPUTS, OF("loc", "scale", ANY, NOT_BELOW_0, mxl_draw_normal, true, true),
             NEEDED("loc", first, "The mean."), NEEDED("scale", second, "The deviation."), BATCH,
             CTX, DTYPE(float_dtypes));
DISTRIBUTION(uniform, "Random numbers, uniformly distributed over [low, high).", dist_arity, plain,
             TWO_INPUTS, OF("low", "high", ANY, ANY, mxl_draw_uniform, false, false),
             NEEDED("low", first, "The lower bound."), NEEDED("high", second, "The upper bound."),
             SIZE, CTX, DTYPE(float_dtypes));
DISTRIBUTION(uniform_n, "Random numbers, uniformly distributed over [low, high), in batches.",
             dist_arity, plain, TWO_INPUTS,
             OF("low", "high", ANY, ANY, mxl_draw_uniform, false, true),
             NEEDED("low", first, "The lower bound."), NEEDED("high", second, "The upper bound."),
             BATCH, CTX, DTYPE(float_dtypes));
DISTRIBUTION(gamma, "Random numbers of the gamma distribution, by its shape and its scale.",
             dist_arity, plain, TWO_INPUTS,
             OF("shape", "scale", ABOVE_0, ABOVE_0, mxl_draw_gamma, false, false),
             NEEDED("shape", first, "The shape, above 0."),
             NEEDED("scale", second, "The scale, above 0."), SIZE, CTX, DTYPE(float_dtypes));
DISTRIBUTION(gumbel, "Random numbers of Gumbel's distribution.", dist_arity, shifted, TWO_INPUTS,
             OF("loc", "scale", ANY, NOT_BELOW_0, mxl_draw_gumbel, true, false),
             NEEDED("loc", first, "The location, which is the mode."),
             NEEDED("scale", second, "The scale."), SIZE, CTX);
DISTRIBUTION(logistic, "Random numbers of the logistic distribution.", dist_arity, shifted,
             TWO_INPUTS, OF("loc", "scale", ANY, NOT_BELOW_0, mxl_draw_logistic, true, false),
             NEEDED("loc", first, "The mean."), NEEDED("scale", second, "The scale."), SIZE, CTX);
DISTRIBUTION(exponential, "Random numbers, exponentially distributed.", dist_arity, scaled,
             ONE_INPUT, OF("scale", NULL, NOT_BELOW_0, ANY, mxl_draw_exponential, true, false),
             NUMBER_OR_NONE("scale", first, "1", "The mean."), SIZE, CTX);
DISTRIBUTION(rayleigh, "Random numbers of Rayleigh's distribution.", dist_arity, scaled, ONE_INPUT,
             OF("scale", NULL, NOT_BELOW_0, ANY, mxl_draw_rayleigh, true, false),
             NUMBER_OR_NONE("scale", first, "1", "The scale, which is the mode."), SIZE, CTX);
DISTRIBUTION(pareto, "Random numbers of Pareto's second distribution, which begins at 0.",
             dist_arity, pareto, ONE_INPUT,
             OF("a", NULL, ABOVE_0, ANY, mxl_draw_exponential, true, false),
             NUMBER_OR_NONE("a", first, "None", "The shape, above 0."), SIZE, CTX);
DISTRIBUTION(weibull, "Random numbers of Weibull's distribution, with scale 1.", dist_arity,
             weibull, ONE_INPUT, OF("a", NULL, ABOVE_0, ANY, mxl_draw_gumbel, true, false),
             NUMBER_OR_NONE("a", first, "None", "The shape, above 0."), SIZE, CTX);
DISTRIBUTION(powerd, "Random numbers of the power distribution over [0, 1].", dist_arity, plain,
             ONE_INPUT, OF("a", NULL, ABOVE_0, ANY, draw_power, false, false),
             NUMBER_OR_NONE("a", first, "None", "The shape, above 0: the density is a x^(a-1)."),
             SIZE);
DISTRIBUTION(bernoulli, "Random ones and zeros.", bernoulli_arity, bernoulli, ONE_INPUT,
             OF("prob", NULL, WITHIN_0_1, ANY, draw_bernoulli, false, false),
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
