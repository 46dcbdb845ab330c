/* The arrays of a text of shapes: what the shape of one tells, and what it becomes. */
#include "op/shapes/solver.h"

/* ---- what an array tells ---- */

/* Sets the length of the one list of these terms of which it is unknown, if they are `ndim` axes in
 * all; 1: more lists are unknown; -1 with the error set. */
static int fit_lengths(mxl_solver *s, const mxl_term *t, int count, int ndim)
{
    const mxl_term *open = NULL;
    int known = 0, before = 0;

    if (count == 0 && ndim == 0)
        return 0;
    for (int i = 0; i < count; i++) {
        int length = mxl_solver_length(s, &t[i]);

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
        mxl_solver_learn_length(s, open->list, ndim - known);
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

    if (length > 0 && s->facts->call != NULL && t->list >= 0 && t->function < 0 &&
        list->dim == NULL) {
        list->dim = dim;
        s->list_from[t->list] = s->here;
        mxl_solver_news(s, s->shapes->each_list, t->list);
        s->here.axis = (int16_t)(s->here.axis + length);
        return 0;
    }
    if (t->list >= 0 && t->function < 0 && list->dim != NULL && has_sizes(list, dim)) {
        s->here.axis = (int16_t)(s->here.axis + length);
        return 0;
    }
    s->entry_axis = s->here.axis;
    for (int k = 0; k < length; k++, s->here.axis++) {
        if (mxl_solver_match(s, t, k, dim[k]) != 0)
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
        int length = mxl_solver_length(s, t);

        if (t->many) {
            if (match_list(s, t, length, dim) != 0)
                return -1;
        } else {
            if (!mxl_solver_is_matched(s, t, *dim) && mxl_solver_match(s, t, 0, *dim) != 0)
                return -1;
            s->here.axis++;
        }
        dim += length;
    }
    return 0;
}

/* Of an array of which the rank is unknown: the axis of @ tells how many there are on one side. */
static int read_axis(mxl_solver *s, const mxl_shape_entry *e)
{
    const mxl_term *t = &s->shapes->term[e->first];
    int64_t axis = mxl_solver_int(s, t[e->at].axis);
    int count = axis < 0 ? e->terms - e->at - 1 : e->at, n = (int)(axis < 0 ? -axis - 1 : axis);

    if (axis >= MXL_MAX_NDIM || axis < -MXL_MAX_NDIM)
        return 0;
    return fit_lengths(s, axis < 0 ? t + e->at + 1 : t, count, n) < 0 ? -1 : 0;
}

/* How many axes an array has by its terms, -1: unknown. */
static int axes_of(const mxl_solver *s, const mxl_shape_entry *e)
{
    int total = 0;

    for (int i = 0; i < e->terms; i++) {
        int length = mxl_solver_length(s, &s->shapes->term[e->first + i]);

        if (length < 0)
            return -1;
        total += length;
    }
    return total;
}

/* Whether an array with [*A|1] may have no axis by its terms: then it tells nothing. */
static bool may_be_one(mxl_solver *s, const mxl_shape_entry *e, int ndim, const int64_t *dim)
{
    int axes = ndim == 1 && e->terms == e->lists && (dim[0] == 1 || dim[0] < 0) ? axes_of(s, e) : 1;

    s->again |= axes < 0;
    return axes <= 0;
}

static int read_entry(mxl_solver *s, const mxl_shape_entry *e, int ndim, const int64_t *dim)
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
    axis = mxl_solver_axis(s, mxl_solver_int(s, t[e->at].axis), ndim);
    if (axis < 0 || read_terms(s, t, e->at, axis, dim) != 0)
        return -1;
    s->here.axis = (int16_t)axis;
    if (mxl_solver_match(s, &t[e->at], 0, dim[axis]) != 0)
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
static const mxl_shape_entry *form_of(mxl_solver *s, const mxl_shape_entry *e, int ndim,
                                      const int64_t *dim, int *status)
{
    const mxl_shape_entry *first = e, *found = NULL;
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

int mxl_solver_read(mxl_solver *s, int i, const mxl_shape_entry *e)
{
    const int64_t *dim;
    int ndim = mxl_solver_shape(s, i, &dim), status;

    s->here.array = (int16_t)i;
    if (e->or_next && (e = form_of(s, e, ndim, dim, &status)) == NULL)
        return status;
    return read_entry(s, e, ndim, dim);
}

/* ---- what an array becomes ---- */

int mxl_solver_write(mxl_solver *s, int i, const mxl_shape_entry *e)
{
    const mxl_shape_facts *f = s->facts;
    mxl_shape room, *found = f->call == NULL ? &room : &f->call->out_shape[i - f->num_in];
    const int64_t *dim;
    int ndim, status = 0;

    if (e->any || (f->call != NULL && i < f->num_in))
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
    for (int k = 0; k < e->terms; k++) {
        const mxl_term *t = &s->shapes->term[e->first + k];
        int length = mxl_solver_length(s, t);

        if (length < 0)
            return f->call == NULL ? 0 : mxl_solver_open(s);
        if (found->ndim + length > MXL_MAX_NDIM)
            return mxl_solver_axes(s);
        for (int m = 0; m < length; m++, s->here.axis++) {
            int64_t *to = &found->dim[found->ndim++];

            if (t->plain)
                *to = s->size[t->factor[0].value];
            else if (mxl_solver_value(s, t, m, to) != 0)
                return -1;
        }
    }
    if (found->ndim == 0 && !(i < f->num_in && mxl_solver_shape(s, i, &dim) == 0) &&
        (e->or_one || mxl_solver_lacks_scalars(s)))
        found->dim[found->ndim++] = 1;
    return mxl_solver_say(s, i, found);
}
