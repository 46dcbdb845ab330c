/* Positions and sums along an axis that PyTorch and NumPy have functions of: _mxl_searchsorted,
 * _mxl_isin, _mxl_mode, _mxl_running_place, _mxl_logcumsumexp. But for the last they have no
 * gradients: a front end takes the elements at the positions. */
#include "kernel/sort/ranks.h"

#include <math.h>
#include <stddef.h>

#include "array/copy.h"
#include "base/memory/mem.h"
#include "kernel/sort/sort.h"
#include "ops/batch/rules.h"
#include "ops/build.h"

/* The keys of an array, for the caller to free with mxl_free, 8 bytes each; NULL with the error
 * set. */
static int64_t *keys_of(const mxl_array *x)
{
    int64_t *keys = mxl_alloc((size_t)(x->size + 1) * sizeof(*keys));

    if (keys != NULL)
        mxl_keys(x->dtype, x->size, mxl_array_read(x), keys);
    return keys;
}

static void free_keys(int64_t *keys, const mxl_array *x)
{
    if (keys != NULL)
        mxl_free(keys, (size_t)(x->size + 1) * sizeof(*keys));
}

/* ---- searchsorted ---- */

typedef struct search_params {
    int right, nan_below;
} search_params;

static int search_infer(mxl_infer *infer)
{
    const mxl_array *rows = infer->in[0], *values = infer->in[1];

    if (mxl_check_dtypes(infer->op, rows, values) != 0)
        return -1;
    if (rows->ndim == 0)
        return mxl_error("%s: rows have an axis at least, got none", infer->op->name);
    if (rows->ndim > 1 && (values->ndim == 0 || !mxl_shape_same(rows->ndim - 1, rows->shape,
                                                                values->ndim - 1, values->shape)))
        return mxl_error("%s: rows of shape %s are not those of values of shape %s",
                         infer->op->name, MXL_SHAPE_OF(rows), MXL_SHAPE_OF(values));
    return mxl_infer_set(infer, MXL_I64, values->ndim, values->shape);
}

static int search_compute(const mxl_call *call)
{
    const mxl_array *rows = call->in[0], *values = call->in[1];
    const search_params *p = call->params;
    bool nan_below = p->nan_below && mxl_dtype_is_float(rows->dtype);
    int64_t n = rows->shape[rows->ndim - 1], *out = mxl_array_write(call->out[0]);
    int64_t per_row = rows->ndim == 1 ? values->size : values->shape[values->ndim - 1];
    int64_t *row_keys = keys_of(rows), *keys = row_keys == NULL ? NULL : keys_of(values);

    for (int64_t i = 0; nan_below && row_keys != NULL && i < rows->size; i++)
        if (row_keys[i] == MXL_KEY_NAN)
            row_keys[i] = INT64_MIN;
    for (int64_t i = 0; keys != NULL && i < values->size; i++)
        out[i] = nan_below && keys[i] == MXL_KEY_NAN
                     ? n
                     : mxl_keys_below(n, row_keys + i / per_row * n, keys[i], p->right);
    free_keys(row_keys, rows);
    free_keys(keys, values);
    return keys == NULL ? -1 : 0;
}

static const mxl_op op_searchsorted = {
    .name = "_mxl_searchsorted",
    .doc = "How many elements of a sorted row are below each value, as int64. NaN counts as larger "
           "than every number.",
    MXL_INPUTS(MXL_INPUT(rows, "One row for all values, or rows along the last axis, in order."),
               MXL_INPUT(values, "Values of the same dtype, beside rows of as many axes.")),
    MXL_PARAMS_OF(search_params,
                  MXL_PARAM(search_params, right, MXL_P_BOOL, "0",
                            "Whether elements that are equal count too."),
                  MXL_PARAM(search_params, nan_below, MXL_P_BOOL, "0",
                            "Whether PyTorch's rule holds: a NaN of the rows counts for every "
                            "value, and a value that is NaN is behind all.")),
    .infer = search_infer,
    .dtypes = "AA>l",
    .compute = search_compute,
    .u64 = MXL_U64_COMPARED,
    MXL_BATCH(mxl_vmap_searchsorted),
};

