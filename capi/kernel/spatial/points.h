/* Sums of weighted elements of a plane, for each channel: what bilinear samplers read. For
 * roi_align.c and sampler.c. float32 and float64. */
#ifndef MXL_KERNEL_SPATIAL_POINTS_H
#define MXL_KERNEL_SPATIAL_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Output b of a channel is the sum of weight[t] * plane[index[t]], t in [start[b], start[b + 1]).
 */
typedef struct mxl_points {
    int64_t bins, plane; /* outputs and inputs of a channel */
    int64_t filled;      /* outputs that have their list */
    int64_t *start, *index;
    double *weight;
    size_t bytes; /* of the block that begins at `start` */
} mxl_points;

/* Room for so many outputs, and elements in all; -1 with the error set. */
int mxl_points_alloc(mxl_points *points, int64_t bins, int64_t plane, int64_t elements);
void mxl_points_free(mxl_points *points);

/* Starts over; adds an element to the present output; ends that output. */
void mxl_points_clear(mxl_points *points);
void mxl_points_add(mxl_points *points, int64_t index, double weight);
void mxl_points_next(mxl_points *points);

/* y (channels, bins) from x (channels, plane); or with `apart` from x (channels, bins, plane),
 * where each output has a plane of its own. */
void mxl_points_take(int dtype, const mxl_points *points, int64_t channels, bool apart,
                     const void *x, void *y);

/* The adjoint: adds to dx. */
void mxl_points_put(int dtype, const mxl_points *points, int64_t channels, bool apart,
                    const void *dy, void *dx);

#endif
