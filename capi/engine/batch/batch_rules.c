/* How operators run on whole batches: one rule for movements, for element-wise operators, for
 * products of matrices, for those whose text of shapes says that an axis in front counts, for those
 * with a parameter `axis`; all others example by example. */
#include "engine/batch/batch.h"

#include <string.h>

#include "array/copy.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "engine/run/generator.h"
#include "op/plan.h"

enum { PARAMS_ROOM = 512 };

/* ---- calls ---- */

/* An operator with the parameters of its struct by their names, 0 where none is given. */
mxl_array *mxl_batch_call(mxl_batch *b, const mxl_op *op, int count, mxl_array **in, int given,
                          const char *const *names, const int64_t *values)
{
    _Alignas(16) char params[PARAMS_ROOM] = {0};

    if (op->params_size > PARAMS_ROOM)
        return NULL;
    for (int i = 0; i < given; i++) {
        const mxl_param *p = mxl_param_find(op, names[i]);

        if (p->type == MXL_P_BOOL)
            *(int *)(params + p->offset) = (int)values[i];
        else
            *(int64_t *)(params + p->offset) = values[i];
    }
    return mxl_scope_call(b->s, op, params, count, in);
}

static mxl_array *whole_of(const mxl_batch *b, int i)
{
    return b->in[i]->whole;
}

/* The whole array with an axis of the batch in front: its own, or one along which it repeats. */
mxl_array *mxl_batch_fronted(mxl_batch *b, mxl_array *whole, bool has_axis)
{
    const mxl_op *op = b->ops->broadcast_to;
    int64_t shape[MXL_MAX_NDIM + 1];
    mxl_tuple to = {whole == NULL ? 0 : whole->ndim + 1, shape};

    if (has_axis || whole == NULL)
        return whole;
    shape[0] = b->size;
    for (int i = 0; i < whole->ndim; i++)
        shape[i + 1] = whole->shape[i];
    return mxl_scope_call(b->s, op, &to, 1, &whole);
}

static mxl_array *front(mxl_batch *b, int i)
{
    return mxl_batch_fronted(b, whole_of(b, i), b->in[i]->has_axis);
}

static int run_on(mxl_batch *b, const void *params, mxl_array **in, mxl_array **out)
{
    const mxl_call *c = &b->r->call;

    for (int i = 0; i < b->count; i++) {
        if (in[i] == NULL)
            return -1;
    }
    return mxl_scope_call_many(b->s, c->op, params, b->count, in, c->num_outputs, out);
}

bool mxl_batch_follows(const mxl_mode *mode, mxl_array *array)
{
    return mxl_array_is_batched(array) ||
           (mode->record &&
            (mxl_array_leaf(array) != NULL || mxl_array_has_target(array) || array->base != NULL));
}

const int *mxl_batch_flag(const mxl_batch *b, const char *name)
{
    const mxl_op *op = b->r->call.op;
    const mxl_param *p = mxl_param_find(op, name);

    return p == NULL || p->type != MXL_P_BOOL
               ? NULL
               : (const int *)((const char *)b->r->call.params + p->offset);
}

/* ---- movements ---- */

/* What the plan walks over, as a view where nothing follows the memory, else by an operator. */
static mxl_array *walked(mxl_batch *b, mxl_array *whole, const mxl_plan *p, int64_t step,
                         bool by_strides)
{
    int64_t shape[MXL_MAX_NDIM + 1], strides[MXL_MAX_NDIM + 1];
    int n = p->shape.ndim + 1;
    mxl_array *view;
    mxl_strided_params to = {.shape = {n, shape}, .strides = {n, strides}, .skip = p->skip};

    shape[0] = b->size;
    strides[0] = step;
    for (int i = 1; i < n; i++) {
        shape[i] = p->shape.dim[i - 1];
        strides[i] = p->strides[i - 1];
    }
    if (n > MXL_MAX_NDIM)
        return NULL;
    if (by_strides)
        view = mxl_scope_own(b->s, mxl_array_strided(whole, p->skip, n, shape, strides));
    else
        view = mxl_scope_call(b->s, b->ops->as_strided, &to, 1, &whole);
    return view == NULL || !p->copies ? view : mxl_scope_call(b->s, b->ops->copy, NULL, 1, &view);
}

