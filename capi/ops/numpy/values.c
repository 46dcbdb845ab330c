/* Functions of the values of NumPy arrays: around, nan_to_num, average, polyval, diff,
 * ediff1d, bincount, constraint_check, share_memory. */
#include "ops/numpy/numpy.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#include "ops/elementwise/elementwise.h"
#include "ops/shape/movement.h"

/* ---- around, nan_to_num ---- */

/* Of so few decimals no number that has some is too large, times 10^d. */
enum { FEW = 4 };

static double largest(int dtype)
{
    return dtype == MXL_F16 ? 65504 : dtype == MXL_F32 ? (double)FLT_MAX : DBL_MAX;
}

/* rint(x * 10^d) / 10^d; of integers, whole tens, cut. */
static mxl_array *around_compose(mxl_scope *s, const mxl_call *call)
{
    const int64_t *decimals = call->params;
    mxl_array *x = call->in[0];
    double scale = pow(10, fabs((double)*decimals));

    if (!mxl_dtype_is_float(x->dtype)) {
        mxl_array *whole;

        if (*decimals >= 0)
            return mxl_apply(s, &mxl_op_block_grad, x);
        whole = mxl_apply(s, &mxl_op_trunc, mxl_div_scalar(s, mxl_cast(s, x, MXL_F64), scale));
        return mxl_cast(s, mxl_mul_scalar(s, whole, scale), x->dtype);
    }
    if (*decimals == 0)
        return mxl_apply(s, &mxl_op_round_even, x);
    if (*decimals > 0) {
        mxl_array *whole = mxl_mul_scalar(s, x, scale);
        mxl_array *rounded = mxl_div_scalar(s, mxl_apply(s, &mxl_op_round_even, whole), scale);

        /* What the product is too large for has no such decimals. */
        if (*decimals <= FEW)
            return rounded;
        whole =
            mxl_apply_scalar(s, &mxl_op_lesser_scalar, mxl_apply(s, &mxl_op_abs, whole), INFINITY);
        return mxl_where(s, whole, rounded, x);
    }
    if (scale > largest(x->dtype))
        return mxl_mul_scalar(s, x, 0);
    return mxl_mul_scalar(s, mxl_apply(s, &mxl_op_round_even, mxl_div_scalar(s, x, scale)), scale);
}

MXL_NP(around, "_npi_around", "Numbers rounded to a number of decimals, halves to even ones.",
       MXL_INPUTS(MXL_INPUT(x, "Input array.")),
       MXL_ONLY_PARAM(int64_t, decimals, MXL_P_INT, "0",
                      "How many decimals; below 0, tens are left."),
       .shapes = "A>A", .dtypes = "A>A");

typedef struct nan_params {
    int copy;
    double nan, posinf, neginf;
} nan_params;

static mxl_array *nan_compose(mxl_scope *s, const mxl_call *call)
{
    const nan_params *p = call->params;
    mxl_array *given = call->in[0], *x = given;
    double high, low;

    if (!mxl_dtype_is_float(x->dtype) || x->size == 0)
        return mxl_apply(s, &mxl_op_copy, x);
    high = isnan(p->posinf) ? largest(x->dtype) : p->posinf;
    low = isnan(p->neginf) ? -largest(x->dtype) : p->neginf;
    for (int i = 0; i < 3; i++) {
        double value = i == 0 ? p->nan : i == 1 ? high : low;
        mxl_array *there = i == 0 ? mxl_apply2(s, &mxl_op_not_equal, given, given)
                                  : mxl_apply_scalar(s, &mxl_op_equal_scalar, given,
                                                     i == 1 ? INFINITY : -INFINITY);
        mxl_array *other =
            mxl_broadcast_to(s, mxl_np_number(s, value, given->dtype), given->ndim, given->shape);

        x = mxl_where(s, there, other, x);
    }
    return x;
}

MXL_NP(nan, "_npi_nan_to_num", "The array with numbers in place of NaN and infinities.",
       .shapes = "A>A", .dtypes = "A>A",
       MXL_PARAMS_OF(nan_params,
                     MXL_PARAM(nan_params, copy, MXL_P_BOOL, "1",
                               "Read and not used: out= gives an array to write to."),
                     MXL_PARAM(nan_params, nan, MXL_P_FLOAT, "0", "The number for NaN.",
                               .type_name = "double"),
                     MXL_PARAM(nan_params, posinf, MXL_P_OPT_FLOAT, "None",
                               "The number for infinity; None: the largest of the dtype.",
                               .type_name = "double or None"),
                     MXL_PARAM(nan_params, neginf, MXL_P_OPT_FLOAT, "None",
                               "The number for -infinity; None: the least of the dtype.",
                               .type_name = "double or None")),
       .inputs = mxl_inputs_data);