/* ---- isin ---- */

static int isin_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0];

    if (mxl_check_dtypes(infer->op, x, infer->in[1]) != 0)
        return -1;
    return mxl_infer_set(infer, MXL_BOOL, x->ndim, x->shape);
}

static int isin_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0], *tests = call->in[1];
    bool floats = mxl_dtype_is_float(x->dtype), *out = mxl_array_write(call->out[0]);
    int64_t n = tests->size, *sorted = NULL;
    int64_t *test_keys = keys_of(tests), *keys = test_keys == NULL ? NULL : keys_of(x);
    int status = -1;

    if (keys != NULL)
        sorted = mxl_alloc((size_t)(n + 1) * sizeof(*sorted));
    if (sorted == NULL || mxl_sort(&(mxl_sort_job){.dtype = MXL_I64,
                                                   .outer = 1,
                                                   .n = n,
                                                   .inner = 1,
                                                   .k = n,
                                                   .in = test_keys,
                                                   .values = sorted}) != 0)
        goto done;
    for (int64_t i = 0; i < x->size; i++) {
        int64_t at = mxl_keys_below(n, sorted, keys[i], false);

        out[i] = at < n && sorted[at] == keys[i] && !(floats && keys[i] == MXL_KEY_NAN);
    }
    status = 0;
done:
    free_keys(sorted, tests);
    free_keys(test_keys, tests);
    free_keys(keys, x);
    return status;
}

static const mxl_op op_isin = {
    .name = "_mxl_isin",
    .doc = "Whether each element is among others, as bool. A NaN is not.",
    MXL_INPUTS(MXL_INPUT(data, "The elements."),
               MXL_INPUT(others, "The others, of the same dtype and any shape.")),
    .infer = isin_infer,
    .dtypes = "AA>b",
    .compute = isin_compute,
    .u64 = MXL_U64_COMPARED,
    MXL_SHAPES_TABLE("data[*S] others[*M] -> [*S]"),
};

/* ---- mode and running extremes ---- */

typedef struct rank_params {
    int64_t axis;
    int largest;
} rank_params;

#define AXIS MXL_PARAM(rank_params, axis, MXL_P_INT, "-1", "The axis, counted from either end.")

static int check_rank_axis(const mxl_infer *infer, int *axis)
{
    *axis = mxl_shape_axis(((const rank_params *)infer->params)->axis, infer->in[0]->ndim);
    return *axis < 0 ? mxl_error_prefix(infer->op->name) : 0;
}

static int mode_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0];
    int axis;

    if (check_rank_axis(infer, &axis) != 0)
        return -1;
    if (x->shape[axis] == 0)
        return mxl_error("%s: axis %d has no elements", infer->op->name, axis);
    mxl_infer_set(infer, MXL_I64, x->ndim, x->shape);
    infer->out_shape[0].dim[axis] = 1;
    return 0;
}

static int mode_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0];
    mxl_split a = mxl_shape_split(((const rank_params *)call->params)->axis, x->ndim, x->shape);
    bool floats = mxl_dtype_is_float(x->dtype);
    int64_t *out = mxl_array_write(call->out[0]), *keys = keys_of(x), *order = NULL;
    int status = -1;

    if (keys != NULL)
        order = mxl_alloc((size_t)(x->size + 1) * sizeof(*order));
    if (order == NULL || mxl_sort(&(mxl_sort_job){.dtype = MXL_I64,
                                                  .outer = a.outer,
                                                  .n = a.n,
                                                  .inner = a.inner,
                                                  .k = a.n,
                                                  .in = keys,
                                                  .positions = order,
                                                  .position_dtype = MXL_I64}) != 0)
        goto done;
    for (int64_t i = 0; i < a.outer * a.inner; i++) {
        int64_t from = i / a.inner * a.n * a.inner + i % a.inner;

        out[i] = mxl_most_frequent(a.n, keys + from, a.inner, order + from, floats);
    }
    status = 0;
