/* What follows from a text of shapes (op/shapes.h) for a call or a node of a graph: sizes and lists
 * are unknown at first, and each array of which something is known tells some of them. */
#include <string.h>

#include "base/error.h"
#include "op/rule.h"
#include "op/solver.h"

static int64_t int_parameter(const mxl_solver *s, int offset)
{
    return *(const int64_t *)((const char *)s->facts->params + offset);
}

static mxl_tuple list_parameter(const mxl_solver *s, int offset)
{
    return *(const mxl_tuple *)((const char *)s->facts->params + offset);
}

/* ---- sizes from what is known ---- */

static int64_t product_of(int n, const int64_t *dim)
{
    int64_t product = 1;

    if (n > 0 && dim == NULL)
        return -1;
    for (int i = 0; i < n; i++) {
        if (dim[i] < 0 || __builtin_mul_overflow(product, dim[i], &product))
            return -1;
    }
    return n < 0 ? -1 : product;
}

/* The value of a factor, -1: unknown; `i`: which one of a list. */
static int64_t factor_of(const mxl_solver *s, const mxl_factor *f, int i)
{
    int64_t value;

    switch (f->kind) {
    case MXL_BY_NUMBER:
        return f->value;
    case MXL_BY_SIZE:
        return s->size[f->value];
    case MXL_BY_PARAM:
        value = int_parameter(s, f->value);
        return value < 0 ? -1 : value;
    case MXL_BY_LENGTH:
        return list_parameter(s, f->value).n;
    case MXL_BY_PRODUCT:
        return product_of(s->list[f->value].n, s->list[f->value].dim);
    case MXL_BY_PARAM_PRODUCT:
        return product_of(list_parameter(s, f->value).n, list_parameter(s, f->value).v);
    case MXL_BY_PARAM_LIST:
        return list_parameter(s, f->value).v[i];
    case MXL_BY_COUNT:
        return s->count;
    case MXL_BY_LIST:
        return s->list[f->value].dim == NULL ? -1 : s->list[f->value].dim[i];
    default:
        return s->unknown[f->value] == 0 ? s->sum[f->value] : -1;
    }
}

/* The factors that multiply and those that divide; *open is the factor that is unknown, if there is
 * one. False: more are. */
static bool parts_of(const mxl_solver *s, const mxl_term *t, int64_t *times, int64_t *over,
                     const mxl_factor **open)
{
    *times = *over = 1;
    *open = NULL;
    for (int i = 0; i < t->factors; i++) {
        const mxl_factor *f = &t->factor[i];
        int64_t value = factor_of(s, f, 0), *part = f->divides ? over : times;

        if (value < 0 && *open != NULL)
            return false;
        if (value < 0)
            *open = f;
        else if (__builtin_mul_overflow(*part, value, part))
            return false;
    }
    return true;
}

static mxl_size_ask ask_of(const mxl_solver *s, const mxl_term *t, int i)
{
    mxl_size_ask ask = {s->facts->op, s->facts->params, i, {-1, -1, -1}};

    for (int k = 0; k < t->factors; k++)
        ask.arg[k] = factor_of(s, &t->factor[k], i);
    return ask;
}

static const mxl_size_function *function_of(const mxl_solver *s, const mxl_term *t)
{
    return &s->facts->op->size_functions[t->function];
}

/* Sets the value of entry i of a term, -1: unknown. -1 with the error set. */
static int value_of(mxl_solver *s, const mxl_term *t, int i, int64_t *value)
{
    const mxl_factor *open;
    int64_t times, over;

    if (t->plain) {
        *value = s->size[t->factor[0].value];
        return 0;
    }
    *value = -1;
    if (t->function >= 0) {
        mxl_size_ask ask = ask_of(s, t, i);

        for (int k = 0; k < t->factors; k++)
            if (ask.arg[k] < 0)
                return 0;
        return function_of(s, t)->size(&ask, value);
    }
    if (t->many) {
        const mxl_sizes *list = &s->list[t->list];

        if (t->list < 0)
            *value = list_parameter(s, t->tuple).v[i];
        else if (list->dim != NULL)
            *value = list->dim[i];
        return 0;
    }
    if (t->factors == 1) {
        *value = factor_of(s, t->factor, 0);
        return 0;
    }
    if (!parts_of(s, t, &times, &over, &open) || open != NULL)
        return 0;
    if (over == 0 || times % over != 0)
        return mxl_solver_not_whole(s, t, times, over);
    *value = times / over;
    return 0;
}

