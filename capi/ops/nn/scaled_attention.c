/* Scaled dot-product attention of queries, keys and values in arrays of their own: no matrix of
 * scores is kept, forward or backward. */
#include <math.h>
#include <stddef.h>

#include "array/copy.h"
#include "base/memory/mem.h"
#include "kernel/attention/attention.h"
#include "ops/batch/rules.h"
#include "ops/elementwise/elementwise.h"
#include "ops/linalg/linalg.h"
#include "ops/nn/scaled_attention.h"

enum { QUERY, KEY, VALUE, MASK };

typedef struct attention_params {
    double scale;
    int causal, masked;
} attention_params;

static int attention_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = ((const attention_params *)params)->masked ? 4 : 3;
    arity->outputs = 2;
    arity->visible = 1;
    return 0;
}

/* The scores' shape is the query's, with the keys as its last axis; a mask broadcasts to it, or has
 * it (`alike`). */
static int check_mask(const mxl_infer *infer, int64_t keys, bool alike)
{
    const mxl_array *q = infer->in[QUERY], *mask = infer->in[MASK];
    bool fits = mask->ndim <= q->ndim && (!alike || mask->ndim == q->ndim);

    for (int i = 1; i <= mask->ndim && fits; i++) {
        int64_t given = mask->shape[mask->ndim - i];

        fits = (given == 1 && !alike) ||
               !mxl_sizes_differ(given, i == 1 ? keys : q->shape[q->ndim - i]);
    }
    return fits ? 0
                : mxl_error("%s: mask of shape %s does not broadcast to scores of queries of "
                            "shape %s and keys of shape %s",
                            infer->op->name, MXL_SHAPE_OF(mask), MXL_SHAPE_OF(q),
                            MXL_SHAPE_OF(infer->in[KEY]));
}

static int attention_infer(mxl_infer *infer)
{
    const mxl_array *k = infer->in[KEY];

    if (mxl_infer_said(infer) != 0)
        return -1;
    return infer->num_inputs == MASK ? 0 : check_mask(infer, k->shape[k->ndim - 2], false);
}

/* ---- the kernel's view of a call ---- */

/* Where the mask of each of `count` products begins; a mask broadcasts to an array of `shape`. */
static void mask_begins(const mxl_array *mask, int ndim, const int64_t *shape, int64_t count,
                        int64_t *begin)
{
    for (int64_t c = 0; c < count; c++) {
        int64_t rest = c, stride = 1, at = 0;

        for (int i = 1; i <= mask->ndim; i++) {
            int64_t size = mask->shape[mask->ndim - i];

            if (i > 2) {
                at += size == 1 ? 0 : rest % shape[ndim - i] * stride;
                rest /= shape[ndim - i];
            }
            stride *= size;
        }
        begin[c] = at;
    }
}

/* Sets the mask; what it needs to know of each product, which mxl_free frees, is in *begin. */
static int set_mask(mxl_attention *a, const mxl_array *mask, int ndim, const int64_t *shape,
                    int64_t **begin)
{
    int64_t columns = mask->ndim > 0 ? mask->shape[mask->ndim - 1] : 1;

    *begin = mxl_alloc((size_t)a->count * sizeof(int64_t) + 1);
    if (*begin == NULL)
        return -1;
    mask_begins(mask, ndim, shape, a->count, *begin);
    a->mask = mxl_array_read(mask);
    a->mask_begin = *begin;
    a->mask_column = columns != 1;
    a->mask_row = mask->ndim > 1 && mask->shape[mask->ndim - 2] != 1 ? columns : 0;
    return 0;
}

static mxl_attention attention_of(const attention_params *p, mxl_array *const *in)
{
    const mxl_array *q = in[QUERY], *k = in[KEY], *v = in[VALUE];
    int n = q->ndim;

    return (mxl_attention){.dtype = q->dtype,
                           .count = mxl_shape_size(n - 2, q->shape),
                           .queries = q->shape[n - 2],
                           .keys = k->shape[n - 2],
                           .size = q->shape[n - 1],
                           .width = v->shape[n - 1],
                           .scale = p->scale,
                           .causal = p->causal != 0,
                           .q = mxl_array_read(q),
                           .k = mxl_array_read(k),
                           .v = mxl_array_read(v)};
}

