/* Fourier transforms: _mxl_fft, of which _contrib_fft and _contrib_ifft are composed. Complex
 * numbers are pairs, along a last axis of size 2. */
#include <stddef.h>

#include "array/copy.h"
#include "kernel/fourier/fft.h"
#include "ops/shape/movement.h"

typedef struct fft_params {
    mxl_tuple axes;
    int kind; /* mxl_fft_kind */
    int inverse;
    int64_t n;
    double scale, middle;
} fft_params;

static const char *const fft_kinds[] = {"pairs", "from_real", "to_real", NULL};

/* ---- shapes ---- */

/* The axes of numbers: a pair is one. */
static int number_axes(int kind, int ndim)
{
    return kind == MXL_FFT_FROM_REAL ? ndim : ndim - 1;
}

/* The axes, counted from 0; -1 with the error set. */
static int read_axes(const char *name, const fft_params *p, int ndim, int axes[MXL_MAX_NDIM])
{
    bool seen[MXL_MAX_NDIM] = {false};

    if (p->axes.n < 1 || p->axes.n > ndim)
        return mxl_error("%s: axes must be 1 to %d, got %d", name, ndim, (int)p->axes.n);
    for (int i = 0; i < p->axes.n; i++) {
        axes[i] = mxl_shape_axis(p->axes.v[i], ndim);
        if (axes[i] < 0)
            return mxl_error_prefix(name);
        if (seen[axes[i]])
            return mxl_error("%s: axis %d is there twice", name, axes[i]);
        seen[axes[i]] = true;
    }
    return 0;
}

static int fft_infer(mxl_infer *infer)
{
    const fft_params *p = infer->params;
    const mxl_array *x = infer->in[0];
    const char *name = infer->op->name;
    int axes[MXL_MAX_NDIM], ndim = number_axes(p->kind, x->ndim), last;
    mxl_shape *out = &infer->out_shape[0];
    int64_t two = 2;

    if (!mxl_dtype_is_float(x->dtype))
        return mxl_error("%s: takes floats, got %s", name, mxl_dtype_name(x->dtype));
    if (p->kind != MXL_FFT_FROM_REAL && (x->ndim < 1 || x->shape[ndim] != 2))
        return mxl_error("%s: the last axis of pairs must have size 2", name);
    if (read_axes(name, p, ndim, axes) != 0)
        return -1;
    for (int i = 0; i < p->axes.n; i++) {
        if (x->shape[axes[i]] == 0)
            return mxl_error("%s: axis %d has no elements", name, axes[i]);
    }
    last = axes[p->axes.n - 1];
    infer->out_dtype[0] = x->dtype;
    mxl_shape_set(out, ndim, x->shape);
    if (p->kind == MXL_FFT_TO_REAL) {
        if (p->n < 1 || p->n / 2 + 1 != x->shape[last])
            return mxl_error("%s: n must be %lld or %lld for %lld pairs, got %lld", name,
                             2 * (long long)x->shape[last] - 2, 2 * (long long)x->shape[last] - 1,
                             (long long)x->shape[last], (long long)p->n);
        out->dim[last] = p->n;
        return 0;
    }
    if (p->kind == MXL_FFT_FROM_REAL)
        out->dim[last] = x->shape[last] / 2 + 1;
    return mxl_infer_append(infer, 1, &two);
}

/* ---- compute ---- */

/* Along the axes one after another; `pairs` is the array that has them all: the input or output, or
 * of MXL_FFT_TO_REAL room for the input where it has several axes. */
