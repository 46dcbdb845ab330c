/* Calls with batched arrays: the level that is taken apart, recording, results. */
#include "engine/batch/batch.h"

#include "base/error.h"
#include "base/memory/mem.h"
#include "base/state.h"
#include "engine/tape/rebase.h"

static const char *looped; /* the operator of any thread: it is for a warning */

const char *mxl_batch_looped(void)
{
    const char *name = looped;

    looped = NULL;
    return name;
}

void mxl_batch_note_loop(const char *name)
{
    looped = name;
}

/* ---- which arrays ---- */

static int highest(int count, mxl_array *const *arrays, int level)
{
    for (int i = 0; i < count; i++) {
        const mxl_batched *batched = arrays[i] == NULL ? NULL : mxl_batched_of(arrays[i], 0);

        if (batched != NULL && batched->level > level)
            level = batched->level;
    }
    return level;
}

/* The innermost open map, if an operator draws numbers in it that differ among examples; else 0. */
static int drawing(const mxl_run *r)
{
    const mxl_batch_levels *levels = &mxl_state_get()->batch;

    return r->call.op->draws && levels->open > 0 &&
                   levels->randomness[levels->open - 1] == MXL_RANDOM_DIFFERENT
               ? levels->open
               : 0;
}

static int level_of(const mxl_run *r)
{
    return highest(r->arity.visible, r->given_out,
                   highest(r->call.num_inputs, r->given_in, drawing(r)));
}

bool mxl_run_is_batched(const mxl_run *r)
{
    return level_of(r) > 0;
}

/* Makes a batched array of that level of each input, into `in`: it is one, or gets one over it that
 * has no place in the graph of the function that is mapped. -1 with the error set. */
static int lift(mxl_run *r, int level, mxl_array **in)
{
    for (int i = 0; i < r->call.num_inputs; i++) {
        mxl_array *array = r->given_in[i];

        if (mxl_batched_of(array, level) != NULL)
            mxl_array_retain(in[i] = array);
        else
            in[i] = mxl_batched_new(array, level, false);
        if (in[i] == NULL)
            return -1;
    }
    return 0;
}

/* The size of the batch, which all that have the axis agree on; 1 if none has. -1 with the error
 * set. */
static int64_t size_of(const mxl_run *r, int level, bool *has_axis)
{
    int64_t size = -1;

    *has_axis = false;
    for (int i = 0; i < r->call.num_inputs + r->arity.visible; i++) {
        int k = i - r->call.num_inputs;
        const mxl_array *array = k < 0 ? r->given_in[i] : r->given_out[k];
        const mxl_batched *batched = array == NULL ? NULL : mxl_batched_of(array, level);

        if (batched == NULL || !batched->has_axis)
            continue;
        *has_axis = *has_axis || k < 0;
        if (size >= 0 && batched->whole->shape[0] != size)
            return mxl_error("vmap: batches of sizes %lld and %lld meet in %s", (long long)size,
                             (long long)batched->whole->shape[0], r->call.op->name);
        size = batched->whole->shape[0];
    }
    return size < 0 ? 1 : size;
}

/* ---- results ---- */

static mxl_array *reshaped(mxl_batch *b, mxl_array *a, int ndim, const int64_t *shape)
{
    mxl_tuple to = {ndim, shape};

    return mxl_scope_call(b->s, b->ops->reshape_to, &to, 1, &a);
}

mxl_array *mxl_batch_as(mxl_batch *b, mxl_array *whole, int ndim, const int64_t *shape)
{
    if (whole == NULL || mxl_shape_same(whole->ndim, whole->shape, ndim, shape))
        return whole;
    return reshaped(b, whole, ndim, shape);
}

mxl_array *mxl_batch_shaped(mxl_batch *b, mxl_array *whole, int ndim, const int64_t *shape)
{
    int64_t full[MXL_MAX_NDIM];

    if (whole == NULL || ndim >= MXL_MAX_NDIM)
        return NULL;
    full[0] = b->size;
    for (int i = 0; i < ndim; i++)
        full[i + 1] = shape[i];
    return mxl_batch_as(b, whole, ndim + 1, full);
}

