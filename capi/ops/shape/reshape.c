/* Operators that give the same elements, in the same order, another shape: Reshape, Flatten,
 * expand_dims, squeeze, reshape_like. */
#include "ops/shape/movement.h"

#include <stddef.h>

#include "ops/shape/reshape_codes.h"

/* ---- Reshape ---- */

typedef struct reshape_params {
    mxl_tuple shape;
    mxl_tuple target_shape;
    int reverse;
    int keep_highest;
} reshape_params;

/* Translates target_shape, in which 0 is the size to infer, to the codes of `shape`. */
static int target_shape(mxl_shape *out, const mxl_shape *in, const reshape_params *p)
{
    int64_t codes[MXL_MAX_NDIM];
    int n = p->target_shape.n;

    if (n > MXL_MAX_NDIM)
        return mxl_error("reshape: more than %d axes", MXL_MAX_NDIM);
    for (int i = 0; i < n; i++) {
        int64_t extent = p->target_shape.v[i];

        if (extent < 0)
            return mxl_error("reshape: target_shape has the negative extent %lld",
                             (long long)extent);
        codes[i] = extent == 0 ? -1 : extent;
    }
    /* Code 0 keeps the first size, even if that is 0. */
    if (p->keep_highest)
        codes[0] = 0;
    return mxl_reshape_codes(out, in->ndim, in->dim, n, codes, false);
}

static int reshape_plan(mxl_plan *p)
{
    const reshape_params *r = p->params;
    mxl_shape out;
    int status;

    if (r->shape.n <= 0 && r->target_shape.n > 0)
        status = target_shape(&out, &p->shape, r);
    else
        status = mxl_reshape_codes(&out, p->shape.ndim, p->shape.dim, r->shape.n, r->shape.v,
                                   r->reverse);
    if (status == 0)
        mxl_plan_reshape(p, out.ndim, out.dim);
    return status;
}

static const mxl_op op_reshape = {
    .name = "Reshape",
    .aliases = MXL_ALIASES("reshape"),
    .doc = "The same elements in another shape, which must be of as many.",
    MXL_PARAMS_OF(
        reshape_params,
        MXL_PARAM(
            reshape_params, shape, MXL_P_SHAPE, "[]",
            "The new shape: extents, or codes. 0 keeps an extent of the input, -1 is inferred "
            "from the size, -2 takes all axes that remain, -3 merges two axes, -4 splits one "
            "into the two numbers that follow it."),
        MXL_PARAM(reshape_params, reverse, MXL_P_BOOL, "0",
                  "Whether shape and codes are read from the right."),
        MXL_PARAM(
            reshape_params, target_shape, MXL_P_SHAPE, "[]",
            "Deprecated, use shape: the new shape, of which one extent may be 0 to be inferred."),
        MXL_PARAM(reshape_params, keep_highest, MXL_P_BOOL, "0",
                  "Deprecated: whether the first extent stays, whatever target_shape says.")),
    MXL_MOVEMENT_BACK(reshape_plan, mxl_reshape_grad),
    .complete_shapes = mxl_rule_reshape,
    .keeps_scalars = true,
};

/* ---- Flatten ---- */

static int flatten_plan(mxl_plan *p)
{
    int64_t shape[2];

    if (p->shape.ndim == 0)
        return mxl_error("Flatten: the array has no axes, at least one is needed");
    shape[0] = p->shape.dim[0];
    shape[1] = mxl_shape_size(p->shape.ndim - 1, p->shape.dim + 1);
    mxl_plan_reshape(p, 2, shape);
    return 0;
}

const mxl_op mxl_op_flatten = {
    .name = "Flatten",
    .aliases = MXL_ALIASES("_npx_batch_flatten", "flatten"),
    .doc = "The array as a matrix: the first axis stays, all others become one.",
    MXL_MOVEMENT_BACK(flatten_plan, mxl_reshape_grad),
    .complete_shapes = mxl_rule_reshape,
    .needs_all = true,
};

/* ---- expand_dims ---- */

static int expand_plan(mxl_plan *p)
{
    int64_t given = *(const int64_t *)p->params, shape[MXL_MAX_NDIM];
    int64_t axis = given < 0 ? given + p->shape.ndim + 1 : given;
    int ndim = p->shape.ndim + 1;

    if (axis < 0 || axis >= ndim)
        return mxl_error("expand_dims: axis %lld is out of range for a result of %d axes",
                         (long long)given, ndim);
    if (ndim > MXL_MAX_NDIM)
        return mxl_error("expand_dims: the array has %d axes already, the maximum", ndim - 1);
    for (int i = 0; i < ndim; i++)
        shape[i] = i == axis ? 1 : p->shape.dim[i < axis ? i : i - 1];
    mxl_plan_reshape(p, ndim, shape);
    return 0;
}

