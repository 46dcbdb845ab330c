/* Reads keys, one part after the other; see key.h. */
#include "ops/index/key.h"

#include "array/copy.h"
#include "kernel/index/flags.h"
#include "ops/shape/movement.h"

/* ---- parts ---- */

typedef struct part {
    mxl_part_kind kind;
    const int64_t *v;
} part;

static const int operands[MXL_PART_KINDS] = {[MXL_PART_INTEGER] = 1, [MXL_PART_SLICE] = 3};

/* A walk over the parts of a key. */
typedef struct reader {
    mxl_key *k; /* NULL: no index arrays */
    mxl_plan *view;
    const mxl_key_params *params;
    int at;   /* in the list of numbers */
    int axis; /* of the view */
    int own;  /* axis of the array */
    int arrays;
    bool was_index;
    int groups; /* of indices side by side */
} reader;

static bool next_part(reader *r, part *found)
{
    if (r->at >= r->params->key.n)
        return false;
    found->kind = (mxl_part_kind)r->params->key.v[r->at];
    found->v = r->params->key.v + r->at + 1;
    r->at += 1 + operands[found->kind];
    return true;
}

static int check_list(const reader *r)
{
    mxl_tuple key = r->params->key;

    for (int at = 0; at < key.n; at += 1 + operands[key.v[at]]) {
        if (key.v[at] < 0 || key.v[at] >= MXL_PART_KINDS || operands[key.v[at]] >= key.n - at)
            return mxl_error("%s: entry %d of the key begins no part", r->view->op->name, at);
    }
    return 0;
}

static const char *axis_word(const mxl_key_params *p)
{
    return p->rules == MXL_KEY_TORCH ? "dimension" : "axis";
}

static int wrong_dtype(const mxl_array *index, int rules)
{
    if (rules == MXL_KEY_MXNET || index->dtype == MXL_I32 || index->dtype == MXL_I64)
        return 0;
    if (rules == MXL_KEY_NUMPY && !mxl_dtype_is_float(index->dtype))
        return 0;
    return mxl_error("IndexError: an index array is of whole numbers%s, or a mask (bool%s), got %s",
                     rules == MXL_KEY_TORCH ? " (int64, int32)" : "",
                     rules == MXL_KEY_TORCH ? ", uint8" : "", mxl_dtype_name(index->dtype));
}

static bool is_mask(const mxl_array *index, int rules)
{
    return index->dtype == MXL_BOOL || (rules == MXL_KEY_TORCH && index->dtype == MXL_U8);
}

/* ---- what a key needs ---- */

/* Counts the axes that the parts take, and notes the index arrays. Sets how many axes `...` stands
 * for. */
static int count_parts(reader *r, int num_indices, mxl_array *const *indices, int *dots)
{
    int used = 0, num_dots = 0, ndim = r->view->shape.ndim;
    part p;

    if (check_list(r) != 0)
        return -1;
    while (next_part(r, &p)) {
        if (p.kind == MXL_PART_ARRAY && r->k != NULL && r->k->count < num_indices &&
            r->k->count < MXL_MAX_NDIM) {
            mxl_array *index = indices[r->k->count];
            bool mask = is_mask(index, r->params->rules);

            if (!mask && wrong_dtype(index, r->params->rules) != 0)
                return -1;
            r->k->index[r->k->count].array = index;
            r->k->index[r->k->count].is_mask = mask;
            r->k->index[r->k->count++].axes = mask ? index->ndim : 1;
            used += mask ? index->ndim : 1;
        } else if (p.kind == MXL_PART_ARRAY) {
            return mxl_error("%s: the key names more index arrays than there are, %d, or more "
                             "than %d",
                             r->view->op->name, num_indices, MXL_MAX_NDIM);
        }
        used += p.kind == MXL_PART_INTEGER || p.kind == MXL_PART_SLICE;
        num_dots += p.kind == MXL_PART_DOTS;
    }
    r->at = 0;
    if (used > ndim)
        return mxl_error("IndexError: too many indices: the key takes %d %s, the array has %d",
                         used, r->params->rules == MXL_KEY_TORCH ? "dimensions" : "axes", ndim);
    if (num_dots > 1 && r->params->rules != MXL_KEY_TORCH)
        return mxl_error("IndexError: a key has at most one ...");
    if (r->k != NULL && r->k->count != num_indices)
        return mxl_error("%s: the key names %d index arrays, there are %d", r->view->op->name,
                         r->k->count, num_indices);
    *dots = ndim - used;
    return 0;
}

/* ---- applying parts ---- */

int mxl_key_out_of_bounds(const mxl_key_params *p, int axis, int64_t index, int64_t size)
{
    return mxl_error("IndexError: index %lld is outside %s %d, which has size %lld",
                     (long long)index, axis_word(p), axis, (long long)size);
}

