/* Pad: adds a border along the last axes, filled with one value, the values at the edge, or a
 * reflection. */
#include <stddef.h>

#include "base/thread.h"
#include "kernel/copy/cast.h"
#include "kernel/copy/strided_copy.h"
#include "ops/build.h"
#include "ops/shape/movement.h"

enum { CONSTANT, EDGE, REFLECT };
enum { CACHED = 32768 /* elements of the result that are completed while they are cached */ };

typedef struct pad_params {
    int mode;
    mxl_tuple pad_width;
    double constant_value;
} pad_params;

static const char *const modes[] = {"constant", "edge", "reflect", NULL};

static int pad_check(const pad_params *p, const mxl_array *x)
{
    if (x->ndim != 4 && x->ndim != 5)
        return mxl_error("Pad: takes arrays of 4 or 5 axes, got shape %s", MXL_SHAPE_OF(x));
    if (!mxl_dtype_is_float(x->dtype))
        return mxl_error("Pad: takes floating-point input, got %s", mxl_dtype_name(x->dtype));
    if (p->pad_width.n != 2 * x->ndim)
        return mxl_error("Pad: pad_width has %d entries, %d axes need %d", p->pad_width.n, x->ndim,
                         2 * x->ndim);
    for (int i = 0; i < p->pad_width.n; i++) {
        int64_t width = p->pad_width.v[i], extent = x->shape[i / 2];

        if (width < 0 || (i < 4 && width != 0))
            return mxl_error("Pad: axis %d has the rim %lld; it must not be negative, and 0 for "
                             "the first two axes",
                             i / 2, (long long)width);
        if (width > 0 && ((p->mode == REFLECT && extent >= 0 && width >= extent) ||
                          (p->mode == EDGE && extent == 0)))
            return mxl_error("Pad: axis %d of %lld positions has too few for a rim of %lld", i / 2,
                             (long long)extent, (long long)width);
    }
    return 0;
}

static int pad_infer(mxl_infer *infer)
{
    const pad_params *p = infer->params;
    const mxl_array *x = infer->in[0];
    mxl_shape *out = &infer->out_shape[0];

    if (pad_check(p, x) != 0)
        return -1;
    mxl_infer_set(infer, x->dtype, x->ndim, x->shape);
    for (int i = 0; i < x->ndim; i++) {
        if (__builtin_add_overflow(out->dim[i], p->pad_width.v[2 * i], &out->dim[i]) ||
            __builtin_add_overflow(out->dim[i], p->pad_width.v[2 * i + 1], &out->dim[i]))
            return mxl_error("Pad: the result is too large");
    }
    return 0;
}

/* The position along one axis that position `to` of its border copies. */
static int64_t mirrored(int mode, int64_t to, int64_t first, int64_t last)
{
    if (mode == EDGE)
        return to < first ? first : last;
    return to < first ? 2 * first - to : 2 * last - to;
}

/* A plane is the data at one position of the first two axes, which have no border. */
typedef struct pad_job {
    const pad_params *p;
    const mxl_array *x, *out;
    const char *in;
    char *data;
    int64_t together; /* planes that fit the cache */
} pad_job;

/* Fills the border of one axis of some planes. The borders of later axes are filled already, those
 * of earlier ones are not. */
static void fill_rim(const pad_job *job, char *data, int64_t planes, int axis)
{
    const mxl_array *out = job->out;
    const int64_t *rims = job->p->pad_width.v, *strides = out->strides + 1;
    int64_t first = rims[2 * axis], last = first + job->x->shape[axis] - 1;
    int64_t shape[MXL_MAX_NDIM], size = (int64_t)mxl_dtype_size(out->dtype);
    int64_t step = out->strides[axis] * size;

    shape[0] = planes;
    for (int i = 2; i < out->ndim; i++) {
        shape[i - 1] = i < axis ? job->x->shape[i] : i == axis ? 1 : out->shape[i];
        data += i < axis ? rims[2 * i] * out->strides[i] * size : 0;
    }
    for (int64_t to = 0; to < out->shape[axis]; to++) {
        int64_t from = mirrored(job->p->mode, to, first, last);

        if (to < first || to > last)
            mxl_copy_strided((size_t)size, out->ndim - 1, shape, data + to * step, strides,
                             data + from * step, strides);
    }
}

