/* Operators that show the same elements in another shape or order of axes: Reshape, transpose. */
#include "ops/build.h"

#include <stddef.h>

#include "array/copy.h"
#include "kernel/copy.h"
#include "ops/view.h"

/* ---- Reshape ---- */

typedef struct reshape_params {
    mxl_tuple shape;
    mxl_tuple target_shape;
    int reverse;
    int keep_highest;
} reshape_params;

static const mxl_param reshape_table[] = {
    {.name = "shape",
     .type = MXL_P_SHAPE,
     .offset = offsetof(reshape_params, shape),
     .def = "[]",
     .doc =
         "The new shape: extents, or codes. 0 keeps an extent of the input, -1 is inferred from "
         "the size, -2 takes all axes that remain, -3 merges two axes, -4 splits one into the two "
         "numbers that follow it."},
    {.name = "reverse",
     .type = MXL_P_BOOL,
     .offset = offsetof(reshape_params, reverse),
     .def = "0",
     .doc = "Whether shape and codes are read from the right."},
    {.name = "target_shape",
     .type = MXL_P_SHAPE,
     .offset = offsetof(reshape_params, target_shape),
     .def = "[]",
     .doc = "Deprecated, use shape: the new shape, of which one extent may be 0 to be inferred."},
    {.name = "keep_highest",
     .type = MXL_P_BOOL,
     .offset = offsetof(reshape_params, keep_highest),
     .def = "0",
     .doc = "Deprecated: whether the first extent stays, whatever target_shape says."},
    {0},
};

/* target_shape in the codes of shape, where it is 0 that stands for what is inferred. */
static int target_shape(mxl_shape *out, const mxl_array *in, const reshape_params *p)
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
    /* The codes know how to keep an extent of 0. */
    if (p->keep_highest)
        codes[0] = 0;
    return mxl_reshape_codes(out, in->ndim, in->shape, n, codes, false);
}

static int reshape_infer(mxl_infer *infer)
{
    const reshape_params *p = infer->params;
    const mxl_array *in = infer->in[0];
    mxl_shape *out = &infer->out_shape[0];

    infer->out_dtype[0] = in->dtype;
    if (p->shape.n <= 0 && p->target_shape.n > 0)
        return target_shape(out, in, p);
    return mxl_reshape_codes(out, in->ndim, in->shape, p->shape.n, p->shape.v, p->reverse);
}

static int reshape_compute(const mxl_call *call)
{
    return mxl_array_copy_into(call->out[0], call->in[0]);
}

/* dx = dy in the shape of x */
static int reshape_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);

    return mxl_grad_set(g, 0, mxl_reshape(g->s, g->head[0], x->ndim, x->shape));
}

static const mxl_op op_reshape = {
    .name = "Reshape",
    .aliases = MXL_ALIASES("reshape"),
    .doc = "The same elements in another shape, which must be of as many.",
    .inputs = mxl_inputs_data,
    .params = reshape_table,
    .params_size = sizeof(reshape_params),
    .infer = reshape_infer,
    .view = mxl_view_reshaped,
    .compute = reshape_compute,
    .grad = reshape_grad,
    .keeps_scalars = true,
};

/* ---- transpose ---- */

typedef struct transpose_params {
    mxl_tuple axes;
} transpose_params;

static const mxl_param transpose_table[] = {
    {.name = "axes",
     .type = MXL_P_SHAPE,
     .offset = offsetof(transpose_params, axes),
     .def = "[]",
     .doc = "Which axis of the input each axis of the result is; empty: the axes in reverse."},
    {0},
};

/* The input's axis that is axis i of the result. */
static int source_axis(const mxl_tuple *axes, int ndim, int i)
{
    return axes->n <= 0 ? ndim - 1 - i : (int)axes->v[i];
}

static int check_axes(const char *name, const mxl_tuple *axes, int ndim)
{
    bool seen[MXL_MAX_NDIM] = {false};

    if (axes->n != ndim)
        return mxl_error("%s: axes names %d axes, the array has %d", name, axes->n, ndim);
    for (int i = 0; i < ndim; i++) {
        int64_t axis = axes->v[i];

        if (axis < 0 || axis >= ndim)
            return mxl_error("%s: axis %lld is not one of 0 to %d", name, (long long)axis,
                             ndim - 1);
        if (seen[axis])
            return mxl_error("%s: axis %lld is named twice", name, (long long)axis);
        seen[axis] = true;
    }
    return 0;
}

static int transpose_infer(mxl_infer *infer)
{
    const transpose_params *p = infer->params;
    const mxl_array *in = infer->in[0];
    mxl_shape *out = &infer->out_shape[0];

    if (p->axes.n > 0 && check_axes(infer->op->name, &p->axes, in->ndim) != 0)
        return -1;
    out->ndim = in->ndim;
    for (int i = 0; i < in->ndim; i++)
        out->dim[i] = in->shape[source_axis(&p->axes, in->ndim, i)];
    infer->out_dtype[0] = in->dtype;
    return 0;
}

static bool transpose_view(const void *params, const mxl_array *in, int output,
                           const mxl_shape *out, int64_t *strides, int64_t *skip)
{
    const transpose_params *p = params;

    (void)output;
    *skip = 0;
    for (int i = 0; i < out->ndim; i++)
        strides[i] = in->strides[source_axis(&p->axes, in->ndim, i)];
    return true;
}

static int transpose_compute(const mxl_call *call)
{
    const transpose_params *p = call->params;
    const mxl_array *in = call->in[0];
    mxl_array *out = call->out[0];
    int64_t strides[MXL_MAX_NDIM];

    for (int i = 0; i < in->ndim; i++)
        strides[i] = in->strides[source_axis(&p->axes, in->ndim, i)];
    mxl_copy_strided(mxl_dtype_size(in->dtype), in->ndim, out->shape, mxl_array_write(out),
                     out->strides, mxl_array_read(in), strides);
    return 0;
}

static const mxl_op op_transpose;

/* dx = dy with its axes back in their places */
static int transpose_grad(mxl_grad *g)
{
    const transpose_params *p = g->params;
    int64_t back[MXL_MAX_NDIM];
    transpose_params inverse = {{p->axes.n, back}};

    for (int i = 0; i < p->axes.n; i++)
        back[p->axes.v[i]] = i;
    return mxl_grad_set(g, 0, mxl_scope_call(g->s, &op_transpose, &inverse, 1, &g->head[0]));
}

static const mxl_op op_transpose = {
    .name = "transpose",
    .doc = "The array with its axes in another order.",
    .inputs = mxl_inputs_data,
    .params = transpose_table,
    .params_size = sizeof(transpose_params),
    .infer = transpose_infer,
    .view = transpose_view,
    .compute = transpose_compute,
    .grad = transpose_grad,
};

const mxl_op *const mxl_ops_shape[] = {&op_reshape, &op_transpose, NULL};
