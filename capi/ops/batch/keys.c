/* Keys and positions that differ among the examples of a batch; see rules.h. */
#include "ops/batch/rules.h"
#include "ops/index/key.h"
#include "ops/index/take.h"

/* ---- axes ---- */

mxl_array *mxl_vmap_move(mxl_batch *b, mxl_array *a, int from, int to)
{
    int64_t axes[MXL_MAX_NDIM];
    int n = 0;

    if (a == NULL || from == to)
        return a;
    for (int i = 0; i < a->ndim; i++) {
        if (i == to && to < from)
            axes[n++] = from;
        if (i != from)
            axes[n++] = i;
        if (i == to && to > from)
            axes[n++] = from;
    }
    return mxl_transpose(b->s, a, axes);
}

/* Swaps the places of `before` axes behind the first one, and of the `count` axes that follow. */
static mxl_array *turned(mxl_batch *b, mxl_array *a, int before, int count)
{
    int64_t axes[MXL_MAX_NDIM] = {0};
    int n = 1;

    if (a == NULL || before == 0 || count == 0)
        return a;
    for (int i = 0; i < count; i++)
        axes[n++] = 1 + before + i;
    for (int i = 0; i < before; i++)
        axes[n++] = 1 + i;
    for (; n < a->ndim; n++)
        axes[n] = n;
    return mxl_transpose(b->s, a, axes);
}

/* ---- keys ---- */

enum { NUMBERS = 5 * MXL_MAX_NDIM, ADDED = 4 };

/* Adds whole slices to a key of n numbers; of how many it is then. */
static int add_slices(int64_t *numbers, int n, int count)
{
    for (int i = 0; i < count; i++) {
        numbers[n++] = MXL_PART_SLICE;
        for (int k = 0; k < 3; k++)
            numbers[n++] = MXL_NONE;
    }
    return n;
}

/* How a key selects of a batch. */
typedef enum way {
    LOOP,   /* masks differ among examples, or the key is too long */
    SHARED, /* of one array, by index arrays with the axis of the batch: it comes where theirs do */
    WHOLES, /* of each array the same: a slice in front */
    ARRAYS, /* of each array its own: a further index array, of the examples' numbers, in front */
} way;

typedef struct keyed {
    mxl_batch *b;
    way way;
    mxl_key key; /* of an example */
    mxl_key_params params;
    int64_t numbers[NUMBERS + ADDED];
    int first, count;
    mxl_array *in[MXL_MAX_NDIM + 3];
} keyed;

static way way_of(const keyed *k, bool reads)
{
    const mxl_batch *b = k->b;
    const mxl_key_params *p = b->r->call.params;
    bool differ = false;

    for (int i = k->first; i < b->count; i++) {
        differ = differ || b->in[i]->has_axis;
        if (b->in[i]->has_axis && k->key.index[i - k->first].is_mask)
            return LOOP;
    }
    if (p->key.n > NUMBERS || k->key.result.ndim + 1 > MXL_MAX_NDIM ||
        k->key.count > MXL_MAX_NDIM - 1)
        return LOOP;
    if (reads && !b->in[0]->has_axis)
        return SHARED;
    /* an index in front would be side by side with arrays that are apart */
    return !differ && (k->key.count == 0 || (k->key.count == 1 && p->rules == MXL_KEY_TORCH))
               ? WHOLES
               : ARRAYS;
}

/* The numbers of the examples, in a shape that broadcasts with the other index arrays'. */
static mxl_array *examples(const keyed *k)
{
    int64_t shape[MXL_MAX_NDIM] = {k->b->size};

    for (int i = 1; i <= k->key.group.ndim; i++)
        shape[i] = 1;
    return mxl_reshape(k->b->s, mxl_range(k->b->s, k->b->size, MXL_I64), k->key.group.ndim + 1,
                       shape);
}

/* Reads the key of an example, an array of that shape, with index arrays from input `first` on; and
 * makes that of the batch, whose inputs are `in`, but for those before `first`. -1 with the error
 * set, 0 for LOOP. */
static int begin(keyed *k, mxl_batch *b, int first, int ndim, const int64_t *shape, bool reads)
{
    const mxl_call *c = &b->r->call;
    const mxl_key_params *p = c->params;
    mxl_array *indices[MXL_MAX_NDIM];
    int n = 0;

    if (b->count - first > MXL_MAX_NDIM)
        return 0;
    k->b = b;
    k->first = first;
    for (int i = first; i < b->count; i++)
        indices[i - first] = b->in[i]->has_axis ? &b->in[i]->array : b->in[i]->whole;
    mxl_plan_begin(&k->key.view, c->op, p, ndim, shape);
    if (mxl_key_read(&k->key, b->count - first, indices) != 0)
        return -1;
    k->way = way_of(k, reads);
    if (k->way == LOOP)
        return 0;
    k->params = *p;
    if (k->way == WHOLES)
        n = add_slices(k->numbers, 0, 1);
    k->count = first;
    if (k->way == ARRAYS) {
        k->numbers[n++] = MXL_PART_ARRAY;
        k->in[k->count++] = examples(k);
    }
    for (int i = 0; i < p->key.n; i++)
        k->numbers[n++] = p->key.v[i];
    k->params.key = (mxl_tuple){n, k->numbers};
    for (int i = first; i < b->count; i++)
        k->in[k->count++] = mxl_batch_aligned(b, i, k->key.group.ndim, k->key.group.dim, false);
    return 1;
}

