/* The sizes of a text of shapes: their values from what is known, and what a size of an array
 * tells. */
#include "op/shapes/solver.h"

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
        value = mxl_solver_int(s, f->value);
        return value < 0 ? -1 : value;
    case MXL_BY_LENGTH:
        return mxl_solver_list(s, f->value).n;
    case MXL_BY_PRODUCT:
        return product_of(s->list[f->value].n, s->list[f->value].dim);
    case MXL_BY_PARAM_PRODUCT:
        return product_of(mxl_solver_list(s, f->value).n, mxl_solver_list(s, f->value).v);
    case MXL_BY_PARAM_LIST:
        return mxl_solver_list(s, f->value).v[i];
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

int mxl_solver_value(mxl_solver *s, const mxl_term *t, int i, int64_t *value)
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
            *value = mxl_solver_list(s, t->tuple).v[i];
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

/* ---- what a size of an array tells ---- */

/* The sizes of a list are unknown, and may be found one by one. */
static void open_list(mxl_sizes *list)
{
    for (int i = 0; i < list->n; i++)
        list->room[i] = -1;
    list->dim = list->room;
}

void mxl_solver_learn_length(mxl_solver *s, int list, int n)
{
    s->list[list].n = n;
    s->list[list].dim = NULL;
    if (s->facts->call == NULL)
        open_list(&s->list[list]);
    s->list_from[list] = s->here;
    mxl_solver_news(s, s->shapes->each_list, list);
}

static void learn_entry(mxl_solver *s, int list, int i, int64_t value)
{
    if (s->list[list].dim == NULL)
        open_list(&s->list[list]);
    s->list[list].room[i] = value;
    mxl_solver_news(s, s->shapes->each_list, list);
}

/* One unknown size of a list follows from the product of all. */
static void learn_product(mxl_solver *s, int number, int64_t product)
{
    mxl_sizes *list = &s->list[number];
    int64_t others = 1;
    int open = -1;

    if (list->dim == NULL)
        open_list(list);
    for (int i = 0; i < list->n; i++) {
        if (list->dim[i] < 0 && open >= 0)
            return;
        if (list->dim[i] < 0)
            open = i;
        else if (__builtin_mul_overflow(others, list->dim[i], &others))
            return;
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
        mxl_solver_learn(s, open->value, value / times);
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
        mxl_solver_learn(s, f->value, found);
    if (f->kind == MXL_BY_LIST)
        learn_entry(s, f->value, i, found);
}

int mxl_solver_match(mxl_solver *s, const mxl_term *t, int i, int64_t value)
{
    int64_t known;

    if (mxl_solver_is_matched(s, t, value))
        return 0;
    if (mxl_solver_value(s, t, i, &known) != 0)
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
        if (t->list >= 0)
            learn_entry(s, t->list, i, value);
        return 0;
    }
    s->again = true;
    return learn_factor(s, t, value);
}