static void free_begins(const mxl_attention *a, int64_t *begin)
{
    if (begin != NULL)
        mxl_free(begin, (size_t)a->count * sizeof(int64_t) + 1);
}

static int attention_compute(const mxl_call *call)
{
    const mxl_array *q = call->in[QUERY];
    mxl_attention a = attention_of(call->params, call->in);
    int64_t *begin = NULL;
    int status = 0;

    if (call->num_inputs > MASK)
        status = set_mask(&a, call->in[MASK], q->ndim, q->shape, &begin);
    if (status == 0)
        status = mxl_attend(&a, mxl_array_write(call->out[0]), mxl_array_write(call->out[1]));
    free_begins(&a, begin);
    return status;
}

/* ---- backward ---- */

/* -infinity where a query comes before a key, else 0. */
static mxl_array *causal_mask(mxl_scope *s, int dtype, int64_t queries, int64_t keys)
{
    mxl_array *mask = mxl_scope_new(s, MXL_F32, 2, (int64_t[]){queries, keys});
    float *at = mxl_scope_fill(s, mask);

    for (int64_t i = 0; i < queries && at != NULL; i++) {
        for (int64_t j = 0; j < keys; j++)
            at[i * keys + j] = j > i ? -INFINITY : 0;
    }
    return mxl_cast(s, mask, dtype);
}

/* The shares of the keys: softmax(scale q k' + mask), 0 of a query without any key. */
static mxl_array *shares_of(mxl_grad *g, mxl_array *q, mxl_array *k)
{
    const attention_params *p = g->params;
    const mxl_meta *meta = mxl_grad_in_meta(g, QUERY);
    int64_t queries = meta->shape[meta->ndim - 2];
    int64_t keys = mxl_grad_in_meta(g, KEY)->shape[meta->ndim - 2];
    mxl_array *scores = mxl_batch_dot(g->s, mxl_mul_scalar(g->s, q, p->scale), k, false, true);
    mxl_array *lse = mxl_grad_out(g, 1), *alone;
    int64_t shape[MXL_MAX_NDIM];

    if (p->causal)
        scores = mxl_add(g->s, scores, causal_mask(g->s, meta->dtype, queries, keys));
    if (!p->masked)
        return mxl_softmax_axis(g->s, scores, -1);
    for (int i = 0; i < meta->ndim; i++)
        shape[i] = i == meta->ndim - 1 ? 1 : meta->shape[i];
    scores = mxl_add(g->s, scores, mxl_grad_in(g, MASK));
    lse = mxl_reshape(g->s, lse, meta->ndim, shape);
    alone = mxl_equal(g->s, lse, mxl_add_scalar(g->s, mxl_zeros_like(g->s, lse), -INFINITY));
    shape[meta->ndim - 1] = keys;
    alone = mxl_broadcast_to(g->s, alone, meta->ndim, shape);
    scores = mxl_zero_where(g->s, alone, scores);
    return mxl_zero_where(g->s, alone, mxl_softmax_axis(g->s, scores, -1));
}

/* With shares P: dv = P' dy, dP = dy v', dS = P (dP - sum(dP P)), dq = scale dS k, dk = scale dS'
 * q; dS is the gradient of a mask. */
static int attention_grad(mxl_grad *g)
{
    const attention_params *p = g->params;
    mxl_scope *s = g->s;
    mxl_array *dy = g->grad_output[0], *q = mxl_grad_in(g, QUERY), *k = mxl_grad_in(g, KEY);
    mxl_array *shares, *ds;

    if (dy == NULL) /* one of lse arrived, which only says where it is -infinity: zero */
        return 0;
    shares = shares_of(g, q, k);
    if (mxl_grad_wants(g, VALUE) &&
        mxl_grad_set(g, VALUE, mxl_batch_dot(s, shares, dy, true, false)) != 0)
        return -1;
    ds = mxl_batch_dot(s, dy, mxl_grad_in(g, VALUE), false, true);
    ds = mxl_mul(s, shares, mxl_sub(s, ds, mxl_sum_axis(s, mxl_mul(s, ds, shares), -1)));
    if (p->masked && mxl_grad_set(g, MASK, ds) != 0)
        return -1;
    ds = mxl_mul_scalar(s, ds, p->scale);
    if (mxl_grad_wants(g, QUERY) &&
        mxl_grad_set(g, QUERY, mxl_batch_dot(s, ds, k, false, false)) != 0)
        return -1;
    return mxl_grad_wants(g, KEY) ? mxl_grad_set(g, KEY, mxl_batch_dot(s, ds, q, true, false)) : 0;
}

