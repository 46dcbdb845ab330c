/* Products of NumPy arrays: dot and matmul. */
#include "ops/linalg/linalg.h"
#include "ops/numpy/numpy.h"

#include <stddef.h>

/* The sizes of a product of matrices in stacks: a of `rows` x `inner`, b of `inner` x `columns`. */
typedef struct product {
    mxl_shape stack; /* broadcast, of matmul */
    int64_t rows, inner, columns;
} product;

/* The last axis of a, and the last but one (or only) axis of b, are contracted. */
static int contracted(const mxl_op *op, const mxl_array *a, const mxl_array *b)
{
    if (mxl_check_dtypes(op, a, b) != 0 || mxl_check_float(op, a) != 0)
        return -1;
    if (a->ndim < 1 || b->ndim < 1)
        return mxl_error("%s: takes arrays of one axis and more, got %s and %s", op->name,
                         MXL_SHAPE_OF(a), MXL_SHAPE_OF(b));
    if (a->shape[a->ndim - 1] != b->shape[b->ndim > 1 ? b->ndim - 2 : 0])
        return mxl_error("%s: shapes %s and %s do not fit", op->name, MXL_SHAPE_OF(a),
                         MXL_SHAPE_OF(b));
    return 0;
}

/* ---- dot ---- */

/* A number multiplies the other array. */
static int dot_infer(mxl_infer *infer)
{
    const mxl_array *a = infer->in[0], *b = infer->in[1];
    mxl_shape *out = &infer->out_shape[0];

    if (a->ndim == 0 || b->ndim == 0) {
        const mxl_array *other = a->ndim == 0 ? b : a;

        return mxl_check_dtypes(infer->op, a, b) != 0
                   ? -1
                   : mxl_infer_set(infer, a->dtype, other->ndim, other->shape);
    }
    if (contracted(infer->op, a, b) != 0)
        return -1;
    infer->out_dtype[0] = a->dtype;
    mxl_shape_set(out, a->ndim - 1, a->shape);
    if (b->ndim > 1 && mxl_infer_append(infer, b->ndim - 2, b->shape) != 0)
        return -1;
    return b->ndim > 1 ? mxl_infer_append(infer, 1, b->shape + b->ndim - 1) : 0;
}

/* As one product of matrices: b with the contracted axis before the others. */
static mxl_array *dot_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *a = call->in[0], *b = call->in[1];
    int64_t inner, rows, columns = 1, order[MXL_MAX_NDIM], shape[2 * MXL_MAX_NDIM];
    int n = 0;

    if (a->ndim == 0 || b->ndim == 0)
        return mxl_mul(s, a, b);
    inner = a->shape[a->ndim - 1];
    rows = mxl_shape_size(a->ndim - 1, a->shape);
    for (int i = 0; i < a->ndim - 1; i++)
        shape[n++] = a->shape[i];
    for (int i = 0, at = 1; b->ndim > 1 && i < b->ndim; i++) {
        if (i == b->ndim - 2)
            continue;
        order[at++] = i;
        shape[n++] = b->shape[i];
        columns *= b->shape[i];
    }
    if (b->ndim > 2) {
        order[0] = b->ndim - 2;
        b = mxl_transpose(s, b, order);
    }
    a = mxl_reshape(s, a, 2, (int64_t[]){rows, inner});
    b = mxl_reshape(s, b, 2, (int64_t[]){inner, columns});
    return mxl_reshape(s, mxl_dot(s, a, b, false, false), n, shape);
}

/* ---- matmul ---- */

/* The sizes of a product; a vector is one row, or one column. */
static int sizes_of(const mxl_array *a, const mxl_array *b, product *p)
{
    p->inner = a->shape[a->ndim - 1];
    p->rows = a->ndim > 1 ? a->shape[a->ndim - 2] : 1;
    p->columns = b->ndim > 1 ? b->shape[b->ndim - 1] : 1;
    return mxl_shape_broadcast(&p->stack, a->ndim > 2 ? a->ndim - 2 : 0, a->shape,
                               b->ndim > 2 ? b->ndim - 2 : 0, b->shape);
}

/* The shape of the result: vectors leave no axis. */
static void product_shape(const mxl_array *a, const mxl_array *b, const product *p, mxl_shape *out)
{
    mxl_shape_set(out, p->stack.ndim, p->stack.dim);
    if (a->ndim > 1)
        out->dim[out->ndim++] = p->rows;
    if (b->ndim > 1)
        out->dim[out->ndim++] = p->columns;
}

static int matmul_infer(mxl_infer *infer)
{
    const mxl_array *a = infer->in[0], *b = infer->in[1];
    product p;

    if (contracted(infer->op, a, b) != 0)
        return -1;
    if (sizes_of(a, b, &p) != 0)
        return mxl_error_prefix(infer->op->name);
    product_shape(a, b, &p, &infer->out_shape[0]);
    infer->out_dtype[0] = a->dtype;
    return 0;
}

/* A factor as a stack of matrices without gaps, of the product's stack. */
static mxl_array *stacked(mxl_scope *s, mxl_array *x, const product *p, int64_t rows,
                          int64_t columns)
{
    int64_t count = mxl_shape_size(p->stack.ndim, p->stack.dim);
    mxl_shape to = p->stack, own;

    to.dim[to.ndim++] = rows;
    to.dim[to.ndim++] = columns;
    mxl_shape_set(&own, x->ndim > 2 ? x->ndim - 2 : 0, x->shape);
    own.dim[own.ndim++] = rows;
    own.dim[own.ndim++] = columns;
    x = mxl_broadcast_to(s, mxl_reshape(s, x, own.ndim, own.dim), to.ndim, to.dim);
    return mxl_reshape(s, x, 3, (int64_t[]){count, rows, columns});
}

/* One matrix on the right multiplies the rows of all on the left at once. */
static mxl_array *matmul_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *a = call->in[0], *b = call->in[1];
    mxl_shape shape;
    product p;

    if (b->ndim <= 2)
        return dot_compose(s, call);
    if (sizes_of(a, b, &p) != 0) {
        s->failed = true;
        return NULL;
    }
    product_shape(a, b, &p, &shape);
    a = stacked(s, a, &p, p.rows, p.inner);
    b = stacked(s, b, &p, p.inner, p.columns);
    return mxl_reshape(s, mxl_batch_dot(s, a, b), shape.ndim, shape.dim);
}

#define PRODUCT(id, op_name, ...)                                                                  \
    static const mxl_op op_##id = {                                                                \
        .name = MXL_NUMPY(op_name),                                                                \
        MXL_INPUTS(MXL_INPUT(a, "The first factor, of one axis or more."),                         \
                   MXL_INPUT(b, "The second factor, of one axis or more.")),                       \
        .infer = id##_infer,                                                                       \
        .compose = id##_compose,                                                                   \
        .doc = __VA_ARGS__,                                                                        \
    }

PRODUCT(dot, "_np_dot",
        "Products of the last axis of a with the last but one of b, or its only one.");
PRODUCT(matmul, "_npi_matmul",
        "Products of matrices, or of stacks of them, which broadcast; a vector is one row on the "
        "left, and one column on the right.",
        .output_names = "out");

const mxl_op *const mxl_ops_np_products[] = {&op_dot, &op_matmul, NULL};
