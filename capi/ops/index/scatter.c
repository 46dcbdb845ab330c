/* _mxl_gather, _mxl_put_along, _mxl_scatter and _mxl_scatter_add: elements along one axis of an
 * array, at indices whose other axes may be shorter than the array's. The gradient of each is
 * another one. */
#include <stddef.h>

#include "kernel/copy/strided_copy.h"
#include "kernel/index/scatter.h"
#include "ops/index/take.h"
#include "ops/shape/movement.h"

typedef struct scatter_params {
    int64_t axis;
    mxl_tuple shape; /* _mxl_put_along */
} scatter_params;

static const mxl_input gather_inputs[] = {
    MXL_INPUT(data, "The array to read from."),
    MXL_INPUT(indices, "int64 positions along the axis."),
    {0},
};

static const mxl_input scatter_inputs[] = {
    MXL_INPUT(data, "The array to write into."),
    MXL_INPUT(indices, "int64 positions along the axis."),
    MXL_INPUT(source,
              "The elements to write: at least as many along each axis as there are indices."),
    {0},
};

#define AXIS                                                                                       \
    MXL_PARAM(scatter_params, axis, MXL_P_INT, MXL_REQUIRED, "The axis, counted from either end.")

static const mxl_param scatter_table[] = {AXIS, {0}};
static const mxl_param put_table[] = {
    AXIS,
    MXL_PARAM(scatter_params, shape, MXL_P_SHAPE, MXL_REQUIRED, "Shape of the result."),
    {0},
};

/* ---- shapes and indices ---- */

/* Checks that an array of this shape has as many dimensions as the indices, and at least their size
 * in each but `free`. */
static int check_room(const mxl_infer *infer, int ndim, const int64_t *shape, int free)
{
    const mxl_array *indices = infer->in[1];
    bool fits = ndim == indices->ndim;

    for (int i = 0; fits && i < ndim; i++)
        fits = i == free || indices->shape[i] <= shape[i];
    if (fits)
        return 0;
    return mxl_error("%s: indices of shape %s do not fit an array of shape %s", infer->op->name,
                     MXL_SHAPE_OF(indices), MXL_SHAPE_TEXT(ndim, shape));
}

/* Checks the axis and the indices against an array of this shape. */
static int check_indices(const mxl_infer *infer, int ndim, const int64_t *shape)
{
    int axis = mxl_shape_axis(((const scatter_params *)infer->params)->axis, ndim);

    if (axis < 0)
        return mxl_error_prefix(infer->op->name);
    if (infer->in[1]->dtype != MXL_I64)
        return mxl_error("%s: indices must be int64, got %s", infer->op->name,
                         mxl_dtype_name(infer->in[1]->dtype));
    return check_room(infer, ndim, shape, axis);
}

static int gather_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0], *indices = infer->in[1];

    infer->out_dtype[0] = x->dtype;
    mxl_shape_set(&infer->out_shape[0], indices->ndim, indices->shape);
    return check_indices(infer, x->ndim, x->shape);
}

static int put_along_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0];
    mxl_tuple shape = ((const scatter_params *)infer->params)->shape;

    if (mxl_infer_to(infer, shape) != 0 || check_indices(infer, shape.n, shape.v) != 0)
        return -1;
    return check_room(infer, x->ndim, x->shape, -1);
}

static int scatter_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0], *source = infer->in[2];

    if (check_indices(infer, x->ndim, x->shape) != 0 ||
        check_room(infer, source->ndim, source->shape, -1) != 0 ||
        mxl_check_dtypes(infer->op, x, source) != 0)
        return -1;
    return mxl_infer_like_first(infer);
}

/* The elements of `array` that a call's indices select. -1 with the error set if one is out of
 * bounds. */
static int find_elements(const mxl_call *call, const mxl_array *array, const mxl_array *source,
                         mxl_scatter *at)
{
    const mxl_array *indices = call->in[1];
    int axis = mxl_shape_axis(((const scatter_params *)call->params)->axis, array->ndim);

    *at = (mxl_scatter){.ndim = indices->ndim,
                        .axis = axis,
                        .shape = indices->shape,
                        .index = mxl_array_read(indices),
                        .strides = array->strides,
                        .source_strides = source->strides};
    for (int64_t i = 0; i < indices->size; i++) {
        if (at->index[i] < 0 || at->index[i] >= array->shape[axis])
            return mxl_error("%s: index %lld is not in an axis of %lld", call->op->name,
                             (long long)at->index[i], (long long)array->shape[axis]);
    }
    return 0;
}

static int gather_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0];
    mxl_scatter at;

    if (find_elements(call, x, call->out[0], &at) != 0)
        return -1;
    mxl_scatter_read(mxl_dtype_size(x->dtype), &at, mxl_array_read(x),
                     mxl_array_write(call->out[0]));
    return 0;
}

static int put_along_compute(const mxl_call *call)
{
    mxl_array *out = call->out[0];
    uint64_t zero = 0;
    mxl_scatter at;

    if (find_elements(call, out, call->in[0], &at) != 0)
        return -1;
    mxl_fill(mxl_dtype_size(out->dtype), mxl_array_write(out), &zero, out->size);
    mxl_scatter_sum(out->dtype, &at, mxl_array_write(out), mxl_array_read(call->in[0]));
    return 0;
}

