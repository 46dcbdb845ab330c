/* Normalisation for several operators: the kernel on data in the order that it reads, and the vjp
 * as operators. */
#include "ops/nn/normalise.h"

#include <math.h>
#include <stddef.h>

#include "array/copy.h"
#include "kernel/copy/cast.h"
#include "kernel/copy/strided_copy.h"
#include "kernel/norm/norm.h"

mxl_normalise mxl_normalise_of(mxl_norm_over over, int64_t a, int64_t b, int64_t c)
{
    return (mxl_normalise){.over = over,
                           .shape = {a, b, c},
                           .scale = 1,
                           .shift = 2,
                           .kept = {over == MXL_OVER_OTHERS ? 1 : a, over == MXL_OVER_AXIS ? 1 : b,
                                    over == MXL_OVER_AXIS ? c : 1}};
}

mxl_normalise mxl_normalise_axis(mxl_norm_over over, int axis, int ndim, const int64_t *shape)
{
    mxl_split r = mxl_shape_split(axis, ndim, shape);

    return mxl_normalise_of(over, r.outer, r.n, r.inner);
}

/* ---- the kernel's view of the data ---- */

/* Runs shorter than this are not worth a loop each: channels are brought together first. */
enum { SHORT_RUN = 16 };

/* Runs shorter than this are not worth loops of their own for what follows. */
enum { LEAST_JOINED = 128 };

/* The kernel's arguments; with `moved` for data whose dimensions are in another order. */
typedef struct layout {
    mxl_norm norm;
    bool moved;
    int64_t shape[3], strides[3]; /* of data in that order */
} layout;

static layout layout_of(const mxl_normalise *n, int dtype)
{
    int64_t a = n->shape[0], b = n->shape[1], c = n->shape[2];
    layout l = {.norm = {.dtype = dtype,
                         .groups = a * b,
                         .segments = 1,
                         .run = c,
                         .params = b,
                         .given = n->given > 0,
                         .eps = n->eps}};

    if (n->over == MXL_OVER_AXIS) {
        l.norm.groups = a * c;
        l.norm.run = b;
        l.norm.each = true;
        l.moved = c > 1;
        l = (layout){l.norm, l.moved, {a, c, b}, {b * c, 1, c}};
    } else if (n->over == MXL_OVER_OTHERS) {
        l.norm.groups = b;
        l.norm.segments = a;
        l.norm.jump = b * c;
        l.moved = a > 1 && c < SHORT_RUN;
        l = (layout){l.norm, l.moved, {b, a, c}, {c, b * c, 1}};
        if (l.moved) {
            l.norm.segments = 1;
            l.norm.run = a * c;
        }
    }
    return l;
}

bool mxl_normalise_joins(const mxl_normalise *n, int dtype)
{
    return n->over == MXL_OVER_OTHERS && dtype == MXL_F32 && n->shape[2] >= LEAST_JOINED;
}

/* Data as the kernel reads it: the array itself or a copy; new, NULL with the error set. */
static mxl_array *brought(const layout *l, mxl_array *x)
{
    int64_t order[3] = {l->shape[1] * l->shape[2], l->shape[2], 1};
    mxl_array *copy, *dense = mxl_array_contiguous(x);

    if (dense == NULL || !l->moved)
        return dense;
    copy = mxl_array_new(x->dtype, 3, l->shape);
    if (copy != NULL)
        mxl_copy_strided(mxl_dtype_size(x->dtype), 3, l->shape, mxl_array_write(copy), order,
                         mxl_array_read(dense), l->strides);
    mxl_array_release(dense);
    return copy;
}

/* An array for results in the kernel's order: `out` itself, or a new one; and the way back. */
static mxl_array *place_for(const layout *l, mxl_array *out)
{
    if (l->moved)
        return mxl_array_new(out->dtype, 3, l->shape);
    mxl_array_retain(out);
    return out;
}

static void take_back(const layout *l, mxl_array *out, const mxl_array *made)
{
    int64_t order[3] = {l->shape[1] * l->shape[2], l->shape[2], 1};

    if (l->moved)
        mxl_copy_strided(mxl_dtype_size(out->dtype), 3, l->shape, mxl_array_write(out), l->strides,
                         mxl_array_read(made), order);
}

/* The array in the dtype of computations, contiguous; new, NULL with the error set. */
static mxl_array *widened(mxl_array *a, int dtype)
{
    return a->dtype == dtype ? mxl_array_contiguous(a) : mxl_array_copy_as(a, dtype);
}

