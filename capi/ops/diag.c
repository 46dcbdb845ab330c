/* Diagonals: diag, which takes them out or makes a matrix of a vector; and _mxl_diag_put, which
 * puts one back among zeros and is what the gradient of the first needs. */
#include <stddef.h>
#include <string.h>

#include "kernel/copy.h"
#include "ops/linalg.h"

typedef struct diag_params {
    int64_t k, axis1, axis2;
    mxl_tuple shape; /* _mxl_diag_put */
} diag_params;

#define DIAG_PARAMS                                                                                \
    {.name = "k",                                                                                  \
     .type = MXL_P_INT,                                                                            \
     .offset = offsetof(diag_params, k),                                                           \
     .def = "0",                                                                                   \
     .doc = "Which diagonal: 0 the main one, positive above it, negative below."},                 \
        {.name = "axis1",                                                                          \
         .type = MXL_P_INT,                                                                        \
         .offset = offsetof(diag_params, axis1),                                                   \
         .def = "0",                                                                               \
         .doc = "The axis of rows; of no meaning for a vector."},                                  \
        {.name = "axis2",                                                                          \
         .type = MXL_P_INT,                                                                        \
         .offset = offsetof(diag_params, axis2),                                                   \
         .def = "1",                                                                               \
         .doc = "The axis of columns."}

static const mxl_param diag_table[] = {DIAG_PARAMS, {0}};
static const mxl_param put_table[] = {
    DIAG_PARAMS,
    {.name = "shape",
     .type = MXL_P_SHAPE,
     .offset = offsetof(diag_params, shape),
     .doc = "Shape of the result, of two or more axes."},
    {0},
};

/* A diagonal: the other axes in their order, then the diagonal. */
typedef struct diagonal {
    int64_t skip;
    mxl_shape shape;
    int64_t strides[MXL_MAX_NDIM];
} diagonal;

/* `given`: strides of the array; NULL: it is contiguous. */
static int find_diagonal(const char *name, const diag_params *p, int ndim, const int64_t *shape,
                         const int64_t *given, diagonal *out)
{
    int row = mxl_shape_axis(p->axis1, ndim), column = mxl_shape_axis(p->axis2, ndim), n = 0;
    int64_t strides[MXL_MAX_NDIM], step = 1, rows, columns;

    if (row < 0 || column < 0)
        return mxl_error_prefix(name);
    if (row == column)
        return mxl_error("%s: axis1 and axis2 are both axis %d", name, row);
    rows = shape[row];
    columns = shape[column];
    if (p->k > columns || p->k < -rows)
        return mxl_error("%s: a matrix of %lld x %lld has no diagonal %lld", name, (long long)rows,
                         (long long)columns, (long long)p->k);
    for (int i = ndim - 1; i >= 0; i--) {
        strides[i] = given != NULL ? given[i] : step;
        step *= shape[i];
    }
    for (int i = 0; i < ndim; i++) {
        if (i == row || i == column)
            continue;
        out->shape.dim[n] = shape[i];
        out->strides[n++] = strides[i];
    }
    rows += p->k < 0 ? p->k : 0;
    columns -= p->k > 0 ? p->k : 0;
    out->shape.dim[n] = rows < columns ? rows : columns;
    out->strides[n++] = strides[row] + strides[column];
    out->shape.ndim = n;
    out->skip = p->k < 0 ? -p->k * strides[row] : p->k * strides[column];
    return 0;
}

/* A square matrix with the vector on diagonal k. */
static int matrix_infer(mxl_infer *infer)
{
    const diag_params *p = infer->params;
    int64_t k = p->k < 0 ? -p->k : p->k, n;

    if (k < 0 || __builtin_add_overflow(infer->in[0]->shape[0], k, &n))
        return mxl_error("diag: diagonal %lld is too far away", (long long)p->k);
    infer->out_shape[0].ndim = 2;
    infer->out_shape[0].dim[0] = infer->out_shape[0].dim[1] = n;
    infer->out_dtype[0] = infer->in[0]->dtype;
    return 0;
}

static int diag_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0];
    diagonal d;

    if (x->ndim == 0)
        return mxl_error("diag: the array has no axes");
    if (x->ndim == 1)
        return matrix_infer(infer);
    if (find_diagonal(infer->op->name, infer->params, x->ndim, x->shape, NULL, &d) != 0)
        return -1;
    mxl_shape_set(&infer->out_shape[0], d.shape.ndim, d.shape.dim);
    infer->out_dtype[0] = x->dtype;
    return 0;
}

/* Writes the values of `in` onto a diagonal of zeros. */
static int put(const char *name, const diag_params *p, mxl_array *out, const mxl_array *in)
{
    size_t width = mxl_dtype_size(in->dtype);
    char *data = mxl_array_write(out);
    diagonal d;

    if (find_diagonal(name, p, out->ndim, out->shape, NULL, &d) != 0)
        return -1;
    memset(data, 0, (size_t)out->size * width);
    if (in->size > 0)
        mxl_copy_strided(width, in->ndim, in->shape, data + d.skip * (int64_t)width, d.strides,
                         mxl_array_read(in), in->strides);
    return 0;
}