static int scatter_into(const mxl_call *call, bool adds)
{
    const mxl_array *x = call->in[0], *source = call->in[2];
    void *to = mxl_array_write(call->out[0]);
    size_t width = mxl_dtype_size(x->dtype);
    mxl_scatter at;

    if (find_elements(call, x, source, &at) != 0)
        return -1;
    mxl_copy_bytes(to, mxl_array_read(x), (size_t)x->size * width);
    if (adds)
        mxl_scatter_sum(x->dtype, &at, to, mxl_array_read(source));
    else
        mxl_scatter_write(width, &at, to, mxl_array_read(source));
    return 0;
}

static int scatter_compute(const mxl_call *call)
{
    return scatter_into(call, false);
}

static int scatter_add_compute(const mxl_call *call)
{
    return scatter_into(call, true);
}

/* ---- gradients ---- */

static const mxl_op op_gather, op_put_along, op_scatter;

mxl_array *mxl_put_along(mxl_scope *s, mxl_array *a, mxl_array *indices, int64_t axis, int ndim,
                         const int64_t *shape)
{
    scatter_params p = {axis, {ndim, shape}};

    return mxl_scope_call(s, &op_put_along, &p, 2, (mxl_array *[]){a, indices});
}

mxl_array *mxl_gather_along(mxl_scope *s, mxl_array *a, mxl_array *indices, int64_t axis)
{
    return mxl_scope_call(s, &op_gather, &(scatter_params){.axis = axis}, 2,
                          (mxl_array *[]){a, indices});
}

/* grad_output at the indices */
static mxl_array *gathered(mxl_grad *g)
{
    return mxl_scope_call(g->s, &op_gather, g->params, 2,
                          (mxl_array *[]){g->grad_output[0], mxl_grad_in(g, 1)});
}

/* Zeros of a shape with an array at the first positions of each axis. */
static mxl_array *in_corner(mxl_grad *g, mxl_array *x, const mxl_meta *whole)
{
    int64_t strides[MXL_MAX_NDIM];
    mxl_strided_params part = {.zeros = {whole->ndim, whole->shape}};

    if (x == NULL || mxl_shape_same(x->ndim, x->shape, whole->ndim, whole->shape))
        return x;
    mxl_shape_strides(whole->ndim, whole->shape, strides);
    part.shape = (mxl_tuple){x->ndim, x->shape};
    part.strides = (mxl_tuple){x->ndim, strides};
    return mxl_zeros_put(g->s, x, &part);
}

/* dx = zeros with dy added at the indices */
static int gather_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);

    if (!mxl_grad_wants(g, 0))
        return 0;
    return mxl_grad_set(g, 0,
                        mxl_put_along(g->s, g->grad_output[0], mxl_grad_in(g, 1),
                                      ((const scatter_params *)g->params)->axis, x->ndim,
                                      x->shape));
}

/* Sets d(input i) = dy at the indices, even for an element that a later one overwrote, as in
 * PyTorch; zeros for elements without an index. */
static int source_grad(mxl_grad *g, int i)
{
    if (!mxl_grad_wants(g, i))
        return 0;
    return mxl_grad_set(g, i, in_corner(g, gathered(g), mxl_grad_in_meta(g, i)));
}

static int put_along_grad(mxl_grad *g)
{
    return source_grad(g, 0);
}

/* ddata = dy with zeros at the indices */
static int scatter_grad(mxl_grad *g)
{
    mxl_array *inputs[3] = {g->grad_output[0]};

    if (mxl_grad_wants(g, 0)) {
        inputs[1] = mxl_grad_in(g, 1);
        inputs[2] = mxl_cast(g->s, mxl_zeros_like(g->s, inputs[1]), mxl_grad_in_meta(g, 0)->dtype);
        if (mxl_grad_set(g, 0, mxl_scope_call(g->s, &op_scatter, g->params, 3, inputs)) != 0)
            return -1;
    }
    return source_grad(g, 2);
}

/* ddata = dy */
static int scatter_add_grad(mxl_grad *g)
{
    return mxl_grad_set(g, 0, g->grad_output[0]) != 0 ? -1 : source_grad(g, 2);
}

/* The operator op_ID, _mxl_ID. After the table of parameters and the inputs comes `shapes`, its
 * infer. */
#define ALONG(id, table, op_inputs, shapes, op_doc)                                                \
    static const mxl_op op_##id = {                                                                \
        .name = "_mxl_" #id,                                                                       \
        .doc = op_doc,                                                                             \
        .inputs = op_inputs,                                                                       \
        MXL_PARAMS(scatter_params, table),                                                         \
        .infer = shapes,                                                                           \
        .dtypes = "AlA>A",                                                                         \
        .compute = id##_compute,                                                                   \
        .u64 = MXL_U64_WRAPS,                                                                      \
        .grad = id##_grad,                                                                         \
        .along = true,                                                                             \
        .saves = mxl_saves_second,                                                                 \
    }

ALONG(
    gather, scatter_table, gather_inputs, gather_infer,
    "The elements at the indices along an axis; the other axes of the indices may be shorter than "
    "those of data.");
ALONG(put_along, put_table, gather_inputs, put_along_infer,
      "Zeros of a shape with data added at the indices along an axis.");
ALONG(scatter, scatter_table, scatter_inputs, scatter_infer,
      "data with source written at the indices along an axis; of indices that repeat the last one "
      "stays.");
ALONG(scatter_add, scatter_table, scatter_inputs, scatter_infer,
      "data with source added at the indices along an axis.");

const mxl_op *const mxl_ops_scatter[] = {&op_gather, &op_put_along, &op_scatter, &op_scatter_add,
                                         NULL};