static int apply_integer(reader *r, int64_t index)
{
    int64_t size = r->view->shape.dim[r->axis];

    if (index < -size || index >= size)
        return mxl_key_out_of_bounds(r->params, r->own, index, size);
    mxl_plan_cut(r->view, r->axis, index < 0 ? index + size : index, 1, 1);
    mxl_plan_drop(r->view, r->axis);
    r->own++;
    return 0;
}

static int apply_slice(reader *r, const int64_t *v)
{
    int64_t step = v[2] == MXL_NONE ? 1 : v[2], first, count;

    if (r->params->rules == MXL_KEY_TORCH && step < 1)
        return mxl_error("ValueError: a slice has a step of 1 or more, got %lld", (long long)step);
    if (step == 0)
        return mxl_error("ValueError: the step of a slice is 0");
    count = mxl_slice_part(r->view->shape.dim[r->axis], v[0], v[1], step, &first);
    if (count != r->view->shape.dim[r->axis] || step != 1)
        mxl_plan_cut(r->view, r->axis, first, count, count > 1 ? step : 1);
    r->axis++;
    r->own++;
    return 0;
}

static int wrong_mask(const reader *r, const mxl_array *mask, int number)
{
    return mxl_error("IndexError: a mask of shape %s does not fit the array: %s %d of the mask is "
                     "%s %d of the array, which has size %lld",
                     MXL_SHAPE_OF(mask), axis_word(r->params), number, axis_word(r->params),
                     r->own + number, (long long)r->view->shape.dim[r->axis + number]);
}

/* Joins a shape to the group's; -1 with the error set where it does not fit. */
static int join(mxl_key *k, int rules, int ndim, const int64_t *shape)
{
    mxl_shape *group = &k->group;

    while (group->ndim < ndim) {
        for (int i = group->ndim++; i > 0; i--)
            group->dim[i] = group->dim[i - 1];
        group->dim[0] = 1;
    }
    for (int i = 1; i <= ndim; i++) {
        int64_t *have = &group->dim[group->ndim - i], size = shape[ndim - i];

        if (*have != size && *have != 1 && size != 1)
            return mxl_error("%s: index arrays of the shapes %s and %s have no common shape",
                             rules == MXL_KEY_TORCH ? "IndexError" : "ValueError",
                             MXL_SHAPE_TEXT(group->ndim, group->dim), MXL_SHAPE_TEXT(ndim, shape));
        if (size != 1)
            *have = size;
    }
    return 0;
}

/* The number of elements of a mask that are set, for one without values that of all; -1 with the
 * error set. */
static int64_t count_set(mxl_array *mask)
{
    mxl_array *whole;
    int64_t count;

    if (mxl_array_is_meta(mask))
        return mask->size;
    whole = mxl_array_contiguous(mask);
    count = whole == NULL ? -1 : mxl_flags_count(mxl_array_read(whole), whole->size);

    mxl_array_release(whole);
    return count;
}

static int apply_array(reader *r)
{
    int number = r->arrays++;
    mxl_array *index = r->k->index[number].array;
    int64_t *found = &r->k->index[number].found;

    r->k->index[number].axis = r->axis;
    r->k->index[number].own = r->own;
    if (!r->k->index[number].is_mask) {
        r->axis++;
        r->own++;
        return join(r->k, r->params->rules, index->ndim, index->shape);
    }
    for (int i = 0; i < index->ndim; i++) {
        if (index->shape[i] != r->view->shape.dim[r->axis + i])
            return wrong_mask(r, index, i);
    }
    r->axis += index->ndim;
    r->own += index->ndim;
    *found = count_set(index);
    return *found < 0 ? -1 : join(r->k, r->params->rules, 1, found);
}

/* Notes whether a part is an index, and at which axis of the result the first one is. */
static void note_index(reader *r, bool is_index, int taken)
{
    if (r->k == NULL)
        return;
    if (is_index && !r->was_index && r->groups++ == 0)
        r->k->place = r->axis - taken;
    r->was_index = is_index;
}

/* `taken`: axes of the view that indices have taken so far. */
static int apply(reader *r, const part *p, int dots, int *taken)
{
    bool torch = r->params->rules == MXL_KEY_TORCH;
    int before = r->axis;

    switch (p->kind) {
    case MXL_PART_INTEGER:
        if (!torch)
            note_index(r, true, *taken);
        return apply_integer(r, p->v[0]);
    case MXL_PART_ARRAY:
        note_index(r, true, *taken);
        if (apply_array(r) != 0)
            return -1;
        *taken += r->axis - before;
        return 0;
    case MXL_PART_SLICE:
        note_index(r, false, 0);
        return apply_slice(r, p->v);
    case MXL_PART_NEW:
        note_index(r, false, 0);
        return mxl_plan_insert(r->view, r->axis++, 1);
    default:
        if (!torch || dots > 0)
            note_index(r, false, 0);
        r->axis += dots;
        r->own += dots;
        return 0;
    }
}