/* ---- average ---- */

typedef struct average_params {
    mxl_tuple axis;
    int returned, weighted;
} average_params;

static int average_arity(const void *params, mxl_arity *arity)
{
    const average_params *p = params;

    arity->inputs = p->weighted ? 2 : 1;
    arity->outputs = 2;
    arity->visible = p->returned ? 2 : 1;
    return 0;
}

static mxl_array *average_compose(mxl_scope *s, const mxl_call *call)
{
    const average_params *p = call->params;
    mxl_array *x = call->in[0], *w = p->weighted ? call->in[1] : NULL, *sum;

    if (x->dtype == MXL_BOOL)
        x = mxl_cast(s, x, w == NULL || w->dtype == MXL_BOOL ? MXL_F32 : w->dtype);
    if (w != NULL && w->dtype == MXL_BOOL)
        w = mxl_cast(s, w, x == NULL ? MXL_F32 : x->dtype);
    if (x == NULL)
        return NULL;
    if (w == NULL) {
        mxl_array *mean = mxl_np_mean(s, x, p->axis);

        call->out[1] = mean == NULL || mean->size == 0
                           ? mean
                           : mxl_np_number(s, (double)x->size / (double)mean->size, x->dtype);
        return mean;
    }
    if (w->ndim == 1 && x->ndim > 1 && p->axis.n == 1) {
        int64_t shape[MXL_MAX_NDIM];
        int axis = mxl_check_axis(call->op, p->axis.v[0], x->ndim);

        if (axis < 0 || x->shape[axis] != w->shape[0])
            return mxl_error_null("%lld weights do not fit an array of shape %s",
                                  (long long)w->shape[0], MXL_SHAPE_OF(x));
        for (int i = 0; i < x->ndim; i++)
            shape[i] = i == axis ? w->shape[0] : 1;
        sum = mxl_np_reduce(s, &mxl_op_np_sum, w, (mxl_tuple){.n = -1}, false);
        w = mxl_reshape(s, w, x->ndim, shape);
    } else {
        if (!mxl_array_same_shape(w, x))
            return mxl_error_null("shapes %s and %s of array and weights differ", MXL_SHAPE_OF(x),
                                  MXL_SHAPE_OF(w));
        sum = mxl_np_reduce(s, &mxl_op_np_sum, w, p->axis, false);
    }
    call->out[1] = sum;
    return mxl_div(s, mxl_np_reduce(s, &mxl_op_np_sum, mxl_mul(s, x, w), p->axis, false), sum);
}

/* One dtype; bool counts as the other one's, or as float32. */
static int average_dtypes(mxl_rule *rule)
{
    int a = mxl_rule_in_dtype(rule, 0);
    int w = rule->num_in > 1 ? mxl_rule_in_dtype(rule, 1) : a, other = a == MXL_BOOL ? w : a;

    if (a != MXL_BOOL && w != MXL_BOOL)
        return mxl_rule_said_dtypes(rule, "A*>A*");
    return mxl_rule_say_out_dtypes(rule, other == MXL_BOOL ? MXL_F32 : other);
}

MXL_NP(average, "_npi_average", "The mean over axes, weighted; and the sum of the weights.",
       MXL_INPUTS(MXL_INPUT(a, "Input array."),
                  MXL_INPUT(weights, "Weights, in the array's shape or for one axis.")),
       MXL_PARAMS_OF(
           average_params,
           MXL_PARAM(average_params, axis, MXL_P_OPT_SHAPE, "None", "The axes; None: all."),
           MXL_PARAM(average_params, returned, MXL_P_BOOL, "0",
                     "Whether the sum of the weights is given too.", .sets_outputs = true),
           MXL_PARAM(average_params, weighted, MXL_P_BOOL, "1", "Whether there are weights.")),
       .arity = average_arity, .complete_dtypes = average_dtypes);

/* ---- polyval, diff, ediff1d ---- */

