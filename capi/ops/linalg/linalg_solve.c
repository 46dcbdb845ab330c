/* Triangular matrices: linalg_trmm, which multiplies with them, and linalg_trsm, which solves; and
 * _mxl_solve of any square matrices. */
#include "kernel/linalg/lapack.h"
#include "ops/linalg/linalg.h"

typedef struct tr_params {
    int transpose, rightside, lower;
    double alpha;
} tr_params;

static const mxl_param tr_table[] = {
    MXL_PARAM(tr_params, transpose, MXL_P_BOOL, "0", "Whether the matrices of A are transposed."),
    MXL_PARAM(tr_params, rightside, MXL_P_BOOL, "0", "Whether A multiplies from the right."),
    MXL_PARAM(tr_params, lower, MXL_P_BOOL, "1",
              "Which triangle of A is read: the lower one, or the upper one."),
    MXL_PARAM(tr_params, alpha, MXL_P_FLOAT, "1", "Factor of the result.", .type_name = "double"),
    {0},
};

static const char *tr_shapes(const void *params)
{
    return ((const tr_params *)params)->rightside ? "A[*X,N,N] B[*X,M,N] -> [*X,M,N]" : NULL;
}

#define TR_SHAPES                                                                                  \
    MXL_SHAPES("A[*X,M,M] B[*X,M,N] -> [*X,M,N]"), .shapes_of = tr_shapes, .dtypes = "W*>W"

static mxl_array *trmm_compose(mxl_scope *s, const mxl_call *call)
{
    const tr_params *p = call->params;
    mxl_array *t = mxl_triangle(s, call->in[0], p->lower ? 1 : 0, 1, p->lower ? 0 : 1);

    if (p->rightside)
        return mxl_matmul(s, call->in[1], t, false, p->transpose != 0, p->alpha);
    return mxl_matmul(s, t, call->in[1], p->transpose != 0, false, p->alpha);
}

static const mxl_op op_trmm = {
    .doc = "Products with triangular matrices: alpha op(A) B, or alpha B op(A).",
    MXL_LINALG(trmm, mxl_inputs_ab),
    MXL_PARAMS(tr_params, tr_table),
    TR_SHAPES,
    .compose = trmm_compose,
};

static int trsm_matrix(const mxl_matrix *m)
{
    const tr_params *p = m->call->params;
    const mxl_array *x = m->call->out[0];

    return mxl_triangular_solve(m->dtype, p->rightside, p->lower, p->transpose,
                                x->shape[x->ndim - 2], x->shape[x->ndim - 1], m->a, m->out[0]);
}

static int trsm_compute(const mxl_call *call)
{
    if (mxl_linalg_each(call, call->in[1], false, trsm_matrix) != 0)
        return -1;
    mxl_linalg_scale(call->out[0], ((const tr_params *)call->params)->alpha);
    return 0;
}

static const mxl_op op_trsm;

mxl_array *mxl_trsm(mxl_scope *s, mxl_array *a, mxl_array *b, bool right, bool lower,
                    bool transpose, double alpha)
{
    tr_params params = {.transpose = transpose, .rightside = right, .lower = lower, .alpha = alpha};
    mxl_array *inputs[2] = {a, b};

    return mxl_scope_call(s, &op_trsm, &params, 2, inputs);
}

/* X = alpha M^-1 B with M = op(A): with G = M^-T dX, dB = alpha G and dM = -G X'. On the right, X =
 * alpha B M^-1: with G = dX M^-T, dB = alpha G and dM = -X' G. dA keeps only the triangle that is
 * read. */
static int trsm_grad(mxl_grad *g)
{
    const tr_params *p = g->params;
    bool right = p->rightside, lower = p->lower;
    mxl_array *da, *x,
        *w = mxl_trsm(g->s, mxl_grad_in(g, 0), g->grad_output[0], right, lower, !p->transpose, 1);

    if (mxl_grad_wants(g, 1) &&
        mxl_grad_set(g, 1, p->alpha == 1 ? w : mxl_mul_scalar(g->s, w, p->alpha)) != 0)
        return -1;
    if (!mxl_grad_wants(g, 0))
        return 0;
    x = mxl_grad_out(g, 0);
    if (right)
        da = p->transpose ? mxl_matmul(g->s, w, x, true, false, -1)
                          : mxl_matmul(g->s, x, w, true, false, -1);
    else
        da = p->transpose ? mxl_matmul(g->s, x, w, false, true, -1)
                          : mxl_matmul(g->s, w, x, false, true, -1);
    return mxl_grad_set(g, 0, mxl_triangle(g->s, da, lower ? 1 : 0, 1, lower ? 0 : 1));
}

static void trsm_saves(mxl_saves *saves)
{
    saves->in[0] = true;
    saves->out[0] = saves->wants[0];
}

static const mxl_op op_trsm = {
    .doc = "Solves triangular systems: X of op(A) X = alpha B, or of X op(A) = alpha B. Zeros on "
           "the diagonal give infinities and NaN.",
    MXL_LINALG(trsm, mxl_inputs_ab),
    MXL_PARAMS(tr_params, tr_table),
    TR_SHAPES,
    .compute = trsm_compute,
    .grad = trsm_grad,
    .saves = trsm_saves,
};

/* ---- _mxl_solve ---- */

static int solve_matrix(const mxl_matrix *m)
{
    const mxl_array *x = m->call->out[0];
    int64_t bad;

    if (mxl_lu_solve(m->dtype, *(const int *)m->call->params != 0, m->rows, x->shape[x->ndim - 1],
                     m->a, m->out[0], &bad) != 0)
        return -1;
    return bad == 0 ? 0
                    : mxl_error("%s: matrix %lld is singular: pivot %lld is zero",
                                m->call->op->name, (long long)m->index, (long long)bad);
}

MXL_EACH_MATRIX(solve, call->in[1], true)

static const mxl_op op_solve;

/* X = op(A)^-1 B: dB = op(A)^-T dX, and dA = -dB X', transposed if A is. */
static int solve_grad(mxl_grad *g)
{
    bool transpose = *(const int *)g->params != 0;
    int params = !transpose;
    mxl_array *inputs[2] = {mxl_grad_in(g, 0), g->grad_output[0]}, *x;
    mxl_array *db = mxl_scope_call(g->s, &op_solve, &params, 2, inputs);

    if (mxl_grad_set(g, 1, db) != 0)
        return -1;
    if (!mxl_grad_wants(g, 0))
        return 0;
    x = mxl_grad_out(g, 0);
    return mxl_grad_set(g, 0,
                        transpose ? mxl_matmul(g->s, x, db, false, true, -1)
                                  : mxl_matmul(g->s, db, x, false, true, -1));
}

static const mxl_op op_solve = {
    .name = "_mxl_solve",
    .doc = "Solves systems of square matrices: X of op(A) X = B; an error for a singular one.",
    .inputs = mxl_inputs_ab,
    MXL_ONLY_PARAM(int, transpose, MXL_P_BOOL, "0", "Whether the matrices of A are transposed."),
    MXL_SHAPES("A[*X,N,N] B[*X,N,M] -> [*X,N,M]"),
    .dtypes = "W*>W",
    .compute = solve_compute,
    .grad = solve_grad,
    .saves = trsm_saves,
};

mxl_array *mxl_solve(mxl_scope *s, mxl_array *a, mxl_array *b)
{
    const int transpose = 0;

    return mxl_scope_call(s, &op_solve, &transpose, 2, (mxl_array *[]){a, b});
}

const mxl_op *const mxl_ops_linalg_solve[] = {&op_trmm, &op_trsm, &op_solve, NULL};
