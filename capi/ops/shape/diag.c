/* Diagonals: diag extracts them, or makes a matrix from a vector; and for ops/linalg*.c diagonals
 * of the last two axes. */
#include <stddef.h>
#include <string.h>

#include "ops/linalg/linalg.h"
#include "ops/shape/movement.h"

typedef struct diag_params {
    int64_t k, axis1, axis2;
} diag_params;

/* A square matrix of zeros with the vector on diagonal k. */
static int matrix_plan(mxl_plan *p, int64_t k)
{
    int64_t far = k < 0 ? -k : k, shape[2], stride;

    if (far < 0 || __builtin_add_overflow(p->shape.dim[0], far, &shape[0]))
        return mxl_error("diag: diagonal %lld is too far away", (long long)k);
    shape[1] = shape[0];
    if (mxl_shape_check(2, shape) != 0)
        return mxl_error_prefix("diag");
    stride = shape[1] + 1;
    mxl_plan_put(p, 1, p->shape.dim, &stride, k < 0 ? far * shape[1] : far, (mxl_tuple){2, shape});
    return 0;
}

/* The other axes in their order, then the diagonal. */
static int diag_plan(mxl_plan *p)
{
    const diag_params *d = p->params;
    int64_t k = d->k, rows, columns, count, down, right;
    int row, column;

    if (p->shape.ndim == 0)
        return mxl_error("diag: the array has no axes");
    if (p->shape.ndim == 1)
        return matrix_plan(p, k);
    row = mxl_plan_axis(p, d->axis1);
    column = mxl_plan_axis(p, d->axis2);
    if (row < 0 || column < 0)
        return -1;
    if (row == column)
        return mxl_error("diag: axis1 and axis2 are both axis %d", row);
    rows = p->shape.dim[row];
    columns = p->shape.dim[column];
    if ((columns >= 0 && k > columns) || (rows >= 0 && k < -rows))
        return mxl_error("diag: a matrix of %lld x %lld has no diagonal %lld", (long long)rows,
                         (long long)columns, (long long)k);
    rows += k < 0 ? k : 0;
    columns -= k > 0 ? k : 0;
    count = rows < columns ? rows : columns;
    down = p->strides[row];
    right = p->strides[column];
    if (count > 0)
        p->skip += k < 0 ? -k * down : k * right;
    mxl_plan_drop(p, row > column ? row : column);
    mxl_plan_drop(p, row > column ? column : row);
    (void)mxl_plan_insert(p, p->shape.ndim, count); /* never fails: two axes were removed */
    p->strides[p->shape.ndim - 1] = down + right;
    return 0;
}

static const mxl_op op_diag = {
    .name = "diag",
    .inputs = mxl_inputs_data,
    .doc = "A diagonal of a matrix, or of each matrix along two axes, as the last axis of the "
           "result; of a vector the square matrix that has it as a diagonal.",
    MXL_PARAMS_OF(diag_params,
                  MXL_PARAM(diag_params, k, MXL_P_INT, "0",
                            "Which diagonal: 0 the main one, positive above it, negative below."),
                  MXL_PARAM(diag_params, axis1, MXL_P_INT, "0",
                            "The axis of rows; of no meaning for a vector."),
                  MXL_PARAM(diag_params, axis2, MXL_P_INT, "1", "The axis of columns.")),
    .plan = diag_plan,
    .infer = mxl_plan_infer,
    .compute = mxl_plan_compute,
    .any_dtype = true,
    .grad = mxl_movement_grad,
};

mxl_array *mxl_diag(mxl_scope *s, mxl_array *a, int64_t k, int rows, int columns)
{
    diag_params params = {.k = k, .axis1 = rows, .axis2 = columns};

    return mxl_scope_call(s, &op_diag, &params, 1, &a);
}

/* ---- of the last two axes ---- */

mxl_array *mxl_diagonal(mxl_scope *s, mxl_array *a, int64_t k)
{
    return mxl_diag(s, a, k, -2, -1);
}

mxl_array *mxl_diagonal_put(mxl_scope *s, mxl_array *a, int64_t k)
{
    int64_t shape[MXL_MAX_NDIM + 1], strides[MXL_MAX_NDIM + 1], far = k < 0 ? -k : k;
    mxl_strided_params part;

    if (a == NULL)
        return NULL;
    memcpy(shape, a->shape, (size_t)a->ndim * sizeof(*shape));
    shape[a->ndim - 1] += far;
    shape[a->ndim] = shape[a->ndim - 1];
    mxl_shape_strides(a->ndim + 1, shape, strides);
    part = (mxl_strided_params){.shape = {a->ndim, a->shape},
                                .strides = {a->ndim, strides},
                                .zeros = {a->ndim + 1, shape},
                                .skip = k < 0 ? far * strides[a->ndim - 1] : far};
    strides[a->ndim - 1]++;
    return mxl_zeros_put(s, a, &part);
}

const mxl_op *const mxl_ops_diag[] = {&op_diag, NULL};
