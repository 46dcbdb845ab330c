/* Factorisations of matrices: linalg_potrf, potri, gelqf, syevd. */
#include <string.h>

#include "kernel/linalg/lapack.h"
#include "ops/elementwise/elementwise.h"
#include "ops/linalg/linalg.h"

/* Which triangle potrf and potri read, and which one the factor is. 1.9.1 takes `lower` too, but
 * does not list it. */
typedef struct factor_params {
    int lower;
} factor_params;

#define LOWER(text)                                                                                \
    MXL_PARAMS_OF(factor_params, MXL_PARAM(factor_params, lower, MXL_P_BOOL, "1", text))

static bool is_upper(const void *params)
{
    return !((const factor_params *)params)->lower;
}

/* The upper triangle as the lower one, or back; `a` itself for lower ones. */
static mxl_array *turned(mxl_grad *g, mxl_array *a)
{
    return is_upper(g->params) ? mxl_transposed(g->s, a) : a;
}

/* ---- potrf ---- */

/* Transposes n x n numbers in place. */
static void transpose(int dtype, int64_t n, char *a)
{
    size_t width = mxl_dtype_size(dtype);
    char kept[sizeof(double)];

    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < i; k++) {
            char *below = a + (size_t)(i * n + k) * width, *above = a + (size_t)(k * n + i) * width;

            memcpy(kept, below, width);
            memcpy(below, above, width);
            memcpy(above, kept, width);
        }
    }
}

static int potrf_matrix(const mxl_matrix *m)
{
    bool upper = is_upper(m->call->params);
    int64_t bad = 0;

    if (upper)
        transpose(m->dtype, m->rows, m->out[0]);
    if (mxl_cholesky(m->dtype, m->rows, m->out[0], &bad) != 0)
        return -1;
    if (upper)
        transpose(m->dtype, m->rows, m->out[0]);
    return bad == 0 ? 0
                    : mxl_error("%s: matrix %lld is not positive definite: its leading minor of "
                                "order %lld is not positive",
                                m->call->op->name, (long long)m->index, (long long)bad);
}

/* That a matrix is not positive definite is known only at the end. */
MXL_EACH_MATRIX(potrf, call->in[0], true)

/* With M the lower triangle of L' dL, its diagonal halved: dA = L^-T (M + M') L^-1 / 2. */
static int potrf_grad(mxl_grad *g)
{
    mxl_array *l = turned(g, mxl_grad_out(g, 0));
    mxl_array *dl = mxl_triangle(g->s, turned(g, g->grad_output[0]), 1, 1, 0);
    mxl_array *m = mxl_triangle(g->s, mxl_matmul(g->s, l, dl, true, false, 1), 1, 0.5, 0);
    mxl_array *left = mxl_trsm(g->s, l, mxl_plus_transposed(g->s, m), false, true, true, 0.5);

    return mxl_grad_set(g, 0, mxl_trsm(g->s, l, left, true, true, false, 1));
}

static const mxl_op op_potrf = {
    .doc = "Cholesky factorisation of symmetric positive definite matrices: the lower triangular L "
           "of A = L L', or the upper triangular U of A = U' U. The other triangle of A is not "
           "read; the gradient is symmetric.",
    .name = "_linalg_potrf",
    .aliases = MXL_ALIASES("linalg_potrf"),
    .numpy_name = "_npi_cholesky",
    .inputs = mxl_inputs_a,
    LOWER("Whether the lower triangle is read, and L the result; else the upper one, and U."),
    MXL_SQUARES,
    .compute = potrf_compute,
    .grad = potrf_grad,
    .saves = mxl_saves_output,
};

/* ---- potri ---- */

/* The first zero on the diagonal of n x n numbers, from 1; 0: none. */
static int64_t zero_on_diagonal(int dtype, int64_t n, const void *a)
{
    for (int64_t i = 0; i < n; i++) {
        if (dtype == MXL_F32 ? ((const float *)a)[i * n + i] == 0
                             : ((const double *)a)[i * n + i] == 0)
            return i + 1;
    }
    return 0;
}

