/* _mxl_qr, _mxl_lu and _mxl_pivot_order: factors of matrices as LAPACK gives them, signs and pivots
 * included, for PyTorch's and NumPy's functions. Computed in double. */
#include <math.h>
#include <string.h>

#include "base/memory/mem.h"
#include "kernel/linalg/blas_call.h"
#include "ops/elementwise/elementwise.h"
#include "ops/linalg/linalg.h"

/* Where a matrix of an output begins. */
static void *matrix_at(mxl_array *out, int64_t count, int64_t i)
{
    return (char *)mxl_array_write(out) +
           (size_t)(out->size / count * i) * mxl_dtype_size(out->dtype);
}

/* Matrix i of input 0. */
static const void *given_at(const mxl_call *call, int64_t i)
{
    const mxl_array *a = call->in[0];
    int64_t size = a->shape[a->ndim - 2] * a->shape[a->ndim - 1];

    return (const char *)mxl_array_read(a) + (size_t)(size * i) * mxl_dtype_size(a->dtype);
}

/* ---- qr ---- */

typedef struct qr_params {
    int complete;
} qr_params;

/* Both outputs as input 0, of matrices; then their sizes change. -1 with the error set. */
static int like_matrices(mxl_infer *infer)
{
    const mxl_array *a = infer->in[0];

    if (a->ndim < 2)
        return mxl_error("%s: takes matrices, got shape %s", infer->op->name, MXL_SHAPE_OF(a));
    return mxl_check_full_float(infer->op, a) != 0
               ? -1
               : mxl_infer_set(infer, a->dtype, a->ndim, a->shape);
}

static int qr_infer(mxl_infer *infer)
{
    const mxl_array *a = infer->in[0];
    int64_t rows, columns;

    if (like_matrices(infer) != 0)
        return -1;
    rows = a->shape[a->ndim - 2];
    columns = a->shape[a->ndim - 1];
    if (rows < columns)
        return mxl_error("%s: takes matrices with no more columns than rows, got shape %s",
                         infer->op->name, MXL_SHAPE_OF(a));
    infer->out_shape[0].dim[a->ndim - 1] = infer->out_shape[1].dim[a->ndim - 2] =
        ((const qr_params *)infer->params)->complete ? rows : columns;
    return 0;
}

/* Householder's reflections: column k below the diagonal becomes zeros, but for the vector of the
 * reflection, which stands there; its first element is 1. */
static void reflect_columns(int64_t m, int64_t n, double *a, double *tau)
{
    for (int64_t k = 0; k < n; k++) {
        double alpha = a[k * n + k], below = 0, beta;

        for (int64_t i = k + 1; i < m; i++)
            below = hypot(below, a[i * n + k]);
        tau[k] = 0;
        if (below == 0)
            continue;
        beta = alpha < 0 ? hypot(alpha, below) : -hypot(alpha, below);
        tau[k] = (beta - alpha) / beta;
        for (int64_t i = k + 1; i < m; i++)
            a[i * n + k] /= alpha - beta;
        a[k * n + k] = beta;
        for (int64_t j = k + 1; j < n; j++) {
            double sum = a[k * n + j];

            for (int64_t i = k + 1; i < m; i++)
                sum += a[i * n + k] * a[i * n + j];
            sum *= tau[k];
            a[k * n + j] -= sum;
            for (int64_t i = k + 1; i < m; i++)
                a[i * n + j] -= sum * a[i * n + k];
        }
    }
}

/* The first `width` columns of the product of the reflections. */
static void reflections(int64_t m, int64_t n, int64_t width, const double *a, const double *tau,
                        double *q)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < width; j++)
            q[i * width + j] = i == j;
    for (int64_t k = n - 1; k >= 0; k--) {
        for (int64_t j = 0; j < width; j++) {
            double sum = q[k * width + j];

            for (int64_t i = k + 1; i < m; i++)
                sum += a[i * n + k] * q[i * width + j];
            sum *= tau[k];
            q[k * width + j] -= sum;
            for (int64_t i = k + 1; i < m; i++)
                q[i * width + j] -= sum * a[i * n + k];
        }
    }
}

