/* Operators that repeat elements: broadcast_to, broadcast_like, broadcast_axis, tile, repeat. Each
 * says a plan (the input reshaped, repeated along axes of extent 1, reshaped again), which gives
 * the shape, the copy and the gradient. */
#include "ops/build.h"

#include <stddef.h>

#include "kernel/copy.h"

/* x.reshape(from) broadcast to `to`, in the shape `out`. */
typedef struct spread {
    const char *name;
    int n;
    int64_t from[MXL_MAX_NDIM], to[MXL_MAX_NDIM];
    mxl_shape out;
} spread;

typedef int (*maker)(spread *plan, const void *params, const mxl_shape *x, const mxl_shape *like);

static int add_axis(spread *plan, int64_t from, int64_t to)
{
    if (plan->n == MXL_MAX_NDIM)
        return mxl_error("%s: repeats along too many axes", plan->name);
    plan->from[plan->n] = from;
    plan->to[plan->n++] = to;
    return 0;
}

/* A plan without reshapes: the extents of `out` are those of x or stand where x has 1. */
static int plan_broadcast(spread *plan, const mxl_shape *x)
{
    char a[128], b[128];

    plan->n = x->ndim;
    for (int i = 0; i < x->ndim; i++) {
        plan->from[i] = x->dim[i];
        plan->to[i] = plan->out.dim[i];
        if (plan->from[i] != plan->to[i] && plan->from[i] != 1)
            return mxl_error("%s: an array of shape %s cannot be broadcast to %s", plan->name,
                             mxl_shape_text(a, sizeof(a), x->ndim, x->dim),
                             mxl_shape_text(b, sizeof(b), plan->out.ndim, plan->out.dim));
    }
    return 0;
}

/* ---- what all share ---- */

static int spread_infer(mxl_infer *infer, maker planner)
{
    const mxl_array *x = infer->in[0], *like = infer->in[infer->num_inputs - 1];
    spread plan = {.name = infer->op->name};
    mxl_shape x_shape, like_shape;

    mxl_shape_set(&x_shape, x->ndim, x->shape);
    mxl_shape_set(&like_shape, like->ndim, like->shape);
    if (planner(&plan, infer->params, &x_shape, &like_shape) != 0)
        return -1;
    mxl_shape_set(&infer->out_shape[0], plan.out.ndim, plan.out.dim);
    infer->out_dtype[0] = x->dtype;
    return 0;
}

static int spread_compute(const mxl_call *call, maker planner)
{
    const mxl_array *x = call->in[0], *like = call->in[call->num_inputs - 1];
    spread plan = {.name = call->op->name};
    mxl_shape x_shape, like_shape;
    int64_t in[MXL_MAX_NDIM], out[MXL_MAX_NDIM], in_step = 1, out_step = 1;

    mxl_shape_set(&x_shape, x->ndim, x->shape);
    mxl_shape_set(&like_shape, like->ndim, like->shape);
    if (planner(&plan, call->params, &x_shape, &like_shape) != 0)
        return -1;
    for (int i = plan.n - 1; i >= 0; i--) {
        in[i] = plan.from[i] == 1 ? 0 : in_step;
        out[i] = out_step;
        in_step *= plan.from[i];
        out_step *= plan.to[i];
    }
    if (call->out[0]->size > 0)
        mxl_copy_strided(mxl_dtype_size(x->dtype), plan.n, plan.to, mxl_array_write(call->out[0]),
                         out, mxl_array_read(x), in);
    return 0;
}

/* dx = dy summed over the axes along which x was repeated */
static int spread_grad(mxl_grad *g, maker planner)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0), *like = mxl_grad_in_meta(g, g->num_inputs - 1);
    spread plan = {.name = g->op->name};
    mxl_shape x_shape, like_shape;
    mxl_array *dy;

    mxl_shape_set(&x_shape, x->ndim, x->shape);
    mxl_shape_set(&like_shape, like->ndim, like->shape);
    if (planner(&plan, g->params, &x_shape, &like_shape) != 0)
        return -1;
    dy = mxl_reshape(g->s, g->head[0], plan.n, plan.to);
    dy = mxl_sum_to(g->s, dy, plan.n, plan.from);
    return mxl_grad_set(g, 0, mxl_reshape(g->s, dy, x->ndim, x->shape));
}

