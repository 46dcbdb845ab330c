/* Operators that change the order of elements: transpose, SwapAxis, reverse, depth_to_space,
 * space_to_depth. */
#include <stddef.h>

#include "ops/linalg/linalg.h"
#include "ops/shape/movement.h"

/* ---- transpose ---- */

static const mxl_op op_transpose, op_np_transpose;

/* The axes counted from the first, each of them once; NumPy's may count from the end. -1 with the
 * error set. */
static int read_axes(const mxl_plan *p, const mxl_tuple *axes, int64_t *order)
{
    bool seen[MXL_MAX_NDIM] = {false}, numpy = p->op == &op_np_transpose;
    const char *name = p->op->name;
    int ndim = p->shape.ndim;

    if (axes->n != ndim)
        return mxl_error("%s: axes names %d axes, the array has %d", name, axes->n, ndim);
    for (int i = 0; i < ndim; i++) {
        int64_t axis = numpy ? mxl_plan_axis(p, axes->v[i]) : axes->v[i];

        if (numpy && axis < 0)
            return -1;
        if (axis < 0 || axis >= ndim)
            return mxl_error("%s: axis %lld is not one of 0 to %d", name, (long long)axis,
                             ndim - 1);
        if (seen[axis])
            return mxl_error("%s%s: axis %lld is named twice", numpy ? "ValueError: " : "", name,
                             (long long)axis);
        seen[axis] = true;
        order[i] = axis;
    }
    return 0;
}

static int transpose_plan(mxl_plan *p)
{
    const mxl_tuple *named = p->params;
    int64_t order[MXL_MAX_NDIM], extents[MXL_MAX_NDIM], strides[MXL_MAX_NDIM];
    int ndim = p->shape.ndim;

    for (int i = 0; i < ndim; i++)
        order[i] = ndim - 1 - i;
    if (named->n > 0 && read_axes(p, named, order) != 0)
        return -1;
    for (int i = 0; i < ndim; i++) {
        extents[i] = p->shape.dim[order[i]];
        strides[i] = p->strides[order[i]];
    }
    mxl_plan_walk(p, ndim, extents, strides);
    return 0;
}

mxl_array *mxl_transpose(mxl_scope *s, mxl_array *a, const int64_t *axes)
{
    mxl_tuple order = {a == NULL ? 0 : a->ndim, axes};

    return order.n < 2 ? a : mxl_scope_call(s, &op_transpose, &order, 1, &a);
}

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

static int transpose_complete(mxl_rule *rule)
{
    const mxl_tuple *axes = rule->params;
    const mxl_shape *out = mxl_rule_out(rule, 0);
    mxl_shape in = {.ndim = out->ndim};

    if (out->ndim < 0 || (axes->n > 0 && axes->n != out->ndim))
        return 0;
    for (int i = 0; i < in.ndim; i++)
        in.dim[i] = -1;
    for (int i = 0; i < in.ndim; i++) {
        int64_t axis = axes->n > 0 ? axes->v[i] : in.ndim - 1 - i;

        axis += axis < 0 ? in.ndim : 0;
        if (axis < 0 || axis >= in.ndim)
            return 0; /* infer has the error */
        in.dim[axis] = out->dim[i];
    }
    return mxl_rule_merge(rule, mxl_rule_in(rule, 0), &in);
}

#define TRANSPOSE(symbol, its_inputs, axes_default, axes_text, ...)                                \
    static const mxl_op symbol = {                                                                 \
        .doc = "The array with its axes in another order.",                                        \
        .inputs = its_inputs,                                                                      \
        MXL_ONLY_PARAM(mxl_tuple, axes, MXL_P_SHAPE, axes_default,                                 \
                       "Which axis of the input each axis of the result is" axes_text),            \
        MXL_MOVEMENT_BACK(transpose_plan, transpose_grad),                                         \
        .complete_shapes = transpose_complete,                                                     \
        .name = __VA_ARGS__,                                                                       \
    }

TRANSPOSE(op_transpose, NULL, "[]", "; empty: the axes in reverse.", "transpose",
          .node_name = "PermuteBackward0");