/* Where to write the gradient of input i, which it makes; NULL: not wanted, or failed. */
static void *write_grad(mxl_grad *g, int i, mxl_array **made)
{
    const mxl_meta *meta = mxl_grad_in_meta(g, i);

    *made = mxl_grad_wants(g, i) ? mxl_scope_new(g->s, meta->dtype, meta->ndim, meta->shape) : NULL;
    return *made == NULL ? NULL : mxl_array_write(*made);
}

/* The contiguous arrays of the saved values and dy; NULL and failed where one cannot be had. */
static mxl_array *flat(mxl_grad *g, mxl_array *of)
{
    return of == NULL ? NULL : mxl_scope_own(g->s, mxl_array_contiguous(of));
}

static int attention_grad_kernel(mxl_grad *g)
{
    const attention_params *p = g->params;
    mxl_array *in[4], *made[3], *y, *lse, *dy = flat(g, g->grad_output[0]);
    mxl_attention a;
    int64_t *begin = NULL;
    void *dq, *dk, *dv;
    int status = 0;

    if (g->grad_output[0] == NULL || (p->masked && mxl_grad_wants(g, MASK)))
        return attention_grad(g);
    for (int i = 0; i < (p->masked ? 4 : 3); i++)
        in[i] = flat(g, mxl_grad_in(g, i));
    y = flat(g, mxl_grad_out(g, 0));
    lse = flat(g, mxl_grad_out(g, 1));
    dq = write_grad(g, QUERY, &made[QUERY]);
    dk = write_grad(g, KEY, &made[KEY]);
    dv = write_grad(g, VALUE, &made[VALUE]);
    if (g->s->failed || dy == NULL)
        return -1;
    a = attention_of(p, in);
    if (p->masked)
        status = set_mask(&a, in[MASK], in[QUERY]->ndim, in[QUERY]->shape, &begin);
    if (status == 0)
        status = mxl_attend_back(&a, mxl_array_read(y), mxl_array_read(lse), mxl_array_read(dy), dq,
                                 dk, dv);
    free_begins(&a, begin);
    for (int i = 0; i < 3 && status == 0; i++)
        status = mxl_grad_wants(g, i) ? mxl_grad_set(g, i, made[i]) : 0;
    return status;
}

static void attention_saves(mxl_saves *saves)
{
    for (int i = 0; i < saves->num_inputs; i++)
        saves->in[i] = true;
    saves->out[0] = saves->out[1] = true;
}

static const mxl_op op_attention = {
    .name = "_mxl_attention",
    .doc = "softmax(scale query key' + mask) value over the last two axes. The scores of all "
           "queries and keys are never in memory at once. A query whose scores are all -infinity "
           "has zeros.",
    MXL_INPUTS(MXL_INPUT(query, "Of shape (..., queries, size)."),
               MXL_INPUT(key, "Of shape (..., keys, size)."),
               MXL_INPUT(value, "Of shape (..., keys, width)."),
               MXL_INPUT(mask, "Added to the scores, to whose shape (..., queries, keys) it "
                               "broadcasts; only with masked.")),
    MXL_PARAMS_OF(attention_params,
                  MXL_PARAM(attention_params, scale, MXL_P_FLOAT, "1", "Factor of the scores.",
                            .type_name = "double"),
                  MXL_PARAM(attention_params, causal, MXL_P_BOOL, "0",
                            "Whether query i has no scores of the keys after i."),
                  MXL_PARAM(attention_params, masked, MXL_P_BOOL, "0", "Whether there is a mask.")),
    .arity = attention_arity,
    MXL_SHAPES_TABLE("query[*X,L,Q,C] key[*X,L,K,C] value[*X,L,K,V] mask[*M] -> [*X,L,Q,V] "
                     "[*X,L,Q]"),
    .infer = attention_infer,
    .dtypes = "W*>W*",
    .compute = attention_compute,
    .grad = attention_grad,
    .grad_kernel = attention_grad_kernel,
    .saves = attention_saves,
    MXL_BATCH(mxl_vmap_attention),
};

