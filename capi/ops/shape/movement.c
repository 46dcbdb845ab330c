/* Gradients of movements: each output's gradient goes back to its input element. */
#include "ops/shape/movement.h"

/* ---- the gradient of a plan ---- */

/* Sums dy, which has the shape of the walk, along repeated dimensions, and removes these from the
 * plan. */
static mxl_array *sum_repeated(mxl_scope *s, mxl_plan *p, mxl_array *dy)
{
    for (int i = 0; i < p->shape.ndim; i++) {
        if (p->strides[i] == 0)
            p->shape.dim[i] = 1;
    }
    return mxl_sum_to(s, dy, p->shape.ndim, p->shape.dim);
}

/* True if the walk visits all elements of an array of `size` in their order. */
static bool is_whole(const mxl_plan *p, int64_t size)
{
    int64_t next = 1;

    if (p->skip != 0)
        return false;
    for (int i = p->shape.ndim - 1; i >= 0; i--) {
        if (p->shape.dim[i] != 1 && p->strides[i] != next)
            return false;
        next *= p->shape.dim[i];
    }
    return next == size;
}

int mxl_movement_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0), *like = mxl_grad_in_meta(g, g->num_inputs - 1);
    mxl_strided_params part;
    mxl_array *dy = g->grad_output[0];
    mxl_plan p;

    mxl_plan_begin(&p, g->op, g->params, x->ndim, x->shape);
    p.like_ndim = like->ndim;
    p.like_shape = like->shape;
    if (g->op->plan(&p) != 0)
        return -1;
    part = (mxl_strided_params){.shape = {p.shape.ndim, p.shape.dim},
                                .strides = {p.shape.ndim, p.strides},
                                .zeros = {x->ndim, x->shape},
                                .skip = p.skip};
    if (p.puts) {
        dy = mxl_scope_call(g->s, &mxl_op_as_strided, &part, 1, &dy);
    } else {
        dy = mxl_reshape(g->s, dy, p.shape.ndim, p.shape.dim);
        dy = sum_repeated(g->s, &p, dy);
        if (!is_whole(&p, mxl_shape_size(x->ndim, x->shape)))
            dy = mxl_zeros_put(g->s, dy, &part);
    }
    return mxl_grad_set(g, 0, mxl_reshape(g->s, dy, x->ndim, x->shape));
}

int mxl_reshape_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);

    return mxl_grad_set(g, 0, mxl_reshape(g->s, g->grad_output[0], x->ndim, x->shape));
}

/* ---- for vjps ---- */

mxl_array *mxl_zeros_put(mxl_scope *s, mxl_array *a, const mxl_strided_params *part)
{
    return mxl_scope_call(s, &mxl_op_zeros_put, part, 1, &a);
}

mxl_array *mxl_slice_put(mxl_scope *s, mxl_array *a, int axis, int64_t begin, int ndim,
                         const int64_t *shape)
{
    int64_t strides[MXL_MAX_NDIM];
    mxl_strided_params part = {.strides = {ndim, strides}, .zeros = {ndim, shape}};

    if (a == NULL)
        return NULL;
    mxl_shape_strides(ndim, shape, strides);
    part.shape = (mxl_tuple){a->ndim, a->shape};
    part.skip = begin * strides[axis];
    return mxl_zeros_put(s, a, &part);
}