static mxl_array *run(const keyed *k)
{
    for (int i = 0; i < k->count; i++) {
        if (k->in[i] == NULL)
            return NULL;
    }
    return mxl_scope_call(k->b->s, k->b->r->call.op, &k->params, k->count,
                          (mxl_array **)(size_t)k->in);
}

/* Input i broadcast to what an example selects, if `expand`, with axes in the order in which the
 * key of the batch selects. */
static mxl_array *values(keyed *k, int i, bool expand)
{
    const mxl_array *x = &k->b->in[i]->array;
    const mxl_shape *to = &k->key.result;
    mxl_array *whole;
    int ones = 0;

    if (!k->b->in[i]->has_axis && !expand && (k->way != ARRAYS || k->key.place == 0))
        return k->b->in[i]->whole;
    while (x->ndim - ones > to->ndim && x->shape[ones] == 1)
        ones++;
    whole = mxl_batch_fronted(k->b, k->b->in[i]->whole, k->b->in[i]->has_axis);
    if (ones > 0)
        whole = mxl_batch_shaped(k->b, whole, x->ndim - ones, x->shape + ones);
    if (whole != NULL) {
        int64_t shape[MXL_MAX_NDIM + 1];
        int left = to->ndim - (x->ndim - ones);

        for (int a = 0; a < to->ndim; a++)
            shape[a] = a < left ? 1 : x->shape[ones + a - left];
        whole = mxl_batch_shaped(k->b, whole, to->ndim, shape);
    }
    return k->way == ARRAYS ? turned(k->b, whole, k->key.place, k->key.group.ndim) : whole;
}

int mxl_vmap_index(mxl_batch *b, mxl_array **out)
{
    const mxl_array *x = &b->in[0]->array;
    keyed k;
    int done;

    if (b->count == 1)
        return 0;
    done = begin(&k, b, 1, x->ndim, x->shape, true);
    if (done <= 0)
        return done;
    k.in[0] = b->in[0]->whole;
    out[0] = run(&k);
    if (k.way == SHARED)
        out[0] = mxl_vmap_move(b, out[0], k.key.place, 0);
    else if (k.way == ARRAYS)
        out[0] = turned(b, out[0], k.key.group.ndim, k.key.place);
    return out[0] == NULL ? -1 : 1;
}

int mxl_vmap_index_add(mxl_batch *b, mxl_array **out)
{
    const mxl_key_params *p = b->r->call.params;
    int64_t shape[MXL_MAX_NDIM + 1] = {b->size};
    keyed k;
    int done = p->shape.n >= MXL_MAX_NDIM ? 0 : begin(&k, b, 1, p->shape.n, p->shape.v, false);

    if (done <= 0)
        return done;
    for (int i = 0; i < p->shape.n; i++)
        shape[i + 1] = p->shape.v[i];
    k.params.shape = (mxl_tuple){p->shape.n + 1, shape};
    k.in[0] = values(&k, 0, true);
    out[0] = run(&k);
    return out[0] == NULL ? -1 : 1;
}

int mxl_vmap_index_put(mxl_batch *b, mxl_array **out)
{
    bool fills = ((const mxl_key_params *)b->r->call.params)->fill != 0;
    const mxl_array *x = &b->in[0]->array;
    keyed k;
    int done = begin(&k, b, fills ? 1 : 2, x->ndim, x->shape, false);

    if (done <= 0)
        return done;
    k.in[0] = mxl_batch_fronted(b, b->in[0]->whole, b->in[0]->has_axis);
    if (!fills)
        k.in[1] = values(&k, 1, false);
    out[0] = run(&k);
    return out[0] == NULL ? -1 : 1;
}

/* ---- positions along an axis ---- */

/* A key that selects, of each example, its positions along an axis. */
typedef struct along {
    mxl_key_params key;
    int64_t numbers[NUMBERS];
    mxl_array *in[3];
} along;

