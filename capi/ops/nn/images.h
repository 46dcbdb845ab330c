/* Shared by operators of images (batch, channels, rows, columns). */
#ifndef MXL_OPS_NN_IMAGES_H
#define MXL_OPS_NN_IMAGES_H

#include "ops/build.h"

/* -1 with the error set, which begins with the name, if x does not have four axes. */
int mxl_check_images(const char *name, const mxl_array *x);

/* Images in another size, each pixel that of the input in which it lies; scoped. */
mxl_array *mxl_resample_nearest(mxl_scope *s, mxl_array *x, int64_t rows, int64_t columns);

/* The sums of windows of images or volumes, as those of the operator Pooling; with `full` also of
 * windows that reach over the end. Scoped. */
mxl_array *mxl_pool_sums(mxl_scope *s, mxl_array *x, mxl_tuple kernel, mxl_tuple stride,
                         mxl_tuple pad, bool full);

/* Columns (batch, channels * kernel^2, windows) back as images of two spatial axes; scoped. */
mxl_array *mxl_col2im(mxl_scope *s, mxl_array *a, int64_t kernel, int64_t stride, int64_t pad,
                      const int64_t *size);

/* Bilinear samples of images (batch, channels, rows, columns) at a grid (batch, 2, m, n) of columns
 * and rows in pixels (kernel/spatial/sampler.h): (batch, channels, m, n); scoped. */
mxl_array *mxl_sample_pixels(mxl_scope *s, mxl_array *x, mxl_array *grid);

#endif