/* How many axes a list has, -1: unknown. */
static inline int length_of(const mxl_solver *s, const mxl_term *t)
{
    if (!t->many)
        return 1;
    if (t->list >= 0)
        return s->list[t->list].n;
    return list_parameter(s, t->tuple).n < 0 ? 0 : list_parameter(s, t->tuple).n;
}

/* ---- what an array tells ---- */

/* Something is known of name number `i` of those of which `each` tells which are each's own. */
static inline void note_news(mxl_solver *s, unsigned each, int i)
{
    if (each >> i & 1)
        s->news_each = true;
    else
        s->news = true;
}

static inline void learn_size(mxl_solver *s, int number, int64_t value)
{
    s->size[number] = value;
    s->size_from[number] = s->here;
    note_news(s, s->shapes->each_size, number);
}

static void learn_length(mxl_solver *s, int list, int n)
{
    s->list[list].n = n;
    s->list[list].dim = s->facts->call != NULL ? NULL : s->list[list].room;
    for (int i = 0; i < n && s->facts->call == NULL; i++)
        s->list[list].room[i] = -1;
    s->list_from[list] = s->here;
    note_news(s, s->shapes->each_list, list);
}

static void learn_entry(mxl_solver *s, int list, int i, int64_t value)
{
    s->list[list].room[i] = value;
    note_news(s, s->shapes->each_list, list);
}

/* One unknown size of a list follows from the product of all. */
static void learn_product(mxl_solver *s, int number, int64_t product)
{
    const mxl_sizes *list = &s->list[number];
    int64_t others = 1;
    int open = -1;

    for (int i = 0; i < list->n; i++) {
        if (list->dim[i] < 0 && open >= 0)
            return;
        if (list->dim[i] < 0)
            open = i;
        else
            others *= list->dim[i];
    }
    if (open < 0 || others == 0 || product % others != 0)
        return;
    learn_entry(s, number, open, product / others);
}

/* Of the repetitions in which this size is unknown there is one, which has the rest of the sum. */
static void learn_rest(mxl_solver *s, int number, int64_t rest)
{
    if (s->unknown[number] != 1 || s->rest[number] >= 0 || rest < 0)
        return;
    s->rest[number] = rest;
    s->news = true;
}

/* The factor that is unknown in a product that has this value. */
static int learn_factor(mxl_solver *s, const mxl_term *t, int64_t value)
{
    const mxl_factor *open;
    int64_t times, over;

    if (!parts_of(s, t, &times, &over, &open) || open == NULL || open->divides)
        return 0;
    if (times == 0)
        return 0;
    if (__builtin_mul_overflow(value, over, &value))
        return 0;
    if (value % times != 0)
        return mxl_solver_not_multiple(s, t, value / over, times);
    if (open->kind == MXL_BY_SIZE)
        learn_size(s, open->value, value / times);
    else if (open->kind == MXL_BY_PRODUCT)
        learn_product(s, open->value, value / times);
    else if (open->kind == MXL_BY_SUM)
        learn_rest(s, open->value, value / times - s->sum[open->value]);
    return 0;
}

static void learn_argument(mxl_solver *s, const mxl_term *t, int i, int64_t value)
{
    mxl_size_ask ask = ask_of(s, t, i);
    const mxl_factor *f = &t->factor[0];
    int64_t found;

    for (int k = 1; k < t->factors; k++)
        if (ask.arg[k] < 0)
            return;
    if (function_of(s, t)->back == NULL)
        return;
    found = function_of(s, t)->back(&ask, value);
    if (found < 0)
        return;
    if (f->kind == MXL_BY_SIZE)
        learn_size(s, f->value, found);
    if (f->kind == MXL_BY_LIST)
        learn_entry(s, f->value, i, found);
}

