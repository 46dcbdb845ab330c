/* Pooling, and the operators of its gradients. Sums and means are linear: Pooling and
 * _mxl_pool_spread are each other's vjp. The maximum takes elements at positions that the input
 * decides: _mxl_pool_max_pick takes, _mxl_pool_max_back puts, and these too are a pair. */
#include "ops/nn/pooling.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#include "ops/nn/images.h"
#include "ops/nn/wide.h"

static const char *const pool_types[] = {"avg", "lp", "max", "sum", NULL};
static const char *const conventions[] = {"full", "same", "valid", NULL};
/* Those with the channels last have an odd place. */
static const char *const layouts[] = {"None", "NCDHW", "NDHWC", "NCHW", "NHWC", "NCW", "NWC", NULL};
static const char layouts_text[] =
    "{None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC', 'NWC'},optional, default='None'";

#define FIELD(field, kind, text, ...) MXL_PARAM(mxl_pooling_params, field, kind, text, __VA_ARGS__)
#define POOLING_PARAMS                                                                             \
    FIELD(kernel, MXL_P_SHAPE, "[]",                                                               \
          "Size of the windows along each spatial axis; not needed with global_pool."),            \
        FIELD(pool_type, MXL_P_ENUM, "max",                                                        \
              "What becomes of a window: its largest element, its mean, its sum, or the root of "  \
              "order p_value of the sum of powers.",                                               \
              .values = pool_types),                                                               \
        FIELD(global_pool, MXL_P_BOOL, "0",                                                        \
              "Whether one window holds all positions; kernel, stride and pad have no effect "     \
              "then."),                                                                            \
        FIELD(cudnn_off, MXL_P_BOOL, "0", "Of no effect here."),                                   \
        FIELD(pooling_convention, MXL_P_ENUM, "valid",                                             \
              "How many windows there are: those that fit (valid), one more where positions "      \
              "would be left over (full), or one for each step of the stride (same; one spatial "  \
              "axis, no padding).",                                                                \
              .values = conventions),                                                              \
        FIELD(stride, MXL_P_SHAPE, "[]", "Step from a window to the next; 1 if not given."),       \
        FIELD(pad, MXL_P_SHAPE, "[]",                                                              \
              "Padding at both ends of each axis, which a maximum ignores; negative: positions "   \
              "that are left out. 0 if not given."),                                               \
        FIELD(p_value, MXL_P_OPT_INT, "None", "Of lp: 1, 2 or 3.",                                 \
              .type_text = "int or None, optional, default='None'"),                               \
        FIELD(count_include_pad, MXL_P_OPT_BOOL, "None",                                           \
              "Whether padding counts in the divisor of a mean; None: yes."),                      \
        FIELD(layout, MXL_P_ENUM, "None",                                                          \
              "The axes of data; None: batch and channels before the spatial ones.",               \
              .values = layouts, .type_text = layouts_text)

/* ---- windows ---- */

bool mxl_pooling_is_last(const mxl_pooling_params *p)
{
    return p->layout != 0 && p->layout % 2 == 0;
}

/* The number of windows of an axis; -1 with the error set. */
static int count_windows(const char *name, const mxl_pooling_params *p, mxl_window *w)
{
    int64_t room = w->in + 2 * w->pad - w->kernel;

    if (w->in >= 0 && room < 0)
        return mxl_error("%s: a window of %lld exceeds an axis of %lld with padding %lld", name,
                         (long long)w->kernel, (long long)w->in, (long long)w->pad);
    if (p->pooling_convention == MXL_POOLING_SAME) {
        w->out = w->in / w->stride + (w->in % w->stride > 0);
        return 0;
    }
    w->out = room / w->stride + 1;
    if (p->pooling_convention == MXL_POOLING_FULL && room % w->stride > 0)
        w->out++;
    return 0;
}

