/* Images sampled at the points of a grid, bilinear between the four nearest pixels. For
 * ops/nn/sampler.c. float32 and float64. */
#ifndef MXL_KERNEL_SPATIAL_SAMPLER_H
#define MXL_KERNEL_SPATIAL_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

/* Contiguous: images (batch, channels, height, width), a grid (batch, 2, points) of columns and
 * rows from -1 to 1, samples (batch, channels, points). Pixels outside are zeros. With `by_column`,
 * `by_row` the weights are their derivatives with respect to that coordinate of the grid. With
 * `pixels` the grid counts pixels from 0; samples before 0 or a whole pixel behind the last one are
 * zeros, and those less far behind it are the last pixel. */
typedef struct mxl_pixel_sampler {
    int dtype;
    int64_t batch, channels, height, width, points;
    bool by_column, by_row, pixels;
} mxl_pixel_sampler;

/* The samples; -1 with the error set and nothing written. */
int mxl_sampler_take(const mxl_pixel_sampler *s, const void *grid, const void *images,
                     void *samples);

/* The adjoint: images = zeros with the samples added where they were taken. */
int mxl_sampler_put(const mxl_pixel_sampler *s, const void *grid, const void *samples,
                    void *images);

#endif
