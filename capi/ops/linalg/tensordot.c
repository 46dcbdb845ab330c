/* Sums of products of NumPy arrays over chosen axes: _npi_tensordot and _npi_tensordot_int_axes. */
#include <stddef.h>

#include "ops/numpy/numpy.h"

typedef struct axes_params {
    mxl_tuple a, b;
} axes_params;

/* The axes of both arrays, counted from 0: those that stay, then those that are summed of a; the
 * other way round of b. */
typedef struct product {
    int a_kept, b_kept, summed;
    int64_t a_order[MXL_MAX_NDIM], b_order[MXL_MAX_NDIM];
    int64_t rows, inner, columns;
    mxl_shape shape; /* of the result */
} product;

/* Sorts the axes of an array into kept ones and the listed ones. */
static int sort_axes(const mxl_op *op, const mxl_array *x, mxl_tuple list, int64_t *kept,
                     int64_t *summed)
{
    bool taken[MXL_MAX_NDIM] = {false};
    int n = 0;

    for (int i = 0; i < list.n; i++) {
        int axis = mxl_check_axis(op, list.v[i], x->ndim);

        if (axis < 0)
            return -1;
        if (taken[axis])
            return mxl_error("%s: axis %d is listed twice", op->name, axis);
        taken[axis] = true;
        summed[i] = axis;
    }
    for (int i = 0; i < x->ndim; i++)
        if (!taken[i])
            kept[n++] = i;
    return n;
}

static int sizes_of(const mxl_op *op, const mxl_array *a, const mxl_array *b, mxl_tuple a_axes,
                    mxl_tuple b_axes, product *p)
{
    int64_t a_summed[MXL_MAX_NDIM], b_summed[MXL_MAX_NDIM];

    if (mxl_check_dtypes(op, a, b) != 0 || mxl_check_float(op, a) != 0)
        return -1;
    if (a_axes.n != b_axes.n || a_axes.n > MXL_MAX_NDIM)
        return mxl_error("%s: %d axes of a and %d of b cannot be summed together", op->name,
                         a_axes.n, b_axes.n);
    p->a_kept = sort_axes(op, a, a_axes, p->a_order, a_summed);
    p->b_kept = sort_axes(op, b, b_axes, p->b_order + a_axes.n, b_summed);
    if (p->a_kept < 0 || p->b_kept < 0)
        return -1;
    p->summed = a_axes.n;
    p->rows = p->inner = p->columns = 1;
    for (int i = 0; i < p->summed; i++) {
        p->a_order[p->a_kept + i] = a_summed[i];
        p->b_order[i] = b_summed[i];
        p->inner *= a->shape[a_summed[i]];
        if (a->shape[a_summed[i]] != b->shape[b_summed[i]])
            return mxl_error("%s: shapes %s and %s differ along axes %d and %d", op->name,
                             MXL_SHAPE_OF(a), MXL_SHAPE_OF(b), (int)a_summed[i], (int)b_summed[i]);
    }
    if (p->a_kept + p->b_kept > MXL_MAX_NDIM)
        return mxl_error("%s: the result would have %d axes, at most %d are supported", op->name,
                         p->a_kept + p->b_kept, MXL_MAX_NDIM);
    p->shape.ndim = 0;
    for (int i = 0; i < p->a_kept; i++)
        p->rows *= p->shape.dim[p->shape.ndim++] = a->shape[p->a_order[i]];
    for (int i = 0; i < p->b_kept; i++)
        p->columns *= p->shape.dim[p->shape.ndim++] = b->shape[p->b_order[p->summed + i]];
    return 0;
}

static mxl_array *matrix(mxl_scope *s, mxl_array *x, const int64_t *order, int64_t rows,
                         int64_t columns)
{
    return mxl_reshape(s, mxl_transpose(s, x, order), 2, (int64_t[]){rows, columns});
}

