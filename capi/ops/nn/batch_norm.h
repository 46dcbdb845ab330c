/* The parameters of BatchNorm and its kin, for passes that join it with other operators. */
#ifndef MXL_OPS_NN_BATCH_NORM_H
#define MXL_OPS_NN_BATCH_NORM_H

#include "op/op.h"

typedef struct mxl_batch_norm_params {
    double eps;
    double momentum;
    int fix_gamma;
    int use_global_stats;
    int output_mean_var;
    int64_t axis;
    int cudnn_off;
    double min_calib_range, max_calib_range;
    int64_t ndev;
    const char *key;
} mxl_batch_norm_params;

extern const mxl_op mxl_op_batch_norm;
extern const mxl_op mxl_op_norm_relu; /* by moving statistics, and relu; of graphs that predict */
extern const mxl_param mxl_batch_norm_table[]; /* its parameters */

/* Sets gamma to 1, as 1.9.1 does with fix_gamma, unless it is; -1 with the error set. */
int mxl_batch_norm_fix(const mxl_op *op, mxl_array *gamma);

#endif
