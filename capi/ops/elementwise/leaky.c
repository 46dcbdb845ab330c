/* LeakyReLU: six functions that are (nearly) the identity above 0 and flatter below. */
#include <stddef.h>

#include "array/copy.h"
#include "engine/run/generator.h"
#include "kernel/copy/cast.h"
#include "kernel/copy/strided_copy.h"
#include "kernel/math/gelu.h"
#include "kernel/random/rng.h"
#include "ops/elementwise/elementwise.h"

enum { ELU, GELU, LEAKY, PRELU, RRELU, SELU };

typedef struct leaky_params {
    int act_type;
    double slope;
    double lower_bound;
    double upper_bound;
} leaky_params;

static const double SELU_SCALE = 1.05070098735548049342, SELU_ALPHA = 1.67326324235437728482;
static const double ROOT_HALF = 0.70710678118654752440, BELL = 0.39894228040143267794;

static const char *const leaky_names[] = {"elu", "gelu", "leaky", "prelu", "rrelu", "selu", NULL};

static int leaky_arity(const void *params, mxl_arity *arity)
{
    int type = ((const leaky_params *)params)->act_type;

    arity->inputs = type == PRELU ? 2 : 1;
    arity->outputs = arity->visible = type == RRELU ? 2 : 1;
    return 0;
}

/* gamma's shape with dimensions of size 1 around it, so that it broadcasts to the data. -1 if it
 * cannot. */
static int gamma_shape(int ndim, const int64_t *data, int gamma_ndim, const int64_t *gamma,
                       mxl_shape *shape)
{
    int64_t ones[MXL_MAX_NDIM];
    int axis = ndim > 1 ? 1 : 0;

    for (int i = 0; i < ndim; i++)
        ones[i] = 1;
    if (gamma_ndim == ndim && ndim > 0) {
        for (int i = 0; i < ndim; i++)
            if (gamma[i] != 1 && gamma[i] != data[i])
                return -1;
        mxl_shape_set(shape, ndim, gamma);
        return 0;
    }
    if (gamma_ndim > 1 || (gamma_ndim == 1 && ndim == 0 && gamma[0] != 1))
        return -1;
    if (gamma_ndim == 1 && gamma[0] != 1) {
        if (gamma[0] != data[axis])
            return -1;
        ones[axis] = gamma[0];
    }
    mxl_shape_set(shape, ndim, ones);
    return 0;
}

static int leaky_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0];
    const leaky_params *p = infer->params;
    mxl_shape shape;

    if (mxl_check_float(infer->op, x) != 0)
        return -1;
    if (p->act_type == PRELU) {
        const mxl_array *gamma = infer->in[1];

        if (gamma->dtype != x->dtype)
            return mxl_error("LeakyReLU: data and gamma have dtypes %s and %s; they must be the "
                             "same",
                             mxl_dtype_name(x->dtype), mxl_dtype_name(gamma->dtype));
        if (gamma_shape(x->ndim, x->shape, gamma->ndim, gamma->shape, &shape) != 0)
            return mxl_error("LeakyReLU: gamma of shape %s does not fit data of shape %s",
                             MXL_SHAPE_OF(gamma), MXL_SHAPE_OF(x));
    }
    return mxl_infer_like_first(infer);
}

/* Both values are computed before the selection, so that loops vectorise (the compiler may not read
 * a parameter speculatively). */
MXL_INLINE float cut_f32(float x, float above, float below)
{
    return x > 0 ? above : below;
}

MXL_INLINE double cut_f64(double x, double above, double below)
{
    return x > 0 ? above : below;
}

/* `above` where x > 0, else `below` */
#define CUT(above, below) _Generic((x), float: cut_f32, default: cut_f64)(x, above, below)

/* A number of x's type. */
#define LIKE_X(value) _Generic((x), float: (float)(value), default: (value))
#define SLOPE         LIKE_X(((const leaky_params *)params)->slope)

