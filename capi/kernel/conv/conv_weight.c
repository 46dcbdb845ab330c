/* The derivative of a convolution by its weights: correlations of the image with the output's
 * gradient, over all positions. */
#include <stdbool.h>
#include <string.h>

#include "base/dtype.h"
#include "base/half.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/conv/conv_micro.h"
#include "kernel/conv/correlate.h"
#include "kernel/conv/conv_plan.h"
#include "kernel/winograd/winograd.h"
#include "kernel/copy/cast.h"
#include "kernel/copy/copy_loops.h"

enum {
    CHUNK_BYTES = 16 << 20, /* planes and panels that are made at a time */
    POSITIONS = 512,        /* of one pass over a tile, so that a panel stays in the first cache */
    UNITS = 8,              /* units for each thread */
    UNIT_WORK = 1 << 17     /* multiplications that are worth a thread */
};

/* Vectors of output channels are divided into panels of up to three: panel number v has the
 * returned number, from *first on. 4 are 2 and 2: one vector alone would leave the units for
 * multiplication waiting. */
static int64_t panel_at(int64_t vectors, int64_t v, int64_t *first)
{
    int64_t threes = vectors % 3 == 1 && vectors > 1 ? vectors / 3 - 1 : vectors / 3;

    if (v < threes) {
        *first = 3 * v;
        return 3;
    }
    vectors -= 3 * threes;
    *first = 3 * threes + (v - threes) * 2;
    return vectors == 4 ? 2 : vectors;
}

#define NAME(x) f32_##x
#define T       float
#define MICRO   mxl_conv_micro_f32
#include "kernel/conv/conv_weight.tmpl.h"

#define NAME(x) f64_##x
#define T       double
#define MICRO   mxl_conv_micro_f64
#include "kernel/conv/conv_weight.tmpl.h"

int mxl_conv_weight(const mxl_conv *conv, const void *x, const void *y, void *w)
{
    mxl_winograd_status fast;
    mxl_conv_plan plan;
    int status;

    if (mxl_conv_is_empty(conv)) {
        int64_t taps = conv->kernel[0] * conv->kernel[1] * conv->kernel[2];

        memset(w, 0,
               (size_t)(conv->groups * conv->out * conv->in * taps) * mxl_dtype_size(conv->dtype));
        return 0;
    }
    fast = mxl_winograd_weight(conv, x, y, w);
    if (fast != MXL_WINOGRAD_NOT)
        return fast;
    if (mxl_conv_plan_forward(conv, &plan) != 0)
        return -1;
    status = conv->dtype == MXL_F64 ? f64_weight(conv, &plan, x, y, w)
                                    : f32_weight(conv, &plan, x, y, w);
    mxl_conv_plan_clear(&plan);
    return status;
}
