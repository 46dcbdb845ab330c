/* _mxl_nll: minus the logarithms of the probabilities of classes that targets name. */
#include <stddef.h>
#include <stdint.h>

#include "base/half.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/take.h"

enum { NONE, MEAN, SUM };

static const char *const reductions[] = {"none", "mean", "sum", NULL};

typedef struct nll_params {
    int reduction;
    int64_t ignore;
    int weighted;
} nll_params;

/* The classes are axis 1, or axis 0 of a vector. */
static int axis_of(int ndim)
{
    return ndim > 1;
}

static int nll_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = 2 + (((const nll_params *)params)->weighted != 0);
    arity->outputs = arity->visible = 1;
    return 0;
}

static int nll_infer(mxl_infer *infer)
{
    const nll_params *p = infer->params;
    const mxl_array *x = infer->in[0], *target = infer->in[1];
    int axis = axis_of(x->ndim), kept = 0;
    int64_t shape[MXL_MAX_NDIM];

    if (mxl_check_float(infer->op, x) != 0)
        return -1;
    if (x->ndim == 0 || target->dtype != MXL_I64)
        return mxl_error("%s: takes data with classes and targets of int64, got shape %s and %s",
                         infer->op->name, MXL_SHAPE_OF(x), mxl_dtype_name(target->dtype));
    for (int i = 0; i < x->ndim; i++) {
        if (i != axis)
            shape[kept++] = x->shape[i];
    }
    if (!mxl_shape_same(kept, shape, target->ndim, target->shape))
        return mxl_error("%s: targets have shape %s, which does not fit data of shape %s",
                         infer->op->name, MXL_SHAPE_OF(target), MXL_SHAPE_OF(x));
    if (p->weighted && (infer->in[2]->dtype != x->dtype || infer->in[2]->ndim != 1 ||
                        mxl_sizes_differ(infer->in[2]->shape[0], x->shape[axis])))
        return mxl_error("%s: the weight must have an element of data's dtype for each class",
                         infer->op->name);
    if (p->reduction != NONE)
        kept = 0;
    return mxl_infer_set(infer, x->dtype, kept, shape);
}

/* ---- elements of floating dtypes, as doubles ---- */

static double get(int dtype, const void *data, int64_t i)
{
    switch (dtype) {
    case MXL_F32:
        return (double)((const float *)data)[i];
    case MXL_F64:
        return ((const double *)data)[i];
    default:
        return (double)mxl_half_to_float(((const mxl_half *)data)[i]);
    }
}

static void set(int dtype, void *data, int64_t i, double value)
{
    switch (dtype) {
    case MXL_F32:
        ((float *)data)[i] = (float)value;
        break;
    case MXL_F64:
        ((double *)data)[i] = value;
        break;
    default:
        ((mxl_half *)data)[i] = mxl_half_from_float((float)value);
    }
}

/* The weight of a target, 0 for one that is ignored. -1 with the error set for no class. */
static int weight_of(const mxl_op *op, const nll_params *p, const mxl_array *weight, int64_t target,
                     int64_t classes, double *found)
{
    *found = 0;
    if (target == p->ignore)
        return 0;
    if (target < 0 || target >= classes)
        return mxl_error("%s: a target is one of %lld classes, got %lld", op->name,
                         (long long)classes, (long long)target);
    *found = weight == NULL ? 1 : get(weight->dtype, mxl_array_read(weight), target);
    return 0;
}

static int nll_compute(const mxl_call *call)
{
    const nll_params *p = call->params;
    const mxl_array *x = call->in[0], *weight = p->weighted ? call->in[2] : NULL;
    const int64_t *target = mxl_array_read(call->in[1]);
    mxl_split along = mxl_shape_split(axis_of(x->ndim), x->ndim, x->shape);
    const void *data = mxl_array_read(x);
    void *out = mxl_array_write(call->out[0]);
    double sum = 0, total = 0, share, loss;

    for (int64_t o = 0; o < along.outer; o++) {
        for (int64_t i = 0; i < along.inner; i++) {
            int64_t at = o * along.inner + i;

            if (weight_of(call->op, p, weight, target[at], along.n, &share) != 0)
                return -1;
            loss = target[at] == p->ignore
                       ? 0
                       : -share * get(x->dtype, data, (o * along.n + target[at]) * along.inner + i);
            sum += loss;
            total += share;
            if (p->reduction == NONE)
                set(x->dtype, out, at, loss);
        }
    }
    if (p->reduction != NONE)
        set(x->dtype, out, 0, p->reduction == MEAN ? sum / total : sum);
    return 0;
}

/* ---- with other operators: of batched arrays, and backward ---- */

/* A shape with the axis of the classes, of size 1. */
static mxl_array *with_axis(mxl_scope *s, mxl_array *a, int ndim, const int64_t *shape)
{
    int64_t wide[MXL_MAX_NDIM];

    for (int i = 0; i < ndim; i++)
        wide[i] = i == axis_of(ndim) ? 1 : shape[i];
    return mxl_reshape(s, a, ndim, wide);
}

