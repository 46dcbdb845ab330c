/* Eigenvalues of NumPy arrays: _npi_eigh and _npi_eigvalsh of symmetric matrices, _npi_eig and
 * _npi_eigvals of any, whose eigenvalues must be real. Integers count as float64. */
#include <string.h>

#include "kernel/linalg/spectral.h"
#include "ops/linalg/linalg.h"
#include "ops/numpy/numpy.h"

/* ---- shared ---- */

/* x as a column of factors for the rows of a matrix, or as a row for its columns. */
static mxl_array *beside(mxl_scope *s, mxl_array *x, bool column)
{
    int64_t shape[MXL_MAX_NDIM + 1];
    int n = x == NULL ? 0 : x->ndim;

    if (x == NULL)
        return NULL;
    if (column)
        return mxl_with_axes(s, x, n, x->shape, 1);
    memcpy(shape, x->shape, (size_t)n * sizeof(*shape));
    shape[n] = shape[n - 1];
    shape[n - 1] = 1;
    return mxl_reshape(s, x, n + 1, shape);
}

/* 1 / d, but 0 where d is 0: terms of equal values are left out. */
static mxl_array *reciprocal_or_zero(mxl_scope *s, mxl_array *d)
{
    mxl_array *zero = d == NULL ? NULL : mxl_equal(s, d, mxl_zeros_like(s, d));

    return mxl_div(s, mxl_one_minus(s, zero), mxl_add(s, d, zero));
}

/* 1 / (l_j - l_i) at (i, j), 0 where they are equal. */
static mxl_array *inverse_gaps(mxl_scope *s, mxl_array *l)
{
    return reciprocal_or_zero(s, mxl_sub(s, beside(s, l, false), beside(s, l, true)));
}

/* Square matrices in a dtype of solvers. NULL with the error set. */
static mxl_array *squares(mxl_scope *s, mxl_array *a)
{
    int last = a->ndim - 1, dtype = mxl_np_solver_dtype(1, &a);

    if (dtype < 0)
        return NULL;
    if (a->ndim < 2 || a->shape[last] != a->shape[last - 1])
        return mxl_error_null("takes square matrices, got shape %s", MXL_SHAPE_OF(a));
    return mxl_cast(s, a, dtype);
}

/* Operators of square matrices: values, then vectors if there is a second output. */
#define EIGEN(id, kind, its_arity, text, ...)                                                      \
    static const mxl_op op_##id = {                                                                \
        .name = MXL_NUMPY("_npi_" #id),                                                            \
        .dtypes = "A>r*",                                                                          \
        .doc = text,                                                                               \
        .inputs = mxl_inputs_a,                                                                    \
        .arity = its_arity,                                                                        \
        .compose = kind##_compose,                                                                 \
        __VA_ARGS__,                                                                               \
    }

/* ---- symmetric matrices ---- */

/* The upper triangle is the lower one of the transposed matrix. */
static mxl_array *symmetric_compose(mxl_scope *s, const mxl_call *call)
{
    const char *triangle = *(const char *const *)call->params;
    mxl_array *a = squares(s, call->in[0]), *parts[2];

    if (strcmp(triangle, "U") == 0)
        a = mxl_transposed(s, a);
    if (mxl_scope_call_many(s, &mxl_op_syevd, NULL, 1, &a, 2, parts) != 0)
        return NULL;
    if (call->num_outputs > 1)
        call->out[1] = mxl_transposed(s, parts[0]);
    return parts[1];
}

#define TRIANGLE                                                                                   \
    MXL_ONLY_PARAM(const char *, UPLO, MXL_P_STRING, "L",                                          \
                   "The triangle that is read: 'U', or anything else for the lower one.",          \
                   .type_text = ", optional, default=L")

EIGEN(eigh, symmetric, mxl_arity_two,
      "Eigenvalues, ascending, and eigenvectors of symmetric matrices: two results, values, and "
      "vectors as columns (the component of greatest magnitude positive). The gradient is "
      "symmetric.",
      TRIANGLE);
