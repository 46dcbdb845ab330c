/* Operators behind views and edits in place: strided elements of an array, put into zeros, or put
 * over an array's values; and assignment to a whole array. */
#include "ops/batch/rules.h"
#include "ops/shape/movement.h"

#include <stddef.h>

#include "array/copy.h"
#include "kernel/copy/cast.h"
#include "kernel/copy/strided_copy.h"

/* ---- which elements ---- */

/* True if shape, strides and `skip` reach only elements of an array of `size`, or none. */
static bool within(const mxl_strided_params *p, int64_t count, int64_t size)
{
    int64_t first = p->skip, last = p->skip;

    for (int i = 0; i < p->shape.n && count > 0; i++) {
        int64_t *end = p->strides.v[i] < 0 ? &first : &last, way;

        if (__builtin_mul_overflow(p->shape.v[i] - 1, p->strides.v[i], &way) ||
            __builtin_add_overflow(*end, way, end))
            return false;
    }
    return p->skip >= 0 && (count == 0 || (first >= 0 && last < size));
}

static int check_strided(const char *name, const mxl_strided_params *p, int64_t size)
{
    int64_t count;

    if (p->shape.n != p->strides.n)
        return mxl_error("%s: shape has %d entries, strides %d; the numbers must be equal", name,
                         p->shape.n, p->strides.n);
    count = mxl_shape_count(p->shape.n, p->shape.v);
    if (count < 0)
        return mxl_error_prefix(name);
    if (!within(p, count, size))
        return mxl_error("%s: the elements asked for lie outside the array, which has %lld", name,
                         (long long)size);
    return 0;
}

static int64_t stride_at(const mxl_strided_params *p, int i)
{
    return p->strides.v[i] < 0 ? -p->strides.v[i] : p->strides.v[i];
}

/* True if two positions may be one element: unless each stride, in ascending order, exceeds the
 * reach of all smaller ones. */
static bool overlap(const mxl_strided_params *p)
{
    bool done[MXL_MAX_NDIM] = {false};
    int64_t reach = 0;

    if (mxl_shape_count(p->shape.n, p->shape.v) == 0)
        return false;
    for (int round = 0; round < p->shape.n; round++) {
        int next = -1;

        for (int i = 0; i < p->shape.n; i++) {
            if (!done[i] && p->shape.v[i] > 1 && (next < 0 || stride_at(p, i) < stride_at(p, next)))
                next = i;
        }
        if (next < 0)
            return false;
        if (stride_at(p, next) <= reach)
            return true;
        reach += (p->shape.v[next] - 1) * stride_at(p, next);
        done[next] = true;
    }
    return false;
}

static char *first_of(mxl_array *out, const mxl_strided_params *p)
{
    return (char *)mxl_array_write(out) + p->skip * (int64_t)mxl_dtype_size(out->dtype);
}

/* ---- _mxl_as_strided ---- */

static const mxl_param strided_table[] = {MXL_STRIDED_TABLE, {0}};

static int as_strided_plan(mxl_plan *p)
{
    const mxl_strided_params *part = p->params;

    if (check_strided(p->op->name, part, mxl_shape_size(p->shape.ndim, p->shape.dim)) != 0)
        return -1;
    p->copies = !p->straight; /* strides are those of a contiguous array */
    mxl_plan_walk(p, part->shape.n, part->shape.v, part->strides.v);
    p->skip = part->skip;
    return 0;
}

static mxl_array *zeros_of(mxl_scope *s, const mxl_meta *meta)
{
    return mxl_zeros_like(s, mxl_scope_own(s, mxl_array_new(meta->dtype, meta->ndim, meta->shape)));
}

static mxl_array *strided_put(mxl_scope *s, const mxl_strided_params *p, mxl_array *a, mxl_array *b)
{
    mxl_array *pair[2] = {a, b};

    return mxl_scope_call(s, &mxl_op_strided_put, p, 2, pair);
}

/* The offset in memory of each element of the part, as one row of int64; scoped. */
static mxl_array *positions_of(mxl_scope *s, const mxl_strided_params *p)
{
    int64_t count = mxl_shape_size(p->shape.n, p->shape.v);
    mxl_array *made = mxl_scope_own(s, mxl_array_new(MXL_I64, 1, &count));
    int64_t *at = made == NULL ? NULL : mxl_array_write(made);

    for (int64_t j = 0; at != NULL && j < count; j++) {
        int64_t rest = j;

        at[j] = p->skip;
        for (int i = p->shape.n - 1; i >= 0; i--) {
            at[j] += rest % p->shape.v[i] * p->strides.v[i];
            rest /= p->shape.v[i];
        }
    }
    return made;
}