static int apply_all(reader *r, int dots)
{
    int taken = 0;
    part p;

    while (next_part(r, &p)) {
        int axes =
            p.kind == MXL_PART_ARRAY ? r->k->index[r->arrays].axes : p.kind <= MXL_PART_SLICE;

        if (p.kind != MXL_PART_DOTS && r->axis + axes > r->view->shape.ndim)
            return mxl_error(
                "IndexError: each ellipsis (...) expands to %d dimensions: what follows "
                "the second is out of range",
                dots);
        if (apply(r, &p, dots, &taken) != 0)
            return -1;
    }
    return 0;
}

int mxl_key_plan(mxl_plan *p)
{
    reader r = {.view = p, .params = p->params};
    int dots;

    return count_parts(&r, 0, NULL, &dots) != 0 ? -1 : apply_all(&r, dots);
}

static int find_result(mxl_key *k)
{
    int ndim = 0;

    k->result.ndim = k->view.shape.ndim + k->group.ndim;
    for (int n = 0; n < k->count; n++)
        k->result.ndim -= k->index[n].axes;
    if (k->result.ndim > MXL_MAX_NDIM)
        return mxl_error("%s: the result would have more than %d axes", k->view.op->name,
                         MXL_MAX_NDIM);
    for (int i = 0; i <= k->view.shape.ndim; i++) {
        for (int n = 0; ndim == k->place + n && n < k->group.ndim; n++)
            k->result.dim[ndim++] = k->group.dim[n];
        if (i < k->view.shape.ndim && !mxl_key_takes(k, i))
            k->result.dim[ndim++] = k->view.shape.dim[i];
        if (ndim == k->result.ndim)
            break;
    }
    return mxl_shape_count(k->result.ndim, k->result.dim) < 0 ? mxl_error_prefix(k->view.op->name)
                                                              : 0;
}

int mxl_key_read(mxl_key *k, int num_indices, mxl_array *const *indices)
{
    reader r = {.k = k, .view = &k->view, .params = k->view.params};
    int dots;

    k->count = k->place = 0;
    k->group.ndim = 0;
    if (count_parts(&r, num_indices, indices, &dots) != 0 || apply_all(&r, dots) != 0)
        return -1;
    if (r.groups != 1)
        k->place = 0;
    return find_result(k);
}

/* ---- one operator for each part ---- */

static const int64_t whole[] = {MXL_PART_SLICE, MXL_NONE, MXL_NONE, MXL_NONE};

enum { WHOLE = 4 };

/* Appends whole slices until the key of the view has `axes`. */
static void add_whole(mxl_tuple *rest, int64_t *numbers, int count)
{
    for (int i = 0; i < count; i++) {
        for (int n = 0; n < WHOLE; n++)
            numbers[rest->n++] = whole[n];
    }
}

/* The part's view of `x`; `r->axis` is where it begins. */
static mxl_array *part_view(mxl_scope *s, mxl_array *x, const reader *r, const part *p, bool alone)
{
    switch (p->kind) {
    case MXL_PART_INTEGER:
        return mxl_select_at(s, x, r->axis, p->v[0]);
    case MXL_PART_SLICE:
        if (!alone && p->v[0] == MXL_NONE && p->v[1] == MXL_NONE && p->v[2] == MXL_NONE)
            return x;
        return mxl_slice_steps(s, x, r->axis, p->v[0], p->v[1], p->v[2]);
    case MXL_PART_NEW:
        return mxl_expand_dims(s, x, r->axis);
    default:
        return x;
    }
}

mxl_array *mxl_key_views(mxl_scope *s, const mxl_call *call, mxl_tuple *rest, int64_t *numbers,
                         mxl_array **inputs)
{
    mxl_array *x = call->in[0];
    mxl_key k;
    reader r = {.k = &k, .view = &k.view, .params = call->params};
    int dots;
    part p;

    k.count = 0;
    mxl_plan_begin(&k.view, call->op, call->params, x->ndim, x->shape);
    if (count_parts(&r, call->num_inputs - 1, call->in + 1, &dots) != 0)
        return NULL;
    *rest = (mxl_tuple){0, numbers};
    while (x != NULL && next_part(&r, &p)) {
        x = part_view(s, x, &r, &p, r.params->key.n == WHOLE);
        if (p.kind == MXL_PART_ARRAY) {
            mxl_array *index = call->in[1 + r.arrays];

            if (index->ndim == 0 && k.index[r.arrays].is_mask) {
                x = mxl_expand_dims(s, x, r.axis);
                index = mxl_reshape(s, index, 1, &(int64_t){1});
            }
            numbers[rest->n++] = MXL_PART_ARRAY;
            inputs[1 + r.arrays] = index;
            r.axis += k.index[r.arrays].is_mask ? index == NULL ? 0 : index->ndim : 1;
            r.arrays++;
        } else if (p.kind != MXL_PART_INTEGER) {
            int count = p.kind == MXL_PART_DOTS ? dots : 1;

            add_whole(rest, numbers, count);
            r.axis += count;
            dots = p.kind == MXL_PART_DOTS ? 0 : dots;
        }
    }
    return inputs[0] = x;
}