/* Overwrites x, of float32 or float64, with 1 / sqrt(x + eps), or 1 / x. */
static void invert(mxl_array *x, bool root, double eps)
{
    void *at = mxl_array_write(x);

    for (int64_t i = 0; i < x->size; i++) {
        double v = x->dtype == MXL_F32 ? (double)((float *)at)[i] : ((double *)at)[i];
        double inverse = 1 / (root ? sqrt(v + eps) : v);

        if (x->dtype == MXL_F32)
            ((float *)at)[i] = (float)inverse;
        else
            ((double *)at)[i] = inverse;
    }
}

/* ---- compute ---- */

/* All arrays of a call in the kernel's order and dtypes; owned. */
typedef struct arrays {
    mxl_array *x, *scale, *shift, *mean, *inverse, *y;
} arrays;

static void release_all(arrays *k)
{
    mxl_array *const all[] = {k->x, k->scale, k->shift, k->mean, k->inverse, k->y};

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        mxl_array_release(all[i]);
}

/* An array for statistics: `out` if it has the dtype of computations, else a new one. */
static mxl_array *statistics(mxl_array *out, int wide)
{
    if (out->dtype != wide)
        return mxl_array_new(wide, out->ndim, out->shape);
    mxl_array_retain(out);
    return out;
}

/* What scales or shifts, in the dtype of computations; `value` everywhere if nothing is given. */
static mxl_array *factors(mxl_array *given, int wide, int64_t count, double value)
{
    uint64_t element = 0;
    mxl_array *made;

    if (given != NULL)
        return widened(given, wide);
    made = mxl_array_new(wide, 1, &count);
    mxl_cast_scalar(value, wide, &element);
    if (made != NULL)
        mxl_fill(mxl_dtype_size(wide), mxl_array_write(made), &element, count);
    return made;
}

static int gather_inputs(arrays *k, const mxl_call *call, const mxl_normalise *n, const layout *l)
{
    int wide = mxl_norm_wide(l->norm.dtype);

    k->mean = statistics(call->out[1], wide);
    k->inverse = statistics(call->out[2], wide);
    k->x = brought(l, call->in[0]);
    k->y = place_for(l, call->out[0]);
    k->shift = factors(n->shift == 0 ? NULL : call->in[n->shift], wide, n->shape[1], 0);
    if (k->mean == NULL || k->inverse == NULL || k->x == NULL || k->y == NULL || k->shift == NULL)
        return -1;
    if ((n->fixed || n->scale == 0) && n->over != MXL_OVER_AXIS)
        return 0;
    k->scale = factors(n->scale == 0 ? NULL : call->in[n->scale], wide, n->shape[1], 1);
    return k->scale == NULL ? -1 : 0;
}

int mxl_normalise_compute(const mxl_call *call, const mxl_normalise *n)
{
    layout l = layout_of(n, call->in[0]->dtype);
    arrays k = {0};
    int status = gather_inputs(&k, call, n, &l);

    if (status == 0 && n->given > 0) {
        status = mxl_array_copy_into(k.mean, call->in[n->given]) != 0 ||
                         mxl_array_copy_into(k.inverse, call->in[n->given + 1]) != 0
                     ? -1
                     : 0;
        invert(k.inverse, true, n->eps);
    }
    l.norm.cut = n->cut;
    if (status == 0) {
        l.norm.relu = n->relu;
        mxl_norm_forward(&l.norm, mxl_array_read(k.x),
                         k.scale == NULL ? NULL : mxl_array_read(k.scale), mxl_array_read(k.shift),
                         mxl_array_write(k.mean), mxl_array_write(k.inverse), mxl_array_write(k.y));
        take_back(&l, call->out[0], k.y);
        if (n->deviation)
            invert(k.inverse, false, 0);
    }
    if (status == 0 && k.mean != call->out[1])
        status = mxl_array_copy_into(call->out[1], k.mean);
    if (status == 0 && k.inverse != call->out[2])
        status = mxl_array_copy_into(call->out[2], k.inverse);
    release_all(&k);
    return status;
}

/* ---- the vjp as operators ---- */

void mxl_normalise_saves(mxl_saves *saves)
{
    saves->in[0] = saves->in[1] = true;
    saves->out[1] = saves->out[2] = true;
}

/* The values that the rule is written in, all of three dimensions and the dtype of computations. */
typedef struct rule {
    mxl_scope *s;
    const mxl_normalise *n;
    mxl_array *centred, *inverse, *deviation, *dy, *dmean, *dsecond;
} rule;

static mxl_array *shaped(mxl_scope *s, mxl_array *a, int dtype, const int64_t *shape)
{
    return a == NULL ? NULL : mxl_reshape(s, mxl_cast(s, a, dtype), 3, shape);
}

static mxl_array *total(const rule *r, mxl_array *a, const int64_t *shape)
{
    return a == NULL ? NULL : mxl_sum_to(r->s, a, 3, shape);
}