/* Zeros with dy added at its elements, several of which may be the same. */
static mxl_array *strided_add(mxl_grad *g, const mxl_strided_params *p, mxl_array *dy)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    int64_t size = mxl_shape_size(x->ndim, x->shape);
    mxl_array *at = positions_of(g->s, p), *row;

    if (at == NULL)
        return NULL;
    row = mxl_take_back(g->s, mxl_reshape(g->s, dy, 1, &at->size), at, 0, 1, &size);
    return mxl_reshape(g->s, row, x->ndim, x->shape);
}

/* dx = zeros with dy at its elements; first summed along dimensions that repeat elements */
static int as_strided_grad(mxl_grad *g)
{
    mxl_strided_params p = *(const mxl_strided_params *)g->params;
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    int64_t shape[MXL_MAX_NDIM];
    mxl_array *dy = g->grad_output[0];

    for (int i = 0; i < p.shape.n; i++) {
        bool repeats = p.strides.v[i] == 0 && p.shape.v[i] > 1;

        shape[i] = repeats ? 1 : p.shape.v[i];
        if (repeats)
            dy = mxl_sum_axis(g->s, dy, i);
    }
    p.shape.v = shape;
    if (overlap(&p))
        return mxl_grad_set(g, 0, strided_add(g, &p, dy));
    p.zeros = (mxl_tuple){x->ndim, x->shape};
    return mxl_grad_set(g, 0, mxl_zeros_put(g->s, dy, &p));
}

const mxl_op mxl_op_as_strided = {
    .name = "_mxl_as_strided",
    .doc = "The elements at `skip` and steps of `strides` from there, in a shape of their own.",
    MXL_PARAMS(mxl_strided_params, strided_table),
    .plan = as_strided_plan,
    .infer = mxl_plan_infer,
    .compute = mxl_plan_compute,
    .any_dtype = true,
    .grad = as_strided_grad,
    .node_name = "AsStridedBackward0",
};

/* ---- _mxl_zeros_put ---- */

static int zeros_put_plan(mxl_plan *p)
{
    const mxl_strided_params *part = p->params;
    int64_t size = mxl_shape_count(part->zeros.n, part->zeros.v);

    if (size < 0)
        return mxl_error_prefix(p->op->name);
    if (check_strided(p->op->name, part, size) != 0)
        return -1;
    if (mxl_shape_size(part->shape.n, part->shape.v) != mxl_shape_size(p->shape.ndim, p->shape.dim))
        return mxl_error("%s: the array has %lld elements, the part %lld", p->op->name,
                         (long long)mxl_shape_size(p->shape.ndim, p->shape.dim),
                         (long long)mxl_shape_size(part->shape.n, part->shape.v));
    if (overlap(part))
        return mxl_error("%s: the elements overlap", p->op->name);
    mxl_plan_put(p, part->shape.n, part->shape.v, part->strides.v, part->skip, part->zeros);
    return 0;
}

const mxl_op mxl_op_zeros_put = {
    .name = "_mxl_zeros_put",
    .doc = "Zeros with the array in the place of the elements that `_mxl_as_strided` would give.",
    MXL_PARAMS_OF(
        mxl_strided_params, MXL_STRIDED_TABLE,
        MXL_PARAM(mxl_strided_params, zeros, MXL_P_SHAPE, MXL_REQUIRED, "Shape of the result.")),
    .plan = zeros_put_plan,
    .infer = mxl_plan_infer,
    .compute = mxl_plan_compute,
    .any_dtype = true,
    .grad = mxl_movement_grad,
};

/* ---- _mxl_strided_put ---- */

static int strided_put_infer(mxl_infer *infer)
{
    const mxl_strided_params *p = infer->params;
    const mxl_array *a = infer->in[0], *b = infer->in[1];
    const char *name = infer->op->name;

    if (check_strided(name, p, a->size) != 0)
        return -1;
    if (!mxl_shape_same(b->ndim, b->shape, p->shape.n, p->shape.v) || a->dtype != b->dtype)
        return mxl_error("%s: the value has not the part's shape and the array's dtype", name);
    if (overlap(p))
        return mxl_error("%s: the elements overlap", name);
    return mxl_infer_like_first(infer);
}

static int strided_put_compute(const mxl_call *call)
{
    const mxl_strided_params *p = call->params;
    mxl_array *out = call->out[0], *b = call->in[1];

    if (mxl_array_copy_into(out, call->in[0]) != 0)
        return -1;
    if (b->size > 0)
        mxl_copy_strided(mxl_dtype_size(out->dtype), b->ndim, b->shape, first_of(out, p),
                         p->strides.v, mxl_array_read(b), b->strides);
    return 0;
}