TRANSPOSE(op_np_transpose, mxl_inputs_np, "None",
          ", counted from either end; None: the axes in reverse.", MXL_NUMPY("_np_transpose"));

/* ---- SwapAxis ---- */

typedef struct swap_params {
    int64_t dim1, dim2;
} swap_params;

static int swap_plan(mxl_plan *p)
{
    const swap_params *s = p->params;
    int a = mxl_plan_axis(p, s->dim1), b = mxl_plan_axis(p, s->dim2);

    if (a < 0 || b < 0)
        return -1;
    mxl_plan_swap(p, a, b);
    return 0;
}

/* dx = dy with the axes swapped back; reversed back */
MXL_DX(back, mxl_scope_call(s, g->op, g->params, 1, &dy))

static const mxl_op op_swap_axis = {
    .name = "SwapAxis",
    .output_names = "output",
    .aliases = MXL_ALIASES("_npi_swapaxes", "swapaxes"),
    .inputs = mxl_inputs_data,
    .doc = "The array with two of its axes exchanged.",
    MXL_PARAMS_OF(
        swap_params,
        MXL_PARAM(swap_params, dim1, MXL_P_INT, "0", "One axis, counted from either end."),
        MXL_PARAM(swap_params, dim2, MXL_P_INT, "0", "The other axis.")),
    MXL_MOVEMENT_BACK(swap_plan, back_grad),
};

mxl_array *mxl_swap_axes(mxl_scope *s, mxl_array *a, int first, int second)
{
    swap_params params = {first, second};

    return mxl_scope_call(s, &op_swap_axis, &params, 1, &a);
}

mxl_array *mxl_transposed(mxl_scope *s, mxl_array *a)
{
    return mxl_swap_axes(s, a, -2, -1);
}

/* ---- reverse ---- */

static int reverse_plan(mxl_plan *p)
{
    const mxl_tuple *axes = p->params;

    for (int i = 0; axes->n < 0 && i < p->shape.ndim; i++)
        mxl_plan_cut(p, i, p->shape.dim[i] - 1, p->shape.dim[i], -1);
    for (int i = 0; i < axes->n; i++) {
        int64_t axis = axes->v[i];

        if (axis < 0 || axis >= p->shape.ndim)
            return mxl_error("%s: axis %lld is out of range for an array of %d axes", p->op->name,
                             (long long)axis, p->shape.ndim);
        mxl_plan_cut(p, (int)axis, p->shape.dim[axis] - 1, p->shape.dim[axis], -1);
    }
    return 0;
}

static const mxl_op op_reverse = {
    .name = "reverse",
    .aliases = MXL_ALIASES("flip"),
    .inputs = mxl_inputs_data,
    .doc = "The array with the order along axes reversed.",
    MXL_ONLY_PARAM(mxl_tuple, axis, MXL_P_SHAPE, MXL_REQUIRED,
                   "The axes to reverse, counted from the first; one that is named twice is not."),
    MXL_MOVEMENT_BACK(reverse_plan, back_grad),
    .shapes = "A>A",
};

static const mxl_op op_flip = {
    .name = "_npi_flip",
    .inputs = mxl_inputs_data,
    .doc = "The array with the order along axes reversed.",
    MXL_ONLY_PARAM(mxl_tuple, axis, MXL_P_OPT_SHAPE, MXL_REQUIRED,
                   "The axes to reverse, counted from the first; None: all."),
    MXL_MOVEMENT_BACK(reverse_plan, back_grad),
    .shapes = "A>A",
};

mxl_array *mxl_reverse(mxl_scope *s, mxl_array *a, int axis)
{
    const int64_t axes[1] = {axis};
    mxl_tuple p = {1, axes};

    return mxl_scope_call(s, &op_reverse, &p, 1, &a);
}

/* ---- depth_to_space, space_to_depth ---- */

