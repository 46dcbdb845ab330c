/* Arithmetic and comparisons of NumPy arrays: two arrays broadcast and are promoted to one dtype,
 * booleans are numbers, quotients are never integers, comparisons answer bool. */
#include "ops/numpy/numpy.h"

#include <math.h>
#include <stddef.h>

#include "engine/run/promote.h"
#include "op/rule.h"
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

/* An operand in the dtype `work`. No gradient flows to integers beside a floating array. */
static mxl_array *operand(mxl_scope *s, mxl_array *a, int common, int work)
{
    if (s->mode.record && mxl_dtype_is_float(common) && !mxl_dtype_is_float(a->dtype))
        a = mxl_apply(s, &mxl_op_block_grad, a);
    return mxl_cast(s, a, work);
}

/* The operator of two arrays, computed in what `work` says of their common dtype, which is set. */
static mxl_array *of_two(mxl_scope *s, const mxl_call *call, int (*work)(int), int *dtype)
{
    mxl_array *a, *b;

    *dtype = mxl_promote_pair(call->in[0]->dtype, call->in[1]->dtype);
    if (*dtype < 0)
        return NULL;
    a = operand(s, call->in[0], *dtype, work(*dtype));
    b = operand(s, call->in[1], *dtype, work(*dtype));
    return mxl_apply2(s, mxl_np_of(call), a, b);
}

static mxl_array *pair_compose(mxl_scope *s, const mxl_call *call)
{
    int dtype;
    mxl_array *made = of_two(s, call, number_dtype, &dtype);

    return mxl_cast(s, made, dtype);
}

static mxl_array *numbers_compose(mxl_scope *s, const mxl_call *call)
{
    if (call->in[0]->dtype == MXL_BOOL && call->in[1]->dtype == MXL_BOOL)
        return mxl_error_null("takes numbers, got two arrays of bool");
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

    return mxl_cast(s, of_two(s, call, number_dtype, &dtype), MXL_BOOL);
}

/* What the text says, for arrays of two dtypes of the one that they are promoted to. */
static int promoted_dtypes(mxl_rule *rule)
{
    int a = mxl_rule_in_dtype(rule, 0), b = mxl_rule_in_dtype(rule, 1), dtype;
    int dtypes[] = {MXL_DTYPE_UNKNOWN, MXL_DTYPE_UNKNOWN, rule->dtypes[rule->out]};
    mxl_rule as_one = *rule;

    if (a == MXL_DTYPE_UNKNOWN || b == MXL_DTYPE_UNKNOWN)
        return mxl_rule_said_dtypes(rule, rule->op->dtypes);
    dtype = mxl_promote_pair(a, b);
    if (dtype < 0)
        return -1;
    dtypes[0] = dtypes[1] = dtype;
    as_one.in = (const int[]){0, 1};
    as_one.out = 2;
    as_one.dtypes = dtypes;
    return mxl_rule_said_dtypes(&as_one, rule->op->dtypes) != 0
               ? -1
               : mxl_rule_say_dtype(rule, rule->out, dtypes[2]);
}

