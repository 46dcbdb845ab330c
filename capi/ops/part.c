/* Parts along an axis: slice_axis, slice_like, _split_v2; and arrays laid side by side along a new
 * one: stack. */
#include <limits.h>
#include <stddef.h>

#include "base/mem.h"
#include "kernel/copy.h"
#include "ops/build.h"
#include "ops/slice.h"

/* Fills out from the box of `in` that begins at begin[]. */
static void copy_box(mxl_array *out, const mxl_array *in, const int64_t *begin)
{
    size_t width = mxl_dtype_size(in->dtype);
    int64_t skip = 0;
    char *data = mxl_array_write(out);

    for (int i = 0; i < in->ndim; i++)
        skip += begin[i] * in->strides[i];
    if (out->size > 0)
        mxl_copy_strided(width, in->ndim, out->shape, data, out->strides,
                         (const char *)mxl_array_read(in) + skip * (int64_t)width, in->strides);
}

/* ---- slice_axis ---- */

typedef struct axis_params {
    int64_t axis, begin, end;
} axis_params;

static const mxl_param axis_table[] = {
    {.name = "axis",
     .type = MXL_P_INT,
     .offset = offsetof(axis_params, axis),
     .doc = "The axis to cut, counted from either end."},
    {.name = "begin",
     .type = MXL_P_INT,
     .offset = offsetof(axis_params, begin),
     .doc = "The first position; a negative one counts from the end."},
    {.name = "end",
     .type = MXL_P_OPT_INT,
     .offset = offsetof(axis_params, end),
     .doc = "The position behind the last; None: the end."},
    {0},
};

/* The axis and its positions, which must lie within it and not be none. Of nothing there is nothing
 * to take, whatever the positions. */
static int axis_bounds(const axis_params *p, int ndim, const int64_t *shape, int64_t *begin,
                       int64_t *end)
{
    int axis = mxl_find_axis("slice_axis", p->axis, ndim);
    int64_t extent = axis < 0 ? 0 : shape[axis];

    if (axis < 0)
        return -1;
    *begin = p->begin < 0 ? p->begin + extent : p->begin;
    *end = p->end == MXL_NONE ? extent : p->end < 0 ? p->end + extent : p->end;
    if (extent == 0)
        *begin = *end = 0;
    else if (*begin < 0 || *end > extent || *begin >= *end)
        return mxl_error("slice_axis: positions %lld to %lld of an axis of %lld", (long long)*begin,
                         (long long)*end, (long long)extent);
    return axis;
}

static int axis_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0];
    int64_t begin, end;
    int axis = axis_bounds(infer->params, x->ndim, x->shape, &begin, &end);

    if (axis < 0)
        return -1;
    mxl_shape_set(&infer->out_shape[0], x->ndim, x->shape);
    infer->out_shape[0].dim[axis] = end - begin;
    infer->out_dtype[0] = x->dtype;
    return 0;
}

static bool axis_view(const void *params, const mxl_array *in, int output, const mxl_shape *out,
                      int64_t *strides, int64_t *skip)
{
    int64_t begin, end;
    int axis = axis_bounds(params, in->ndim, in->shape, &begin, &end);

    (void)output;
    for (int i = 0; i < out->ndim; i++)
        strides[i] = in->strides[i];
    *skip = axis < 0 || begin == end ? 0 : begin * in->strides[axis];
    return axis >= 0;
}

static int axis_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0];
    int64_t begins[MXL_MAX_NDIM] = {0}, begin, end;
    int axis = axis_bounds(call->params, x->ndim, x->shape, &begin, &end);

    if (axis < 0)
        return -1;
    begins[axis] = begin;
    copy_box(call->out[0], x, begins);
    return 0;
}

/* dx = dy at its positions, zeros elsewhere */
static int axis_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    int64_t begin[MXL_MAX_NDIM] = {0}, end[MXL_MAX_NDIM];
    int axis;

    for (int i = 0; i < x->ndim; i++)
        end[i] = x->shape[i];
    axis = axis_bounds(g->params, x->ndim, x->shape, &begin[0], &end[0]);
    if (axis > 0) {
        begin[axis] = begin[0];
        end[axis] = end[0];
        begin[0] = 0;
        end[0] = x->shape[0];
    }
    if (axis < 0)
        return -1;
    return mxl_grad_set(g, 0,
                        mxl_slice_put(g->s, g->head[0], x->ndim, begin, end, x->ndim, x->shape));
}