done:
    free_keys(order, x);
    free_keys(keys, x);
    return status;
}

static const mxl_op op_mode = {
    .name = "_mxl_mode",
    .doc = "The index of the most frequent element of each row along an axis, as int64: of several "
           "that of the smallest, where it is last. Every NaN is another element.",
    MXL_PARAMS_OF(rank_params, AXIS),
    .infer = mode_infer,
    .dtypes = "A>l",
    .compute = mode_compute,
    .u64 = MXL_U64_COMPARED,
};

static int running_infer(mxl_infer *infer)
{
    int axis;

    if (check_rank_axis(infer, &axis) != 0)
        return -1;
    return mxl_infer_set(infer, MXL_I64, infer->in[0]->ndim, infer->in[0]->shape);
}

static int running_compute(const mxl_call *call)
{
    const rank_params *p = call->params;
    const mxl_array *x = call->in[0];
    mxl_split a = mxl_shape_split(p->axis, x->ndim, x->shape);
    int64_t *out = mxl_array_write(call->out[0]), *keys = keys_of(x);

    for (int64_t i = 0; keys != NULL && a.n > 0 && i < a.outer * a.inner; i++) {
        int64_t from = i / a.inner * a.n * a.inner + i % a.inner;

        mxl_running_place(a.n, keys + from, a.inner, p->largest, mxl_dtype_is_float(x->dtype),
                          out + from);
    }
    free_keys(keys, x);
    return keys == NULL ? -1 : 0;
}

static const mxl_op op_running_place = {
    .name = "_mxl_running_place",
    .doc =
        "For each element where the smallest, or the largest, of those up to it along an axis is "
        "last, as int64; from a NaN on where the last NaN is.",
    MXL_PARAMS_OF(
        rank_params, AXIS,
        MXL_PARAM(rank_params, largest, MXL_P_BOOL, "0", "Whether the largest is meant.")),
    .infer = running_infer,
    .dtypes = "A>l",
    .compute = running_compute,
    .u64 = MXL_U64_COMPARED,
};

/* ---- logcumsumexp ---- */

static int logcumsumexp_infer(mxl_infer *infer)
{
    int axis;

    return check_rank_axis(infer, &axis) != 0 ? -1 : mxl_infer_float_same(infer);
}

/* log(e^a + e^b) */
static double log_sum(double a, double b)
{
    double most = a > b ? a : b, least = a > b ? b : a;

    if (isnan(a) || isnan(b))
        return a + b;
    return most == least ? most + 0.69314718055994530942 : most + log1p(exp(least - most));
}

static int logcumsumexp_compute(const mxl_call *call)
{
    mxl_array *x = call->in[0], *wide = mxl_array_new(MXL_F64, x->ndim, x->shape);
    mxl_split a = mxl_shape_split(((const rank_params *)call->params)->axis, x->ndim, x->shape);
    double *values;
    int status = -1;

    if (wide == NULL || mxl_array_copy_into(wide, x) != 0)
        goto done;
    values = mxl_array_write(wide);
    for (int64_t i = 0; i < a.outer * a.inner; i++) {
        double *row = values + i / a.inner * a.n * a.inner + i % a.inner;

        for (int64_t k = 1; k < a.n; k++)
            row[k * a.inner] = log_sum(row[(k - 1) * a.inner], row[k * a.inner]);
    }
    status = mxl_array_copy_into(call->out[0], wide);
done:
    mxl_array_release(wide);
    return status;
}

static const mxl_op op_logcumsumexp = {
    .name = "_mxl_logcumsumexp",
    .doc =
        "The logarithm of the sum of exponentials of the elements up to each one, along an axis, "
        "computed in double.",
    MXL_PARAMS_OF(rank_params, AXIS),
    .infer = logcumsumexp_infer,
    .compute = logcumsumexp_compute,
};

const mxl_op *const mxl_ops_ranks[] = {&op_searchsorted,  &op_isin,         &op_mode,
                                       &op_running_place, &op_logcumsumexp, NULL};