#define SPREAD(prefix)                                                                             \
    static int prefix##_infer(mxl_infer *infer)                                                    \
    {                                                                                              \
        return spread_infer(infer, prefix##_plan);                                                 \
    }                                                                                              \
    static int prefix##_compute(const mxl_call *call)                                              \
    {                                                                                              \
        return spread_compute(call, prefix##_plan);                                                \
    }                                                                                              \
    static int prefix##_grad(mxl_grad *g)                                                          \
    {                                                                                              \
        return spread_grad(g, prefix##_plan);                                                      \
    }

/* ---- broadcast_to ---- */

typedef struct to_params {
    mxl_tuple shape;
} to_params;

static const mxl_param to_table[] = {
    {.name = "shape",
     .type = MXL_P_SHAPE,
     .offset = offsetof(to_params, shape),
     .def = "[]",
     .doc = "Shape of the result, of as many axes as the array's; 0 keeps an extent."},
    {0},
};

static int to_plan(spread *plan, const void *params, const mxl_shape *x, const mxl_shape *like)
{
    const to_params *p = params;

    (void)like;
    if (p->shape.n != x->ndim)
        return mxl_error("broadcast_to: shape has %d axes, the array %d", p->shape.n, x->ndim);
    plan->out.ndim = x->ndim;
    for (int i = 0; i < x->ndim; i++) {
        if (p->shape.v[i] < 0)
            return mxl_error("broadcast_to: shape has the negative extent %lld",
                             (long long)p->shape.v[i]);
        plan->out.dim[i] = p->shape.v[i] == 0 ? x->dim[i] : p->shape.v[i];
    }
    return plan_broadcast(plan, x);
}

SPREAD(to)

static const mxl_op op_broadcast_to = {
    .name = "broadcast_to",
    .doc = "The array repeated along its axes of extent 1, to the given shape.",
    .inputs = mxl_inputs_data,
    .params = to_table,
    .params_size = sizeof(to_params),
    .infer = to_infer,
    .view = mxl_view_broadcast,
    .compute = to_compute,
    .grad = to_grad,
};

/* ---- broadcast_like ---- */

typedef struct like_params {
    mxl_tuple lhs_axes, rhs_axes;
} like_params;

static const mxl_param like_table[] = {
    {.name = "lhs_axes",
     .type = MXL_P_OPT_SHAPE,
     .offset = offsetof(like_params, lhs_axes),
     .def = "None",
     .doc = "Axes of lhs to repeat along, each of extent 1; None (for both): all."},
    {.name = "rhs_axes",
     .type = MXL_P_OPT_SHAPE,
     .offset = offsetof(like_params, rhs_axes),
     .def = "None",
     .doc = "Axes of rhs whose extents they get."},
    {0},
};

static const mxl_input like_inputs[] = {
    {.name = "lhs", .doc = "The array to repeat."},
    {.name = "rhs", .doc = "The array with the extents; its elements and dtype do not matter."},
    {0},
};

static int like_axes(spread *plan, const like_params *p, const mxl_shape *x, const mxl_shape *like)
{
    if (p->lhs_axes.n != p->rhs_axes.n || p->lhs_axes.n == 0)
        return mxl_error("broadcast_like: lhs_axes has %d entries, rhs_axes %d; as many of each "
                         "are needed, and at least one",
                         p->lhs_axes.n, p->rhs_axes.n);
    mxl_shape_set(&plan->out, x->ndim, x->dim);
    for (int i = 0; i < p->lhs_axes.n; i++) {
        int left = mxl_shape_axis(p->lhs_axes.v[i], x->ndim);
        int right = mxl_shape_axis(p->rhs_axes.v[i], like->ndim);

        if (left < 0 || right < 0)
            return mxl_error_prefix("broadcast_like");
        if (x->dim[left] != 1)
            return mxl_error("broadcast_like: axis %d of lhs has extent %lld, not 1", left,
                             (long long)x->dim[left]);
        plan->out.dim[left] = like->dim[right];
    }
    return plan_broadcast(plan, x);
}

static int like_plan(spread *plan, const void *params, const mxl_shape *x, const mxl_shape *like)
{
    const like_params *p = params;

    if (p->lhs_axes.n >= 0 && p->rhs_axes.n >= 0)
        return like_axes(plan, p, x, like);
    if (x->ndim != like->ndim)
        return mxl_error("broadcast_like: lhs has %d axes, rhs %d; as many are needed", x->ndim,
                         like->ndim);
    mxl_shape_set(&plan->out, like->ndim, like->dim);
    return plan_broadcast(plan, x);
}

SPREAD(like)

static const mxl_op op_broadcast_like = {
    .name = "broadcast_like",
    .doc = "The array repeated along its axes of extent 1, to the extents of another.",
    .inputs = like_inputs,
    .params = like_table,
    .params_size = sizeof(like_params),
    .infer = like_infer,
    .compute = like_compute,
    .grad = like_grad,
};

/* ---- broadcast_axis ---- */

typedef struct axis_params {
    mxl_tuple axis, size;
} axis_params;

static const mxl_param axis_table[] = {
    {.name = "axis",
     .type = MXL_P_SHAPE,
     .offset = offsetof(axis_params, axis),
     .def = "[]",
     .doc = "Axes to repeat along, each of extent 1."},
    {.name = "size",
     .type = MXL_P_SHAPE,
     .offset = offsetof(axis_params, size),
     .def = "[]",
     .doc = "The extents they get, one for each."},
    {0},
};

static int axis_plan(spread *plan, const void *params, const mxl_shape *x, const mxl_shape *like)
{
    const axis_params *p = params;

    (void)like;
    if (p->axis.n != p->size.n)
        return mxl_error("broadcast_axis: axis has %d entries, size %d; they must be as many",
                         p->axis.n, p->size.n);
    mxl_shape_set(&plan->out, x->ndim, x->dim);
    for (int i = 0; i < p->axis.n; i++) {
        int64_t axis = p->axis.v[i];

        if (axis < 0 || axis >= x->ndim)
            return mxl_error("broadcast_axis: axis %lld is out of range for an array of %d axes",
                             (long long)axis, x->ndim);
        if (plan->out.dim[axis] != 1)
            return mxl_error("broadcast_axis: axis %lld has extent %lld, not 1", (long long)axis,
                             (long long)plan->out.dim[axis]);
        if (p->size.v[i] < 0)
            return mxl_error("broadcast_axis: size has the negative extent %lld",
                             (long long)p->size.v[i]);
        plan->out.dim[axis] = p->size.v[i];
    }
    return plan_broadcast(plan, x);
}

SPREAD(axis)

static const mxl_op op_broadcast_axis = {
    .name = "broadcast_axis",
    .aliases = MXL_ALIASES("broadcast_axes"),
    .doc = "The array repeated along the given axes of extent 1.",
    .inputs = mxl_inputs_data,
    .params = axis_table,
    .params_size = sizeof(axis_params),
    .infer = axis_infer,
    .compute = axis_compute,
    .grad = axis_grad,
};

/* ---- tile ---- */

typedef struct tile_params {
    mxl_tuple reps;
} tile_params;

static const mxl_param tile_table[] = {
    {.name = "reps",
     .type = MXL_P_SHAPE,
     .offset = offsetof(tile_params, reps),
     .doc = "How often the array stands along each axis, aligned at the last one."},
    {0},
};

/* Each axis becomes two: copies, and the elements of one. */
static int tile_plan(spread *plan, const void *params, const mxl_shape *x, const mxl_shape *like)
{
    const mxl_tuple *reps = &((const tile_params *)params)->reps;
    int ndim = reps->n > x->ndim ? reps->n : x->ndim;

    (void)like;
    if (ndim > MXL_MAX_NDIM)
        return mxl_error("tile: reps has %d entries, at most %d are possible", reps->n,
                         MXL_MAX_NDIM);
    plan->out.ndim = ndim;
    for (int i = 0; i < ndim; i++) {
        int at = i - (ndim - x->ndim), rep = i - (ndim - (reps->n < 0 ? 0 : reps->n));
        int64_t extent = at < 0 ? 1 : x->dim[at], count = rep < 0 ? 1 : reps->v[rep];

        if (count < 0)
            return mxl_error("tile: reps has the negative number %lld", (long long)count);
        if (__builtin_mul_overflow(extent, count, &plan->out.dim[i]))
            return mxl_error("tile: the result is too large");
        if (count != 1 && add_axis(plan, 1, count) != 0)
            return -1;
        if (extent != 1 && add_axis(plan, extent, extent) != 0)
            return -1;
    }
    return 0;
}

SPREAD(tile)

/* Without numpy-shape mode an extent of 0 means unknown. */
static int tile_check(mxl_infer *infer)
{
    const mxl_tuple *reps = &((const tile_params *)infer->params)->reps;

    for (int i = 0; i < reps->n && infer->legacy_shape; i++) {
        if (reps->v[i] == 0)
            return mxl_error("tile: reps has a 0 (set_np_shape makes the empty result possible)");
    }
    return tile_infer(infer);
}

static const mxl_op op_tile = {
    .name = "tile",
    .aliases = MXL_ALIASES("_npi_tile"),
    .doc = "Copies of the whole array side by side.",
    .inputs = mxl_inputs_data,
    .params = tile_table,
    .params_size = sizeof(tile_params),
    .infer = tile_check,
    .compute = tile_compute,
    .grad = tile_grad,
};

/* ---- repeat ---- */

typedef struct repeat_params {
    int64_t repeats, axis;
} repeat_params;

static const mxl_param repeat_table[] = {
    {.name = "repeats",
     .type = MXL_P_INT,
     .offset = offsetof(repeat_params, repeats),
     .doc = "How often each element stands."},
    {.name = "axis",
     .type = MXL_P_OPT_INT,
     .offset = offsetof(repeat_params, axis),
     .def = "None",
     .doc = "The axis to repeat along, counted from either end; None: the flattened array."},
    {0},
};

/* The axis becomes two: the elements, and copies of each. */
static int repeat_plan(spread *plan, const void *params, const mxl_shape *x, const mxl_shape *like)
{
    const repeat_params *p = params;
    const int64_t all[1] = {mxl_shape_size(x->ndim, x->dim)};
    int axis = 0;

    (void)like;
    if (p->repeats < 0)
        return mxl_error("repeat: repeats is %lld, it must not be negative", (long long)p->repeats);
    mxl_shape_set(&plan->out, 1, all);
    if (p->axis != MXL_NONE) {
        axis = mxl_shape_axis(p->axis, x->ndim);
        if (axis < 0)
            return mxl_error_prefix("repeat");
        mxl_shape_set(&plan->out, x->ndim, x->dim);
    }
    for (int i = 0; i < plan->out.ndim; i++) {
        if (add_axis(plan, plan->out.dim[i], plan->out.dim[i]) != 0 ||
            (i == axis && p->repeats != 1 && add_axis(plan, 1, p->repeats) != 0))
            return -1;
    }
    if (__builtin_mul_overflow(plan->out.dim[axis], p->repeats, &plan->out.dim[axis]))
        return mxl_error("repeat: the result is too large");
    /* As in 1.9.1, nothing has one axis. */
    if (p->repeats == 0) {
        plan->out.ndim = 1;
        plan->out.dim[0] = 0;
    }
    return 0;
}

SPREAD(repeat)

static const mxl_op op_repeat = {
    .name = "repeat",
    .aliases = MXL_ALIASES("_np_repeat"),
    .doc = "Each element several times, one after another.",
    .inputs = mxl_inputs_data,
    .params = repeat_table,
    .params_size = sizeof(repeat_params),
    .infer = repeat_infer,
    .compute = repeat_compute,
    .grad = repeat_grad,
};

const mxl_op *const mxl_ops_spread[] = {
    &op_broadcast_to, &op_broadcast_like, &op_broadcast_axis, &op_tile, &op_repeat, NULL,
};
