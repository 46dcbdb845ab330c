/* Probability densities of samples, and their logarithms: _random_pdf_*. The sample's shape begins
 * with the parameters' shape; the rest are samples of one distribution. */
#include "kernel/random/density.h"

#include <stddef.h>

#include "ops/elementwise/elementwise.h"

typedef struct density_params {
    int is_log;
} density_params;

static const mxl_param density_table[] = {
    MXL_PARAM(density_params, is_log, MXL_P_BOOL, "0",
              "Whether the result is the logarithm of the density."),
    {0},
};

/* ---- shapes ---- */

/* Checks that the parameters have one shape, and that the sample's begins with it, except `own`
 * axes at the parameters' end. */
static int check_inputs(const mxl_infer *infer, int own)
{
    const mxl_array *x = infer->in[0], *a = infer->in[1];
    int shared = a->ndim - own;

    if (mxl_check_float(infer->op, x) != 0)
        return -1;
    for (int i = 1; i < infer->num_inputs; i++) {
        if (mxl_check_dtypes(infer->op, x, infer->in[i]) != 0)
            return -1;
        if (infer->in[i]->size >= 0 && a->size >= 0 && !mxl_array_same_shape(infer->in[i], a))
            return mxl_error("%s: the parameters have shapes %s and %s; they must be the same",
                             infer->op->name, MXL_SHAPE_OF(a), MXL_SHAPE_OF(infer->in[i]));
    }
    if (shared >= 0 && a->ndim <= x->ndim && (a->size < 0 || x->size < 0))
        return 0;
    if (shared >= 0 && a->ndim <= x->ndim && mxl_shape_same(shared, x->shape, shared, a->shape) &&
        mxl_shape_same(own, x->shape + x->ndim - own, own, a->shape + shared))
        return 0;
    return mxl_error("%s: parameters of shape %s do not fit a sample of shape %s", infer->op->name,
                     MXL_SHAPE_OF(a), MXL_SHAPE_OF(x));
}

static int density_infer(mxl_infer *infer)
{
    return check_inputs(infer, 0) != 0 ? -1 : mxl_infer_like_first(infer);
}

static int density_compute(const mxl_call *call, mxl_density density)
{
    const density_params *p = call->params;
    const mxl_array *x = call->in[0], *a = call->in[1];
    const void *b = call->num_inputs > 2 ? mxl_array_read(call->in[2]) : NULL;

    if (x->size == 0)
        return 0;
    return mxl_density_fill(density, p->is_log, x->dtype, x->size, mxl_array_read(x),
                            mxl_array_read(a), b, x->size / a->size, mxl_array_write(call->out[0]));
}

/* ---- vjps ---- */

/* The operands of a vjp: the sample, the parameters with dimensions of size 1 appended, and the
 * grad_output. For a density, that is multiplied by the density, since y' = y (log y)'. */
typedef struct density_rule {
    mxl_array *x, *a, *b, *dy;
    mxl_shape shape;   /* of a and b */
    mxl_array *shared; /* a term of several derivatives; NULL: not computed yet */
} density_rule;

/* The derivative of the logarithm by input i. */
typedef mxl_array *(*density_derivative)(mxl_scope *s, density_rule *r, int i);

static void density_saves(mxl_saves *saves)
{
    for (int i = 0; i < saves->num_inputs; i++)
        saves->in[i] = true;
    saves->out[0] = !((const density_params *)saves->params)->is_log;
}

