/* Executes plans: shapes for infer, copies for compute; and the statements that plans are made of.
 * Called by engine/run/invoke.c and by ops/. */
#include "op/plan.h"

#include <string.h>

#include "array/copy.h"
#include "array/expression.h"
#include "kernel/copy/strided_copy.h"
#include "kernel/copy/copy_loops.h"

/* ---- initialisation ---- */

static void begin(mxl_plan *p, const mxl_op *op, const void *params)
{
    p->op = op;
    p->params = params;
    p->output = 0;
    p->legacy_shape = p->reshapes = p->puts = p->copies = false;
    p->skip = 0;
}

void mxl_plan_begin(mxl_plan *p, const mxl_op *op, const void *params, int ndim,
                    const int64_t *shape)
{
    begin(p, op, params);
    p->straight = true;
    mxl_shape_set(&p->shape, ndim, shape);
    mxl_shape_strides(ndim, shape, p->strides);
}

int mxl_plan_inputs(mxl_plan *p, const mxl_op *op, const void *params, int output,
                    bool legacy_shape, int num_inputs, mxl_array *const *inputs)
{
    const mxl_array *x = inputs[0], *like = inputs[num_inputs - 1];

    begin(p, op, params);
    p->output = output;
    p->legacy_shape = legacy_shape;
    p->straight = x->contiguous;
    p->like_ndim = like->ndim;
    p->like_shape = like->shape;
    p->shape.ndim = x->ndim;
    for (int i = 0; i < x->ndim; i++) {
        p->shape.dim[i] = x->shape[i];
        p->strides[i] = x->strides[i];
    }
    return op->plan(p);
}

/* ---- statements ---- */

int mxl_plan_axis(const mxl_plan *p, int64_t axis)
{
    return mxl_check_axis(p->op, axis, p->shape.ndim);
}

void mxl_plan_cut(mxl_plan *p, int axis, int64_t begin, int64_t count, int64_t step)
{
    p->straight = false;
    p->shape.dim[axis] = count;
    if (count > 0)
        p->skip += begin * p->strides[axis];
    if (count > 1) /* one position needs no stride, and a huge step would overflow */
        p->strides[axis] *= step;
    p->copies = p->copies || step < 0;
}

void mxl_plan_drop(mxl_plan *p, int axis)
{
    p->straight = false;
    p->shape.ndim--;
    for (int i = axis; i < p->shape.ndim; i++) {
        p->shape.dim[i] = p->shape.dim[i + 1];
        p->strides[i] = p->strides[i + 1];
    }
}

int mxl_plan_insert(mxl_plan *p, int axis, int64_t extent)
{
    if (p->shape.ndim == MXL_MAX_NDIM)
        return mxl_error("%s: the result would have more than %d axes", p->op->name, MXL_MAX_NDIM);
    p->straight = false;
    for (int i = p->shape.ndim++; i > axis; i--) {
        p->shape.dim[i] = p->shape.dim[i - 1];
        p->strides[i] = p->strides[i - 1];
    }
    p->shape.dim[axis] = extent;
    p->strides[axis] = 0;
    return 0;
}

void mxl_plan_repeat(mxl_plan *p, int axis, int64_t extent)
{
    if (p->shape.dim[axis] == extent)
        return;
    p->straight = false;
    p->shape.dim[axis] = extent;
    p->strides[axis] = 0;
}

void mxl_plan_swap(mxl_plan *p, int a, int b)
{
    int64_t extent = p->shape.dim[a], stride = p->strides[a];

    p->straight = false;
    p->shape.dim[a] = p->shape.dim[b];
    p->strides[a] = p->strides[b];
    p->shape.dim[b] = extent;
    p->strides[b] = stride;
}

void mxl_plan_walk(mxl_plan *p, int ndim, const int64_t *shape, const int64_t *strides)
{
    p->straight = false;
    p->shape.ndim = ndim;
    for (int i = 0; i < ndim; i++) {
        p->shape.dim[i] = shape[i];
        p->strides[i] = strides[i];
    }
}

