/* Which expressions run together, and where their results are; see pass.h. */
#include "array/pass.h"

#include <stdlib.h>

/* ---- what runs together ---- */

/* What makes the bytes that an operand reads; NULL: they are there. An expression that was made
 * after the operand's will replace them. */
static mxl_expression *held_maker(const mxl_operand *o)
{
    mxl_expression *maker = o->storage == NULL ? NULL : mxl_extra_of(o->storage)->maker;

    return maker != NULL && maker->number < o->reader->number ? maker : NULL;
}

static mxl_operand *held_readers(const mxl_expression *e)
{
    return mxl_extra_of(e->target)->readers;
}

/* Lists an expression (NULL: none) that is not in the pass yet. False: there is no room, or another
 * thread runs it. */
static bool held_list(mxl_pass *p, mxl_expression *e)
{
    if (e == NULL || (e->rank >= 0 && !e->running))
        return true;
    if (e->running || p->count == MXL_CHAIN_LINKS)
        return false;
    e->rank = p->count;
    p->list[p->count++] = e;
    return true;
}

/* Adds an expression, all that it needs, and what still reads the bytes that it replaces. False,
 * with the pass as before: there is no room, or another thread runs a part. */
static bool held_add(mxl_pass *p, mxl_expression *wanted)
{
    int before = p->count;
    bool fits = held_list(p, wanted);

    for (int i = before; i < p->count && fits; i++) {
        const mxl_expression *e = p->list[i];

        for (int k = 0; k < e->num_in && fits; k++)
            fits = held_list(p, held_maker(&e->in[k]));
        for (mxl_operand *o = held_readers(e); o != NULL && fits; o = o->next)
            fits = o->reader->number > e->number || held_list(p, o->reader);
    }
    while (!fits && p->count > before)
        p->list[--p->count]->rank = -1;
    return fits;
}

static int by_number(const void *a, const void *b)
{
    const mxl_expression *first = *(mxl_expression *const *)a;
    const mxl_expression *second = *(mxl_expression *const *)b;

    return first->number < second->number ? -1 : 1;
}

/* Sets who reads the result of expression i last, and whether something outside the pass refers to
 * it. */
static void held_look_at_uses(mxl_pass *p, int i)
{
    const mxl_expression *e = p->list[i];
    int uses = 0;

    p->last[i] = -1;
    for (const mxl_operand *o = held_readers(e); o != NULL; o = o->next) {
        uses += o->reader->rank >= 0;
        if (o->reader->number > e->number && o->reader->rank > p->last[i])
            p->last[i] = o->reader->rank;
    }
    p->stored[i] = atomic_load_explicit(&e->target->ref.count, memory_order_acquire) != uses;
}

/* Whether expressions of the pass after number `rank` read the bytes that e replaces. */
static bool held_read_after(const mxl_expression *e, int rank)
{
    for (const mxl_operand *o = held_readers(e); o != NULL; o = o->next) {
        if (o->reader->number < e->number && o->reader->rank > rank)
            return true;
    }
    return false;
}

static bool has_strides(const mxl_expression *e)
{
    bool strided = false;

    for (int k = 0; k < e->num_in; k++)
        strided = strided || (e->in[k].storage != NULL && e->in[k].is_strided);
    return strided;
}

/* Finds copies that need no loop of their own: what they copy, which nothing else needs, is written
 * to their target at once. */
static void held_look_at_copies(mxl_pass *p)
{
    for (int i = 0; i < p->count; i++)
        p->copied_by[i] = -1;
    for (int i = 0; i < p->count; i++) {
        const mxl_expression *e = p->list[i], *from = e->copies ? held_maker(&e->in[0]) : NULL;

        if (from != NULL && p->stored[i] && !p->stored[from->rank] && !from->copies &&
            p->last[from->rank] == i && !has_strides(from) && !held_read_after(e, from->rank))
            p->copied_by[from->rank] = i;
    }
}