static int potri_check(const mxl_call *call)
{
    const mxl_array *a = call->in[0];
    int64_t n = a->shape[a->ndim - 1], count = mxl_linalg_count(a);

    for (int64_t i = 0; i < count && a->size > 0; i++) {
        const char *matrix =
            (const char *)mxl_array_read(a) + (size_t)(i * n * n) * mxl_dtype_size(a->dtype);
        int64_t bad = zero_on_diagonal(a->dtype, n, matrix);

        if (bad != 0)
            return mxl_error(
                "%s: matrix %lld is no Cholesky factor: its diagonal has a zero at %lld",
                call->op->name, (long long)i, (long long)(bad - 1));
    }
    return 0;
}

/* (L L')^-1 = L^-T L^-1: both from one solve. */
static mxl_array *potri_value(mxl_scope *s, mxl_array *l)
{
    mxl_array *ones = mxl_apply(s, &mxl_op_ones_like, l);
    mxl_array *inverse = mxl_trsm(s, l, mxl_triangle(s, ones, 0, 1, 0), false, true, false, 1);

    return mxl_matmul(s, inverse, inverse, true, false, 1);
}

static int potri_compute(const mxl_call *call)
{
    mxl_mode mode = {.dialect = &mxl_dialect_mxnet};
    mxl_scope scope;
    mxl_array *value;

    if (potri_check(call) != 0)
        return -1;
    mxl_scope_begin(&scope, mode);
    value = is_upper(call->params) ? mxl_transposed(&scope, call->in[0]) : call->in[0];
    value = potri_value(&scope, value);
    if (value != NULL && value->size > 0)
        memcpy(mxl_array_write(call->out[0]), mxl_array_read(value),
               (size_t)value->size * mxl_dtype_size(value->dtype));
    mxl_scope_end(&scope);
    return value == NULL ? -1 : 0;
}

/* B = (L L')^-1: dL = -B (dB + dB') L^-T, of it the lower triangle. U is L'. */
static int potri_grad(mxl_grad *g)
{
    mxl_array *both = mxl_plus_transposed(g->s, g->grad_output[0]);
    mxl_array *left = mxl_matmul(g->s, mxl_grad_out(g, 0), both, false, false, 1);
    mxl_array *dl = mxl_trsm(g->s, turned(g, mxl_grad_in(g, 0)), left, true, true, true, -1);

    return mxl_grad_set(g, 0, turned(g, mxl_triangle(g->s, dl, 1, 1, 0)));
}

static const mxl_op op_potri = {
    .doc = "Of lower triangular matrices L, such as potrf gives, the inverse of L L', or of upper "
           "ones U that of U' U. The other triangle is not read.",
    MXL_LINALG(potri, mxl_inputs_a),
    LOWER("Whether the matrices are lower triangular, else upper."),
    MXL_SQUARES,
    .compute = potri_compute,
    .grad = potri_grad,
    .saves = mxl_saves_input_and_output,
};

/* ---- gelqf ---- */

static int gelqf_matrix(const mxl_matrix *m)
{
    return mxl_lq(m->dtype, m->rows, m->columns, m->out[0], m->out[1]);
}

MXL_EACH_MATRIX(gelqf, call->in[0], false)

/* With M = L' dL - dQ Q' and S the symmetric matrix with M's lower triangle: dA = L^-T (dQ + S Q).
 * Terms of missing gradients are left out. */
static int gelqf_grad(mxl_grad *g)
{
    mxl_array *q = mxl_grad_out(g, 0), *l = mxl_grad_out(g, 1), *m = NULL, *sum;

    if (g->grad_output[1] != NULL)
        m = mxl_matmul(g->s, l, g->grad_output[1], true, false, 1);
    if (g->grad_output[0] != NULL) {
        mxl_array *turned = mxl_matmul(g->s, g->grad_output[0], q, false, true, -1);

        m = m == NULL ? turned : mxl_add(g->s, m, turned);
    }
    sum = mxl_matmul(g->s, mxl_plus_transposed(g->s, mxl_triangle(g->s, m, 1, 0.5, 0)), q, false,
                     false, 1);
    if (g->grad_output[0] != NULL)
        sum = mxl_add(g->s, sum, g->grad_output[0]);
    return mxl_grad_set(g, 0, mxl_trsm(g->s, l, sum, false, true, true, 1));
}

