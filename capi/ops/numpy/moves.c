/* Movements of NumPy arrays: reshape, transpose, squeeze, broadcast_to, concatenate, moveaxis; and
 * where, whose three arrays broadcast. */
#include "ops/numpy/numpy.h"

#include <limits.h>
#include <stddef.h>

#include "array/copy.h"
#include "kernel/copy/cast.h"
#include "kernel/copy/strided_copy.h"
#include "ops/elementwise/elementwise.h"
#include "ops/shape/movement.h"

static const mxl_input inputs_a[] = {MXL_INPUT(a, "Input array, of any shape."), {0}};

/* ---- reshape ---- */

typedef struct np_reshape_params {
    mxl_tuple newshape;
    const char *order; /* 1.9.1 reads it, and keeps the order of C */
} np_reshape_params;

/* Sizes as they are, one of which may be -1: what is left. */
static int reshape_plan(mxl_plan *p)
{
    const np_reshape_params *r = p->params;
    int64_t size = mxl_shape_size(p->shape.ndim, p->shape.dim), known = 1;
    int unknown = -1, n = r->newshape.n;
    mxl_shape to;

    if (n > MXL_MAX_NDIM)
        return mxl_error("%s: newshape has %d axes, the maximum is %d", p->op->name, n,
                         MXL_MAX_NDIM);
    mxl_shape_set(&to, n, r->newshape.v);
    for (int i = 0; i < n; i++) {
        bool fits = to.dim[i] >= 0 && !__builtin_mul_overflow(known, to.dim[i], &known);

        if (!fits && (to.dim[i] != -1 || unknown >= 0))
            return mxl_error("%s: newshape %s has an extent that is none, or two to infer",
                             p->op->name, MXL_SHAPE_TEXT(n, r->newshape.v));
        if (!fits)
            unknown = i;
    }
    if (unknown >= 0 && known > 0 && size % known == 0) {
        to.dim[unknown] = size / known;
        known = size;
    }
    if (known != size || (unknown >= 0 && to.dim[unknown] < 0))
        return mxl_error("%s: an array of shape %s has not as many elements as %s", p->op->name,
                         MXL_SHAPE_TEXT(p->shape.ndim, p->shape.dim),
                         MXL_SHAPE_TEXT(n, r->newshape.v));
    mxl_plan_reshape(p, n, to.dim);
    return 0;
}

static const mxl_op op_reshape = {
    .name = "_np_reshape",
    .doc = "The same elements in another shape, which must be of as many.",
    .inputs = inputs_a,
    MXL_PARAMS_OF(np_reshape_params,
                  MXL_PARAM(np_reshape_params, newshape, MXL_P_SHAPE, MXL_REQUIRED,
                            "The shape; one extent may be -1: what is left.",
                            .type_name = "Shape(tuple)"),
                  MXL_PARAM(np_reshape_params, order, MXL_P_STRING, "C",
                            "The order of elements, which is that of C whatever is asked for.")),
    .keeps_scalars = true,
    MXL_MOVEMENT_BACK(reshape_plan, mxl_reshape_grad),
    .complete_shapes = mxl_rule_reshape,
};

/* ---- transpose, moveaxis ---- */

/* The axes counted from the first, each of them once; -1 with the error set. */
static int permuted(const mxl_plan *p, mxl_tuple axes, int64_t *out)
{
    bool seen[MXL_MAX_NDIM] = {false};

    if (axes.n != p->shape.ndim)
        return mxl_error("%s: axes names %d axes, the array has %d", p->op->name, axes.n,
                         p->shape.ndim);
    for (int i = 0; i < axes.n; i++) {
        int axis = mxl_plan_axis(p, axes.v[i]);

        if (axis < 0)
            return -1;
        if (seen[axis])
            return mxl_error("ValueError: %s: axis %d is named twice", p->op->name, axis);
        seen[axis] = true;
        out[i] = axis;
    }
    return 0;
}

static void walk_axes(mxl_plan *p, const int64_t *axes)
{
    int64_t extents[MXL_MAX_NDIM], strides[MXL_MAX_NDIM];

    for (int i = 0; i < p->shape.ndim; i++) {
        extents[i] = p->shape.dim[axes[i]];
        strides[i] = p->strides[axes[i]];
    }
    mxl_plan_walk(p, p->shape.ndim, extents, strides);
}

