/* The few operators the engine itself calls, looked up once by name. */
#ifndef MXL_ENGINE_RUN_BUILTIN_OPS_H
#define MXL_ENGINE_RUN_BUILTIN_OPS_H

#include <stddef.h>

#include "op/op.h"

/* Parameters of `_mxl_sum_to` and `_mxl_reshape_to`, and of `Cast`, which ops/ defines with these
 * structs. */
typedef struct mxl_sum_to_params {
    mxl_tuple shape;
} mxl_sum_to_params;

typedef struct mxl_cast_params {
    int dtype;
} mxl_cast_params;

/* Of `_mxl_as_strided` and its kin: the elements of an array in C order at `skip` and steps of
 * `strides` from there, all in elements. */
typedef struct mxl_strided_params {
    mxl_tuple shape, strides;
    mxl_tuple zeros; /* _mxl_zeros_put: shape of the result */
    int64_t skip;
    int64_t self_first; /* CopySlices: the inner node's first input is the view itself */
} mxl_strided_params;

#define MXL_STRIDED_TABLE                                                                          \
    {.name = "shape",                                                                              \
     .type = MXL_P_SHAPE,                                                                          \
     .offset = offsetof(mxl_strided_params, shape),                                                \
     .doc = "Extents of the part."},                                                               \
        {.name = "strides",                                                                        \
         .type = MXL_P_SHAPE,                                                                      \
         .offset = offsetof(mxl_strided_params, strides),                                          \
         .doc = "Elements from one position along each axis to the next."},                        \
        {.name = "skip",                                                                           \
         .type = MXL_P_INT,                                                                        \
         .offset = offsetof(mxl_strided_params, skip),                                             \
         .def = "0",                                                                               \
         .type_text = "long, optional, default=0",                                                 \
         .doc = "Elements before the part's first."}

typedef struct mxl_builtin_ops {
    const mxl_op *add;         /* elemwise_add(a, b) */
    const mxl_op *copy;        /* _copy(a) */
    const mxl_op *copyto;      /* _copyto(a), out= of any dtype */
    const mxl_op *ones_like;   /* ones_like(a) */
    const mxl_op *zeros_like;  /* zeros_like(a) */
    const mxl_op *cast;        /* Cast(a, dtype) */
    const mxl_op *sum_to;      /* _mxl_sum_to(a, shape): sums the axes that broadcasting enlarged */
    const mxl_op *reshape_to;  /* _mxl_reshape_to(a, shape): as many elements */
    const mxl_op *as_strided;  /* _mxl_as_strided(a, shape, strides, skip): those elements of a */
    const mxl_op *strided_put; /* _mxl_strided_put(a, b, ...): a with b in their place */
} mxl_builtin_ops;

/* NULL with the error set when one is missing. */
const mxl_builtin_ops *mxl_builtin_ops_get(void);

#endif
