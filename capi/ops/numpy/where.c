/* where of NumPy arrays, whose three arrays broadcast; two of them may be numbers. */
#include "ops/numpy/numpy.h"

#include <stddef.h>

#include "ops/elementwise/elementwise.h"

/* ---- of arrays ---- */

/* All three broadcast to one shape. */
static int where_shape(mxl_array *const *in, mxl_shape *out)
{
    mxl_shape both;

    if (mxl_shape_broadcast(&both, in[1]->ndim, in[1]->shape, in[2]->ndim, in[2]->shape) != 0)
        return -1;
    return mxl_shape_broadcast(out, both.ndim, both.dim, in[0]->ndim, in[0]->shape);
}

static mxl_array *choose(mxl_scope *s, mxl_array *condition, mxl_array *x, mxl_array *y)
{
    mxl_array *in[3] = {condition, x, y};
    mxl_shape shape;

    if (condition == NULL || x == NULL || y == NULL || where_shape(in, &shape) != 0)
        return NULL;
    for (int i = 0; i < 3; i++)
        in[i] = mxl_broadcast_to(s, in[i], shape.ndim, shape.dim);
    return mxl_where(s, in[0], in[1], in[2]);
}

static mxl_array *where_compose(mxl_scope *s, const mxl_call *call)
{
    if (mxl_check_dtypes(call->op, call->in[1], call->in[2]) != 0)
        return NULL;
    return choose(s, call->in[0], call->in[1], call->in[2]);
}

/* dx = dz where the condition is not 0, dy = dz where it is 0. */
static int where_grad(mxl_grad *g)
{
    mxl_array *condition = mxl_grad_in(g, 0), *dz = g->grad_output[0];
    mxl_array *zero = mxl_np_number(g->s, 0, dz->dtype);

    if (mxl_grad_wants(g, 1) && mxl_grad_set(g, 1, choose(g->s, condition, dz, zero)) != 0)
        return -1;
    if (mxl_grad_wants(g, 2) && mxl_grad_set(g, 2, choose(g->s, condition, zero, dz)) != 0)
        return -1;
    return 0;
}

MXL_NP(where, "_npi_where",
       "Elements of x where the condition is not 0, else those of y; all three broadcast.",
       MXL_INPUTS(MXL_INPUT(condition, "The condition, of any dtype."),
                  MXL_INPUT(x, "Elements for where the condition is not 0."),
                  MXL_INPUT(y, "Elements for where it is; of x's dtype.")),
       .dtypes = ".AA>A", .promotion = &(const mxl_promotion){.as_is = MXL_SET_ALL, .from = 1},
       .grad = where_grad, .saves = mxl_saves_input);

/* ---- of numbers ---- */

static mxl_array *lscalar_compose(mxl_scope *s, const mxl_call *call)
{
    const double *scalar = call->params;
    mxl_array *x = call->in[1];

    return choose(s, call->in[0], mxl_np_number(s, *scalar, x->dtype), x);
}

static mxl_array *rscalar_compose(mxl_scope *s, const mxl_call *call)
{
    const double *scalar = call->params;
    mxl_array *y = call->in[1];

    return choose(s, call->in[0], y, mxl_np_number(s, *scalar, y->dtype));
}

#define CONDITION MXL_INPUT(condition, "The condition, of any dtype.")
#define WHERE_NUMBER(side, array, text)                                                            \
    static const mxl_op op_where_##side = {                                                        \
        .name = MXL_NUMPY("_npi_where_" #side),                                                    \
        .doc = text " The two arrays broadcast.",                                                  \
        MXL_INPUTS(CONDITION, MXL_INPUT(array, "The elements that are no number.")),               \
        MXL_ONLY_PARAM(double, scalar, MXL_P_FLOAT, "0",                                           \
                       "The number, which is cast to the array's dtype.", .type_name = "double"),  \
        .dtypes = ".A>A",                                                                          \
        .compose = side##_compose,                                                                 \
    }

WHERE_NUMBER(lscalar, x, "The number where the condition is not 0, else elements of x.");
WHERE_NUMBER(rscalar, y, "Elements of y where the condition is not 0, else the number.");

typedef struct two_numbers {
    double x, y;
} two_numbers;

static mxl_array *where_scalar2_compose(mxl_scope *s, const mxl_call *call)
{
    const two_numbers *p = call->params;

    return choose(s, call->in[0], mxl_np_number(s, p->x, MXL_F32), mxl_np_number(s, p->y, MXL_F32));
}

static const mxl_op op_where_scalar2 = {
    .name = MXL_NUMPY("_npi_where_scalar2"),
    .doc = "One number where the condition is not 0, else another; float32.",
    MXL_INPUTS(CONDITION),
    MXL_PARAMS_OF(two_numbers,
                  MXL_PARAM(two_numbers, x, MXL_P_FLOAT, "0",
                            "The number for where the condition is not 0.", .type_name = "double"),
                  MXL_PARAM(two_numbers, y, MXL_P_FLOAT, "0", "The number for where it is.",
                            .type_name = "double")),
    .shapes = "A>A",
    .dtypes = ".>f",
    .compose = where_scalar2_compose,
};

/* ---- a number where a mask holds ---- */

static mxl_array *masked_fill_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *x = call->in[0];

    if (call->in[1]->dtype != MXL_BOOL) {
        mxl_error("%s: the mask has dtype %s, it must be bool", call->op->name,
                  mxl_dtype_name(call->in[1]->dtype));
        return NULL;
    }
    return choose(s, call->in[1], mxl_np_number(s, *(const double *)call->params, x->dtype), x);
}

static int masked_fill_grad(mxl_grad *g)
{
    mxl_array *dy = g->grad_output[0];

    return mxl_grad_set(g, 0,
                        choose(g->s, mxl_grad_in(g, 1), mxl_np_number(g->s, 0, dy->dtype), dy));
}

static void masked_fill_saves(mxl_saves *saves)
{
    saves->in[1] = true;
}

static const mxl_op op_masked_fill = {
    .name = "_mxl_masked_fill",
    .doc = "The number where the mask is not 0, else the elements of data; both broadcast.",
    MXL_INPUTS(MXL_INPUT(data, "The array to copy."), MXL_INPUT(mask, "Truth values.")),
    MXL_ONLY_PARAM(double, value, MXL_P_FLOAT, MXL_REQUIRED, "The number.", .type_name = "double"),
    .compose = masked_fill_compose,
    .dtypes = "A.>A",
    .grad = masked_fill_grad,
    .saves = masked_fill_saves,
};

const mxl_op *const mxl_ops_np_where[] = {&op_where,         &op_where_lscalar, &op_where_rscalar,
                                          &op_where_scalar2, &op_masked_fill,   NULL};