static int qr_compute(const mxl_call *call)
{
    const mxl_array *a = call->in[0];
    int64_t m = a->shape[a->ndim - 2], n = a->shape[a->ndim - 1], count = mxl_linalg_count(a);
    int64_t width = call->out[0]->shape[a->ndim - 1];
    size_t bytes = (size_t)(m * n + m * width + n + 1) * sizeof(double);
    double *work = mxl_alloc(bytes), *q, *tau;

    if (work == NULL)
        return -1;
    q = work + m * n;
    tau = q + m * width;
    for (int64_t i = 0; i < count && m > 0; i++) {
        mxl_linalg_to_double(a->dtype, m * n, given_at(call, i), work);
        reflect_columns(m, n, work, tau);
        reflections(m, n, width, work, tau, q);
        mxl_linalg_from_double(a->dtype, m * width, q, matrix_at(call->out[0], count, i));
        for (int64_t row = 0; row < width; row++)
            for (int64_t j = 0; j < n; j++)
                q[row * n + j] = j < row ? 0 : work[row * n + j];
        mxl_linalg_from_double(a->dtype, width * n, q, matrix_at(call->out[1], count, i));
    }
    mxl_free(work, bytes);
    return 0;
}

/* With M = R dR' - dQ' Q and S its lower triangle, mirrored: dA = (dQ + Q S) R^-T */
static int qr_grad(mxl_grad *g)
{
    mxl_scope *s = g->s;
    mxl_array *q = mxl_grad_out(g, 0), *r = mxl_grad_out(g, 1);
    mxl_array *dq = g->grad_output[0], *dr = g->grad_output[1], *m, *below;

    if (((const qr_params *)g->params)->complete)
        return mxl_error("%s: there is no derivative of complete factors", g->op->name);
    if (dq == NULL)
        dq = mxl_zeros_like(s, q);
    if (dr == NULL)
        dr = mxl_zeros_like(s, r);
    m = mxl_sub(s, mxl_matmul(s, r, dr, false, true, 1), mxl_matmul(s, dq, q, true, false, 1));
    below = mxl_triangle(s, m, 1, 0, 0);
    m = mxl_add(s, mxl_triangle(s, m, 1, 1, 0), mxl_transposed(s, below));
    m = mxl_add(s, dq, mxl_matmul(s, q, m, false, false, 1));
    return mxl_grad_set(g, 0, mxl_trsm(s, r, m, true, false, true, 1));
}

static const mxl_op op_qr = {
    .name = "_mxl_qr",
    .doc = "A = Q R of matrices with no more columns than rows: Q has orthonormal columns, R is "
           "upper triangular; the signs are LAPACK's.",
    .inputs = mxl_inputs_a,
    MXL_ONLY_PARAM(int, complete, MXL_P_BOOL, "0",
                   "Whether Q is square, and R has zeros below; that has no derivative."),
    .arity = mxl_arity_two,
    .infer = qr_infer,
    .dtypes = "W>WW",
    .compute = qr_compute,
    .grad = qr_grad,
    .saves = mxl_saves_outputs,
    .along = true,
};

/* ---- lu ---- */

/* Gauss's elimination with the largest element of each column as its pivot. */
static void eliminate(int64_t m, int64_t n, double *a, int32_t *pivots)
{
    for (int64_t k = 0; k < m && k < n; k++) {
        int64_t best = k;

        for (int64_t i = k + 1; i < m; i++)
            if (fabs(a[i * n + k]) > fabs(a[best * n + k]))
                best = i;
        pivots[k] = (int32_t)best + 1;
        for (int64_t j = 0; j < n && best != k; j++) {
            double kept = a[k * n + j];

            a[k * n + j] = a[best * n + j];
            a[best * n + j] = kept;
        }
        for (int64_t i = k + 1; i < m && a[k * n + k] != 0; i++) {
            double by = a[i * n + k] /= a[k * n + k];

            for (int64_t j = k + 1; j < n; j++)
                a[i * n + j] -= by * a[k * n + j];
        }
    }
}

