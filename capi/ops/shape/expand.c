/* Operators that repeat elements: broadcast_to, broadcast_like, broadcast_axis, tile, repeat. */
#include <stddef.h>

#include "ops/shape/movement.h"

/* ---- _mxl_broadcast_to ---- */

static int cannot_broadcast(const mxl_plan *p, int ndim, const int64_t *shape)
{
    return mxl_error("%s: an array of shape %s cannot be broadcast to %s", p->op->name,
                     MXL_SHAPE_TEXT(p->shape.ndim, p->shape.dim), MXL_SHAPE_TEXT(ndim, shape));
}

/* Broadcasts the walk to a shape with as many dimensions. */
static int broadcast(mxl_plan *p, const int64_t *shape)
{
    for (int i = 0; i < p->shape.ndim; i++) {
        if (mxl_sizes_differ(p->shape.dim[i], shape[i]) && p->shape.dim[i] != 1)
            return cannot_broadcast(p, p->shape.ndim, shape);
    }
    for (int i = 0; i < p->shape.ndim; i++)
        mxl_plan_repeat(p, i, shape[i] < 0 && p->shape.dim[i] > 1 ? p->shape.dim[i] : shape[i]);
    return 0;
}

static int own_check(void *params)
{
    const mxl_tuple *shape = params;

    return mxl_shape_count(shape->n, shape->v) < 0 ? mxl_error_prefix("broadcast_to") : 0;
}

static int own_plan(mxl_plan *p)
{
    const mxl_tuple *shape = p->params;

    if (mxl_shape_check(shape->n, shape->v) != 0)
        return mxl_error_prefix(p->op->name);
    if (shape->n < p->shape.ndim)
        return cannot_broadcast(p, shape->n, shape->v);
    while (p->shape.ndim < shape->n) {
        if (mxl_plan_insert(p, 0, 1) != 0)
            return -1;
    }
    return broadcast(p, shape->v);
}

/* dx = dy summed over the expanded dimensions, by the engine */
const mxl_op mxl_op_broadcast_to = {
    .name = "_mxl_broadcast_to",
    .doc = "The array repeated along its axes of extent 1, and along new leading axes.",
    MXL_ONLY_PARAM(mxl_tuple, shape, MXL_P_SHAPE, MXL_REQUIRED, "Shape of the result."),
    .check = own_check,
    MXL_MOVEMENT_BACK(own_plan, mxl_grad_pass),
};

/* An extent of NumPy's operator that is the array's along the same axis, counted from the end. */
enum { SAME_EXTENT = -2 };

static int np_check(void *params)
{
    const mxl_tuple *shape = params;
    int64_t known[MXL_MAX_NDIM];

    for (int i = 0; i < shape->n && i < MXL_MAX_NDIM; i++)
        known[i] = shape->v[i] == SAME_EXTENT ? 1 : shape->v[i];
    return mxl_shape_count(shape->n, known) < 0 ? mxl_error_prefix("broadcast_to") : 0;
}

static int np_plan(mxl_plan *p)
{
    const mxl_tuple *shape = p->params;
    int64_t to[MXL_MAX_NDIM];
    mxl_tuple resolved = {shape->n, to};
    mxl_plan own = *p;
    int status;

    for (int i = 0; i < shape->n; i++) {
        int from = i - (shape->n - p->shape.ndim);

        to[i] = shape->v[i];
        if (to[i] == SAME_EXTENT && from < 0)
            return mxl_error("%s: axis %d of shape %s is one that the array of %d axes lacks",
                             p->op->name, i, MXL_SHAPE_TEXT(shape->n, shape->v), p->shape.ndim);
        if (to[i] == SAME_EXTENT)
            to[i] = p->shape.dim[from];
    }
    own.params = &resolved;
    status = own_plan(&own);
    own.params = p->params;
    *p = own;
    return status;
}

static const mxl_op op_np_broadcast_to = {
    .name = MXL_NUMPY("_npi_broadcast_to"),
    .doc = "The array repeated along its axes of extent 1, and along new leading axes.",
    MXL_INPUTS(MXL_INPUT(array, "Input array, of any shape.")),
    MXL_ONLY_PARAM(mxl_tuple, shape, MXL_P_SHAPE, "[]",
                   "Shape of the result; -2 keeps an extent of the array."),
    .check = np_check,
    MXL_MOVEMENT_BACK(np_plan, mxl_grad_pass),
};

/* ---- broadcast_to ---- */

static int to_plan(mxl_plan *p)
{
    const mxl_tuple *shape = p->params;
    int64_t to[MXL_MAX_NDIM];

    if (shape->n != p->shape.ndim)
        return mxl_error("broadcast_to: shape has %d axes, the array %d", shape->n, p->shape.ndim);
    for (int i = 0; i < shape->n; i++) {
        if (shape->v[i] < 0)
            return mxl_error("broadcast_to: shape has the negative extent %lld",
                             (long long)shape->v[i]);
        to[i] = shape->v[i] == 0 ? p->shape.dim[i] : shape->v[i];
    }
    return broadcast(p, to);
}

