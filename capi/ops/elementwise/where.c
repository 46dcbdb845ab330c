/* clip, smooth_l1, quadratic and where. */
#include <stddef.h>
#include <string.h>

#include "array/copy.h"
#include "base/thread.h"
#include "ops/elementwise/elementwise.h"

/* ---- clip ---- */

static const mxl_param clip_params_table[] = {
    MXL_PARAM(mxl_clip_params, a_min, MXL_P_FLOAT, MXL_REQUIRED, "Smallest value of the result."),
    MXL_PARAM(mxl_clip_params, a_max, MXL_P_FLOAT, MXL_REQUIRED, "Largest value of the result."),
    {0},
};

#define LOW  (((const mxl_clip_params *)params)->a_min)
#define HIGH (((const mxl_clip_params *)params)->a_max)

/* A limit as uint64; beyond its range the nearest of its numbers. */
static uint64_t u64_limit(double v)
{
    return v >= 0x1p64 ? UINT64_MAX : v > 0 ? (uint64_t)v : 0;
}

/* Compared as doubles; for integers the limits are truncated when they become the result. */
#define CLIP_ROW(fn, T, limit)                                                                     \
    static void fn(void *out, const void *const *in, const int64_t *step, int64_t n,               \
                   const void *params)                                                             \
    {                                                                                              \
        const double low = LOW, high = HIGH;                                                       \
        const T least = limit(low), most = limit(high);                                            \
        const T *const a = in[0];                                                                  \
        T *const z = out;                                                                          \
                                                                                                   \
        (void)step;                                                                                \
        for (int64_t i = 0; i < n; i++)                                                            \
            z[i] = (double)a[i] > high ? most : (double)a[i] < low ? least : a[i];                 \
    }

CLIP_ROW(clip_f32, float, (float))
CLIP_ROW(clip_f64, double, (double))
CLIP_ROW(clip_u8, uint8_t, mxl_u8_from_f64)
CLIP_ROW(clip_i8, int8_t, mxl_i8_from_f64)
CLIP_ROW(clip_i32, int32_t, mxl_i32_from_f64)
CLIP_ROW(clip_i64, int64_t, mxl_i64_from_f64)
CLIP_ROW(clip_u64, uint64_t, u64_limit)
MXL_UNARY_LOOP(clip_f16, f16, (double)x > HIGH ? HIGH : (double)x < LOW ? LOW : (double)x)
MXL_WEIGHED_TABLE(clip, 1, MXL_CODE_NONE);

/* dx = dy where neither limit applies, or x is NaN */
static int clip_grad(mxl_grad *g)
{
    const mxl_clip_params *p = g->params;
    mxl_array *x = mxl_grad_decides(g, 0);
    mxl_array *over = mxl_apply_scalar(g->s, &mxl_op_greater_scalar, x, p->a_max);
    mxl_array *under = mxl_apply_scalar(g->s, &mxl_op_lesser_scalar, x, p->a_min);

    return mxl_grad_set(g, 0, mxl_zero_where(g->s, mxl_add(g->s, over, under), g->grad_output[0]));
}

/* dx = dy where x is between the limits (NaN is not) */
static int clamp_grad(mxl_grad *g)
{
    const mxl_clip_params *p = g->params;
    mxl_array *x = mxl_grad_decides(g, 0);
    mxl_array *low = mxl_apply_scalar(g->s, &mxl_op_greater_equal_scalar, x, p->a_min);
    mxl_array *high = mxl_apply_scalar(g->s, &mxl_op_lesser_equal_scalar, x, p->a_max);
    mxl_array *within = mxl_mul(g->s, low, high);

    return mxl_grad_set(
        g, 0, mxl_where(g->s, within, g->grad_output[0], mxl_zeros_like(g->s, g->grad_output[0])));
}

#define CLIP(op_symbol, op_name, op_aliases, op_doc, ...)                                          \
    const mxl_op op_symbol = {                                                                     \
        .name = op_name,                                                                           \
        .aliases = op_aliases,                                                                     \
        .doc = op_doc,                                                                             \
        MXL_PARAMS(mxl_clip_params, clip_params_table),                                            \
        .infer = mxl_infer_same,                                                                   \
        MXL_LOOPS(clip),                                                                           \
        .u64_loop = clip_u64,                                                                      \
        .saves = mxl_saves_input,                                                                  \
        .grad = __VA_ARGS__,                                                                       \
    }

/* Where 0 lies between the limits, zeros stay. */
static bool clip_stypes(mxl_stypes *call)
{
    const mxl_clip_params *p = call->params;

    return p->a_min <= 0 && p->a_max >= 0 && mxl_sparse_keeps_zeros.stypes(call);
}

static int clip_sparse(const mxl_call *call)
{
    return mxl_sparse_keeps_zeros.compute(call);
}

static const mxl_sparse_forms clip_forms = {.stypes = clip_stypes, .compute = clip_sparse};

