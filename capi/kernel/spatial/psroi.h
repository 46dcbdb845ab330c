/* Regions of images in bins, each the mean of the pixels in it, and each from channels of its own.
 * For ops/vision/psroi.c. float32 and float64. */
#ifndef MXL_KERNEL_SPATIAL_PSROI_H
#define MXL_KERNEL_SPATIAL_PSROI_H

#include <stdint.h>

/* Contiguous: images (batch, channels, height, width), of which the first results * groups^2
 * channels are read; regions (regions, 5), each the number of an image, left, top, right and
 * bottom, which `scale` multiplies when they are rounded; results (regions, results, bins, bins).
 * The channels of a result are cells of a grid of groups^2; a bin reads the cell in which it lies.
 */
typedef struct mxl_psroi {
    int dtype;
    int64_t batch, channels, height, width;
    int64_t regions, results, bins, groups;
    double scale;
} mxl_psroi;

/* A region in pixels, in the precision of the dtype as in 1.9.1: its image, where it begins and the
 * size of a bin, rows before columns. The image is -1 if there is no such. */
typedef struct mxl_psroi_region {
    int64_t image;
    double start[2], bin[2], size[2];
} mxl_psroi_region;

/* Region i; `shift` is added to the coordinates after the scale. */
mxl_psroi_region mxl_psroi_region_at(const mxl_psroi *p, const void *regions, int64_t i,
                                     double shift);

/* The value rounded to the dtype; the row, or column, of cells of a bin's. */
double mxl_psroi_round(const mxl_psroi *p, double value);
int64_t mxl_psroi_cell(const mxl_psroi *p, int64_t bin);

/* -1 with the error set unless all regions are of images of the batch, with finite coordinates. */
int mxl_psroi_check(const mxl_psroi *p, const void *regions);

/* y = the means, 0 for a bin without pixels; and the adjoint: dx = zeros with the parts of dy added
 * to the pixels. -1 with the error set and nothing written. */
int mxl_psroi_take(const mxl_psroi *p, const void *regions, const void *x, void *y);
int mxl_psroi_put(const mxl_psroi *p, const void *regions, const void *dy, void *dx);

#endif