static int begin_along(along *a, mxl_batch *b, int axis, int64_t n)
{
    const mxl_batched *index = b->in[1];
    int64_t shape[MXL_MAX_NDIM] = {b->size};
    int count = 0;

    a->numbers[count++] = MXL_PART_ARRAY;
    count = add_slices(a->numbers, count, axis);
    a->numbers[count++] = MXL_PART_ARRAY;
    a->key = (mxl_key_params){.key = {count, a->numbers}, .rules = MXL_KEY_TORCH};
    for (int i = 1; i <= index->array.ndim; i++)
        shape[i] = 1;
    a->in[1] = mxl_reshape(b->s, mxl_range(b->s, b->size, MXL_I64), index->array.ndim + 1, shape);
    a->in[2] = mxl_take_positions(b->s, b->r->call.params, index->whole, n);
    return a->in[0] == NULL || a->in[1] == NULL || a->in[2] == NULL ? -1 : 0;
}

/* The call on the wholes, of which one has the axis of the batch: along axis `axis` of the array,
 * whose gradient's shape is that of `shape`. */
static mxl_array *take_of_wholes(mxl_batch *b, int axis, mxl_tuple shape)
{
    mxl_take_params p = *(const mxl_take_params *)b->r->call.params;
    mxl_array *pair[2] = {b->in[0]->whole, b->in[1]->whole};

    p.axis = axis;
    p.shape = shape;
    return mxl_scope_call(b->s, b->r->call.op, &p, 2, pair);
}

int mxl_vmap_take(mxl_batch *b, mxl_array **out)
{
    const mxl_take_params *p = b->r->call.params;
    const mxl_array *x = &b->in[0]->array;
    int axis = mxl_shape_axis(p->axis, x->ndim);
    along a = {.in = {b->in[0]->whole}};

    if (axis < 0 || 4 * axis + 2 > NUMBERS)
        return 0;
    if (!b->in[1]->has_axis) {
        out[0] = take_of_wholes(b, axis + 1, p->shape);
    } else if (!b->in[0]->has_axis) {
        out[0] = mxl_vmap_move(b, take_of_wholes(b, axis, p->shape), axis, 0);
    } else {
        if (begin_along(&a, b, axis, x->shape[axis]) != 0)
            return -1;
        out[0] = mxl_scope_call(b->s, &mxl_op_index, &a.key, 3, a.in);
        if (axis > 0)
            out[0] = turned(b, out[0], b->in[1]->array.ndim, axis);
    }
    return out[0] == NULL ? -1 : 1;
}

int mxl_vmap_take_grad(mxl_batch *b, mxl_array **out)
{
    const mxl_take_params *p = b->r->call.params;
    int axis = mxl_shape_axis(p->axis, p->shape.n), ndim = b->in[1]->array.ndim;
    int64_t shape[MXL_MAX_NDIM + 1] = {b->size}, of_data[MXL_MAX_NDIM];
    mxl_tuple whole = {p->shape.n + 1, shape};
    along a = {.in = {mxl_batch_fronted(b, b->in[0]->whole, b->in[0]->has_axis)}};

    if (axis < 0 || 4 * axis + 2 > NUMBERS || p->shape.n + ndim >= MXL_MAX_NDIM)
        return 0;
    for (int i = 0; i < p->shape.n; i++)
        shape[i + 1] = p->shape.v[i];
    if (!b->in[1]->has_axis) {
        out[0] = take_of_wholes(b, axis + 1, whole);
        return out[0] == NULL ? -1 : 1;
    }
    for (int i = 0, n = 0; i < p->shape.n; i++) {
        for (int k = 0; i == axis && k < ndim; k++)
            of_data[n++] = b->in[1]->array.shape[k];
        if (i != axis)
            of_data[n++] = p->shape.v[i];
    }
    a.in[0] = mxl_batch_shaped(b, a.in[0], p->shape.n - 1 + ndim, of_data);
    a.in[0] = turned(b, a.in[0], axis, ndim);
    if (begin_along(&a, b, axis, p->shape.v[axis]) != 0)
        return -1;
    a.key.shape = whole;
    a.key.accumulate = 1;
    out[0] = mxl_scope_call(b->s, &mxl_op_index_add, &a.key, 3, a.in);
    return out[0] == NULL ? -1 : 1;
}

/* ---- rows in order ---- */

int mxl_vmap_searchsorted(mxl_batch *b, mxl_array **out)
{
    const mxl_array *rows = &b->in[0]->array, *x = &b->in[1]->array;
    mxl_array *pair[2] = {b->in[0]->whole, b->in[1]->whole};

    if (rows->ndim > 1 || b->in[0]->has_axis) {
        for (int i = 0; i < 2; i++)
            pair[i] = mxl_batch_fronted(b, pair[i], b->in[i]->has_axis);
        if (rows->ndim == 1)
            pair[1] = mxl_batch_shaped(b, pair[1], 1, &x->size);
    }
    if (pair[0] == NULL || pair[1] == NULL)
        return -1;
    out[0] = mxl_scope_call(b->s, b->r->call.op, b->r->call.params, 2, pair);
    return out[0] == NULL ? -1 : 1;
}
