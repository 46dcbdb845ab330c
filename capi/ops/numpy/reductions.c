/* Reductions of NumPy arrays: a result without dimensions has none, an empty list of axes reduces
 * nothing, and the dtype of the result may be chosen. */
#include "ops/numpy/numpy.h"

#include <math.h>
#include <stddef.h>

#include "ops/elementwise/elementwise.h"
#include "ops/reduce/reduce_ops.h"

typedef struct np_reduce_params {
    mxl_tuple axis;
    int dtype;
    int keepdims;
    double initial;
    int64_t ddof;
} np_reduce_params;

/* ---- dtypes ---- */

/* The dtype of a sum: the one that is asked for; booleans are counted in int64. */
static int sum_dtype(const np_reduce_params *p, const mxl_array *x)
{
    if (p->dtype != MXL_DTYPE_UNKNOWN)
        return p->dtype;
    return x->dtype == MXL_BOOL ? MXL_I64 : x->dtype;
}

/* The dtype of a mean: the one that is asked for; of integers float32. */
static int mean_dtype(const np_reduce_params *p, const mxl_array *x)
{
    if (p->dtype != MXL_DTYPE_UNKNOWN)
        return p->dtype;
    return mxl_dtype_is_float(x->dtype) ? x->dtype : MXL_F32;
}

/* ---- compositions ---- */

/* The reduction `op` of x, in x's dtype. A number has no axes, whichever are named. */
static mxl_array *reduced(mxl_scope *s, const mxl_call *call, const mxl_op *op, mxl_array *x)
{
    const np_reduce_params *p = call->params;
    const mxl_reduce_params params = {.axis = p->axis, .keepdims = p->keepdims};
    mxl_array *y;

    if (x == NULL || p->axis.n == 0 || x->ndim == 0)
        return x == NULL ? NULL : mxl_apply(s, &mxl_op_copy, x);
    y = mxl_scope_call(s, op, &params, 1, &x);
    if (p->keepdims || (p->axis.n > 0 && p->axis.n < x->ndim))
        return y;
    return mxl_reshape(s, y, 0, x->shape); /* of all axes, shape (1,) */
}

/* Computed in the wider of the dtypes of the array and of the result, as far as one is floating:
 * integers of a mean are divided as numbers, and its result is cut afterwards. */
static mxl_array *in_dtype(mxl_scope *s, const mxl_call *call, int work, int dtype)
{
    mxl_array *x = mxl_cast(s, call->in[0], work);

    if (!isnan(((const np_reduce_params *)call->params)->initial))
        return mxl_error_null("initial is not supported, as in 1.9.1");
    return mxl_cast(s, reduced(s, call, mxl_np_of(call), x), dtype);
}

static mxl_array *sum_compose(mxl_scope *s, const mxl_call *call)
{
    const mxl_array *x = call->in[0];
    int dtype = sum_dtype(call->params, x);
    int work = mxl_dtype_is_float(x->dtype) && !mxl_dtype_is_float(dtype) ? x->dtype : dtype;

    return in_dtype(s, call, work == MXL_BOOL ? MXL_I64 : work, dtype);
}

/* The mean of integers as integers, whose sum wraps, as NumPy's does in their dtype. */
static mxl_array *whole_mean(mxl_scope *s, const mxl_call *call, int dtype)
{
    mxl_array *x = mxl_cast(s, call->in[0], dtype);
    mxl_array *sum = reduced(s, call, &mxl_op_sum, x);

    if (sum == NULL)
        return NULL;
    sum = mxl_cast(s, sum, MXL_F64);
    return mxl_cast(s, mxl_div_scalar(s, sum, (double)x->size / (double)sum->size), dtype);
}

static mxl_array *mean_compose(mxl_scope *s, const mxl_call *call)
{
    const mxl_array *x = call->in[0];
    const np_reduce_params *p = call->params;
    int dtype = mean_dtype(p, x);

    if (!mxl_dtype_is_float(dtype) && !mxl_dtype_is_float(x->dtype) && dtype != MXL_BOOL &&
        isnan(p->initial) && x->size > 0)
        return whole_mean(s, call, dtype);

    int own = mxl_dtype_is_float(x->dtype) ? x->dtype : MXL_F32;

    return in_dtype(s, call, mxl_dtype_is_float(dtype) ? dtype : own, dtype);
}