#define pair_dtypes     "ee>A"
#define numbers_dtypes  "ee>A"
#define quotient_dtypes "ee>q"
#define compare_dtypes  "ee>b"
#define PAIR(id, target, kind, text)                                                               \
    static const mxl_np_op op_##id = {                                                             \
        .op = {.name = MXL_NUMPY("_npi_" #id),                                                     \
               .doc = text " The arrays broadcast, and are promoted to one dtype.",                \
               .inputs = mxl_inputs_lhs_rhs,                                                       \
               .dtypes = kind##_dtypes,                                                            \
               .complete_dtypes = promoted_dtypes,                                                 \
               .compose = kind##_compose},                                                         \
        .of = &mxl_op_##target,                                                                    \
    }

PAIR(add, broadcast_add, pair, "Sum of two arrays.");
PAIR(subtract, broadcast_sub, numbers, "Difference of two arrays.");
PAIR(multiply, broadcast_mul, pair, "Product of two arrays, element by element.");
PAIR(power, broadcast_power, pair, "The first array raised to the power of the second.");
PAIR(mod, broadcast_mod, numbers, "Remainder of a division, with the divisor's sign.");
PAIR(true_divide, broadcast_div, quotient, "Quotient of two arrays; of integers as float32.");
PAIR(equal, equal, compare, "Whether elements are equal.");
PAIR(not_equal, not_equal, compare, "Whether elements differ.");
PAIR(greater, greater, compare, "Whether elements are greater than others.");
PAIR(greater_equal, greater_equal, compare, "Whether elements are at least others.");
PAIR(less, lesser, compare, "Whether elements are less than others.");
PAIR(less_equal, lesser_equal, compare, "Whether elements are at most others.");

/* ---- an array and a number ---- */

/* The number is one of the array's dtype, but beside integers float64 if it is no integer. */
static mxl_array *truth_compose(mxl_scope *s, const mxl_call *call)
{
    const mxl_scalar_params *p = call->params;
    int dtype = call->in[0]->dtype;
    bool truth = dtype == MXL_BOOL, wider = !truth && !mxl_dtype_is_float(dtype) && !p->is_int;
    mxl_array *x = mxl_cast(s, call->in[0], truth ? MXL_I8 : wider ? MXL_F64 : dtype);
    double number = truth ? p->scalar != 0 : p->scalar;

    return mxl_cast(s, mxl_apply_scalar(s, mxl_np_of(call), x, number), MXL_BOOL);
}

static mxl_array *ratio_compose(mxl_scope *s, const mxl_call *call)
{
    const mxl_scalar_params *p = call->params;
    mxl_array *x = mxl_cast(s, call->in[0], quotient_dtype(call->in[0]->dtype));

    return mxl_apply_scalar(s, mxl_np_of(call), x, p->scalar);
}

/* 1.9.1 names the input of comparisons alone. */
#define ratio_inputs NULL
#define truth_inputs mxl_inputs_data
#define ratio_dtypes "A>q"
#define truth_dtypes ">b"
#define SCALAR(id, target, kind, text)                                                             \
    static const mxl_np_op op_##id##_scalar = {                                                    \
        .op = {.name = MXL_NUMPY("_npi_" #id "_scalar"),                                           \
               .doc = text,                                                                        \
               MXL_PARAMS(mxl_scalar_params, mxl_params_scalar),                                   \
               .inputs = kind##_inputs,                                                            \
               .shapes = "A>A",                                                                    \
               .dtypes = kind##_dtypes,                                                            \
               .compose = kind##_compose},                                                         \
        .of = &mxl_op_##target##_scalar,                                                           \
    }

SCALAR(true_divide, div, ratio, "data / scalar; of integers as float32.");
SCALAR(rtrue_divide, rdiv, ratio, "scalar / data; of integers as float32.");
SCALAR(equal, equal, truth, "Whether elements equal the number.");
SCALAR(not_equal, not_equal, truth, "Whether elements differ from the number.");
SCALAR(greater, greater, truth, "Whether elements are greater than the number.");
SCALAR(greater_equal, greater_equal, truth, "Whether elements are at least the number.");
SCALAR(less, lesser, truth, "Whether elements are less than the number.");
SCALAR(less_equal, lesser_equal, truth, "Whether elements are at most the number.");

/* ---- properties of numbers ---- */

/* Integers are numbers in float32 too, as far as these properties go. */
static mxl_array *as_float(mxl_scope *s, const mxl_call *call)
{
    return mxl_cast(s, call->in[0], quotient_dtype(call->in[0]->dtype));
}

static mxl_array *not_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *x = mxl_cast(s, call->in[0], number_dtype(call->in[0]->dtype));

    return mxl_cast(s, mxl_apply(s, &mxl_op_logical_not, x), MXL_BOOL);
}

static mxl_array *nan_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *x = as_float(s, call);

    return mxl_cast(s, mxl_apply2(s, &mxl_op_not_equal, x, x), MXL_BOOL);
}

static const mxl_input inputs_x[] = {MXL_INPUT(x, "Input array, of any shape."), {0}};

#define PROPERTY(id, kind, text)                                                                   \
    static const mxl_op op_##id = {                                                                \
        .name = MXL_NUMPY("_npi_" #id),                                                            \
        .doc = "Whether elements are " text ".",                                                   \
        .inputs = inputs_x,                                                                        \
        .shapes = "A>A",                                                                           \
        .dtypes = ">b",                                                                            \
        .compose = kind##_compose,                                                                 \
    }

PROPERTY(logical_not, not, "0");
PROPERTY(isnan, nan, "NaN");

/* How the number, or its size, compares to an infinity. */
#define TO_INFINITY(id, number, how, infinity, text)                                               \
    static mxl_array *id##_compose(mxl_scope *s, const mxl_call *call)                             \
    {                                                                                              \
        mxl_array *x = as_float(s, call);                                                          \
                                                                                                   \
        return mxl_cast(s, mxl_apply_scalar(s, &mxl_op_##how##_scalar, number, infinity),          \
                        MXL_BOOL);                                                                 \
    }                                                                                              \
    PROPERTY(id, id, text)

TO_INFINITY(isinf, mxl_apply(s, &mxl_op_abs, x), equal, INFINITY, "infinities");
TO_INFINITY(isfinite, mxl_apply(s, &mxl_op_abs, x), lesser, INFINITY, "neither infinities nor NaN");
TO_INFINITY(isposinf, x, equal, INFINITY, "the positive infinity");
TO_INFINITY(isneginf, x, equal, -INFINITY, "the negative infinity");

#define BOTH(id) &op_##id.op, &op_##id##_scalar.op

const mxl_op *const mxl_ops_np_arithmetic[] = {
    &op_add.op,
    &op_subtract.op,
    &op_multiply.op,
    &op_power.op,
    &op_mod.op,
    BOTH(true_divide),
    &op_rtrue_divide_scalar.op,
    BOTH(equal),
    BOTH(not_equal),
    BOTH(greater),
    BOTH(greater_equal),
    BOTH(less),
    BOTH(less_equal),
    &op_logical_not,
    &op_isnan,
    &op_isinf,
    &op_isfinite,
    &op_isposinf,
    &op_isneginf,
    NULL,
};