MXL_FLOAT_KERNELS(leaky, MXL_UNARY_LOOP, CUT(x, x * SLOPE));
MXL_FLOAT_KERNELS(elu, MXL_UNARY_LOOP, CUT(x, SLOPE * mxl_loop_expm1(x)));
MXL_FLOAT_KERNELS(selu, MXL_UNARY_LOOP,
                  CUT(LIKE_X(SELU_SCALE) * x, LIKE_X(SELU_SCALE * SELU_ALPHA) * mxl_loop_expm1(x)));
MXL_FLOAT_KERNELS(prelu, MXL_BINARY_LOOP, x > 0 ? x : x * y);
/* The factor of x in rrelu, given its random slope y. */
MXL_FLOAT_KERNELS(factor, MXL_BINARY_LOOP, x > 0 ? 1 : y);

static const mxl_kernels *const leaky_tables[] = {
    [ELU] = &elu_kernels,     [GELU] = &mxl_gelu_kernels, [LEAKY] = &leaky_kernels,
    [PRELU] = &prelu_kernels, [SELU] = &selu_kernels,
};

const mxl_kernels *mxl_leaky_kernels(const void *params)
{
    int type = ((const leaky_params *)params)->act_type;

    return type == PRELU || type == RRELU ? NULL : leaky_tables[type];
}

static int prelu_compute(const mxl_call *call)
{
    mxl_array *x = call->in[0], *gamma, *in[2] = {x, NULL};
    mxl_shape shape;
    int status = -1;

    if (gamma_shape(x->ndim, x->shape, call->in[1]->ndim, call->in[1]->shape, &shape) != 0)
        return mxl_error("LeakyReLU: gamma does not fit data");
    gamma = mxl_array_contiguous(call->in[1]);
    if (gamma != NULL)
        in[1] = mxl_array_view(gamma, 0, shape.ndim, shape.dim);
    if (in[1] != NULL)
        status = mxl_run_kernels(call, &prelu_kernels, 2, in, call->out[0]);
    mxl_array_release(in[1]);
    mxl_array_release(gamma);
    return status;
}

static int rrelu_compute(const mxl_call *call)
{
    const leaky_params *p = call->params;
    mxl_array *x = call->in[0], *slopes = NULL, *in[2] = {x, NULL};
    int status = -1;

    slopes = mxl_array_new(x->dtype, x->ndim, x->shape);
    if (slopes == NULL)
        return -1;
    if (call->training) {
        mxl_rng rng = mxl_random_stream();

        status = mxl_rng_uniform(rng, x->dtype, p->lower_bound, p->upper_bound, slopes->size,
                                 mxl_array_write(slopes));
    } else {
        int64_t value = 0;

        mxl_cast_scalar((p->lower_bound + p->upper_bound) / 2, x->dtype, &value);
        mxl_fill(mxl_dtype_size(x->dtype), mxl_array_write(slopes), &value, slopes->size);
        status = 0;
    }
    in[1] = slopes;
    if (status == 0)
        status = mxl_run_kernels(call, &factor_kernels, 2, in, call->out[1]);
    in[1] = call->out[1];
    if (status == 0)
        status = mxl_run_kernels(call, mxl_op_broadcast_mul.kernels, 2, in, call->out[0]);
    mxl_array_release(slopes);
    return status;
}

static int leaky_compute(const mxl_call *call)
{
    int type = ((const leaky_params *)call->params)->act_type;

    if (type == PRELU)
        return prelu_compute(call);
    if (type == RRELU)
        return rrelu_compute(call);
    return mxl_run_kernels(call, leaky_tables[type], 1, call->in, call->out[0]);
}

/* ---- the vjps ---- */

static mxl_array *number(mxl_scope *s, mxl_array *x, double value)
{
    return mxl_mul_scalar(s, mxl_apply(s, &mxl_op_ones_like, x), value);
}

/* As CUT. */
static mxl_array *cut(mxl_scope *s, mxl_array *x, mxl_array *above, mxl_array *below)
{
    return mxl_where(s, mxl_apply_scalar(s, &mxl_op_greater_scalar, x, 0), above, below);
}