static const mxl_op op_broadcast_to = {
    .name = "broadcast_to",
    .doc = "The array repeated along its axes of extent 1, to the given shape.",
    MXL_ONLY_PARAM(mxl_tuple, shape, MXL_P_SHAPE, "[]",
                   "Shape of the result, of as many axes as the array's; 0 keeps an extent."),
    MXL_MOVEMENT(to_plan),
};

/* ---- broadcast_like ---- */

typedef struct like_params {
    mxl_tuple lhs_axes, rhs_axes;
} like_params;

static int like_axes(mxl_plan *p, const like_params *l)
{
    int64_t to[MXL_MAX_NDIM];

    if (l->lhs_axes.n != l->rhs_axes.n || l->lhs_axes.n == 0)
        return mxl_error(
            "broadcast_like: lhs_axes has %d entries, rhs_axes %d; the numbers must be "
            "equal and at least 1",
            l->lhs_axes.n, l->rhs_axes.n);
    for (int i = 0; i < p->shape.ndim; i++)
        to[i] = p->shape.dim[i];
    for (int i = 0; i < l->lhs_axes.n; i++) {
        int left = mxl_plan_axis(p, l->lhs_axes.v[i]);
        int right = mxl_check_axis(p->op, l->rhs_axes.v[i], p->like_ndim);

        if (left < 0 || right < 0)
            return -1;
        if (p->shape.dim[left] != 1)
            return mxl_error("broadcast_like: axis %d of lhs has extent %lld, not 1", left,
                             (long long)p->shape.dim[left]);
        to[left] = p->like_shape[right];
    }
    return broadcast(p, to);
}

static int like_plan(mxl_plan *p)
{
    const like_params *l = p->params;

    if (l->lhs_axes.n >= 0 && l->rhs_axes.n >= 0)
        return like_axes(p, l);
    if (p->shape.ndim != p->like_ndim)
        return mxl_error("broadcast_like: ranks %d of lhs and %d of rhs differ", p->shape.ndim,
                         p->like_ndim);
    return broadcast(p, p->like_shape);
}

static const mxl_op op_broadcast_like = {
    .name = "broadcast_like",
    .doc = "The array repeated along its axes of extent 1, to the extents of another.",
    MXL_INPUTS(MXL_INPUT(lhs, "The array to repeat."),
               MXL_INPUT(rhs, "The array with the extents; its elements and dtype do not matter.")),
    MXL_PARAMS_OF(like_params,
                  MXL_PARAM(like_params, lhs_axes, MXL_P_OPT_SHAPE, "None",
                            "Axes of lhs to repeat along, each of extent 1; None (for both): all."),
                  MXL_PARAM(like_params, rhs_axes, MXL_P_OPT_SHAPE, "None",
                            "Axes of rhs whose extents they get.")),
    MXL_MOVEMENT(like_plan),
    .dtypes = "A>A",
};

/* ---- broadcast_axis ---- */

typedef struct axis_params {
    mxl_tuple axis, size;
} axis_params;

static int axis_plan(mxl_plan *p)
{
    const axis_params *a = p->params;

    if (a->axis.n != a->size.n)
        return mxl_error("broadcast_axis: axis has %d entries, size %d; the numbers must be equal",
                         a->axis.n, a->size.n);
    for (int i = 0; i < a->axis.n; i++) {
        int64_t axis = a->axis.v[i];

        if (axis < 0 || axis >= p->shape.ndim)
            return mxl_error("broadcast_axis: axis %lld is out of range for an array of %d axes",
                             (long long)axis, p->shape.ndim);
        if (mxl_sizes_differ(p->shape.dim[axis], 1))
            return mxl_error("broadcast_axis: axis %lld has extent %lld, not 1", (long long)axis,
                             (long long)p->shape.dim[axis]);
        if (a->size.v[i] < 0)
            return mxl_error("broadcast_axis: size has the negative extent %lld",
                             (long long)a->size.v[i]);
        mxl_plan_repeat(p, (int)axis, a->size.v[i]);
    }
    return 0;
}

static const mxl_op op_broadcast_axis = {
    .name = "broadcast_axis",
    .aliases = MXL_ALIASES("broadcast_axes"),
    .doc = "The array repeated along the given axes of extent 1.",
    MXL_PARAMS_OF(
        axis_params,
        MXL_PARAM(axis_params, axis, MXL_P_SHAPE, "[]", "Axes to repeat along, each of extent 1."),
        MXL_PARAM(axis_params, size, MXL_P_SHAPE, "[]", "The extents they get, one for each.")),
    MXL_MOVEMENT(axis_plan),
};

/* ---- tile ---- */

/* The number of repetitions along dimension i of the result's ndim. */
static int64_t rep_at(const mxl_tuple *reps, int ndim, int i)
{
    int at = i - (ndim - (reps->n < 0 ? 0 : reps->n));

    return at < 0 ? 1 : reps->v[at];
}

