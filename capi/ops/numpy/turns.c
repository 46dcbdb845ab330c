/* NumPy arrays with their elements or axes in other places: roll, rot90, moveaxis, atleast_nd. */
#include "ops/numpy/numpy.h"

#include <stddef.h>

#include "ops/shape/movement.h"

/* ---- roll ---- */

typedef struct roll_params {
    mxl_tuple shift, axis;
} roll_params;

/* The last `shift` positions of an axis come first. */
static mxl_array *roll_axis(mxl_scope *s, mxl_array *x, int axis, int64_t shift)
{
    int64_t n = x == NULL ? 0 : x->shape[axis];
    mxl_array *parts[2];

    if (n == 0)
        return x;
    shift %= n;
    shift += shift < 0 ? n : 0;
    if (shift == 0)
        return x;
    parts[0] = mxl_slice_axis(s, x, axis, n - shift, MXL_NONE);
    parts[1] = mxl_slice_axis(s, x, axis, 0, n - shift);
    return mxl_concat(s, 2, parts, axis);
}

static mxl_array *roll_compose(mxl_scope *s, const mxl_call *call)
{
    const roll_params *p = call->params;
    mxl_array *x = call->in[0], *line;

    if (p->shift.n < 1)
        return mxl_error_null("shift is missing");
    if (p->axis.n < 0) {
        int64_t shift = 0;

        for (int i = 0; i < p->shift.n && x->size > 0; i++)
            shift = (shift + p->shift.v[i] % x->size) % x->size;
        line = roll_axis(s, mxl_reshape(s, x, 1, &x->size), 0, shift);
        return mxl_apply(s, &mxl_op_copy, mxl_reshape(s, line, x->ndim, x->shape));
    }
    if (p->shift.n != 1 && p->shift.n != p->axis.n)
        return mxl_error_null("shift has %d numbers, axis %d", p->shift.n, p->axis.n);
    line = x;
    for (int i = 0; i < p->axis.n; i++) {
        int axis = mxl_check_axis(call->op, p->axis.v[i], x->ndim);

        if (axis < 0)
            return NULL;
        line = roll_axis(s, line, axis, p->shift.v[p->shift.n == 1 ? 0 : i]);
    }
    return line == x ? mxl_apply(s, &mxl_op_copy, x) : line;
}

static const mxl_op op_roll;

/* dx = dy with the positions moved back, axis by axis; unlike the composed vjp it reads no values
 */
static int roll_grad(mxl_grad *g)
{
    const roll_params *p = g->params;
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    mxl_array *dx = g->grad_output[0];

    for (int i = 0; i < p->shift.n || i < p->axis.n; i++) {
        int64_t shift = p->shift.v[p->shift.n == 1 ? 0 : i],
                axis = p->axis.n < 0 ? 0 : p->axis.v[i];
        int64_t n = p->axis.n < 0 ? mxl_shape_size(x->ndim, x->shape)
                                  : x->shape[axis < 0 ? axis + x->ndim : axis];
        const int64_t back = n == 0 ? 0 : -(shift % n);
        const roll_params one = {{1, &back}, {p->axis.n < 0 ? -1 : 1, &axis}};

        dx = mxl_scope_call(g->s, &op_roll, &one, 1, &dx);
    }
    return mxl_grad_set(g, 0, dx);
}

MXL_NP(roll, "_np_roll",
       "The array with the positions of axes moved, those at the end to the beginning.",
       .inputs = mxl_inputs_data,
       MXL_PARAMS_OF(roll_params,
                     MXL_PARAM(roll_params, shift, MXL_P_OPT_SHAPE, "None",
                               "By how many positions, for each axis."),
                     MXL_PARAM(roll_params, axis, MXL_P_OPT_SHAPE, "None",
                               "The axes; None: the array as one line.")),
       .shapes = "A>A", .grad = roll_grad);

/* ---- rot90 ---- */

typedef struct rot90_params {
    int64_t k;
    mxl_tuple axes;
} rot90_params;

static mxl_array *rot90_compose(mxl_scope *s, const mxl_call *call)
{
    const rot90_params *p = call->params;
    int64_t turns = (p->k % 4 + 4) % 4;
    mxl_array *x = call->in[0];
    int first, second;

    if (p->axes.n != 2)
        return mxl_error_null("axes must be two axes");
    first = mxl_check_axis(call->op, p->axes.v[0], x->ndim);
    second = mxl_check_axis(call->op, p->axes.v[1], x->ndim);
    if (first >= 0 && first == second)
        return mxl_error_null("axis %d is named twice", first);
    if (first < 0 || second < 0)
        return NULL;
    if (turns == 0)
        return mxl_apply(s, &mxl_op_copy, x);
    if (turns == 2)
        return mxl_reverse(s, mxl_reverse(s, x, first), second);
    if (turns == 1)
        return mxl_swap_axes(s, mxl_reverse(s, x, second), first, second);
    return mxl_reverse(s, mxl_swap_axes(s, x, first, second), second);
}

MXL_NP(rot90, "_npi_rot90",
       "The array turned by quarters, in the plane of two axes, from the first to the second.",
       .inputs = mxl_inputs_data,
       MXL_PARAMS_OF(rot90_params, MXL_PARAM(rot90_params, k, MXL_P_INT, "1", "How many quarters."),
                     MXL_PARAM(rot90_params, axes, MXL_P_OPT_SHAPE, "None", "The two axes.")));

/* ---- moveaxis ---- */

typedef struct moveaxis_params {
    mxl_tuple source, destination;
} moveaxis_params;

