/* A convolution in terms of planes and taps (planes.h, correlate.h). */
#ifndef MXL_KERNEL_CONV_CONV_PLAN_H
#define MXL_KERNEL_CONV_CONV_PLAN_H

#include <stddef.h>

#include "kernel/conv/conv.h"
#include "kernel/conv/correlate.h"

typedef struct mxl_conv_plan {
    mxl_planes planes;
    int64_t num_lattices;
    mxl_lattice *lattices;
    void *room;
    size_t bytes;
} mxl_conv_plan;

/* Positions of y over planes of x; positions of x over planes of y. -1 with the error set: out of
 * memory. */
int mxl_conv_plan_forward(const mxl_conv *conv, mxl_conv_plan *plan);
int mxl_conv_plan_data(const mxl_conv *conv, mxl_conv_plan *plan);
void mxl_conv_plan_clear(mxl_conv_plan *plan);

#endif