/* The elements in zeros of each example. */
static mxl_array *put(mxl_batch *b, mxl_array *whole, mxl_plan *p)
{
    const mxl_op *op = b->ops->zeros_put;
    int64_t shape[MXL_MAX_NDIM + 1], strides[MXL_MAX_NDIM + 1], zeros[MXL_MAX_NDIM + 1];
    int n = p->shape.ndim + 1, m = p->result.ndim + 1;
    mxl_strided_params to = {
        .shape = {n, shape}, .strides = {n, strides}, .zeros = {m, zeros}, .skip = p->skip};

    zeros[0] = shape[0] = b->size;
    strides[0] = mxl_shape_size(p->result.ndim, p->result.dim);
    for (int i = 1; i < n; i++) {
        shape[i] = p->shape.dim[i - 1];
        strides[i] = p->strides[i - 1];
    }
    for (int i = 1; i < m; i++)
        zeros[i] = p->result.dim[i - 1];
    whole = n > MXL_MAX_NDIM || m > MXL_MAX_NDIM || op == NULL ? NULL
                                                               : mxl_batch_as(b, whole, n, shape);
    return whole == NULL ? NULL : mxl_scope_call(b->s, op, &to, 1, &whole);
}

static int planned(const mxl_batch *b, const mxl_array *whole, int output, bool by_strides,
                   mxl_plan *p)
{
    const mxl_call *c = &b->r->call;
    const mxl_array *first = &b->in[0]->array, *last = &b->in[b->count - 1]->array;

    mxl_plan_begin(p, c->op, c->params, first->ndim, first->shape);
    p->output = output;
    p->like_ndim = last->ndim;
    p->like_shape = last->shape;
    if (by_strides && !whole->contiguous) {
        p->straight = false;
        memcpy(p->strides, whole->strides + 1, (size_t)first->ndim * sizeof(int64_t));
    }
    return c->op->plan(p);
}

/* The contiguous base of a view that is followed, whose strides an operator does not see: the
 * result is a view of the same base then. NULL: there is none. */
static mxl_array *base_of(const mxl_array *whole)
{
    mxl_array *base = whole->base;

    return whole->contiguous || base == NULL || !base->contiguous || base->storage != whole->storage
               ? NULL
               : base;
}

static mxl_array *moved(mxl_batch *b, mxl_array *whole, int output)
{
    bool by_strides = !mxl_batch_follows(&b->s->mode, whole);
    mxl_array *base = by_strides ? NULL : base_of(whole);
    mxl_plan p;

    if (planned(b, whole, output, by_strides || base != NULL, &p) != 0)
        return NULL;
    if (base != NULL && !p.puts && !p.copies) {
        p.skip += (whole->offset - base->offset) / (int64_t)mxl_dtype_size(whole->dtype);
        return walked(b, base, &p, whole->strides[0], false);
    }
    if (!whole->contiguous && (base != NULL || (by_strides && p.copies))) {
        /* it may walk over contiguous elements alone */
        if (by_strides)
            whole = mxl_scope_own(b->s, mxl_array_contiguous(whole));
        if (whole == NULL || planned(b, whole, output, by_strides, &p) != 0)
            return NULL;
    }
    if (p.puts)
        return put(b, whole, &p);
    return walked(b, whole, &p, by_strides ? whole->strides[0] : b->in[0]->array.size,
                  by_strides && mxl_shape_size(p.shape.ndim, p.shape.dim) > 0);
}

static int movement(mxl_batch *b, mxl_array **out)
{
    mxl_array *whole = front(b, 0);

    for (int i = 0; i < b->r->call.num_outputs; i++) {
        out[i] = whole == NULL ? NULL : moved(b, whole, i);
        if (out[i] == NULL)
            return -1;
    }
    return 0;
}

/* ---- element-wise operators: axes of size 1 behind that of the batch ---- */

mxl_array *mxl_batch_aligned(mxl_batch *b, int i, int ndim, const int64_t *shape, bool expand)
{
    mxl_array *whole = whole_of(b, i);
    const mxl_array *logical = &b->in[i]->array;
    int64_t full[MXL_MAX_NDIM + 1];
    const mxl_op *op;
    mxl_tuple to = {ndim + 1, full};

    if (!b->in[i]->has_axis && !expand)
        return whole;
    whole = front(b, i);
    for (int k = 0; k < ndim; k++) {
        int at = k - (ndim - logical->ndim);

        full[k + 1] = at < 0 ? 1 : logical->shape[at];
    }
    full[0] = b->size;
    whole = mxl_batch_as(b, whole, ndim + 1, full);
    op = b->ops->broadcast_to;
    memcpy(full + 1, shape, (size_t)ndim * sizeof(*shape));
    return whole == NULL ? NULL
           : !expand || mxl_shape_same(whole->ndim, whole->shape, ndim + 1, full)
               ? whole
               : mxl_scope_call(b->s, op, &to, 1, &whole);
}