CLIP(mxl_op_clip, "clip", MXL_ALIASES("_npi_clip", "_sparse_clip"),
     "Each element, but a_max where it is above that, else a_min where it is below; NaN stays.",
     clip_grad, .sparse = &clip_forms, .node_name = "ClampBackward1");
/* PyTorch, whose function this is, has another order of the comparisons, which then counts. */
static int clamp_check(void *params)
{
    if (LOW > HIGH)
        return mxl_error("clamp: a_min is %g, above a_max, %g", LOW, HIGH);
    return 0;
}

static CLIP(op_clamp, "_mxl_clamp", NULL, "clip, without a gradient where the element is NaN.",
            clamp_grad, .check = clamp_check);

mxl_array *mxl_clip(mxl_scope *s, mxl_array *x, double a_min, double a_max)
{
    mxl_clip_params p = {a_min, a_max};

    return mxl_scope_call(s, &mxl_op_clip, &p, 1, &x);
}

/* ---- smooth_l1 ---- */

MXL_PLAIN_KERNELS(smooth_l1, MXL_SCALAR_LOOP,
                  x > 1 / (s * s)    ? x - 1 / (s * s) / 2
                  : x < -1 / (s * s) ? -x - 1 / (s * s) / 2
                                     : (s * x) * (s * x) / 2);

/* dx = dy * (s^2 x, clamped to [-1, 1]) */
static int smooth_l1_grad(mxl_grad *g)
{
    double s = mxl_grad_scalar(g);
    mxl_array *derivative = mxl_clip(g->s, mxl_mul_scalar(g->s, mxl_grad_in(g, 0), s * s), -1, 1);

    return mxl_grad_times(g, 0, derivative);
}

static const mxl_op op_smooth_l1 = {
    .name = "smooth_l1",
    .aliases = MXL_ALIASES("_npx_smooth_l1"),
    .doc = "(scalar x)^2 / 2 where |x| <= 1 / scalar^2, else |x| - 1 / (2 scalar^2).",
    MXL_PARAMS_OF(mxl_scalar_params,
                  MXL_PARAM(mxl_scalar_params, scalar, MXL_P_FLOAT, "1",
                            "sigma: the square turns into a line at 1 / sigma^2.",
                            .type_text = "float"),
                  MXL_PARAM(mxl_scalar_params, is_int, MXL_P_BOOL, "1",
                            "Of no effect here; 1.9.1 takes it, but does not list it.")),
    .infer = mxl_infer_same,
    MXL_LOOPS(smooth_l1),
    .grad = smooth_l1_grad,
    .saves = mxl_saves_input,
};

/* ---- quadratic ---- */

typedef struct quadratic_params {
    double a;
    double b;
    double c;
} quadratic_params;

#define COEFFICIENT(letter, text) MXL_PARAM(quadratic_params, letter, MXL_P_FLOAT, "0", text)

static inline double quadratic_of(double x, const void *params)
{
    const quadratic_params *p = params;

    return (p->a * x + p->b) * x + p->c;
}

MXL_PLAIN_KERNELS(quadratic, MXL_UNARY_LOOP, quadratic_of(x, params));

/* dx = dy * (2 a x + b) */
static int quadratic_grad(mxl_grad *g)
{
    const quadratic_params *p = g->params;
    mxl_array *derivative =
        mxl_add_scalar(g->s, mxl_mul_scalar(g->s, mxl_grad_in(g, 0), 2 * p->a), p->b);

    return mxl_grad_times(g, 0, derivative);
}

static const mxl_op op_quadratic = {
    .name = "_contrib_quadratic",
    .inputs = mxl_inputs_data,
    .doc = "a x^2 + b x + c of each element.",
    MXL_PARAMS_OF(quadratic_params, COEFFICIENT(a, "Factor of x^2."),
                  COEFFICIENT(b, "Factor of x."), COEFFICIENT(c, "The number to add.")),
    .infer = mxl_infer_same,
    MXL_LOOPS(quadratic),
    .grad = quadratic_grad,
    .saves = mxl_saves_input,
};

/* ---- where ---- */

static int where_infer(mxl_infer *infer)
{
    const mxl_array *c = infer->in[0], *x = infer->in[1], *y = infer->in[2];

    if (x->dtype != y->dtype)
        return mxl_error("where: x and y have dtypes %s and %s; they must be the same",
                         mxl_dtype_name(x->dtype), mxl_dtype_name(y->dtype));
    if (!mxl_array_same_shape(x, y))
        return mxl_error("where: x and y have shapes %s and %s; they must be the same",
                         MXL_SHAPE_OF(x), MXL_SHAPE_OF(y));
    if (!mxl_array_same_shape(c, x) && !(c->ndim == 1 && x->ndim > 0 && c->shape[0] == x->shape[0]))
        return mxl_error("where: the condition has shape %s, which is neither that of x, %s, nor "
                         "one number per row",
                         MXL_SHAPE_OF(c), MXL_SHAPE_OF(x));
    return mxl_infer_set(infer, x->dtype, x->ndim, x->shape);
}