/* What the caller gets for output i: a batched array over the whole `made`, or `given`, a batched
 * array to be written to. */
static mxl_array *output(mxl_batch *b, int i, int level, mxl_array *made)
{
    const mxl_shape *shape = &b->r->out_shape[i];
    mxl_array *given = mxl_run_given(b->r, i), *out;
    const mxl_batched *target;

    made = b->has_axis ? mxl_batch_shaped(b, made, shape->ndim, shape->dim)
                       : mxl_batch_as(b, made, shape->ndim, shape->dim);
    if (made == NULL)
        return NULL;
    if (given != NULL) {
        target = mxl_batched_of(given, level);
        return target != NULL && (target->has_axis || !b->has_axis)
                   ? given
                   : mxl_error_null("vmap: %s: an array that is no batch, all examples have it, "
                                    "cannot be edited in place with values of each example",
                                    b->r->call.op->name);
    }
    out = mxl_batched_new(made, level, b->has_axis);
    if (out != NULL && made->dtype != b->r->out_dtype[i]) {
        mxl_array_release(out);
        return mxl_error_null("vmap: %s: the dtype of the result depends on the number of axes",
                              b->r->call.op->name);
    }
    return out;
}

/* The base of a result that shows the memory of the first input, as for other views. */
static void note_view(mxl_batch *b, mxl_array *out)
{
    mxl_array *in = b->count > 0 ? &b->in[0]->array : NULL;

    if (in == NULL || out->storage != in->storage || out->base != NULL)
        return;
    out->base = in->base != NULL ? in->base : in;
    mxl_array_retain(out->base);
    mxl_rebase_note_view(out, in, b->r->call.num_outputs, b->r->mode.record);
}

static int write_given(mxl_batch *b, mxl_array *given, mxl_array *made)
{
    mxl_array *whole = mxl_batched_of(given, 0)->whole;
    const mxl_batched *to = mxl_batched_of(given, 0);

    if (made == whole)
        return 0;
    if (to->has_axis && !b->has_axis) {
        /* one value for all examples: broadcast by a sum with zeros of the batch */
        mxl_array *zeros = mxl_scope_call(b->s, b->ops->zeros_like, NULL, 1, &whole);
        mxl_array *pair[2] = {zeros, made};

        made = zeros == NULL ? NULL : mxl_scope_call(b->s, b->ops->broadcast_add, NULL, 2, pair);
    } else if (to->has_axis) {
        made = mxl_batch_shaped(b, made, given->ndim, given->shape);
    }
    return made == NULL ? -1 : mxl_invoke(b->ops->copyto, NULL, 1, &made, 1, &whole, b->s->mode);
}

/* ---- the run ---- */

/* The shape depends on the values of an input, which in a key a mask alone has: all examples must
 * have the same. */
static int refuse_values(const mxl_batched *in, const mxl_op *op)
{
    bool counts = in->array.dtype == MXL_BOOL || in->array.dtype == MXL_U8 ||
                  mxl_param_find(op, "key") == NULL;

    return !counts ? 0 : mxl_batched_refuse(op->name, in->has_axis ? &in->array : in->whole);
}

/* Whether an element-wise call writes to a batched array that is given, as calls of one array do.
 */
static bool is_direct(const mxl_batch *b, int level)
{
    const mxl_run *r = b->r;
    mxl_array *given = r->arity.visible == 1 ? r->given_out[0] : NULL;
    const mxl_batched *to = given == NULL ? NULL : mxl_batched_of(given, level);

    return to != NULL && r->call.op->kernels != NULL && r->call.num_outputs == 1 && to->has_axis &&
           b->has_axis;
}

static int edit(mxl_batch *b, int level, int records, mxl_array **made)
{
    b->r->call.out[0] = b->r->given_out[0];
    b->target = mxl_batched_of(b->r->given_out[0], level)->whole;
    return mxl_run_node(b->r, records) != 0 || mxl_batch_apply(b, made) != 0 ? -1
                                                                             : mxl_run_finish(b->r);
}

