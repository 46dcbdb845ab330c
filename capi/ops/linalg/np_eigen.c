/* Eigenvalues of NumPy arrays: _npi_eigh and _npi_eigvalsh of symmetric matrices, _npi_eig and
 * _npi_eigvals of any, whose eigenvalues must be real. Integers count as float64. */
#include <string.h>

#include "kernel/linalg/spectral.h"
#include "ops/linalg/linalg.h"
#include "ops/numpy/numpy.h"

/* ---- shared ---- */

static int work_dtype(int dtype)
{
    return mxl_dtype_is_float(dtype) ? dtype : MXL_F64;
}

/* Values, then vectors if there is a second output. */
static int values_infer(mxl_infer *infer)
{
    const mxl_array *a = infer->in[0];
    int dtype = work_dtype(a->dtype), last = a->ndim - 1;

    if (a->dtype == MXL_F16 || a->dtype == MXL_BOOL)
        return mxl_error("%s: takes float32, float64 and integers, got %s", infer->op->name,
                         mxl_dtype_name(a->dtype));
    if (a->ndim < 2 || a->shape[last] != a->shape[last - 1])
        return mxl_error("%s: takes square matrices, got shape %s", infer->op->name,
                         MXL_SHAPE_OF(a));
    mxl_infer_set(infer, dtype, a->ndim, a->shape);
    infer->out_shape[0].ndim--;
    return 0;
}

/* ---- symmetric matrices ---- */

/* The upper triangle is the lower one of the transposed matrix. */
static int symmetric(mxl_scope *s, const mxl_call *call, mxl_array **values, mxl_array **vectors)
{
    const char *triangle = *(const char *const *)call->params;
    mxl_array *a = mxl_cast(s, call->in[0], work_dtype(call->in[0]->dtype));
    mxl_array *parts[2];

    if (strcmp(triangle, "U") == 0)
        a = mxl_transposed(s, a);
    if (mxl_scope_call_many(s, &mxl_op_syevd, NULL, 1, &a, 2, parts) != 0) {
        s->failed = true;
        return -1;
    }
    *values = parts[1];
    *vectors = parts[0];
    return 0;
}

static mxl_array *eigh_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *values, *vectors;

    if (symmetric(s, call, &values, &vectors) != 0)
        return NULL;
    call->out[1] = mxl_transposed(s, vectors);
    return call->out[1] == NULL ? NULL : values;
}

static mxl_array *eigvalsh_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *values, *vectors;

    return symmetric(s, call, &values, &vectors) != 0 ? NULL : values;
}

#define TRIANGLE                                                                                   \
    MXL_ONLY_PARAM(const char *, UPLO, MXL_P_STRING, "L",                                          \
                   "The triangle that is read: 'U', or anything else for the lower one.",          \
                   .type_text = ", optional, default=L")

static const mxl_op op_eigh = {
    .name = MXL_NUMPY("_npi_eigh"),
    .doc = "Eigenvalues, ascending, and eigenvectors of symmetric matrices: two results, values, "
           "and vectors as columns (the component of greatest magnitude positive). The gradient "
           "is symmetric.",
    .inputs = mxl_inputs_a,
    TRIANGLE,
    .arity = mxl_arity_two,
    .infer = values_infer,
    .compose = eigh_compose,
};

/* The matrices are square, and the values lack one axis. */
static int values_complete(mxl_rule *rule)
{
    mxl_shape square = *mxl_rule_out(rule, 0);

    if (square.ndim < 1 || square.ndim >= MXL_MAX_NDIM)
        return 0;
    square.dim[square.ndim] = square.dim[square.ndim - 1];
    square.ndim++;
    return mxl_rule_merge(rule, mxl_rule_in(rule, 0), &square);
}

static const mxl_op op_eigvalsh = {
    .name = MXL_NUMPY("_npi_eigvalsh"),
    .doc = "Eigenvalues of symmetric matrices, ascending.",
    .inputs = mxl_inputs_a,
    TRIANGLE,
    .infer = values_infer,
    .complete_shapes = values_complete,
    .compose = eigvalsh_compose,
};

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

/* 1 / (l_j - l_i) at (i, j), 0 where they are equal. */
static mxl_array *inverse_gaps(mxl_scope *s, mxl_array *l)
{
    mxl_array *apart, *zero, *row, *column;
    int64_t shape[MXL_MAX_NDIM + 1];
    int n = l == NULL ? 0 : l->ndim;

    if (l == NULL)
        return NULL;
    memcpy(shape, l->shape, (size_t)n * sizeof(*shape));
    shape[n] = shape[n - 1];
    shape[n - 1] = 1;
    row = mxl_reshape(s, l, n + 1, shape);
    column = mxl_with_axes(s, l, n, l->shape, 1);
    apart = mxl_sub(s, row, column);
    zero = apart == NULL ? NULL : mxl_equal(s, apart, mxl_zeros_like(s, apart));
    return mxl_div(s, mxl_one_minus(s, zero), mxl_add(s, apart, zero));
}

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
    .infer = values_infer,
    .compute = eig_compute,
    .grad = eig_grad,
    .saves = mxl_saves_outputs,
};

static mxl_array *eig_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *a = mxl_cast(s, call->in[0], work_dtype(call->in[0]->dtype));
    mxl_array *parts[2];

    if (mxl_scope_call_many(s, &op_eig_float, NULL, 1, &a, 2, parts) != 0)
        return NULL;
    if (call->num_outputs > 1)
        call->out[1] = parts[1];
    return parts[0];
}

static const mxl_op op_eig = {
    .name = MXL_NUMPY("_npi_eig"),
    .doc = "Eigenvalues, in no order, and eigenvectors of matrices: two results, values, and "
           "vectors of length 1 as columns. An error if an eigenvalue is complex. The gradient "
           "leaves out terms of equal values.",
    .inputs = mxl_inputs_a,
    .arity = mxl_arity_two,
    .infer = values_infer,
    .compose = eig_compose,
};

static const mxl_op op_eigvals = {
    .name = MXL_NUMPY("_npi_eigvals"),
    .doc = "Eigenvalues of matrices, in no order. An error if one is complex.",
    .inputs = mxl_inputs_a,
    .infer = values_infer,
    .complete_shapes = values_complete,
    .compose = eig_compose,
};

const mxl_op *const mxl_ops_np_eigen[] = {&op_eigh, &op_eigvalsh, &op_eig_float,
                                          &op_eig,  &op_eigvals,  NULL};