static int elementwise(mxl_batch *b, mxl_array **in, mxl_array **out)
{
    const mxl_shape *shape = b->r->out_shape;
    bool expand = b->count > 1 && b->r->call.op->infer != mxl_infer_broadcast;

    for (int i = 0; i < b->count; i++)
        in[i] = mxl_batch_aligned(b, i, shape->ndim, shape->dim, expand);
    if (b->target != NULL) {
        for (int i = 0; i < b->count; i++) {
            if (in[i] == NULL)
                return -1;
        }
        out[0] = b->target;
        return mxl_invoke(b->r->call.op, b->r->call.params, b->count, in, 1, out, b->s->mode);
    }
    return run_on(b, b->r->call.params, in, out);
}

static bool names_axes(const mxl_param *p)
{
    return strncmp(p->name, "axis", 4) == 0 || strcmp(p->name, "axes") == 0 ||
           strcmp(p->name, "dim") == 0;
}

/* ---- shapes as texts ("data[N,C,*S] weight[F,C,*kernel] -> [N,F,*window(S)]") ---- */

/* The first entry of the k-th list of the text, from `from` on; NULL: there is none. */
static const char *entry_of(const char *text, int k, int *length)
{
    for (; text != NULL && k >= 0; k--) {
        text = strchr(text, '[');
        text = text == NULL ? NULL : text + 1;
    }
    if (text == NULL)
        return NULL;
    *length = (int)strcspn(text, ",]:|/");
    return text;
}

static bool same_entry(const char *a, int n, const char *b, int m)
{
    return a != NULL && b != NULL && n == m && memcmp(a, b, (size_t)n) == 0;
}

/* Whether the text says that an axis, or any number of them ('*'), in front of all that have the
 * axis of the batch, and of the results, counts examples, and nothing else depends on it. */
static const char *counted(const mxl_batch *b, const char *text, int *length)
{
    const char *results = text == NULL ? NULL : strstr(text, "->"), *first = NULL, *found;
    int n = 0;

    if (results == NULL || strchr(text, '(') == text || strstr(text, "...") != NULL)
        return NULL;
    for (int i = 0; i < b->count; i++) {
        if (!b->in[i]->has_axis)
            continue;
        found = entry_of(text, i, &n);
        if (found == NULL || found > results ||
            (first != NULL && !same_entry(first, *length, found, n)))
            return NULL;
        first = found;
        *length = n;
    }
    for (int k = 0; k < b->r->call.num_outputs; k++) {
        found = entry_of(results, k, &n);
        if (!same_entry(first, *length, found, n))
            return NULL;
    }
    return first;
}

/* 1: done, 0: the text does not say so. -1 with the error set. */
static int by_text(mxl_batch *b, mxl_array **in, mxl_array **out)
{
    const mxl_op *op = b->r->call.op;
    const char *text = op->shapes_of != NULL ? op->shapes_of(b->r->call.params) : NULL, *first;
    int length = 0, n;

    for (const mxl_param *p = mxl_op_params(op); p->name != NULL; p++) {
        if (names_axes(p))
            return 0;
    }
    if (op->grad_updates || op->is_loss != NULL || (op->draws && !op->along) || op->mutates != NULL)
        return 0;
    text = text == NULL ? op->shapes : text;
    first = counted(b, text, &length);
    if (first == NULL)
        return 0;
    for (int i = 0; i < b->count; i++) {
        const mxl_array *x = &b->in[i]->array;
        const char *own = entry_of(text, i, &n);
        bool counts = same_entry(first, length, own, n);
        int64_t shape[MXL_MAX_NDIM];

        in[i] = counts ? front(b, i) : whole_of(b, i);
        if (!counts || *first == '*' || in[i] == NULL)
            continue;
        if (x->ndim == 0)
            return 0;
        memcpy(shape, x->shape, (size_t)x->ndim * sizeof(*shape));
        shape[0] *= b->size;
        in[i] = mxl_batch_as(b, in[i], x->ndim, shape);
    }
    if (run_on(b, b->r->call.params, in, out) != 0)
        return -1;
    for (int k = 0; k < b->r->call.num_outputs; k++) {
        int64_t shape[MXL_MAX_NDIM + 1] = {b->size};
        const mxl_shape *to = &b->r->out_shape[k];

        memcpy(shape + 1, to->dim, (size_t)to->ndim * sizeof(*shape));
        out[k] = mxl_batch_as(b, out[k], to->ndim + 1, shape);
        if (out[k] == NULL)
            return -1;
    }
    return 1;
}

