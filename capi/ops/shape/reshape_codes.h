/* The rule for Reshape's codes, for the operator and for MXNDArrayReshape. */
#ifndef MXL_OPS_SHAPE_RESHAPE_CODES_H
#define MXL_OPS_SHAPE_RESHAPE_CODES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/shape.h"

/* The shape that `codes` ask for, given the shape dim[0..ndim): a number above 0 is an extent; 0
 * keeps the extent, -1 is inferred from the size, -2 takes all that remain, -3 merges two, -4
 * splits one into the two numbers that follow (one may be -1). `reverse` reads everything from the
 * right. -1 with the error set: contradictory codes, more than 32 axes, or another number of
 * elements. */
int mxl_reshape_codes(mxl_shape *out, int ndim, const int64_t *dim, int count, const int64_t *codes,
                      bool reverse);

#endif