static mxl_array *extreme_compose(mxl_scope *s, const mxl_call *call)
{
    int dtype = call->in[0]->dtype;

    return in_dtype(s, call, dtype == MXL_BOOL ? MXL_I8 : dtype, dtype);
}

/* ---- the operators ---- */

static const char *const sum_dtypes[] = {"None",  "bool",  "float16", "float32", "float64",
                                         "int32", "int64", "int8",    NULL};

#define AXIS                                                                                       \
    MXL_PARAM(np_reduce_params, axis, MXL_P_OPT_SHAPE, "None",                                     \
              "The axes to reduce, counted from either end; None: all; an empty list: none.")
#define DTYPE                                                                                      \
    MXL_PARAM(np_reduce_params, dtype, MXL_P_DTYPE, "None", "dtype of the result.",                \
              .values = sum_dtypes)
#define KEEPDIMS                                                                                   \
    MXL_PARAM(np_reduce_params, keepdims, MXL_P_BOOL, "0",                                         \
              "Whether the reduced axes stay, with extent 1.")
#define INITIAL                                                                                    \
    MXL_PARAM(np_reduce_params, initial, MXL_P_OPT_FLOAT, "None", "Not supported.",                \
              .type_name = "double or None")

static const mxl_param sum_table[] = {AXIS, DTYPE, KEEPDIMS, INITIAL, {0}};
static const mxl_param extreme_table[] = {AXIS, KEEPDIMS, INITIAL, {0}};

/* `dtype` is none of the parameters of max and min, and is 0 there. */
#define REDUCTION(id, op_name, kind, table, text, ...)                                             \
    const mxl_np_op mxl_op_np_##id = {                                                             \
        .op = {.name = MXL_NUMPY(op_name),                                                         \
               .doc = text,                                                                        \
               MXL_PARAMS(np_reduce_params, table),                                                \
               .compose = kind##_compose,                                                          \
               __VA_ARGS__},                                                                       \
        .of = &mxl_op_##id,                                                                        \
    }

REDUCTION(sum, "_np_sum", sum, sum_table, "Sum over axes; booleans are counted in int64.",
          .dtypes = "A>s", .inputs = mxl_inputs_np);
REDUCTION(prod, "_np_prod", sum, sum_table, "Product over axes; of booleans in int64.",
          .dtypes = "A>s", .aliases = MXL_ALIASES("_np_product"),
          .inputs = (const mxl_input[]){MXL_INPUT(a, "Input array, of any shape.", .after = 4),
                                        {0}});
REDUCTION(mean, "_npi_mean", mean, sum_table,
          "Mean over axes; of integers in float32. The mean of nothing is NaN.", .dtypes = "A>q",
          .inputs = mxl_inputs_np);
REDUCTION(max, "_np_max", extreme, extreme_table, "Largest element over axes.",
          .aliases = MXL_ALIASES("_np_amax"), .inputs = mxl_inputs_np);
REDUCTION(min, "_np_min", extreme, extreme_table, "Smallest element over axes.",
          .aliases = MXL_ALIASES("_np_amin"), .inputs = mxl_inputs_np);

bool mxl_np_keeps_axis(const void *params, int64_t *axis)
{
    const np_reduce_params *p = params;

    *axis = p->axis.n == 1 ? p->axis.v[0] : 0;
    return p->axis.n == 1 && p->keepdims && p->dtype == MXL_DTYPE_UNKNOWN && isnan(p->initial);
}

/* ---- var, std ---- */

/* The dtype of a variance: the one that is asked for, or the array's. */
static int spread_dtype(const np_reduce_params *p, const mxl_array *x)
{
    return p->dtype != MXL_DTYPE_UNKNOWN ? p->dtype : x->dtype;
}