/* ---- a parameter that names axes ---- */

/* Counts the axes of a parameter behind that of the batch. `list` is room for them. 1: done, 0: the
 * parameter means something else; -1: all axes, which become one. */
static int shift(const mxl_param *p, char *params, int ndim, int64_t *list)
{
    void *field = params + p->offset;
    mxl_tuple *axes = field;
    int64_t *axis = field;

    if (p->type == MXL_P_INT || p->type == MXL_P_OPT_INT) {
        if (*axis == MXL_NONE) {
            *axis = 1;
            return -1;
        }
        if (*axis >= 0)
            ++*axis;
        return 1;
    }
    if (p->type != MXL_P_SHAPE && p->type != MXL_P_OPT_SHAPE)
        return 0;
    if (axes->n <= 0) {
        for (int i = 0; i < ndim; i++)
            list[i] = i + 1;
        axes->n = ndim;
    } else {
        for (int i = 0; i < axes->n; i++)
            list[i] = axes->v[i] + (axes->v[i] >= 0);
    }
    axes->v = list;
    return 1;
}

static void put_in_front(const mxl_batch *b, mxl_tuple *list, int64_t *room)
{
    room[0] = b->size;
    memcpy(room + 1, list->v, (size_t)list->n * sizeof(*room));
    list->v = room;
    list->n++;
}

/* 1: done, 0: no operator of one array, or of several alike, with axes by name. -1 with the error
 * set. */
static int by_axes(mxl_batch *b, mxl_array **in, mxl_array **out)
{
    const mxl_op *op = b->r->call.op;
    bool joins = op->key_var_num_args != NULL && op->arity != NULL;
    const int *excludes = mxl_batch_flag(b, "exclude");
    int64_t lists[2][MXL_MAX_NDIM], shape[MXL_MAX_NDIM + 1];
    _Alignas(16) char params[PARAMS_ROOM];
    int found = 0, ndim = b->in[0]->array.ndim;
    bool flat = false;

    if ((b->count != 1 && !joins && !op->along) || op->params_size > PARAMS_ROOM || op->draws ||
        (excludes != NULL && *excludes) || (ndim == 0 && joins))
        return 0;
    memcpy(params, b->r->call.params, op->params_size);
    for (const mxl_param *p = mxl_op_params(op); p->name != NULL; p++) {
        int done =
            names_axes(p) && found < 2 ? shift(p, params, ndim == 0 ? 1 : ndim, lists[found]) : 0;

        if (op->along && strcmp(p->name, "shape") == 0)
            put_in_front(b, (mxl_tuple *)(params + p->offset), shape);
        found += done != 0;
        flat = flat || done < 0;
    }
    if (found == 0 && !op->along)
        return 0;
    for (int i = 0; i < b->count; i++) {
        in[i] = front(b, i);
        if (flat || ndim == 0)
            in[i] = mxl_batch_shaped(b, in[i], 1, &b->in[i]->array.size);
    }
    return run_on(b, params, in, out) == 0 ? 1 : -1;
}

/* ---- sums of what broadcasting has enlarged; cases in rows ---- */

/* 1: done, 0: another operator. -1 with the error set. */
static int sum_to(mxl_batch *b, mxl_array **out)
{
    const mxl_builtin_ops *builtin = b->ops;
    const mxl_shape *to = b->r->out_shape;
    int ndim = b->in[0]->array.ndim;
    int64_t shape[MXL_MAX_NDIM + 1] = {b->size};
    mxl_tuple full = {ndim + 1, shape};
    mxl_array *whole;

    if (b->r->call.op != builtin->sum_to || ndim < to->ndim)
        return 0;
    for (int i = 0; i < ndim; i++)
        shape[i + 1] = i < ndim - to->ndim ? 1 : to->dim[i - (ndim - to->ndim)];
    whole = front(b, 0);
    out[0] = mxl_scope_call(b->s, builtin->sum_to, &full, 1, &whole);
    return out[0] == NULL ? -1 : 1;
}

static int by_rows(mxl_batch *b, mxl_array **in, mxl_array **out)
{
    for (int i = 0; i < b->count; i++) {
        const mxl_array *x = &b->in[i]->array;
        int64_t shape[MXL_MAX_NDIM];

        memcpy(shape, x->shape, (size_t)x->ndim * sizeof(*shape));
        shape[0] *= b->size;
        in[i] = mxl_batch_as(b, front(b, i), x->ndim, shape);
    }
    return run_on(b, b->r->call.params, in, out) == 0 ? 1 : -1;
}

/* ---- example by example ---- */