static int check_windows(const char *name, const mxl_pooling_params *p, int spatial)
{
    bool is_same = p->pooling_convention == MXL_POOLING_SAME;

    if (p->kernel.n != spatial && !(p->global_pool && p->kernel.n == 0))
        return mxl_error("%s: kernel must have an entry for each of %d spatial axes, got %d", name,
                         spatial, p->kernel.n);
    if (mxl_check_list(name, "kernel", p->kernel, spatial, 1) != 0 ||
        mxl_check_list(name, "stride", p->stride, spatial, 1) != 0)
        return -1;
    for (int i = 0; is_same && i < p->pad.n; i++) {
        if (p->pad.v[i] != 0)
            return mxl_error("%s: the convention same has no padding, got %lld", name,
                             (long long)p->pad.v[i]);
    }
    if (is_same && spatial != 1)
        return mxl_error("%s: the convention same is for one spatial axis, got %d", name, spatial);
    return is_same ? 0 : mxl_check_list(name, "pad", p->pad, spatial, -INT32_MAX);
}

int mxl_pooling_windows(const char *name, const mxl_pooling_params *p, int ndim,
                        const int64_t *shape, mxl_pool *pool)
{
    int spatial = ndim - 2, first = mxl_pooling_is_last(p) ? 1 : 2;

    if (ndim < 3 || ndim > 5)
        return mxl_error("%s: data must have 3, 4 or 5 axes, got %d", name, ndim);
    if (p->layout != 0 && (p->layout - 1) / 2 != 3 - spatial)
        return mxl_error("%s: layout %s does not fit data of %d axes", name, layouts[p->layout],
                         ndim);
    if (check_windows(name, p, spatial) != 0)
        return -1;
    *pool = (mxl_pool){.outer = mxl_pooling_is_last(p) ? shape[0] : mxl_shape_size(2, shape),
                       .inner = mxl_pooling_is_last(p) ? shape[ndim - 1] : 1,
                       .power = 1};
    for (int i = 0; i < 3; i++) {
        mxl_window *w = &pool->axis[i];
        int at = i - (3 - spatial);

        *w = (mxl_window){.in = 1, .out = 1, .kernel = 1, .stride = 1};
        if (at < 0)
            continue;
        w->in = shape[first + at];
        if (p->global_pool) {
            w->kernel = w->in > 0 ? w->in : 1;
            continue;
        }
        w->kernel = p->kernel.v[at];
        w->stride = mxl_tuple_entry(p->stride, at, 1);
        w->pad = p->pooling_convention == MXL_POOLING_SAME ? 0 : mxl_tuple_entry(p->pad, at, 0);
        if (count_windows(name, p, w) != 0)
            return -1;
    }
    if (p->pool_type == MXL_POOLING_AVG)
        pool->divide = p->count_include_pad != 0 ? MXL_POOL_MEAN_PADDED : MXL_POOL_MEAN_INSIDE;
    if (p->pool_type == MXL_POOLING_LP)
        pool->power = (int)p->p_value;
    return 0;
}

/* Sets the shape of the pooled array. */
static int set_pooled(mxl_infer *infer, const mxl_array *x)
{
    mxl_shape *out = &infer->out_shape[0];
    const mxl_pooling_params *p = infer->params;
    mxl_pool pool;

    if (mxl_check_float(infer->op, x) != 0 ||
        mxl_pooling_windows(infer->op->name, p, x->ndim, x->shape, &pool) != 0)
        return -1;
    mxl_shape_set(out, x->ndim, x->shape);
    for (int i = 0; i < x->ndim - 2; i++)
        out->dim[i + (mxl_pooling_is_last(p) ? 1 : 2)] = pool.axis[i + 5 - x->ndim].out;
    infer->out_dtype[0] = x->dtype;
    return 0;
}

/* The windows of a call whose infer has accepted them. */
static mxl_pool windows_of(const mxl_call *call, int dtype, int ndim, const int64_t *shape)
{
    mxl_pool pool = {.outer = 0};

    (void)mxl_pooling_windows(call->op->name, call->params, ndim, shape, &pool);
    pool.dtype = dtype;
    return pool;
}

/* The start of a maximum, as in 1.9.1: the lowest finite number. */
static double lowest_of(const mxl_array *x)
{
    return x->dtype == MXL_F64 ? -DBL_MAX : x->dtype == MXL_F32 ? -(double)FLT_MAX : -65504;
}

/* ---- sums and means: the adjoint ---- */

static const mxl_op op_spread;