/* Horner's rule. */
static mxl_array *polyval_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *p = call->in[0], *x = call->in[1], *y = NULL;
    int64_t terms = p->size;

    if (p->ndim != 1)
        return mxl_error_null("ValueError: p must have 1 axis, got %d", p->ndim);
    if (p->dtype != x->dtype)
        return mxl_error_null("p is %s, x is %s", mxl_dtype_name(p->dtype),
                              mxl_dtype_name(x->dtype));
    y = mxl_zeros_like(s, x);
    terms = s->mode.meta && terms > 1 ? 1 : terms; /* the result has the shape of x */
    for (int64_t i = 0; i < terms; i++)
        y = mxl_add(s, mxl_mul(s, y, x), mxl_select_at(s, p, 0, i));
    return y;
}

MXL_NP(polyval, "_npi_polyval",
       "The polynomial with coefficients p, the highest power first, at x.",
       MXL_INPUTS(MXL_INPUT(p, "Coefficients, one axis."), MXL_INPUT(x, "Where, of p's dtype.")),
       .shapes = ".A>A");

/* Neighbours' differences along an axis. */
static mxl_array *differences(mxl_scope *s, mxl_array *x, int axis)
{
    mxl_array *after, *before;

    if (x == NULL || mxl_size_below(x->shape[axis], 2))
        return x == NULL ? NULL : mxl_np_empty(s, x, axis, 0);
    after = mxl_slice_axis(s, x, axis, 1, MXL_NONE);
    before = mxl_slice_axis(s, x, axis, 0, -1);
    return mxl_sub(s, after, before);
}

typedef struct diff_params {
    int64_t n, axis;
} diff_params;

static mxl_array *diff_compose(mxl_scope *s, const mxl_call *call)
{
    const diff_params *p = call->params;
    mxl_array *x = call->in[0];
    int axis = mxl_check_axis(call->op, p->axis, x->ndim);

    if (axis < 0 || p->n < 0)
        return mxl_error_null("n is %lld, axis %lld of an array with %d axes", (long long)p->n,
                              (long long)p->axis, x->ndim);
    if (p->n == 0)
        return mxl_apply(s, &mxl_op_copy, x);
    for (int64_t i = 0; i < p->n && x != NULL && (i == 0 || x->shape[axis] > 0); i++)
        x = differences(s, x, axis);
    return x;
}

MXL_NP(diff, "_npi_diff", "Differences of neighbours along an axis, n times.",
       MXL_INPUTS(MXL_INPUT(a, "Input array, with an axis.")),
       MXL_PARAMS_OF(diff_params, MXL_PARAM(diff_params, n, MXL_P_INT, "1", "How many times."),
                     MXL_PARAM(diff_params, axis, MXL_P_INT, "-1", "The axis.")));

typedef struct ediff_params {
    int begin_given, end_given;
    double begin, end;
} ediff_params;

static int ediff_arity(const void *params, mxl_arity *arity)
{
    const ediff_params *p = params;

    arity->inputs = 1 + p->begin_given + p->end_given;
    return 0;
}

static mxl_array *ediff_compose(mxl_scope *s, const mxl_call *call)
{
    const ediff_params *p = call->params;
    const int64_t one = 1;
    mxl_array *x = mxl_np_line(s, call->in[0]), *parts[3];
    int count = 0, input = 1;

    if (x == NULL)
        return NULL;
    if (p->begin_given)
        parts[count++] = mxl_np_line(s, call->in[input++]);
    else if (!isnan(p->begin))
        parts[count++] = mxl_reshape(s, mxl_np_number(s, p->begin, x->dtype), 1, &one);
    parts[count++] = differences(s, x, 0);
    if (p->end_given)
        parts[count++] = mxl_np_line(s, call->in[input]);
    else if (!isnan(p->end))
        parts[count++] = mxl_reshape(s, mxl_np_number(s, p->end, x->dtype), 1, &one);
    return count == 1 ? parts[0] : mxl_concat(s, count, parts, 0);
}

MXL_NP(ediff, "_npi_ediff1d",
       "Differences of neighbours of all elements, with numbers before and after them.",
       MXL_INPUTS(MXL_INPUT(input1, "Input array."), MXL_INPUT(input2, "What comes before."),
                  MXL_INPUT(input3, "What comes after.")),
       MXL_PARAMS_OF(ediff_params,
                     MXL_PARAM_AS("to_begin_arr_given", ediff_params, begin_given, MXL_P_BOOL, "0",
                                  "Whether an array comes before."),
                     MXL_PARAM_AS("to_end_arr_given", ediff_params, end_given, MXL_P_BOOL, "0",
                                  "Whether an array comes after."),
                     MXL_PARAM_AS("to_begin_scalar", ediff_params, begin, MXL_P_OPT_FLOAT, "None",
                                  "A number that comes before.", .type_name = "double or None"),
                     MXL_PARAM_AS("to_end_scalar", ediff_params, end, MXL_P_OPT_FLOAT, "None",
                                  "A number that comes after.", .type_name = "double or None")),
       .arity = ediff_arity);