static void pad_chunk(void *data, int64_t begin, int64_t end)
{
    const pad_job *job = data;
    const mxl_array *x = job->x, *out = job->out;
    const pad_params *p = job->p;
    int64_t shape[MXL_MAX_NDIM], skip = 0, value = 0, size = (int64_t)mxl_dtype_size(x->dtype);

    mxl_cast_scalar(p->constant_value, x->dtype, &value);
    for (int i = 2; i < x->ndim; i++) {
        shape[i - 1] = x->shape[i];
        skip += p->pad_width.v[2 * i] * out->strides[i] * size;
    }
    for (int64_t at = begin; at < end; at += job->together) {
        int64_t planes = end - at < job->together ? end - at : job->together;
        char *to = job->data + at * out->strides[1] * size;

        if (p->mode == CONSTANT)
            mxl_fill((size_t)size, to, &value, planes * out->strides[1]);
        if (x->size == 0)
            continue;
        shape[0] = planes;
        mxl_copy_strided((size_t)size, x->ndim - 1, shape, to + skip, out->strides + 1,
                         job->in + at * x->strides[1] * size, x->strides + 1);
        for (int i = x->ndim - 1; i >= 2 && p->mode != CONSTANT; i--)
            fill_rim(job, to, planes, i);
    }
}

static int pad_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0], *out = call->out[0];
    int64_t plane = out->strides[1];
    pad_job job = {call->params, x, out, mxl_array_read(x), mxl_array_write(call->out[0]), 1};

    if (out->size == 0)
        return 0;
    if (plane < CACHED)
        job.together = CACHED / plane;
    mxl_parallel_for(out->size / plane, job.together, pad_chunk, &job);
    return 0;
}

/* The gradient that one border adds to the core: dy at [begin, end) of the axis, summed or
 * reflected, is added at position `at` of an axis of n. */
static mxl_array *rim_grad(mxl_grad *g, mxl_array *dy, mxl_array *core, int axis, int64_t begin,
                           int64_t end, int64_t at)
{
    bool edge = ((const pad_params *)g->params)->mode == EDGE;
    mxl_array *rim = mxl_slice_axis(g->s, dy, axis, begin, end);

    if (core == NULL)
        return NULL;
    rim = edge ? mxl_sum_axis(g->s, rim, axis) : mxl_reverse(g->s, rim, axis);
    rim = mxl_slice_put(g->s, rim, axis, at, core->ndim, core->shape);
    return mxl_add(g->s, core, rim);
}

/* dx = the part of dy within the border, plus the gradients of border elements at the positions
 * that they copy, axis by axis */
static int pad_grad(mxl_grad *g)
{
    const pad_params *p = g->params;
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    mxl_array *dy = g->grad_output[0];

    for (int axis = 0; axis < x->ndim; axis++) {
        int64_t before = p->pad_width.v[2 * axis], behind = p->pad_width.v[2 * axis + 1];
        int64_t n = x->shape[axis], end = before + n;
        mxl_array *core = dy;

        if (before + behind > 0)
            core = mxl_slice_axis(g->s, dy, axis, before, end);
        if (before > 0 && p->mode != CONSTANT)
            core = rim_grad(g, dy, core, axis, 0, before, p->mode == EDGE ? 0 : 1);
        if (behind > 0 && p->mode != CONSTANT)
            core = rim_grad(g, dy, core, axis, end, end + behind,
                            p->mode == EDGE ? n - 1 : n - 1 - behind);
        dy = core;
    }
    return mxl_grad_set(g, 0, dy);
}

static const mxl_op op_pad = {
    .name = "Pad",
    .output_names = "output",
    .aliases = MXL_ALIASES("pad"),
    .inputs = mxl_inputs_data,
    .doc = "The array with a rim along all axes but the first two.",
    MXL_PARAMS_OF(
        pad_params,
        MXL_PARAM(pad_params, mode, MXL_P_ENUM, MXL_REQUIRED,
                  "What the rim holds: `constant_value`, the values at the edge, or the array "
                  "reflected at its edge.",
                  .values = modes),
        MXL_PARAM(pad_params, pad_width, MXL_P_SHAPE, MXL_REQUIRED,
                  "How wide the rim is before and behind each axis: two numbers per axis, four "
                  "zeros first."),
        MXL_PARAM(pad_params, constant_value, MXL_P_FLOAT, "0",
                  "The value of the rim in mode constant.", .type_name = "double")),
    .infer = pad_infer,
    .compute = pad_compute,
    .grad = pad_grad,
};

const mxl_op *const mxl_ops_pad[] = {&op_pad, NULL};