static int transpose_plan(mxl_plan *p)
{
    const mxl_tuple *named = p->params;
    int64_t axes[MXL_MAX_NDIM];

    for (int i = 0; i < p->shape.ndim; i++)
        axes[i] = p->shape.ndim - 1 - i;
    if (named->n > 0 && permuted(p, *named, axes) != 0)
        return -1;
    walk_axes(p, axes);
    return 0;
}

static const mxl_op op_transpose;

/* dx = dy with the inverse permutation */
static int transpose_grad(mxl_grad *g)
{
    const mxl_tuple *axes = g->params;
    int64_t back[MXL_MAX_NDIM];
    mxl_tuple inverse = {axes->n, back};

    for (int i = 0; i < axes->n; i++)
        back[axes->v[i] < 0 ? axes->v[i] + axes->n : axes->v[i]] = i;
    return mxl_grad_set(g, 0, mxl_scope_call(g->s, &op_transpose, &inverse, 1, &g->grad_output[0]));
}

static const mxl_op op_transpose = {
    .name = "_np_transpose",
    .doc = "The array with its axes in another order.",
    .inputs = inputs_a,
    MXL_ONLY_PARAM(mxl_tuple, axes, MXL_P_SHAPE, "None",
                   "Which axis of the input each axis of the result is, counted from either end; "
                   "None: the axes in reverse.",
                   .type_name = "Shape(tuple)"),
    .keeps_scalars = true,
    MXL_MOVEMENT_BACK(transpose_plan, transpose_grad),
    .complete_shapes = mxl_transposed_complete,
};

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

static mxl_array *moveaxis_compose(mxl_scope *s, const mxl_call *call)
{
    int64_t axes[MXL_MAX_NDIM];
    mxl_tuple order = {call->in[0]->ndim, axes};

    if (moved(call->op, call->params, order.n, axes) != 0)
        return NULL;
    return mxl_scope_call(mxl_np_scope(s), &op_transpose, &order, 1, call->in);
}

static const mxl_op op_moveaxis = {
    .name = "_np_moveaxis",
    .doc = "The array with some axes in other places; the others keep their order.",
    .inputs = inputs_a,
    MXL_PARAMS_OF(moveaxis_params,
                  MXL_PARAM(moveaxis_params, source, MXL_P_SHAPE, MXL_REQUIRED,
                            "The axes to move, counted from either end.",
                            .type_name = "Shape(tuple)"),
                  MXL_PARAM(moveaxis_params, destination, MXL_P_SHAPE, MXL_REQUIRED,
                            "The place of each in the result.", .type_name = "Shape(tuple)")),
    .compose = moveaxis_compose,
    .keeps_scalars = true,
};

/* ---- squeeze ---- */

static int squeeze_plan(mxl_plan *p)
{
    const mxl_tuple *axes = p->params;
    int64_t shape[MXL_MAX_NDIM];
    bool gone[MXL_MAX_NDIM];
    int ndim = 0;

    for (int i = 0; i < p->shape.ndim; i++)
        gone[i] = axes->n < 0 && p->shape.dim[i] == 1;
    for (int i = 0; i < axes->n; i++) {
        bool number = p->shape.ndim == 0 && (axes->v[i] == 0 || axes->v[i] == -1);
        int axis = number ? 0 : mxl_plan_axis(p, axes->v[i]);

        if (axis < 0)
            return -1;
        if (number)
            continue;
        if (p->shape.dim[axis] != 1)
            return mxl_error("%s: axis %d has extent %lld, not 1", p->op->name, axis,
                             (long long)p->shape.dim[axis]);
        gone[axis] = true;
    }
    for (int i = 0; i < p->shape.ndim; i++) {
        if (!gone[i])
            shape[ndim++] = p->shape.dim[i];
    }
    mxl_plan_reshape(p, ndim, shape);
    return 0;
}