/* ---- of graphs that predict ---- */

typedef struct fused_params {
    attention_params plain;
    int turned, alike;
    int64_t axis;
} fused_params;

static int fused_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = ((const attention_params *)params)->masked ? 4 : 3;
    return 0;
}

static const char *fused_shapes(const void *params)
{
    return ((const fused_params *)params)->turned
               ? "query[*X,L,Q,C] key[*X,L,C,K] value[*X,L,K,V] mask[*M] -> [*X,L,Q,V]"
               : NULL;
}

static int fused_infer(mxl_infer *infer)
{
    const fused_params *p = infer->params;
    const mxl_array *k = infer->in[KEY];

    if (mxl_infer_said(infer) != 0)
        return -1;
    if (p->axis != -1 && p->axis != k->ndim - 1)
        return mxl_error("%s: axis %lld is not the last one", infer->op->name, (long long)p->axis);
    return infer->num_inputs == MASK
               ? 0
               : check_mask(infer, k->shape[k->ndim - (p->turned ? 1 : 2)], p->alike != 0);
}

static int fused_compute(const mxl_call *call)
{
    const fused_params *p = call->params;
    const mxl_array *q = call->in[QUERY], *k = call->in[KEY];
    mxl_attention a = attention_of(&p->plain, call->in);
    int64_t *begin = NULL;
    int status = 0;

    a.turned = p->turned != 0;
    a.undefined = true;
    if (a.turned)
        a.keys = k->shape[k->ndim - 1];
    if (call->num_inputs > MASK)
        status = set_mask(&a, call->in[MASK], q->ndim, q->shape, &begin);
    if (status == 0)
        status = mxl_attend(&a, mxl_array_write(call->out[0]), NULL);
    free_begins(&a, begin);
    return status;
}

const mxl_op mxl_op_fused_attention = {
    .name = "_mxl_fused_attention",
    .doc = "batch_dot(softmax(scale batch_dot(query, key') + mask), value) without the scores in "
           "memory. A query whose scores are all -infinity has NaN.",
    MXL_INPUTS(MXL_INPUT(query, "Of shape (..., queries, size)."),
               MXL_INPUT(key, "Of shape (..., keys, size), or turned (..., size, keys)."),
               MXL_INPUT(value, "Of shape (..., keys, width)."),
               MXL_INPUT(mask, "Added to the scores; only with masked.")),
    MXL_PARAMS_OF(fused_params,
                  MXL_PARAM_AS("scale", fused_params, plain.scale, MXL_P_FLOAT, "1",
                               "Factor of the scores.", .type_name = "double"),
                  MXL_PARAM_AS("masked", fused_params, plain.masked, MXL_P_BOOL, "0",
                               "Whether there is a mask."),
                  MXL_PARAM(fused_params, turned, MXL_P_BOOL, "0", "Whether the key is turned."),
                  MXL_PARAM(fused_params, alike, MXL_P_BOOL, "0",
                            "Whether the mask must have the scores' shape."),
                  MXL_PARAM(fused_params, axis, MXL_P_INT, "-1",
                            "The axis of softmax, which must be the last one.")),
    .arity = fused_arity,
    MXL_SHAPES_TABLE("query[*X,L,Q,C] key[*X,L,K,C] value[*X,L,K,V] mask[*M] -> [*X,L,Q,V]"),
    .shapes_of = fused_shapes,
    .infer = fused_infer,
    .dtypes = "W*>W",
    .compute = fused_compute,
};

const mxl_op *const mxl_ops_scaled_attention[] = {&op_attention, &mxl_op_fused_attention, NULL};