static int spread_infer(mxl_infer *infer)
{
    const mxl_pooling_params *p = infer->params;
    const mxl_array *dy = infer->in[0];
    mxl_array like = {.dtype = dy->dtype, .ndim = p->shape.n};
    int64_t shape[MXL_MAX_NDIM];
    mxl_shape *out = &infer->out_shape[0];

    if (p->pool_type != MXL_POOLING_AVG && p->pool_type != MXL_POOLING_SUM)
        return mxl_error("%s: pool_type must be avg or sum", infer->op->name);
    if (p->shape.n > MXL_MAX_NDIM || mxl_shape_count(p->shape.n, p->shape.v) < 0)
        return mxl_error("%s: shape is no valid one", infer->op->name);
    for (int i = 0; i < p->shape.n; i++)
        shape[i] = p->shape.v[i];
    like.shape = shape;
    if (set_pooled(infer, &like) != 0)
        return -1;
    if (!mxl_shape_same(dy->ndim, dy->shape, out->ndim, out->dim))
        return mxl_error("%s: data has shape %s, the windows have %s", infer->op->name,
                         MXL_SHAPE_OF(dy), MXL_SHAPE_TEXT(out->ndim, out->dim));
    return mxl_infer_to(infer, p->shape);
}

static int spread_compute(const mxl_call *call)
{
    const mxl_array *dx = call->out[0];
    mxl_wide wide;
    mxl_pool pool;

    if (mxl_wide_begin(&wide, call) != 0)
        return -1;
    pool = windows_of(call, wide.dtype, dx->ndim, dx->shape);
    mxl_pool_spread(&pool, mxl_array_read(wide.in[0]), mxl_array_write(wide.out));
    return mxl_wide_end(&wide, 0);
}

/* The vjp is the mean or the sum itself. */
static int spread_grad(mxl_grad *g)
{
    mxl_pooling_params p = *(const mxl_pooling_params *)g->params;

    p.shape = (mxl_tuple){0, NULL};
    return mxl_grad_set(g, 0, mxl_scope_call(g->s, &mxl_op_pooling, &p, 1, g->grad_output));
}

static const mxl_op op_spread = {
    .name = "_mxl_pool_spread",
    .doc = "The vjp of the pooling of sums and means: each element spread over its window.",
    MXL_PARAMS_OF(mxl_pooling_params, POOLING_PARAMS,
                  FIELD(shape, MXL_P_SHAPE, MXL_REQUIRED, "Shape of the result.")),
    .infer = spread_infer,
    .compute = spread_compute,
    .grad = spread_grad,
};

/* dy spread over the windows of the sum or mean of an array like input 0. */
static mxl_array *spread(mxl_grad *g, int pool_type, mxl_array *dy)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    mxl_pooling_params p = *(const mxl_pooling_params *)g->params;

    p.pool_type = pool_type;
    p.shape = (mxl_tuple){x->ndim, x->shape};
    return mxl_scope_call(g->s, &op_spread, &p, 1, &dy);
}

/* ---- maximum: elements at the largest ones ---- */

static const mxl_op op_max_back, op_max_pick;

/* Elements of `from` at the largest ones of data. */
static int pick_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0], *from = infer->in[1];

    if (!mxl_array_same_shape(x, from) || x->dtype != from->dtype)
        return mxl_error("%s: the arrays differ in dtype or shape: %s and %s", infer->op->name,
                         MXL_SHAPE_OF(x), MXL_SHAPE_OF(from));
    return set_pooled(infer, x);
}

static int back_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0], *dy = infer->in[1];
    const mxl_shape *out = &infer->out_shape[0];

    if (set_pooled(infer, x) != 0 || mxl_check_dtypes(infer->op, x, dy) != 0)
        return -1;
    if (!mxl_shape_same(dy->ndim, dy->shape, out->ndim, out->dim))
        return mxl_error("%s: data has shape %s, the windows have %s", infer->op->name,
                         MXL_SHAPE_OF(dy), MXL_SHAPE_TEXT(out->ndim, out->dim));
    return mxl_infer_like_first(infer);
}

