/* Systems of equations and inverses of NumPy arrays: _npi_solve, _npi_tensorsolve, _npi_tensorinv.
 */
#include <stddef.h>

#include "ops/linalg/linalg.h"
#include "ops/numpy/numpy.h"

/* ---- solve ---- */

/* Vectors are matrices of one column. */
static mxl_array *solve_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *a = call->in[0], *b = call->in[1], *x;
    int dtype = mxl_np_solver_dtype(2, call->in), last = a->ndim - 1;

    if (dtype < 0)
        return NULL;
    if (a->ndim < 2 || a->shape[last] != a->shape[last - 1])
        return mxl_error_null("takes square matrices, got shape %s", MXL_SHAPE_OF(a));
    if ((b->ndim != a->ndim && b->ndim != last) || !mxl_shape_same(last, a->shape, last, b->shape))
        return mxl_error_null("shapes %s and %s do not match", MXL_SHAPE_OF(a), MXL_SHAPE_OF(b));
    x = mxl_cast(s, b, dtype);
    if (b->ndim == last)
        x = mxl_with_axes(s, x, last, b->shape, 1);
    x = mxl_solve(s, mxl_cast(s, a, dtype), x);
    return b->ndim == last ? mxl_reshape(s, x, last, b->shape) : x;
}

/* As mxl_np_solver_dtype says. */
static int solve_dtypes(mxl_rule *rule)
{
    int a = mxl_rule_in_dtype(rule, 0), b = mxl_rule_in_dtype(rule, 1);
    bool differ = a != b && a != MXL_DTYPE_UNKNOWN && b != MXL_DTYPE_UNKNOWN;

    return mxl_rule_said_dtypes(rule, differ ? ">d" : "ee>r");
}

MXL_NP(solve, "_npi_solve", "X of A X = B, for square matrices A; an error for a singular one.",
       MXL_INPUTS(MXL_INPUT(A, "Matrices along the last two axes."),
                  MXL_INPUT(B, "As many matrices, or vectors along the last axis.")),
       .complete_dtypes = solve_dtypes);

/* ---- tensorinv ---- */

/* The product of the first `ind` sizes, which must be that of the others; -1 with the error set. */
static int64_t side(const mxl_array *a, int64_t ind)
{
    int64_t front, back;

    if (ind <= 0 || ind > a->ndim)
        return mxl_error("ind must be between 1 and the number of axes, %d, got %lld", a->ndim,
                         (long long)ind);
    front = mxl_shape_size((int)ind, a->shape);
    back = mxl_shape_size(a->ndim - (int)ind, a->shape + ind);
    if (mxl_sizes_differ(front, back) || front == 0)
        return mxl_error("the sizes before axis %lld of shape %s must have the same product "
                         "above 0 as those behind, got %lld and %lld",
                         (long long)ind, MXL_SHAPE_OF(a), (long long)front, (long long)back);
    return front < 0 ? back : front;
}

static mxl_array *tensorinv_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *a = call->in[0];
    int64_t ind = *(const int64_t *)call->params, n;
    mxl_shape turned = {.ndim = a->ndim};

    if (mxl_check_full_float(call->op, a) != 0 || (n = side(a, ind)) == -1)
        return NULL;
    for (int i = 0; i < a->ndim; i++)
        turned.dim[i] = a->shape[(i + ind) % a->ndim];
    a = mxl_reshape(s, a, 2, (int64_t[]){n, n});
    return mxl_reshape(s, mxl_apply(s, &mxl_op_inverse, a), turned.ndim, turned.dim);
}

MXL_NP(tensorinv, "_npi_tensorinv",
       "The array whose tensordot over the last axes with a is the identity: its first `ind` "
       "axes together count as the rows of a matrix, the others as columns.",
       MXL_INPUTS(MXL_INPUT(a, "The array, float32 or float64.")),
       MXL_ONLY_PARAM(int64_t, ind, MXL_P_INT, "2", "How many axes are rows, at least 1."));

/* ---- tensorsolve ---- */

/* The result has the axes of a behind as many as b has, or all if there are none. */
static mxl_array *tensorsolve_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *a = call->in[0], *b = call->in[1];
    int dtype = mxl_np_solver_dtype(2, call->in);
    mxl_tuple a_axes = *(const mxl_tuple *)call->params;
    int64_t order[MXL_MAX_NDIM], last[MXL_MAX_NDIM], n = b->size;
    mxl_shape shape = {0};
    int kept;

    if (dtype < 0 || (kept = mxl_np_sort_axes(call->op, a, a_axes, order, last)) < 0)
        return NULL;
    for (int i = 0; i < a_axes.n; i++)
        order[kept + i] = last[i];
    for (int i = a->ndim == b->ndim ? 0 : b->ndim; i < a->ndim; i++)
        shape.dim[shape.ndim++] = a->shape[order[i]];
    if ((b->ndim > a->ndim && a->ndim > 0) || mxl_shape_size(shape.ndim, shape.dim) != n ||
        n * n != a->size)
        return mxl_error_null("shape %s is no square matrix for %lld unknowns of shape %s",
                              MXL_SHAPE_OF(a), (long long)n, MXL_SHAPE_OF(b));
    a = mxl_transpose(s, mxl_cast(s, a, dtype), order);
    a = mxl_reshape(s, a, 2, (int64_t[]){n, n});
    b = mxl_reshape(s, mxl_cast(s, b, dtype), 2, (int64_t[]){n, 1});
    return mxl_reshape(s, mxl_solve(s, a, b), shape.ndim, shape.dim);
}

MXL_NP(tensorsolve, "_npi_tensorsolve",
       "x whose tensordot with a over all axes of x is b; the last axes of a belong to x.",
       MXL_INPUTS(MXL_INPUT(a, "The coefficients."), MXL_INPUT(b, "The right-hand side.")),
       MXL_ONLY_PARAM(mxl_tuple, a_axes, MXL_P_OPT_SHAPE, "[]",
                      "Axes of a to move to its end before.",
                      .type_text = "Shape(tuple), optional, default=[]"),
       .complete_dtypes = solve_dtypes);

const mxl_op *const mxl_ops_np_solve[] = {&op_solve, &op_tensorinv, &op_tensorsolve, NULL};
