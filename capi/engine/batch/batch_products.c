/* Products of matrices with batched factors: one product where the second factor is the same for
 * all examples, else one for each, by batch_dot. */
#include "engine/batch/batch.h"

static mxl_array *matrices(mxl_batch *b, mxl_array *x, bool x_axis, mxl_array *y, bool y_axis,
                           bool tx, bool ty)
{
    static const char *const names[] = {"transpose_a", "transpose_b", "forward_stype"};
    const int64_t values[] = {tx, ty, 2};
    mxl_array *pair[2] = {x, y};

    if (x_axis && !y_axis && !tx) {
        const int64_t rows[2] = {x->shape[0] * x->shape[1], x->shape[2]};

        pair[0] = mxl_batch_as(b, x, 2, rows);
        return mxl_batch_call(b, b->ops->mm, 2, pair, 2, names, values);
    }
    pair[0] = mxl_batch_fronted(b, x, x_axis);
    pair[1] = mxl_batch_fronted(b, y, y_axis);
    return mxl_batch_call(b, b->ops->batch_dot, 2, pair, 3, names, values);
}

static double number_of(const mxl_batch *b, const char *name)
{
    const mxl_param *p = mxl_param_find(b->r->call.op, name);

    return *(const double *)((const char *)b->r->call.params + p->offset);
}

static mxl_array *times(mxl_batch *b, mxl_array *x, double by)
{
    mxl_scalar_params params = {.scalar = by};

    return by == 1 || x == NULL ? x : mxl_scope_call(b->s, b->ops->mul_scalar, &params, 1, &x);
}

/* beta * added + alpha * the product, added being input `i`. */
static mxl_array *plus(mxl_batch *b, mxl_array *product, int i, double alpha, double beta)
{
    const mxl_shape *shape = b->r->out_shape;
    mxl_array *pair[2];

    product = times(b, mxl_batch_shaped(b, product, shape->ndim, shape->dim), alpha);
    if (beta == 0)
        return product;
    pair[0] = product;
    pair[1] = times(b, mxl_batch_aligned(b, i, shape->ndim, shape->dim, false), beta);
    return mxl_batch_call(b, b->ops->broadcast_add, 2, pair, 0, NULL, NULL);
}

int mxl_batch_product(mxl_batch *b, mxl_array **out)
{
    const mxl_op *op = b->r->call.op;
    bool adds = op == b->ops->addmm, linear = op == b->ops->linear;
    const int *tx = mxl_batch_flag(b, "transpose_a"), *ty = mxl_batch_flag(b, "transpose_b");
    int at = adds ? 1 : 0;

    if (!adds && !linear && op != b->ops->mm && op != b->ops->dot)
        return 0;
    if (b->in[at]->array.ndim != 2 || b->in[at + 1]->array.ndim != 2)
        return 0;
    out[0] = matrices(b, b->in[at]->whole, b->in[at]->has_axis, b->in[at + 1]->whole,
                      b->in[at + 1]->has_axis, tx != NULL && *tx, linear || (ty != NULL && *ty));
    if (out[0] != NULL && (adds || (linear && b->count > 2)))
        out[0] = plus(b, out[0], adds ? 0 : 2, adds ? number_of(b, "alpha") : 1,
                      adds ? number_of(b, "beta") : 1);
    return out[0] == NULL ? -1 : 1;
}