/* `up` where x > 0, else `down` times e^x. The exponential is one of min(x, 0), and the factor is
 * chosen before: above 0 a derivative of this multiplies neither infinity with 0. */
static mxl_array *exponential_derivative(mxl_scope *s, mxl_array *x, double up, double down)
{
    mxl_array *below = mxl_apply_scalar(s, &mxl_op_minimum_scalar, x, 0);

    return mxl_mul(s, mxl_exp(s, below), cut(s, x, number(s, x, up), number(s, x, down)));
}

/* gelu: P(x) + x p(x), of the standard normal distribution */
static mxl_array *gelu_derivative(mxl_scope *s, mxl_array *x)
{
    mxl_array *below = mxl_apply(s, &mxl_op_erf, mxl_mul_scalar(s, x, ROOT_HALF));
    mxl_array *bell = mxl_exp(s, mxl_mul_scalar(s, mxl_square(s, x), -0.5));
    mxl_array *share = mxl_mul_scalar(s, mxl_add_scalar(s, below, 1), 0.5);

    return mxl_add(s, share, mxl_mul(s, x, mxl_mul_scalar(s, bell, BELL)));
}

/* dx = dy where x > 0, else dy * gamma; dgamma = dy * x where x <= 0, summed to gamma's shape */
static int prelu_grad(mxl_grad *g)
{
    const mxl_meta *meta = mxl_grad_in_meta(g, 1), *data = mxl_grad_in_meta(g, 0);
    mxl_array *x = mxl_grad_in(g, 0), *dy = g->grad_output[0], *flat;
    mxl_shape shape;

    if (gamma_shape(data->ndim, data->shape, meta->ndim, meta->shape, &shape) != 0)
        return mxl_error("LeakyReLU: gamma does not fit data");
    if (mxl_grad_wants(g, 0)) {
        mxl_array *gamma = mxl_reshape(g->s, mxl_grad_in(g, 1), shape.ndim, shape.dim);
        mxl_array *ones = number(g->s, x, 1),
                  *slope = cut(g->s, x, ones, mxl_mul(g->s, ones, gamma));

        if (mxl_grad_set(g, 0, mxl_mul(g->s, dy, slope)) != 0)
            return -1;
    }
    if (!mxl_grad_wants(g, 1))
        return 0;
    flat = mxl_mul(g->s, dy, mxl_apply_scalar(g->s, &mxl_op_minimum_scalar, x, 0));
    flat = mxl_sum_to(g->s, flat, shape.ndim, shape.dim);
    return mxl_grad_set(g, 1, mxl_reshape(g->s, flat, meta->ndim, meta->shape));
}

static int leaky_grad(mxl_grad *g)
{
    const leaky_params *p = g->params;
    mxl_array *x, *slope;

    if (p->act_type == PRELU)
        return prelu_grad(g);
    if (p->act_type == RRELU) /* its factors depend on the signs of x alone */
        return g->grad_output[0] == NULL ? 0 : mxl_grad_times(g, 0, mxl_grad_out(g, 1));
    x = mxl_grad_in(g, 0);
    if (p->act_type == LEAKY)
        slope = cut(g->s, x, number(g->s, x, 1), number(g->s, x, p->slope));
    else if (p->act_type == GELU)
        slope = gelu_derivative(g->s, x);
    else if (p->act_type == ELU)
        slope = exponential_derivative(g->s, x, 1, p->slope);
    else
        slope = exponential_derivative(g->s, x, SELU_SCALE, SELU_SCALE * SELU_ALPHA);
    return mxl_grad_times(g, 0, slope);
}

/* The derivatives, in the order in which leaky_grad rounds. */
#define BELOW CUT(0, x)
MXL_FLOAT_KERNELS(leaky_slope, MXL_BINARY_LOOP, y * CUT(1, SLOPE));
MXL_FLOAT_KERNELS(elu_derivative, MXL_BINARY_LOOP, y * CUT(1, mxl_loop_exp(BELOW) * SLOPE));
MXL_FLOAT_KERNELS(selu_derivative, MXL_BINARY_LOOP,
                  y * CUT(LIKE_X(SELU_SCALE),
                          mxl_loop_exp(BELOW) * LIKE_X(SELU_SCALE * SELU_ALPHA)));
