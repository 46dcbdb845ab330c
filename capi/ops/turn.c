/* Operators that put the same elements in another order: SwapAxis, reverse, depth_to_space,
 * space_to_depth. */
#include "ops/linalg.h"

#include <stddef.h>
#include <string.h>

#include "kernel/copy.h"

/* Fills the output, read as `shape`, from the input: the strides of a walk through its elements
 * that begins at `skip`. */
static int copy_walk(const mxl_call *call, int ndim, const int64_t *shape, int64_t skip,
                     const int64_t *strides)
{
    const mxl_array *in = call->in[0];
    mxl_array *out = call->out[0];
    size_t width = mxl_dtype_size(in->dtype);
    int64_t steps[MXL_MAX_NDIM], step = 1;

    for (int i = ndim - 1; i >= 0; i--) {
        steps[i] = step;
        step *= shape[i];
    }
    if (out->size > 0)
        mxl_copy_strided(width, ndim, shape, mxl_array_write(out), steps,
                         (const char *)mxl_array_read(in) + skip * (int64_t)width, strides);
    return 0;
}

/* ---- SwapAxis ---- */

typedef struct swap_params {
    int64_t dim1, dim2;
} swap_params;

static const mxl_param swap_table[] = {
    {.name = "dim1",
     .type = MXL_P_INT,
     .offset = offsetof(swap_params, dim1),
     .def = "0",
     .doc = "One axis, counted from either end."},
    {.name = "dim2",
     .type = MXL_P_INT,
     .offset = offsetof(swap_params, dim2),
     .def = "0",
     .doc = "The other axis."},
    {0},
};

static void swap(int64_t *list, int a, int b)
{
    int64_t other = list[a];

    list[a] = list[b];
    list[b] = other;
}

static int swap_infer(mxl_infer *infer)
{
    const swap_params *p = infer->params;
    const mxl_array *x = infer->in[0];
    int a = mxl_shape_axis(p->dim1, x->ndim), b = mxl_shape_axis(p->dim2, x->ndim);

    if (a < 0 || b < 0)
        return mxl_error_prefix(infer->op->name);
    mxl_shape_set(&infer->out_shape[0], x->ndim, x->shape);
    swap(infer->out_shape[0].dim, a, b);
    infer->out_dtype[0] = x->dtype;
    return 0;
}

static bool swap_view(const void *params, const mxl_array *in, int output, const mxl_shape *out,
                      int64_t *strides, int64_t *skip)
{
    const swap_params *p = params;

    (void)output;
    *skip = 0;
    for (int i = 0; i < out->ndim; i++)
        strides[i] = in->strides[i];
    swap(strides, mxl_shape_axis(p->dim1, in->ndim), mxl_shape_axis(p->dim2, in->ndim));
    return true;
}

static int swap_compute(const mxl_call *call)
{
    const swap_params *p = call->params;
    const mxl_array *x = call->in[0];
    int64_t strides[MXL_MAX_NDIM];

    memcpy(strides, x->strides, (size_t)x->ndim * sizeof(*strides));
    swap(strides, mxl_shape_axis(p->dim1, x->ndim), mxl_shape_axis(p->dim2, x->ndim));
    return copy_walk(call, x->ndim, call->out[0]->shape, 0, strides);
}

/* dx = dy with the axes swapped back; reversed back */
static int back_grad(mxl_grad *g)
{
    return mxl_grad_set(g, 0, mxl_scope_call(g->s, g->op, g->params, 1, &g->head[0]));
}

static const mxl_op op_swap_axis = {
    .name = "SwapAxis",
    .aliases = MXL_ALIASES("_npi_swapaxes", "swapaxes"),
    .doc = "The array with two of its axes exchanged.",
    .inputs = mxl_inputs_data,
    .params = swap_table,
    .params_size = sizeof(swap_params),
    .infer = swap_infer,
    .view = swap_view,
    .compute = swap_compute,
    .grad = back_grad,
};

mxl_array *mxl_transposed(mxl_scope *s, mxl_array *a)
{
    swap_params params = {-2, -1};

    return mxl_scope_call(s, &op_swap_axis, &params, 1, &a);
}

/* ---- reverse ---- */

typedef struct reverse_params {
    mxl_tuple axis;
} reverse_params;

static const mxl_param reverse_table[] = {
    {.name = "axis",
     .type = MXL_P_SHAPE,
     .offset = offsetof(reverse_params, axis),
     .doc = "The axes to reverse, counted from the first; one that is named twice is not."},
    {0},
};

static int reverse_infer(mxl_infer *infer)
{
    const reverse_params *p = infer->params;
    const mxl_array *x = infer->in[0];

    for (int i = 0; i < p->axis.n; i++) {
        if (p->axis.v[i] < 0 || p->axis.v[i] >= x->ndim)
            return mxl_error("reverse: axis %lld is out of range for an array of %d axes",
                             (long long)p->axis.v[i], x->ndim);
    }
    return mxl_infer_same(infer);
}

static int reverse_compute(const mxl_call *call)
{
    const reverse_params *p = call->params;
    const mxl_array *x = call->in[0];
    int64_t strides[MXL_MAX_NDIM], skip = 0;

    memcpy(strides, x->strides, (size_t)x->ndim * sizeof(*strides));
    for (int i = 0; i < p->axis.n; i++) {
        int64_t axis = p->axis.v[i];

        skip += strides[axis] * (x->shape[axis] - 1);
        strides[axis] = -strides[axis];
    }
    return copy_walk(call, x->ndim, x->shape, skip, strides);
}