/* Computes strides for another shape of the walk's elements (at least one). Goes from the last axis
 * to the first in groups of axes that form one evenly spaced run; axes of the new shape must fill
 * each group exactly. */
static bool restride(const mxl_plan *p, int ndim, const int64_t *shape, int64_t *strides)
{
    const int64_t *dim = p->shape.dim;
    int last = p->shape.ndim - 1, o = ndim - 1;
    int64_t step = last >= 0 ? p->strides[last] : 1, run = 1;

    for (int i = last; i >= 0; i--) {
        int64_t filled = 1;

        run *= dim[i];
        if (i > 0 && (dim[i - 1] == 1 || p->strides[i - 1] == run * step))
            continue; /* the next axis belongs to the group */
        for (; o >= 0 && (filled < run || shape[o] == 1); o--) {
            strides[o] = filled * step;
            filled *= shape[o];
        }
        if (filled != run)
            return false;
        if (i > 0)
            step = p->strides[i - 1];
        run = 1;
    }
    for (; o >= 0; o--) /* an array without axes: all sizes are 1 */
        strides[o] = 1;
    return true;
}

void mxl_plan_reshape(mxl_plan *p, int ndim, const int64_t *shape)
{
    int64_t strides[MXL_MAX_NDIM];

    if (p->straight || mxl_shape_size(ndim, shape) <= 0 ||
        mxl_shape_size(p->shape.ndim, p->shape.dim) < 0) {
        mxl_shape_set(&p->shape, ndim, shape);
        mxl_shape_strides(ndim, shape, p->strides);
    } else if (restride(p, ndim, shape, strides)) {
        mxl_shape_set(&p->shape, ndim, shape);
        memcpy(p->strides, strides, (size_t)ndim * sizeof(*strides));
    } else {
        p->reshapes = true;
        mxl_shape_set(&p->result, ndim, shape);
    }
}

void mxl_plan_put(mxl_plan *p, int ndim, const int64_t *shape, const int64_t *strides, int64_t skip,
                  mxl_tuple zeros)
{
    p->straight = false;
    p->puts = p->reshapes = true;
    mxl_shape_set(&p->shape, ndim, shape);
    for (int i = 0; i < ndim; i++)
        p->strides[i] = strides[i];
    p->skip = skip;
    mxl_shape_set(&p->result, zeros.n, zeros.v);
}

/* ---- copies ---- */

/* Up to this many bytes, and elements in rows, the general walk costs more than the copies. */
enum { FEW_BYTES = 1 << 16, FEW_ELEMENTS = 256 };

/* Rows of evenly spaced blocks: `count` blocks of `run` elements, `step` apart. */
typedef struct rows {
    int axes; /* the plan's first axes, along which the rows are */
    int64_t width, run, step, count;
} rows;

static void copy_row(const rows *r, char *out, const char *in)
{
    if (r->run == 1)
        mxl_copy_run((size_t)r->width, out, 1, in, r->step, r->count);
    else
        mxl_copy_pieces(r->run * r->width, r->count, out, r->run * r->width, in,
                        r->step * r->width);
}

static void copy_rows(const mxl_plan *p, const rows *r, int64_t num_rows, char *out, const char *in)
{
    int64_t position[MXL_MAX_NDIM];

    for (int axis = 0; axis < r->axes; axis++)
        position[axis] = 0;
    for (int64_t row = 0; row < num_rows; row++) {
        copy_row(r, out, in);
        out += r->run * r->count * r->width;
        for (int axis = r->axes - 1; axis >= 0; axis--) {
            in += p->strides[axis] * r->width;
            if (++position[axis] < p->shape.dim[axis])
                break;
            in -= p->strides[axis] * p->shape.dim[axis] * r->width;
            position[axis] = 0;
        }
    }
}

