/* _npi_norm: norms of vectors along one axis and of matrices along two, composed. Apache's
 * np.linalg.norm tells by `flag` which one it means. */
#include <math.h>
#include <stddef.h>

#include "ops/elementwise/elementwise.h"
#include "ops/numpy/numpy.h"
#include "ops/reduce/reduce_ops.h"

typedef struct norm_params {
    double ord;
    mxl_tuple axis;
    int keepdims;
    int64_t flag;
} norm_params;

/* Values of flag: all elements as one vector; by `ord`; the Frobenius norm; the nuclear norm. */
enum { ALL = -2, FROBENIUS = 1, NUCLEAR = 2 };

/* What is reduced, the axes counted from 0. */
typedef struct norm {
    int count;
    int64_t axis[MXL_MAX_NDIM];
    bool matrix;
} norm;

/* Without an axis: all of one vector, or the last two axes. */
static int norm_axes(const mxl_op *op, const norm_params *p, const mxl_array *x, norm *n)
{
    *n = (norm){0};
    if (p->flag == ALL || (p->axis.n < 0 && x->ndim < 2)) {
        n->count = x->ndim;
        for (int i = 0; i < n->count; i++)
            n->axis[i] = i;
    } else if (p->axis.n < 0) {
        n->count = 2;
        n->axis[0] = x->ndim - 2;
        n->axis[1] = x->ndim - 1;
    } else {
        n->count = p->axis.n;
        if (n->count < 1 || n->count > 2)
            return mxl_error("%s: axis must be one or two, got %d", op->name, n->count);
        for (int i = 0; i < n->count; i++)
            if ((n->axis[i] = mxl_check_axis(op, p->axis.v[i], x->ndim)) < 0)
                return -1;
        if (n->count == 2 && n->axis[0] == n->axis[1])
            return mxl_error("%s: axis %d is listed twice", op->name, (int)n->axis[0]);
    }
    n->matrix = p->flag != ALL && n->count == 2;
    if (!n->matrix && p->flag == NUCLEAR)
        return mxl_error("%s: the nuclear norm is one of matrices", op->name);
    if (n->matrix && p->flag != NUCLEAR && p->flag != FROBENIUS && fabs(p->ord) != 1 &&
        fabs(p->ord) != 2 && !isinf(p->ord))
        return mxl_error("%s: matrices have no norm of order %g, only of 1, -1, 2, -2, inf and "
                         "-inf",
                         op->name, p->ord);
    return 0;
}

static bool by_singular_values(const norm_params *p, const norm *n)
{
    return n->matrix && (p->flag == NUCLEAR || (p->flag != FROBENIUS && fabs(p->ord) == 2));
}

/* A reduction over some axes, which keep size 1. */
static mxl_array *reduced(mxl_scope *s, const mxl_op *op, mxl_array *x, int count,
                          const int64_t *axis)
{
    const mxl_reduce_params over = {.axis = {count, axis}, .keepdims = true};

    return count == 0 ? x : mxl_scope_call(s, op, &over, 1, &x);
}

/* (sum |x|^ord)^(1 / ord) and its limits. */
static mxl_array *vector_norm(mxl_scope *s, mxl_array *x, double ord, const norm *n)
{
    mxl_array *size = mxl_apply(s, &mxl_op_abs, x);

    if (ord == 2)
        return mxl_apply(s, &mxl_op_sqrt,
                         reduced(s, &mxl_op_sum, mxl_square(s, x), n->count, n->axis));
    if (ord == 0)
        return reduced(s, &mxl_op_sum, mxl_apply_scalar(s, &mxl_op_greater_scalar, size, 0),
                       n->count, n->axis);
    if (ord == 1)
        return reduced(s, &mxl_op_sum, size, n->count, n->axis);
    if (isinf(ord))
        return reduced(s, ord > 0 ? &mxl_op_max : &mxl_op_min, size, n->count, n->axis);
    return mxl_pow_scalar(
        s, reduced(s, &mxl_op_sum, mxl_pow_scalar(s, size, ord), n->count, n->axis), 1 / ord);
}

