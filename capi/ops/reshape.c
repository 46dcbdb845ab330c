/* Operators that name a shape by the axes that come, go or are another array's: Flatten,
 * expand_dims, squeeze, reshape_like. Each copies the elements as they are. */
#include "ops/build.h"

#include <stddef.h>

#include "array/copy.h"

static int same_elements(const mxl_call *call)
{
    return mxl_array_copy_into(call->out[0], call->in[0]);
}

/* dx = dy in the shape of x; an array that only lends its shape gets none */
static int same_elements_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);

    return mxl_grad_set(g, 0, mxl_reshape(g->s, g->head[0], x->ndim, x->shape));
}

/* ---- Flatten ---- */

static int flatten_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0];
    mxl_shape *out = &infer->out_shape[0];

    if (x->ndim == 0)
        return mxl_error("Flatten: the array has no axes, at least one is needed");
    out->ndim = 2;
    out->dim[0] = x->shape[0];
    out->dim[1] = mxl_shape_size(x->ndim - 1, x->shape + 1);
    infer->out_dtype[0] = x->dtype;
    return 0;
}

static const mxl_op op_flatten = {
    .name = "Flatten",
    .aliases = MXL_ALIASES("_npx_batch_flatten", "flatten"),
    .doc = "The array as a matrix: the first axis stays, all others become one.",
    .inputs = mxl_inputs_data,
    .params = mxl_params_none,
    .infer = flatten_infer,
    .view = mxl_view_reshaped,
    .compute = same_elements,
    .grad = same_elements_grad,
};

/* ---- expand_dims ---- */

typedef struct expand_params {
    int64_t axis;
} expand_params;

static const mxl_param expand_table[] = {
    {.name = "axis",
     .type = MXL_P_INT,
     .offset = offsetof(expand_params, axis),
     .doc = "Where the new axis stands in the result, counted from either end."},
    {0},
};

static int expand_infer(mxl_infer *infer)
{
    const expand_params *p = infer->params;
    const mxl_array *x = infer->in[0];
    mxl_shape *out = &infer->out_shape[0];
    int64_t axis = p->axis < 0 ? p->axis + x->ndim + 1 : p->axis;

    if (axis < 0 || axis > x->ndim)
        return mxl_error("expand_dims: axis %lld is out of range for a result of %d axes",
                         (long long)p->axis, x->ndim + 1);
    if (x->ndim == MXL_MAX_NDIM)
        return mxl_error("expand_dims: the array has %d axes already, as many as possible",
                         x->ndim);
    out->ndim = x->ndim + 1;
    for (int i = 0; i < out->ndim; i++)
        out->dim[i] = i == axis ? 1 : x->shape[i < axis ? i : i - 1];
    infer->out_dtype[0] = x->dtype;
    return 0;
}

static const mxl_op op_expand_dims = {
    .name = "expand_dims",
    .aliases = MXL_ALIASES("_npi_expand_dims"),
    .doc = "The array with a new axis of extent 1.",
    .inputs = mxl_inputs_data,
    .params = expand_table,
    .params_size = sizeof(expand_params),
    .infer = expand_infer,
    .view = mxl_view_reshaped,
    .compute = same_elements,
    .grad = same_elements_grad,
};

/* ---- squeeze ---- */

typedef struct squeeze_params {
    mxl_tuple axis;
} squeeze_params;

static const mxl_param squeeze_table[] = {
    {.name = "axis",
     .type = MXL_P_OPT_SHAPE,
     .offset = offsetof(squeeze_params, axis),
     .def = "None",
     .doc = "The axes to take away, each of extent 1; None: all that have it."},
    {0},
};

/* Marks the axes that go. */
static int squeezed_axes(const squeeze_params *p, const mxl_array *x, bool *gone)
{
    for (int i = 0; i < x->ndim; i++)
        gone[i] = p->axis.n < 0 && x->shape[i] == 1;
    for (int i = 0; i < p->axis.n; i++) {
        int axis = mxl_shape_axis(p->axis.v[i], x->ndim);

        if (axis < 0)
            return mxl_error_prefix("squeeze");
        if (gone[axis])
            return mxl_error("squeeze: axis %lld is named twice", (long long)p->axis.v[i]);
        if (x->shape[axis] != 1)
            return mxl_error("squeeze: axis %lld has extent %lld, not 1", (long long)p->axis.v[i],
                             (long long)x->shape[axis]);
        gone[axis] = true;
    }
    return 0;
}