static int steps(mxl_batch *b, int level, mxl_array **made)
{
    mxl_run *r = b->r;
    int records = mxl_run_check(r);

    if (r->call.op->by_values > 0 && r->call.op->by_values <= b->count &&
        refuse_values(b->in[r->call.op->by_values - 1], r->call.op) != 0)
        return -1;
    if (records < 0 || mxl_run_infer(r) != 0 || mxl_run_check_given(r) != 0)
        return -1;
    if (r->arity.visible > 0 && r->given_out[0] != NULL)
        r->version = mxl_storage_version(r->given_out[0]->storage);
    if (is_direct(b, level))
        return edit(b, level, records, made);
    if (mxl_batch_apply(b, made) != 0)
        return -1;
    for (int i = 0; i < r->call.num_outputs; i++) {
        r->call.out[i] = output(b, i, level, made[i]);
        if (r->call.out[i] == NULL)
            return -1;
        if (mxl_run_given(r, i) == NULL && r->call.op->plan != NULL && r->mode.dialect->views)
            note_view(b, r->call.out[i]);
    }
    if (mxl_run_node(r, records) != 0)
        return -1;
    for (int i = 0; i < r->arity.visible; i++) {
        if (r->given_out[i] != NULL && write_given(b, r->given_out[i], made[i]) != 0)
            return -1;
    }
    return mxl_run_finish(r);
}

static int run_level(mxl_run *r, mxl_batch *b, int level)
{
    size_t bytes = (size_t)r->call.num_outputs * sizeof(mxl_array *);
    mxl_mode mode = r->mode;
    mxl_array **made = mxl_alloc_zero(bytes);
    mxl_scope scope;
    int status;

    if (made == NULL)
        return -1;
    mode.dialect = mode.dialect->plain; /* a label names the node of the call */
    mode.legacy_shape = false;
    for (int i = 0; i < b->count; i++)
        mode.in_order = mode.in_order || mxl_batch_follows(&mode, b->in[i]->whole);
    mxl_scope_begin(&scope, mode);
    b->s = &scope;
    status = steps(b, level, made);
    mxl_scope_end(&scope);
    mxl_free(made, bytes);
    return status;
}

int mxl_run_batched(mxl_run *r)
{
    size_t bytes = ((size_t)r->call.num_inputs + 1) * sizeof(mxl_array *);
    mxl_array *const *given = r->given_in, **in = mxl_alloc_zero(bytes);
    mxl_batch_levels *levels = &mxl_state_get()->batch;
    int level = level_of(r), open = levels->open;
    mxl_batch b = {.r = r,
                   .ops = mxl_builtin_ops_get(),
                   .count = r->call.num_inputs,
                   .in = (mxl_batched **)in};
    int status = -1;

    if (in == NULL || b.ops == NULL) {
        mxl_free(in, bytes);
        return -1;
    }
    b.size = size_of(r, level, &b.has_axis);
    if (b.size >= 0 && drawing(r) == level) {
        b.size = levels->size[level - 1];
        b.has_axis = true;
    }
    b.same = level <= open && levels->randomness[level - 1] == MXL_RANDOM_SAME;
    levels->open = level <= open ? level - 1 : open; /* calls on wholes are outside of this map */
    if (b.size >= 0 && lift(r, level, in) == 0) {
        r->given_in = in;
        for (int i = 0; i < b.count; i++)
            r->call.in[i] = in[i];
        if (r->call.op->compose != NULL) {
            r->mode.dialect = r->mode.dialect->plain;
            status = mxl_run_composite(r);
        } else {
            status = run_level(r, &b, level);
        }
        r->given_in = given;
        for (int i = 0; i < b.count; i++)
            r->call.in[i] = given[i];
    }
    levels->open = open;
    for (int i = 0; i < b.count; i++)
        mxl_array_release(in[i]);
    mxl_free(in, bytes);
    return status;
}
