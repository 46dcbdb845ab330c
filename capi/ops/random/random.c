/* Arrays of random numbers with distribution parameters that are numbers: _random_* (with a given
 * shape) and _random_*_like (with another array's). They depend on the seed and on earlier draws,
 * never on the number of threads. */
#include "ops/random/random_ops.h"

#include <math.h>
#include <stddef.h>

typedef struct random_params {
    double first, second; /* of the distribution: low and high, loc and scale, ... */
    int64_t low, high;    /* of randint; low is also k of the negative binomial one */
    mxl_tuple shape;
    const char *ctx;
    int dtype;
} random_params;

static const char *const integer_dtypes[] = {"None", "int32", "int64", NULL};

/* ---- shared ---- */

/* The dtype of the output: the parameter, that of the array given as output, or else `other`. */
static int choose_dtype(mxl_infer *infer, int dtype, int other)
{
    int given = infer->out_dtype[0];

    if (given != MXL_DTYPE_UNKNOWN && dtype != MXL_DTYPE_UNKNOWN && given != dtype)
        return mxl_error("%s: dtype is %s, but the output given is %s", infer->op->name,
                         mxl_dtype_name(dtype), mxl_dtype_name(given));
    if (dtype == MXL_DTYPE_UNKNOWN)
        dtype = given != MXL_DTYPE_UNKNOWN ? given : other;
    infer->out_dtype[0] = dtype;
    return 0;
}

int mxl_random_dtype(mxl_infer *infer, int dtype)
{
    if (choose_dtype(infer, dtype, MXL_F32) != 0)
        return -1;
    if (!mxl_dtype_is_float(infer->out_dtype[0]))
        return mxl_error("%s: the output must be of a floating dtype, got %s", infer->op->name,
                         mxl_dtype_name(infer->out_dtype[0]));
    return 0;
}

/* dtype and shape come from the parameters, else from the array given as output; or both from the
 * input, if there is one. */
static int random_infer(mxl_infer *infer)
{
    const random_params *p = infer->params;

    if (infer->num_inputs > 0)
        return mxl_infer_float_same(infer);
    if (mxl_random_dtype(infer, p->dtype) != 0)
        return -1;
    return mxl_infer_fresh(infer, p->shape, p->ctx);
}

static int check_above(const mxl_call *call, const char *name, double value)
{
    if (value > 0)
        return 0;
    return mxl_error("%s: %s must be above 0, got %g", call->op->name, name, value);
}

static int check_not_below(const mxl_call *call, const char *name, double value)
{
    if (value >= 0)
        return 0;
    return mxl_error("%s: %s must not be below 0, got %g", call->op->name, name, value);
}

static int check_bounds(const mxl_call *call, const random_params *p)
{
    if (p->second >= p->first)
        return 0;
    return mxl_error("%s: low must not be above high, got %g and %g", call->op->name, p->first,
                     p->second);
}

static int draw(mxl_array *out, mxl_sampler sampler, double first, double second)
{
    return mxl_draw_fill(mxl_random_stream(), sampler, out->dtype, out->size, mxl_array_write(out),
                         MXL_F64, &first, &second, out->size);
}

/* ---- descriptors ---- */

#define NUMBER(param_name, default_text, param_doc, at)                                            \
    MXL_PARAM_AS(param_name, random_params, at, MXL_P_FLOAT, default_text, param_doc)
#define SHAPE                                                                                      \
    MXL_PARAM(random_params, shape, MXL_P_SHAPE, "None",                                           \
              "Shape of the array; None: that of the output given.")
#define CTX MXL_PARAM(random_params, ctx, MXL_P_STRING, "", "Where the array lives: cpu(0).")
#define DTYPE                                                                                      \
    MXL_PARAM(random_params, dtype, MXL_P_DTYPE, "None",                                           \
              "dtype of the array; None: that of the output given, else float32.",                 \
              .values = mxl_float_names, .type_text = MXL_RANDOM_DTYPES)

/* The tables of a distribution: `name`_params, and `name`_like_params. */
#define TABLES_1(name, first)                                                                      \
    static const mxl_param name##_params[] = {first, SHAPE, CTX, DTYPE, {0}};                      \
    static const mxl_param name##_like_params[] = {first, {0}};                                    \
    static const mxl_input name##_like_inputs[] = {LIKE(1), {0}}
