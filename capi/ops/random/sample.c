/* Random numbers with distribution parameters that are arrays: _sample_*. Each element of the
 * parameters gets `shape` numbers. */
#include <stddef.h>

#include "ops/random/random_ops.h"

typedef struct sample_params {
    mxl_tuple shape;
    int dtype;
} sample_params;

static const mxl_param sample_table[] = {
    MXL_PARAM(sample_params, shape, MXL_P_SHAPE, "[]",
              "Shape of what is drawn for each element of the parameters; (): one number."),
    MXL_PARAM(sample_params, dtype, MXL_P_DTYPE, "None",
              "dtype of the result; None: that of the output given, else float32.",
              .values = mxl_float_names, .type_text = MXL_RANDOM_DTYPES),
    {0},
};

/* The parameters' shape, then `shape`. */
static int sample_infer(mxl_infer *infer)
{
    const sample_params *p = infer->params;
    const mxl_array *first = infer->in[0];
    mxl_shape *out = &infer->out_shape[0];
    int given = infer->out_dtype[0];

    if (first->dtype == MXL_BOOL)
        return mxl_error("%s: parameters must be numbers, got bool", infer->op->name);
    for (int i = 0; i < p->shape.n; i++)
        if (p->shape.v[i] <= 0)
            return mxl_error("%s: extents of shape must be above 0, got %lld", infer->op->name,
                             (long long)p->shape.v[i]);
    if (mxl_infer_same(infer) != 0 || mxl_infer_append(infer, p->shape.n, p->shape.v) != 0)
        return -1;
    if (mxl_shape_check(out->ndim, out->dim) != 0)
        return mxl_error_prefix(infer->op->name);
    infer->out_dtype[0] = given;
    return mxl_random_dtype(infer, p->dtype);
}

static int sample(const mxl_call *call, mxl_sampler sampler)
{
    mxl_array *out = call->out[0];
    const void *second = call->num_inputs > 1 ? mxl_array_read(call->in[1]) : NULL;
    int64_t repeat = call->in[0]->size > 0 ? out->size / call->in[0]->size : 0;

    return mxl_draw_fill(mxl_random_stream(), sampler, out->dtype, out->size, mxl_array_write(out),
                         call->in[0]->dtype, mxl_array_read(call->in[0]), second, repeat);
}

/* The parameters have one shape: the first axes of the result. */
static int sample_complete(mxl_rule *rule)
{
    const mxl_shape *out = mxl_rule_out(rule, 0);
    int more = ((const sample_params *)rule->params)->shape.n,
        ndim = out->ndim - (more > 0 ? more : 0);

    if (mxl_rule_said_shapes(rule, "A*>") != 0)
        return -1;
    for (int i = 0; i < rule->num_in && ndim > 0; i++) {
        if (mxl_rule_say(rule, i, ndim, out->dim) != 0)
            return -1;
    }
    return 0;
}

/* A result whose dtype nothing says is float32 once that of the parameters is known. */
static int sample_dtypes(mxl_rule *rule)
{
    bool known = true;

    if (mxl_rule_said_dtypes(rule, "B*>t") != 0)
        return -1;
    for (int i = 0; i < rule->num_in; i++)
        known &= mxl_rule_in_dtype(rule, i) != MXL_DTYPE_UNKNOWN;
    return known ? mxl_rule_creation_dtypes(rule) : 0;
}

#define SAMPLE_OP(id, op_doc, ...)                                                                 \
    static const mxl_input id##_inputs[] = {__VA_ARGS__, {0}};                                     \
    static int id##_compute(const mxl_call *call)                                                  \
    {                                                                                              \
        return sample(call, mxl_draw_##id);                                                        \
    }                                                                                              \
    static const mxl_op op_##id = {                                                                \
        .name = "_sample_" #id,                                                                    \
        .aliases = MXL_ALIASES("sample_" #id),                                                     \
        .doc = op_doc,                                                                             \
        .inputs = id##_inputs,                                                                     \
        MXL_PARAMS(sample_params, sample_table),                                                   \
        .infer = sample_infer,                                                                     \
        .complete_shapes = sample_complete,                                                        \
        .complete_dtypes = sample_dtypes,                                                          \
        .compute = id##_compute,                                                                   \
        .draws = true,                                                                             \
        .grad = mxl_grad_zero,                                                                     \
    }
#define FIRST(input_name, input_doc)  {.name = input_name, .doc = input_doc}
#define SECOND(input_name, input_doc) {.name = input_name, .doc = input_doc, .after = 2}

SAMPLE_OP(uniform, "Random numbers, uniformly distributed over [low, high), for each pair of them.",
          FIRST("low", "Lower bounds."), SECOND("high", "Upper bounds, in the shape of low."));

SAMPLE_OP(normal, "Random numbers, normally distributed, for each pair of mean and deviation.",
          FIRST("mu", "Means."), SECOND("sigma", "Standard deviations, in the shape of mu."));

SAMPLE_OP(gamma, "Random numbers of the gamma distribution, for each pair of shape and scale.",
          FIRST("alpha", "Shapes; what is below 0 gives NaN."),
          SECOND("beta", "Scales, in the shape of alpha."));

SAMPLE_OP(exponential, "Random numbers, exponentially distributed, for each rate.",
          FIRST("lam", "Rates."));

SAMPLE_OP(poisson, "Random counts of the Poisson distribution, for each mean.",
          FIRST("lam", "Means; what is below 0 counts as 0."));

SAMPLE_OP(negative_binomial,
          "Random counts of failures before the k-th success, for each pair of k and p.",
          FIRST("k", "How many successes end an experiment; need not be whole, below 0 gives NaN."),
          SECOND("p", "Probabilities of success, in the shape of k."));

SAMPLE_OP(generalized_negative_binomial,
          "Random counts of the negative binomial distribution, for each pair of mean and "
          "dispersion.",
          FIRST("mu", "Means."),
          SECOND("alpha", "Dispersions, in the shape of mu; below 0 gives NaN."));

const mxl_op *const mxl_ops_sample[] = {
    &op_uniform,
    &op_normal,
    &op_gamma,
    &op_exponential,
    &op_poisson,
    &op_negative_binomial,
    &op_generalized_negative_binomial,
    NULL,
};