static bool diag_view(const void *params, const mxl_array *in, int output, const mxl_shape *out,
                      int64_t *strides, int64_t *skip)
{
    diagonal d;

    (void)output;
    if (in->ndim < 2 || find_diagonal("diag", params, in->ndim, in->shape, in->strides, &d) != 0)
        return false;
    for (int i = 0; i < out->ndim; i++)
        strides[i] = d.strides[i];
    *skip = in->size == 0 ? 0 : d.skip;
    return true;
}

static int diag_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0];
    mxl_array *out = call->out[0];
    size_t width = mxl_dtype_size(x->dtype);
    diagonal d;

    if (x->ndim == 1) {
        diag_params p = {.k = ((const diag_params *)call->params)->k, .axis1 = 0, .axis2 = 1};

        return put(call->op->name, &p, out, x);
    }
    if (find_diagonal(call->op->name, call->params, x->ndim, x->shape, NULL, &d) != 0)
        return -1;
    if (out->size > 0)
        mxl_copy_strided(width, out->ndim, out->shape, mxl_array_write(out), out->strides,
                         (const char *)mxl_array_read(x) + d.skip * (int64_t)width, d.strides);
    return 0;
}

static const mxl_op op_diag, op_diag_put;

/* dx = dy put back on its diagonal; of a vector the diagonal of dy */
static int diag_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    diag_params p = *(const diag_params *)g->params;

    if (x->ndim == 1) {
        p.axis1 = 0;
        p.axis2 = 1;
        return mxl_grad_set(g, 0, mxl_scope_call(g->s, &op_diag, &p, 1, &g->head[0]));
    }
    p.shape = (mxl_tuple){x->ndim, x->shape};
    return mxl_grad_set(g, 0, mxl_scope_call(g->s, &op_diag_put, &p, 1, &g->head[0]));
}

static const mxl_op op_diag = {
    .name = "diag",
    .doc = "A diagonal of a matrix, or of each matrix along two axes, as the last axis of the "
           "result; of a vector the square matrix that has it as a diagonal.",
    .inputs = mxl_inputs_data,
    .params = diag_table,
    .params_size = sizeof(diag_params),
    .infer = diag_infer,
    .view = diag_view,
    .compute = diag_compute,
    .grad = diag_grad,
};

static int put_infer(mxl_infer *infer)
{
    const diag_params *p = infer->params;
    const mxl_array *x = infer->in[0];
    diagonal d;
    char a[128], b[128];

    if (p->shape.n < 2)
        return mxl_error("%s: shape has %d axes", infer->op->name, p->shape.n);
    if (mxl_infer_to(infer, p->shape) != 0 ||
        find_diagonal(infer->op->name, p, p->shape.n, p->shape.v, NULL, &d) != 0)
        return -1;
    if (!mxl_shape_same(x->ndim, x->shape, d.shape.ndim, d.shape.dim))
        return mxl_error("%s: an array of shape %s for a diagonal of shape %s", infer->op->name,
                         mxl_shape_text(a, sizeof(a), x->ndim, x->shape),
                         mxl_shape_text(b, sizeof(b), d.shape.ndim, d.shape.dim));
    return 0;
}

static int put_compute(const mxl_call *call)
{
    return put(call->op->name, call->params, call->out[0], call->in[0]);
}

/* dx = the diagonal of dy */
static int put_grad(mxl_grad *g)
{
    return mxl_grad_set(g, 0, mxl_scope_call(g->s, &op_diag, g->params, 1, &g->head[0]));
}

static const mxl_op op_diag_put = {
    .name = "_mxl_diag_put",
    .doc = "Zeros with the array on a diagonal, whose axis is the array's last.",
    .inputs = mxl_inputs_data,
    .params = put_table,
    .params_size = sizeof(diag_params),
    .infer = put_infer,
    .compute = put_compute,
    .grad = put_grad,
};

/* ---- of the last two axes, for ops/linalg*.c ---- */

mxl_array *mxl_diagonal(mxl_scope *s, mxl_array *a, int64_t k)
{
    diag_params params = {.k = k, .axis1 = -2, .axis2 = -1};

    return mxl_scope_call(s, &op_diag, &params, 1, &a);
}

mxl_array *mxl_diagonal_put(mxl_scope *s, mxl_array *a, int64_t k)
{
    int64_t shape[MXL_MAX_NDIM + 1];
    diag_params params = {.k = k, .axis1 = -2, .axis2 = -1};

    if (a == NULL)
        return NULL;
    memcpy(shape, a->shape, (size_t)a->ndim * sizeof(*shape));
    shape[a->ndim - 1] += k < 0 ? -k : k;
    shape[a->ndim] = shape[a->ndim - 1];
    params.shape = (mxl_tuple){a->ndim + 1, shape};
    return mxl_scope_call(s, &op_diag_put, &params, 1, &a);
}

const mxl_op *const mxl_ops_diag[] = {&op_diag, &op_diag_put, NULL};