static const mxl_op op_squeeze = {
    .name = "_np_squeeze",
    .doc = "The array without axes of extent 1.",
    .inputs = inputs_a,
    MXL_ONLY_PARAM(mxl_tuple, axis, MXL_P_OPT_SHAPE, "None",
                   "The axes to take away, each of extent 1; None: all that have it."),
    .keeps_scalars = true,
    MXL_MOVEMENT_BACK(squeeze_plan, mxl_reshape_grad),
};

/* ---- broadcast_to ---- */

static int broadcast_plan(mxl_plan *p)
{
    return mxl_op_broadcast_to.plan(p);
}

static const mxl_op op_broadcast_to = {
    .name = "_npi_broadcast_to",
    .doc = "The array repeated along its axes of extent 1, and along new leading axes.",
    MXL_INPUTS(MXL_INPUT(array, "Input array, of any shape.")),
    MXL_ONLY_PARAM(mxl_tuple, shape, MXL_P_SHAPE, "[]", "Shape of the result."),
    .keeps_scalars = true,
    MXL_MOVEMENT_BACK(broadcast_plan, mxl_grad_pass),
};

/* ---- full_like ---- */

typedef struct full_like_params {
    double fill_value;
    const char *ctx;
    int dtype;
} full_like_params;

static const char *const full_dtypes[] = {"None",    "bfloat16", "bool",  "float16",
                                          "float32", "float64",  "int32", "int64",
                                          "int8",    "uint8",    NULL};

static int full_like_infer(mxl_infer *infer)
{
    const full_like_params *p = infer->params;
    const mxl_array *x = infer->in[0];

    return mxl_infer_set(infer, p->dtype == MXL_DTYPE_UNKNOWN ? x->dtype : p->dtype, x->ndim,
                         x->shape);
}

static int full_like_compute(const mxl_call *call)
{
    const full_like_params *p = call->params;
    mxl_array *out = call->out[0];
    int64_t element = 0;

    mxl_cast_scalar(p->fill_value, out->dtype, &element);
    mxl_fill(mxl_dtype_size(out->dtype), mxl_array_write(out), &element, out->size);
    return 0;
}

static const mxl_op op_full_like = {
    .name = "_npi_full_like",
    .doc = "An array in the shape of another, of which every element is `fill_value`.",
    .inputs = inputs_a,
    MXL_PARAMS_OF(full_like_params,
                  MXL_PARAM(full_like_params, fill_value, MXL_P_FLOAT, MXL_REQUIRED,
                            "The value of every element.", .type_name = "double"),
                  MXL_PARAM(full_like_params, ctx, MXL_P_STRING, "",
                            "Read and not used: the array lives beside the other."),
                  MXL_PARAM(full_like_params, dtype, MXL_P_DTYPE, "None",
                            "dtype of the array; None: the other's.", .values = full_dtypes)),
    .infer = full_like_infer,
    .shapes = "A>A",
    .compute = full_like_compute,
    .grad = mxl_grad_zero,
    .keeps_scalars = true,
};

/* ---- where ---- */

/* All three broadcast to one shape. */
static int where_shape(mxl_array *const *in, mxl_shape *out)
{
    mxl_shape both;

    if (mxl_shape_broadcast(&both, in[1]->ndim, in[1]->shape, in[2]->ndim, in[2]->shape) != 0)
        return -1;
    return mxl_shape_broadcast(out, both.ndim, both.dim, in[0]->ndim, in[0]->shape);
}

static mxl_array *choose(mxl_scope *s, mxl_array *condition, mxl_array *x, mxl_array *y)
{
    mxl_array *in[3] = {condition, x, y};
    mxl_shape shape;

    if (condition == NULL || x == NULL || y == NULL || where_shape(in, &shape) != 0) {
        s->failed = true;
        return NULL;
    }
    for (int i = 0; i < 3; i++)
        in[i] = mxl_broadcast_to(mxl_np_scope(s), in[i], shape.ndim, shape.dim);
    return mxl_where(s, in[0], in[1], in[2]);
}

static mxl_array *where_compose(mxl_scope *s, const mxl_call *call)
{
    if (mxl_check_dtypes(call->op, call->in[1], call->in[2]) != 0)
        return NULL;
    return choose(s, call->in[0], call->in[1], call->in[2]);
}

