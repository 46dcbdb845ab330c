/* _mxl_gather, _mxl_scatter and _mxl_scatter_add: elements along one axis of an array, at indices
 * whose other axes may be shorter than the array's. The gradient of each is another one. */
#include <stddef.h>

#include "array/copy.h"
#include "kernel/copy/strided_copy.h"
#include "kernel/index/scatter.h"
#include "ops/shape/movement.h"

typedef struct scatter_params {
    int64_t axis;
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

static const mxl_param scatter_table[] = {
    MXL_PARAM(scatter_params, axis, MXL_P_INT, MXL_REQUIRED, "The axis, counted from either end."),
    {0},
};

/* ---- shapes and indices ---- */

/* Checks that `array` has as many dimensions as the indices, and at least their size in each but
 * `free`. */
static int check_room(const mxl_infer *infer, const mxl_array *array, int free)
{
    const mxl_array *indices = infer->in[1];
    bool fits = array->ndim == indices->ndim;
    char a[128], b[128];

    for (int i = 0; fits && i < array->ndim; i++)
        fits = i == free || indices->shape[i] <= array->shape[i];
    if (fits)
        return 0;
    return mxl_error("%s: indices of shape %s do not fit an array of shape %s", infer->op->name,
                     mxl_shape_text(a, sizeof(a), indices->ndim, indices->shape),
                     mxl_shape_text(b, sizeof(b), array->ndim, array->shape));
}

static int gather_infer(mxl_infer *infer)
{
    const scatter_params *p = infer->params;
    const mxl_array *x = infer->in[0], *indices = infer->in[1];
    int axis = mxl_shape_axis(p->axis, x->ndim);

    if (axis < 0)
        return mxl_error_prefix(infer->op->name);
    if (indices->dtype != MXL_I64)
        return mxl_error("%s: indices must be int64, got %s", infer->op->name,
                         mxl_dtype_name(indices->dtype));
    if (check_room(infer, x, axis) != 0)
        return -1;
    mxl_shape_set(&infer->out_shape[0], indices->ndim, indices->shape);
    infer->out_dtype[0] = x->dtype;
    return 0;
}

static int scatter_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0], *source = infer->in[2];

    if (gather_infer(infer) != 0 || check_room(infer, source, -1) != 0)
        return -1;
    if (mxl_check_dtypes(infer->op, x, source) != 0)
        return -1;
    return mxl_infer_like_first(infer);
}

/* The elements that a call's indices select. -1 with the error set if one is out of bounds. */
static int find_elements(const mxl_call *call, const mxl_array *source, mxl_scatter *at)
{
    const mxl_array *x = call->in[0], *indices = call->in[1];
    int axis = mxl_shape_axis(((const scatter_params *)call->params)->axis, x->ndim);

    *at = (mxl_scatter){.ndim = indices->ndim,
                        .axis = axis,
                        .shape = indices->shape,
                        .index = mxl_array_read(indices),
                        .strides = x->strides,
                        .source_strides = source->strides};
    for (int64_t i = 0; i < indices->size; i++) {
        if (at->index[i] < 0 || at->index[i] >= x->shape[axis])
            return mxl_error("%s: index %lld is not in an axis of %lld", call->op->name,
                             (long long)at->index[i], (long long)x->shape[axis]);
    }
    return 0;
}

static int gather_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0];
    mxl_scatter at;

    if (find_elements(call, call->out[0], &at) != 0)
        return -1;
    if (call->out[0]->size > 0)
        mxl_scatter_read(mxl_dtype_size(x->dtype), &at, mxl_array_read(x),
                         mxl_array_write(call->out[0]));
    return 0;
}

