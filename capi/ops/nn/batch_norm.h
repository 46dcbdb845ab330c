/* The parameters of BatchNorm and its kin, for passes that join it with other operators. */
#ifndef MXL_OPS_NN_BATCH_NORM_H
#define MXL_OPS_NN_BATCH_NORM_H

#include "ops/nn/normalise.h"

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

/* Rows of its table: those of its kin too, and all. */
#define MXL_BATCH_NORM_EPS "Added to the variance, below the root."
#define MXL_BATCH_NORM_COMMON                                                                      \
    MXL_PARAM(mxl_batch_norm_params, momentum, MXL_P_FLOAT, "0.899999976",                         \
              "The part of the moving statistics that an update keeps."),                          \
        MXL_PARAM(mxl_batch_norm_params, fix_gamma, MXL_P_BOOL, "1",                               \
                  "Whether gamma is 1, and set to it, and has no gradient."),                      \
        MXL_PARAM(mxl_batch_norm_params, use_global_stats, MXL_P_BOOL, "0",                        \
                  "Whether training mode uses the moving statistics too, without updating them."), \
        MXL_PARAM(mxl_batch_norm_params, output_mean_var, MXL_P_BOOL, "0",                         \
                  "Whether the statistics that were used are results too.", .sets_outputs = true)
#define MXL_BATCH_NORM_PARAMS                                                                      \
    MXL_PARAM(mxl_batch_norm_params, eps, MXL_P_FLOAT, "0.0010000000474974513",                    \
              MXL_BATCH_NORM_EPS, .type_name = "double"),                                          \
        MXL_BATCH_NORM_COMMON,                                                                     \
        MXL_PARAM(mxl_batch_norm_params, axis, MXL_P_INT, "1",                                     \
                  "The axis of the channels, counted from either end."),                           \
        MXL_PARAM(mxl_batch_norm_params, cudnn_off, MXL_P_BOOL, "0", "Of no effect here."),        \
        MXL_PARAM(mxl_batch_norm_params, min_calib_range, MXL_P_OPT_FLOAT, "None",                 \
                  "The smallest number of a quantized result, from calibration."),                 \
        MXL_PARAM(mxl_batch_norm_params, max_calib_range, MXL_P_OPT_FLOAT, "None",                 \
                  "The largest number of a quantized result, from calibration.")

extern const mxl_op mxl_op_batch_norm;
extern const mxl_op mxl_op_norm_relu; /* by moving statistics, and relu; of graphs that predict */
extern const mxl_param mxl_batch_norm_table[]; /* its parameters */

/* Sets gamma to 1, as 1.9.1 does with fix_gamma, unless it is; -1 with the error set. */
int mxl_batch_norm_fix(const mxl_op *op, mxl_array *gamma);

/* How a call of it normalises data of a shape. */
mxl_normalise mxl_batch_norm_of(const mxl_op *op, const mxl_batch_norm_params *p, bool training,
                                int ndim, const int64_t *shape);
/* After a vjp with this status: the moving statistics, inputs 3 and 4, take over the batch's,
 * unless it is empty. */
int mxl_batch_norm_update(mxl_grad *g, int status);
void mxl_batch_norm_saves(mxl_saves *saves);
bool mxl_batch_norm_is_state(const void *params, int i);

/* relu(BatchNorm) in one pass, with the bits of the two, for the pass that makes it: the parameters
 * and inputs of BatchNorm. */
extern const mxl_op mxl_op_batch_norm_cut;

#endif
