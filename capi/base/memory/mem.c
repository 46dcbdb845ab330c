/* Memory behind the inline paths of mem.h. Decides whether a block comes from and returns to the
 * thread's cache, the depot, the pool (mem_pool.c), the heap (heap.c) or the allocator. */
#include "base/memory/mem.h"

#include <string.h>

#include "base/error.h"
#include "base/memory/heap.h"
#include "base/memory/mem_pool.h"

/* Changed only while no other thread is in the library. */
static struct {
    mxl_alloc_fn alloc;
    mxl_free_fn release;
    void *payload;
    bool keep;
} allocator = {mxl_system_alloc, mxl_system_free, NULL, MXL_MEM_KEEPS};

static bool (*last_resort)(void); /* set when the library is loaded */

static void count_live(int64_t n)
{
    mxl_state *state = mxl_state_here;

    if (state != NULL)
        mxl_count_add(&state->live_bytes, n);
    else
        atomic_fetch_add_explicit(&mxl_state_rest_bytes, n, memory_order_relaxed);
}

void mxl_mem_give_back(void *block, size_t rounded)
{
    allocator.release(allocator.payload, block, rounded);
}

void mxl_mem_give_back_chain(void *chain, size_t rounded)
{
    while (chain != NULL) {
        void *next = *(void **)chain;

        mxl_mem_give_back(chain, rounded);
        chain = next;
    }
}

/* A block for a size of the pool: a freed one, or a new one of the heap, whose memory is the
 * system's. NULL: there is none. */
static void *take_pooled(size_t rounded, int pool_class)
{
    void *block = mxl_pool_take(rounded, pool_class);

    if (block == NULL && allocator.alloc == mxl_system_alloc)
        block = mxl_pool_take_clean(rounded);
    return block;
}

void mxl_mem_set_last_resort(bool (*run)(void))
{
    last_resort = run;
}

static void *take_new(size_t rounded, int pool_class)
{
    void *block = NULL;

    if (allocator.keep && pool_class >= 0)
        block = take_pooled(rounded, pool_class);
    return block != NULL ? block : allocator.alloc(allocator.payload, rounded, 64);
}

/* The same when the pool may have free blocks of other sizes only. */
__attribute__((noinline, cold)) static void *take_last(size_t rounded, int pool_class)
{
    void *block = NULL;

    if (mxl_mem_kept_bytes() > 0) {
        mxl_pool_empty(); /* which makes runs of the heap clean, too */
        block = take_new(rounded, pool_class);
    }
    if (block == NULL && last_resort != NULL && last_resort()) {
        mxl_pool_empty();
        block = take_new(rounded, pool_class);
    }
    return block;
}

void *mxl_mem_alloc_slow(size_t bytes)
{
    mxl_state *state;
    size_t rounded, block_class;
    int pool_class;
    void *block;

    if (bytes == 0)
        bytes = 1;
    if (bytes > PTRDIFF_MAX / 2) {
        mxl_error_memory(bytes);
        return NULL;
    }
    (void)mxl_state_get();
    state = mxl_state_here;
    pool_class = mxl_pool_class(bytes, &rounded);
    block_class = (bytes - 1) / 64;
    if (allocator.keep && block_class < MXL_BLOCK_CLASSES && state != NULL &&
        state->blocks[block_class].top == NULL &&
        mxl_depot_take(&state->blocks[block_class], block_class))
        return mxl_alloc(bytes);
    block = take_new(rounded, pool_class);
    if (block == NULL)
        block = take_last(rounded, pool_class);
    if (block == NULL) {
        mxl_error_memory(bytes);
        return NULL;
    }
    count_live((int64_t)bytes);
    return block;
}

void mxl_mem_free_slow(void *block, size_t bytes)
{
    mxl_state *state;
    size_t rounded, block_class;
    int pool_class;

    if (bytes == 0)
        bytes = 1;
    (void)mxl_state_get();
    state = mxl_state_here;
    pool_class = mxl_pool_class(bytes, &rounded);
    block_class = (bytes - 1) / 64;
    if (allocator.keep && block_class < MXL_BLOCK_CLASSES && state != NULL) {
        if (state->blocks[block_class].room == 0)
            mxl_depot_keep(&state->blocks[block_class], block_class);
        mxl_free(block, bytes);
        return;
    }
    count_live(-(int64_t)bytes);
    if (allocator.keep && pool_class >= 0)
        mxl_pool_keep(block, rounded);
    else
        mxl_mem_give_back(block, rounded);
}

bool mxl_mem_is_fresh(const void *block)
{
    return mxl_pool_is_fresh(block);
}