/* dx = dz where the condition is not 0, dy = dz where it is 0. */
static int where_grad(mxl_grad *g)
{
    mxl_array *condition = mxl_grad_in(g, 0), *dz = g->grad_output[0];
    mxl_array *zero = mxl_np_number(g->s, 0, dz->dtype);

    if (mxl_grad_wants(g, 1) && mxl_grad_set(g, 1, choose(g->s, condition, dz, zero)) != 0)
        return -1;
    if (mxl_grad_wants(g, 2) && mxl_grad_set(g, 2, choose(g->s, condition, zero, dz)) != 0)
        return -1;
    return 0;
}

static const mxl_op op_where = {
    .name = "_npi_where",
    .doc = "Elements of x where the condition is not 0, else those of y; all three broadcast.",
    MXL_INPUTS(MXL_INPUT(condition, "The condition, of any dtype."),
               MXL_INPUT(x, "Elements for where the condition is not 0."),
               MXL_INPUT(y, "Elements for where it is; of x's dtype.")),
    .dtypes = ".AA>A",
    .promotion = &(const mxl_promotion){.as_is = MXL_SET_ALL, .from = 1},
    .compose = where_compose,
    .grad = where_grad,
    .saves = mxl_saves_input,
    .keeps_scalars = true,
};

/* ---- where, of numbers ---- */

static mxl_array *lscalar_compose(mxl_scope *s, const mxl_call *call)
{
    const double *scalar = call->params;
    mxl_array *x = call->in[1];

    return choose(s, call->in[0], mxl_np_number(s, *scalar, x->dtype), x);
}

static mxl_array *rscalar_compose(mxl_scope *s, const mxl_call *call)
{
    const double *scalar = call->params;
    mxl_array *y = call->in[1];

    return choose(s, call->in[0], y, mxl_np_number(s, *scalar, y->dtype));
}

#define CONDITION MXL_INPUT(condition, "The condition, of any dtype.")
#define WHERE_NUMBER(side, array, text)                                                            \
    static const mxl_op op_where_##side = {                                                        \
        .name = "_npi_where_" #side,                                                               \
        .doc = text " The two arrays broadcast.",                                                  \
        MXL_INPUTS(CONDITION, MXL_INPUT(array, "The elements that are no number.")),               \
        MXL_ONLY_PARAM(double, scalar, MXL_P_FLOAT, "0",                                           \
                       "The number, which is cast to the array's dtype.", .type_name = "double"),  \
        .dtypes = ".A>A",                                                                          \
        .compose = side##_compose,                                                                 \
        .keeps_scalars = true,                                                                     \
    }

WHERE_NUMBER(lscalar, x, "The number where the condition is not 0, else elements of x.");
WHERE_NUMBER(rscalar, y, "Elements of y where the condition is not 0, else the number.");

typedef struct two_numbers {
    double x, y;
} two_numbers;

static mxl_array *scalar2_compose(mxl_scope *s, const mxl_call *call)
{
    const two_numbers *p = call->params;

    return choose(s, call->in[0], mxl_np_number(s, p->x, MXL_F32), mxl_np_number(s, p->y, MXL_F32));
}

static const mxl_op op_where_scalar2 = {
    .name = "_npi_where_scalar2",
    .doc = "One number where the condition is not 0, else another; float32.",
    MXL_INPUTS(CONDITION),
    MXL_PARAMS_OF(two_numbers,
                  MXL_PARAM(two_numbers, x, MXL_P_FLOAT, "0",
                            "The number for where the condition is not 0.", .type_name = "double"),
                  MXL_PARAM(two_numbers, y, MXL_P_FLOAT, "0", "The number for where it is.",
                            .type_name = "double")),
    .shapes = "A>A",
    .dtypes = ".>f",
    .compose = scalar2_compose,
    .keeps_scalars = true,
};

const mxl_op *const mxl_ops_np_moves[] = {
    &op_moveaxis,      &op_reshape,       &op_transpose, &op_squeeze,
    &op_broadcast_to,  &op_full_like,     &op_where,     &op_where_lscalar,
    &op_where_rscalar, &op_where_scalar2, NULL,
};