/* The result without the new axis. */
static int expand_complete(mxl_rule *rule)
{
    const mxl_shape *out = mxl_rule_out(rule, 0);
    int64_t axis = *(const int64_t *)rule->params;
    mxl_shape in = {.ndim = 0};

    if (out->ndim < 1)
        return 0;
    axis += axis < 0 ? out->ndim : 0;
    for (int i = 0; i < out->ndim; i++) {
        if (i != axis)
            in.dim[in.ndim++] = out->dim[i];
    }
    return in.ndim == out->ndim ? 0 : mxl_rule_merge(rule, mxl_rule_in(rule, 0), &in);
}

static const mxl_op op_expand_dims = {
    .name = "expand_dims",
    .aliases = MXL_ALIASES("_npi_expand_dims"),
    .doc = "The array with a new axis of extent 1.",
    MXL_ONLY_PARAM(int64_t, axis, MXL_P_INT, MXL_REQUIRED,
                   "Position of the new axis in the result; a negative one counts from the end."),
    MXL_MOVEMENT_BACK(expand_plan, mxl_reshape_grad),
    .complete_shapes = expand_complete,
    .node_name = "UnsqueezeBackward0",
};

mxl_array *mxl_expand_dims(mxl_scope *s, mxl_array *a, int axis)
{
    return mxl_scope_call(s, &op_expand_dims, &(int64_t){axis}, 1, &a);
}

/* ---- squeeze ---- */

static const mxl_op op_np_squeeze;

/* Marks the dimensions to remove. NumPy's axes may be named twice, and be 0 or -1 of a number. */
static int squeezed_axes(const mxl_plan *p, bool numpy, bool *gone)
{
    const mxl_tuple *axes = p->params;

    for (int i = 0; i < p->shape.ndim; i++)
        gone[i] = axes->n < 0 && p->shape.dim[i] == 1;
    if (axes->n < 0 && mxl_shape_size(p->shape.ndim, p->shape.dim) < 0)
        return mxl_error("squeeze: which axes have extent 1 is unknown");
    for (int i = 0; i < axes->n; i++) {
        int axis;

        if (numpy && p->shape.ndim == 0 && (axes->v[i] == 0 || axes->v[i] == -1))
            continue;
        axis = mxl_plan_axis(p, axes->v[i]);
        if (axis < 0)
            return -1;
        if (gone[axis] && !numpy)
            return mxl_error("squeeze: axis %lld is named twice", (long long)axes->v[i]);
        if (mxl_sizes_differ(p->shape.dim[axis], 1))
            return mxl_error("squeeze: axis %lld has extent %lld, not 1", (long long)axes->v[i],
                             (long long)p->shape.dim[axis]);
        gone[axis] = true;
    }
    return 0;
}

static int squeeze_plan(mxl_plan *p)
{
    int64_t shape[MXL_MAX_NDIM] = {1};
    bool gone[MXL_MAX_NDIM], numpy = p->op == &op_np_squeeze;
    int ndim = 0;

    if (p->shape.ndim == 0 && !numpy)
        return mxl_error("squeeze: the array has no axes");
    if (squeezed_axes(p, numpy, gone) != 0)
        return -1;
    for (int i = 0; i < p->shape.ndim; i++) {
        if (!gone[i])
            shape[ndim++] = p->shape.dim[i];
    }
    mxl_plan_reshape(p, ndim == 0 && !numpy ? 1 : ndim, shape);
    return 0;
}

#define SQUEEZE(symbol, its_inputs, least_text, op_name)                                           \
    static const mxl_op symbol = {                                                                 \
        .name = op_name,                                                                           \
        .inputs = its_inputs,                                                                      \
        .doc = "The array without axes of extent 1." least_text,                                   \
        MXL_ONLY_PARAM(mxl_tuple, axis, MXL_P_OPT_SHAPE, "None",                                   \
                       "The axes to take away, each of extent 1; None: all that have it."),        \
        MXL_MOVEMENT_BACK(squeeze_plan, mxl_reshape_grad),                                         \
    }

SQUEEZE(op_squeeze, mxl_inputs_data, " At least one axis stays.", "squeeze");
SQUEEZE(op_np_squeeze, mxl_inputs_np, "", MXL_NUMPY("_np_squeeze"));

/* ---- reshape_like ---- */

typedef struct like_params {
    int64_t lhs_begin, lhs_end, rhs_begin, rhs_end;
} like_params;

#define LIKE_BOUND(field, text) MXL_PARAM(like_params, field, MXL_P_OPT_INT, "None", text)

