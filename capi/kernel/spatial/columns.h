/* The windows of a convolution as columns of a matrix, and back. For ops/nn/im2col.c. float32 and
 * float64. */
#ifndef MXL_KERNEL_SPATIAL_COLUMNS_H
#define MXL_KERNEL_SPATIAL_COLUMNS_H

#include <stdint.h>

/* One axis: element k of window o is position o * stride - pad + k * dilate; outside of [0, in) it
 * is padding. */
typedef struct mxl_column_axis {
    int64_t in, out, kernel, stride, pad, dilate;
} mxl_column_axis;

/* Images (planes, depth, height, width), contiguous, and columns (planes, elements of a window,
 * windows). */
typedef struct mxl_columns {
    int dtype;
    int64_t planes;
    mxl_column_axis axis[3];
} mxl_columns;

/* columns = the elements of each window, 0 for padding. */
void mxl_columns_take(const mxl_columns *c, const void *image, void *columns);

/* The adjoint: image = at each position the sum of the elements that windows have of it. */
void mxl_columns_put(const mxl_columns *c, const void *columns, void *image);

#endif
