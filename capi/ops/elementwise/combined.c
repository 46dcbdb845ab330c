/* Functions of two or three arrays and a number that are one node of a graph: _mxl_add_scaled,
 * _mxl_addcmul, _mxl_addcdiv, _mxl_lerp and _mxl_masked_fill. mxlite.torch calls them. */
#include <math.h>
#include <stddef.h>

#include "ops/elementwise/elementwise.h"

static double value_of(const void *params)
{
    return *(const double *)params;
}

#define VALUE(name, what)                                                                          \
    MXL_ONLY_PARAM(double, name, MXL_P_FLOAT, "1", what, .type_name = "double")

/* ---- a + value b ---- */

/* a itself where the factor is 1. */
static mxl_array *times(mxl_scope *s, mxl_array *a, double factor)
{
    return factor == 1 ? a : mxl_mul_scalar(s, a, factor);
}

typedef struct add_scaled_params {
    double value;
    int subtract;
} add_scaled_params;

static double factor_of(const void *params)
{
    const add_scaled_params *p = params;

    return p->subtract ? -p->value : p->value;
}

static mxl_array *add_scaled_compose(mxl_scope *s, const mxl_call *call)
{
    return mxl_add(s, call->in[0], times(s, call->in[1], factor_of(call->params)));
}

static int add_scaled_grad(mxl_grad *g)
{
    mxl_array *dy = g->grad_output[0];

    if (mxl_grad_set(g, 0, dy) != 0)
        return -1;
    return mxl_grad_wants(g, 1) ? mxl_grad_set(g, 1, times(g->s, dy, factor_of(g->params))) : 0;
}

static const mxl_op op_add_scaled = {
    .name = "_mxl_add_scaled",
    .doc = "lhs + value rhs, or lhs - value rhs; both broadcast.",
    MXL_INPUTS(MXL_INPUT(lhs, "First array."), MXL_INPUT(rhs, "Second array.")),
    MXL_PARAMS_OF(
        add_scaled_params,
        MXL_PARAM(add_scaled_params, value, MXL_P_FLOAT, "1", "The factor.", .type_name = "double"),
        MXL_PARAM(add_scaled_params, subtract, MXL_P_BOOL, "0", "Whether it is a difference.")),
    .compose = add_scaled_compose,
    .grad = add_scaled_grad,
};

/* ---- a + value b c, a + value b / c ---- */

static const mxl_input three_inputs[] = {
    MXL_INPUT(data, "The array that is added to."),
    MXL_INPUT(lhs, "First array."),
    MXL_INPUT(rhs, "Second array."),
    {0},
};

static mxl_array *addcmul_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *both = mxl_mul(s, call->in[1], call->in[2]);

    return mxl_add(s, call->in[0], times(s, both, value_of(call->params)));
}

static int addcmul_grad(mxl_grad *g)
{
    mxl_array *dy = g->grad_output[0], *scaled;

    if (mxl_grad_set(g, 0, dy) != 0)
        return -1;
    if (!mxl_grad_wants(g, 1) && !mxl_grad_wants(g, 2))
        return 0;
    scaled = times(g->s, dy, value_of(g->params));
    for (int i = 1; i < 3; i++) {
        if (mxl_grad_wants(g, i) &&
            mxl_grad_set(g, i, mxl_mul(g->s, scaled, mxl_grad_in(g, 3 - i))) != 0)
            return -1;
    }
    return 0;
}

static void addcmul_saves(mxl_saves *saves)
{
    saves->in[1] = saves->wants[2];
    saves->in[2] = saves->wants[1];
}

static mxl_array *addcdiv_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *scaled = times(s, call->in[1], value_of(call->params));

    return mxl_add(s, call->in[0], mxl_div(s, scaled, call->in[2]));
}

/* db = value dy / c, dc = -db b / c */
static int addcdiv_grad(mxl_grad *g)
{
    mxl_array *dy = g->grad_output[0], *db, *c;

    if (mxl_grad_set(g, 0, dy) != 0)
        return -1;
    if (!mxl_grad_wants(g, 1) && !mxl_grad_wants(g, 2))
        return 0;
    c = mxl_grad_in(g, 2);
    db = mxl_div(g->s, times(g->s, dy, value_of(g->params)), c);
    if (mxl_grad_set(g, 1, db) != 0)
        return -1;
    if (!mxl_grad_wants(g, 2))
        return 0;
    db = mxl_div(g->s, mxl_mul(g->s, db, mxl_grad_in(g, 1)), c);
    return mxl_grad_set(g, 2, mxl_negative(g->s, db));
}

static void addcdiv_saves(mxl_saves *saves)
{
    saves->in[1] = saves->wants[2];
    saves->in[2] = saves->wants[1] || saves->wants[2];
}

#define ADD_OF_TWO(id, ...)                                                                        \
    static const mxl_op op_##id = {                                                                \
        .name = "_mxl_" #id,                                                                       \
        .doc = __VA_ARGS__,                                                                        \
        .inputs = three_inputs,                                                                    \
        VALUE(value, "The factor."),                                                               \
        .compose = id##_compose,                                                                   \
        .grad = id##_grad,                                                                         \
        .saves = id##_saves,                                                                       \
    }

ADD_OF_TWO(addcmul, "data + value lhs rhs; all broadcast.");
ADD_OF_TWO(addcdiv, "data + value lhs / rhs; all broadcast.");

/* ---- from a to b ---- */

/* From the nearer end, so that weights 0 and 1 give the ends themselves. */
static mxl_array *lerp_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *a = call->in[0], *b = call->in[1], *way = mxl_sub(s, b, a);
    double weight = value_of(call->params);

    return fabs(weight) < 0.5 ? mxl_add(s, a, mxl_mul_scalar(s, way, weight))
                              : mxl_sub(s, b, mxl_mul_scalar(s, way, 1 - weight));
}

static int lerp_grad(mxl_grad *g)
{
    mxl_array *dy = g->grad_output[0];
    double weight = value_of(g->params);

    if (mxl_grad_wants(g, 0) && mxl_grad_set(g, 0, mxl_mul_scalar(g->s, dy, 1 - weight)) != 0)
        return -1;
    return mxl_grad_wants(g, 1) ? mxl_grad_set(g, 1, mxl_mul_scalar(g->s, dy, weight)) : 0;
}

static const mxl_op op_lerp = {
    .name = "_mxl_lerp",
    .doc = "lhs + weight (rhs - lhs); both broadcast.",
    MXL_INPUTS(MXL_INPUT(lhs, "What weight 0 gives."), MXL_INPUT(rhs, "What weight 1 gives.")),
    VALUE(weight, "Where between both."),
    .compose = lerp_compose,
    .grad = lerp_grad,
};

const mxl_op *const mxl_ops_combined[] = {&op_add_scaled, &op_addcmul, &op_addcdiv, &op_lerp, NULL};
