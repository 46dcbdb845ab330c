/* What follows from a text of shapes (shapes.h) for a call or a node of a graph: sizes and lists
 * are unknown at first, and each array of which something is known tells some of them. */
#include "op/shapes/solver.h"

typedef int visit(mxl_solver *s, int i, const mxl_shape_entry *e);

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
            if (visit_both(s, mxl_solver_read, r) != 0)
                return -1;
            for (int i = 0; i < s->shapes->sizes; i++)
                if ((s->shapes->each_size >> i & 1) && s->size[i] < 0 && s->rest[i] >= 0)
                    mxl_solver_learn(s, i, s->rest[i]);
        } while (s->news_each && (s->again || s->facts->rule != NULL));
        if (act != mxl_solver_read && visit_both(s, act, r) != 0)
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
        if (as >= 0 && mxl_solver_list(s, as).n >= 0 && mxl_solver_list(s, as).n <= MXL_MAX_NDIM) {
            s->here.array = -1;
            mxl_solver_learn_length(s, i, mxl_solver_list(s, as).n);
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
            if (mxl_solver_read(s, i, &s->shapes->entry[side[0].entry[i]]) != 0)
                return -1;
        }
        for (int i = 0; i < out && s->again; i++) {
            if (mxl_solver_read(s, f->num_in + i, &s->shapes->entry[side[1].entry[i]]) != 0)
                return -1;
        }
    } while (s->news && s->again);
    for (int i = 0; i < out; i++) {
        if (mxl_solver_write(s, f->num_in + i, &s->shapes->entry[side[1].entry[i]]) != 0)
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
        if (visit_all(&s, mxl_solver_read) != 0)
            return -1;
    } while (s.news && (s.again || facts->rule != NULL));
    if (facts->rule != NULL)
        return visit_all(&s, mxl_solver_write);
    if (s.repeats[1] > 0 && visit_groups(&s, mxl_solver_write) != 0)
        return -1;
    return visit_side(&s, mxl_solver_write, 1);
}
