/* Where the results of a pass are, and how it runs; see pass.h. */
#include "array/pass.h"

#include <stdio.h>
#include <string.h>

#include "base/profile/profile.h"

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
    return (mxl_stream){.data = e->target->data,
                        .size = e->out_size,
                        .step = 1,
                        .scratch = true,
                        .edits = e->edits};
}

/* Takes back the tiles that expression i is the last to read. */
static void scratch_take_back(scratch *s, const mxl_pass *p, int i)
{
    for (int j = 0; j < i; j++) {
        if (p->last[j] == i && p->result[j].scratch && p->result[j].window == NULL)
            s->list[s->count++] = p->result[j];
    }
}

/* The reduction of the pass that keeps a window of the result; NULL: none. */
static const mxl_reduce_tiles *held_window(const mxl_expression *e)
{
    for (const mxl_operand *o = mxl_expression_held_readers(e); o != NULL; o = o->next) {
        if (o->reader->rank >= 0 && o->reader->taker != NULL && o->reader->taker->window > 0)
            return o->reader->taker;
    }
    return NULL;
}

/* Whether the pass reads the whole storage, element by element, and for the last time, where it has
 * computed link `last`. */
static bool held_is_read_by(const mxl_pass *p, mxl_storage *storage, int last)
{
    for (const mxl_operand *o = mxl_extra_of(storage)->readers; o != NULL; o = o->next) {
        int rank = o->reader->rank;

        if (rank < 0 || rank > last || p->list[rank] != o->reader || o->is_strided ||
            o->offset != 0)
            return false;
    }
    return true;
}

/* A storage that ends with the pass and whose block the result of link i may be written to, at
 * `target`: only expressions refer to it, and each element is read before it is written. NULL:
 * there is none. */
static mxl_storage *held_donor(const mxl_pass *p, int i, mxl_storage *target)
{
    size_t size = p->list[i]->out_size;

    if (!mxl_extra_of(target)->reserved || !p->list[i]->one_dtype ||
        mxl_expression_has_strides(p->list[i]))
        return NULL;
    for (int j = 0; j <= i; j++) {
        for (int k = 0; k < p->list[j]->num_in; k++) {
            mxl_storage *storage = p->list[j]->in[k].storage;
            const mxl_extra *extra = storage == NULL ? NULL : mxl_extra_of(storage);

            if (extra != NULL && extra->listed && extra->maker == NULL &&
                storage->bytes == target->bytes && p->list[j]->in_size == size &&
                held_is_read_by(p, storage, i))
                return storage;
        }
    }
    return NULL;
}

/* Gives the result that link i writes its memory, unless it has it. */
static void held_commit(const mxl_pass *p, int i, mxl_storage *target)
{
    mxl_storage *donor = held_donor(p, i, target);

    if (donor == NULL) {
        mxl_storage_commit(target);
        return;
    }
    mxl_storage_commit_from(target, donor);
    mxl_left_held_weigh(donor);
}

static mxl_stream held_operand(const mxl_pass *p, mxl_operand *o)
{
    const mxl_expression *maker = mxl_expression_held_maker(o);
    size_t size = o->reader->in_size;

    if (maker != NULL)
        return p->result[maker->rank];
    if (o->storage == NULL)
        return (mxl_stream){.data = o->number, .size = size};
    return (mxl_stream){.data = (char *)o->storage->data + o->offset,
                        .size = size,
                        .step = 1,
                        .strided = o->is_strided ? &o->strided : NULL};
}

static mxl_stream stored_result(const mxl_expression *e)
{
    return (mxl_stream){.data = e->target->data, .size = e->out_size, .step = 1};
}

/* Where the result of expression i is. What it reads has been looked up before. */
static mxl_stream held_result(const mxl_pass *p, int i, scratch *s)
{
    const mxl_expression *e = p->list[i];
    const mxl_reduce_tiles *window;
    mxl_stream own;

    if (p->copied_by[i] >= 0)
        e = p->list[p->copied_by[i]];
    if (p->copied_by[i] >= 0 || p->stored[i]) {
        held_commit(p, i, e->target);
        return stored_result(e);
    }
    window = held_window(e);
    if (window == NULL)
        return scratch_take(s, e);
    own = stored_result(e);
    own.scratch = true;
    own.window = window;
    return own;
}

