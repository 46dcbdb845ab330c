/* What api_view records for a view (rows of the first axis, one of them, another shape), and the
 * rule for Reshape's codes, which the operator Reshape shares. */
#ifndef MXL_OPS_VIEW_H
#define MXL_OPS_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/shape.h"
#include "engine/known.h"
#include "op/op.h"

/* Parameters of `_mxl_slice_rows`: rows [begin, end) of the first axis. */
typedef struct mxl_slice_rows_params {
    int64_t begin, end;
} mxl_slice_rows_params;

/* Parameters of `_mxl_at`: one row, without the axis. */
typedef struct mxl_at_params {
    int64_t index;
} mxl_at_params;

/* Parameters of `_mxl_pad_rows`: the array's rows at [begin, ...) of `rows`, zeros elsewhere. */
typedef struct mxl_pad_rows_params {
    int64_t begin, rows;
} mxl_pad_rows_params;

/* `_mxl_reshape_to` has mxl_sum_to_params, whose extents are all known. */
extern const mxl_op mxl_op_slice_rows, mxl_op_row_at, mxl_op_pad_rows, mxl_op_reshape_to;

/* The shape that `codes` ask for, given the shape dim[0..ndim): a number above 0 is an extent; 0
 * keeps the extent, -1 is inferred from the size, -2 takes all that remain, -3 merges two, -4
 * splits one into the two numbers that follow (one may be -1). `reverse` reads everything from the
 * right. -1 with the error set: contradictory codes, more than 32 axes, or another number of
 * elements. */
int mxl_reshape_codes(mxl_shape *out, int ndim, const int64_t *dim, int count, const int64_t *codes,
                      bool reverse);

#endif