bool mxl_pass_held_collect(mxl_pass *p, mxl_expression *wanted)
{
    p->count = p->weight = 0;
    if (!held_add(p, wanted))
        return false;
    for (int i = 0; i < p->count; i++) {
        for (mxl_operand *o = held_readers(p->list[i]); o != NULL; o = o->next)
            (void)held_add(p, o->reader);
    }
    qsort(p->list, (size_t)p->count, sizeof(*p->list), by_number);
    for (int i = 0; i < p->count; i++) {
        p->list[i]->rank = i;
        p->list[i]->running = true;
        p->weight += p->list[i]->weight;
    }
    for (int i = 0; i < p->count; i++)
        held_look_at_uses(p, i);
    held_look_at_copies(p);
    return true;
}

/* ---- where results are ---- */

/* Memory of results that are not stored, for the tiles of others. */
typedef struct scratch {
    int count;
    mxl_stream list[MXL_CHAIN_LINKS];
} scratch;

/* Tiles for a result: those of one that is not read any more, or the result's own memory. */
static mxl_stream scratch_take(scratch *s, const mxl_expression *e)
{
    for (int i = s->count - 1; i >= 0; i--) {
        mxl_stream found = s->list[i];

        if (found.size != e->out_size)
            continue;
        s->list[i] = s->list[--s->count];
        return found;
    }
    return (mxl_stream){e->target->data, e->out_size, 1, true, NULL};
}

/* Takes back the tiles that expression i is the last to read. */
static void scratch_take_back(scratch *s, const mxl_pass *p, int i)
{
    for (int j = 0; j < i; j++) {
        if (p->last[j] == i && p->result[j].scratch)
            s->list[s->count++] = p->result[j];
    }
}

static mxl_stream held_operand(const mxl_pass *p, mxl_operand *o)
{
    const mxl_expression *maker = held_maker(o);
    size_t size = o->reader->in_size;

    if (maker != NULL)
        return p->result[maker->rank];
    if (o->storage == NULL)
        return (mxl_stream){o->number, size, 0, false, NULL};
    return (mxl_stream){(char *)o->storage->data + o->offset, size, 1, false,
                        o->is_strided ? &o->strided : NULL};
}

static mxl_stream stored_result(const mxl_expression *e)
{
    return (mxl_stream){e->target->data, e->out_size, 1, false, NULL};
}

static void held_link(mxl_pass *p, int i, scratch *s)
{
    mxl_expression *e = p->list[i];
    mxl_link *link = &p->links[p->num_links++];
    bool strided = false;

    *link = (mxl_link){.row = e->row, .params = e->params, .num_in = e->num_in};
    for (int k = 0; k < e->num_in; k++) {
        link->in[k] = held_operand(p, &e->in[k]);
        strided = strided || link->in[k].strided != NULL;
    }
    if (!strided) /* else its tile is gathered in the output's, while others are still read */
        scratch_take_back(s, p, i);
    if (p->copied_by[i] >= 0)
        p->result[i] = stored_result(p->list[p->copied_by[i]]);
    else
        p->result[i] = p->stored[i] ? stored_result(e) : scratch_take(s, e);
    if (strided)
        scratch_take_back(s, p, i);
    link->out = p->result[i];
}

void mxl_pass_held_plan(mxl_pass *p)
{
    scratch s = {.count = 0};

    p->num_links = 0;
    for (int i = 0; i < p->count; i++) {
        if (p->stored[i])
            mxl_storage_commit(p->list[i]->target);
    }
    for (int i = 0; i < p->count; i++) {
        const mxl_expression *from = p->list[i]->copies ? held_maker(&p->list[i]->in[0]) : NULL;

        if (from != NULL && p->copied_by[from->rank] == i)
            p->result[i] = stored_result(p->list[i]);
        else
            held_link(p, i, &s);
    }
}

void mxl_pass_run(const mxl_pass *p)
{
    mxl_chain_run(p->links, p->num_links, p->weight, p->list[0]->n);
}
