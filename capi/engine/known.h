/* The few operators the engine itself calls, looked up once by name. */
#ifndef MXL_ENGINE_KNOWN_H
#define MXL_ENGINE_KNOWN_H

#include "op/op.h"

/* Parameters of `_mxl_sum_to` and of `Cast`, which ops/ defines with these structs. */
typedef struct mxl_sum_to_params {
    mxl_tuple shape;
} mxl_sum_to_params;

typedef struct mxl_cast_params {
    int dtype;
} mxl_cast_params;

typedef struct mxl_known {
    const mxl_op *add;        /* elemwise_add(a, b) */
    const mxl_op *copy;       /* _copy(a) */
    const mxl_op *copyto;     /* _copyto(a), out= of any dtype */
    const mxl_op *ones_like;  /* ones_like(a) */
    const mxl_op *zeros_like; /* zeros_like(a) */
    const mxl_op *cast;       /* Cast(a, dtype) */
    const mxl_op *sum_to;     /* _mxl_sum_to(a, shape): sums the axes that broadcasting enlarged */
} mxl_known;

/* NULL with the error set when one is missing. */
const mxl_known *mxl_known_get(void);

#endif