/* Sets the gradients of the inputs from `first` on. */
static int density_grad(mxl_grad *g, int first, density_derivative derivative)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0), *a = mxl_grad_in_meta(g, 1);
    density_rule r = {.dy = g->grad_output[0]};

    mxl_shape_set(&r.shape, a->ndim, a->shape);
    while (r.shape.ndim < x->ndim)
        r.shape.dim[r.shape.ndim++] = 1;
    if (g->op->saves == density_saves) /* else no derivative depends on it */
        r.x = mxl_grad_in(g, 0);
    r.a = mxl_reshape(g->s, mxl_grad_in(g, 1), r.shape.ndim, r.shape.dim);
    if (g->num_inputs > 2)
        r.b = mxl_reshape(g->s, mxl_grad_in(g, 2), r.shape.ndim, r.shape.dim);
    if (!((const density_params *)g->params)->is_log)
        r.dy = mxl_mul(g->s, r.dy, mxl_grad_out(g, 0));
    for (int i = first; i < g->num_inputs; i++) {
        mxl_array *value;

        if (!mxl_grad_wants(g, i))
            continue;
        value = mxl_mul(g->s, r.dy, derivative(g->s, &r, i));
        if (i > 0)
            value = mxl_reshape(g->s, mxl_sum_to(g->s, value, r.shape.ndim, r.shape.dim), a->ndim,
                                a->shape);
        if (mxl_grad_set(g, i, value) != 0)
            return -1;
    }
    return 0;
}

static mxl_array *log_of(mxl_scope *s, mxl_array *a)
{
    return mxl_apply(s, &mxl_op_log, a);
}

/* ---- descriptors ---- */

