/* Pooling_v1: an older Pooling. Its padding counts as zeros, also for a maximum and in the divisor
 * of a mean, and each of several equal maxima has the whole gradient. */
#include <math.h>
#include <stddef.h>

#include "ops/nn/images.h"
#include "ops/shape/movement.h"

enum { TYPE_AVG, TYPE_MAX, TYPE_SUM };
enum { CONVENTION_FULL, CONVENTION_VALID };

typedef struct v1_params {
    mxl_tuple kernel, stride, pad;
    int pool_type, global_pool, pooling_convention;
} v1_params;

extern const mxl_op mxl_op_max;

/* ---- windows ---- */

/* The windows along a spatial axis: window o holds positions o * stride - pad and the `kernel - 1`
 * behind it. */
typedef struct windows {
    int64_t in, out, kernel, stride, pad;
} windows;

/* -1 with the error set. */
static int find_windows(const char *name, const v1_params *p, const mxl_array *x, int axis,
                        windows *w)
{
    int64_t room;

    *w = (windows){.in = x->shape[axis + 2], .out = 1, .kernel = x->shape[axis + 2], .stride = 1};
    if (p->global_pool)
        return w->in != 0
                   ? 0
                   : mxl_error("%s: the images have no pixels, got %s", name, MXL_SHAPE_OF(x));
    w->kernel = p->kernel.v[axis];
    w->stride = mxl_tuple_entry(p->stride, axis, 1);
    w->pad = mxl_tuple_entry(p->pad, axis, 0);
    room = w->in + 2 * w->pad - w->kernel;
    if (w->in >= 0 && room < 0)
        return mxl_error("%s: a window of %lld exceeds an axis of %lld with padding %lld", name,
                         (long long)w->kernel, (long long)w->in, (long long)w->pad);
    w->out = room / w->stride + 1;
    if (p->pooling_convention == CONVENTION_FULL && room % w->stride > 0)
        w->out++;
    return 0;
}

static int pooling_infer(mxl_infer *infer)
{
    const v1_params *p = infer->params;
    const mxl_array *x = infer->in[0];
    const char *name = infer->op->name;
    int64_t y[5];
    windows w;

    if (mxl_check_float(infer->op, x) != 0)
        return -1;
    if (x->ndim != 4 && x->ndim != 5)
        return mxl_error("%s: data must have 4 or 5 axes, got %d", name, x->ndim);
    if (p->kernel.n != x->ndim - 2 && !(p->global_pool && p->kernel.n == 0))
        return mxl_error("%s: kernel must have an entry for each of %d spatial axes, got %d", name,
                         x->ndim - 2, p->kernel.n);
    if (mxl_check_list(name, "kernel", p->kernel, p->kernel.n, 1) != 0 ||
        mxl_check_list(name, "stride", p->stride, x->ndim - 2, 1) != 0 ||
        mxl_check_list(name, "pad", p->pad, x->ndim - 2, -INT32_MAX) != 0)
        return -1;
    y[0] = x->shape[0];
    y[1] = x->shape[1];
    for (int i = 0; i < x->ndim - 2; i++) {
        if (find_windows(name, p, x, i, &w) != 0)
            return -1;
        y[i + 2] = w.out;
    }
    return mxl_infer_set(infer, x->dtype, x->ndim, y);
}

/* ---- maxima ---- */

/* Shape (1, ..., size, ..., 1) of x's dtype: zeros, and -inf from `end` on. */
static mxl_array *tail(mxl_scope *s, const mxl_array *x, int axis, int64_t end, int64_t size)
{
    int64_t shape[5] = {1, 1, 1, 1, 1};
    mxl_array *made;
    double *at;

    shape[axis] = size;
    made = mxl_scope_own(s, mxl_array_new(MXL_F64, x->ndim, shape));
    at = made == NULL ? NULL : mxl_array_write(made);
    for (int64_t i = 0; at != NULL && i < size; i++)
        at[i] = i < end ? 0 : -INFINITY;
    return made == NULL ? NULL : mxl_cast(s, made, x->dtype);
}

/* The positions of an axis that its windows hold: zeros around x, and -inf behind these, for the
 * windows that reach over the end. */
