/* Shared by movement operators: descriptors that follow from a plan, and gradients. */
#ifndef MXL_OPS_SHAPE_MOVEMENT_H
#define MXL_OPS_SHAPE_MOVEMENT_H

#include "op/plan.h"
#include "ops/build.h"

/* The fields of a descriptor that follow from a plan. The second macro: with a gradient that is
 * another movement. */
#define MXL_MOVEMENT(PLAN) MXL_MOVEMENT_BACK(PLAN, mxl_movement_grad)
#define MXL_MOVEMENT_BACK(PLAN, GRAD)                                                              \
    .plan = (PLAN), .infer = mxl_plan_infer, .compute = mxl_plan_compute, .any_dtype = true,       \
    .grad = (GRAD), .strided = true

/* dx = zeros with dy at its elements; the gradients of a repeated element are added. */
int mxl_movement_grad(mxl_grad *g);
/* dx = dy in the shape of x. */
int mxl_reshape_grad(mxl_grad *g);

/* The arity of joins, whose parameters begin with num_args: that many inputs, or if it is missing,
 * the inputs given; at least one. */
int mxl_join_arity(const void *params, mxl_arity *arity);

/* a[begin:end] along one axis, everything along the others; scoped. */
mxl_array *mxl_slice_axis(mxl_scope *s, mxl_array *a, int axis, int64_t begin, int64_t end);
/* The same with a step, and bounds that may be MXL_NONE; one position of an axis, which goes; with
 * a new axis of size 1; scoped. */
mxl_array *mxl_slice_steps(mxl_scope *s, mxl_array *a, int axis, int64_t begin, int64_t end,
                           int64_t step);
mxl_array *mxl_select_at(mxl_scope *s, mxl_array *a, int axis, int64_t index);
/* Diagonal k of the matrices along two axes, as the last axis; of a vector, the matrix that has it.
 */
mxl_array *mxl_diag(mxl_scope *s, mxl_array *a, int64_t k, int rows, int columns);
mxl_array *mxl_expand_dims(mxl_scope *s, mxl_array *a, int axis);
/* Zeros in the given shape with a at an axis's positions from `begin` on; scoped. */
mxl_array *mxl_slice_put(mxl_scope *s, mxl_array *a, int axis, int64_t begin, int ndim,
                         const int64_t *shape);
/* Zeros with a, which has as many elements as the part, at the elements of the part. */
mxl_array *mxl_zeros_put(mxl_scope *s, mxl_array *a, const mxl_strided_params *part);

/* x[begin:end:step] along an axis of size `extent`, with bounds that may be negative, MXL_NONE or
 * outside it: sets the first position and returns the number of positions. */
int64_t mxl_slice_part(int64_t extent, int64_t begin, int64_t end, int64_t step, int64_t *first);

/* For loops of symbols. */
extern const mxl_op mxl_op_slice_channel, mxl_op_concat, mxl_op_stack;

/* For prepared calls: their parameters are int64_t, axis, begin, end and axis, index. */
extern const mxl_op mxl_op_slice_axis, mxl_op_select;

/* For api_view: the row at `index` of the first axis, without that axis; rows [begin, end). */
typedef struct mxl_slice_rows_params {
    int64_t begin, end;
} mxl_slice_rows_params;

extern const mxl_op mxl_op_row_at, mxl_op_slice_rows, mxl_op_as_strided, mxl_op_zeros_put;

#endif