#define TABLES_2(name, first, second)                                                              \
    static const mxl_param name##_params[] = {first, second, SHAPE, CTX, DTYPE, {0}};              \
    static const mxl_param name##_like_params[] = {first, second, {0}};                            \
    static const mxl_input name##_like_inputs[] = {LIKE(2), {0}}
#define LIKE(count)                                                                                \
    MXL_INPUT(data, "The array whose shape and dtype the result has.", .after = count)

/* The operators op_ID and op_ID_like: _random_ID, and _random_ID_like. The expression `checks` is
 * not 0 if the parameters p are wrong; `fills` draws the elements of out and gives the status. */
#define RANDOM_OPS(id, checks, fills, op_aliases, op_doc)                                          \
    static int id##_infer(mxl_infer *infer)                                                        \
    {                                                                                              \
        return random_infer(infer);                                                                \
    }                                                                                              \
    static int id##_compute(const mxl_call *call)                                                  \
    {                                                                                              \
        const random_params *p = call->params;                                                     \
        mxl_array *out = call->out[0];                                                             \
                                                                                                   \
        return (checks) != 0 ? -1 : (fills);                                                       \
    }                                                                                              \
    MXL_CREATOR(op_##id, "_random_" #id, random_params, id##_params, id##_infer, id##_compute,     \
                op_doc, .aliases = op_aliases, .draws = true, .fails_late = true, MXL_CREATES);    \
    static const mxl_op op_##id##_like = {                                                         \
        .name = "_random_" #id "_like",                                                            \
        .doc = op_doc " In the shape and dtype of an array.",                                      \
        .inputs = id##_like_inputs,                                                                \
        MXL_PARAMS(random_params, id##_like_params),                                               \
        .infer = id##_infer,                                                                       \
        .shapes = "A>A",                                                                           \
        .numbers_inputs = true,                                                                    \
        .compute = id##_compute,                                                                   \
        .draws = true,                                                                             \
        .fails_late = true,                                                                        \
        .grad = mxl_grad_zero,                                                                     \
    }

TABLES_2(uniform, NUMBER("low", "0", "The smallest value drawn.", first),
         NUMBER("high", "1",
                "The bound that all values are below; if it equals low, all values are low.",
                second));
RANDOM_OPS(uniform, check_bounds(call, p),
           mxl_rng_uniform(mxl_random_stream(), out->dtype, p->first, p->second, out->size,
                           mxl_array_write(out)),
           MXL_ALIASES("random_uniform", "uniform"),
           "Random numbers, uniformly distributed over [low, high).");

TABLES_2(normal, NUMBER("loc", "0", "The mean.", first),
         NUMBER("scale", "1", "The standard deviation, above 0.", second));
RANDOM_OPS(normal, check_above(call, "scale", p->second),
           mxl_rng_normal(mxl_random_stream(), out->dtype, p->first, p->second, out->size,
                          mxl_array_write(out)),
           MXL_ALIASES("normal", "random_normal"), "Random numbers, normally distributed.");

TABLES_2(gamma, NUMBER("alpha", "1", "The shape, above 0.", first),
         NUMBER("beta", "1", "The scale, above 0: the mean is alpha times beta.", second));
RANDOM_OPS(gamma, check_above(call, "alpha", p->first) != 0 || check_above(call, "beta", p->second),
           draw(out, mxl_draw_gamma, p->first, p->second), MXL_ALIASES("random_gamma"),
           "Random numbers of the gamma distribution, by its shape and its scale.");

TABLES_1(exponential, NUMBER("lam", "1", "The rate, above 0: the mean is 1 / lam.", first));
RANDOM_OPS(exponential, check_above(call, "lam", p->first),
           mxl_rng_exponential(mxl_random_stream(), out->dtype, p->first, out->size,
                               mxl_array_write(out)),
           MXL_ALIASES("random_exponential"), "Random numbers, exponentially distributed.");

TABLES_1(poisson, NUMBER("lam", "1", "The mean, not below 0.", first));
RANDOM_OPS(poisson, check_not_below(call, "lam", p->first),
           draw(out, mxl_draw_poisson, p->first, 0), MXL_ALIASES("random_poisson"),
           "Random counts of the Poisson distribution, as floating-point numbers.");