/* The operator op_ID, _random_pdf_ID, whose inputs from `first` on have ID_derivative. */
#define DENSITY_OP(id, first, op_saves, op_doc, ...)                                               \
    static const mxl_input id##_inputs[] = {                                                       \
        MXL_INPUT(sample, "The values at which the density is computed."), __VA_ARGS__, {0}};      \
    static int id##_compute(const mxl_call *call)                                                  \
    {                                                                                              \
        return density_compute(call, mxl_density_##id);                                            \
    }                                                                                              \
    static int id##_grad(mxl_grad *g)                                                              \
    {                                                                                              \
        return density_grad(g, first, id##_derivative);                                            \
    }                                                                                              \
    static const mxl_op op_##id = {                                                                \
        .name = "_random_pdf_" #id,                                                                \
        .aliases = MXL_ALIASES("random_pdf_" #id),                                                 \
        .doc = op_doc,                                                                             \
        .inputs = id##_inputs,                                                                     \
        MXL_PARAMS(density_params, density_table),                                                 \
        .infer = density_infer,                                                                    \
        .compute = id##_compute,                                                                   \
        .grad = id##_grad,                                                                         \
        .saves = op_saves,                                                                         \
    }
#define FIRST(input_name, input_doc)  {.name = input_name, .doc = input_doc}
#define SECOND(input_name, input_doc) {.name = input_name, .doc = input_doc, .after = 1}

/* dlow = 1 / (high - low) = -dhigh */
static mxl_array *uniform_derivative(mxl_scope *s, density_rule *r, int i)
{
    if (r->shared == NULL)
        r->shared = mxl_rdiv_scalar(s, mxl_sub(s, r->b, r->a), 1);
    return i == 1 ? r->shared : mxl_negative(s, r->shared);
}

static void uniform_saves(mxl_saves *saves)
{
    density_saves(saves);
    saves->in[0] = false;
}

DENSITY_OP(uniform, 1, uniform_saves,
           "The density 1 / (high - low) of uniform distributions, wherever the sample lies.",
           FIRST("low", "Lower bounds."), SECOND("high", "Upper bounds."));

/* With z = (x - mu) / sigma: dmu = z / sigma = -dx, dsigma = (z^2 - 1) / sigma */
static mxl_array *normal_derivative(mxl_scope *s, density_rule *r, int i)
{
    mxl_array *z = r->shared != NULL ? r->shared : mxl_div(s, mxl_sub(s, r->x, r->a), r->b);

    r->shared = z;
    if (i == 2)
        return mxl_div(s, mxl_add_scalar(s, mxl_square(s, z), -1), r->b);
    z = mxl_div(s, z, r->b);
    return i == 0 ? mxl_negative(s, z) : z;
}

DENSITY_OP(normal, 0, density_saves, "The density of normal distributions.", FIRST("mu", "Means."),
           SECOND("sigma", "Standard deviations."));

/* dx = (alpha - 1) / x - beta, dalpha = log(beta) + log(x) - digamma(alpha), dbeta = alpha / beta -
 * x */
static mxl_array *gamma_derivative(mxl_scope *s, density_rule *r, int i)
{
    if (i == 0)
        return mxl_sub(s, mxl_div(s, mxl_add_scalar(s, r->a, -1), r->x), r->b);
    if (i == 1)
        return mxl_add(s, mxl_sub(s, log_of(s, r->b), mxl_digamma(s, r->a)), log_of(s, r->x));
    return mxl_sub(s, mxl_div(s, r->a, r->b), r->x);
}

DENSITY_OP(gamma, 0, density_saves,
           "The density beta^alpha x^(alpha - 1) e^(-beta x) / Gamma(alpha) of gamma "
           "distributions.",
           FIRST("alpha", "Shapes."),
           SECOND("beta", "Rates: the reciprocals of the scales that sample_gamma takes."));

/* dx = -lam, dlam = 1 / lam - x */
static mxl_array *exponential_derivative(mxl_scope *s, density_rule *r, int i)
{
    return i == 0 ? mxl_negative(s, r->a) : mxl_sub(s, mxl_rdiv_scalar(s, r->a, 1), r->x);
}

DENSITY_OP(exponential, 0, density_saves,
           "The density lam e^(-lam x) of exponential distributions.", FIRST("lam", "Rates."));

/* dlam = x / lam - 1; counts have no derivative */
static mxl_array *poisson_derivative(mxl_scope *s, density_rule *r, int i)
{
    (void)i;
    return mxl_add_scalar(s, mxl_div(s, r->x, r->a), -1);
}

DENSITY_OP(poisson, 1, density_saves,
           "The probability lam^x e^(-lam) / x! of counts in Poisson distributions.",
           FIRST("lam", "Means."));

/* dk = digamma(x + k) - digamma(k) + log(p), dp = k / p - x / (1 - p) */
static mxl_array *negative_binomial_derivative(mxl_scope *s, density_rule *r, int i)
{
    if (i == 2)
        return mxl_sub(s, mxl_div(s, r->a, r->b), mxl_div(s, r->x, mxl_one_minus(s, r->b)));
    return mxl_add(s, mxl_sub(s, mxl_digamma(s, mxl_add(s, r->x, r->a)), mxl_digamma(s, r->a)),
                   log_of(s, r->b));
}

DENSITY_OP(negative_binomial, 1, density_saves,
           "The probability Gamma(x + k) / (x! Gamma(k)) p^k (1 - p)^x of x failures before the "
           "k-th success.",
           FIRST("k", "How many successes end an experiment."),
           SECOND("p", "Probabilities of success."));

/* With q = 1 + mu alpha: dmu = (x - mu) / (mu q), dalpha = (x - mu) / (alpha q) + (digamma(1 /
 * alpha) - digamma(x + 1 / alpha) + log(q)) / alpha^2 */
static mxl_array *generalized_negative_binomial_derivative(mxl_scope *s, density_rule *r, int i)
{
    mxl_array *q, *k, *away, *derivative;

    if (r->shared == NULL)
        r->shared = mxl_add_scalar(s, mxl_mul(s, r->a, r->b), 1);
    q = r->shared;
    away = mxl_div(s, mxl_sub(s, r->x, r->a), q);
    if (i == 1)
        return mxl_div(s, away, r->a);
    k = mxl_rdiv_scalar(s, r->b, 1);
    derivative = mxl_sub(s, mxl_digamma(s, k), mxl_digamma(s, mxl_add(s, r->x, k)));
    derivative = mxl_mul(s, mxl_add(s, derivative, log_of(s, q)), mxl_square(s, k));
    return mxl_add(s, mxl_div(s, away, r->b), derivative);
}

DENSITY_OP(generalized_negative_binomial, 1, density_saves,
           "The probability of counts in negative binomial distributions by their means and "
           "dispersions: those of k = 1 / alpha and p = 1 / (1 + mu alpha).",
           FIRST("mu", "Means."), SECOND("alpha", "Dispersions."));

/* ---- dirichlet ---- */

static int dirichlet_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0];

    if (infer->in[1]->ndim == 0 || x->ndim == 0)
        return mxl_error("%s: sample and alpha need an axis of parts", infer->op->name);
    if (check_inputs(infer, 1) != 0)
        return -1;
    mxl_shape_set(&infer->out_shape[0], x->ndim - 1, x->shape);
    infer->out_dtype[0] = x->dtype;
    return 0;
}

