/* Diagonals and triangles of NumPy arrays: diag, diagflat, diagonal, trace, tril,
 * diag_indices_from. */
#include "ops/numpy/numpy.h"

#include <stddef.h>

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
    if (mxl_size_below(x->shape[column], p->offset) || mxl_size_below(x->shape[row], -p->offset))
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
static mxl_array *tril_compose(mxl_scope *s, const mxl_call *call)
{
    int64_t k = ((const diag_params *)call->params)->k;
    mxl_array *x = call->in[0], *row, *column, *kept;
    int64_t shape[2], rows, columns;

    if (x->ndim == 0)
        return mxl_error_null("takes arrays with axes");
    columns = x->shape[x->ndim - 1];
    rows = x->ndim > 1 ? x->shape[x->ndim - 2] : columns;
    if (x->ndim == 1)
        x = mxl_broadcast_to(s, x, 2, (int64_t[]){rows, columns});
    if (x == NULL || x->size == 0)
        return x == NULL ? NULL : mxl_apply(s, &mxl_op_copy, x);
    shape[0] = rows;
    shape[1] = 1;
    column = mxl_range(s, rows, MXL_F64);
    row = mxl_range(s, columns, MXL_F64);
    kept = mxl_apply2(s, &mxl_op_lesser_equal, row,
                      mxl_add_scalar(s, mxl_reshape(s, column, 2, shape), (double)k));
    shape[1] = columns;
    kept = mxl_broadcast_to(s, kept, x->ndim, x->shape);
    return mxl_where(s, kept, x, mxl_zeros_like(s, x));
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
MXL_NP(tril, "_npi_tril", "The lower triangle of matrices, with zeros above a diagonal.",
       K("Which diagonal the triangle goes up to."), .inputs = mxl_inputs_data);

MXL_NP(indices, "_npi_diag_indices_from",
       "The positions of the main diagonal of an array whose axes have one size, int64.",
       .inputs = mxl_inputs_data, .dtypes = ">l");

const mxl_op *const mxl_ops_np_diagonals[] = {
    &op_diag, &op_diagflat, &op_diagonal, &op_trace, &op_tril, &op_indices, NULL,
};