static const mxl_op op_gelqf = {
    .doc = "LQ factorisation of matrices with no more rows than columns: A = L Q. Two results: Q, "
           "whose rows are orthonormal, and L, lower triangular.",
    MXL_LINALG(gelqf, mxl_inputs_a),
    .arity = mxl_arity_two,
    .infer = mxl_linalg_infer_wide,
    MXL_SHAPES_TABLE("A[*X,M,N] -> [*X,M,N] [*X,M,M]"),
    .dtypes = "W>W*",
    .compute = gelqf_compute,
    .grad = gelqf_grad,
    .saves = mxl_saves_outputs,
};

/* ---- syevd ---- */

static int syevd_matrix(const mxl_matrix *m)
{
    bool converged;

    if (mxl_eigen(m->dtype, m->rows, m->out[0], m->out[1], &converged) != 0)
        return -1;
    return converged ? 0
                     : mxl_error("%s: the eigenvalues of matrix %lld did not converge",
                                 m->call->op->name, (long long)m->index);
}

MXL_EACH_MATRIX(syevd, call->in[0], true)

/* Differences of eigenvalues, l_i - l_j at (i, j), usable as divisors: a magnitude below 1.9.1's
 * guard becomes the guard, negative above the diagonal (eigenvalues ascend). The diagonal has ones,
 * which are not used. */
static mxl_array *differences(mxl_scope *s, mxl_array *values)
{
    int n = values == NULL ? 0 : values->ndim;
    double guard = values != NULL && values->dtype == MXL_F32 ? 1e-30 : 1e-100;
    mxl_array *column, *row, *all, *far, *guards;
    int64_t shape[MXL_MAX_NDIM + 1];

    if (values == NULL)
        return NULL;
    memcpy(shape, values->shape, (size_t)n * sizeof(*shape));
    shape[n] = shape[n - 1];
    shape[n - 1] = 1;
    row = mxl_reshape(s, values, n + 1, shape);
    column = mxl_with_axes(s, values, n, values->shape, 1);
    all = mxl_sub(s, column, row);
    far = mxl_apply_scalar(s, &mxl_op_greater_equal_scalar, mxl_apply(s, &mxl_op_abs, all), guard);
    guards = mxl_triangle(s, mxl_apply(s, &mxl_op_ones_like, all), guard, 1, -guard);
    return mxl_where(s, far, all, guards);
}

/* dA = U' (K + diag(dl)) U, K the symmetric part of dU U' / (l_i - l_j) without its diagonal. */
static int syevd_grad(mxl_grad *g)
{
    mxl_array *u = mxl_grad_out(g, 0), *inner = NULL;

    if (g->grad_output[1] != NULL)
        inner = mxl_diagonal_put(g->s, g->grad_output[1], 0);
    if (g->grad_output[0] != NULL) {
        mxl_array *turns = mxl_matmul(g->s, g->grad_output[0], u, false, true, 0.5);
        mxl_array *k = mxl_div(g->s, turns, differences(g->s, mxl_grad_out(g, 1)));

        k = mxl_plus_transposed(g->s, mxl_triangle(g->s, k, 1, 0, 1));
        inner = inner == NULL ? k : mxl_add(g->s, inner, k);
    }
    return mxl_grad_set(
        g, 0, mxl_matmul(g->s, u, mxl_matmul(g->s, inner, u, false, false, 1), true, false, 1));
}

const mxl_op mxl_op_syevd = {
    .name = "_linalg_syevd",
    .doc = "Eigenvalues and eigenvectors of symmetric matrices: A = U' diag(L) U. Two results: U, "
           "whose rows are the eigenvectors (the component of greatest magnitude positive), and L, "
           "ascending. Only the lower triangle of A is read; the gradient is symmetric.",
    .inputs = mxl_inputs_a,
    .arity = mxl_arity_two,
    MXL_SHAPES("A[*X,N,N] -> [*X,N,N] [*X,N]"),
    .dtypes = "W>W*",
    .compute = syevd_compute,
    .grad = syevd_grad,
    .saves = mxl_saves_outputs,
};

const mxl_op *const mxl_ops_linalg_factor[] = {&op_potrf, &op_potri, &op_gelqf, &mxl_op_syevd,
                                               NULL};
