/* Inverses and determinants of matrices: linalg_inverse, det, slogdet; and operators for the
 * gradients of the last two: _mxl_cofactors, _mxl_inverse_or_zero. */
#include <math.h>
#include <string.h>

#include "kernel/linalg/lapack.h"
#include "ops/elementwise/elementwise.h"
#include "ops/linalg/linalg.h"

/* ---- inverse ---- */

/* A singular matrix is an error, or becomes zeros. */
static int inverse_matrix(const mxl_matrix *m)
{
    mxl_lu lu;

    if (mxl_lu_decompose(m->dtype, m->rows, m->out[0], true, &lu) != 0)
        return -1;
    if (lu.bad != 0 && m->call->op == &mxl_op_inverse)
        return mxl_error("%s: matrix %lld is singular: pivot %lld is zero", m->call->op->name,
                         (long long)m->index, (long long)lu.bad);
    if (lu.bad != 0)
        memset(m->out[0], 0, (size_t)(m->rows * m->rows) * mxl_dtype_size(m->dtype));
    return 0;
}

MXL_EACH_MATRIX(inverse, call->in[0], true)

/* B = A^-1: dA = -B' dB B' */
MXL_DX_OF_Y(inverse, mxl_matmul(s, mxl_matmul(s, y, dy, true, false, -1), y, false, true, 1))

const mxl_op mxl_op_inverse = {
    .name = "_linalg_inverse",
    .aliases = MXL_ALIASES("_npi_inv", "linalg_inverse"),
    .doc = "Inverses of square matrices; an error for a singular one.",
    .inputs = mxl_inputs_a,
    MXL_SQUARES,
    .compute = inverse_compute,
    .grad = inverse_grad,
    .saves = mxl_saves_output,
};

static const mxl_op op_inverse_or_zero = {
    .name = "_mxl_inverse_or_zero",
    .doc = "Inverses of square matrices, zeros for a singular one.",
    .inputs = mxl_inputs_a,
    MXL_SQUARES,
    .compute = inverse_compute,
    .grad = inverse_grad,
    .saves = mxl_saves_output,
};

/* ---- cofactors ---- */

static int cofactors_matrix(const mxl_matrix *m)
{
    return mxl_cofactors(m->dtype, m->rows, m->a, m->out[0]);
}

MXL_EACH_MATRIX(cofactors, NULL, false)

/* Numbers, one for each matrix, to be multiplied with n x n matrices. */
static mxl_array *for_each(mxl_grad *g, mxl_array *numbers)
{
    const mxl_meta *a = mxl_grad_in_meta(g, 0);

    return mxl_with_axes(g->s, numbers, a->ndim - 2, a->shape, 2);
}

/* C = det(A) B' with B = A^-1: dA = sum(dC C) B' - C dC' B'. Of a single number C is 1: dA = 0. A
 * singular A is an error here. */
static int cofactors_grad(mxl_grad *g)
{
    const mxl_meta *meta = mxl_grad_in_meta(g, 0);
    mxl_array *c, *dc = g->grad_output[0], *b, *sum;

    if (meta->shape[meta->ndim - 1] == 1)
        return mxl_grad_zero(g);
    c = mxl_grad_out(g, 0);
    b = mxl_transposed(g->s, mxl_apply(g->s, &mxl_op_inverse, mxl_grad_in(g, 0)));
    sum = mxl_sum_axis(g->s, mxl_sum_axis(g->s, mxl_mul(g->s, dc, c), -1), -2);
    sum = mxl_mul(g->s, sum, b);
    c = mxl_matmul(g->s, c, mxl_matmul(g->s, dc, b, true, false, 1), false, false, 1);
    return mxl_grad_set(g, 0, mxl_sub(g->s, sum, c));
}

static const mxl_op op_cofactors = {
    .name = "_mxl_cofactors",
    .doc = "Of square matrices those of their cofactors: the gradients of their determinants.",
    .inputs = mxl_inputs_a,
    MXL_SQUARES,
    .compute = cofactors_compute,
    .grad = cofactors_grad,
    .saves = mxl_saves_input_and_output,
};

/* ---- det and slogdet ---- */

static void put(int dtype, void *to, double value)
{
    if (dtype == MXL_F32)
        *(float *)to = (float)value;
    else
        *(double *)to = value;
}