/* Moves elements of the second input to or from the largest ones of the first. */
static int moved_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0];
    mxl_wide wide;
    mxl_pool pool;

    if (mxl_wide_begin(&wide, call) != 0)
        return -1;
    pool = windows_of(call, wide.dtype, x->ndim, x->shape);
    (call->op == &op_max_pick ? mxl_pool_max_pick : mxl_pool_max_back)(
        &pool, lowest_of(x), mxl_array_read(wide.in[0]), mxl_array_read(wide.in[1]),
        mxl_array_write(wide.out));
    return mxl_wide_end(&wide, 0);
}

/* The vjp with respect to what is moved is the other operator; the positions have no gradient. */
static int moved_grad(mxl_grad *g)
{
    const mxl_op *op = g->op == &op_max_back ? &op_max_pick : &op_max_back;
    mxl_array *inputs[2];

    if (!mxl_grad_wants(g, 1))
        return 0;
    inputs[0] = mxl_grad_in(g, 0);
    inputs[1] = g->grad_output[0];
    return mxl_grad_set(g, 1, mxl_scope_call(g->s, op, g->params, 2, inputs));
}

static void moved_saves(mxl_saves *saves)
{
    saves->in[0] = saves->wants[1];
}

/* The operator op_ID. */
#define MOVED(id, op_name, other, op_infer, text)                                                  \
    static const mxl_op op_##id = {                                                                \
        .name = op_name,                                                                           \
        .doc = text,                                                                               \
        MXL_INPUTS(MXL_INPUT(data, "The array whose windows have maxima."),                        \
                   MXL_INPUT(moved, other)),                                                       \
        MXL_PARAMS_OF(mxl_pooling_params, POOLING_PARAMS),                                         \
        .infer = op_infer,                                                                         \
        .compute = moved_compute,                                                                  \
        .grad = moved_grad,                                                                        \
        .by_rows = true,                                                                           \
        .saves = moved_saves,                                                                      \
    }

MOVED(max_back, "_mxl_pool_max_back", "An element for each window.", back_infer,
      "The vjp of the pooling of maxima: zeros with elements added where the windows of data have "
      "the first of their largest elements.");
MOVED(max_pick, "_mxl_pool_max_pick", "An array like data.", pick_infer,
      "The elements at the places where the windows of data have the first of their largest "
      "elements; 0 for a window without one.");

/* ---- Pooling ---- */

static int pooling_check(void *params)
{
    const mxl_pooling_params *p = params;

    if (p->pool_type != MXL_POOLING_LP)
        return 0;
    if (p->p_value == MXL_NONE)
        return mxl_error("Pooling: lp needs a p_value of 1, 2 or 3");
    if (p->p_value < 1 || p->p_value > 3)
        return mxl_error("Pooling: p_value must be 1, 2 or 3, got %lld", (long long)p->p_value);
    return 0;
}

static int pooling_infer(mxl_infer *infer)
{
    const mxl_pooling_params *p = infer->params;
    mxl_pool pool;

    if (set_pooled(infer, infer->in[0]) != 0)
        return -1;
    (void)mxl_pooling_windows("Pooling", p, infer->in[0]->ndim, infer->in[0]->shape, &pool);
    if (mxl_shape_size(3, (int64_t[]){pool.axis[0].in, pool.axis[1].in, pool.axis[2].in}) >
        INT32_MAX)
        return mxl_error("Pooling: a channel may have up to %d positions", (int)INT32_MAX);
    return 0;
}

/* The root of the sums of powers, in place. */
static void take_roots(int64_t order, mxl_array *y)
{
    const int64_t n = y->size;
    double *f64 = mxl_array_write(y);
    float *f32 = (float *)f64;

    for (int64_t i = 0; order > 1 && i < n; i++) {
        if (y->dtype == MXL_F64)
            f64[i] = order == 2 ? sqrt(f64[i]) : cbrt(f64[i]);
        else
            f32[i] = order == 2 ? sqrtf(f32[i]) : cbrtf(f32[i]);
    }
}

static int pooling_compute(const mxl_call *call)
{
    const mxl_pooling_params *p = call->params;
    const mxl_array *x = call->in[0];
    mxl_wide wide;
    mxl_pool pool;

    if (mxl_wide_begin(&wide, call) != 0)
        return -1;
    pool = windows_of(call, wide.dtype, x->ndim, x->shape);
    if (p->pool_type == MXL_POOLING_MAX) {
        mxl_pool_max(&pool, lowest_of(x), mxl_array_read(wide.in[0]), mxl_array_write(wide.out));
    } else {
        mxl_pool_sum(&pool, mxl_array_read(wide.in[0]), mxl_array_write(wide.out));
        take_roots(pool.power, wide.out);
    }
    return mxl_wide_end(&wide, 0);
}