/* ---- bincount ---- */

typedef struct bincount_params {
    int64_t minlength;
    int has_weights;
} bincount_params;

static int bincount_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = ((const bincount_params *)params)->has_weights ? 2 : 1;
    return 0;
}

/* A sum of weights, or of ones, at each value: zeros with the parts added. */
static mxl_array *bincount_compose(mxl_scope *s, const mxl_call *call)
{
    const bincount_params *p = call->params;
    mxl_array *x = call->in[0], *w = p->has_weights ? call->in[1] : NULL, *numbers;
    int64_t bins = p->minlength;

    if (mxl_dtype_is_float(x->dtype) || x->ndim != 1)
        return mxl_error_null("takes integers along 1 axis, got %s of shape %s",
                              mxl_dtype_name(x->dtype), MXL_SHAPE_OF(x));
    if (bins < 0 || (w != NULL && !mxl_array_same_shape(w, x)))
        return mxl_error_null("minlength is %lld, weights must have the shape of data",
                              (long long)bins);
    numbers = mxl_np_read(s, x, MXL_I64);
    for (int64_t i = 0; numbers != NULL && i < x->size; i++) {
        int64_t value = ((const int64_t *)mxl_array_read(numbers))[i];

        if (value < 0)
            return mxl_error_null("data has %lld, it must not be negative", (long long)value);
        bins = value >= bins ? value + 1 : bins;
    }
    if (w == NULL)
        w = mxl_apply(s, &mxl_op_ones_like, x);
    if (w == NULL || x->size == 0)
        return w == NULL ? NULL : mxl_np_empty(s, w, 0, bins);
    return mxl_take_back(s, w, numbers, 0, 1, &bins);
}

MXL_NP(bincount, "_npi_bincount", "How often each value occurs, or the sum of its weights.",
       MXL_INPUTS(MXL_INPUT(data, "Integers from 0 on, one axis."),
                  MXL_INPUT(weights, "A number for each.")),
       MXL_PARAMS_OF(
           bincount_params,
           MXL_PARAM(bincount_params, minlength, MXL_P_INT, "0", "The least length of the result."),
           MXL_PARAM(bincount_params, has_weights, MXL_P_BOOL, "0", "Whether there are weights.")),
       .arity = bincount_arity, .by_values = 1, .dtypes = "(.)A>A");

/* ---- constraint_check, share_memory ---- */

static mxl_array *constraint_compose(mxl_scope *s, const mxl_call *call)
{
    const char *const *message = call->params;
    mxl_array *all = mxl_np_all(s, call->in[0]);

    if (all != NULL && *(const uint8_t *)mxl_array_read(all) == 0)
        return mxl_error_null("ValueError: %s", *message);
    return all;
}

/* Its own, because zeros do not pass. */
static int constraint_infer(mxl_infer *infer)
{
    return mxl_infer_set(infer, MXL_BOOL, 0, NULL);
}

MXL_NP(constraint, "_npx_constraint_check", "True; an error with a text if an element is False.",
       MXL_INPUTS(MXL_INPUT(input, "Booleans.")),
       MXL_ONLY_PARAM(const char *, msg, MXL_P_STRING, "Constraint violated.", "The text."),
       .infer = constraint_infer, .dtypes = ">b");

/* Whether the bytes of two arrays overlap, taken from their first to their last. */
static mxl_array *share_compose(mxl_scope *s, const mxl_call *call)
{
    const mxl_array *a = call->in[0], *b = call->in[1];
    int64_t first = a->offset, second = b->offset;
    bool shared = a->storage == b->storage && a->size > 0 && b->size > 0 &&
                  first < second + b->size * (int64_t)mxl_dtype_size(b->dtype) &&
                  second < first + a->size * (int64_t)mxl_dtype_size(a->dtype);

    return mxl_np_number(s, shared, MXL_BOOL);
}

MXL_NP(share, "_npi_share_memory", "Whether two arrays share memory.",
       MXL_INPUTS(MXL_INPUT(a, "An array."), MXL_INPUT(b, "Another one.")), .dtypes = ">b");

const mxl_op *const mxl_ops_np_values[] = {
    &op_around, &op_nan,      &op_average,    &op_polyval, &op_diff,
    &op_ediff,  &op_bincount, &op_constraint, &op_share,   NULL,
};