/* det has one output, slogdet two. An empty matrix has determinant 1. */
static int det_matrix(const mxl_matrix *m)
{
    mxl_lu lu;

    if (mxl_lu_decompose(m->dtype, m->rows, m->a, false, &lu) != 0)
        return -1;
    put(m->dtype, m->out[0], m->call->num_outputs == 1 ? lu.det : lu.sign);
    if (m->call->num_outputs > 1)
        put(m->dtype, m->out[1], lu.log_det);
    return 0;
}

MXL_EACH_MATRIX(det, NULL, true)

/* dA = dy C, C the cofactors */
MXL_DX_OF_X(det, mxl_mul(s, for_each(g, dy), mxl_apply(s, &op_cofactors, x)))

static const mxl_op op_det = {
    .name = "_linalg_det",
    .aliases = MXL_ALIASES("_npi_det", "linalg_det"),
    .doc = "Determinants of square matrices.",
    .inputs = mxl_inputs_a,
    .total_outputs = 3,
    MXL_SHAPES("A[*X,N,N] -> [*X]"),
    .dtypes = "W>W",
    .compute = det_compute,
    .grad = det_grad,
    .saves = mxl_saves_input,
};

/* dA = dlog A^-T, zero where A is singular; the sign is constant. */
static int slogdet_grad(mxl_grad *g)
{
    mxl_array *b;

    if (g->grad_output[1] == NULL)
        return mxl_grad_zero(g);
    b = mxl_transposed(g->s, mxl_apply(g->s, &op_inverse_or_zero, mxl_grad_in(g, 0)));
    return mxl_grad_set(g, 0, mxl_mul(g->s, for_each(g, g->grad_output[1]), b));
}

static bool any_zero(const mxl_array *a)
{
    const void *data = mxl_array_read(a);
    bool found = false;

    for (int64_t i = 0; i < a->size && !found && !mxl_array_is_meta(a); i++)
        found =
            a->dtype == MXL_F32 ? ((const float *)data)[i] == 0 : ((const double *)data)[i] == 0;
    return found;
}

/* The same, but C / 0 where A is singular, C the cofactors: the logarithm has an infinite
 * derivative there. */
static int steep_slogdet_grad(mxl_grad *g)
{
    const mxl_meta *meta = mxl_grad_in_meta(g, 0);
    mxl_array *a, *sign, *b;

    if (g->grad_output[1] == NULL)
        return mxl_grad_zero(g);
    a = mxl_grad_in(g, 0);
    sign = mxl_grad_out(g, 0);
    if (sign == NULL)
        return -1;
    b = mxl_transposed(g->s, mxl_apply(g->s, &op_inverse_or_zero, a));
    if (any_zero(sign)) {
        mxl_array *c = mxl_div_scalar(g->s, mxl_apply(g->s, &op_cofactors, a), 0);

        sign = mxl_broadcast_to(g->s, for_each(g, sign), meta->ndim, meta->shape);
        b = mxl_where(g->s, sign, b, c);
    }
    return mxl_grad_set(g, 0, mxl_mul(g->s, for_each(g, g->grad_output[1]), b));
}

#define SLOGDET(op_symbol, op_name, op_aliases, op_doc, op_grad, ...)                              \
    static const mxl_op op_symbol = {                                                              \
        .name = op_name,                                                                           \
        .aliases = op_aliases,                                                                     \
        .doc = "Determinants of square matrices in two results: the sign (0 for a singular one) "  \
               "and the logarithm of the magnitude. " op_doc,                                      \
        .inputs = mxl_inputs_a,                                                                    \
        .arity = mxl_arity_two,                                                                    \
        MXL_SHAPES("A[*X,N,N] -> [*X] [*X]"),                                                      \
        .dtypes = "W>W*",                                                                          \
        .compute = det_compute,                                                                    \
        .grad = op_grad,                                                                           \
        .saves = __VA_ARGS__,                                                                      \
    }

SLOGDET(op_slogdet, "_linalg_slogdet", MXL_ALIASES("_npi_slogdet", "linalg_slogdet"),
        "The gradient of a singular one is 0.", slogdet_grad, mxl_saves_input, .total_outputs = 4);
SLOGDET(op_steep_slogdet, "_mxl_slogdet", NULL, "The gradient of a singular one is not finite.",
        steep_slogdet_grad, mxl_saves_input_and_output);

const mxl_op *const mxl_ops_linalg_det[] = {
    &mxl_op_inverse, &op_inverse_or_zero, &op_cofactors, &op_det,
    &op_slogdet,     &op_steep_slogdet,   NULL};