/* sum((x - mean)^2) / (n - ddof), in a floating dtype. */
static mxl_array *variance(mxl_scope *s, const mxl_call *call)
{
    const np_reduce_params *p = call->params;
    const mxl_reduce_params kept = {.axis = p->axis, .keepdims = 1};
    mxl_array *x = call->in[0], *mean, *sum;
    int dtype = spread_dtype(p, x), own = mxl_dtype_is_float(x->dtype) ? x->dtype : MXL_F64;
    double n;

    if (x->dtype == MXL_BOOL)
        return mxl_error_null("takes numbers, got bool");
    x = mxl_cast(s, x, mxl_dtype_is_float(dtype) ? dtype : own);
    mean = x == NULL || p->axis.n == 0 || x->ndim == 0
               ? x
               : mxl_scope_call(s, &mxl_op_mean, &kept, 1, &x);
    sum = reduced(s, call, &mxl_op_sum, mxl_square(s, mxl_sub(s, x, mean)));
    if (sum == NULL)
        return NULL;
    n = sum->size > 0 ? (double)(x->size / sum->size) : 1;
    return mxl_div_scalar(s, sum, fmax(n - (double)p->ddof, 0));
}

static mxl_array *var_compose(mxl_scope *s, const mxl_call *call)
{
    return mxl_cast(s, variance(s, call), spread_dtype(call->params, call->in[0]));
}

static mxl_array *std_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *var = variance(s, call);

    return var == NULL ? NULL
                       : mxl_cast(s, mxl_apply(s, &mxl_op_sqrt, var),
                                  spread_dtype(call->params, call->in[0]));
}

static const char *const spread_dtypes[] = {"None",  "float16", "float32", "float64",
                                            "int32", "int64",   "int8",    NULL};

#define SPREAD(id, text)                                                                           \
    static const mxl_op op_##id = {                                                                \
        .name = MXL_NUMPY("_npi_" #id),                                                            \
        .doc = text,                                                                               \
        .inputs = mxl_inputs_np,                                                                   \
        MXL_PARAMS_OF(np_reduce_params, AXIS,                                                      \
                      MXL_PARAM(np_reduce_params, dtype, MXL_P_DTYPE, "None",                      \
                                "dtype of the result; None: the array's.",                         \
                                .values = spread_dtypes),                                          \
                      MXL_PARAM(np_reduce_params, ddof, MXL_P_INT, "0",                            \
                                "What is subtracted from the number of elements in the divisor."), \
                      KEEPDIMS),                                                                   \
        .output_names = #id " mean",                                                               \
        .total_outputs = 2,                                                                        \
        .compose = id##_compose,                                                                   \
    }

SPREAD(var, "Variance over axes: the mean square of distances from the mean.");
SPREAD(std, "Standard deviation over axes: the root of the variance.");

/* ---- all, any ---- */

/* Counts the elements that compare so to 0, and compares the count to 0: the sum of nothing is 0.
 */
static mxl_array *quantified(mxl_scope *s, const mxl_call *call, const mxl_op *element,
                             const mxl_op *count)
{
    mxl_array *x = call->in[0];
    bool wide = mxl_dtype_is_float(x->dtype) && x->dtype != MXL_F16;

    x = mxl_cast(s, x, x->dtype == MXL_BOOL ? MXL_I8 : x->dtype);
    x = mxl_apply_scalar(s, element, x, 0);
    x = reduced(s, call, &mxl_op_sum, wide ? x : mxl_cast(s, x, MXL_I64));
    return mxl_cast(s, mxl_apply_scalar(s, count, x, 0), MXL_BOOL);
}

static mxl_array *all_compose(mxl_scope *s, const mxl_call *call)
{
    return quantified(s, call, &mxl_op_equal_scalar, &mxl_op_equal_scalar);
}

static mxl_array *any_compose(mxl_scope *s, const mxl_call *call)
{
    return quantified(s, call, &mxl_op_not_equal_scalar, &mxl_op_not_equal_scalar);
}

#define QUANTIFIER(id, text, ...)                                                                  \
    static const mxl_op op_##id = {                                                                \
        .name = MXL_NUMPY("_np_" #id),                                                             \
        .doc = "Whether " text " elements over axes are not 0.",                                   \
        MXL_PARAMS_OF(np_reduce_params, AXIS, KEEPDIMS),                                           \
        .inputs = mxl_inputs_data,                                                                 \
        .compose = id##_compose,                                                                   \
        .dtypes = ">b",                                                                            \
        __VA_ARGS__,                                                                               \
    }

QUANTIFIER(all, "all", .aliases = NULL);
QUANTIFIER(any, "any", .aliases = MXL_ALIASES("_np_sometrue"));