/* Axes [*begin, *end) of an array of ndim, counted from either end; not empty. */
static int like_range(const char *which, int ndim, int64_t *begin, int64_t *end)
{
    int64_t first = *begin == MXL_NONE ? 0 : *begin, last = *end == MXL_NONE ? ndim : *end;

    first += first < 0 ? ndim : 0;
    last += last < 0 ? ndim : 0;
    if (first < 0 || first >= last || last > ndim)
        return mxl_error("reshape_like: axes %lld to %lld of %s, which has %d", (long long)first,
                         (long long)last, which, ndim);
    *begin = first;
    *end = last;
    return 0;
}

static int like_plan(mxl_plan *p)
{
    like_params l = *(const like_params *)p->params;
    const mxl_shape *x = &p->shape;
    mxl_shape out;

    if (like_range("lhs", x->ndim, &l.lhs_begin, &l.lhs_end) != 0 ||
        like_range("rhs", p->like_ndim, &l.rhs_begin, &l.rhs_end) != 0)
        return -1;
    out.ndim = 0;
    if (x->ndim - (l.lhs_end - l.lhs_begin) + (l.rhs_end - l.rhs_begin) > MXL_MAX_NDIM)
        return mxl_error("reshape_like: the result would have more than %d axes", MXL_MAX_NDIM);
    for (int64_t i = 0; i < l.lhs_begin; i++)
        out.dim[out.ndim++] = x->dim[i];
    for (int64_t i = l.rhs_begin; i < l.rhs_end; i++)
        out.dim[out.ndim++] = p->like_shape[i];
    for (int64_t i = l.lhs_end; i < x->ndim; i++)
        out.dim[out.ndim++] = x->dim[i];
    if (mxl_shape_check(out.ndim, out.dim) != 0 ||
        mxl_sizes_differ(mxl_shape_size(out.ndim, out.dim), mxl_shape_size(x->ndim, x->dim)))
        return mxl_error("reshape_like: an array of shape %s cannot have the shape %s",
                         MXL_SHAPE_TEXT(x->ndim, x->dim), MXL_SHAPE_TEXT(out.ndim, out.dim));
    mxl_plan_reshape(p, out.ndim, out.dim);
    return 0;
}

static const mxl_op op_reshape_like = {
    .name = "reshape_like",
    .aliases = MXL_ALIASES("_npx_reshape_like"),
    .doc = "The elements of lhs in the shape of rhs, or with some of its axes.",
    MXL_INPUTS(MXL_INPUT(lhs, "The array with the elements."),
               MXL_INPUT(rhs, "The array with the shape; its elements and dtype do not matter.")),
    MXL_PARAMS_OF(
        like_params,
        LIKE_BOUND(lhs_begin, "First axis of lhs that is replaced; None: the first of all."),
        LIKE_BOUND(lhs_end,
                   "The axis of lhs behind the last that is replaced; None: behind the last."),
        LIKE_BOUND(rhs_begin, "First axis of rhs that is taken instead; None: the first of all."),
        LIKE_BOUND(rhs_end,
                   "The axis of rhs behind the last that is taken; None: behind the last.")),
    MXL_MOVEMENT_BACK(like_plan, mxl_reshape_grad),
    .dtypes = "A>A",
};

/* ---- _mxl_reshape_to, _mxl_reshape_own ---- */

static int reshape_to_plan(mxl_plan *p)
{
    const mxl_tuple *shape = p->params;
    int64_t have = mxl_shape_size(p->shape.ndim, p->shape.dim);
    int64_t size = mxl_shape_size(shape->n, shape->v);

    if (have < 0 ? mxl_shape_check(shape->n, shape->v) != 0
                 : mxl_shape_count(shape->n, shape->v) < 0)
        return mxl_error_prefix(p->op->name);
    if (mxl_sizes_differ(size, have))
        return mxl_error("%s: %lld elements in a shape of %lld", p->op->name, (long long)have,
                         (long long)size);
    mxl_plan_reshape(p, shape->n, shape->v);
    return 0;
}

#define RESHAPE_TO(...)                                                                            \
    {MXL_ONLY_PARAM(mxl_tuple, shape, MXL_P_SHAPE, MXL_REQUIRED,                                   \
                    "Shape of the result, of as many elements."),                                  \
     MXL_MOVEMENT_BACK(reshape_to_plan, mxl_reshape_grad), __VA_ARGS__}

const mxl_op mxl_op_reshape_to =
    RESHAPE_TO(.name = "_mxl_reshape_to", .doc = "The same elements in another shape.");
static const mxl_op op_reshape_own =
    RESHAPE_TO(.name = "_mxl_reshape_own",
               .doc = "The elements of a temporary copy in another shape, which counts as no view "
                      "of it: _unsafe_view.",
               .forgets_base = true);

const mxl_op *const mxl_ops_reshape[] = {
    &op_reshape,      &mxl_op_flatten,    &op_expand_dims, &op_squeeze, &op_np_squeeze,
    &op_reshape_like, &mxl_op_reshape_to, &op_reshape_own, NULL,
};