EIGEN(eigvalsh, symmetric, NULL, "Eigenvalues of symmetric matrices, ascending.", TRIANGLE,
      MXL_SHAPES_TABLE("A[*X,N,N] -> [*X,N]"));

/* ---- any matrices ---- */

static int eig_matrix(const mxl_matrix *m)
{
    bool real, converged;

    if (mxl_eig(m->dtype, m->rows, m->a, m->out[0], &real, &converged) != 0)
        return -1;
    if (!converged)
        return mxl_error("%s: the eigenvalues of matrix %lld did not converge", m->call->op->name,
                         (long long)m->index);
    if (!real)
        return mxl_error("%s: matrix %lld has complex eigenvalues, only real ones are supported",
                         m->call->op->name, (long long)m->index);
    memcpy(m->out[1], m->a, (size_t)(m->rows * m->rows) * mxl_dtype_size(m->dtype));
    return 0;
}

MXL_EACH_MATRIX(eig, NULL, true)

/* dA = V^-T (diag(dl) + G (V' dW)) V', with G_ij = 1 / (l_j - l_i), 0 on the diagonal, and dW the
 * part of each column of dV that is orthogonal to the vector, whose length stays 1. */
static int eig_grad(mxl_grad *g)
{
    mxl_scope *s = g->s;
    mxl_array *v = mxl_grad_out(g, 1), *dl = g->grad_output[0], *dv = g->grad_output[1];
    mxl_array *inner = NULL, *inverse;

    if (v == NULL)
        return -1;
    if (dl != NULL)
        inner = mxl_diagonal_put(s, dl, 0);
    if (dv != NULL) {
        mxl_array *along = mxl_mul(s, v, mxl_sum_axis(s, mxl_mul(s, v, dv), -2));
        mxl_array *turned = mxl_matmul(s, v, mxl_sub(s, dv, along), true, false, 1);

        turned = mxl_mul(s, inverse_gaps(s, mxl_grad_out(g, 0)), turned);
        inner = inner == NULL ? turned : mxl_add(s, inner, turned);
    }
    inverse = mxl_apply(s, &mxl_op_inverse, v);
    inner = mxl_matmul(s, inverse, inner, true, false, 1);
    return mxl_grad_set(g, 0, mxl_matmul(s, inner, v, false, true, 1));
}

static const mxl_op op_eig_float = {
    .name = "_mxl_eig",
    .doc = "Eigenvalues and eigenvectors of matrices of float32 or float64.",
    .inputs = mxl_inputs_a,
    .arity = mxl_arity_two,
    MXL_SHAPES("A[*X,N,N] -> [*X,N] [*X,N,N]"),
    .dtypes = "W>W*",
    .compute = eig_compute,
    .grad = eig_grad,
    .saves = mxl_saves_outputs,
};

static mxl_array *any_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *a = squares(s, call->in[0]), *parts[2];

    if (mxl_scope_call_many(s, &op_eig_float, NULL, 1, &a, 2, parts) != 0)
        return NULL;
    if (call->num_outputs > 1)
        call->out[1] = parts[1];
    return parts[0];
}

EIGEN(eig, any, mxl_arity_two,
      "Eigenvalues, in no order, and eigenvectors of matrices: two results, values, and vectors of "
      "length 1 as columns. An error if an eigenvalue is complex. The gradient leaves out terms of "
      "equal values.",
      .params = NULL);
EIGEN(eigvals, any, NULL, "Eigenvalues of matrices, in no order. An error if one is complex.",
      MXL_SHAPES_TABLE("A[*X,N,N] -> [*X,N]"));

/* ---- svd ---- */

static int svd_arity(const void *params, mxl_arity *arity)
{
    (void)params;
    arity->inputs = 1;
    arity->outputs = arity->visible = 3;
    return 0;
}