/* Checks the requirements of both: four axes, no size 0, and a block size that divides. */
static int block_check(const mxl_plan *p, int64_t block)
{
    int64_t all;

    if (p->shape.ndim != 4 || mxl_shape_size(4, p->shape.dim) == 0)
        return mxl_error("%s: takes an array of 4 axes that has elements, got shape %s",
                         p->op->name, MXL_SHAPE_TEXT(p->shape.ndim, p->shape.dim));
    if (block < 1 || __builtin_mul_overflow(block, block, &all))
        return mxl_error("%s: a block_size of %lld is not possible", p->op->name, (long long)block);
    return 0;
}

static int indivisible(const mxl_plan *p, int64_t block)
{
    return mxl_error("%s: shape %s cannot be cut into blocks of %lld", p->op->name,
                     MXL_SHAPE_TEXT(p->shape.ndim, p->shape.dim), (long long)block);
}

/* From elements (n, row, column, c, h, w) to (n, c, h, row, w, column). */
static void to_space(mxl_plan *p, int64_t b)
{
    const int64_t *x = p->shape.dim, *s = p->strides;
    int64_t c = x[1] / (b * b);
    const int64_t result[] = {x[0], c, x[2] * b, x[3] * b};
    const int64_t walk[] = {x[0], c, x[2], b, x[3], b};
    const int64_t strides[] = {s[0], s[1], s[2], b * c * s[1], s[3], c * s[1]};

    mxl_plan_walk(p, 6, walk, strides);
    mxl_plan_reshape(p, 4, result);
}

static int to_space_plan(mxl_plan *p)
{
    int64_t b = *(const int64_t *)p->params;

    if (block_check(p, b) != 0)
        return -1;
    if (p->shape.dim[1] > 0 && p->shape.dim[1] % (b * b) != 0)
        return indivisible(p, b);
    to_space(p, b);
    return 0;
}

/* From elements (n, c, h, row, w, column) to (n, row, column, c, h, w). */
static void to_depth(mxl_plan *p, int64_t b)
{
    const int64_t *x = p->shape.dim, *s = p->strides;
    const int64_t result[] = {x[0], x[1] * b * b, x[2] / b, x[3] / b};
    const int64_t walk[] = {x[0], b, b, x[1], x[2] / b, x[3] / b};
    const int64_t strides[] = {s[0], s[2], s[3], s[1], b * s[2], b * s[3]};

    mxl_plan_walk(p, 6, walk, strides);
    mxl_plan_reshape(p, 4, result);
}

static int to_depth_plan(mxl_plan *p)
{
    int64_t b = *(const int64_t *)p->params;

    if (block_check(p, b) != 0)
        return -1;
    if ((p->shape.dim[2] > 0 && p->shape.dim[2] % b != 0) ||
        (p->shape.dim[3] > 0 && p->shape.dim[3] % b != 0))
        return indivisible(p, b);
    to_depth(p, b);
    return 0;
}

static const mxl_op op_depth_to_space, op_space_to_depth;

/* dx = the inverse operator of dy */
static int block_grad(mxl_grad *g)
{
    const mxl_op *inverse = g->op == &op_depth_to_space ? &op_space_to_depth : &op_depth_to_space;

    return mxl_grad_set(g, 0, mxl_scope_call(g->s, inverse, g->params, 1, &g->grad_output[0]));
}

#define BLOCKS(op_name, op_plan, op_doc)                                                           \
    static const mxl_op op_##op_name = {                                                           \
        .name = #op_name,                                                                          \
        .inputs = mxl_inputs_data,                                                                 \
        .doc = op_doc,                                                                             \
        MXL_ONLY_PARAM(int64_t, block_size, MXL_P_INT, MXL_REQUIRED,                               \
                       "Rows and columns of a block, whose elements are along axis 1 of the "      \
                       "other form."),                                                             \
        MXL_MOVEMENT_BACK(op_plan, block_grad),                                                    \
    }

BLOCKS(depth_to_space, to_space_plan,
       "Elements along axis 1 laid out as blocks of rows and columns.");
BLOCKS(space_to_depth, to_depth_plan, "Blocks of rows and columns laid out along axis 1.");

const mxl_op *const mxl_ops_transpose[] = {
    &op_transpose, &op_np_transpose,   &op_swap_axis,      &op_reverse,
    &op_flip,      &op_depth_to_space, &op_space_to_depth, NULL,
};
