/* The memory that waiting expressions own: what only they refer to, which would be free if they had
 * run. A storage is left to its readers when the last array over it is released; its bytes count
 * from then on, unless its block is address space only (mxl_storage_reserve). */
#include "array/pass.h"

_Atomic int64_t mxl_storage_left_bytes; /* changed under the lock of expressions */

/* Bytes of results that wait and that others than expressions refer to. */
static int64_t owed_bytes;

/* Storages whose bytes count, in the order in which they were left. */
static mxl_storage *oldest, *newest;

void mxl_left_held_add(int64_t bytes)
{
    int64_t now = atomic_load_explicit(&mxl_storage_left_bytes, memory_order_relaxed);

    atomic_store_explicit(&mxl_storage_left_bytes, now + bytes, memory_order_relaxed);
}

bool mxl_left_held_too_much(void)
{
    return atomic_load_explicit(&mxl_storage_left_bytes, memory_order_relaxed) >
           MXL_MOST_LEFT + owed_bytes;
}

static void held_list(mxl_storage *storage, mxl_extra *extra)
{
    extra->older = newest;
    extra->newer = NULL;
    if (newest != NULL)
        mxl_extra_of(newest)->newer = storage;
    else
        oldest = storage;
    newest = storage;
}

static void held_unlist(const mxl_extra *extra)
{
    if (extra->older != NULL)
        mxl_extra_of(extra->older)->newer = extra->newer;
    else
        oldest = extra->newer;
    if (extra->newer != NULL)
        mxl_extra_of(extra->newer)->older = extra->older;
    else
        newest = extra->older;
}

void mxl_left_held_weigh(mxl_storage *storage)
{
    mxl_extra *extra = mxl_extra_of(storage);
    bool counts = extra->left && extra->num_readers > 0 && !extra->reserved;
    bool owed = extra->maker != NULL && !extra->left;

    if (owed != extra->owed) {
        extra->owed = owed;
        owed_bytes += owed ? (int64_t)storage->bytes : -(int64_t)storage->bytes;
    }
    if (counts == extra->listed)
        return;
    extra->listed = counts;
    if (counts)
        held_list(storage, extra);
    else
        held_unlist(extra);
    mxl_left_held_add(counts ? (int64_t)storage->bytes : -(int64_t)storage->bytes);
}

/* What reads the result of an expression that nothing else refers to; NULL: another refers to it,
 * or all who read it read what was there before. */
static mxl_expression *held_next_reader(const mxl_expression *e)
{
    const mxl_extra *extra = mxl_extra_of(e->target);

    if (!extra->left)
        return NULL;
    for (const mxl_operand *o = extra->readers; o != NULL; o = o->next) {
        if (o->reader->number > e->number)
            return o->reader;
    }
    return NULL;
}

mxl_expression *mxl_left_held_holder(void)
{
    mxl_expression *holder = NULL;

    if (oldest == NULL)
        return NULL;
    for (mxl_expression *e = mxl_extra_of(oldest)->readers->reader; e != NULL;
         e = held_next_reader(e))
        holder = e;
    return holder;
}