static mxl_array *padded(mxl_scope *s, mxl_array *x, int axis, const windows *w)
{
    int64_t shape[5], end = w->in + 2 * w->pad, size = (w->out - 1) * w->stride + w->kernel;

    size = size > end ? size : end;
    if (w->pad < 0)
        x = mxl_slice_axis(s, x, axis, -w->pad, w->in + w->pad);
    if (x == NULL || size == x->shape[axis])
        return x;
    for (int i = 0; i < x->ndim; i++)
        shape[i] = i == axis ? size : x->shape[i];
    x = mxl_slice_put(s, x, axis, w->pad > 0 ? w->pad : 0, x->ndim, shape);
    return size > end && x != NULL ? mxl_add(s, x, tail(s, x, axis, end, size)) : x;
}

/* The maximum of the windows along one axis. */
static mxl_array *max_along(mxl_scope *s, mxl_array *x, int axis, const windows *w)
{
    int64_t inner, size, to[5];
    int ndim;
    mxl_reduce_params middle = {.axis = {1, (int64_t[]){2}}};
    mxl_strided_params p;

    x = padded(s, x, axis, w);
    if (x == NULL)
        return NULL;
    ndim = x->ndim;
    size = x->shape[axis];
    inner = mxl_shape_size(x->ndim - axis - 1, x->shape + axis + 1);
    for (int i = 0; i < x->ndim; i++)
        to[i] = i == axis ? w->out : x->shape[i];
    p = (mxl_strided_params){
        .shape = {4, (int64_t[]){mxl_shape_size(axis, x->shape), w->out, w->kernel, inner}},
        .strides = {4, (int64_t[]){size * inner, w->stride * inner, inner, 1}}};
    x = mxl_scope_call(s, &mxl_op_as_strided, &p, 1, &x);
    return mxl_reshape(s, mxl_scope_call(s, &mxl_op_max, &middle, 1, &x), ndim, to);
}

/* ---- the operator ---- */

/* The factor of a mean is rounded to float32, as in 1.9.1. */
static mxl_array *pooling_compose(mxl_scope *s, const mxl_call *call)
{
    const v1_params *p = call->params;
    mxl_array *x = call->in[0], *y = x;
    int spatial = x->ndim - 2;
    int64_t kernel[3], stride[3], pad[3], count = 1;

    for (int i = 0; i < spatial; i++) {
        windows w = {0};

        (void)find_windows(call->op->name, p, x, i, &w);
        if (p->pool_type == TYPE_MAX && y != NULL)
            y = max_along(s, y, i + 2, &w);
        kernel[i] = w.kernel;
        stride[i] = w.stride;
        pad[i] = w.pad;
        count *= w.kernel;
    }
    if (p->pool_type == TYPE_MAX)
        return y;
    y = mxl_pool_sums(s, x, (mxl_tuple){spatial, kernel}, (mxl_tuple){spatial, stride},
                      (mxl_tuple){spatial, pad}, p->pooling_convention == CONVENTION_FULL);
    return p->pool_type == TYPE_AVG ? mxl_mul_scalar(s, y, (double)(1 / (float)count)) : y;
}

static const char *const pool_types[] = {"avg", "max", "sum", NULL};
static const char *const conventions[] = {"full", "valid", NULL};

#define FIELD(field, kind, text, ...) MXL_PARAM(v1_params, field, kind, text, __VA_ARGS__)

static const mxl_op op_pooling_v1 = {
    .name = "Pooling_v1",
    .output_names = "output",
    .doc = "An older Pooling of images and volumes: padding counts as zeros, also for a maximum "
           "and in the divisor of a mean, and each of equal largest elements has the gradient.",
    MXL_INPUTS(MXL_INPUT(data, "The batch, of a floating dtype: (batch, channels, rows, columns), "
                               "or with a depth before the rows.")),
    MXL_PARAMS_OF(
        v1_params,
        FIELD(kernel, MXL_P_SHAPE, "[]",
              "Size of the windows along each spatial axis; not needed with global_pool."),
        FIELD(pool_type, MXL_P_ENUM, "max",
              "What becomes of a window: its largest element, its mean or its sum.",
              .values = pool_types),
        FIELD(global_pool, MXL_P_BOOL, "0",
              "Whether one window holds all positions; the other sizes have no effect then."),
        FIELD(pooling_convention, MXL_P_ENUM, "valid",
              "How many windows there are: those that fit (valid), or one more where positions "
              "would be left over (full).",
              .values = conventions),
        FIELD(stride, MXL_P_SHAPE, "[]", "Step from a window to the next; 1 if not given."),
        FIELD(pad, MXL_P_SHAPE, "[]",
              "Zeros at both ends of each axis; negative: positions that are left out. 0 if not "
              "given.")),
    .infer = pooling_infer,
    .compose = pooling_compose,
};

const mxl_op *const mxl_ops_pooling_v1[] = {&op_pooling_v1, NULL};
