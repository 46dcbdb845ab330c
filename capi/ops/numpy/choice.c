/* Choices of NumPy arrays: _npi_choice, positions that are drawn with or without replacement, and
 * _npi_multinomial, how often each category is drawn. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/mem.h"
#include "ops/numpy/numpy.h"
#include "ops/random/random_ops.h"

/* ---- choice ---- */

typedef struct choice_params {
    int64_t a; /* MXL_NONE: the first input's length */
    mxl_tuple size;
    const char *ctx;
    int replace, weighted;
} choice_params;

static int choice_arity(const void *params, mxl_arity *arity)
{
    const choice_params *p = params;

    arity->inputs = (p->a == MXL_NONE) + (p->weighted != 0);
    return 0;
}

/* How many positions there are to choose from; -1 with the error set. */
static int64_t population(const mxl_op *op, const choice_params *p, mxl_array *const *in)
{
    int64_t count = p->a;

    if (p->a == MXL_NONE) {
        if (in[0]->ndim == 0)
            return mxl_error("%s: an array to choose from must have an axis", op->name);
        count = in[0]->shape[0];
    }
    return count >= 0 || p->a == MXL_NONE
               ? count
               : mxl_error("%s: a must not be below 0, got %lld", op->name, (long long)count);
}

static int choice_infer(mxl_infer *infer)
{
    const choice_params *p = infer->params;
    const mxl_array *weights = infer->in[infer->num_inputs - 1];
    int64_t count = population(infer->op, p, infer->in);
    int64_t wanted = p->size.n < 0 ? 1 : mxl_shape_count(p->size.n, p->size.v);
    mxl_tuple none = {0};

    if (count == -1 || wanted < 0)
        return wanted < 0 ? mxl_error_prefix(infer->op->name) : -1;
    if (p->weighted && (weights->ndim != 1 || mxl_sizes_differ(weights->shape[0], count)))
        return mxl_error("%s: weights must have the shape (%lld,), got %s", infer->op->name,
                         (long long)count, MXL_SHAPE_OF(weights));
    if (mxl_size_below(p->replace && count > 0 ? INT64_MAX : count, wanted))
        return mxl_error("%s: %lld cannot be drawn from %lld%s", infer->op->name, (long long)wanted,
                         (long long)count, count == 0 ? "" : " without replacement");
    if (mxl_infer_set(infer, MXL_I64, 0, NULL) != 0)
        return -1;
    return mxl_infer_append(infer, p->size.n < 0 ? none.n : p->size.n, p->size.v);
}

/* Turns weights into their running sums. -1 with the error set for a negative or infinite weight,
 * or if all are zero. */
static int sum_up(const mxl_op *op, double *weights, int64_t count)
{
    double sum = 0;

    for (int64_t i = 0; i < count; i++) {
        if (!(weights[i] >= 0 && isfinite(weights[i])))
            return mxl_error("%s: weights must be finite and not below 0, got %g", op->name,
                             weights[i]);
        sum += weights[i];
        weights[i] = sum;
    }
    return sum > 0 ? 0 : mxl_error("%s: all weights are zero", op->name);
}