/* The shape of the result: sizes times repetitions, both aligned at the last dimension. */
static int tile_shape(const mxl_plan *p, const mxl_tuple *reps, mxl_shape *out)
{
    int ndim = reps->n > p->shape.ndim ? reps->n : p->shape.ndim;

    if (ndim > MXL_MAX_NDIM)
        return mxl_error("tile: reps has %d entries, at most %d are possible", reps->n,
                         MXL_MAX_NDIM);
    out->ndim = ndim;
    for (int i = 0; i < ndim; i++) {
        int at = i - (ndim - p->shape.ndim);
        int64_t count = rep_at(reps, ndim, i);

        if (count < 0)
            return mxl_error("tile: reps has the negative number %lld", (long long)count);
        if (count == 0 && p->legacy_shape) /* a size of 0 means unknown */
            return mxl_error("tile: reps has a 0 (set_np_shape makes the empty result possible)");
        if (__builtin_mul_overflow(at < 0 ? 1 : p->shape.dim[at], count, &out->dim[i]))
            return mxl_error("tile: the result is too large");
    }
    return 0;
}

static int add_axis(mxl_plan *p, int64_t extent, int64_t stride)
{
    if (extent == 1)
        return 0;
    if (mxl_plan_insert(p, p->shape.ndim, extent) != 0)
        return -1;
    p->strides[p->shape.ndim - 1] = stride;
    return 0;
}

/* Each dimension becomes two: copies, and the elements of one copy. */
static int tile_plan(mxl_plan *p)
{
    const mxl_tuple *reps = p->params;
    int ndim = p->shape.ndim;
    int64_t extents[MXL_MAX_NDIM], strides[MXL_MAX_NDIM];
    mxl_shape out;

    if (tile_shape(p, reps, &out) != 0)
        return -1;
    p->copies = true;
    for (int i = 0; i < ndim; i++) {
        extents[i] = p->shape.dim[i];
        strides[i] = p->strides[i];
    }
    p->shape.ndim = 0;
    for (int i = 0; i < out.ndim; i++) {
        int at = i - (out.ndim - ndim);

        if (add_axis(p, rep_at(reps, out.ndim, i), 0) != 0 ||
            (at >= 0 && add_axis(p, extents[at], strides[at]) != 0))
            return -1;
    }
    mxl_plan_reshape(p, out.ndim, out.dim);
    return 0;
}

static const mxl_op op_tile = {
    .name = "tile",
    .aliases = MXL_ALIASES("_npi_tile"),
    .inputs = mxl_inputs_data,
    .doc = "Copies of the whole array side by side.",
    MXL_ONLY_PARAM(mxl_tuple, reps, MXL_P_SHAPE, MXL_REQUIRED,
                   "Number of repetitions along each axis, aligned at the last one."),
    MXL_MOVEMENT(tile_plan),
};

/* ---- repeat ---- */

typedef struct repeat_params {
    int64_t repeats, axis;
} repeat_params;

/* The axis becomes two: the elements, and copies of each. Without an axis, the last dimension does.
 */
static int repeat_plan(mxl_plan *p)
{
    const repeat_params *r = p->params;
    const int64_t size = mxl_shape_size(p->shape.ndim, p->shape.dim);
    int axis = r->axis == MXL_NONE ? 0 : mxl_plan_axis(p, r->axis);
    mxl_shape out;

    if (r->repeats < 0)
        return mxl_error("repeat: repeats is %lld, it must not be negative", (long long)r->repeats);
    if (axis < 0)
        return -1;
    mxl_shape_set(&out, r->axis == MXL_NONE ? 1 : p->shape.ndim,
                  r->axis == MXL_NONE ? &size : p->shape.dim);
    if (__builtin_mul_overflow(out.dim[axis], r->repeats, &out.dim[axis]))
        return mxl_error("repeat: the result is too large");
    if (mxl_plan_insert(p, r->axis == MXL_NONE ? p->shape.ndim : axis + 1, r->repeats) != 0)
        return -1;
    if (r->repeats == 0) { /* as in 1.9.1, an empty result has one dimension */
        out.ndim = 1;
        out.dim[0] = 0;
    }
    mxl_plan_reshape(p, out.ndim, out.dim);
    return 0;
}

static const mxl_op op_repeat = {
    .name = "repeat",
    .aliases = MXL_ALIASES("_np_repeat"),
    .inputs = mxl_inputs_data,
    .doc = "Each element several times, one after another.",
    MXL_PARAMS_OF(
        repeat_params,
        MXL_PARAM(repeat_params, repeats, MXL_P_INT, MXL_REQUIRED,
                  "Number of repetitions of each element."),
        MXL_PARAM(repeat_params, axis, MXL_P_OPT_INT, "None",
                  "The axis to repeat along, counted from either end; None: the flattened array.")),
    MXL_MOVEMENT(repeat_plan),
};

const mxl_op *const mxl_ops_expand[] = {
    &mxl_op_broadcast_to, &op_np_broadcast_to,
    &op_broadcast_to,     &op_broadcast_like,
    &op_broadcast_axis,   &op_tile,
    &op_repeat,           NULL,
};