static const mxl_op op_slice_axis = {
    .name = "slice_axis",
    .doc = "The part of the array between two positions of one axis.",
    .inputs = mxl_inputs_data,
    .params = axis_table,
    .params_size = sizeof(axis_params),
    .infer = axis_infer,
    .view = axis_view,
    .compute = axis_compute,
    .grad = axis_grad,
};

/* ---- slice_like ---- */

typedef struct like_params {
    mxl_tuple axes;
} like_params;

static const mxl_param like_table[] = {
    {.name = "axes",
     .type = MXL_P_SHAPE,
     .offset = offsetof(like_params, axes),
     .def = "[]",
     .doc = "The axes to cut, counted from either end; none named: all."},
    {0},
};

static const mxl_input like_inputs[] = {
    {.name = "data", .doc = "The array to cut."},
    {.name = "shape_like", .doc = "The array with the extents; its elements do not matter."},
    {0},
};

static int like_cut(mxl_shape *out, int axis, int64_t extent)
{
    if (extent > out->dim[axis])
        return mxl_error("slice_like: axis %d has extent %lld, which cannot be cut to %lld", axis,
                         (long long)out->dim[axis], (long long)extent);
    out->dim[axis] = extent;
    return 0;
}

static int like_infer(mxl_infer *infer)
{
    const mxl_tuple *axes = &((const like_params *)infer->params)->axes;
    const mxl_array *x = infer->in[0], *like = infer->in[1];
    mxl_shape *out = &infer->out_shape[0];

    mxl_shape_set(out, x->ndim, x->shape);
    infer->out_dtype[0] = x->dtype;
    if (axes->n <= 0 && x->ndim != like->ndim)
        return mxl_error("slice_like: data has %d axes, shape_like %d; without `axes` they must "
                         "be as many",
                         x->ndim, like->ndim);
    for (int i = 0; axes->n <= 0 && i < x->ndim; i++) {
        if (like_cut(out, i, like->shape[i]) != 0)
            return -1;
    }
    for (int i = 0; i < axes->n; i++) {
        int axis = mxl_find_axis("slice_like", axes->v[i], x->ndim);

        if (axis < 0)
            return -1;
        if (axis >= like->ndim)
            return mxl_error("slice_like: shape_like has %d axes, axis %d is asked for", like->ndim,
                             axis);
        if (like_cut(out, axis, like->shape[axis]) != 0)
            return -1;
    }
    return 0;
}

static int like_compute(const mxl_call *call)
{
    const int64_t begin[MXL_MAX_NDIM] = {0};

    copy_box(call->out[0], call->in[0], begin);
    return 0;
}

/* dx = dy at the front, zeros behind it */
static int like_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0), *y = mxl_grad_out_meta(g, 0);
    const int64_t begin[MXL_MAX_NDIM] = {0};

    return mxl_grad_set(
        g, 0, mxl_slice_put(g->s, g->head[0], x->ndim, begin, y->shape, x->ndim, x->shape));
}

static const mxl_op op_slice_like = {
    .name = "slice_like",
    .doc = "The front part of the array with the extents of another along the given axes.",
    .inputs = like_inputs,
    .params = like_table,
    .params_size = sizeof(like_params),
    .infer = like_infer,
    .compute = like_compute,
    .grad = like_grad,
};

/* ---- _split_v2 ---- */

enum { MOST_PARTS = 1 << 24 };

typedef struct split_params {
    mxl_tuple indices;
    int64_t axis;
    int squeeze_axis;
    int64_t sections;
} split_params;

static const mxl_param split_table[] = {
    {.name = "indices",
     .type = MXL_P_SHAPE,
     .offset = offsetof(split_params, indices),
     .doc = "Where the parts begin, the first at 0; of no meaning where `sections` is given.",
     .sets_outputs = true},
    {.name = "axis",
     .type = MXL_P_INT,
     .offset = offsetof(split_params, axis),
     .def = "1",
     .doc = "The axis to cut, counted from either end."},
    {.name = "squeeze_axis",
     .type = MXL_P_BOOL,
     .offset = offsetof(split_params, squeeze_axis),
     .def = "0",
     .doc = "Whether the parts go without the axis, of which each then has one position."},
    {.name = "sections",
     .type = MXL_P_INT,
     .offset = offsetof(split_params, sections),
     .def = "0",
     .doc = "How many parts to make; the first ones are longer by one where it does not go even.",
     .sets_outputs = true},
    {0},
};