static int squeeze_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0];
    mxl_shape *out = &infer->out_shape[0];
    bool gone[MXL_MAX_NDIM];

    if (x->ndim == 0)
        return mxl_error("squeeze: the array has no axes");
    if (squeezed_axes(infer->params, x, gone) != 0)
        return -1;
    out->ndim = 0;
    for (int i = 0; i < x->ndim; i++) {
        if (!gone[i])
            out->dim[out->ndim++] = x->shape[i];
    }
    if (out->ndim == 0)
        out->dim[out->ndim++] = 1;
    infer->out_dtype[0] = x->dtype;
    return 0;
}

static const mxl_op op_squeeze = {
    .name = "squeeze",
    .doc = "The array without axes of extent 1. At least one axis stays.",
    .inputs = mxl_inputs_data,
    .params = squeeze_table,
    .params_size = sizeof(squeeze_params),
    .infer = squeeze_infer,
    .view = mxl_view_reshaped,
    .compute = same_elements,
    .grad = same_elements_grad,
};

/* ---- reshape_like ---- */

typedef struct like_params {
    int64_t lhs_begin, lhs_end, rhs_begin, rhs_end;
} like_params;

#define LIKE_BOUND(field, text)                                                                    \
    {.name = #field,                                                                               \
     .type = MXL_P_OPT_INT,                                                                        \
     .offset = offsetof(like_params, field),                                                       \
     .def = "None",                                                                                \
     .doc = text}

static const mxl_param like_table[] = {
    LIKE_BOUND(lhs_begin, "First axis of lhs that is replaced; None: the first of all."),
    LIKE_BOUND(lhs_end, "The axis of lhs behind the last that is replaced; None: behind the last."),
    LIKE_BOUND(rhs_begin, "First axis of rhs that is taken instead; None: the first of all."),
    LIKE_BOUND(rhs_end, "The axis of rhs behind the last that is taken; None: behind the last."),
    {0},
};

static const mxl_input like_inputs[] = {
    {.name = "lhs", .doc = "The array with the elements."},
    {.name = "rhs", .doc = "The array with the shape; its elements and dtype do not matter."},
    {0},
};

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

static int like_infer(mxl_infer *infer)
{
    like_params p = *(const like_params *)infer->params;
    const mxl_array *x = infer->in[0], *like = infer->in[1];
    mxl_shape *out = &infer->out_shape[0];
    char a[128], b[128];

    if (like_range("lhs", x->ndim, &p.lhs_begin, &p.lhs_end) != 0 ||
        like_range("rhs", like->ndim, &p.rhs_begin, &p.rhs_end) != 0)
        return -1;
    if (x->ndim - (p.lhs_end - p.lhs_begin) + (p.rhs_end - p.rhs_begin) > MXL_MAX_NDIM)
        return mxl_error("reshape_like: the result would have more than %d axes", MXL_MAX_NDIM);
    out->ndim = 0;
    for (int64_t i = 0; i < p.lhs_begin; i++)
        out->dim[out->ndim++] = x->shape[i];
    for (int64_t i = p.rhs_begin; i < p.rhs_end; i++)
        out->dim[out->ndim++] = like->shape[i];
    for (int64_t i = p.lhs_end; i < x->ndim; i++)
        out->dim[out->ndim++] = x->shape[i];
    infer->out_dtype[0] = x->dtype;
    if (mxl_shape_count(out->ndim, out->dim) != x->size)
        return mxl_error("reshape_like: an array of shape %s cannot have the shape %s",
                         mxl_shape_text(a, sizeof(a), x->ndim, x->shape),
                         mxl_shape_text(b, sizeof(b), out->ndim, out->dim));
    return 0;
}

static const mxl_op op_reshape_like = {
    .name = "reshape_like",
    .aliases = MXL_ALIASES("_npx_reshape_like"),
    .doc = "The elements of lhs in the shape of rhs, or with some of its axes.",
    .inputs = like_inputs,
    .params = like_table,
    .params_size = sizeof(like_params),
    .infer = like_infer,
    .compute = same_elements,
    .grad = same_elements_grad,
};

const mxl_op *const mxl_ops_reshape[] = {
    &op_flatten, &op_expand_dims, &op_squeeze, &op_reshape_like, NULL,
};
