/* IdentityAttachKLSparseReg: the identity, of which backward adds the gradient of a penalty: how
 * far the moving mean of each unit is from a target, as the divergence of Bernoulli distributions.
 */
#include <math.h>
#include <stddef.h>

#include "array/copy.h"
#include "ops/build.h"

typedef struct sparse_params {
    double sparseness_target, penalty, momentum;
} sparse_params;

static int sparse_arity(const void *params, mxl_arity *arity)
{
    (void)params;
    arity->inputs = 2;
    return 0;
}

static int sparse_check(void *params)
{
    const sparse_params *p = params;

    if (!(p->sparseness_target >= 0 && p->sparseness_target <= 1))
        return mxl_error("IdentityAttachKLSparseReg: sparseness_target must be from 0 to 1, got %g",
                         p->sparseness_target);
    if (!(p->momentum >= 0 && p->momentum <= 1))
        return mxl_error("IdentityAttachKLSparseReg: momentum must be from 0 to 1, got %g",
                         p->momentum);
    return 0;
}

static int sparse_compute(const mxl_call *call)
{
    return mxl_array_copy_into(call->out[0], call->in[0]);
}

/* The means of the units, along axis 1, in float64. */
static mxl_array *means_of(mxl_scope *s, mxl_array *x)
{
    mxl_reduce_params units = {.axis = {1, (int64_t[]){1}}, .exclude = 1};
    mxl_array *wide = mxl_cast(s, x, MXL_F64), *sum;

    if (wide == NULL)
        return NULL;
    sum = mxl_scope_call(s, &mxl_op_sum, &units, 1, &wide);
    return mxl_div_scalar(s, sum, (double)(x->size / x->shape[1]));
}

/* Moves the moving mean, and returns it in float64, scoped; NULL on failure. */
static mxl_array *move_mean(mxl_grad *g)
{
    double keep = (double)(float)((const sparse_params *)g->params)->momentum;
    mxl_array *state = mxl_grad_state(g, 1), *x = mxl_grad_in(g, 0), *mean;

    if (x == NULL)
        return NULL;
    mean = mxl_mul_scalar(g->s, means_of(g->s, x), 1 - keep);
    if (state == NULL)
        return NULL;
    mean = mxl_add(g->s, mxl_mul_scalar(g->s, mxl_cast(g->s, state, MXL_F64), keep), mean);
    if (mean == NULL)
        return NULL;
    if (mxl_array_check_writable(state) != 0) {
        (void)mxl_error_prefix(g->op->name);
        return mxl_scope_own(g->s, NULL);
    }
    if (mxl_array_copy_into(state, mxl_cast(g->s, mean, state->dtype)) != 0)
        return mxl_scope_own(g->s, NULL);
    return mean;
}

/* dx = dy + penalty * (-target / m + (1 - target) / (1 - m)), m the moved mean of the unit. The
 * penalty's part is a constant: it has no derivatives of its own. */
static int sparse_grad(mxl_grad *g)
{
    const sparse_params *p = g->params;
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    mxl_array *mean, *part;
    int64_t shape[MXL_MAX_NDIM];
    double *at;

    if (mxl_shape_size(x->ndim, x->shape) == 0)
        return mxl_grad_set(g, 0, g->grad_output[0]);
    mean = move_mean(g);
    if (mean == NULL)
        return g->s->failed ? -1 : mxl_grad_set(g, 0, g->grad_output[0]);
    for (int i = 0; i < x->ndim; i++)
        shape[i] = i == 1 ? x->shape[1] : 1;
    part = mxl_scope_own(g->s, mxl_array_new(MXL_F64, x->ndim, shape));
    if (part == NULL)
        return -1;
    at = mxl_array_write(part);
    for (int64_t i = 0; i < part->size; i++) {
        double m = ((const double *)mxl_array_read(mean))[i], target = p->sparseness_target;

        at[i] = p->penalty * ((1 - target) / (1 - m) - target / m);
    }
    return mxl_grad_set(g, 0, mxl_add(g->s, g->grad_output[0], mxl_cast(g->s, part, x->dtype)));
}

/* The mean is a state, which another node may move meanwhile. */
static void sparse_saves(mxl_saves *saves)
{
    saves->in[0] = saves->in[1] = true;
}

#define FIELD(field, text, ...) MXL_PARAM(sparse_params, field, MXL_P_FLOAT, text, __VA_ARGS__)

/* The moving mean, which backward updates. */
static bool sparse_is_state(const void *params, int i)
{
    (void)params;
    return i == 1;
}

static const char *sparse_first_value(const void *params, int i)
{
    return sparse_is_state(params, i) ? "[\"zero\", {}]" : NULL;
}

static const mxl_op op_sparse_reg = {
    .name = "IdentityAttachKLSparseReg",
    .output_names = "output",
    .doc = "data itself, activations from 0 to 1. Its backward moves the moving mean of each unit "
           "and adds the gradient of a penalty for its distance from a target. Its further input, "
           "the moving mean, is not listed.",
    MXL_INPUTS(MXL_INPUT(data, "The activations (batch, units, ...) of a floating dtype.")),
    MXL_PARAMS_OF(sparse_params,
                  FIELD(sparseness_target, "0.100000001", "The mean that units should have."),
                  FIELD(penalty, "0.00100000005", "The factor of the penalty."),
                  FIELD(momentum, "0.899999976", "The part of the moving mean that is kept.")),
    .arity = sparse_arity,
    .check = sparse_check,
    MXL_SHAPES("data[N,C,*S] moving_avg[C] -> [N,C,*S]"),
    .dtypes = "F*>F",
    .compute = sparse_compute,
    .grad = sparse_grad,
    .saves = sparse_saves,
    .input_names = "data moving_avg",
    .is_state = sparse_is_state,
    .first_value = sparse_first_value,
};

const mxl_op *const mxl_ops_sparse_reg[] = {&op_sparse_reg, NULL};