/* Whether a size is one by name that has, or gets, this value: the commonest, for speed. */
static inline bool is_matched(mxl_solver *s, const mxl_term *t, int64_t value)
{
    if (!t->plain || value < 0)
        return false;
    if (s->size[t->factor[0].value] < 0)
        learn_size(s, t->factor[0].value, value);
    return s->size[t->factor[0].value] == value;
}

/* Holds a size of an array, or what is unknown of it, against entry i of a term. */
static int match(mxl_solver *s, const mxl_term *t, int i, int64_t value)
{
    int64_t known;

    if (is_matched(s, t, value))
        return 0;
    if (value_of(s, t, i, &known) != 0)
        return -1;
    if (known >= 0)
        return value < 0 || known == value ? 0 : mxl_solver_differs(s, t, value, known);
    if (value < 0)
        return 0;
    if (t->function >= 0) {
        learn_argument(s, t, i, value);
        s->again = true;
        return 0;
    }
    if (t->many) {
        learn_entry(s, t->list, i, value);
        return 0;
    }
    s->again = true;
    return learn_factor(s, t, value);
}

/* Sets the length of the one list of these terms of which it is unknown, if they are `ndim` axes in
 * all; 1: more lists are unknown; -1 with the error set. */
static int fit_lengths(mxl_solver *s, const mxl_term *t, int count, int ndim)
{
    const mxl_term *open = NULL;
    int known = 0, before = 0;

    if (count == 0 && ndim == 0)
        return 0;
    for (int i = 0; i < count; i++) {
        int length = length_of(s, &t[i]);

        if (length < 0 && open != NULL)
            return 1;
        if (length < 0) {
            open = &t[i];
            before = known;
        } else {
            known += length;
        }
    }
    if (open == NULL ? known != ndim : known > ndim)
        return mxl_solver_rank(s);
    if (open != NULL) {
        s->here.axis = (int16_t)(s->here.axis + before);
        learn_length(s, open->list, ndim - known);
        s->here.axis = (int16_t)(s->here.axis - before);
    }
    return 0;
}

static inline bool has_sizes(const mxl_sizes *list, const int64_t *dim)
{
    for (int i = 0; i < list->n; i++) {
        if (list->dim[i] != dim[i] || dim[i] < 0)
            return false;
    }
    return true;
}

/* All sizes of a list; of a call, which knows them, they are the array's own. */
static int match_list(mxl_solver *s, const mxl_term *t, int length, const int64_t *dim)
{
    mxl_sizes *list = &s->list[t->list];

    if (s->facts->call != NULL && t->list >= 0 && t->function < 0 && list->dim == NULL) {
        list->dim = dim;
        s->list_from[t->list] = s->here;
        note_news(s, s->shapes->each_list, t->list);
        s->here.axis = (int16_t)(s->here.axis + length);
        return 0;
    }
    if (t->list >= 0 && t->function < 0 && list->dim != NULL && has_sizes(list, dim)) {
        s->here.axis = (int16_t)(s->here.axis + length);
        return 0;
    }
    s->entry_axis = s->here.axis;
    for (int k = 0; k < length; k++, s->here.axis++) {
        if (match(s, t, k, dim[k]) != 0)
            return -1;
    }
    return 0;
}

/* The axes from s->here.axis on, by terms: of all of an array, or of one side of its @. */
static int read_terms(mxl_solver *s, const mxl_term *t, int count, int ndim, const int64_t *dim)
{
    int status = s->entry->lists == 0 && count == ndim ? 0 : fit_lengths(s, t, count, ndim);

    if (status != 0) {
        s->again |= status > 0;
        return status < 0 ? -1 : 0;
    }
    for (const mxl_term *end = t + count; t < end; t++) {
        int length = length_of(s, t);

        if (t->many) {
            if (match_list(s, t, length, dim) != 0)
                return -1;
        } else {
            if (!is_matched(s, t, *dim) && match(s, t, 0, *dim) != 0)
                return -1;
            s->here.axis++;
        }
        dim += length;
    }
    return 0;
}