MXL_FLOAT_KERNELS(gelu_derivative, MXL_BINARY_LOOP,
                  y * ((mxl_loop_erf(x * LIKE_X(ROOT_HALF)) + 1) / 2 +
                       x * (mxl_loop_exp(x * x / -2) * LIKE_X(BELL))));

static int leaky_grad_kernel(mxl_grad *g)
{
    static const mxl_kernels *const slopes[] = {
        [ELU] = &elu_derivative_kernels,
        [GELU] = &gelu_derivative_kernels,
        [LEAKY] = &leaky_slope_kernels,
        [SELU] = &selu_derivative_kernels,
    };
    int type = ((const leaky_params *)g->params)->act_type;

    if (type == PRELU || type == RRELU)
        return leaky_grad(g);
    return mxl_grad_loops(g, slopes[type], mxl_grad_in(g, 0));
}

static void leaky_saves(mxl_saves *saves)
{
    int type = ((const leaky_params *)saves->params)->act_type;

    if (type == RRELU)
        saves->out[1] = true;
    else
        saves->in[0] = true;
    if (type == PRELU)
        saves->in[1] = saves->wants[0];
}

/* A gamma that is given may be one number for all channels. */
static int leaky_complete(mxl_rule *rule)
{
    const mxl_shape *gamma = rule->num_in > 1 ? mxl_rule_in(rule, 1) : NULL;

    if (gamma == NULL)
        return 0;
    return gamma->ndim == 1 && gamma->dim[0] == 1 ? mxl_rule_said_shapes(rule, "A>A")
                                                  : mxl_rule_sized_by_axis(rule, 1);
}

static const char *leaky_first_value(const void *params, int i)
{
    (void)params;
    return i == 1 ? "[\"Constant\", {\"value\": 0.25}]" : NULL;
}

const mxl_op mxl_op_leaky_relu = {
    .name = "LeakyReLU",
    .along = true,
    .aliases = MXL_ALIASES("_npx_leaky_relu"),
    .doc =
        "A function of each element, by act_type. Below 0: leaky slope x, prelu gamma x, rrelu a "
        "random multiple of x, elu slope (e^x - 1), and x above; selu elu with fixed factors; "
        "gelu x P(X < x) of the standard normal distribution. rrelu has a second output: what "
        "each element was multiplied with.",
    MXL_INPUTS(
        MXL_INPUT(data, "Input array, of any shape."),
        MXL_INPUT(gamma,
                  "prelu alone: the slopes below 0. One number, one for each entry of axis 1, "
                  "or an array with as many axes as data that broadcasts to it.")),
    MXL_PARAMS_OF(
        leaky_params,
        MXL_PARAM(leaky_params, act_type, MXL_P_ENUM, "leaky", "Which function.",
                  .values = leaky_names, .sets_outputs = true),
        MXL_PARAM(leaky_params, slope, MXL_P_FLOAT, "0.25",
                  "leaky: the slope below 0; elu: the factor of e^x - 1."),
        MXL_PARAM(leaky_params, lower_bound, MXL_P_FLOAT, "0.125",
                  "rrelu: the smallest slope below 0."),
        MXL_PARAM(
            leaky_params, upper_bound, MXL_P_FLOAT, "0.333999991",
            "rrelu: the largest slope below 0. Slopes are drawn while training, else all are the "
            "mean of both bounds.")),
    .arity = leaky_arity,
    .output_names = "output mask",
    .first_value = leaky_first_value,
    .infer = leaky_infer,
    .complete_shapes = leaky_complete,
    .strided = true,
    .keeps_layout = true,
    .compute = leaky_compute,
    .draws = true,
    .cheap = true,
    .grad = leaky_grad,
    .grad_kernel = leaky_grad_kernel,
    .saves = leaky_saves,
};

const mxl_op *const mxl_ops_leaky[] = {&mxl_op_leaky_relu, NULL};