/* y = (sum x^p)^(1/p): dx = x^(p - 1) * spread(dy / y^(p - 1)), where 0 / 0 counts as 0 */
static mxl_array *lp_grad(mxl_grad *g, int64_t order)
{
    mxl_scope *s = g->s;
    mxl_array *x, *y, *none, *share;

    if (order == 1)
        return spread(g, MXL_POOLING_SUM, g->grad_output[0]);
    x = mxl_grad_in(g, 0);
    y = mxl_grad_out(g, 0);
    none = mxl_equal(s, y, mxl_zeros_like(s, y));
    y = mxl_add(s, y, none);
    share = mxl_mul(s, g->grad_output[0], mxl_one_minus(s, none));
    share = mxl_div(s, share, order == 2 ? y : mxl_square(s, y));
    return mxl_mul(s, order == 2 ? x : mxl_square(s, x), spread(g, MXL_POOLING_SUM, share));
}

/* dx: zeros with dy at the first of the largest elements, or dy spread over the windows. */
static int pooling_grad(mxl_grad *g)
{
    const mxl_pooling_params *p = g->params;
    mxl_array *inputs[2];

    if (p->pool_type == MXL_POOLING_LP)
        return mxl_grad_set(g, 0, lp_grad(g, p->p_value));
    if (p->pool_type != MXL_POOLING_MAX)
        return mxl_grad_set(g, 0, spread(g, p->pool_type, g->grad_output[0]));
    inputs[0] = mxl_grad_decides(g, 0);
    inputs[1] = g->grad_output[0];
    return mxl_grad_set(g, 0, mxl_scope_call(g->s, &op_max_back, p, 2, inputs));
}

static void pooling_saves(mxl_saves *saves)
{
    const mxl_pooling_params *p = saves->params;
    bool takes_roots = p->pool_type == MXL_POOLING_LP && p->p_value > 1;

    saves->in[0] = p->pool_type == MXL_POOLING_MAX || takes_roots;
    saves->out[0] = takes_roots;
}

/* 1.9.1 keeps a second one of the largest elements. */
static int pooling_outputs(const void *params)
{
    return ((const mxl_pooling_params *)params)->pool_type == MXL_POOLING_MAX ? 2 : 0;
}

const mxl_param mxl_pooling_table[] = {POOLING_PARAMS, {0}};

const mxl_op mxl_op_pooling = {
    .name = "Pooling",
    .by_rows = true,
    .aliases = MXL_ALIASES("_npx_pooling"),
    .doc = "The largest element, the mean, the sum or the norm of windows that slide over the "
           "spatial axes of a batch of images, signals or volumes. Of equal largest elements the "
           "first one has the gradient.",
    MXL_INPUTS(MXL_INPUT(data, "The batch, of a floating dtype: (batch, channels, ...) with one to "
                               "three spatial axes, or in another layout.")),
    MXL_PARAMS(mxl_pooling_params, mxl_pooling_table),
    .check = pooling_check,
    .output_names = "output workspace",
    .count_outputs = pooling_outputs,
    .infer = pooling_infer,
    .compute = pooling_compute,
    .cheap = true,
    .grad = pooling_grad,
    .saves = pooling_saves,
};

mxl_array *mxl_pool_sums(mxl_scope *s, mxl_array *x, mxl_tuple kernel, mxl_tuple stride,
                         mxl_tuple pad, bool full)
{
    const mxl_pooling_params p = {.kernel = kernel,
                                  .pool_type = MXL_POOLING_SUM,
                                  .pooling_convention = full ? MXL_POOLING_FULL : MXL_POOLING_VALID,
                                  .stride = stride,
                                  .pad = pad,
                                  .p_value = MXL_NONE};

    return mxl_scope_call(s, &mxl_op_pooling, &p, 1, &x);
}

const mxl_op *const mxl_ops_pooling[] = {&mxl_op_pooling, &op_spread, &op_max_back, &op_max_pick,
                                         NULL};
