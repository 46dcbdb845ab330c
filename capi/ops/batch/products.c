/* Products of matrices with batched factors; see rules.h. */
#include "ops/batch/rules.h"
#include "ops/linalg/linalg.h"

static mxl_array *matrices(mxl_batch *b, int at, bool tx, bool ty)
{
    static const char *const names[] = {"transpose_a", "transpose_b"};
    const mxl_batched *left = b->in[at], *right = b->in[at + 1];
    mxl_array *x = left->whole, *y = right->whole;

    if (left->has_axis && !right->has_axis && !tx) {
        const int64_t rows[2] = {x->shape[0] * x->shape[1], x->shape[2]};
        mxl_array *pair[2] = {mxl_batch_as(b, x, 2, rows), y};

        return mxl_batch_call(b, &mxl_op_mm, 2, pair, 2, names, (const int64_t[]){tx, ty});
    }
    return mxl_batch_dot(b->s, mxl_batch_fronted(b, x, left->has_axis),
                         mxl_batch_fronted(b, y, right->has_axis), tx, ty);
}

/* Whether the inputs from `at` on are matrices of which such a product is. batch_dot takes floating
 * dtypes. */
static bool are_matrices(const mxl_batch *b, int at)
{
    const mxl_batched *left = b->in[at], *right = b->in[at + 1];

    return left->array.ndim == 2 && right->array.ndim == 2 &&
           (mxl_dtype_is_float(left->array.dtype) || (left->has_axis && !right->has_axis));
}

static double number_of(const mxl_batch *b, const char *name)
{
    const mxl_param *p = mxl_param_find(b->r->call.op, name);

    return *(const double *)((const char *)b->r->call.params + p->offset);
}

static mxl_array *times(mxl_batch *b, mxl_array *x, double by)
{
    return by == 1 || x == NULL ? x : mxl_mul_scalar(b->s, x, by);
}

/* beta * added + alpha * the product, added being input `i`. */
static mxl_array *plus(mxl_batch *b, mxl_array *product, int i, double alpha, double beta)
{
    const mxl_shape *shape = b->r->out_shape;

    product = times(b, mxl_batch_shaped(b, product, shape->ndim, shape->dim), alpha);
    if (beta == 0 || product == NULL)
        return product;
    return mxl_add(b->s, product,
                   times(b, mxl_batch_aligned(b, i, shape->ndim, shape->dim, false), beta));
}

static bool flag(const mxl_batch *b, const char *name)
{
    const int *given = mxl_batch_flag(b, name);

    return given != NULL && *given;
}

int mxl_vmap_mm(mxl_batch *b, mxl_array **out)
{
    if (!are_matrices(b, 0))
        return 0;
    out[0] = matrices(b, 0, flag(b, "transpose_a"), flag(b, "transpose_b"));
    return out[0] == NULL ? -1 : 1;
}

int mxl_vmap_addmm(mxl_batch *b, mxl_array **out)
{
    if (!are_matrices(b, 1))
        return 0;
    out[0] = matrices(b, 1, flag(b, "transpose_a"), flag(b, "transpose_b"));
    if (out[0] != NULL)
        out[0] = plus(b, out[0], 0, number_of(b, "alpha"), number_of(b, "beta"));
    return out[0] == NULL ? -1 : 1;
}

int mxl_vmap_linear(mxl_batch *b, mxl_array **out)
{
    if (!are_matrices(b, 0))
        return 0;
    out[0] = matrices(b, 0, false, true);
    if (out[0] != NULL && b->count > 2)
        out[0] = plus(b, out[0], 2, 1, 1);
    return out[0] == NULL ? -1 : 1;
}