void *mxl_mem_reserve(void *block, size_t bytes)
{
    size_t rounded;
    void *reserved;

    if (!mxl_heap_holds(block))
        return NULL;
    (void)mxl_pool_class(bytes, &rounded);
    reserved = mxl_pool_take_apart(rounded);
    if (reserved == NULL)
        return NULL;
    mxl_pool_keep(block, rounded);
    count_live(-(int64_t)bytes);
    return reserved;
}

void *mxl_mem_commit(void *reserved, size_t bytes)
{
    size_t rounded;
    int pool_class = mxl_pool_class(bytes, &rounded);
    void *block = mxl_pool_take(rounded, pool_class);

    count_live((int64_t)bytes);
    if (block == NULL)
        block = mxl_pool_take_clean(rounded);
    if (block == NULL)
        return reserved;
    mxl_pool_put_clean(reserved, rounded);
    return block;
}

void mxl_mem_free_reserved(void *reserved, size_t bytes)
{
    size_t rounded;

    (void)mxl_pool_class(bytes, &rounded);
    mxl_pool_put_clean(reserved, rounded);
}

void *mxl_alloc_zero(size_t bytes)
{
    void *block = mxl_alloc(bytes);

    if (block != NULL)
        memset(block, 0, bytes);
    return block;
}

void *mxl_realloc(void *block, size_t old_bytes, size_t new_bytes)
{
    size_t old_rounded, new_rounded;
    void *grown;

    if (block == NULL)
        return mxl_alloc(new_bytes);
    (void)mxl_pool_class(old_bytes > 0 ? old_bytes : 1, &old_rounded);
    (void)mxl_pool_class(new_bytes > 0 ? new_bytes : 1, &new_rounded);
    if (old_rounded == new_rounded && new_bytes > 0 && old_bytes > 0) {
        count_live((int64_t)new_bytes - (int64_t)old_bytes);
        return block;
    }
    grown = mxl_alloc(new_bytes);
    if (grown == NULL)
        return NULL;
    memcpy(grown, block, old_bytes < new_bytes ? old_bytes : new_bytes);
    mxl_free(block, old_bytes);
    return grown;
}

int mxl_grow(void *list, size_t item, size_t *room)
{
    size_t more = *room == 0 ? 16 : 2 * *room;
    void *items, *bigger;

    memcpy(&items, list, sizeof(items));
    bigger = mxl_realloc(items, *room * item, more * item);
    if (bigger == NULL)
        return -1;
    memcpy(list, &bigger, sizeof(bigger));
    *room = more;
    return 0;
}

void mxl_mem_state_begin(mxl_state *state)
{
    for (int i = 0; i < MXL_BLOCK_CLASSES; i++)
        state->blocks[i].room = allocator.keep ? 2 * mxl_depot_batch((size_t)i) : 0;
}

void mxl_mem_state_end(mxl_state *state)
{
    for (size_t i = 0; i < MXL_BLOCK_CLASSES; i++) {
        void *chain = state->blocks[i].top;

        state->blocks[i].top = NULL;
        mxl_mem_give_back_chain(chain, 64 * (i + 1));
    }
}

static void empty_caches(mxl_state *state)
{
    mxl_mem_state_end(state);
    mxl_mem_state_begin(state);
}

void mxl_mem_trim(void)
{
    if (mxl_state_here != NULL)
        empty_caches(mxl_state_here);
    mxl_pool_empty();
}

int mxl_mem_set_allocator(mxl_alloc_fn alloc, mxl_free_fn release, void *payload, bool keep)
{
    int64_t live = mxl_mem_live_bytes();

    if ((alloc == NULL) != (release == NULL))
        return mxl_error(
            "set allocator: one function of the two is NULL, both or none were expected");
    if (alloc == NULL) {
        alloc = mxl_system_alloc;
        release = mxl_system_free;
        payload = NULL;
    }
    if (live != 0 &&
        (alloc != allocator.alloc || release != allocator.release || payload != allocator.payload))
        return mxl_error("set allocator: %lld bytes of the present allocator are still in use",
                         (long long)live);
    mxl_state_each(mxl_mem_state_end);
    mxl_pool_empty();
    allocator.alloc = alloc;
    allocator.release = release;
    allocator.payload = payload;
    allocator.keep = keep && MXL_MEM_KEEPS;
    mxl_state_each(mxl_mem_state_begin);
    return 0;
}

int64_t mxl_mem_live_bytes(void)
{
    int64_t bytes, handles;

    mxl_state_sums(&bytes, &handles);
    return bytes;
}