static int lu_compute(const mxl_call *call)
{
    const mxl_array *a = call->in[0];
    int64_t m = a->shape[a->ndim - 2], n = a->shape[a->ndim - 1], count = mxl_linalg_count(a);
    size_t bytes = (size_t)(m * n + 1) * sizeof(double);
    double *work = mxl_alloc(bytes);

    if (work == NULL)
        return -1;
    for (int64_t i = 0; i < count && m * n > 0; i++) {
        mxl_linalg_to_double(a->dtype, m * n, given_at(call, i), work);
        eliminate(m, n, work, matrix_at(call->out[1], count, i));
        mxl_linalg_from_double(a->dtype, m * n, work, matrix_at(call->out[0], count, i));
    }
    mxl_free(work, bytes);
    return 0;
}

static int lu_infer(mxl_infer *infer)
{
    const mxl_array *a = infer->in[0];
    mxl_shape *pivots = &infer->out_shape[1];

    if (like_matrices(infer) != 0)
        return -1;
    if (pivots->dim[a->ndim - 1] < pivots->dim[a->ndim - 2])
        pivots->dim[a->ndim - 2] = pivots->dim[a->ndim - 1];
    pivots->ndim--;
    infer->out_dtype[1] = MXL_I32;
    return 0;
}

static const mxl_op op_lu = {
    .name = "_mxl_lu",
    .doc = "The triangles of P A = L U in one matrix, without the ones of L's diagonal, and the "
           "pivots: with which row each was exchanged, from 1 on, int32. Without a derivative.",
    .inputs = mxl_inputs_a,
    .arity = mxl_arity_two,
    .along = true,
    .infer = lu_infer,
    .dtypes = "W>Wi",
    .compute = lu_compute,
};

typedef struct order_params {
    int64_t rows;
} order_params;

static int order_compute(const mxl_call *call)
{
    const mxl_array *pivots = call->in[0];
    int64_t rows = ((const order_params *)call->params)->rows;
    int64_t k = pivots->shape[pivots->ndim - 1];
    int64_t count = mxl_shape_size(pivots->ndim - 1, pivots->shape);
    const int32_t *pivot = mxl_array_read(pivots);
    int64_t *order = mxl_array_write(call->out[0]);

    for (int64_t i = 0; i < pivots->size; i++)
        if (pivot[i] < 1 || pivot[i] > rows || k > rows)
            return mxl_error("%s: pivot %d is not among %lld rows", call->op->name, (int)pivot[i],
                             (long long)rows);
    for (int64_t i = 0; i < count; i++, order += rows, pivot += k) {
        for (int64_t row = 0; row < rows; row++)
            order[row] = row;
        for (int64_t row = 0; row < k; row++) {
            int64_t kept = order[row];

            order[row] = order[pivot[row] - 1];
            order[pivot[row] - 1] = kept;
        }
    }
    return 0;
}

static const mxl_op op_pivot_order = {
    .name = "_mxl_pivot_order",
    .doc = "The order that rows come to by the exchanges that pivots say, as int64.",
    MXL_INPUTS(MXL_INPUT(pivots, "int32: with which row each was exchanged, from 1 on.")),
    MXL_ONLY_PARAM(int64_t, rows, MXL_P_INT, MXL_REQUIRED, "How many rows there are.",
                   MXL_AT_LEAST(0)),
    MXL_SHAPES("pivots[*X,K] -> [*X,rows]"),
    .dtypes = "i>l",
    .compute = order_compute,
};

const mxl_op *const mxl_ops_linalg_qr[] = {&op_qr, &op_lu, &op_pivot_order, NULL};
