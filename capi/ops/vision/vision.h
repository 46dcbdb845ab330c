/* Shared by the operators of boxes and images. */
#ifndef MXL_OPS_VISION_VISION_H
#define MXL_OPS_VISION_VISION_H

#include "kernel/vision/boxes.h"
#include "ops/build.h"

extern const char *const mxl_box_formats[]; /* names of mxl_box_format */

/* Runs `compute` on float32 copies of float16 inputs and outputs, and rounds the results; at most
 * 6 inputs and 3 outputs. -1 with the error set. */
int mxl_widen_half(const mxl_call *call, int (*compute)(const mxl_call *call));

/* All inputs have one floating dtype; -1 with the error set. */
int mxl_check_floats(const mxl_infer *infer);
/* All inputs are float32; -1 with the error set. */
int mxl_check_float32(const mxl_infer *infer);

/* Gives output i a dtype and a shape. */
static inline void mxl_infer_output(mxl_infer *infer, int i, int dtype, int ndim,
                                    const int64_t *shape)
{
    infer->out_dtype[i] = dtype;
    mxl_shape_set(&infer->out_shape[i], ndim, shape);
}

/* ---- bins of regions: operators of images and `rois` ---- */

/* Checks images and input 1, their regions, which have so many columns. -1 with the error set. */
int mxl_check_regions(const mxl_infer *infer, const mxl_array *x, int64_t columns);
/* The infer of means of bins, each from channels of its own, of images like x: `results` channels
 * from groups * groups each, in bins * bins. */
int mxl_sensitive_infer(mxl_infer *infer, const mxl_array *x, int64_t results, int64_t groups,
                        int64_t bins);
/* The infer of an operator that puts bins back into images of a shape; `bins` is that of taking
 * them from images like x. */
int mxl_bins_back_infer(mxl_infer *infer, mxl_tuple images,
                        int (*bins)(mxl_infer *infer, const mxl_array *x));
/* The vjp of taking bins, whose `other` operator puts them back, and the other way round. */
int mxl_bins_grad(mxl_grad *g, const mxl_op *other, const void *params);

/* ---- float16 ---- */

/* Defines `id`_compute, which computes float16 in float32 by `id`_run. */
#define MXL_WIDENED(id)                                                                            \
    static int id##_compute(const mxl_call *call)                                                  \
    {                                                                                              \
        return mxl_widen_half(call, id##_run);                                                     \
    }

#endif