TABLES_2(negative_binomial,
         MXL_PARAM_AS("k", random_params, low, MXL_P_INT, "1",
                      "How many successes end an experiment, not below 0."),
         NUMBER("p", "1", "The probability of success, not below 0; above 1 counts as 1.", second));
RANDOM_OPS(negative_binomial,
           check_not_below(call, "k", (double)p->low) != 0 || check_not_below(call, "p", p->second),
           draw(out, mxl_draw_negative_binomial, (double)p->low, p->second),
           MXL_ALIASES("random_negative_binomial"),
           "Random counts of failures before the k-th success, as floating-point numbers.");

TABLES_2(generalized_negative_binomial, NUMBER("mu", "1", "The mean, not below 0.", first),
         NUMBER("alpha", "1",
                "The dispersion, not below 0: the variance is mu + alpha * mu^2. 0 makes it a "
                "Poisson distribution.",
                second));
RANDOM_OPS(generalized_negative_binomial,
           check_not_below(call, "mu", p->first) != 0 || check_not_below(call, "alpha", p->second),
           draw(out, mxl_draw_generalized_negative_binomial, p->first, p->second),
           MXL_ALIASES("random_generalized_negative_binomial"),
           "Random counts of the negative binomial distribution by its mean and its dispersion, as "
           "floating-point numbers.");

/* ---- randint ---- */

static const mxl_param randint_params[] = {
    MXL_PARAM(random_params, low, MXL_P_INT, MXL_REQUIRED, "The smallest number drawn.",
              .type_name = "long"),
    MXL_PARAM(random_params, high, MXL_P_INT, MXL_REQUIRED, "The bound that all numbers are below.",
              .type_name = "long"),
    SHAPE,
    CTX,
    MXL_PARAM(random_params, dtype, MXL_P_DTYPE, "None",
              "dtype of the array; None: that of the output given, else int32.",
              .values = integer_dtypes,
              .type_text = "{'None', 'int32', 'int64'},optional, default='None'"),
    {0},
};

static int randint_infer(mxl_infer *infer)
{
    const random_params *p = infer->params;
    int dtype;

    if (choose_dtype(infer, p->dtype, MXL_I32) != 0)
        return -1;
    dtype = infer->out_dtype[0];
    if (dtype != MXL_I32 && dtype != MXL_I64)
        return mxl_error("%s: the output must be int32 or int64, got %s", infer->op->name,
                         mxl_dtype_name(dtype));
    if (dtype == MXL_I32 && (p->low < INT32_MIN || p->high - 1 > INT32_MAX))
        return mxl_error("%s: numbers in [%lld, %lld) do not fit int32; dtype int64 holds them",
                         infer->op->name, (long long)p->low, (long long)p->high);
    return mxl_infer_fresh(infer, p->shape, p->ctx);
}

static int randint_compute(const mxl_call *call)
{
    const random_params *p = call->params;
    mxl_array *out = call->out[0];

    if (p->low >= p->high)
        return mxl_error("%s: low must be below high, got %lld and %lld", call->op->name,
                         (long long)p->low, (long long)p->high);
    return mxl_draw_integers(mxl_random_stream(), out->dtype, p->low,
                             (uint64_t)p->high - (uint64_t)p->low, out->size, mxl_array_write(out));
}

static int randint_dtypes(mxl_rule *rule)
{
    int said = ((const random_params *)rule->params)->dtype;

    return mxl_rule_say_out_dtypes(rule, said == MXL_DTYPE_UNKNOWN ? MXL_I32 : said);
}

MXL_CREATOR(op_randint, "_random_randint", random_params, randint_params, randint_infer,
            randint_compute, "Random integers, uniformly distributed over [low, high).",
            .aliases = MXL_ALIASES("_npi_random_randint", "random_randint"), .fails_late = true,
            .complete_shapes = mxl_rule_creation, .complete_dtypes = randint_dtypes);

const mxl_op *const mxl_ops_random[] = {
    &op_uniform,
    &op_uniform_like,
    &op_normal,
    &op_normal_like,
    &op_gamma,
    &op_gamma_like,
    &op_exponential,
    &op_exponential_like,
    &op_poisson,
    &op_poisson_like,
    &op_negative_binomial,
    &op_negative_binomial_like,
    &op_generalized_negative_binomial,
    &op_generalized_negative_binomial_like,
    &op_randint,
    NULL,
};