static int rule_begin(rule *r, mxl_grad *g, const mxl_normalise *n)
{
    int wide = mxl_norm_wide(mxl_grad_in_meta(g, 0)->dtype);
    mxl_scope *s = g->s;
    mxl_array *second = shaped(s, mxl_grad_out(g, 2), wide, n->kept);

    *r = (rule){.s = s, .n = n};
    r->centred = mxl_sub(s, shaped(s, mxl_grad_in(g, 0), wide, n->shape),
                         shaped(s, mxl_grad_out(g, 1), wide, n->kept));
    r->inverse = n->deviation ? mxl_rdiv_scalar(s, second, 1) : second;
    r->dy = shaped(s, mxl_grad_output_grad(g, 0), wide, n->shape);
    if (g->grad_output[1] != NULL)
        r->dmean = shaped(s, g->grad_output[1], wide, n->kept);
    if (g->grad_output[2] != NULL)
        r->dsecond = shaped(s, g->grad_output[2], wide, n->kept);
    return r->dy == NULL || r->centred == NULL || r->inverse == NULL ? -1 : 0;
}

/* What reaches the data through the statistics, where dscaled is the gradient of (x - mean) *
 * inverse. Of the variance, as inverse = (variance + eps)^(-1/2):
 *     dvariance = -inverse^3 / 2 * (sum(dscaled * (x - mean)) + dinverse)
 * and the gradient ddeviation of the deviation adds inverse / 2 * ddeviation. */
static mxl_array *through_statistics(const rule *r, mxl_array *dscaled)
{
    mxl_scope *s = r->s;
    const int64_t *kept = r->n->kept;
    double count = (double)mxl_shape_size(3, r->n->shape) / (double)mxl_shape_size(3, kept);
    mxl_array *cube = mxl_mul(s, r->inverse, mxl_square(s, r->inverse));
    mxl_array *dmean = mxl_negative(s, mxl_mul(s, total(r, dscaled, kept), r->inverse));
    mxl_array *dinverse = total(r, mxl_mul(s, dscaled, r->centred), kept), *twice;

    if (r->dmean != NULL)
        dmean = mxl_add(s, dmean, r->dmean);
    if (r->dsecond != NULL && !r->n->deviation)
        dinverse = mxl_add(s, dinverse, r->dsecond);
    twice = mxl_negative(s, mxl_mul(s, cube, dinverse)); /* 2 dvariance */
    if (r->dsecond != NULL && r->n->deviation)
        twice = mxl_add(s, twice, mxl_mul(s, r->inverse, r->dsecond));
    return mxl_div_scalar(s, mxl_add(s, dmean, mxl_mul(s, r->centred, twice)), count);
}

/* Whether the gradient of the scale or the shift, input i, is wanted. */
static bool wants(mxl_grad *g, int i)
{
    return i > 0 && mxl_grad_wants(g, i);
}

/* dshift = sum(dy); dscale = sum(dy * (x - mean) * inverse); dx = dscaled * inverse, with dscaled =
 * dy * scale, and what reaches it through the statistics. */
int mxl_normalise_grad(mxl_grad *g, const mxl_normalise *n)
{
    int wide = mxl_norm_wide(mxl_grad_in_meta(g, 0)->dtype);
    int64_t along[3] = {1, n->shape[1], 1};
    mxl_array *dscaled, *dx;
    rule r;

    if (rule_begin(&r, g, n) != 0)
        return -1;
    if (wants(g, n->shift) && mxl_grad_set(g, n->shift, total(&r, r.dy, along)) != 0)
        return -1;
    if (wants(g, n->scale) && n->fixed && mxl_grad_set_zeros(g, n->scale) != 0)
        return -1;
    if (wants(g, n->scale) && !n->fixed &&
        mxl_grad_set(g, n->scale,
                     total(&r, mxl_mul(r.s, r.dy, mxl_mul(r.s, r.centred, r.inverse)), along)) != 0)
        return -1;
    if (!mxl_grad_wants(g, 0))
        return 0;
    dscaled = r.dy;
    if (n->scale > 0 && !n->fixed)
        dscaled = mxl_mul(r.s, r.dy, shaped(r.s, mxl_grad_in(g, n->scale), wide, along));
    dx = mxl_mul(r.s, dscaled, r.inverse);
    if (n->given == 0)
        dx = mxl_add(r.s, dx, through_statistics(&r, dscaled));
    return mxl_grad_set(g, 0, dx);
}

/* ---- the vjp in one pass ---- */

/* An array for the gradient of scale or shift; scoped. */
static mxl_array *along_axis(mxl_grad *g, int i, int wide)
{
    const mxl_meta *meta = mxl_grad_in_meta(g, i);

    return mxl_scope_own(g->s, mxl_array_new(wide, meta->ndim, meta->shape));
}

