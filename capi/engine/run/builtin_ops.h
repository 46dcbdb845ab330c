/* The operators the engine itself calls, looked up once by name. */
#ifndef MXL_ENGINE_RUN_BUILTIN_OPS_H
#define MXL_ENGINE_RUN_BUILTIN_OPS_H

#include <stddef.h>

#include "array/array.h"
#include "op/op.h"

/* Parameters of `_mxl_as_strided`, `_mxl_strided_put` and `_mxl_zeros_put`: the elements of an
 * array in C order at `skip` and steps of `strides` from there, all in elements. */
typedef struct mxl_strided_params {
    mxl_tuple shape, strides;
    mxl_tuple zeros; /* _mxl_zeros_put: shape of the result */
    int64_t skip;
    int64_t self_first; /* CopySlices: the inner node's first input is the view itself */
} mxl_strided_params;

#define MXL_STRIDED_TABLE                                                                          \
    MXL_PARAM(mxl_strided_params, shape, MXL_P_SHAPE, MXL_REQUIRED, "Extents of the part."),       \
        MXL_PARAM(mxl_strided_params, strides, MXL_P_SHAPE, MXL_REQUIRED,                          \
                  "Elements from one position along each axis to the next."),                      \
        MXL_PARAM(mxl_strided_params, skip, MXL_P_INT, "0", "Elements before the part's first.",   \
                  .type_name = "long")

typedef struct mxl_builtin_ops {
    const mxl_op *add;        /* elemwise_add(a, b) */
    const mxl_op *either;     /* _npi_bitwise_or(a, b): the sum of two arrays of bool */
    const mxl_op *copy;       /* _copy(a) */
    const mxl_op *copyto;     /* _copyto(a), out= of any dtype */
    const mxl_op *ones_like;  /* ones_like(a) */
    const mxl_op *zeros_like; /* zeros_like(a) */
    const mxl_op *cast;       /* Cast(a, dtype); its parameter struct is the int */
    const mxl_op *sum_to; /* _mxl_sum_to(a, shape): sums what broadcasting enlarged; mxl_tuple */
    const mxl_op *reshape_to;   /* _mxl_reshape_to(a, shape): as many elements; mxl_tuple */
    const mxl_op *as_strided;   /* _mxl_as_strided(a, shape, strides, skip): those elements of a */
    const mxl_op *cast_storage; /* cast_storage(a, stype); its parameter struct is an int: below */
    const mxl_op *strided_put;  /* _mxl_strided_put(a, b, ...): a with b in their place */
    /* Of batches: */
    const mxl_op *zeros_put;    /* _mxl_zeros_put(a, ...): zeros with a in their place */
    const mxl_op *broadcast_to; /* _mxl_broadcast_to(a, shape); mxl_tuple */
    const mxl_op *broadcast_add, *stack;
} mxl_builtin_ops;

/* Values of the parameter of cast_storage, in the order of its names. */
enum { MXL_CAST_CSR, MXL_CAST_DEFAULT, MXL_CAST_ROW_SPARSE };

/* NULL with the error set when one is missing. */
const mxl_builtin_ops *mxl_builtin_ops_get(void);

/* The operator of sums of gradients of a dtype. */
static inline const mxl_op *mxl_builtin_sum(const mxl_builtin_ops *builtin, int dtype)
{
    return dtype == MXL_BOOL ? builtin->either : builtin->add;
}

/* The operator that writes a result to an array that a caller gives: copyto, or copy for one
 * without a shape, which takes the result's. */
static inline const mxl_op *mxl_builtin_into(const mxl_builtin_ops *builtin, const mxl_array *given)
{
    return given->storage != NULL ? builtin->copyto : builtin->copy;
}

#endif