static int split_arity(const void *params, mxl_arity *arity)
{
    const split_params *p = params;
    int64_t parts = p->sections > 0 ? p->sections : p->indices.n;

    if (parts < 1 || parts > MOST_PARTS)
        return mxl_error("_split_v2: makes %lld parts; it must be from 1 to %d", (long long)parts,
                         (int)MOST_PARTS);
    arity->inputs = 1;
    arity->outputs = arity->visible = (int)parts;
    return 0;
}

/* Where part i of an axis begins; i may be the number of parts. */
static int64_t part_begin(const split_params *p, int64_t extent, int64_t i)
{
    if (p->sections > 0) {
        int64_t each = extent / p->sections, longer = extent % p->sections;

        return i * each + (i < longer ? i : longer);
    }
    return i < p->indices.n ? p->indices.v[i] : extent;
}

static int split_infer(mxl_infer *infer)
{
    const split_params *p = infer->params;
    const mxl_array *x = infer->in[0];
    int axis = mxl_find_axis("_split_v2", p->axis, x->ndim);
    int64_t extent = axis < 0 ? 0 : x->shape[axis];

    if (axis < 0)
        return -1;
    if (part_begin(p, extent, 0) != 0)
        return mxl_error("_split_v2: the first part begins at %lld, it must be 0",
                         (long long)part_begin(p, extent, 0));
    for (int i = 0; i < infer->num_outputs; i++) {
        int64_t begin = part_begin(p, extent, i), end = part_begin(p, extent, i + 1);
        mxl_shape *out = &infer->out_shape[i];

        if (begin > end || end > extent)
            return mxl_error("_split_v2: a part from %lld to %lld of an axis of %lld",
                             (long long)begin, (long long)end, (long long)extent);
        if (p->squeeze_axis && end - begin != 1)
            return mxl_error("_split_v2: squeeze_axis needs parts of one position, one has %lld",
                             (long long)(end - begin));
        out->ndim = 0;
        for (int k = 0; k < x->ndim; k++) {
            if (k != axis)
                out->dim[out->ndim++] = x->shape[k];
            else if (!p->squeeze_axis)
                out->dim[out->ndim++] = end - begin;
        }
        infer->out_dtype[i] = x->dtype;
    }
    return 0;
}

static bool split_view(const void *params, const mxl_array *in, int output, const mxl_shape *out,
                       int64_t *strides, int64_t *skip)
{
    const split_params *p = params;
    int axis = mxl_shape_axis(p->axis, in->ndim), o = 0;

    for (int k = 0; k < in->ndim; k++) {
        if (k != axis || !p->squeeze_axis)
            strides[o++] = in->strides[k];
    }
    *skip = out->ndim > 0 && in->size == 0
                ? 0
                : part_begin(p, in->shape[axis], output) * in->strides[axis];
    return true;
}

/* Each part as blocks: one per position before the axis. */
static int split_compute(const mxl_call *call)
{
    const split_params *p = call->params;
    const mxl_array *x = call->in[0];
    int axis = mxl_find_axis("_split_v2", p->axis, x->ndim);
    const char *data = mxl_array_read(x);
    int64_t extent, inner;

    if (axis < 0)
        return -1;
    extent = x->shape[axis];
    inner =
        mxl_shape_size(x->ndim - axis - 1, x->shape + axis + 1) * (int64_t)mxl_dtype_size(x->dtype);
    for (int i = 0; i < call->num_outputs; i++) {
        int64_t begin = part_begin(p, extent, i), end = part_begin(p, extent, i + 1);

        if (call->out[i]->size > 0)
            mxl_copy_blocks(mxl_shape_size(axis, x->shape), (end - begin) * inner,
                            mxl_array_write(call->out[i]), (end - begin) * inner,
                            data + begin * inner, extent * inner);
    }
    return 0;
}

/* dx = the heads joined, zeros where none arrived; a squeezed axis comes back first */
static int split_grad(mxl_grad *g)
{
    const split_params *p = g->params;
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    int axis = mxl_find_axis("_split_v2", p->axis, x->ndim);
    size_t bytes = (size_t)g->num_outputs * sizeof(mxl_array *);
    mxl_array **heads = axis < 0 ? NULL : mxl_alloc(bytes);
    mxl_shape shape;
    int status;

    if (heads == NULL)
        return -1;
    mxl_shape_set(&shape, x->ndim, x->shape);
    for (int i = 0; i < g->num_outputs; i++) {
        shape.dim[axis] = part_begin(p, x->shape[axis], i + 1) - part_begin(p, x->shape[axis], i);
        heads[i] = mxl_reshape(g->s, mxl_grad_head(g, i), shape.ndim, shape.dim);
    }
    status = mxl_grad_set(g, 0, mxl_concat(g->s, g->num_outputs, heads, axis));
    mxl_free(heads, bytes);
    return status;
}

