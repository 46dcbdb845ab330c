/* Edits of batched arrays; see rules.h. */
#include "ops/batch/rules.h"

/* rhs in the place of elements of lhs, whose strides are those of contiguous examples. */
static mxl_array *put_strided(mxl_batch *b)
{
    const mxl_strided_params *p = b->r->call.params;
    const mxl_array *lhs = &b->in[0]->array, *rhs = &b->in[1]->array;
    int64_t shape[MXL_MAX_NDIM + 1] = {b->size}, strides[MXL_MAX_NDIM + 1] = {lhs->size};
    mxl_strided_params to = *p;
    mxl_array *pair[2];

    if (rhs->ndim >= MXL_MAX_NDIM)
        return mxl_error_null("vmap: %s: too many axes", b->r->call.op->name);
    for (int i = 0; i < rhs->ndim; i++) {
        shape[i + 1] = p->shape.v[i];
        strides[i + 1] = p->strides.v[i];
    }
    to.shape = (mxl_tuple){rhs->ndim + 1, shape};
    to.strides = (mxl_tuple){rhs->ndim + 1, strides};
    for (int i = 0; i < 2; i++) {
        pair[i] = mxl_batch_fronted(b, b->in[i]->whole, b->in[i]->has_axis);
        if (pair[i] == NULL)
            return NULL;
    }
    return mxl_scope_call(b->s, b->r->call.op, &to, 2, pair);
}

/* rhs broadcast to lhs, which gets the axis of the batch. */
static mxl_array *write_over(mxl_batch *b)
{
    const mxl_shape *to = b->r->out_shape;
    mxl_array *pair[2];

    for (int i = 0; i < 2; i++) {
        pair[i] = mxl_batch_aligned(b, i, to->ndim, to->dim, i == 0);
        if (pair[i] == NULL)
            return NULL;
    }
    return mxl_scope_call(b->s, b->r->call.op, b->r->call.params, 2, pair);
}

int mxl_vmap_strided_put(mxl_batch *b, mxl_array **out)
{
    out[0] = put_strided(b);
    return out[0] == NULL ? -1 : 1;
}

int mxl_vmap_copy_over(mxl_batch *b, mxl_array **out)
{
    out[0] = write_over(b);
    return out[0] == NULL ? -1 : 1;
}

/* The caller writes the result to the array that is given, cast to its dtype. */
int mxl_vmap_copyto(mxl_batch *b, mxl_array **out)
{
    out[0] = b->in[0]->whole;
    return 1;
}
