/* Parameters and windows of Pooling, for pooling of bytes (ops/quantized/pieces.c) too. */
#ifndef MXL_OPS_NN_POOLING_H
#define MXL_OPS_NN_POOLING_H

#include "kernel/pool/pool.h"
#include "op/op.h"

enum { MXL_POOLING_AVG, MXL_POOLING_LP, MXL_POOLING_MAX, MXL_POOLING_SUM };
enum { MXL_POOLING_FULL, MXL_POOLING_SAME, MXL_POOLING_VALID }; /* pooling_convention */

typedef struct mxl_pooling_params {
    mxl_tuple kernel;
    int pool_type;
    int global_pool;
    int cudnn_off;
    int pooling_convention;
    mxl_tuple stride;
    mxl_tuple pad;
    int64_t p_value;
    int count_include_pad;
    int layout;
    /* _mxl_pool_spread: */
    mxl_tuple shape; /* of data */
} mxl_pooling_params;

extern const mxl_op mxl_op_pooling;
extern const mxl_param mxl_pooling_table[]; /* all but `shape` */

/* The windows over data of this shape; -1 with the error set, which begins with the name. */
int mxl_pooling_windows(const char *name, const mxl_pooling_params *p, int ndim,
                        const int64_t *shape, mxl_pool *pool);
/* Whether the channels are the last axis. */
bool mxl_pooling_is_last(const mxl_pooling_params *p);

#endif
