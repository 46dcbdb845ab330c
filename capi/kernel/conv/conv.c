/* Convolutions, and their derivatives by the data, as correlations. */
#include "kernel/conv/conv.h"

#include <string.h>

#include "base/dtype.h"
#include "base/memory/mem.h"
#include "kernel/bfloat16/pair_convolve.h"
#include "kernel/conv/conv_plan.h"
#include "kernel/winograd/winograd.h"
#include "kernel/copy/cast.h"

static void to_floats(const void *half, int64_t n, float *out)
{
    int64_t step = 1;

    mxl_cast_half_to_float(out, &half, &step, n, NULL);
}

/* Runs a correlation whose weights and bias may be float16. */
static int correlate(mxl_correlation *c, const mxl_conv *v)
{
    int64_t weights = v->groups * v->out * v->in * c->taps;
    int64_t bias = c->bias != NULL ? c->groups * c->out : 0;
    size_t bytes = (size_t)(weights + bias) * sizeof(float);
    float *room;
    int status;

    if (v->dtype != MXL_F16)
        return mxl_correlate(c);
    room = mxl_alloc(bytes);
    if (room == NULL)
        return -1;
    to_floats(c->weights, weights, room);
    c->weights = room;
    if (c->bias != NULL) {
        to_floats(c->bias, bias, room + weights);
        c->bias = room + weights;
    }
    status = mxl_correlate(c);
    mxl_free(room, bytes);
    return status;
}

/* Runs the correlation that a plan completes, to a result of `size`. Frees the plan. */
static int run(const mxl_conv *v, mxl_conv_plan *plan, const mxl_correlation *between,
               const int64_t *size)
{
    mxl_correlation c = *between;
    int status;

    c.batch = v->batch;
    c.groups = v->groups;
    c.taps = v->kernel[0] * v->kernel[1] * v->kernel[2];
    c.w_group = v->out * v->in * c.taps;
    c.planes = plan->planes;
    c.num_lattices = plan->num_lattices;
    c.lattices = plan->lattices;
    memcpy(c.dst_size, size, sizeof c.dst_size);
    status = correlate(&c, v);
    mxl_conv_plan_clear(plan);
    return status;
}

bool mxl_conv_is_empty(const mxl_conv *v)
{
    for (int i = 0; i < 3; i++)
        if (v->x_size[i] == 0 || v->y_size[i] == 0)
            return true;
    return v->batch == 0 || v->groups == 0 || v->in == 0 || v->out == 0;
}

/* The result of an empty form: the bias of each of `channels`, or zeros. */
static int fill(const mxl_conv *v, int64_t channels, const int64_t *size, const char *bias,
                char *dst)
{
    size_t item = mxl_dtype_size(v->dtype);
    int64_t count = size[0] * size[1] * size[2];

    for (int64_t plane = 0; plane < v->batch * channels; plane++)
        for (int64_t i = 0; i < count; i++, dst += item)
            if (bias != NULL)
                memcpy(dst, bias + (size_t)(plane % channels) * item, item);
            else
                memset(dst, 0, item);
    return 0;
}

bool mxl_conv_takes(const mxl_conv *v)
{
#ifndef MXL_WITHOUT_BFLOAT16
    if (v->dtype == MXL_BF16)
        return mxl_bfloat16_convolves(v);
#endif
    return v->dtype != MXL_BF16;
}

#ifndef MXL_WITHOUT_BFLOAT16
/* The bias of a tail is float32. */
static int forward_bfloat16(const mxl_conv *v, const void *x, const void *w, const void *bias,
                            void *y)
{
    int64_t count = v->groups * v->out, step = 1;
    float *room;
    int status;

    if (bias == NULL || v->tail != NULL)
        return mxl_bfloat16_convolve(v, x, w, bias, y);
    room = mxl_alloc((size_t)count * sizeof(float));
    if (room == NULL)
        return -1;
    mxl_cast_loop(MXL_BF16, MXL_F32)(room, &bias, &step, count, NULL);
    status = mxl_bfloat16_convolve(v, x, w, room, y);
    mxl_free(room, (size_t)count * sizeof(float));
    return status;
}
#endif

int mxl_conv_forward(const mxl_conv *v, const void *x, const void *w, const void *bias, void *y)
{
    int64_t taps = v->kernel[0] * v->kernel[1] * v->kernel[2];
    mxl_correlation c = {.in = v->in,
                         .out = v->out,
                         .src = x,
                         .weights = w,
                         .bias = bias,
                         .w_out = v->in * taps,
                         .w_in = taps,
                         .dst = y,
                         .form = v->dtype == MXL_F16 ? NULL : v->form,
                         .tail = v->tail};
    mxl_winograd_status status;
    mxl_conv_plan plan;

    if (mxl_conv_is_empty(v))
        return fill(v, v->groups * v->out, v->y_size, bias, y);
#ifndef MXL_WITHOUT_BFLOAT16
    if (v->dtype == MXL_BF16)
        return forward_bfloat16(v, x, w, bias, y);
#endif
    status = mxl_winograd_forward(v, x, w, bias, y);
    if (status != MXL_WINOGRAD_NOT)
        return status;
    return mxl_conv_plan_forward(v, &plan) != 0 ? -1 : run(v, &plan, &c, v->y_size);
}

int mxl_conv_data(const mxl_conv *v, const void *y, const void *w, const void *bias, void *x)
{
    int64_t taps = v->kernel[0] * v->kernel[1] * v->kernel[2];
    mxl_correlation c = {.in = v->out,
                         .out = v->in,
                         .src = y,
                         .weights = w,
                         .bias = bias,
                         .w_out = taps,
                         .w_in = v->in * taps,
                         .dst = x};
    mxl_winograd_status status;
    mxl_conv_plan plan;

    if (mxl_conv_is_empty(v))
        return fill(v, v->groups * v->in, v->x_size, bias, x);
    status = mxl_winograd_data(v, y, w, bias, x);
    if (status != MXL_WINOGRAD_NOT)
        return status;
    return mxl_conv_plan_data(v, &plan) != 0 ? -1 : run(v, &plan, &c, v->x_size);
}