mxl_array *mxl_np_reduce(mxl_scope *s, const mxl_np_op *op, mxl_array *x, mxl_tuple axis,
                         bool keepdims)
{
    const np_reduce_params p = {axis, MXL_DTYPE_UNKNOWN, keepdims, NAN, 0};

    return mxl_scope_call(s, &op->op, &p, 1, &x);
}

mxl_array *mxl_np_mean(mxl_scope *s, mxl_array *x, mxl_tuple axis)
{
    const np_reduce_params p = {axis, x->dtype, 0, NAN, 0};

    return mxl_scope_call(s, &mxl_op_np_mean.op, &p, 1, &x);
}

mxl_array *mxl_np_all(mxl_scope *s, mxl_array *x)
{
    return mxl_scope_call(s, &op_all, &(np_reduce_params){.axis.n = -1}, 1, &x);
}

/* ---- argmax, argmin ---- */

typedef struct np_arg_params {
    int64_t axis;
    int keepdims;
} np_arg_params;

/* Whether all elements are searched: a number has no axes, but 0 and -1 may be named. */
static bool searches_all(const np_arg_params *p, int ndim)
{
    return p->axis == MXL_NONE || (ndim == 0 && (p->axis == 0 || p->axis == -1));
}

/* The largest of none has no position. */
static int arg_infer(mxl_infer *infer)
{
    const np_arg_params *p = infer->params;
    const mxl_array *x = infer->in[0];
    mxl_shape *out = &infer->out_shape[0];
    bool all = searches_all(p, x->ndim);
    int axis = all ? -1 : mxl_check_axis(infer->op, p->axis, x->ndim);

    if (!all && axis < 0)
        return -1;
    if (x->dtype == MXL_BOOL)
        return mxl_error("%s: takes numbers, got bool", infer->op->name);
    if (axis < 0 ? x->size == 0 : x->shape[axis] == 0)
        return mxl_error("%s: nothing to search in an array of shape %s", infer->op->name,
                         MXL_SHAPE_OF(x));
    out->ndim = 0;
    for (int i = 0; i < x->ndim; i++) {
        if (axis >= 0 && i != axis)
            out->dim[out->ndim++] = x->shape[i];
        else if (p->keepdims)
            out->dim[out->ndim++] = 1;
    }
    infer->out_dtype[0] = MXL_I64;
    return 0;
}

/* The search of `_mxl_argmax` or `_mxl_argmin`, which has these parameters, into this shape. */
static int arg_compute(const mxl_call *call)
{
    np_arg_params params = *(const np_arg_params *)call->params;
    mxl_call search = *call;

    if (searches_all(&params, call->in[0]->ndim))
        params.axis = MXL_NONE;
    search.params = &params;
    search.op = mxl_np_of(call);
    return search.op->compute(&search);
}

#define ARG(id, which)                                                                             \
    static const mxl_np_op op_arg##id = {                                                          \
        .op = {.name = MXL_NUMPY("_npi_arg" #id),                                                  \
               .doc = "Index of the " which " element along an axis, as int64; of equal ones the " \
                      "first.",                                                                    \
               MXL_PARAMS_OF(np_arg_params,                                                        \
                             MXL_PARAM(np_arg_params, axis, MXL_P_OPT_INT, "None",                 \
                                       "The axis to search along; None: the flattened array."),    \
                             MXL_PARAM(np_arg_params, keepdims, MXL_P_BOOL, "0",                   \
                                       "Whether the axis stays, with extent 1.")),                 \
               .infer = arg_infer,                                                                 \
               .dtypes = ">l",                                                                     \
               .compute = arg_compute,                                                             \
               .u64 = MXL_U64_COMPARED,                                                            \
               .grad = mxl_grad_zero},                                                             \
        .of = &mxl_op_arg##id##_int64,                                                             \
    }

ARG(max, "largest");
ARG(min, "smallest");

const mxl_op *const mxl_ops_np_reductions[] = {
    &mxl_op_np_sum.op,
    &mxl_op_np_prod.op,
    &mxl_op_np_mean.op,
    &mxl_op_np_max.op,
    &mxl_op_np_min.op,
    &op_var,
    &op_std,
    &op_all,
    &op_any,
    &op_argmax.op,
    &op_argmin.op,
    NULL,
};