/* Of an array of which the rank is unknown: the axis of @ tells how many there are on one side. */
static int read_axis(mxl_solver *s, const mxl_entry *e)
{
    const mxl_term *t = &s->shapes->term[e->first];
    int64_t axis = int_parameter(s, t[e->at].axis);
    int count = axis < 0 ? e->terms - e->at - 1 : e->at, n = (int)(axis < 0 ? -axis - 1 : axis);

    if (axis >= MXL_MAX_NDIM || axis < -MXL_MAX_NDIM)
        return 0;
    return fit_lengths(s, axis < 0 ? t + e->at + 1 : t, count, n) < 0 ? -1 : 0;
}

/* How many axes an array has by its terms, -1: unknown. */
static int axes_of(const mxl_solver *s, const mxl_entry *e)
{
    int total = 0;

    for (int i = 0; i < e->terms; i++) {
        int length = length_of(s, &s->shapes->term[e->first + i]);

        if (length < 0)
            return -1;
        total += length;
    }
    return total;
}

/* Whether an array with [*A|1] may have no axis by its terms: then it tells nothing. */
static bool may_be_one(mxl_solver *s, const mxl_entry *e, int ndim, const int64_t *dim)
{
    int axes = ndim == 1 && e->terms == e->lists && (dim[0] == 1 || dim[0] < 0) ? axes_of(s, e) : 1;

    s->again |= axes < 0;
    return axes <= 0;
}

static int read_entry(mxl_solver *s, const mxl_entry *e, int ndim, const int64_t *dim)
{
    const mxl_term *t = &s->shapes->term[e->first];
    int axis;

    if (e->any)
        return 0;
    s->entry = e;
    s->here.axis = 0;
    if (ndim < 0)
        return e->at < 0 ? 0 : read_axis(s, e);
    if ((e->or_one || mxl_solver_lacks_scalars(s)) && may_be_one(s, e, ndim, dim))
        return 0;
    if (e->at < 0)
        return read_terms(s, t, e->terms, ndim, dim);
    axis = mxl_solver_axis(s, int_parameter(s, t[e->at].axis), ndim);
    if (axis < 0 || read_terms(s, t, e->at, axis, dim) != 0)
        return -1;
    s->here.axis = (int16_t)axis;
    if (match(s, &t[e->at], 0, dim[axis]) != 0)
        return -1;
    s->here.axis++;
    return read_terms(s, t + e->at + 1, e->terms - e->at - 1, ndim - axis - 1, dim + axis + 1);
}

/* A copy, of which nothing remains. */
static void attempt_with(mxl_solver *attempt, const mxl_solver *s)
{
    *attempt = *s;
    attempt->quiet = true;
    for (int i = 0; i < s->shapes->lists; i++)
        if (s->list[i].dim == s->list[i].room)
            attempt->list[i].dim = attempt->list[i].room;
}

/* Which of an array's forms holds: the only one that does not contradict, or the first where
 * nothing is known of the array. NULL: several may, so that it tells nothing; or none does, with
 * *status -1 and the error of the first. */
static const mxl_entry *form_of(mxl_solver *s, const mxl_entry *e, int ndim, const int64_t *dim,
                                int *status)
{
    const mxl_entry *first = e, *found = NULL;
    mxl_solver attempt;
    int count = 0;

    *status = 0;
    for (bool more = true; more; e++) {
        more = e->or_next;
        attempt_with(&attempt, s);
        if (read_entry(&attempt, e, ndim, dim) == 0 && count++ == 0)
            found = e;
    }
    if (count == 0)
        *status = read_entry(s, first, ndim, dim);
    s->again |= count > 1;
    return count > 1 && ndim >= 0 ? NULL : found;
}

/* What array `i` tells, of the inputs and then the outputs. */
static int read_array(mxl_solver *s, int i, const mxl_entry *e)
{
    const int64_t *dim;
    int ndim = mxl_solver_shape(s, i, &dim), status;

    s->here.array = (int16_t)i;
    if (e->or_next && (e = form_of(s, e, ndim, dim, &status)) == NULL)
        return status;
    return read_entry(s, e, ndim, dim);
}