static mxl_array *multiply(mxl_scope *s, const mxl_call *call, mxl_tuple a_axes, mxl_tuple b_axes)
{
    mxl_array *a = call->in[0], *b = call->in[1];
    product p;

    if (sizes_of(call->op, a, b, a_axes, b_axes, &p) != 0) {
        s->failed = true;
        return NULL;
    }
    a = matrix(s, a, p.a_order, p.rows, p.inner);
    b = matrix(s, b, p.b_order, p.inner, p.columns);
    return mxl_reshape(s, mxl_dot(s, a, b, false, false), p.shape.ndim, p.shape.dim);
}

static int multiply_infer(mxl_infer *infer, mxl_tuple a_axes, mxl_tuple b_axes)
{
    product p;

    if (sizes_of(infer->op, infer->in[0], infer->in[1], a_axes, b_axes, &p) != 0)
        return -1;
    return mxl_infer_set(infer, infer->in[0]->dtype, p.shape.ndim, p.shape.dim);
}

static int tensordot_infer(mxl_infer *infer)
{
    const axes_params *p = infer->params;

    return multiply_infer(infer, p->a, p->b);
}

static mxl_array *tensordot_compose(mxl_scope *s, const mxl_call *call)
{
    const axes_params *p = call->params;

    return multiply(s, call, p->a, p->b);
}

/* The last `count` axes of a, and the first of b. */
static int ends(const mxl_op *op, int64_t count, const mxl_array *a, const mxl_array *b,
                int64_t *a_axes, int64_t *b_axes)
{
    if (count < 0 || count > a->ndim || count > b->ndim)
        return mxl_error(
            "%s: axes must be between 0 and the numbers of axes of both arrays, %d and "
            "%d, got %lld",
            op->name, a->ndim, b->ndim, (long long)count);
    for (int i = 0; i < (int)count; i++) {
        a_axes[i] = a->ndim - count + i;
        b_axes[i] = i;
    }
    return 0;
}

static int int_axes_infer(mxl_infer *infer)
{
    int64_t a_axes[MXL_MAX_NDIM], b_axes[MXL_MAX_NDIM], n = *(const int64_t *)infer->params;

    if (ends(infer->op, n, infer->in[0], infer->in[1], a_axes, b_axes) != 0)
        return -1;
    return multiply_infer(infer, (mxl_tuple){(int)n, a_axes}, (mxl_tuple){(int)n, b_axes});
}

static mxl_array *int_axes_compose(mxl_scope *s, const mxl_call *call)
{
    int64_t a_axes[MXL_MAX_NDIM], b_axes[MXL_MAX_NDIM], n = *(const int64_t *)call->params;

    (void)ends(call->op, n, call->in[0], call->in[1], a_axes, b_axes);
    return multiply(s, call, (mxl_tuple){(int)n, a_axes}, (mxl_tuple){(int)n, b_axes});
}

#define FACTORS MXL_INPUTS(MXL_INPUT(a, "The first factor."), MXL_INPUT(b, "The second factor."))

static const mxl_op op_tensordot = {
    .name = MXL_NUMPY("_npi_tensordot"),
    .doc = "Sums of products over pairs of axes. The result has the other axes of a, then those of "
           "b.",
    FACTORS,
    MXL_PARAMS_OF(
        axes_params,
        MXL_PARAM_AS("a_axes_summed", axes_params, a, MXL_P_SHAPE, MXL_REQUIRED, "Axes of a."),
        MXL_PARAM_AS("b_axes_summed", axes_params, b, MXL_P_SHAPE, MXL_REQUIRED,
                     "As many axes of b.")),
    .infer = tensordot_infer,
    .compose = tensordot_compose,
};

static const mxl_op op_int_axes = {
    .name = MXL_NUMPY("_npi_tensordot_int_axes"),
    .doc = "Sums of products over the last axes of a and the first of b.",
    FACTORS,
    MXL_ONLY_PARAM(int64_t, axes, MXL_P_INT, MXL_REQUIRED, "How many axes are summed."),
    .infer = int_axes_infer,
    .compose = int_axes_compose,
};

const mxl_op *const mxl_ops_np_tensordot[] = {&op_tensordot, &op_int_axes, NULL};