static int svd_compute(const mxl_call *call)
{
    const mxl_array *a = call->in[0];
    int64_t m = a->shape[a->ndim - 2], n = a->shape[a->ndim - 1], count = mxl_linalg_count(a);
    size_t width = mxl_dtype_size(a->dtype);
    char *u, *values, *v;

    if (a->size == 0)
        return 0;
    u = mxl_array_write(call->out[0]);
    values = mxl_array_write(call->out[1]);
    v = mxl_array_write(call->out[2]);
    memcpy(v, mxl_array_read(a), (size_t)a->size * width);
    for (int64_t i = 0; i < count; i++)
        if (mxl_svd(a->dtype, m, n, v + (size_t)(i * m * n) * width,
                    u + (size_t)(i * m * m) * width, values + (size_t)(i * m) * width) != 0)
            return -1;
    return 0;
}

/* K + K', K = F (U' dU) with F_ij = 1 / (l_j^2 - l_i^2), 0 on the diagonal. */
static mxl_array *turned(mxl_scope *s, mxl_array *inner, mxl_array *values)
{
    return mxl_plus_transposed(s, mxl_mul(s, inverse_gaps(s, mxl_square(s, values)), inner));
}

static mxl_array *sum_of(mxl_scope *s, mxl_array *a, mxl_array *b)
{
    return a == NULL ? b : mxl_add(s, a, b);
}

/* dA = U (J L + L K + diag(dl)) V + U L^-1 dV (1 - V' V), with J as above from U' dU and K from V
 * dV'. Terms of missing gradients are left out. */
static int svd_grad(mxl_grad *g)
{
    mxl_scope *s = g->s;
    mxl_array *u = mxl_grad_out(g, 0), *l = mxl_grad_out(g, 1), *v = mxl_grad_out(g, 2);
    mxl_array *du = g->grad_output[0], *dl = g->grad_output[1], *dv = g->grad_output[2];
    mxl_array *inner = NULL, *da;

    if (u == NULL || l == NULL || v == NULL)
        return -1;
    if (dl != NULL)
        inner = mxl_diagonal_put(s, dl, 0);
    if (du != NULL)
        inner = sum_of(
            s, inner,
            mxl_mul(s, turned(s, mxl_matmul(s, u, du, true, false, 1), l), beside(s, l, false)));
    if (dv != NULL)
        inner = sum_of(
            s, inner,
            mxl_mul(s, beside(s, l, true), turned(s, mxl_matmul(s, v, dv, false, true, 1), l)));
    da = mxl_matmul(s, mxl_matmul(s, u, inner, false, false, 1), v, false, false, 1);
    if (dv != NULL) {
        mxl_array *within = mxl_matmul(s, mxl_matmul(s, dv, v, false, true, 1), v, false, false, 1);
        mxl_array *rest =
            mxl_mul(s, mxl_sub(s, dv, within), reciprocal_or_zero(s, beside(s, l, true)));

        da = mxl_add(s, da, mxl_matmul(s, u, rest, false, false, 1));
    }
    return mxl_grad_set(g, 0, da);
}

const mxl_op mxl_op_np_svd = {
    .name = MXL_NUMPY("_npi_svd"),
    .doc = "Singular value decomposition of matrices with no more rows than columns: A = U diag(L) "
           "V. Three results: U, L, descending, and V, whose rows are orthonormal (the component "
           "of greatest magnitude positive). The gradient leaves out terms of equal values.",
    .inputs = mxl_inputs_a,
    .arity = svd_arity,
    .infer = mxl_linalg_infer_wide,
    MXL_SHAPES_TABLE("A[*X,M,N] -> [*X,M,M] [*X,M] [*X,M,N]"),
    .dtypes = "W>W*",
    .compute = svd_compute,
    .grad = svd_grad,
    .saves = mxl_saves_outputs,
};

const mxl_op *const mxl_ops_np_spectral[] = {&op_eigh,    &op_eigvalsh,   &op_eig_float, &op_eig,
                                             &op_eigvals, &mxl_op_np_svd, NULL};