/* ---- what an array becomes ---- */

/* Writes the shape of an array as far as it is known; -1 with the error set. */
static int write_array(mxl_solver *s, int i, const mxl_entry *e)
{
    const mxl_shape_facts *f = s->facts;
    mxl_shape room, *found = f->call == NULL ? &room : &f->call->out_shape[i - f->num_in];
    const int64_t *dim;
    int ndim, status = 0;

    if (f->call != NULL && i < f->num_in)
        return 0;
    s->here.array = (int16_t)i;
    if (e->or_next) {
        ndim = mxl_solver_shape(s, i, &dim);
        e = form_of(s, e, ndim, dim, &status);
    }
    if (e == NULL)
        return status;
    s->entry = e;
    found->ndim = 0;
    s->here.axis = 0;
    for (int k = 0; k < e->terms && !e->any; k++) {
        const mxl_term *t = &s->shapes->term[e->first + k];
        int length = length_of(s, t);

        if (length < 0)
            return f->call == NULL ? 0 : mxl_solver_open(s);
        if (found->ndim + length > MXL_MAX_NDIM)
            return mxl_solver_axes(s);
        for (int m = 0; m < length; m++, s->here.axis++) {
            int64_t *to = &found->dim[found->ndim++];

            if (t->plain)
                *to = s->size[t->factor[0].value];
            else if (value_of(s, t, m, to) != 0)
                return -1;
        }
    }
    if (found->ndim == 0 && (e->or_one || mxl_solver_lacks_scalars(s)))
        found->dim[found->ndim++] = 1;
    return e->any ? 0 : mxl_solver_say(s, i, found);
}

/* ---- all arrays ---- */

typedef int visit(mxl_solver *s, int i, const mxl_entry *e);

static void forget_each(mxl_solver *s)
{
    for (int i = 0; i < s->shapes->sizes; i++)
        if (s->shapes->each_size >> i & 1)
            s->size[i] = -1;
    for (int i = 0; i < s->shapes->lists; i++)
        if (s->shapes->each_list >> i & 1)
            s->list[i].n = -1;
}

/* Number k of the entries of the group in repetition r, of one side. */
static int visit_group(mxl_solver *s, visit *act, int side, int r)
{
    const mxl_side *d = &s->shapes->side[side];
    int at = (side == 0 ? 0 : s->facts->num_in) + d->before + r * d->group;

    for (int k = 0; k < d->group; k++) {
        if (act(s, at + k, &s->shapes->entry[d->entry[d->before + k]]) != 0)
            return -1;
    }
    return 0;
}

static int visit_both(mxl_solver *s, visit *act, int r)
{
    return r < s->repeats[0] && visit_group(s, act, 0, r) != 0 ? -1
           : r < s->repeats[1]                                 ? visit_group(s, act, 1, r)
                                                               : 0;
}

/* In each repetition of the group: what its arrays tell of one another and of the others, until
 * nothing is new. */
static int visit_groups(mxl_solver *s, visit *act)
{
    int repeats = s->repeats[0] > s->repeats[1] ? s->repeats[0] : s->repeats[1];

    if (s->shapes->groups == 0)
        return 0;
    for (int i = 0; i < s->shapes->sizes; i++)
        s->sum[i] = s->unknown[i] = 0;
    for (int r = 0; r < repeats; r++) {
        forget_each(s);
        do {
            s->news_each = false;
            if (visit_both(s, read_array, r) != 0)
                return -1;
            for (int i = 0; i < s->shapes->sizes; i++)
                if ((s->shapes->each_size >> i & 1) && s->size[i] < 0 && s->rest[i] >= 0)
                    learn_size(s, i, s->rest[i]);
        } while (s->news_each && (s->again || s->facts->rule != NULL));
        if (act != read_array && visit_both(s, act, r) != 0)
            return -1;
        for (int i = 0; i < s->shapes->sizes; i++) {
            if (s->size[i] < 0)
                s->unknown[i]++;
            else if (__builtin_add_overflow(s->sum[i], s->size[i], &s->sum[i]))
                s->sum[i] = INT64_MAX;
        }
    }
    return 0;
}

