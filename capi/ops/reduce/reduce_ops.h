/* Shared by operators that reduce axes (ops/reduce/reduce.c, ops/reduce/norm.c). */
#ifndef MXL_OPS_REDUCE_REDUCE_OPS_H
#define MXL_OPS_REDUCE_REDUCE_OPS_H

#include "kernel/reduce/reduce.h"
#include "ops/build.h"

extern const mxl_param mxl_reduce_table[]; /* of mxl_reduce_params */

/* Marks the reduced axes; -1 for an axis that is out of range or given twice. */
int mxl_reduce_axes(const char *name, const mxl_reduce_params *p, int ndim, bool *reduced);

/* infer and compute of an operator with mxl_reduce_params. */
int mxl_reduce_infer(mxl_infer *infer);
int mxl_reduce_call(const mxl_call *call, mxl_reduction kind);

/* For vjps: the number of elements that each result was computed from. */
double mxl_reduce_count(const mxl_grad *g);
/* For vjps: an array of the result's shape with the reduced axes restored, with size 1. */
mxl_array *mxl_reduce_back(mxl_grad *g, mxl_array *y);

/* softmax, for passes over graphs: whether its parameters but for the axis are the defaults. */
extern const mxl_op *const mxl_op_plain_softmax;
bool mxl_softmax_is_plain(const void *params);
int64_t mxl_softmax_axis_of(const void *params);

/* In the part numpy: whether a reduction is of one axis, which stays with extent 1, and of the
 * array's own dtype. */
bool mxl_np_keeps_axis(const void *params, int64_t *axis);

extern const mxl_op mxl_op_mean, mxl_op_max, mxl_op_min, mxl_op_prod, mxl_op_nanprod,
    mxl_op_argmax_int64, mxl_op_argmin_int64;

#endif