typedef struct where_job {
    const uint8_t *condition;
    const char *x, *y;
    char *z;
    size_t width;
    int64_t each; /* elements per number of the condition */
} where_job;

/* Selects by bit operations, not by a branch, which random conditions would mispredict: so the
 * loops vectorise. */
#define CHOOSE(T)                                                                                  \
    do {                                                                                           \
        const T *x = (const T *)(const void *)job->x, *y = (const T *)(const void *)job->y;        \
        T *z = (T *)(void *)job->z;                                                                \
                                                                                                   \
        for (int64_t i = begin; i < end; i++) {                                                    \
            const T chosen = (T)(0 - (T)(c[i] != 0));                                              \
                                                                                                   \
            z[i] = (T)((x[i] & chosen) | (y[i] & (T)~chosen));                                     \
        }                                                                                          \
    } while (0)

static void where_chunk(void *data, int64_t begin, int64_t end)
{
    const where_job *job = data;
    const uint8_t *c = job->condition;
    size_t run = (size_t)job->each * job->width;

    if (job->each != 1) {
        for (int64_t i = begin; i < end; i++)
            memcpy(job->z + (size_t)i * run, (c[i] ? job->x : job->y) + (size_t)i * run, run);
        return;
    }
    switch (job->width) {
    case 1:
        CHOOSE(uint8_t);
        break;
    case 2:
        CHOOSE(uint16_t);
        break;
    case 4:
        CHOOSE(uint32_t);
        break;
    default:
        CHOOSE(uint64_t);
    }
}

static int where_compute(const mxl_call *call)
{
    mxl_array *c = call->in[0], *x = call->in[1], *mask = NULL;
    where_job job = {.width = mxl_dtype_size(x->dtype)};

    if (x->size == 0)
        return 0;
    if (mxl_dtype_size(c->dtype) != 1) {
        mask = mxl_array_new(MXL_BOOL, c->ndim, c->shape);
        if (mask == NULL || mxl_array_copy_into(mask, c) != 0) {
            mxl_array_release(mask);
            return -1;
        }
        c = mask;
    }
    job.condition = mxl_array_read(c);
    job.x = mxl_array_read(x);
    job.y = mxl_array_read(call->in[2]);
    job.z = mxl_array_write(call->out[0]);
    job.each = x->size / c->size;
    mxl_parallel_for(c->size, 1 + MXL_LOOP_GRAIN / job.each, where_chunk, &job);
    mxl_array_release(mask);
    return 0;
}

/* dx = dy where the condition is not 0, dy = dy where it is 0 */
static int where_grad(mxl_grad *g)
{
    mxl_array *c = mxl_grad_in(g, 0), *zero = mxl_zeros_like(g->s, g->grad_output[0]);

    if (mxl_grad_wants(g, 1) &&
        mxl_grad_set(g, 1, mxl_where(g->s, c, g->grad_output[0], zero)) != 0)
        return -1;
    if (mxl_grad_wants(g, 2) &&
        mxl_grad_set(g, 2, mxl_where(g->s, c, zero, g->grad_output[0])) != 0)
        return -1;
    return 0;
}

/* Nothing follows before the condition is known, as in 1.9.1. */
static int where_complete(mxl_rule *rule)
{
    return mxl_shape_known(mxl_rule_in(rule, 0)) ? mxl_rule_said_shapes(rule, ".AA>A") : 0;
}

const mxl_op mxl_op_where = {
    .name = "where",
    .aliases = MXL_ALIASES("_sparse_where"),
    .doc = "Elements (or whole rows) of x where the condition is not 0, else those of y.",
    MXL_INPUTS(
        MXL_INPUT(condition,
                  "The condition: an array of the others' shape, or one number per row of theirs."),
        MXL_INPUT(x, "Elements for where the condition is not 0."),
        MXL_INPUT(y, "Elements for where it is; shape and dtype as x.")),
    .infer = where_infer,
    .along = true,
    .needs_all = true,
    .complete_shapes = where_complete,
    .dtypes = ".AA>A",
    .compute = where_compute,
    .u64 = MXL_U64_WRAPS,
    .grad = where_grad,
    .saves = mxl_saves_input,
};

mxl_array *mxl_where(mxl_scope *s, mxl_array *condition, mxl_array *a, mxl_array *b)
{
    mxl_array *inputs[3] = {condition, a, b};

    return mxl_scope_call(s, &mxl_op_where, NULL, 3, inputs);
}

mxl_array *mxl_zero_where(mxl_scope *s, mxl_array *condition, mxl_array *a)
{
    return mxl_where(s, condition, mxl_zeros_like(s, a), a);
}

const mxl_op *const mxl_ops_where[] = {&mxl_op_clip,  &op_clamp,     &op_smooth_l1,
                                       &op_quadratic, &mxl_op_where, NULL};