/* The arrays of one side that are not in its group. */
static int visit_side(mxl_solver *s, visit *act, int side)
{
    const mxl_side *d = &s->shapes->side[side];
    int first = side == 0 ? 0 : s->facts->num_in;
    int count = side == 0 ? s->facts->num_in : s->facts->num_out, after = count;

    if (d->group > 0)
        after = d->before + s->repeats[side] * d->group;
    for (int k = 0; k < d->before && k < count; k++) {
        if (act(s, first + k, &s->shapes->entry[d->entry[k]]) != 0)
            return -1;
    }
    for (int k = 0; k < d->after && after + k < count; k++) {
        if (act(s, first + after + k, &s->shapes->entry[d->entry[d->before + d->group + k]]) != 0)
            return -1;
    }
    return 0;
}

static int visit_all(mxl_solver *s, visit *act)
{
    return visit_side(s, act, 0) != 0 || visit_groups(s, act) != 0 ? -1 : visit_side(s, act, 1);
}

static void begin(mxl_solver *s, const mxl_shapes *shapes, const mxl_shape_facts *facts)
{
    s->shapes = shapes;
    s->facts = facts;
    s->quiet = s->again = s->news = s->news_each = false;
    for (int i = 0; i < shapes->sizes; i++)
        s->size[i] = -1;
    for (int i = 0; i < shapes->lists; i++) {
        int as = shapes->list_as[i];

        s->list[i].n = -1;
        if (as >= 0 && list_parameter(s, as).n >= 0 && list_parameter(s, as).n <= MXL_MAX_NDIM) {
            s->here.array = -1;
            learn_length(s, i, list_parameter(s, as).n);
        }
    }
    if (shapes->groups == 0)
        return;
    for (int side = 0; side < 2; side++) {
        const mxl_side *d = &shapes->side[side];
        int count = (side == 0 ? facts->num_in : facts->num_out) - d->before - d->after;

        s->repeats[side] = d->group > 0 && count > 0 ? count / d->group : 0;
    }
    s->count = s->repeats[0];
    for (int i = 0; i < shapes->sizes; i++) {
        s->rest[i] = -1;
        s->sum[i] = s->unknown[i] = 0;
    }
}

/* Without groups, of a call: inputs in their order, again if one could not be used at once, then
 * outputs. */
static int solve_call(mxl_solver *s)
{
    const mxl_shape_facts *f = s->facts;
    const mxl_side *side = s->shapes->side;
    int in = f->num_in < side[0].before ? f->num_in : side[0].before;
    int out = f->num_out < side[1].before ? f->num_out : side[1].before;

    do {
        s->news = s->again = false;
        for (int i = 0; i < in; i++) {
            if (read_array(s, i, &s->shapes->entry[side[0].entry[i]]) != 0)
                return -1;
        }
        for (int i = 0; i < out && s->again; i++) {
            if (read_array(s, f->num_in + i, &s->shapes->entry[side[1].entry[i]]) != 0)
                return -1;
        }
    } while (s->news && s->again);
    for (int i = 0; i < out; i++) {
        if (write_array(s, f->num_in + i, &s->shapes->entry[side[1].entry[i]]) != 0)
            return -1;
    }
    return 0;
}

int mxl_shapes_solve(const mxl_shapes *shapes, const mxl_shape_facts *facts)
{
    mxl_solver s;

    begin(&s, shapes, facts);
    if (facts->call != NULL && shapes->groups == 0)
        return solve_call(&s);
    do {
        s.news = s.again = false;
        if (visit_all(&s, read_array) != 0)
            return -1;
    } while (s.news && (s.again || facts->rule != NULL));
    if (facts->rule != NULL)
        return visit_all(&s, write_array);
    if (s.repeats[1] > 0 && visit_groups(&s, write_array) != 0)
        return -1;
    return visit_side(&s, write_array, 1);
}