static int run_axes(const fft_params *p, const mxl_array *in, mxl_array *out, void *pairs)
{
    int axes[MXL_MAX_NDIM], ndim = number_axes(p->kind, in->ndim), count = p->axes.n;
    const int64_t *shape = p->kind == MXL_FFT_FROM_REAL ? out->shape : in->shape;
    const void *from = mxl_array_read(in);
    void *to = mxl_array_write(out);
    mxl_fft_job job = {.dtype = in->dtype, .inverse = p->inverse != 0, .middle = p->middle};

    if (read_axes("_mxl_fft", p, ndim, axes) != 0)
        return -1;
    for (int i = 0; i < count; i++) {
        /* the last of the axes has real numbers: it is first or last */
        int place = p->kind == MXL_FFT_TO_REAL ? i : count - 1 - i, axis = axes[place];
        bool ends = place == count - 1;

        job.kind = ends ? (mxl_fft_kind)p->kind : MXL_FFT_PAIRS;
        job.scale = ends ? p->scale : 1;
        job.outer = mxl_shape_size(axis, shape);
        job.inner = mxl_shape_size(ndim - axis - 1, shape + axis + 1);
        job.n = !ends ? shape[axis] : p->kind == MXL_FFT_TO_REAL ? p->n : in->shape[axis];
        job.in = i == 0 ? from : pairs;
        job.out = ends ? to : pairs;
        if (mxl_fft(&job) != 0)
            return -1;
    }
    return 0;
}

static int compute_wide(const fft_params *p, const mxl_array *in, mxl_array *out)
{
    mxl_array *room;
    int status;

    if (p->kind != MXL_FFT_TO_REAL || p->axes.n == 1)
        return run_axes(p, in, out, mxl_array_write(out));
    room = mxl_array_new(in->dtype, in->ndim, in->shape);
    status = room == NULL ? -1 : run_axes(p, in, out, mxl_array_write(room));
    mxl_array_release(room);
    return status;
}

/* float16 is computed in float32. */
static int fft_compute(const mxl_call *call)
{
    const mxl_array *in = call->in[0];
    mxl_array *out = call->out[0], *wide, *result;
    int status = -1;

    if (in->dtype != MXL_F16)
        return compute_wide(call->params, in, out);
    wide = mxl_array_new(MXL_F32, in->ndim, in->shape);
    result = mxl_array_new(MXL_F32, out->ndim, out->shape);
    if (wide != NULL && result != NULL && mxl_array_copy_into(wide, in) == 0 &&
        compute_wide(call->params, wide, result) == 0)
        status = mxl_array_copy_into(out, result);
    mxl_array_release(wide);
    mxl_array_release(result);
    return status;
}

/* dx = the transform of dy with the other sign, from real numbers where this one is to them */
static int fft_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    fft_params p = *(const fft_params *)g->params;
    int last = mxl_shape_axis(p.axes.v[p.axes.n - 1], number_axes(p.kind, x->ndim));

    p.inverse = !p.inverse;
    p.n = x->shape[last];
    p.kind = p.kind == MXL_FFT_FROM_REAL ? MXL_FFT_TO_REAL
             : p.kind == MXL_FFT_TO_REAL ? MXL_FFT_FROM_REAL
                                         : MXL_FFT_PAIRS;
    return mxl_grad_set(g, 0, mxl_scope_call(g->s, g->op, &p, 1, g->grad_output));
}

static const mxl_op op_fft = {
    .name = "_mxl_fft",
    .doc = "The discrete Fourier transform along axes, of any length: y[k] is the sum over j of "
           "x[j] e^(-2 pi i j k / n). Complex numbers are pairs, along a last axis of size 2, "
           "which the parameter axes does not count. From n real numbers it makes n / 2 + 1 pairs "
           "along the last of the axes, as the others are their conjugates, and to real numbers "
           "it takes these.",
    MXL_INPUTS(MXL_INPUT(data, "Pairs; with the kind from_real, real numbers.")),
    MXL_PARAMS_OF(
        fft_params,
        MXL_PARAM(fft_params, axes, MXL_P_SHAPE, "[-1]", "The axes, counted from either end."),
        MXL_PARAM(fft_params, kind, MXL_P_ENUM, "pairs",
                  "Whether input and output are pairs, or one of them real numbers.",
                  .values = fft_kinds),
        MXL_PARAM(fft_params, inverse, MXL_P_BOOL, "0",
                  "Whether the exponents have the other sign."),
        MXL_PARAM(fft_params, n, MXL_P_INT, "0",
                  "To real numbers: how many there are along the last of the axes."),
        MXL_PARAM(fft_params, scale, MXL_P_FLOAT, "1", "What the results are multiplied with."),
        MXL_PARAM(fft_params, middle, MXL_P_FLOAT, "1",
                  "From or to real numbers: what the pairs are multiplied with that have a "
                  "conjugate. With 2 the results to real numbers are those of all n pairs.")),
    .infer = fft_infer,
    .compute = fft_compute,
    .grad = fft_grad,
};

