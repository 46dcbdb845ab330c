/* Index arithmetic: ravel_multi_index, unravel_index, _contrib_index_array and
 * _contrib_arange_like. They have no gradient. */
#include <stddef.h>
#include <string.h>

#include "kernel/copy/cast.h"
#include "ops/index/take.h"

enum { RUN = 256 };

typedef struct positions_params {
    mxl_tuple shape; /* ravel, unravel */
    mxl_tuple axes;  /* index_array */
    double start, step;
    int64_t repeat, axis;
    const char *ctx;
} positions_params;

/* ---- ravel and unravel ---- */

static const mxl_param shape_table[] = {
    MXL_PARAM(positions_params, shape, MXL_P_OPT_SHAPE, "None",
              "The shape that is counted in; the first extent does not matter and may be -1.",
              .type_name = "Shape(tuple)"),
    {0},
};

/* Checks the shape; the size of its first dimension is not used. */
static int check_shape(const mxl_infer *infer, mxl_tuple shape)
{
    if (infer->in[0]->dtype == MXL_BOOL)
        return mxl_error("%s: dtype bool is not supported", infer->op->name);
    if (shape.n <= 0)
        return mxl_error("%s: shape is missing", infer->op->name);
    for (int i = 1; i < shape.n; i++) {
        if (shape.v[i] < 0)
            return mxl_error("%s: only the first extent may be open, got shape %s", infer->op->name,
                             MXL_SHAPE_TEXT(shape.n, shape.v));
    }
    return 0;
}

static int ravel_infer(mxl_infer *infer)
{
    const positions_params *p = infer->params;

    return check_shape(infer, p->shape) != 0 ? -1 : mxl_infer_said(infer);
}

/* Row `row` of an array of rows of n elements, from element j. */
static void *row_at(const void *data, int dtype, int64_t row, int64_t n, int64_t j)
{
    return (char *)(uintptr_t)data + (row * n + j) * (int64_t)mxl_dtype_size(dtype);
}

/* number = number * size + index, dimension by dimension, in wrapping int64 */
static int ravel_compute(const mxl_call *call)
{
    const mxl_tuple shape = ((const positions_params *)call->params)->shape;
    const mxl_array *data = call->in[0];
    mxl_array *out = call->out[0];
    int64_t n = out->size, step = 1, index[RUN], place[RUN];
    void *to = mxl_array_write(out);

    for (int64_t j = 0; j < n; j += RUN) {
        int64_t count = n - j < RUN ? n - j : RUN;
        const void *from = place;

        memset(place, 0, sizeof(place));
        for (int axis = 0; axis < shape.n; axis++) {
            const void *row = row_at(mxl_array_read(data), data->dtype, axis, n, j);

            mxl_cast_loop(data->dtype, MXL_I64)(index, &row, &step, count, NULL);
            for (int64_t k = 0; k < count; k++)
                place[k] = place[k] * shape.v[axis] + index[k];
        }
        mxl_cast_loop(MXL_I64, out->dtype)(row_at(to, out->dtype, 0, n, j), &from, &step, count,
                                           NULL);
    }
    return 0;
}

static const mxl_op op_ravel = {
    .name = "_ravel_multi_index",
    .aliases = MXL_ALIASES("ravel_multi_index"),
    .doc = "The place of each column of indices in an array of the shape, counted along the last "
           "axis first. Indices are not held against the extents.",
    MXL_INPUTS(MXL_INPUT(data, "One row of indices for each axis of the shape.")),
    MXL_PARAMS(positions_params, shape_table),
    .infer = ravel_infer,
    MXL_SHAPES_TABLE("data[len(shape),N] -> [N]"),
    .compute = ravel_compute,
    .grad = mxl_grad_zero,
};

static int unravel_infer(mxl_infer *infer)
{
    const positions_params *p = infer->params;
    const mxl_array *data = infer->in[0];

    if (check_shape(infer, p->shape) != 0)
        return -1;
    for (int i = 1; i < p->shape.n; i++) {
        if (p->shape.v[i] == 0 && data->size > 0)
            return mxl_error("%s: shape %s has no elements", infer->op->name,
                             MXL_SHAPE_TEXT(p->shape.n, p->shape.v));
    }
    return mxl_infer_said(infer);
}

/* From the last dimension: index = number mod size, number = number / size, both as in C; the first
 * dimension gets the rest. */
static int unravel_compute(const mxl_call *call)
{
    const mxl_tuple shape = ((const positions_params *)call->params)->shape;
    const mxl_array *data = call->in[0];
    mxl_array *out = call->out[0];
    int64_t n = data->size, step = 1, index[RUN], place[RUN];
    void *to = mxl_array_write(out);

    for (int64_t j = 0; j < n; j += RUN) {
        int64_t count = n - j < RUN ? n - j : RUN;
        const void *from = row_at(mxl_array_read(data), data->dtype, 0, n, j), *row = index;

        mxl_cast_loop(data->dtype, MXL_I64)(place, &from, &step, count, NULL);
        for (int axis = shape.n - 1; axis >= 0; axis--) {
            for (int64_t k = 0; k < count; k++) {
                index[k] = axis == 0 ? place[k] : place[k] % shape.v[axis];
                place[k] = axis == 0 ? 0 : place[k] / shape.v[axis];
            }
            mxl_cast_loop(MXL_I64, out->dtype)(row_at(to, out->dtype, axis, n, j), &row, &step,
                                               count, NULL);
        }
    }
    return 0;
}

