/* Arithmetic and comparisons of NumPy arrays: two arrays broadcast and are promoted to one dtype,
 * booleans are numbers, quotients are never integers, comparisons answer bool. */
#include "ops/numpy/numpy.h"

#include <math.h>
#include <stddef.h>

#include "engine/run/promote.h"
#include "ops/elementwise/elementwise.h"

/* ---- two arrays ---- */

/* Booleans as numbers. */
static int number_dtype(int dtype)
{
    return dtype == MXL_BOOL ? MXL_I8 : dtype;
}

/* Quotients of integers are float32. */
static int quotient_dtype(int dtype)
{
    return mxl_promote_to_float(dtype, MXL_F32);
}

/* The operator of two arrays, computed in what `work` says of their common dtype, which is set. */
static mxl_array *of_two(mxl_scope *s, const mxl_call *call, int (*work)(int), int *dtype)
{
    mxl_array *a, *b;

    *dtype = mxl_promote_pair(call->op->name, call->in[0]->dtype, call->in[1]->dtype);
    if (*dtype < 0)
        return NULL;
    a = mxl_np_as(mxl_np_scope(s), call->in[0], work(*dtype));
    b = mxl_np_as(s, call->in[1], work(*dtype));
    return mxl_np_two(s, mxl_np_of(call), a, b);
}

static mxl_array *pair_compose(mxl_scope *s, const mxl_call *call)
{
    int dtype;
    mxl_array *made = of_two(s, call, number_dtype, &dtype);

    return mxl_np_as(s, made, dtype);
}

static mxl_array *numbers_compose(mxl_scope *s, const mxl_call *call)
{
    if (call->in[0]->dtype == MXL_BOOL && call->in[1]->dtype == MXL_BOOL)
        return mxl_np_fail(s, "%s: takes numbers, got two arrays of bool", call->op->name);
    return pair_compose(s, call);
}

static mxl_array *quotient_compose(mxl_scope *s, const mxl_call *call)
{
    int dtype;

    return of_two(s, call, quotient_dtype, &dtype);
}

static mxl_array *compare_compose(mxl_scope *s, const mxl_call *call)
{
    int dtype;

    return mxl_np_as(s, of_two(s, call, number_dtype, &dtype), MXL_BOOL);
}

#define PAIR(id, target, kind, text)                                                               \
    static const mxl_np_op op_##id = {                                                             \
        .op = {.name = "_npi_" #id,                                                                \
               .doc = text " The arrays broadcast, and are promoted to one dtype.",                \
               .inputs = mxl_inputs_lhs_rhs,                                                       \
               .compose = kind##_compose,                                                          \
               .keeps_scalars = true},                                                             \
        .of = "broadcast_" target,                                                                 \
    }

PAIR(add, "add", pair, "Sum of two arrays.");
PAIR(subtract, "sub", numbers, "Difference of two arrays.");
PAIR(multiply, "mul", pair, "Product of two arrays, element by element.");
PAIR(power, "power", pair, "The first array raised to the power of the second.");
PAIR(mod, "mod", numbers, "Remainder of a division, with the divisor's sign.");
PAIR(true_divide, "div", quotient, "Quotient of two arrays; of integers as float32.");
PAIR(equal, "equal", compare, "Whether elements are equal.");
PAIR(not_equal, "not_equal", compare, "Whether elements differ.");
PAIR(greater, "greater", compare, "Whether elements are greater than others.");
PAIR(greater_equal, "greater_equal", compare, "Whether elements are at least others.");
PAIR(less, "lesser", compare, "Whether elements are less than others.");
PAIR(less_equal, "lesser_equal", compare, "Whether elements are at most others.");

/* ---- an array and a number ---- */

/* The number is one of the array's dtype, but beside integers float64 if it is no integer. */
static mxl_array *truth_compose(mxl_scope *s, const mxl_call *call)
{
    const mxl_scalar_params *p = call->params;
    int dtype = call->in[0]->dtype;
    bool truth = dtype == MXL_BOOL, wider = !truth && !mxl_dtype_is_float(dtype) && !p->is_int;
    mxl_array *x = mxl_np_as(mxl_np_scope(s), call->in[0],
                             truth   ? MXL_I8
                             : wider ? MXL_F64
                                     : dtype);
    double number = truth ? p->scalar != 0 : p->scalar;

    return mxl_np_as(s, mxl_np_scalar(s, mxl_np_of(call), x, number), MXL_BOOL);
}

static mxl_array *ratio_compose(mxl_scope *s, const mxl_call *call)
{
    const mxl_scalar_params *p = call->params;
    mxl_array *x = mxl_np_as(mxl_np_scope(s), call->in[0], quotient_dtype(call->in[0]->dtype));

    return mxl_np_scalar(s, mxl_np_of(call), x, p->scalar);
}