static const mxl_op op_split_v2 = {
    .name = "_split_v2",
    .aliases = MXL_ALIASES("_npi_split"),
    .doc = "Cuts the array along an axis, into equal parts or at given positions.",
    .inputs = mxl_inputs_data,
    .params = split_table,
    .params_size = sizeof(split_params),
    .arity = split_arity,
    .infer = split_infer,
    .view = split_view,
    .compute = split_compute,
    .grad = split_grad,
    .keeps_scalars = true,
};

/* ---- stack ---- */

typedef struct stack_params {
    int64_t axis, num_args;
} stack_params;

static const mxl_input stack_inputs[] = {
    {.name = "data", .doc = "The arrays, all of one shape.", .type_text = "NDArray-or-Symbol[]"},
    {0},
};

static const mxl_param stack_table[] = {
    {.name = "axis",
     .type = MXL_P_INT,
     .offset = offsetof(stack_params, axis),
     .def = "0",
     .doc = "Where the new axis stands in the result, counted from either end."},
    {.name = "num_args",
     .type = MXL_P_INT,
     .offset = offsetof(stack_params, num_args),
     .doc = "Number of arrays.",
     .min = 1,
     .has_min = true},
    {0},
};

static int stack_arity(const void *params, mxl_arity *arity)
{
    const stack_params *p = params;

    if (p->num_args > 0 && p->num_args <= INT_MAX)
        arity->inputs = (int)p->num_args;
    else if (arity->inputs < 1)
        arity->inputs = 1;
    return 0;
}

static int stack_infer(mxl_infer *infer)
{
    const stack_params *p = infer->params;
    const mxl_array *x = infer->in[0];
    mxl_shape *out = &infer->out_shape[0];
    int axis;

    if (x->ndim == MXL_MAX_NDIM)
        return mxl_error("stack: the arrays have %d axes already, as many as possible", x->ndim);
    axis = mxl_find_axis("stack", p->axis, x->ndim + 1);
    if (axis < 0 || mxl_infer_same(infer) != 0)
        return -1;
    out->ndim = x->ndim + 1;
    for (int i = 0; i < out->ndim; i++)
        out->dim[i] = i == axis ? infer->num_inputs : x->shape[i < axis ? i : i - 1];
    return 0;
}

static int stack_compute(const mxl_call *call)
{
    const stack_params *p = call->params;
    const mxl_array *x = call->in[0];
    int axis = mxl_find_axis("stack", p->axis, x->ndim + 1);
    char *data = mxl_array_write(call->out[0]);
    int64_t inner;

    if (axis < 0)
        return -1;
    inner = mxl_shape_size(x->ndim - axis, x->shape + axis) * (int64_t)mxl_dtype_size(x->dtype);
    for (int i = 0; i < call->num_inputs && x->size > 0; i++)
        mxl_copy_blocks(mxl_shape_size(axis, x->shape), inner, data + i * inner,
                        call->num_inputs * inner, mxl_array_read(call->in[i]), inner);
    return 0;
}

/* dx_i = its position of dy, without the axis */
static int stack_grad(mxl_grad *g)
{
    const stack_params *p = g->params;
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    int axis = mxl_find_axis("stack", p->axis, x->ndim + 1);

    if (axis < 0)
        return -1;
    for (int i = 0; i < g->num_inputs; i++) {
        mxl_array *part;

        if (!mxl_grad_wants(g, i))
            continue;
        part = mxl_slice_axis(g->s, g->head[0], axis, i, i + 1);
        if (mxl_grad_set(g, i, mxl_reshape(g->s, part, x->ndim, x->shape)) != 0)
            return -1;
    }
    return 0;
}

static const mxl_op op_stack = {
    .name = "stack",
    .doc = "Arrays of one shape side by side along a new axis.",
    .inputs = stack_inputs,
    .params = stack_table,
    .params_size = sizeof(stack_params),
    .key_var_num_args = "num_args",
    .arity = stack_arity,
    .infer = stack_infer,
    .compute = stack_compute,
    .grad = stack_grad,
};

const mxl_op *const mxl_ops_part[] = {
    &op_slice_axis, &op_slice_like, &op_split_v2, &op_stack, NULL,
};
