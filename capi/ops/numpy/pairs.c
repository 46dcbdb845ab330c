/* Functions of two NumPy arrays of one dtype, and of an array and a number, that are composed:
 * arctan2, copysign, ldexp; and the bits and the least common multiple of an array and a number. */
#include "ops/numpy/numpy.h"

#include <math.h>
#include <stddef.h>

#include "ops/elementwise/elementwise.h"

/* 1.9.1 computes integers in floating point and cuts the result. */
static int work_dtype(int dtype)
{
    return mxl_dtype_is_float(dtype) ? dtype : MXL_F64;
}

/* -1 where x is negative or -0, else 1. A constant: it has no derivative. */
static mxl_array *sign_of(mxl_scope *s, mxl_array *x)
{
    mxl_array *below = mxl_apply_scalar(s, &mxl_op_lesser_scalar, x, 0);
    mxl_array *under = mxl_apply_scalar(s, &mxl_op_lesser_scalar, mxl_rdiv_scalar(s, x, 1), 0);
    mxl_array *both = mxl_apply2(s, &mxl_op_broadcast_maximum, below, under);

    return mxl_add_scalar(s, mxl_mul_scalar(s, both, -2), 1);
}

/* x sign(x) sign(y), whose derivative by x is sign(x) sign(y), also at 0 */
static mxl_array *copysign_of(mxl_scope *s, mxl_array *x, mxl_array *y)
{
    return mxl_mul(s, x, mxl_mul(s, sign_of(s, x), sign_of(s, y)));
}

/* x 2^y */
static mxl_array *ldexp_of(mxl_scope *s, mxl_array *x, mxl_array *y)
{
    return mxl_mul(s, x, mxl_apply_scalar(s, &mxl_op_rpower_scalar, y, 2));
}

static mxl_array *arctan2_of(mxl_scope *s, mxl_array *y, mxl_array *x)
{
    return mxl_apply2(s, &mxl_op_atan2, y, x);
}

/* ---- two arrays ---- */

typedef mxl_array *(*pair_fn)(mxl_scope *s, mxl_array *a, mxl_array *b);

static mxl_array *pair(mxl_scope *s, const mxl_call *call, pair_fn of)
{
    int dtype = call->in[0]->dtype, work = work_dtype(dtype);
    mxl_array *a = mxl_cast(s, call->in[0], work);

    if (mxl_check_dtypes(call->op, call->in[0], call->in[1]) != 0)
        return NULL;
    if (dtype == MXL_BOOL)
        return mxl_error_null("takes numbers, got arrays of bool");
    return mxl_cast(s, of(s, a, mxl_cast(s, call->in[1], work)), dtype);
}

#define PAIR(id, text)                                                                             \
    static mxl_array *id##_compose(mxl_scope *s, const mxl_call *call)                             \
    {                                                                                              \
        return pair(s, call, id##_of);                                                             \
    }                                                                                              \
    static const mxl_op op_##id = {                                                                \
        .name = MXL_NUMPY("_npi_" #id),                                                            \
        .doc = text " The arrays broadcast, and have one dtype.",                                  \
        .inputs = mxl_inputs_lhs_rhs,                                                              \
        .compose = id##_compose,                                                                   \
    }

PAIR(copysign, "The first array with the signs of the second.");
PAIR(ldexp, "lhs * 2^rhs.");

/* ---- an array and a number ---- */

static mxl_array *beside(mxl_scope *s, const mxl_call *call, pair_fn of, bool number_first)
{
    const mxl_scalar_params *p = call->params;
    int dtype = mxl_scalar_dtype(call->in[0]->dtype, p);
    mxl_array *x = mxl_cast(s, call->in[0], work_dtype(dtype));
    double value = mxl_dtype_is_float(dtype) ? p->scalar : trunc(p->scalar);
    mxl_array *y = x == NULL ? NULL : mxl_np_number(s, value, x->dtype);

    return mxl_cast(s, number_first ? of(s, y, x) : of(s, x, y), dtype);
}

#define SCALAR(id, of, first, text)                                                                \
    static mxl_array *id##_scalar_compose(mxl_scope *s, const mxl_call *call)                      \
    {                                                                                              \
        return beside(s, call, of##_of, first);                                                    \
    }                                                                                              \
    static const mxl_op op_##id##_scalar = {                                                       \
        .name = MXL_NUMPY("_npi_" #id "_scalar"),                                                  \
        .doc = text,                                                                               \
        MXL_PARAMS(mxl_scalar_params, mxl_params_scalar),                                          \
        .shapes = "A>A",                                                                           \
        .dtypes_of = mxl_scalar_dtypes,                                                            \
        .compose = id##_scalar_compose,                                                            \
    }

SCALAR(arctan2, arctan2, false, "The angle of the point (scalar, data), between -pi and pi.");
SCALAR(rarctan2, arctan2, true, "The angle of the point (data, scalar), between -pi and pi.");
SCALAR(copysign, copysign, false, "The array with the sign of the number.");
SCALAR(rcopysign, copysign, true, "The number with the signs of the array.");
SCALAR(ldexp, ldexp, false, "data * 2^scalar.");
SCALAR(rldexp, ldexp, true, "scalar * 2^data.");

/* ---- integers and a number ---- */

static mxl_array *integer_compose(mxl_scope *s, const mxl_call *call)
{
    const mxl_scalar_params *p = call->params;
    mxl_array *x = call->in[0];
    double value = x->dtype == MXL_BOOL ? p->scalar != 0 : trunc(p->scalar);

    if (mxl_dtype_is_float(x->dtype))
        return mxl_error_null("takes integers, got %s", mxl_dtype_name(x->dtype));
    return mxl_apply2(s, mxl_np_of(call), x, mxl_np_number(s, value, x->dtype));
}

#define INTEGER(id, target, text)                                                                  \
    static const mxl_np_op op_##id##_scalar = {                                                    \
        .op = {.name = MXL_NUMPY("_npi_" #id "_scalar"),                                           \
               .doc = text,                                                                        \
               MXL_PARAMS(mxl_scalar_params, mxl_params_scalar),                                   \
               .shapes = "A>A",                                                                    \
               .completes_alone = true,                                                            \
               .compose = integer_compose},                                                        \
        .of = &mxl_op_##target,                                                                    \
    }

INTEGER(bitwise_and, and, "The bits that integers and the number have.");
INTEGER(bitwise_or, or, "The bits that integers or the number have.");
INTEGER(bitwise_xor, xor, "The bits that either integers or the number have.");
INTEGER(lcm, lcm, "The least common multiple of integers and the number.");

const mxl_op *const mxl_ops_np_pairs[] = {
    &op_copysign,
    &op_ldexp,
    &op_arctan2_scalar,
    &op_rarctan2_scalar,
    &op_copysign_scalar,
    &op_rcopysign_scalar,
    &op_ldexp_scalar,
    &op_rldexp_scalar,
    &op_bitwise_and_scalar.op,
    &op_bitwise_or_scalar.op,
    &op_bitwise_xor_scalar.op,
    &op_lcm_scalar.op,
    NULL,
};
