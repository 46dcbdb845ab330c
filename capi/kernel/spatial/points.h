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

/* One list of points, with what it reads and writes: x (channels, plane) and y (channels, bins); or
 * with `apart` x (channels, bins, plane), where each output has a plane of its own. */
typedef struct mxl_points_item {
    mxl_points points;
    const void *from;
    void *to;
} mxl_points_item;

/* From x to y, for each item. */
void mxl_points_take(int dtype, int64_t count, const mxl_points_item *items, int64_t channels,
                     bool apart);

/* The adjoint: adds y to x, item after item. */
void mxl_points_put(int dtype, int64_t count, const mxl_points_item *items, int64_t channels,
                    bool apart);

/* For a batch of `count` lists: calls `fill`, on several threads, for some lists at a time, then
 * takes or puts these. `fill(data, i, item)` sets everything of item i but its memory, which has
 * room for `elements` of `bins` outputs. -1 with the error set and nothing written. */
typedef struct mxl_points_batch {
    int dtype;
    bool takes, apart;
    int64_t count, channels, bins, plane, elements;
    void (*fill)(const void *data, int64_t i, mxl_points_item *item);
    const void *data;
    void *clear; /* memory to set to zero first, and its bytes */
    int64_t clear_bytes;
} mxl_points_batch;

int mxl_points_run(const mxl_points_batch *batch);

#endif