static int dirichlet_compute(const mxl_call *call)
{
    const density_params *p = call->params;
    const mxl_array *x = call->in[0], *alpha = call->in[1];
    mxl_array *out = call->out[0];
    int64_t k = x->shape[x->ndim - 1], sets = mxl_shape_size(alpha->ndim - 1, alpha->shape);

    if (out->size == 0)
        return 0;
    return mxl_density_dirichlet(p->is_log, x->dtype, out->size, k, mxl_array_read(x),
                                 mxl_array_read(alpha), out->size / sets, mxl_array_write(out));
}

/* dx = (alpha - 1) / x, dalpha = log(x) - digamma(alpha) + digamma(the sum of alpha), both times
 * the row's grad_output, and for a density times that */
static int dirichlet_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0), *a = mxl_grad_in_meta(g, 1);
    mxl_array *sample = mxl_grad_in(g, 0), *alpha, *dy = g->grad_output[0], *derivative;
    mxl_shape rows, sets;

    mxl_shape_set(&rows, x->ndim, x->shape);
    rows.dim[x->ndim - 1] = 1;
    mxl_shape_set(&sets, a->ndim - 1, a->shape);
    while (sets.ndim < x->ndim)
        sets.dim[sets.ndim++] = 1;
    sets.dim[x->ndim - 1] = x->shape[x->ndim - 1];
    alpha = mxl_reshape(g->s, mxl_grad_in(g, 1), sets.ndim, sets.dim);
    if (!((const density_params *)g->params)->is_log)
        dy = mxl_mul(g->s, dy, mxl_grad_out(g, 0));
    dy = mxl_reshape(g->s, dy, rows.ndim, rows.dim);
    if (mxl_grad_wants(g, 0)) {
        derivative = mxl_div(g->s, mxl_add_scalar(g->s, alpha, -1), sample);
        if (mxl_grad_set(g, 0, mxl_mul(g->s, dy, derivative)) != 0)
            return -1;
    }
    if (!mxl_grad_wants(g, 1))
        return 0;
    derivative = mxl_digamma(g->s, mxl_sum_axis(g->s, alpha, x->ndim - 1));
    derivative = mxl_sub(g->s, derivative, mxl_digamma(g->s, alpha));
    derivative = mxl_mul(g->s, dy, mxl_add(g->s, log_of(g->s, sample), derivative));
    derivative = mxl_sum_to(g->s, derivative, sets.ndim, sets.dim);
    return mxl_grad_set(g, 1, mxl_reshape(g->s, derivative, a->ndim, a->shape));
}

static const mxl_op op_dirichlet = {
    .name = "_random_pdf_dirichlet",
    .aliases = MXL_ALIASES("random_pdf_dirichlet"),
    .doc = "The density of Dirichlet distributions, one number for each row of parts.",
    MXL_INPUTS(MXL_INPUT(sample,
                         "The values at which the density is computed, parts along the last axis."),
               MXL_INPUT(alpha, "Concentrations, as many as parts.")),
    MXL_PARAMS(density_params, density_table),
    .infer = dirichlet_infer,
    .compute = dirichlet_compute,
    .grad = dirichlet_grad,
    .saves = density_saves,
};

const mxl_op *const mxl_ops_density[] = {
    &op_uniform,
    &op_normal,
    &op_gamma,
    &op_exponential,
    &op_poisson,
    &op_negative_binomial,
    &op_generalized_negative_binomial,
    &op_dirichlet,
    NULL,
};