/* Singular values of the matrices along the two axes, which become the last two. */
static mxl_array *singular_norm(mxl_scope *s, mxl_array *x, const norm_params *p, const norm *n)
{
    static const int64_t last = -1;
    int64_t order[MXL_MAX_NDIM];
    int at = 0, first = 0, second = 1;
    mxl_array *parts[3];

    if (x == NULL)
        return NULL;
    if (x->shape[n->axis[0]] > x->shape[n->axis[1]]) {
        first = 1;
        second = 0;
    }
    for (int i = 0; i < x->ndim; i++)
        if (i != n->axis[0] && i != n->axis[1])
            order[at++] = i;
    order[at++] = n->axis[first];
    order[at] = n->axis[second];
    x = mxl_transpose(s, x, order);
    if (mxl_scope_call_many(s, &mxl_op_np_svd, NULL, 1, &x, 3, parts) != 0)
        return NULL;
    if (p->flag == NUCLEAR)
        return reduced(s, &mxl_op_sum, parts[1], 1, &last);
    return reduced(s, p->ord > 0 ? &mxl_op_max : &mxl_op_min, parts[1], 1, &last);
}

static mxl_array *matrix_norm(mxl_scope *s, mxl_array *x, const norm_params *p, const norm *n)
{
    bool columns = !isinf(p->ord);
    mxl_array *sums;

    if (p->flag == FROBENIUS)
        return vector_norm(s, x, 2, n);
    if (by_singular_values(p, n))
        return singular_norm(s, x, p, n);
    /* The largest or smallest sum of a column, or of a row if ord is infinite. */
    sums = reduced(s, &mxl_op_sum, mxl_apply(s, &mxl_op_abs, x), 1, &n->axis[columns ? 0 : 1]);
    return reduced(s, p->ord > 0 ? &mxl_op_max : &mxl_op_min, sums, 1, &n->axis[columns ? 1 : 0]);
}

/* Integers and booleans are computed in float64, and cut off. */
static mxl_array *norm_compose(mxl_scope *s, const mxl_call *call)
{
    const norm_params *p = call->params;
    int dtype = call->in[0]->dtype;
    mxl_array *x = mxl_cast(s, call->in[0], mxl_dtype_is_float(dtype) ? dtype : MXL_F64), *y;
    bool gone[MXL_MAX_NDIM] = {false};
    mxl_shape shape = {0};
    norm n;

    if (x == NULL || norm_axes(call->op, p, x, &n) != 0 ||
        (by_singular_values(p, &n) && mxl_check_full_float(call->op, call->in[0]) != 0))
        return NULL;
    for (int k = 0; k < n.count; k++)
        gone[n.axis[k]] = true;
    for (int i = 0; i < x->ndim; i++)
        if (!gone[i] || p->keepdims)
            shape.dim[shape.ndim++] = gone[i] ? 1 : x->shape[i];
    /* Of no elements all norms are 0, the largest one too. */
    y = x->size == 0 ? reduced(s, &mxl_op_sum, mxl_square(s, x), n.count, n.axis)
        : n.matrix   ? matrix_norm(s, x, p, &n)
                     : vector_norm(s, x, p->flag == ALL || p->flag == FROBENIUS ? 2 : p->ord, &n);
    return mxl_cast(s, mxl_reshape(s, y, shape.ndim, shape.dim), dtype);
}

MXL_NP(
    norm, "_npi_norm", "Norms of vectors along one axis, or of matrices along two.",
    MXL_PARAMS_OF(norm_params,
                  MXL_PARAM(norm_params, ord, MXL_P_FLOAT, "2",
                            "The order: of vectors any number, of matrices 1, -1, 2, -2, inf or "
                            "-inf.",
                            .type_name = "double"),
                  MXL_PARAM(norm_params, axis, MXL_P_OPT_SHAPE, "None",
                            "One axis or two; None: the last two, or the only one."),
                  MXL_PARAM(norm_params, keepdims, MXL_P_BOOL, "0",
                            "Whether reduced axes stay, with size 1."),
                  MXL_PARAM(norm_params, flag, MXL_P_INT, "-1",
                            "-2: the 2-norm of all elements; 1: the Frobenius norm; 2: the nuclear "
                            "norm; else by ord.")),
    .total_outputs = 4);

const mxl_op *const mxl_ops_np_norm[] = {&op_norm, NULL};