/* The examples of input i into `parts`, of all that have the axis. */
static int cut(mxl_batch *b, int i, mxl_array **parts)
{
    const mxl_builtin_ops *builtin = b->ops;
    mxl_array *whole = whole_of(b, i);
    const mxl_array *x = &b->in[i]->array;
    int64_t strides[MXL_MAX_NDIM];
    mxl_strided_params to = {.shape = {x->ndim, x->shape}, .strides = {x->ndim, strides}};

    mxl_shape_strides(x->ndim, x->shape, strides);
    for (int64_t k = 0; k < b->size; k++) {
        if (!b->in[i]->has_axis)
            parts[k] = whole;
        else if (mxl_batch_follows(&b->s->mode, whole))
            to.skip = k * x->size,
            parts[k] =
                builtin == NULL ? NULL : mxl_scope_call(b->s, builtin->as_strided, &to, 1, &whole);
        else
            parts[k] = mxl_scope_own(b->s, mxl_array_strided(whole, k * whole->strides[0], x->ndim,
                                                             x->shape, x->strides));
        if (parts[k] == NULL)
            return -1;
    }
    return 0;
}

static int each(mxl_batch *b, mxl_array **parts, mxl_array **in, mxl_array **results)
{
    const mxl_call *c = &b->r->call;
    bool same = c->op->draws && b->same;
    uint64_t state[2];

    mxl_random_get(state);
    for (int64_t k = 0; k < b->size; k++) {
        if (same)
            mxl_random_set(state);
        for (int i = 0; i < b->count; i++)
            in[i] = parts[i * b->size + k];
        for (int o = 0; o < c->num_outputs; o++)
            results[k + o * b->size] = NULL;
        if (run_on(b, c->params, in, in + b->count) != 0)
            return -1;
        for (int o = 0; o < c->num_outputs; o++)
            results[k + o * b->size] = in[b->count + o];
    }
    return 0;
}

static int loop(mxl_batch *b, mxl_array **out)
{
    static const char *const names[] = {"axis", "num_args"};
    const mxl_call *c = &b->r->call;
    int count = b->count, outputs = c->num_outputs;
    size_t bytes = (size_t)(count + outputs) * (size_t)(b->size + 1) * sizeof(mxl_array *);
    mxl_array **parts = mxl_alloc_zero(bytes), **results = parts + count * b->size;
    int status = parts == NULL ? -1 : 0;

    if (!c->op->draws)
        mxl_batch_note_loop(c->op->name);
    for (int i = 0; i < count && status == 0; i++)
        status = cut(b, i, parts + i * b->size);
    if (status == 0)
        status = each(b, parts, results + outputs * b->size, results);
    for (int o = 0; o < outputs && status == 0; o++) {
        out[o] = mxl_batch_call(b, b->ops->stack, (int)b->size, results + o * b->size, 2, names,
                                (const int64_t[]){0, b->size});
        status = out[o] == NULL ? -1 : 0;
    }
    mxl_free(parts, bytes);
    return status;
}

/* ---- the choice ---- */

static int apply(mxl_batch *b, mxl_array **in, mxl_array **out)
{
    const mxl_op *op = b->r->call.op;
    int done;

    for (int i = 0; i < b->count; i++)
        in[i] = whole_of(b, i);
    for (int i = 0; i < b->count; i++) {
        if (mxl_run_mutates(&b->r->call, i))
            return mxl_error("vmap: %s updates its input %d, which is not possible here", op->name,
                             i);
    }
    if (!b->has_axis)
        return run_on(b, b->r->call.params, in, out);
    if (op->plan != NULL && !(op->arity != NULL && b->count > 1))
        return movement(b, out);
    if (op->draws && (b->same || b->count == 0))
        return loop(b, out);
    if (op->kernels != NULL || op->promotion != NULL)
        return elementwise(b, in, out);
    done = op->batch != NULL ? op->batch(b, out) : 0;
    if (done == 0)
        done = op->by_rows ? by_rows(b, in, out) : sum_to(b, out);
    if (done == 0)
        done = by_text(b, in, out);
    if (done == 0)
        done = by_axes(b, in, out);
    return done > 0 ? 0 : done < 0 ? -1 : loop(b, out);
}

int mxl_batch_apply(mxl_batch *b, mxl_array **out)
{
    size_t bytes = ((size_t)b->count + 1) * sizeof(mxl_array *);
    mxl_array **in = mxl_alloc_zero(bytes);
    int status = in == NULL ? -1 : apply(b, in, out);

    mxl_free(in, bytes);
    return status;
}