/* da = dy with zeros at the part; db = the part of dy */
static int strided_put_grad(mxl_grad *g)
{
    const mxl_strided_params *p = g->params;
    mxl_array *dy = g->grad_output[0];

    if (mxl_grad_wants(g, 0) &&
        mxl_grad_set(g, 0, strided_put(g->s, p, dy, zeros_of(g->s, mxl_grad_in_meta(g, 1)))) != 0)
        return -1;
    if (!mxl_grad_wants(g, 1))
        return 0;
    return mxl_grad_set(g, 1, mxl_scope_call(g->s, &mxl_op_as_strided, p, 1, &dy));
}

const mxl_op mxl_op_strided_put = {
    .name = "_mxl_strided_put",
    .doc = "lhs with rhs in the place of the elements that `_mxl_as_strided` would give.",
    .inputs = mxl_inputs_lhs_rhs,
    MXL_PARAMS(mxl_strided_params, strided_table),
    .infer = strided_put_infer,
    .compute = strided_put_compute,
    .any_dtype = true,
    .grad = strided_put_grad,
    MXL_BATCH(mxl_vmap_strided_put),
};

/* ---- _mxl_copy_over, _mxl_fill ---- */

static int copy_over_infer(mxl_infer *infer)
{
    const mxl_array *a = infer->in[0], *b = infer->in[1];
    int lead = a->ndim - b->ndim;

    for (int i = 0; i < b->ndim && lead >= 0; i++) {
        if (b->shape[i] != 1 && b->shape[i] != a->shape[i + lead])
            lead = -1;
    }
    if (lead < 0)
        return mxl_error("%s: a value of shape %s cannot be broadcast to %s", infer->op->name,
                         MXL_SHAPE_OF(b), MXL_SHAPE_OF(a));
    return mxl_infer_like_first(infer);
}

static int copy_over_compute(const mxl_call *call)
{
    mxl_array *b = call->in[1], *out = call->out[0], *wide;
    int lead = out->ndim - b->ndim, status;
    int64_t strides[MXL_MAX_NDIM];

    for (int i = 0; i < out->ndim; i++)
        strides[i] = i < lead || b->shape[i - lead] == 1 ? 0 : b->strides[i - lead];
    wide = mxl_array_strided(b, 0, out->ndim, out->shape, strides);
    if (wide == NULL)
        return -1;
    status = mxl_array_copy_into(out, wide);
    mxl_array_release(wide);
    return status;
}

/* da = 0; db = dy summed to b's shape */
static int copy_over_grad(mxl_grad *g)
{
    if (mxl_grad_set_zeros(g, 0) != 0)
        return -1;
    return mxl_grad_set(g, 1, g->grad_output[0]);
}

static const mxl_op op_copy_over = {
    .name = "_mxl_copy_over",
    .doc = "rhs, broadcast to lhs's shape and cast to its dtype: the result of an assignment to "
           "all of lhs.",
    .inputs = mxl_inputs_lhs_rhs,
    .infer = copy_over_infer,
    .compute = copy_over_compute,
    .any_dtype = true,
    .grad = copy_over_grad,
    .in_place = true,
    MXL_BATCH(mxl_vmap_copy_over),
};

static int fill_compute(const mxl_call *call)
{
    const mxl_scalar_params *p = call->params;
    mxl_array *out = call->out[0];
    uint64_t value;

    if (mxl_check_digits(call->op->name, p->scalar, out->dtype) != 0)
        return -1;
    mxl_cast_scalar(p->scalar, out->dtype, &value);
    mxl_fill(mxl_dtype_size(out->dtype), mxl_array_write(out), &value, out->size);
    return 0;
}

/* dx = 0 */
static int fill_grad(mxl_grad *g)
{
    return mxl_grad_set_zeros(g, 0);
}

static const mxl_op op_fill = {
    .name = "_mxl_fill",
    .doc = "The number in every element of an array like the input: the result of x.fill_(number).",
    MXL_PARAMS(mxl_scalar_params, mxl_params_scalar),
    .infer = mxl_infer_like_first,
    .compute = fill_compute,
    .any_dtype = true,
    .grad = fill_grad,
    .in_place = true,
    .along = true,
};

const mxl_op *const mxl_ops_as_strided[] = {
    &mxl_op_as_strided, &mxl_op_zeros_put, &mxl_op_strided_put, &op_copy_over, &op_fill, NULL,
};