/* What is known of targets. */
typedef struct targets {
    mxl_array *counted; /* not 0: it is not ignored */
    mxl_array *index;   /* the class, 0 for one that is ignored */
    mxl_array *share;   /* its weight, 0 for one that is ignored */
} targets;

static targets targets_of(mxl_scope *s, const nll_params *p, mxl_array *target, mxl_array *weight,
                          int dtype)
{
    targets t = {mxl_apply_scalar(s, &mxl_op_not_equal_scalar, target, (double)p->ignore), NULL,
                 NULL};

    t.index = mxl_mul(s, target, mxl_cast(s, t.counted, MXL_I64));
    t.share = mxl_cast(s, t.counted, dtype);
    if (p->weighted)
        t.share = mxl_mul(s, mxl_take_rows(s, weight, t.index), t.share);
    return t;
}

/* Minus the weights times a; 0 for those that are ignored, whatever a has there. */
static mxl_array *minus_shares(mxl_scope *s, const targets *t, mxl_array *a)
{
    a = mxl_negative(s, mxl_mul(s, t->share, a));
    return mxl_where(s, t->counted, a, mxl_zeros_like(s, a));
}

/* Losses as the reduction has them. */
static mxl_array *reduced(mxl_scope *s, const nll_params *p, mxl_array *losses, mxl_array *share)
{
    if (p->reduction == NONE)
        return losses;
    losses = mxl_sum_to(s, losses, 0, NULL);
    return p->reduction == SUM ? losses : mxl_div(s, losses, mxl_sum_to(s, share, 0, NULL));
}

static mxl_array *nll_compose(mxl_scope *s, const mxl_call *call)
{
    const nll_params *p = call->params;
    mxl_array *x = call->in[0], *picked;
    int kept = 0, axis = axis_of(x->ndim);
    int64_t shape[MXL_MAX_NDIM];
    targets t;

    for (int i = 0; i < x->ndim; i++) {
        if (i != axis)
            shape[kept++] = x->shape[i];
    }
    t = targets_of(s, p, call->in[1], p->weighted ? call->in[2] : NULL, x->dtype);
    picked = mxl_gather_along(s, x, with_axis(s, t.index, x->ndim, x->shape), axis);
    picked = minus_shares(s, &t, mxl_reshape(s, picked, kept, shape));
    return reduced(s, p, picked, t.share);
}

/* dx = -dy times the weight of the target at its place; of a mean divided by the sum of weights. */
static int nll_grad(mxl_grad *g)
{
    const nll_params *p = g->params;
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    mxl_array *dy = g->grad_output[0];
    targets t;

    if (!mxl_grad_wants(g, 0))
        return 0;
    t = targets_of(g->s, p, mxl_grad_in(g, 1), p->weighted ? mxl_grad_in(g, 2) : NULL, x->dtype);
    if (p->reduction == MEAN)
        dy = mxl_div(g->s, dy, mxl_sum_to(g->s, t.share, 0, NULL));
    dy = with_axis(g->s, minus_shares(g->s, &t, dy), x->ndim, x->shape);
    t.index = with_axis(g->s, t.index, x->ndim, x->shape);
    return mxl_grad_set(g, 0,
                        mxl_put_along(g->s, dy, t.index, axis_of(x->ndim), x->ndim, x->shape));
}

static void nll_saves(mxl_saves *saves)
{
    for (int i = 1; i < saves->num_inputs; i++)
        saves->in[i] = true;
}

static const mxl_op op_nll = {
    .name = "_mxl_nll",
    .doc = "Minus the elements of data at targets along axis 1 (axis 0 of a vector), times the "
           "weights of their classes: all, their sum, or that divided by the sum of the weights.",
    MXL_INPUTS(MXL_INPUT(data, "Logarithms of probabilities, of shape (N, C, ...) or (C,)."),
               MXL_INPUT(target, "Classes, int64, of data's shape without that axis."),
               MXL_INPUT(weight, "Of shape (C,); only with weighted. It has no gradient.")),
    MXL_PARAMS_OF(
        nll_params,
        MXL_PARAM(nll_params, reduction, MXL_P_ENUM, "mean", "What of all losses.",
                  .values = reductions),
        MXL_PARAM(nll_params, ignore, MXL_P_INT, "-100", "A target that counts for nothing."),
        MXL_PARAM(nll_params, weighted, MXL_P_BOOL, "0", "Whether there is a weight.")),
    .arity = nll_arity,
    .infer = nll_infer,
    .compute = nll_compute,
    .compose = nll_compose,
    .grad = nll_grad,
    .saves = nll_saves,
};

const mxl_op *const mxl_ops_nll[] = {&op_nll, NULL};