/* The axis of the input that each axis of the result is; -1 with the error set. */
static int moved(const mxl_op *op, const moveaxis_params *p, int ndim, int64_t *axes)
{
    bool taken[MXL_MAX_NDIM] = {false};

    if (p->source.n != p->destination.n)
        return mxl_error("%s: source names %d axes, destination %d", op->name, p->source.n,
                         p->destination.n);
    for (int i = 0; i < ndim; i++)
        axes[i] = -1;
    for (int i = 0; i < p->source.n; i++) {
        int from = mxl_check_axis(op, p->source.v[i], ndim);
        int to = mxl_check_axis(op, p->destination.v[i], ndim);

        if (from < 0 || to < 0)
            return -1;
        if (taken[from] || axes[to] >= 0)
            return mxl_error("%s: axis %d is named twice", op->name, taken[from] ? from : to);
        taken[from] = true;
        axes[to] = from;
    }
    for (int i = 0, from = 0; i < ndim; i++) {
        if (axes[i] >= 0)
            continue;
        while (taken[from])
            from++;
        axes[i] = from++;
    }
    return 0;
}

static int moveaxis_plan(mxl_plan *p)
{
    int64_t axes[MXL_MAX_NDIM], extents[MXL_MAX_NDIM], strides[MXL_MAX_NDIM];
    int ndim = p->shape.ndim;

    if (moved(p->op, p->params, ndim, axes) != 0)
        return -1;
    for (int i = 0; i < ndim; i++) {
        extents[i] = p->shape.dim[axes[i]];
        strides[i] = p->strides[axes[i]];
    }
    mxl_plan_walk(p, ndim, extents, strides);
    return 0;
}

/* dx = dy with the axes moved back */
static int moveaxis_grad(mxl_grad *g)
{
    const moveaxis_params *p = g->params;
    const moveaxis_params back = {p->destination, p->source};

    return mxl_grad_set(g, 0, mxl_scope_call(g->s, g->op, &back, 1, &g->grad_output[0]));
}

static const mxl_op op_moveaxis = {
    .name = MXL_NUMPY("_np_moveaxis"),
    .doc = "The array with some axes in other places; the others keep their order.",
    .inputs = mxl_inputs_np,
    MXL_PARAMS_OF(moveaxis_params,
                  MXL_PARAM(moveaxis_params, source, MXL_P_SHAPE, MXL_REQUIRED,
                            "The axes to move, counted from either end.",
                            .type_name = "Shape(tuple)"),
                  MXL_PARAM(moveaxis_params, destination, MXL_P_SHAPE, MXL_REQUIRED,
                            "The place of each in the result.", .type_name = "Shape(tuple)")),
    MXL_MOVEMENT_BACK(moveaxis_plan, moveaxis_grad),
};

/* ---- atleast_nd ---- */

static int any_arity(const void *params, mxl_arity *arity)
{
    const int64_t *count = params;

    if (*count >= 0)
        arity->inputs = (int)*count;
    arity->outputs = arity->visible = arity->inputs;
    return 0;
}

/* Each array with leading axes; the third axis of three is the last. */
static mxl_array *atleast(mxl_scope *s, const mxl_call *call, int least)
{
    for (int i = 0; i < call->num_inputs; i++) {
        const mxl_array *x = call->in[i];
        int64_t shape[MXL_MAX_NDIM] = {1, 1, 1};
        int ndim = x->ndim < least ? least : x->ndim, before = ndim - x->ndim;

        if (least == 3 && before > 0)
            before = x->ndim == 2 ? 0 : 1;
        for (int k = 0; k < x->ndim; k++)
            shape[before + k] = x->shape[k];
        call->out[i] = mxl_reshape(s, call->in[i], ndim, shape);
    }
    return call->num_inputs > 0 ? call->out[0] : NULL;
}

static int atleast_dtypes(mxl_rule *rule)
{
    for (int i = 0; i < rule->num_in; i++) {
        if (mxl_rule_say_dtype(rule, rule->out + i, mxl_rule_in_dtype(rule, i)) != 0 ||
            mxl_rule_say_dtype(rule, rule->in[i], rule->dtypes[rule->out + i]) != 0)
            return -1;
    }
    return mxl_rule_said_dtypes(rule, "(e)>(e)"); /* others are as the first, as in 1.9.1 */
}

#define ATLEAST(n)                                                                                 \
    static mxl_array *atleast_##n##_compose(mxl_scope *s, const mxl_call *call)                    \
    {                                                                                              \
        return atleast(s, call, n);                                                                \
    }                                                                                              \
    static const mxl_op op_atleast_##n = {                                                         \
        .name = MXL_NUMPY("_np_atleast_" #n "d"),                                                  \
        .doc = "Arrays with " #n " axes or more, of size 1 where they are added.",                 \
        MXL_INPUTS(MXL_INPUT(arys, "Any arrays.")),                                                \
        MXL_ONLY_PARAM(int64_t, num_args, MXL_P_INT, MXL_REQUIRED, "How many arrays.",             \
                       .sets_outputs = true),                                                      \
        .key_var_num_args = "num_args",                                                            \
        .arity = any_arity,                                                                        \
        .complete_dtypes = atleast_dtypes,                                                         \
        .compose = atleast_##n##_compose,                                                          \
    }

ATLEAST(1);
ATLEAST(2);
ATLEAST(3);

const mxl_op *const mxl_ops_np_turns[] = {
    &op_roll, &op_rot90, &op_moveaxis, &op_atleast_1, &op_atleast_2, &op_atleast_3, NULL,
};