static void held_link(mxl_pass *p, int i, scratch *s)
{
    mxl_expression *e = p->list[i];
    mxl_link *link = &p->links[p->num_links++];
    bool strided = false;

    link->taker = e->taker; /* one by one: most of link->in is not needed */
    link->row = e->row;
    link->opcode = e->opcode;
    link->params = e->params;
    link->num_in = e->num_in;
    for (int k = 0; k < e->num_in; k++) {
        link->in[k] = held_operand(p, &e->in[k]);
        strided = strided || link->in[k].strided != NULL;
    }
    if (!strided) /* else its tile is gathered in the output's, while others are still read */
        scratch_take_back(s, p, i);
    if (e->taker == NULL)
        p->result[i] = held_result(p, i, s);
    else
        p->result[i] = e->taker->whole != NULL ? stored_result(e) : (mxl_stream){.data = NULL};
    if (strided)
        scratch_take_back(s, p, i);
    link->out = p->result[i];
}

void mxl_pass_held_plan(mxl_pass *p)
{
    scratch s; /* not all of it is needed */
    bool takes = false;

    s.count = p->num_links = 0;
    for (int i = 0; i < p->count; i++) {
        const mxl_expression *e = p->list[i],
                             *from = e->taker == NULL ? NULL : mxl_expression_held_maker(&e->in[0]);

        p->taken[i] = from == NULL ? -1 : from->rank;
        takes = takes || e->taker != NULL;
    }
    for (int i = 0; i < p->count && takes; i++) { /* it may run twice: nothing that it reads ends */
        if (p->stored[i])
            mxl_storage_commit(p->list[i]->target);
    }
    for (int i = 0; i < p->count; i++) {
        const mxl_expression *from = mxl_expression_copies(p->list[i])
                                         ? mxl_expression_held_maker(&p->list[i]->in[0])
                                         : NULL;

        if (from != NULL && p->copied_by[from->rank] == i)
            p->result[i] = stored_result(p->list[i]);
        else
            held_link(p, i, &s);
    }
}

/* Ends a reduction. False: its input is to be stored. */
static bool end_taker(mxl_pass *p, int i)
{
    const mxl_expression *e = p->list[i];
    void *out = e->target->data;
    int from = p->taken[i];

    if (p->again[i]) {
        mxl_reduce_tiles_again(e->taker, e->in[0].storage->data, out);
        return true;
    }
    if (mxl_reduce_tiles_end(e->taker, out))
        return true;
    p->again[i] = true;
    if (from >= 0) {
        p->stored[from] = true;
        p->copied_by[from] = -1;
    }
    return false;
}

static bool run(mxl_pass *p)
{
    bool done = true;

    mxl_chain_run(p->links, p->num_links, p->weight, p->list[0]->n);
    for (int i = 0; i < p->count; i++) {
        if (p->list[i]->taker != NULL)
            done = end_taker(p, i) && done;
    }
    return done;
}

/* The names of what a pass computes; a list that is too long ends in "...". */
static void name_pass(const mxl_pass *p, char *text, size_t room)
{
    size_t used = 0;

    for (int i = 0; i < p->count; i++) {
        const char *name = p->list[i]->name;

        if (used + strlen(name) + 8 > room) {
            used += (size_t)snprintf(text + used, room - used, ",...");
            break;
        }
        used += (size_t)snprintf(text + used, room - used, "%s%s", i == 0 ? "" : ",", name);
    }
    (void)snprintf(text + used, room - used, ")");
}

__attribute__((noinline, cold)) static bool run_measured(mxl_pass *p)
{
    mxl_span span = mxl_span_begin(false);
    bool done = run(p);
    char names[256];

    name_pass(p, names, sizeof(names));
    mxl_span_end(&span, "FusedPass(", names, true);
    return done;
}

bool mxl_pass_run(mxl_pass *p, bool measured)
{
    return measured && mxl_profile_runs() ? run_measured(p) : run(p);
}
