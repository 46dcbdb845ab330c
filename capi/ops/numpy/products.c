/* Products of NumPy arrays: tensordot, which sums over chosen axes; dot, which is one of them; and
 * matmul, whose stacks of matrices broadcast. */
#include <stddef.h>

#include "ops/linalg/linalg.h"
#include "ops/numpy/numpy.h"

/* ---- tensordot ---- */

/* The axes of both arrays, counted from 0: those that stay, then those that are summed of a; the
 * other way round of b. */
typedef struct product {
    int a_kept, b_kept, summed;
    int64_t a_order[MXL_MAX_NDIM], b_order[MXL_MAX_NDIM];
    int64_t rows, inner, columns;
    mxl_shape shape; /* of the result */
} product;

static int sizes_of(const mxl_op *op, const mxl_array *a, const mxl_array *b, mxl_tuple a_axes,
                    mxl_tuple b_axes, product *p)
{
    int64_t a_summed[MXL_MAX_NDIM], b_summed[MXL_MAX_NDIM], summed[MXL_MAX_NDIM];

    if (mxl_check_dtypes(op, a, b) != 0 || mxl_check_float(op, a) != 0)
        return -1;
    if (a_axes.n != b_axes.n || a_axes.n > MXL_MAX_NDIM)
        return mxl_error("%s: %d axes of a and %d of b cannot be summed together", op->name,
                         a_axes.n, b_axes.n);
    p->a_kept = mxl_np_sort_axes(op, a, a_axes, p->a_order, a_summed);
    p->b_kept = mxl_np_sort_axes(op, b, b_axes, p->b_order + a_axes.n, b_summed);
    if (p->a_kept < 0 || p->b_kept < 0)
        return -1;
    p->summed = a_axes.n;
    for (int i = 0; i < p->summed; i++) {
        p->a_order[p->a_kept + i] = a_summed[i];
        p->b_order[i] = b_summed[i];
        summed[i] = a->shape[a_summed[i]];
        if (mxl_sizes_differ(summed[i], b->shape[b_summed[i]]))
            return mxl_error("%s: shapes %s and %s differ along axes %d and %d", op->name,
                             MXL_SHAPE_OF(a), MXL_SHAPE_OF(b), (int)a_summed[i], (int)b_summed[i]);
    }
    if (p->a_kept + p->b_kept > MXL_MAX_NDIM)
        return mxl_error("%s: the result would have %d axes, at most %d are supported", op->name,
                         p->a_kept + p->b_kept, MXL_MAX_NDIM);
    p->shape.ndim = 0;
    for (int i = 0; i < p->a_kept; i++)
        p->shape.dim[p->shape.ndim++] = a->shape[p->a_order[i]];
    for (int i = 0; i < p->b_kept; i++)
        p->shape.dim[p->shape.ndim++] = b->shape[p->b_order[p->summed + i]];
    p->rows = mxl_shape_size(p->a_kept, p->shape.dim);
    p->inner = mxl_shape_size(p->summed, summed);
    p->columns = mxl_shape_size(p->b_kept, p->shape.dim + p->a_kept);
    return 0;
}

static mxl_array *matrix(mxl_scope *s, mxl_array *x, const int64_t *order, int64_t rows,
                         int64_t columns)
{
    bool moves = false;

    for (int i = 0; i < x->ndim; i++)
        moves = moves || order[i] != i;
    x = moves ? mxl_transpose(s, x, order) : x;
    return mxl_reshape(s, x, 2, (int64_t[]){rows, columns});
}

/* As one product of matrices. */
static mxl_array *multiply(mxl_scope *s, const mxl_call *call, mxl_tuple a_axes, mxl_tuple b_axes)
{
    mxl_array *a = call->in[0], *b = call->in[1];
    product p;

    if (sizes_of(call->op, a, b, a_axes, b_axes, &p) != 0)
        return NULL;
    a = matrix(s, a, p.a_order, p.rows, p.inner);
    b = matrix(s, b, p.b_order, p.inner, p.columns);
    return mxl_reshape(s, mxl_dot(s, a, b, false, false), p.shape.ndim, p.shape.dim);
}

typedef struct axes_params {
    mxl_tuple a, b;
} axes_params;

static mxl_array *tensordot_compose(mxl_scope *s, const mxl_call *call)
{
    const axes_params *p = call->params;

    return multiply(s, call, p->a, p->b);
}

/* The last axes of a, and the first of b; a number multiplies the other array. */
static mxl_array *int_axes_compose(mxl_scope *s, const mxl_call *call)
{
    int64_t a_axes[MXL_MAX_NDIM], b_axes[MXL_MAX_NDIM], n = *(const int64_t *)call->params;
    const mxl_array *a = call->in[0], *b = call->in[1];

    if (n > 0 && (a->ndim == 0 || b->ndim == 0))
        n = 0;
    if (n < 0 || n > a->ndim || n > b->ndim)
        return mxl_error_null("axes must be between 0 and the numbers of axes of both arrays, %d "
                              "and %d, got %lld",
                              a->ndim, b->ndim, (long long)n);
    for (int i = 0; i < (int)n; i++) {
        a_axes[i] = a->ndim - n + i;
        b_axes[i] = i;
    }
    return multiply(s, call, (mxl_tuple){(int)n, a_axes}, (mxl_tuple){(int)n, b_axes});
}