/* Copies one block, a few evenly spaced blocks, or a few rows of them. */
static bool copy_blocks(const mxl_plan *p, int64_t width, char *out, const char *in)
{
    int64_t run = 1, count = 1, step, num_rows = 1;
    int i = p->shape.ndim - 1;

    for (; i >= 0 && (p->shape.dim[i] == 1 || p->strides[i] == run); i--)
        run *= p->shape.dim[i];
    if (i < 0) {
        mxl_copy_bytes(out, in, (size_t)(run * width));
        return true;
    }
    step = p->strides[i];
    for (; i >= 0 && (p->shape.dim[i] == 1 || p->strides[i] == step * count); i--)
        count *= p->shape.dim[i];
    for (int axis = 0; axis <= i && num_rows <= FEW_ELEMENTS; axis++)
        num_rows *= p->shape.dim[axis];
    if (count * run * width > FEW_BYTES || (i >= 0 && num_rows * count * run > FEW_ELEMENTS))
        return false;
    copy_rows(p, &(rows){i + 1, width, run, step, count}, num_rows, out, in);
    return true;
}

/* Defers the copy; false: it runs now. */
static bool copy_later(const mxl_plan *p, mxl_array *in, mxl_array *out)
{
    mxl_array *view;
    bool done;

    if (p->puts || !mxl_defers(out->size) || in->storage == out->storage)
        return false;
    if (p->straight || in->size == 1)
        return mxl_array_copy_later(out, in);
    view = mxl_array_strided(in, p->skip, p->shape.ndim, p->shape.dim, p->strides);
    if (view == NULL)
        return false;
    done = mxl_array_copy_later(out, view);
    mxl_array_release(view);
    return done;
}

void mxl_plan_copy(const mxl_plan *p, const mxl_array *in, mxl_array *out)
{
    size_t width = mxl_dtype_size(in->dtype);
    int64_t skip = p->skip * (int64_t)width, straight[MXL_MAX_NDIM];
    const char *from;
    char *to;
    uint64_t zero = 0;

    if (copy_later(p, (mxl_array *)(size_t)in, out))
        return;
    from = mxl_array_read(in);
    to = mxl_array_write(out);
    if (p->straight) {
        mxl_copy_bytes(to, from, (size_t)out->size * width);
        return;
    }
    if (p->puts && in->size < out->size)
        mxl_fill(width, to, &zero, out->size);
    if (in->size == 0 || out->size == 0)
        return;
    if (!p->puts && copy_blocks(p, (int64_t)width, to, from + skip))
        return;
    mxl_shape_strides(p->shape.ndim, p->shape.dim, straight);
    if (p->puts)
        mxl_copy_strided(width, p->shape.ndim, p->shape.dim, to + skip, p->strides, from, straight);
    else
        mxl_copy_strided(width, p->shape.ndim, p->shape.dim, to, straight, from + skip, p->strides);
}

/* ---- in descriptors ---- */

int mxl_plan_infer(mxl_infer *infer)
{
    for (int i = 0; i < infer->num_outputs; i++) {
        const mxl_shape *result;
        mxl_plan p;

        if (mxl_plan_inputs(&p, infer->op, infer->params, i, infer->legacy_shape, infer->num_inputs,
                            infer->in) != 0)
            return -1;
        result = mxl_plan_result(&p);
        mxl_shape_set(&infer->out_shape[i], result->ndim, result->dim);
        infer->out_dtype[i] = infer->in[0]->dtype;
    }
    return 0;
}

int mxl_plan_compute(const mxl_call *call)
{
    for (int i = 0; i < call->num_outputs; i++) {
        mxl_plan p;

        if (mxl_plan_inputs(&p, call->op, call->params, i, false, call->num_inputs, call->in) != 0)
            return -1;
        mxl_plan_copy(&p, call->in[0], call->out[i]);
    }
    return 0;
}
