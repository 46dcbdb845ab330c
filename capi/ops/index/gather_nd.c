/* Elements selected by indices along several axes: gather_nd, scatter_nd, _scatter_set_nd, and the
 * gradients of the first two. A column of the indices selects one position. */
#include "ops/index/take.h"

#include <stddef.h>

#include "array/copy.h"
#include "base/memory/mem.h"
#include "kernel/copy/strided_copy.h"
#include "kernel/index/gather.h"
#include "kernel/index/index_offsets.h"

/* Of operators that make an array of a given shape. */
typedef struct gather_nd_params {
    mxl_tuple shape;
} gather_nd_params;

static const mxl_input gather_inputs[] = {
    MXL_INPUT(data, "The array that holds the places."),
    MXL_INPUT(
        indices,
        "One row for each of the first axes, of any dtype; negative numbers count from the end."),
    {0},
};

static const mxl_input scatter_inputs[] = {
    MXL_INPUT(data, "The values to write."),
    MXL_INPUT(indices, "One row for each of the first axes of the result, of any dtype; negative "
                       "numbers count from the end."),
    {0},
};

static const mxl_param shape_table[] = {
    MXL_PARAM(gather_nd_params, shape, MXL_P_SHAPE, MXL_REQUIRED, "Shape of the result."),
    {0},
};

/* ---- selected positions ---- */

/* The shape of the selection from an array of this shape: one piece (the axes without a row of
 * indices) for each column of the indices. -1 with the error set. */
static int positions_shape(const char *name, int ndim, const int64_t *shape, const mxl_array *index,
                           mxl_shape *out)
{
    int depth, n = 0;

    if (index->ndim < 2)
        return mxl_error("%s: indices must have two axes or more, a row for each axis they name; "
                         "got %d",
                         name, index->ndim);
    if (index->shape[0] < 0)
        return mxl_error("%s: how many axes the indices name is unknown", name);
    if (index->shape[0] > ndim)
        return mxl_error("%s: indices have %lld rows, the array %d axes", name,
                         (long long)index->shape[0], ndim);
    depth = (int)index->shape[0];
    if (index->ndim - 1 + ndim - depth > MXL_MAX_NDIM)
        return mxl_error("%s: the result would have more than %d axes", name, MXL_MAX_NDIM);
    for (int i = 1; i < index->ndim; i++)
        out->dim[n++] = index->shape[i];
    for (int i = depth; i < ndim; i++)
        out->dim[n++] = shape[i];
    out->ndim = n;
    return 0;
}

/* Checks that `data` has the shape of the selection from an array of this shape. */
static int check_data(const char *name, int ndim, const int64_t *shape, const mxl_array *data,
                      const mxl_array *index)
{
    mxl_shape want;

    if (positions_shape(name, ndim, shape, index, &want) != 0)
        return -1;
    if (mxl_shape_same(data->ndim, data->shape, want.ndim, want.dim))
        return 0;
    return mxl_error("%s: the values must have shape %s for these indices, got %s", name,
                     MXL_SHAPE_TEXT(want.ndim, want.dim), MXL_SHAPE_OF(data));
}

/* The indices as positions of an array, checked against its bounds. */
typedef struct places {
    int64_t count; /* columns of the indices */
    int64_t total; /* positions of the array */
    int64_t inner; /* elements at each position */
    int64_t *at;
} places;

static int gather_begin(places *p, const char *name, const mxl_array *array, const mxl_array *index)
{
    int depth = (int)index->shape[0];

    p->count = mxl_shape_size(index->ndim - 1, index->shape + 1);
    p->total = mxl_shape_size(depth, array->shape);
    p->inner = mxl_shape_size(array->ndim - depth, array->shape + depth);
    p->at = mxl_alloc((size_t)p->count * sizeof(*p->at));
    if (p->at == NULL)
        return mxl_error_prefix(name);
    if (mxl_index_offsets(index->dtype, mxl_array_read(index), depth, p->count, array->shape,
                          p->at) == 0)
        return 0;
    mxl_free(p->at, (size_t)p->count * sizeof(*p->at));
    return mxl_error_prefix(name);
}

static void gather_end(places *p)
{
    mxl_free(p->at, (size_t)p->count * sizeof(*p->at));
}

/* ---- vjps ---- */

/* All vjps read only the indices, the last input. */
static void saves_indices(mxl_saves *saves)
{
    const int last = saves->num_inputs - 1;

    saves->in[last] = saves->wants[0] || (last == 2 && saves->wants[1]);
}

/* Applies the operator to grad_output and the indices, for an array of the shape of input 0. */
static mxl_array *moved(mxl_grad *g, const mxl_op *op)
{
    const mxl_meta *meta = mxl_grad_in_meta(g, 0);
    gather_nd_params p = {{meta->ndim, meta->shape}};
    mxl_array *inputs[2] = {g->grad_output[0], mxl_grad_in(g, g->num_inputs - 1)};

    return mxl_scope_call(g->s, op, &p, 2, inputs);
}

