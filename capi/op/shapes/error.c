/* What the texts of shapes say where something contradicts them: the array and its axis, what it
 * has, what it must have and where that comes from. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "op/shapes/solver.h"

enum { ROOM = 160 };

/* A piece of the text, for %.*s. */
#define PIECE(s, p) (int)(p).length, (s)->shapes->text + (p).at

/* "weight", "output 1" or "the result". */
static const char *name_of(const mxl_solver *s, int array, char room[MXL_NAME])
{
    const mxl_shape_facts *f = s->facts;

    if (array < f->num_in)
        return mxl_op_input_name(f->op, f->params, f->num_in, array, room);
    if (f->num_out == 1)
        return "the result";
    (void)snprintf(room, MXL_NAME, "output %d", array - f->num_in);
    return room;
}

/* ": axis 1 of data", or "". */
static const char *place_of(const mxl_solver *s, mxl_axis_of from, char room[ROOM])
{
    char name[MXL_NAME];

    room[0] = '\0';
    if (from.array >= 0 && from.array != s->here.array)
        (void)snprintf(room, ROOM, ", axis %d of %s", from.axis, name_of(s, from.array, name));
    return room;
}

/* Where entry `i` of a term has its size from: ", axis 1 of data", ", the parameter num_filter",
 * ", C/num_group with C 3, axis 1 of data". */
static const char *reason(const mxl_solver *s, const mxl_term *t, int i, char room[ROOM])
{
    const mxl_factor *f = &t->factor[0];
    char place[ROOM];

    room[0] = '\0';
    if (t->function < 0 && t->list >= 0) {
        mxl_axis_of from = s->list_from[t->list];

        from.axis = (int16_t)(from.axis + i);
        return place_of(s, from, room);
    }
    if (t->function < 0 && t->factors == 1 && f->kind == MXL_BY_SIZE)
        return place_of(s, s->size_from[f->value], room);
    if (t->tuple >= 0 || (t->function < 0 && t->factors == 1 && f->kind == MXL_BY_PARAM)) {
        mxl_piece name = t->text;

        name.at = (uint16_t)(name.at + t->many);
        name.length = (uint16_t)(name.length - t->many);
        (void)snprintf(room, ROOM, ", the parameter %.*s", PIECE(s, name));
        return room;
    }
    if (t->function < 0 && t->factors == 1 && f->kind == MXL_BY_NUMBER)
        return room;
    (void)snprintf(room, ROOM, ", %.*s", PIECE(s, t->text));
    for (int k = 0; k < t->factors; k++) {
        size_t used = strlen(room);

        f = &t->factor[k];
        if (f->kind != MXL_BY_SIZE)
            continue;
        (void)snprintf(room + used, ROOM - used, " with %.*s %lld%s",
                       PIECE(s, s->shapes->size_name[f->value]), (long long)s->size[f->value],
                       place_of(s, s->size_from[f->value], place));
        break;
    }
    return room;
}

/* Which entry of its list the axis is. */
static int entry_of(const mxl_solver *s, const mxl_term *t)
{
    return t->many ? s->here.axis - s->entry_axis : 0;
}

int mxl_solver_differs(const mxl_solver *s, const mxl_term *t, int64_t size, int64_t wanted)
{
    char name[MXL_NAME], room[ROOM];

    if (s->quiet)
        return -1;
    return mxl_error("%s: axis %d of %s is %lld; it must be %lld%s", s->facts->op->name,
                     s->here.axis, name_of(s, s->here.array, name), (long long)size,
                     (long long)wanted, reason(s, t, entry_of(s, t), room));
}

int mxl_solver_not_whole(const mxl_solver *s, const mxl_term *t, int64_t size, int64_t by)
{
    char room[ROOM];

    if (s->quiet)
        return -1;
    return mxl_error("%s: %lld cannot be divided by %lld%s", s->facts->op->name, (long long)size,
                     (long long)by, reason(s, t, 0, room));
}

int mxl_solver_not_multiple(const mxl_solver *s, const mxl_term *t, int64_t size, int64_t of)
{
    char name[MXL_NAME];

    if (s->quiet)
        return -1;
    return mxl_error("%s: axis %d of %s is %lld; it must be a multiple of %lld, %.*s",
                     s->facts->op->name, s->here.axis, name_of(s, s->here.array, name),
                     (long long)size, (long long)of, PIECE(s, t->text));
}

int mxl_solver_rank(const mxl_solver *s)
{
    const int64_t *dim;
    char name[MXL_NAME];
    int ndim = mxl_solver_shape(s, s->here.array, &dim);

    if (s->quiet)
        return -1;
    return mxl_error("%s: %s must have shape %.*s, got %s", s->facts->op->name,
                     name_of(s, s->here.array, name), PIECE(s, s->entry->text),
                     ndim < 0 ? "an axis that is not there" : MXL_SHAPE_TEXT(ndim, dim));
}

int mxl_solver_axes(const mxl_solver *s)
{
    if (s->quiet)
        return -1;
    return mxl_error("%s: the result would have more than %d axes", s->facts->op->name,
                     MXL_MAX_NDIM);
}

int mxl_solver_open(const mxl_solver *s)
{
    return mxl_error("%s: the result's shape, %.*s, does not follow from the inputs",
                     s->facts->op->name, PIECE(s, s->entry->text));
}

int mxl_solver_axis(const mxl_solver *s, int64_t axis, int ndim)
{
    if (axis >= -ndim && axis < ndim)
        return (int)(axis < 0 ? axis + ndim : axis);
    return s->quiet ? -1 : mxl_check_axis(s->facts->op, axis, ndim);
}