static const mxl_op op_unravel = {
    .name = "_unravel_index",
    .aliases = MXL_ALIASES("unravel_index"),
    .doc = "The indices along each axis of each place in an array of the shape, as a new first "
           "axis. What lies beyond the array goes on along the first axis.",
    MXL_INPUTS(MXL_INPUT(data, "Places, counted along the last axis first.")),
    MXL_PARAMS(positions_params, shape_table),
    .infer = unravel_infer,
    MXL_SHAPES_TABLE("data[*S] -> [len(shape),*S]"),
    .compute = unravel_compute,
    .grad = mxl_grad_zero,
};

/* ---- _contrib_index_array ---- */

static int index_array_infer(mxl_infer *infer)
{
    const positions_params *p = infer->params;
    const mxl_array *data = infer->in[0];

    for (int i = 0; i < p->axes.n; i++) {
        if (mxl_shape_axis(p->axes.v[i], data->ndim) < 0)
            return mxl_error_prefix(infer->op->name);
    }
    mxl_shape_set(&infer->out_shape[0], data->ndim, data->shape);
    infer->out_dtype[0] = MXL_I64;
    return mxl_infer_append(infer, 1, &(int64_t){p->axes.n < 0 ? data->ndim : p->axes.n});
}

static int index_array_compute(const mxl_call *call)
{
    const positions_params *p = call->params;
    const mxl_array *data = call->in[0];
    int64_t *out = mxl_array_write(call->out[0]), count = call->out[0]->shape[data->ndim];
    int64_t at[MXL_MAX_NDIM] = {0};

    for (int64_t i = 0; i < data->size; i++) {
        for (int64_t k = 0; k < count; k++)
            *out++ = at[p->axes.n < 0 ? k : mxl_shape_axis(p->axes.v[k], data->ndim)];
        for (int axis = data->ndim - 1; axis >= 0; axis--) {
            if (++at[axis] < data->shape[axis])
                break;
            at[axis] = 0;
        }
    }
    return 0;
}

static const mxl_op op_index_array = {
    .name = "_contrib_index_array",
    .inputs = mxl_inputs_data,
    .doc = "The position of every element along the axes, as a new last axis: for a matrix "
           "out[i, j] = (i, j).",
    MXL_PARAMS_OF(positions_params,
                  MXL_PARAM(positions_params, axes, MXL_P_OPT_SHAPE, "None",
                            "The axes whose positions are told, in this order; None for all.")),
    .infer = index_array_infer,
    .dtypes = ">l",
    .compute = index_array_compute,
    .grad = mxl_grad_zero,
};

mxl_array *mxl_positions(mxl_scope *s, mxl_array *a)
{
    positions_params p = {.axes = {-1, NULL}};

    return mxl_scope_call(s, &op_index_array, &p, 1, &a);
}

/* ---- _contrib_arange_like ---- */

static int arange_like_infer(mxl_infer *infer)
{
    const positions_params *p = infer->params;
    const mxl_array *data = infer->in[0];
    int axis;

    if (data->dtype == MXL_BOOL)
        return mxl_error("%s: dtype bool is not supported", infer->op->name);
    if (p->repeat < 1)
        return mxl_error("%s: repeat is %lld, it must be positive", infer->op->name,
                         (long long)p->repeat);
    if (p->axis == MXL_NONE)
        return mxl_infer_like_first(infer);
    axis = mxl_shape_axis(p->axis, data->ndim);
    if (axis < 0)
        return mxl_error_prefix(infer->op->name);
    mxl_shape_set(&infer->out_shape[0], 1, data->shape + axis);
    infer->out_dtype[0] = data->dtype;
    return 0;
}

/* start + (i / repeat) step; integers truncate start and step towards zero, and wrap. */
static int arange_like_compute(const mxl_call *call)
{
    const positions_params *p = call->params;
    mxl_array *out = call->out[0];
    bool whole = !mxl_dtype_is_float(out->dtype);
    int64_t start = mxl_i64_from_f64(p->start), step = mxl_i64_from_f64(p->step), one = 1;
    void *data = mxl_array_write(out);

    for (int64_t i = 0; i < out->size; i++) {
        int64_t number = start + i / p->repeat * step;
        double value = p->start + (double)(i / p->repeat) * p->step;
        const void *from = whole ? (const void *)&number : (const void *)&value;

        mxl_cast_loop(whole ? MXL_I64 : MXL_F64, out->dtype)(row_at(data, out->dtype, 0, 0, i),
                                                             &from, &one, 1, NULL);
    }
    return 0;
}

static const mxl_op op_arange_like = {
    .name = "_contrib_arange_like",
    .aliases = MXL_ALIASES("_npx_arange_like"),
    .doc = "Evenly spaced numbers in the shape and dtype of data, or along one of its axes.",
    MXL_PARAMS_OF(
        positions_params,
        MXL_PARAM(positions_params, start, MXL_P_FLOAT, "0", "The first number.",
                  .type_name = "double"),
        MXL_PARAM(positions_params, step, MXL_P_FLOAT, "1", "From one number to the next.",
                  .type_name = "double"),
        MXL_PARAM(positions_params, repeat, MXL_P_INT, "1",
                  "Number of repetitions of each number; 1 or more."),
        MXL_PARAM(positions_params, ctx, MXL_P_STRING, "",
                  "Of no meaning: the result is where data is."),
        MXL_PARAM(positions_params, axis, MXL_P_OPT_INT, "None",
                  "The result is a vector as long as this axis; None: it has the shape of data.")),
    .dtypes = "A>A",
    .infer = arange_like_infer,
    .compute = arange_like_compute,
    .grad = mxl_grad_zero,
};

const mxl_op *const mxl_ops_ravel[] = {
    &op_ravel, &op_unravel, &op_index_array, &op_arange_like, NULL,
};