/* ---- dot, matmul ---- */

/* The last axis of a with the last but one (or only) one of b; a number multiplies the other array.
 */
static mxl_array *dot_compose(mxl_scope *s, const mxl_call *call)
{
    const int64_t last = -1, before = call->in[1]->ndim > 1 ? -2 : -1;

    if (call->in[0]->ndim > 0 && call->in[1]->ndim > 0)
        return multiply(s, call, (mxl_tuple){1, &last}, (mxl_tuple){1, &before});
    if (mxl_check_dtypes(call->op, call->in[0], call->in[1]) != 0)
        return NULL;
    return mxl_mul(s, call->in[0], call->in[1]);
}

/* A factor as matrices without gaps, in a stack of this shape; a vector is one row. */
static mxl_array *stacked(mxl_scope *s, mxl_array *x, const mxl_shape *stack)
{
    int64_t rows = x->ndim > 1 ? x->shape[x->ndim - 2] : 1, columns = x->shape[x->ndim - 1];
    mxl_shape to = *stack;

    if (x->ndim < 2)
        x = mxl_reshape(s, x, 2, (int64_t[]){rows, columns});
    to.dim[to.ndim++] = rows;
    to.dim[to.ndim++] = columns;
    return mxl_reshape(s, mxl_broadcast_to(s, x, to.ndim, to.dim), 3,
                       (int64_t[]){mxl_shape_size(stack->ndim, stack->dim), rows, columns});
}

/* One matrix on the right multiplies the rows of all on the left at once. */
static mxl_array *matmul_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *a = call->in[0], *b = call->in[1], *made;
    mxl_shape stack, shape;

    if (a->ndim < 1 || b->ndim < 1)
        return mxl_error_null("takes arrays of one axis and more, got %s and %s", MXL_SHAPE_OF(a),
                              MXL_SHAPE_OF(b));
    if (b->ndim <= 2)
        return dot_compose(s, call);
    if (a->shape[a->ndim - 1] != b->shape[b->ndim - 2])
        return mxl_error_null("shapes %s and %s do not fit", MXL_SHAPE_OF(a), MXL_SHAPE_OF(b));
    if (mxl_shape_broadcast(&stack, a->ndim > 2 ? a->ndim - 2 : 0, a->shape, b->ndim - 2,
                            b->shape) != 0)
        return NULL;
    made = mxl_batch_dot(s, stacked(s, a, &stack), stacked(s, b, &stack), false, false);
    shape = stack;
    if (a->ndim > 1)
        shape.dim[shape.ndim++] = a->shape[a->ndim - 2];
    shape.dim[shape.ndim++] = b->shape[b->ndim - 1];
    return mxl_reshape(s, made, shape.ndim, shape.dim);
}

#define PRODUCT(id, op_name, text, axes, ...)                                                      \
    static const mxl_op op_##id = {                                                                \
        .name = MXL_NUMPY(op_name),                                                                \
        .doc = text,                                                                               \
        MXL_INPUTS(MXL_INPUT(a, "The first factor" axes), MXL_INPUT(b, "The second factor" axes)), \
        .compose = id##_compose,                                                                   \
        __VA_ARGS__,                                                                               \
    }

PRODUCT(tensordot, "_npi_tensordot",
        "Sums of products over pairs of axes. The result has the other axes of a, then those of b.",
        ".",
        MXL_PARAMS_OF(axes_params,
                      MXL_PARAM_AS("a_axes_summed", axes_params, a, MXL_P_SHAPE, MXL_REQUIRED,
                                   "Axes of a."),
                      MXL_PARAM_AS("b_axes_summed", axes_params, b, MXL_P_SHAPE, MXL_REQUIRED,
                                   "As many axes of b.")));
PRODUCT(int_axes, "_npi_tensordot_int_axes",
        "Sums of products over the last axes of a and the first of b.", ".",
        MXL_ONLY_PARAM(int64_t, axes, MXL_P_INT, MXL_REQUIRED, "How many axes are summed."));
PRODUCT(dot, "_np_dot",
        "Products of the last axis of a with the last but one of b, or its only one.",
        ", of one axis or more.", .params = NULL);
PRODUCT(matmul, "_npi_matmul",
        "Products of matrices, or of stacks of them, which broadcast; a vector is one row on the "
        "left, and one column on the right.",
        ", of one axis or more.", .output_names = "out");

const mxl_op *const mxl_op_stacked_product = &op_matmul;

const mxl_op *const mxl_ops_np_products[] = {
    &op_dot, &op_matmul, &op_tensordot, &op_int_axes, NULL,
};
