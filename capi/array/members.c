/* Which expressions run together: the members of a pass; see pass.h. */
#include "array/pass.h"

#include <stdlib.h>

/* Whether the pass may have this expression too. A pass with reductions may have to run twice
 * (mxl_reduce_tiles_end), so that it edits nothing that it reads. */
static bool suits(const mxl_pass *p, const mxl_expression *e)
{
    int takers = 0;

    if (e->taker == NULL && !e->edits)
        return true;
    for (int i = 0; i < p->count; i++) {
        const mxl_expression *other = p->list[i];

        takers += other->taker != NULL;
        if (e->taker == NULL ? other->taker != NULL : other->edits)
            return false;
        if (other->taker != NULL && !mxl_reduce_tiles_agree(other->taker, e->taker))
            return false;
    }
    return takers < MXL_CHAIN_TAKERS;
}

/* Lists an expression (NULL: none) that is not in the pass yet. False: there is no room, it does
 * not suit the others, or another thread runs it. */
static bool held_list(mxl_pass *p, mxl_expression *e)
{
    if (e == NULL || (e->rank >= 0 && !e->running))
        return true;
    if (e->running || p->count == MXL_CHAIN_LINKS || !suits(p, e))
        return false;
    e->rank = p->count;
    p->list[p->count++] = e;
    return true;
}

/* Adds an expression, all that it needs, and what still reads the bytes that it replaces. False,
 * with the pass as before: a part cannot be listed. */
static bool held_add(mxl_pass *p, mxl_expression *wanted)
{
    int before = p->count;
    bool fits = held_list(p, wanted);

    for (int i = before; i < p->count && fits; i++) {
        const mxl_expression *e = p->list[i];

        for (int k = 0; k < e->num_in && fits; k++)
            fits = held_list(p, mxl_expression_held_maker(&e->in[k]));
        for (mxl_operand *o = mxl_expression_held_readers(e); o != NULL && fits; o = o->next)
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
    for (const mxl_operand *o = mxl_expression_held_readers(e); o != NULL; o = o->next) {
        uses += o->reader->rank >= 0;
        if (o->reader->number > e->number && o->reader->rank > p->last[i])
            p->last[i] = o->reader->rank;
    }
    p->stored[i] = atomic_load_explicit(&e->target->ref.count, memory_order_acquire) != uses;
}

/* Whether expressions of the pass after number `rank` read the bytes that e replaces. */
static bool held_read_after(const mxl_expression *e, int rank)
{
    for (const mxl_operand *o = mxl_expression_held_readers(e); o != NULL; o = o->next) {
        if (o->reader->number < e->number && o->reader->rank > rank)
            return true;
    }
    return false;
}

/* Finds copies that need no loop of their own: what they copy, which nothing else needs, is written
 * to their target at once. */
static void held_look_at_copies(mxl_pass *p)
{
    for (int i = 0; i < p->count; i++)
        p->copied_by[i] = -1;
    for (int i = 0; i < p->count; i++) {
        const mxl_expression *e = p->list[i], *from = mxl_expression_copies(e)
                                                          ? mxl_expression_held_maker(&e->in[0])
                                                          : NULL;

        if (from != NULL && p->stored[i] && !p->stored[from->rank] &&
            !mxl_expression_copies(from) && p->last[from->rank] == i &&
            !mxl_expression_has_strides(from) && !held_read_after(e, from->rank))
            p->copied_by[from->rank] = i;
    }
}

/* Whether an expression would only be stored for others that are not in the pass. */
static bool held_waits_too(const mxl_expression *e)
{
    int uses = 0;

    for (const mxl_operand *o = mxl_expression_held_readers(e); o != NULL; o = o->next) {
        if (o->reader->rank >= 0)
            return false;
        uses++;
    }
    return uses > 0 && atomic_load_explicit(&e->target->ref.count, memory_order_acquire) == uses;
}

/* Leaves out what is in the pass only because it could be and would be stored for what waits on, as
 * a reduction does that does not suit the pass. The list is sorted. */
static void held_leave_out(mxl_pass *p)
{
    int kept = 0;

    for (int i = 0; i < p->count; i++) {
        if (p->list[i]->edits)
            return;
    }
    for (int i = p->count - 1; i >= 0; i--) {
        if (p->list[i]->extra && p->list[i]->taker == NULL && held_waits_too(p->list[i]))
            p->list[i]->rank = -1;
    }
    for (int i = 0; i < p->count; i++) {
        if (p->list[i]->rank >= 0)
            p->list[kept++] = p->list[i];
    }
    p->count = kept;
}

/* Whether all that makes what an expression reads is among the first `count` of the pass. */
static bool held_is_ready(const mxl_expression *e, int count)
{
    for (int k = 0; k < e->num_in; k++) {
        const mxl_expression *maker = mxl_expression_held_maker(&e->in[k]);

        if (maker != NULL && maker->rank >= count)
            return false;
    }
    return true;
}

/* Whether an expression can have the result of `maker` in registers. */
static bool held_follows(const mxl_expression *e, const mxl_expression *maker)
{
    bool reads = false;

    for (int k = 0; k < e->num_in; k++)
        reads = reads || mxl_expression_held_maker(&e->in[k]) == maker;
    return reads && e->opcode != MXL_CODE_NONE && maker->opcode != MXL_CODE_NONE;
}

/* Moves instructions behind what they read, so that a result is still in registers when it is read
 * (kernel/elementwise/segments.h). The list is sorted; edits keep their order. */
static void held_follow_results(mxl_pass *p)
{
    for (int i = 0; i < p->count; i++) {
        if (p->list[i]->edits)
            return;
        p->list[i]->rank = p->count;
    }
    for (int i = 0; i < p->count; i++) {
        int chosen = -1;
        mxl_expression *next;

        for (int j = i; j < p->count; j++) {
            bool follows = i > 0 && held_follows(p->list[j], p->list[i - 1]);

            if ((follows || chosen < 0) && held_is_ready(p->list[j], i)) {
                chosen = j;
                if (follows)
                    break;
            }
        }
        next = p->list[chosen];
        memmove(&p->list[i + 1], &p->list[i], (size_t)(chosen - i) * sizeof(*p->list));
        p->list[i] = next;
        next->rank = i;
    }
}

bool mxl_pass_held_collect(mxl_pass *p, mxl_expression *wanted)
{
    int needed;

    p->count = p->weight = 0;
    if (!held_add(p, wanted))
        return false;
    needed = p->count;
    for (int i = 0; i < p->count; i++) {
        for (mxl_operand *o = mxl_expression_held_readers(p->list[i]); o != NULL; o = o->next)
            (void)held_add(p, o->reader);
    }
    for (int i = 0; i < p->count; i++)
        p->list[i]->extra = i >= needed;
    qsort(p->list, (size_t)p->count, sizeof(*p->list), by_number);
    held_leave_out(p);
    held_follow_results(p);
    for (int i = 0; i < p->count; i++) {
        p->list[i]->rank = i;
        p->list[i]->running = true;
        p->weight += p->list[i]->weight;
        p->again[i] = false;
    }
    for (int i = 0; i < p->count; i++)
        held_look_at_uses(p, i);
    held_look_at_copies(p);
    return true;
}