static int scatter_into(const mxl_call *call, bool adds)
{
    const mxl_array *x = call->in[0], *source = call->in[2];
    void *to = mxl_array_write(call->out[0]);
    size_t width = mxl_dtype_size(x->dtype);
    mxl_scatter at;

    if (find_elements(call, source, &at) != 0)
        return -1;
    mxl_copy_bytes(to, mxl_array_read(x), (size_t)x->size * width);
    if (call->in[1]->size == 0)
        return 0;
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

static const mxl_op op_gather, op_scatter, op_scatter_add;

static mxl_array *at_indices(mxl_grad *g, const mxl_op *op, mxl_array *x, mxl_array *source)
{
    mxl_array *inputs[3] = {x, mxl_grad_in(g, 1), source};

    return mxl_scope_call(g->s, op, g->params, source == NULL ? 2 : 3, inputs);
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

/* Zeros of the shape and dtype of input 0. */
static mxl_array *zeros_of_input(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    mxl_array *zeros = mxl_scope_own(g->s, mxl_array_new(x->dtype, x->ndim, x->shape));
    uint64_t zero = 0;

    if (zeros != NULL)
        mxl_fill(mxl_dtype_size(x->dtype), mxl_array_write(zeros), &zero, zeros->size);
    return zeros;
}

/* dx = zeros with dy added at the indices */
static int gather_grad(mxl_grad *g)
{
    if (!mxl_grad_wants(g, 0))
        return 0;
    return mxl_grad_set(g, 0, at_indices(g, &op_scatter_add, zeros_of_input(g), g->grad_output[0]));
}

/* dsource = dy at the indices, even for an element that a later one overwrote, as in PyTorch; zeros
 * for elements without an index */
static int source_grad(mxl_grad *g)
{
    mxl_array *there;

    if (!mxl_grad_wants(g, 2))
        return 0;
    there = at_indices(g, &op_gather, g->grad_output[0], NULL);
    return mxl_grad_set(g, 2, in_corner(g, there, mxl_grad_in_meta(g, 2)));
}

/* ddata = dy with zeros at the indices */
static int scatter_grad(mxl_grad *g)
{
    mxl_array *zeros;

    if (mxl_grad_wants(g, 0)) {
        zeros =
            mxl_cast(g->s, mxl_zeros_like(g->s, mxl_grad_in(g, 1)), mxl_grad_in_meta(g, 0)->dtype);
        if (mxl_grad_set(g, 0, at_indices(g, &op_scatter, g->grad_output[0], zeros)) != 0)
            return -1;
    }
    return source_grad(g);
}

/* ddata = dy */
static int scatter_add_grad(mxl_grad *g)
{
    return mxl_grad_set(g, 0, g->grad_output[0]) != 0 ? -1 : source_grad(g);
}

static const mxl_op op_gather = {
    .name = "_mxl_gather",
    .doc = "The elements at the indices along an axis; the other axes of the indices may be "
           "shorter than those of data.",
    .inputs = gather_inputs,
    MXL_PARAMS(scatter_params, scatter_table),
    .infer = gather_infer,
    .compute = gather_compute,
    .grad = gather_grad,
    .saves = mxl_saves_second,
};

#define SCATTER(symbol, op_name, op_doc, op_compute, op_grad)                                      \
    static const mxl_op symbol = {                                                                 \
        .name = op_name,                                                                           \
        .doc = op_doc,                                                                             \
        .inputs = scatter_inputs,                                                                  \
        MXL_PARAMS(scatter_params, scatter_table),                                                 \
        .infer = scatter_infer,                                                                    \
        .compute = op_compute,                                                                     \
        .grad = op_grad,                                                                           \
        .saves = mxl_saves_second,                                                                 \
    }

SCATTER(op_scatter, "_mxl_scatter",
        "data with source written at the indices along an axis; of indices that repeat "
        "the last one stays.",
        scatter_compute, scatter_grad);
SCATTER(op_scatter_add, "_mxl_scatter_add", "data with source added at the indices along an axis.",
        scatter_add_compute, scatter_add_grad);

const mxl_op *const mxl_ops_scatter[] = {&op_gather, &op_scatter, &op_scatter_add, NULL};