static const mxl_op op_gather_nd, op_scatter_nd, op_scatter_nd_add, op_gather_nd_last;

/* The vjp is another one of the four operators: of gather_nd scatter_nd_add, of scatter_nd
 * gather_nd_last (an element that is overwritten has no gradient), and the reverse. */
static int moved_grad(mxl_grad *g)
{
    const mxl_op *op = g->op == &op_gather_nd        ? &op_scatter_nd_add
                       : g->op == &op_scatter_nd_add ? &op_gather_nd
                       : g->op == &op_scatter_nd     ? &op_gather_nd_last
                                                     : &op_scatter_nd;

    return mxl_grad_wants(g, 0) ? mxl_grad_set(g, 0, moved(g, op)) : 0;
}

/* The operator op_ID. After its name come infer and compute, documentation, then the other fields
 * by their names. */
#define MOVED(id, op_name, op_inputs, op_infer, op_compute, ...)                                   \
    static const mxl_op op_##id = {                                                                \
        .name = op_name,                                                                           \
        .inputs = op_inputs,                                                                       \
        .infer = op_infer,                                                                         \
        .compute = op_compute,                                                                     \
        .u64 = MXL_U64_INDEXED,                                                                    \
        .grad = moved_grad,                                                                        \
        .saves = saves_indices,                                                                    \
        .doc = __VA_ARGS__,                                                                        \
    }

/* ---- gather_nd ---- */

static int gather_infer(mxl_infer *infer)
{
    const mxl_array *data = infer->in[0];

    infer->out_dtype[0] = data->dtype;
    return positions_shape(infer->op->name, data->ndim, data->shape, infer->in[1],
                           &infer->out_shape[0]);
}

static int gather_compute(const mxl_call *call)
{
    const mxl_array *data = call->in[0];
    places p;

    if (gather_begin(&p, call->op->name, data, call->in[1]) != 0)
        return -1;
    mxl_take(1, p.total, p.inner * (int64_t)mxl_dtype_size(data->dtype), mxl_array_read(data),
             p.count, p.at, mxl_array_write(call->out[0]));
    gather_end(&p);
    return 0;
}

MOVED(gather_nd, "gather_nd", gather_inputs, gather_infer, gather_compute,
      "The elements at the positions that the indices select: out[j...] = data[indices[0][j...], "
      "indices[1][j...], ...].",
      .aliases = MXL_ALIASES("_npi_gather_nd", "_npx_gather_nd"), .dtypes = "A>A");

static int last_compute(const mxl_call *call)
{
    mxl_array *data = call->in[0], *left;
    places p;
    int status;

    if (gather_begin(&p, call->op->name, data, call->in[1]) != 0)
        return -1;
    left = mxl_array_new(data->dtype, data->ndim, data->shape);
    status = left == NULL ? -1 : mxl_array_copy_into(left, data);
    if (status == 0)
        mxl_index_offsets_pull(p.inner * (int64_t)mxl_dtype_size(data->dtype),
                               mxl_array_write(left), p.count, p.at, mxl_array_write(call->out[0]));
    mxl_array_release(left);
    gather_end(&p);
    return status;
}

MOVED(gather_nd_last, "_mxl_gather_nd_last", gather_inputs, gather_infer, last_compute,
      "The elements at the positions that the indices select; of several indices of one position "
      "all but the last give zero.");

/* ---- scatter_nd ---- */

static int scatter_infer(mxl_infer *infer)
{
    const gather_nd_params *p = infer->params;
    const char *name = infer->op->name;

    if (mxl_infer_to(infer, p->shape) != 0)
        return -1;
    return check_data(name, p->shape.n, p->shape.v, infer->in[0], infer->in[1]);
}

/* Adds `data` to zeros at the positions, or writes it there. */
static int scatter_compute(const mxl_call *call)
{
    const mxl_array *data = call->in[0];
    mxl_array *out = call->out[0];
    size_t width = mxl_dtype_size(out->dtype);
    uint64_t zero = 0;
    int status = 0;
    void *to;
    places p;

    if (gather_begin(&p, call->op->name, out, call->in[1]) != 0)
        return -1;
    to = mxl_array_write(out);
    mxl_fill(width, to, &zero, out->size);
    if (call->op == &op_scatter_nd_add)
        status = mxl_scatter_add(out->dtype, 1, p.total, p.inner, to, p.count, p.at,
                                 mxl_array_read(data));
    else
        mxl_index_offsets_put(p.inner * (int64_t)width, to, p.count, p.at, mxl_array_read(data));
    gather_end(&p);
    return status == 0 ? 0 : mxl_error_prefix(call->op->name);
}

