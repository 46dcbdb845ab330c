/* Reshape's codes, for the operator and for MXNDArrayReshape. */
#ifndef MXL_OPS_SHAPE_RESHAPE_CODES_H
#define MXL_OPS_SHAPE_RESHAPE_CODES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/shape.h"

/* The shape that `codes` describe, given the input shape dim[0..ndim): a number above 0 is a size;
 * 0 keeps the input's size, -1 is inferred from the number of elements, -2 keeps all remaining
 * sizes, -3 merges two dimensions, -4 splits one into the two numbers that follow (one may be -1).
 * `reverse` processes everything from the right. -1 with the error set for contradictory codes,
 * more than 32 dimensions, or another number of elements. */
int mxl_reshape_codes(mxl_shape *out, int ndim, const int64_t *dim, int count, const int64_t *codes,
                      bool reverse);

#endif