/* ---- 1.9.1's operators of rows, whose pairs lie one after another ---- */

typedef struct rows_params {
    int64_t compute_size;
} rows_params;

#define COMPUTE_SIZE                                                                               \
    MXL_PARAMS_OF(rows_params, MXL_PARAM(rows_params, compute_size, MXL_P_INT, "128",              \
                                         "Rows at a time on a GPU; ignored."))

/* Pairs, along the last axis of numbers. */
static mxl_array *transform_rows(mxl_scope *s, mxl_array *pairs, bool inverse)
{
    int64_t last = -1;
    fft_params p = {.axes = {1, &last}, .inverse = inverse, .scale = 1, .middle = 1};

    return mxl_scope_call(s, &op_fft, &p, 1, &pairs);
}

static mxl_array *rows_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *x = call->in[0], *parts[2];
    int ndim = x->ndim;
    mxl_shape to;

    mxl_shape_set(&to, ndim, x->shape);
    to.dim[ndim - 1] *= 2;
    parts[0] = mxl_expand_dims(s, x, ndim);
    parts[1] = mxl_zeros_like(s, parts[0]);
    return mxl_reshape(s, transform_rows(s, mxl_concat(s, 2, parts, ndim), false), ndim, to.dim);
}

static mxl_array *rows_back_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *x = call->in[0];
    int ndim = x->ndim;
    mxl_shape pairs;

    if (ndim == MXL_MAX_NDIM) {
        mxl_error("_contrib_ifft: at most %d axes, got %d", MXL_MAX_NDIM - 1, ndim);
        return mxl_scope_own(s, NULL);
    }
    mxl_shape_set(&pairs, ndim, x->shape);
    pairs.dim[ndim - 1] /= 2;
    pairs.dim[ndim] = 2;
    x = transform_rows(s, mxl_reshape(s, x, ndim + 1, pairs.dim), true);
    return mxl_select_at(s, x, ndim, 0);
}

static const mxl_op op_rows = {
    .name = "_contrib_fft",
    .doc = "The discrete Fourier transform of each row of real numbers; real and imaginary parts "
           "lie one after another: (real, imaginary, real, ...).",
    MXL_INPUTS(MXL_INPUT(data, "Rows of d real numbers.")),
    COMPUTE_SIZE,
    MXL_SHAPES("data[*S,D] -> [*S,D*2]"),
    .dtypes = "F>F",
    .compose = rows_compose,
};

static const mxl_op op_rows_back = {
    .name = "_contrib_ifft",
    .doc = "The real part of the inverse transform of rows as _contrib_fft makes them, without the "
           "factor 1 / d: _contrib_ifft(_contrib_fft(x)) is d x.",
    MXL_INPUTS(MXL_INPUT(data, "Rows of d pairs, which lie one after another.")),
    COMPUTE_SIZE,
    MXL_SHAPES("data[*S,D*2] -> [*S,D]"),
    .dtypes = "F>F",
    .compose = rows_back_compose,
};

const mxl_op *const mxl_ops_fourier[] = {&op_fft, &op_rows, &op_rows_back, NULL};
