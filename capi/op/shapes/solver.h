/* The state of one use of a text of shapes, which solve.c makes: what is found of sizes (sizes.c)
 * and arrays (arrays.c), and its errors (error.c). */
#ifndef MXL_OP_SOLVER_H
#define MXL_OP_SOLVER_H

#include "op/rule.h"
#include "op/shapes/shapes.h"

/* A list: of a call it is part of the shape of an array, of a graph what is known is gathered. */
typedef struct mxl_sizes {
    int n;              /* -1: unknown */
    const int64_t *dim; /* sizes, -1: unknown; NULL: those of a call, which are not seen yet */
    int64_t room[MXL_MAX_NDIM];
} mxl_sizes;

/* An axis of array number `array`, of the inputs and then the outputs; -1: of none. */
typedef struct mxl_axis_of {
    int16_t array, axis;
} mxl_axis_of;

typedef struct mxl_solver {
    const mxl_shapes *shapes;
    const mxl_shape_facts *facts;
    const mxl_shape_entry *entry; /* which is read or written, and its array and axis */
    mxl_axis_of here;
    int16_t entry_axis;   /* the first axis of the term that is read */
    bool quiet;           /* without the texts of errors */
    bool news, news_each; /* something became known; of what differs in each repetition */
    bool again;           /* something could not be used yet */
    int repeats[2], count;
    int64_t size[MXL_SHAPES_SIZES]; /* -1: unknown */
    mxl_axis_of size_from[MXL_SHAPES_SIZES], list_from[MXL_SHAPES_LISTS];
    /* Over all repetitions: sums of what is known, how many are unknown, and what the only one is
     * that is, -1: unknown. */
    int64_t sum[MXL_SHAPES_SIZES], rest[MXL_SHAPES_SIZES];
    int unknown[MXL_SHAPES_SIZES];
    mxl_sizes list[MXL_SHAPES_LISTS];
} mxl_solver;

/* What is known of array i: its rank, -1: unknown, and sizes. Of a call the outputs are not. */
static inline int mxl_solver_shape(const mxl_solver *s, int i, const int64_t **dim)
{
    const mxl_shape_facts *f = s->facts;
    const mxl_shape *shape;

    *dim = NULL;
    if (f->call != NULL && i >= f->num_in)
        return -1;
    if (f->call != NULL) {
        *dim = f->call->in[i]->shape;
        return f->call->in[i]->ndim;
    }
    shape = &f->rule->shapes[mxl_rule_entry(f->rule, i)];
    *dim = shape->dim;
    return shape->ndim;
}

/* Whether the array is a result of a graph in MXNet's legacy mode, which has shape (1,) for (),
 * where inputs have not. */
static inline bool mxl_solver_lacks_scalars(const mxl_solver *s)
{
    const mxl_shape_facts *f = s->facts;

    return f->rule != NULL && f->rule->legacy_shape && s->here.array >= f->num_in &&
           !s->entry->as_input && !f->op->keeps_scalars;
}

/* ---- parameters and sizes ---- */

static inline int64_t mxl_solver_int(const mxl_solver *s, int offset)
{
    return *(const int64_t *)((const char *)s->facts->params + offset);
}

static inline mxl_tuple mxl_solver_list(const mxl_solver *s, int offset)
{
    return *(const mxl_tuple *)((const char *)s->facts->params + offset);
}

/* How many axes a list has, -1: unknown. */
static inline int mxl_solver_length(const mxl_solver *s, const mxl_term *t)
{
    if (!t->many)
        return 1;
    if (t->list >= 0)
        return s->list[t->list].n;
    return mxl_solver_list(s, t->tuple).n < 0 ? 0 : mxl_solver_list(s, t->tuple).n;
}

/* Something is known of name number `i` of those of which `each` tells which are each's own. */
static inline void mxl_solver_news(mxl_solver *s, unsigned each, int i)
{
    if (each >> i & 1)
        s->news_each = true;
    else
        s->news = true;
}

static inline void mxl_solver_learn(mxl_solver *s, int number, int64_t value)
{
    s->size[number] = value;
    s->size_from[number] = s->here;
    mxl_solver_news(s, s->shapes->each_size, number);
}

/* Whether a size is one by name that has, or gets, this value: the commonest, for speed. */
static inline bool mxl_solver_is_matched(mxl_solver *s, const mxl_term *t, int64_t value)
{
    if (!t->plain || value < 0)
        return false;
    if (s->size[t->factor[0].value] < 0)
        mxl_solver_learn(s, t->factor[0].value, value);
    return s->size[t->factor[0].value] == value;
}

/* Sets the value of entry i of a term, -1: unknown. -1 with the error set. */
int mxl_solver_value(mxl_solver *s, const mxl_term *t, int i, int64_t *value);
/* A list has n sizes, which are unknown. */
void mxl_solver_learn_length(mxl_solver *s, int list, int n);
/* Holds a size of an array, or -1: what is unknown of it, against entry i of a term. */
int mxl_solver_match(mxl_solver *s, const mxl_term *t, int i, int64_t value);

/* ---- arrays: number i of the inputs and then the outputs ---- */

/* Finds what it tells; -1 with the error set where it contradicts. */
int mxl_solver_read(mxl_solver *s, int i, const mxl_shape_entry *e);
/* Writes its shape as far as it is known; -1 with the error set. */
int mxl_solver_write(mxl_solver *s, int i, const mxl_shape_entry *e);

/* Adds what was found; -1 with the error set where it contradicts, or is too little for a call. */
int mxl_solver_say(mxl_solver *s, int i, const mxl_shape *found);

/* ---- errors ---- */

/* All are -1; without a text where they are quiet: the array's axis has this size but must have
 * that one; a quotient is not whole; a size is not a multiple; the array has another rank; the
 * result does not follow from the inputs; the result has too many axes. */
int mxl_solver_differs(const mxl_solver *s, const mxl_term *t, int64_t size, int64_t wanted);
int mxl_solver_not_whole(const mxl_solver *s, const mxl_term *t, int64_t size, int64_t by);
int mxl_solver_not_multiple(const mxl_solver *s, const mxl_term *t, int64_t size, int64_t of);
int mxl_solver_rank(const mxl_solver *s);
int mxl_solver_axes(const mxl_solver *s);
int mxl_solver_open(const mxl_solver *s);
/* The axis counted from 0, or such an error. */
int mxl_solver_axis(const mxl_solver *s, int64_t axis, int ndim);

#endif
