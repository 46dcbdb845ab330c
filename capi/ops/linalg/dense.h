/* Dense layers: FullyConnected, and the same with what follows it as one operator, which passes
 * over graphs put in the place of several nodes (symbol/passes/dense.c). */
#ifndef MXL_OPS_LINALG_DENSE_H
#define MXL_OPS_LINALG_DENSE_H

#include "kernel/gemm/gemm.h"
#include "op/op.h"

typedef struct mxl_dense_params {
    int64_t num_hidden;
    int no_bias;
    int flatten;
} mxl_dense_params;

extern const mxl_op mxl_op_fully_connected;

/* The rows of its parameter table, for a struct that begins with mxl_dense_params. */
#define MXL_DENSE_PARAMS(type)                                                                     \
    MXL_PARAM_AS("num_hidden", type, dense.num_hidden, MXL_P_INT, MXL_REQUIRED,                    \
                 "Extent of the last axis of the result.", MXL_AT_LEAST(1)),                       \
        MXL_PARAM_AS("no_bias", type, dense.no_bias, MXL_P_BOOL, "0",                              \
                     "Whether there is no bias."),                                                 \
        MXL_PARAM_AS("flatten", type, dense.flatten, MXL_P_BOOL, "1",                              \
                     "Whether all axes but the first are features; otherwise the last one is.")

/* The product of rows of features with the weight, input 1; the caller adds `bias` and `tail`. */
mxl_product mxl_dense_product(const mxl_dense_params *p, const mxl_call *call);

/* The parameters of FullyConnected come first: its attributes are this operator's too. */
typedef struct mxl_fused_dense_params {
    mxl_dense_params dense;
    int normalises, fix_gamma, adds;
    double eps;
    const char
        *follows; /* "", or an operator of one array with its parameters: "clip a_min=0 ..." */
} mxl_fused_dense_params;

enum { MXL_DENSE_FOLLOWS = 256 }; /* room for that text */

/* Inputs: data, weight; bias unless no_bias; gamma, beta, moving_mean, moving_var if normalises;
 * added if adds. */
extern const mxl_op mxl_op_fused_dense;

#endif
