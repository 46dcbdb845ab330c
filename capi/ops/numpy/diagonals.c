/* Diagonals and triangles of NumPy arrays: diag, diagflat, diagonal, trace, tril,
 * diag_indices_from. */
#include "ops/numpy/numpy.h"

#include <stddef.h>
#include <string.h>

#include "ops/elementwise/elementwise.h"
#include "ops/shape/movement.h"

typedef struct diag_params {
    int64_t k;
} diag_params;

typedef struct diagonal_params {
    int64_t offset, axis1, axis2;
} diagonal_params;

/* A diagonal along two axes, as the last axis; without elements if it lies outside. */
static mxl_array *diagonal_of(mxl_scope *s, const mxl_op *op, mxl_array *x,
                              const diagonal_params *p)
{
    int row = mxl_check_axis(op, p->axis1, x->ndim), column = mxl_check_axis(op, p->axis2, x->ndim);

    if (row < 0 || column < 0)
        return NULL;
    if (x->ndim < 2 || row == column)
        return mxl_error_null("axes %d and %d of an array with %d axes are not those of matrices",
                              row, column, x->ndim);
    if ((x->shape[column] >= 0 && p->offset > x->shape[column]) ||
        (x->shape[row] >= 0 && p->offset < -x->shape[row]))
        return mxl_diag(s, mxl_np_empty(s, x, row, 0), 0, row, column);
    return mxl_diag(s, x, p->offset, row, column);
}

static mxl_array *diag_compose(mxl_scope *s, const mxl_call *call)
{
    const diag_params *p = call->params;
    mxl_array *x = call->in[0];

    if (x->ndim < 1 || x->ndim > 2)
        return mxl_error_null("takes arrays with 1 or 2 axes, got %d", x->ndim);
    if (x->ndim == 2)
        return diagonal_of(s, call->op, x, &(diagonal_params){p->k, 0, 1});
    return mxl_diag(s, x, p->k, 0, 1);
}

static mxl_array *diagflat_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *x = mxl_np_line(s, call->in[0]);

    return mxl_diag(s, x, ((const diag_params *)call->params)->k, 0, 1);
}

static mxl_array *diagonal_compose(mxl_scope *s, const mxl_call *call)
{
    return diagonal_of(s, call->op, call->in[0], call->params);
}

static mxl_array *trace_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *x = diagonal_of(s, call->op, call->in[0], call->params);
    const int64_t last = -1;

    return mxl_np_reduce(s, &mxl_op_np_sum, x, (mxl_tuple){1, &last}, false);
}

/* A vector is each row of a matrix. */
static int tril_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0];
    int64_t rows = x->ndim == 0 ? 0 : x->shape[0];

    if (x->ndim == 0)
        return mxl_error("%s: takes arrays with axes", infer->op->name);
    infer->out_dtype[0] = x->dtype;
    mxl_shape_set(&infer->out_shape[0], x->ndim, x->shape);
    if (x->ndim == 1)
        mxl_shape_set(&infer->out_shape[0], 2, (int64_t[]){rows, rows});
    return 0;
}

static int tril_compute(const mxl_call *call)
{
    int64_t k = ((const diag_params *)call->params)->k;
    const mxl_array *x = call->in[0], *out = call->out[0];
    int64_t rows = out->shape[out->ndim - 2], columns = out->shape[out->ndim - 1];
    size_t width = mxl_dtype_size(x->dtype), line = (size_t)columns * width;
    const char *from = mxl_array_read(x);
    char *to = mxl_array_write(call->out[0]);

    for (int64_t at = 0; columns > 0 && at < out->size; at += columns, to += line) {
        int64_t row = at / columns % rows;
        int64_t kept = k >= columns ? columns : k < -rows ? 0 : row + k + 1;
        size_t bytes = kept <= 0 ? 0 : kept >= columns ? line : (size_t)kept * width;

        memcpy(to, from, bytes);
        memset(to + bytes, 0, line - bytes);
        from += x->ndim > 1 ? line : 0;
    }
    return 0;
}

static const mxl_op op_tril;

/* dx = the triangle of dy; of a vector the sum of its rows */
static int tril_grad(mxl_grad *g)
{
    mxl_array *dx = mxl_scope_call(g->s, &op_tril, g->params, 1, &g->grad_output[0]);

    return mxl_grad_set(g, 0, mxl_grad_in_meta(g, 0)->ndim == 1 ? mxl_sum_axis(g->s, dx, 0) : dx);
}

/* The position of each diagonal element of a square array, along each axis. */
static mxl_array *indices_compose(mxl_scope *s, const mxl_call *call)
{
    const mxl_array *x = call->in[0];

    for (int i = 1; i < x->ndim; i++) {
        if (x->shape[i] == x->shape[0])
            continue;
        return mxl_error_null("ValueError: all axes must have one size, got shape %s",
                              MXL_SHAPE_OF(x));
    }
    if (x->ndim < 2)
        return mxl_error_null("takes arrays with 2 axes and more, got %d", x->ndim);
    return mxl_broadcast_to(s, mxl_range(s, x->shape[0], MXL_I64), 2,
                            (int64_t[]){x->ndim, x->shape[0]});
}

#define DIAGONAL_PARAMS                                                                            \
    MXL_PARAMS_OF(diagonal_params,                                                                 \
                  MXL_PARAM(diagonal_params, offset, MXL_P_INT, "0",                               \
                            "Which diagonal: 0 the main one, positive above it."),                 \
                  MXL_PARAM(diagonal_params, axis1, MXL_P_INT, "0", "The axis of rows."),          \
                  MXL_PARAM(diagonal_params, axis2, MXL_P_INT, "1", "The axis of columns."))
#define K(text) MXL_ONLY_PARAM(diag_params, k, MXL_P_INT, "0", text)
MXL_NP(diag, "_np_diag", "A diagonal of a matrix; of a vector, the matrix that has it.",
       K("Which diagonal: 0 the main one, positive above it."), .inputs = mxl_inputs_data);
MXL_NP(diagflat, "_np_diagflat", "The matrix with the array's elements on a diagonal.",
       K("Which diagonal: 0 the main one, positive above it."), .inputs = mxl_inputs_data);
MXL_NP(diagonal, "_np_diagonal", "A diagonal along two axes, as the last axis of the result.",
       DIAGONAL_PARAMS, .inputs = mxl_inputs_data);
MXL_NP(trace, "_np_trace", "The sum of a diagonal along two axes.", DIAGONAL_PARAMS,
       .inputs = mxl_inputs_data, .dtypes = "A>s");

static const mxl_op op_tril = {
    .name = MXL_NUMPY("_npi_tril"),
    .doc = "The lower triangle of matrices, with zeros above a diagonal.",
    .inputs = mxl_inputs_data,
    K("Which diagonal the triangle goes up to."),
    .infer = tril_infer,
    .any_dtype = true,
    .compute = tril_compute,
    .grad = tril_grad,
};

MXL_NP(indices, "_npi_diag_indices_from",
       "The positions of the main diagonal of an array whose axes have one size, int64.",
       .inputs = mxl_inputs_data, .dtypes = ">l");

const mxl_op *const mxl_ops_np_diagonals[] = {
    &op_diag, &op_diagflat, &op_diagonal, &op_trace, &op_tril, &op_indices, NULL,
};