/* 1.9.1 names the input of comparisons alone. */
#define ratio_inputs NULL
#define truth_inputs mxl_inputs_data
#define SCALAR(id, target, kind, text)                                                             \
    static const mxl_np_op op_##id##_scalar = {                                                    \
        .op = {.name = "_npi_" #id "_scalar",                                                      \
               .doc = text,                                                                        \
               MXL_PARAMS(mxl_scalar_params, mxl_params_scalar),                                   \
               .inputs = kind##_inputs,                                                            \
               .shapes = "A>A",                                                                    \
               .compose = kind##_compose,                                                          \
               .keeps_scalars = true},                                                             \
        .of = target "_scalar",                                                                    \
    }

SCALAR(true_divide, "_div", ratio, "data / scalar; of integers as float32.");
SCALAR(rtrue_divide, "_rdiv", ratio, "scalar / data; of integers as float32.");
SCALAR(equal, "_equal", truth, "Whether elements equal the number.");
SCALAR(not_equal, "_not_equal", truth, "Whether elements differ from the number.");
SCALAR(greater, "_greater", truth, "Whether elements are greater than the number.");
SCALAR(greater_equal, "_greater_equal", truth, "Whether elements are at least the number.");
SCALAR(less, "_lesser", truth, "Whether elements are less than the number.");
SCALAR(less_equal, "_lesser_equal", truth, "Whether elements are at most the number.");

/* ---- properties of numbers ---- */

/* Integers are numbers in float32 too, as far as these properties go. */
static mxl_array *as_float(mxl_scope *s, const mxl_call *call)
{
    return mxl_np_as(mxl_np_scope(s), call->in[0], quotient_dtype(call->in[0]->dtype));
}

static mxl_array *not_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *x = mxl_np_as(mxl_np_scope(s), call->in[0], number_dtype(call->in[0]->dtype));

    return mxl_np_as(s, mxl_np_one(s, "logical_not", x), MXL_BOOL);
}

static mxl_array *nan_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *x = as_float(s, call);

    return mxl_np_as(s, mxl_np_two(s, "broadcast_not_equal", x, x), MXL_BOOL);
}

/* How the number, or its size, compares to an infinity. */
static mxl_array *beside_infinity(mxl_scope *s, mxl_array *x, const char *how, double infinity)
{
    return mxl_np_as(s, mxl_np_scalar(s, how, x, infinity), MXL_BOOL);
}

static mxl_array *inf_compose(mxl_scope *s, const mxl_call *call)
{
    return beside_infinity(s, mxl_np_one(s, "abs", as_float(s, call)), "_equal_scalar", INFINITY);
}

static mxl_array *finite_compose(mxl_scope *s, const mxl_call *call)
{
    return beside_infinity(s, mxl_np_one(s, "abs", as_float(s, call)), "_lesser_scalar", INFINITY);
}

static mxl_array *posinf_compose(mxl_scope *s, const mxl_call *call)
{
    return beside_infinity(s, as_float(s, call), "_equal_scalar", INFINITY);
}

static mxl_array *neginf_compose(mxl_scope *s, const mxl_call *call)
{
    return beside_infinity(s, as_float(s, call), "_equal_scalar", -INFINITY);
}

static const mxl_input inputs_x[] = {MXL_INPUT(x, "Input array, of any shape."), {0}};

#define PROPERTY(id, kind, text)                                                                   \
    static const mxl_op op_##id = {                                                                \
        .name = "_npi_" #id,                                                                       \
        .doc = "Whether elements are " text ".",                                                   \
        .inputs = inputs_x,                                                                        \
        .shapes = "A>A",                                                                           \
        .compose = kind##_compose,                                                                 \
        .keeps_scalars = true,                                                                     \
    }

PROPERTY(logical_not, not, "0");
PROPERTY(isnan, nan, "NaN");
PROPERTY(isinf, inf, "infinities");
PROPERTY(isfinite, finite, "neither infinities nor NaN");
PROPERTY(isposinf, posinf, "the positive infinity");
PROPERTY(isneginf, neginf, "the negative infinity");

const mxl_op *const mxl_ops_np_arithmetic[] = {
    &op_add.op,
    &op_subtract.op,
    &op_multiply.op,
    &op_power.op,
    &op_mod.op,
    &op_true_divide.op,
    &op_equal.op,
    &op_not_equal.op,
    &op_greater.op,
    &op_greater_equal.op,
    &op_less.op,
    &op_less_equal.op,
    &op_true_divide_scalar.op,
    &op_rtrue_divide_scalar.op,
    &op_equal_scalar.op,
    &op_not_equal_scalar.op,
    &op_greater_scalar.op,
    &op_greater_equal_scalar.op,
    &op_less_scalar.op,
    &op_less_equal_scalar.op,
    &op_logical_not,
    &op_isnan,
    &op_isinf,
    &op_isfinite,
    &op_isposinf,
    &op_isneginf,
    NULL,
};