MOVED(scatter_nd, "scatter_nd", scatter_inputs, scatter_infer, scatter_compute,
      "Zeros with data at the positions that the indices select; where two columns select one "
      "position, the last one stays.",
      MXL_PARAMS(gather_nd_params, shape_table), .complete_shapes = mxl_rule_by_parameter,
      .dtypes = "A>A");
MOVED(scatter_nd_add, "_mxl_scatter_nd_add", scatter_inputs, scatter_infer, scatter_compute,
      "Zeros with data added at the positions that the indices select.",
      MXL_PARAMS(gather_nd_params, shape_table));

/* ---- _scatter_set_nd ---- */

static int set_infer(mxl_infer *infer)
{
    const gather_nd_params *p = infer->params;
    const mxl_array *lhs = infer->in[0], *rhs = infer->in[1];
    const char *name = infer->op->name;

    if (mxl_check_dtypes(infer->op, lhs, rhs) != 0)
        return -1;
    if (!mxl_shape_same(lhs->ndim, lhs->shape, p->shape.n, p->shape.v))
        return mxl_error("%s: shape is %s, that of lhs is %s; they must be the same", name,
                         MXL_SHAPE_TEXT(p->shape.n, p->shape.v), MXL_SHAPE_OF(lhs));
    if (check_data(name, lhs->ndim, lhs->shape, rhs, infer->in[2]) != 0)
        return -1;
    return mxl_infer_like_first(infer);
}

/* The output may be lhs, or share memory with rhs (y[[1, 0]] = y). */
static int set_compute(const mxl_call *call)
{
    mxl_array *lhs = call->in[0], *rhs = call->in[1], *out = call->out[0], *copy = NULL;
    int64_t width = (int64_t)mxl_dtype_size(out->dtype);
    places p;

    if (gather_begin(&p, call->op->name, out, call->in[2]) != 0)
        return -1;
    if (rhs->storage == out->storage) {
        copy = mxl_array_new(rhs->dtype, rhs->ndim, rhs->shape);
        if (copy == NULL || mxl_array_copy_into(copy, rhs) != 0) {
            mxl_array_release(copy);
            gather_end(&p);
            return -1;
        }
        rhs = copy;
    }
    if (mxl_array_read(lhs) != mxl_array_read(out))
        mxl_copy_bytes(mxl_array_write(out), mxl_array_read(lhs), (size_t)(lhs->size * width));
    mxl_index_offsets_put(p.inner * width, mxl_array_write(out), p.count, p.at,
                          mxl_array_read(rhs));
    mxl_array_release(copy);
    gather_end(&p);
    return 0;
}

static const mxl_op op_scatter_set_nd;

/* da = dy with zeros at the positions, db = dy there (of several at one position only for the last)
 */
static int set_grad(mxl_grad *g)
{
    mxl_array *there, *inputs[3];

    if (!mxl_grad_wants(g, 0) && !mxl_grad_wants(g, 1))
        return 0;
    there = moved(g, &op_gather_nd_last);
    if (mxl_grad_set(g, 1, there) != 0)
        return -1;
    if (!mxl_grad_wants(g, 0))
        return 0;
    inputs[0] = g->grad_output[0];
    inputs[1] = mxl_zeros_like(g->s, there);
    inputs[2] = mxl_grad_in(g, 2);
    return mxl_grad_set(g, 0, mxl_scope_call(g->s, &op_scatter_set_nd, g->params, 3, inputs));
}

static const mxl_op op_scatter_set_nd = {
    .name = "_scatter_set_nd",
    .aliases = MXL_ALIASES("_npi_scatter_set_nd"),
    .doc = "lhs with rhs at the positions that the indices select; where two columns select one "
           "position, the last one stays.",
    MXL_INPUTS(
        MXL_INPUT(lhs, "The array to copy."),
        MXL_INPUT(rhs, "The values to write, of the same dtype."),
        MXL_INPUT(indices,
                  "One row for each of the first axes of lhs, of any dtype; negative numbers "
                  "count from the end.")),
    MXL_PARAMS(gather_nd_params, shape_table),
    .infer = set_infer,
    .shapes = "A..>A",
    .complete_shapes = mxl_rule_by_parameter,
    .dtypes = "AA.>A",
    .compute = set_compute,
    .u64 = MXL_U64_INDEXED,
    .grad = set_grad,
    .saves = saves_indices,
    .in_place = true,
};

mxl_array *mxl_scatter_set(mxl_scope *s, mxl_array *lhs, mxl_array *rhs, mxl_array *indices)
{
    mxl_array *inputs[3] = {lhs, rhs, indices};
    gather_nd_params p;

    if (lhs == NULL)
        return NULL;
    p.shape = (mxl_tuple){lhs->ndim, lhs->shape};
    return mxl_scope_call(s, &op_scatter_set_nd, &p, 3, inputs);
}

const mxl_op *const mxl_ops_gather_nd[] = {
    &op_gather_nd, &op_gather_nd_last, &op_scatter_nd, &op_scatter_nd_add, &op_scatter_set_nd, NULL,
};