static void *address(mxl_array *a)
{
    return a == NULL ? NULL : mxl_array_write(a);
}

/* Runs the kernel; y of `k` holds dy. Gradients that are not wanted are NULL. */
static int run_back(mxl_grad *g, const mxl_normalise *n, const layout *l, arrays *k, mxl_array *dx,
                    mxl_array *dscale, mxl_array *dshift)
{
    mxl_array *place = dx == NULL ? NULL : place_for(l, dx);
    int status = -1;

    if (dx == NULL || place != NULL)
        status = mxl_norm_backward(&l->norm, mxl_array_read(k->x), mxl_array_read(k->y),
                                   k->scale == NULL ? NULL : mxl_array_read(k->scale),
                                   mxl_array_read(k->mean), mxl_array_read(k->inverse),
                                   address(place), address(dscale), address(dshift));
    if (status == 0 && dx != NULL)
        take_back(l, dx, place);
    mxl_array_release(place);
    if (status == 0 && dx != NULL)
        status = mxl_grad_set(g, 0, dx);
    if (status == 0 && dscale != NULL)
        status = mxl_grad_set(g, n->scale, dscale);
    if (status == 0 && dshift != NULL)
        status = mxl_grad_set(g, n->shift, dshift);
    return status;
}

/* The saved values as the kernel takes them. */
static int gather_saved(arrays *k, mxl_grad *g, const mxl_normalise *n, const layout *l)
{
    int wide = mxl_norm_wide(l->norm.dtype);
    bool scaled = n->scale > 0 && !n->fixed, needed = scaled || n->over == MXL_OVER_AXIS;
    mxl_array *x = mxl_grad_in(g, 0), *scale = scaled ? mxl_grad_in(g, n->scale) : NULL;
    mxl_array *mean = mxl_grad_out(g, 1), *second = mxl_grad_out(g, 2);

    if (g->s->failed)
        return -1;
    k->x = brought(l, x);
    k->y = brought(l, g->grad_output[0]);
    k->scale = needed ? factors(scale, wide, n->shape[1], 1) : NULL;
    k->mean = widened(mean, wide);
    k->inverse = widened(second, wide);
    if (k->x == NULL || k->y == NULL || k->mean == NULL || k->inverse == NULL ||
        (needed && k->scale == NULL))
        return -1;
    if (!n->deviation)
        return 0;
    mxl_array_release(k->inverse); /* it may be the saved tensor, which is not to be written */
    k->inverse = mxl_array_new(wide, second->ndim, second->shape);
    if (k->inverse == NULL || mxl_array_copy_into(k->inverse, second) != 0)
        return -1;
    invert(k->inverse, false, 0);
    return 0;
}

/* Over no elements a mean is NaN, which the kernel would multiply by its sums. */
bool mxl_normalise_in_one(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);

    return g->grad_output[0] != NULL && g->grad_output[0]->dtype == x->dtype &&
           mxl_shape_size(x->ndim, x->shape) > 0 && g->grad_output[1] == NULL &&
           g->grad_output[2] == NULL;
}

/* The result decides where the gradient counts. */
static int gather_gate(mxl_grad *g, layout *l)
{
    mxl_array *y = mxl_grad_out(g, 0);

    y = y == NULL ? NULL : mxl_scope_own(g->s, mxl_array_contiguous(y));
    l->norm.gate = y == NULL ? NULL : mxl_array_read(y);
    return y == NULL ? -1 : 0;
}

int mxl_normalise_grad_kernel(mxl_grad *g, const mxl_normalise *n)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    int wide = mxl_norm_wide(x->dtype), status = 0;
    layout l = layout_of(n, x->dtype);
    mxl_array *set[3] = {NULL};
    arrays k = {0};

    if (!mxl_normalise_in_one(g))
        return mxl_normalise_grad(g, n);
    if (mxl_grad_wants(g, 0))
        set[0] = mxl_scope_own(g->s, mxl_array_new(x->dtype, x->ndim, x->shape));
    if (wants(g, n->scale) && !n->fixed)
        set[1] = along_axis(g, n->scale, wide);
    if (wants(g, n->shift))
        set[2] = along_axis(g, n->shift, wide);
    if (wants(g, n->scale) && n->fixed)
        status = mxl_grad_set_zeros(g, n->scale);
    if (status == 0 && n->cut)
        status = gather_gate(g, &l);
    if (status == 0 && !g->s->failed)
        status = gather_saved(&k, g, n, &l);
    if (status == 0 && !g->s->failed)
        status = run_back(g, n, &l, &k, set[0], set[1], set[2]);
    release_all(&k);
    return g->s->failed ? -1 : status;
}