static const mxl_op op_reverse = {
    .name = "reverse",
    .aliases = MXL_ALIASES("flip"),
    .doc = "The array with the order along axes reversed.",
    .inputs = mxl_inputs_data,
    .params = reverse_table,
    .params_size = sizeof(reverse_params),
    .infer = reverse_infer,
    .compute = reverse_compute,
    .grad = back_grad,
};

mxl_array *mxl_reverse(mxl_scope *s, mxl_array *a, int axis)
{
    const int64_t axes[1] = {axis};
    reverse_params p = {{1, axes}};

    return mxl_scope_call(s, &op_reverse, &p, 1, &a);
}

/* ---- depth_to_space, space_to_depth ---- */

typedef struct block_params {
    int64_t block_size;
} block_params;

static const mxl_param block_table[] = {
    {.name = "block_size",
     .type = MXL_P_INT,
     .offset = offsetof(block_params, block_size),
     .doc = "Rows and columns of a block, whose elements stand along axis 1 of the other form."},
    {0},
};

/* Checks what both need: four axes, none of extent 0, and a block. */
static int block_check(const mxl_infer *infer)
{
    const block_params *p = infer->params;
    const mxl_array *x = infer->in[0];
    int64_t all;
    char text[128];

    if (x->ndim != 4 || x->size == 0)
        return mxl_error("%s: takes an array of 4 axes that has elements, got shape %s",
                         infer->op->name, mxl_shape_text(text, sizeof(text), x->ndim, x->shape));
    if (p->block_size < 1 || __builtin_mul_overflow(p->block_size, p->block_size, &all))
        return mxl_error("%s: a block_size of %lld is not possible", infer->op->name,
                         (long long)p->block_size);
    return 0;
}

static int block_result(mxl_infer *infer, int64_t depth, int64_t height, int64_t width)
{
    const int64_t shape[4] = {infer->in[0]->shape[0], depth, height, width};

    mxl_shape_set(&infer->out_shape[0], 4, shape);
    infer->out_dtype[0] = infer->in[0]->dtype;
    return 0;
}

static int indivisible(const mxl_infer *infer)
{
    const mxl_array *x = infer->in[0];
    char text[128];

    return mxl_error("%s: shape %s cannot be cut into blocks of %lld", infer->op->name,
                     mxl_shape_text(text, sizeof(text), x->ndim, x->shape),
                     (long long)((const block_params *)infer->params)->block_size);
}

static int to_space_infer(mxl_infer *infer)
{
    int64_t b = ((const block_params *)infer->params)->block_size;
    const int64_t *x = infer->in[0]->shape;

    if (block_check(infer) != 0)
        return -1;
    if (x[1] % (b * b) != 0)
        return indivisible(infer);
    return block_result(infer, x[1] / (b * b), x[2] * b, x[3] * b);
}

static int to_depth_infer(mxl_infer *infer)
{
    int64_t b = ((const block_params *)infer->params)->block_size;
    const int64_t *x = infer->in[0]->shape;

    if (block_check(infer) != 0)
        return -1;
    if (x[2] % b != 0 || x[3] % b != 0)
        return indivisible(infer);
    return block_result(infer, x[1] * b * b, x[2] / b, x[3] / b);
}

/* (n, row, column, c, h, w) becomes (n, c, h, row, w, column). */
static int to_space_compute(const mxl_call *call)
{
    int64_t b = ((const block_params *)call->params)->block_size;
    const int64_t *x = call->in[0]->shape;
    int64_t c = x[1] / (b * b), plane = x[2] * x[3];
    const int64_t shape[6] = {x[0], c, x[2], b, x[3], b};
    const int64_t strides[6] = {x[1] * plane, plane, x[3], b * c * plane, 1, c * plane};

    return copy_walk(call, 6, shape, 0, strides);
}

/* (n, c, h, row, w, column) becomes (n, row, column, c, h, w). */
static int to_depth_compute(const mxl_call *call)
{
    int64_t b = ((const block_params *)call->params)->block_size;
    const int64_t *x = call->in[0]->shape;
    int64_t plane = x[2] * x[3];
    const int64_t shape[6] = {x[0], b, b, x[1], x[2] / b, x[3] / b};
    const int64_t strides[6] = {x[1] * plane, x[3], 1, plane, x[3] * b, b};

    return copy_walk(call, 6, shape, 0, strides);
}

static const mxl_op op_space_to_depth;

/* dx = dy the other way */
static int to_space_grad(mxl_grad *g)
{
    return mxl_grad_set(g, 0, mxl_scope_call(g->s, &op_space_to_depth, g->params, 1, &g->head[0]));
}

static const mxl_op op_depth_to_space = {
    .name = "depth_to_space",
    .doc = "Elements along axis 1 laid out as blocks of rows and columns.",
    .inputs = mxl_inputs_data,
    .params = block_table,
    .params_size = sizeof(block_params),
    .infer = to_space_infer,
    .compute = to_space_compute,
    .grad = to_space_grad,
};

/* dx = dy the other way */
static int to_depth_grad(mxl_grad *g)
{
    return mxl_grad_set(g, 0, mxl_scope_call(g->s, &op_depth_to_space, g->params, 1, &g->head[0]));
}

static const mxl_op op_space_to_depth = {
    .name = "space_to_depth",
    .doc = "Blocks of rows and columns laid out along axis 1.",
    .inputs = mxl_inputs_data,
    .params = block_table,
    .params_size = sizeof(block_params),
    .infer = to_depth_infer,
    .compute = to_depth_compute,
    .grad = to_depth_grad,
};

const mxl_op *const mxl_ops_turn[] = {
    &op_swap_axis, &op_reverse, &op_depth_to_space, &op_space_to_depth, NULL,
};