/* The first position whose running sum exceeds u times the last one. */
static int64_t find(const double *sums, int64_t count, double u)
{
    int64_t low = 0, high = count - 1;
    double at = u * sums[count - 1];

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (sums[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void with_replacement(mxl_rng rng, const double *sums, int64_t count, mxl_array *out)
{
    int64_t *to = mxl_array_write(out);

    for (int64_t i = 0; i < out->size; i++) {
        mxl_draws draws;

        mxl_draws_begin(&draws, rng, (uint64_t)i);
        to[i] = sums != NULL ? find(sums, count, mxl_draw_unit(&draws))
                             : (int64_t)mxl_draw_below(&draws, (uint64_t)count);
    }
}

/* The first positions of a shuffle. */
static int shuffled(mxl_rng rng, int64_t count, mxl_array *out)
{
    size_t bytes = (size_t)count * sizeof(int64_t);
    int64_t *all = mxl_alloc(bytes);
    mxl_draws draws;

    if (all == NULL)
        return -1;
    for (int64_t i = 0; i < count; i++)
        all[i] = i;
    for (int64_t i = 0; i < out->size; i++) {
        int64_t at, kept = all[i];

        mxl_draws_begin(&draws, rng, (uint64_t)i);
        at = i + (int64_t)mxl_draw_below(&draws, (uint64_t)(count - i));
        all[i] = all[at];
        all[at] = kept;
    }
    memcpy(mxl_array_write(out), all, (size_t)out->size * sizeof(int64_t));
    mxl_free(all, bytes);
    return 0;
}

typedef struct arrival {
    double time;
    int64_t at;
} arrival;

static int earlier(const void *a, const void *b)
{
    double x = ((const arrival *)a)->time, y = ((const arrival *)b)->time;

    return (x > y) - (x < y);
}

/* Each position arrives after an exponential time of its weight; the first to arrive are drawn, in
 * that order. */
static int weighted_without(const mxl_op *op, mxl_rng rng, const double *sums, int64_t count,
                            mxl_array *out)
{
    size_t bytes = (size_t)count * sizeof(arrival);
    arrival *all = mxl_alloc(bytes);
    int64_t possible = 0, *to = mxl_array_write(out);

    if (all == NULL)
        return -1;
    for (int64_t i = 0; i < count; i++) {
        double weight = i == 0 ? sums[0] : sums[i] - sums[i - 1];
        mxl_draws draws;

        mxl_draws_begin(&draws, rng, (uint64_t)i);
        if (weight > 0)
            all[possible++] = (arrival){mxl_draw_exponential(&draws, weight, 0), i};
    }
    if (possible >= out->size) {
        qsort(all, (size_t)possible, sizeof(*all), earlier);
        for (int64_t i = 0; i < out->size; i++)
            to[i] = all[i].at;
    }
    mxl_free(all, bytes);
    return possible >= out->size
               ? 0
               : mxl_error("%s: %lld cannot be drawn without replacement, only %lld weights are "
                           "above 0",
                           op->name, (long long)out->size, (long long)possible);
}

static int choice_compute(const mxl_call *call)
{
    const choice_params *p = call->params;
    mxl_array *out = call->out[0];
    int64_t count = population(call->op, p, call->in);
    mxl_rng rng = mxl_random_stream();
    double *sums;
    int status;

    if (out->size == 0)
        return 0;
    if (!p->weighted) {
        if (!p->replace)
            return shuffled(rng, count, out);
        with_replacement(rng, NULL, count, out);
        return 0;
    }
    sums = mxl_np_doubles(call->in[call->num_inputs - 1]);
    if (sums == NULL)
        return -1;
    status = sum_up(call->op, sums, count);
    if (status == 0 && p->replace)
        with_replacement(rng, sums, count, out);
    else if (status == 0)
        status = weighted_without(call->op, rng, sums, count, out);
    mxl_free(sums, (size_t)count * sizeof(double));
    return status;
}

static const mxl_op op_choice = {
    .name = MXL_NUMPY("_npi_choice"),
    .doc = "Positions in an array, or below a number, that are drawn at random, as int64.",
    MXL_INPUTS(MXL_INPUT(input1, "The array, if a is None; else the weights."),
               MXL_INPUT(input2, "The weights, if there are any and a is None.")),
    MXL_PARAMS_OF(choice_params,
                  MXL_PARAM(choice_params, a, MXL_P_OPT_INT, MXL_REQUIRED,
                            "How many positions there are; None: the length of input1.",
                            .type_text = ", required"),
                  MXL_PARAM(choice_params, size, MXL_P_OPT_SHAPE, MXL_REQUIRED,
                            "Shape of the result; None: ().", .type_text = ", required"),
                  MXL_PARAM(choice_params, ctx, MXL_P_STRING, "cpu", "Where the result lives."),
                  MXL_PARAM(choice_params, replace, MXL_P_BOOL, "1",
                            "Whether a position may be drawn more than once."),
                  MXL_PARAM(choice_params, weighted, MXL_P_BOOL, "0",
                            "Whether the last input has a weight for each position.")),
    .arity = choice_arity,
    .infer = choice_infer,
    .dtypes = ">l",
    .compute = choice_compute,
    .draws = true,
    .grad = mxl_grad_zero,
};

/* ---- multinomial ---- */

typedef struct counts_params {
    int64_t n;
    mxl_floats pvals;
    mxl_tuple size;
} counts_params;

static int counts_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = ((const counts_params *)params)->pvals.n < 0;
    return 0;
}

static int counts_infer(mxl_infer *infer)
{
    const counts_params *p = infer->params;
    int64_t categories = p->pvals.n;

    if (p->n < 0)
        return mxl_error("%s: n must not be below 0, got %lld", infer->op->name, (long long)p->n);
    if (infer->num_inputs > 0) {
        if (infer->in[0]->ndim != 1)
            return mxl_error("%s: probabilities must have one axis, got shape %s", infer->op->name,
                             MXL_SHAPE_OF(infer->in[0]));
        categories = infer->in[0]->shape[0];
    }
    if (mxl_infer_set(infer, MXL_I64, 0, NULL) != 0 ||
        (p->size.n > 0 && mxl_infer_append(infer, p->size.n, p->size.v) != 0))
        return -1;
    return mxl_infer_append(infer, 1, &categories);
}

/* Turns probabilities into running sums; the last category has what is left of 1. Sums may exceed 1
 * by the rounding of their dtype. */
static int probabilities(const mxl_op *op, int dtype, double *sums, int64_t count)
{
    double unit = dtype == MXL_F16 ? 1e-3 : dtype == MXL_F32 ? 1e-7 : 1e-12, sum = 0;

    for (int64_t i = 0; i < count; i++) {
        if (!(sums[i] >= 0))
            return mxl_error("%s: probabilities must not be below 0, got %g", op->name, sums[i]);
        sum += sums[i];
        sums[i] = fmin(sum, 1);
    }
    if (sum > 1 + unit * (double)(count + 1))
        return mxl_error("%s: probabilities must not sum to more than 1, got %g", op->name, sum);
    if (count > 0)
        sums[count - 1] = 1;
    return 0;
}

static int counts_compute(const mxl_call *call)
{
    const counts_params *p = call->params;
    mxl_array *out = call->out[0];
    int64_t count = out->shape[out->ndim - 1], *to = mxl_array_write(out);
    size_t bytes = (size_t)count * sizeof(double);
    double *sums = call->num_inputs > 0 ? mxl_np_doubles(call->in[0]) : mxl_alloc(bytes);
    mxl_rng rng = mxl_random_stream();
    int status;

    if (sums == NULL)
        return -1;
    if (call->num_inputs == 0 && count > 0)
        memcpy(sums, p->pvals.v, bytes);
    status =
        probabilities(call->op, call->num_inputs > 0 ? call->in[0]->dtype : MXL_F64, sums, count);
    if (status == 0 && out->size > 0) {
        memset(to, 0, (size_t)out->size * sizeof(int64_t));
        for (int64_t row = 0; row < out->size / count; row++) {
            for (int64_t i = 0; i < p->n; i++) {
                mxl_draws draws;

                mxl_draws_begin(&draws, rng, (uint64_t)(row * p->n + i));
                to[row * count + find(sums, count, mxl_draw_unit(&draws))]++;
            }
        }
    }
    mxl_free(sums, bytes);
    return status;
}

static const mxl_op op_counts = {
    .name = MXL_NUMPY("_npi_multinomial"),
    .numbers_inputs = true,
    .doc = "How often each category is drawn in n draws, as int64. The last category has the "
           "probability that the others leave.",
    MXL_INPUTS(MXL_INPUT(a, "The probabilities, if pvals is None.")),
    MXL_PARAMS_OF(
        counts_params, MXL_PARAM(counts_params, n, MXL_P_INT, MXL_REQUIRED, "The number of draws."),
        MXL_PARAM(counts_params, pvals, MXL_P_FLOATS, "None", "The probabilities; None: an input.",
                  .type_text = ", optional, default=None"),
        MXL_PARAM(counts_params, size, MXL_P_OPT_SHAPE, "None",
                  "Shape of what is repeated; None: ().")),
    .arity = counts_arity,
    .infer = counts_infer,
    .dtypes = ">l",
    .compute = counts_compute,
    .draws = true,
    .grad = mxl_grad_zero,
};

const mxl_op *const mxl_ops_np_choice[] = {&op_choice, &op_counts, NULL};
