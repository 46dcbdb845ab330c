/* Freed blocks that all threads share: a pool of large blocks, and a depot of small blocks that
 * threads exchange in batches. One lock and one cap for both. Blocks of the heap (heap.c) merge in
 * the pool, and parts of them are taken; others are taken whole, for the same size. */
#include "base/memory/mem_pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/memory/heap.h"
#include "base/memory/mem.h"
#include "base/system/pages.h"
#include "base/system/threads.h"

enum {
    SMALL_LIMIT = 64 * MXL_BLOCK_CLASSES, /* blocks up to this size are cached per thread */
    SMALL_KEEP = 64 * 1024,               /* bytes that a thread caches of each small class */
    POOL_FIRST = 10,                      /* pool classes: four for each doubling from 2^10 ... */
    POOL_LAST = 42,                       /* ... up to 2^42 */
    POOL_CLASSES = 4 * (POOL_LAST - POOL_FIRST),
    TRADED = 2 << 20,
    LARGE = 1 << 20 /* larger blocks have whole units of the heap, and any size within a class */
};

/* The default cap is an eighth of the machine's memory, at most this. */
static const int64_t most_cap = INT64_C(1) << 30;

/* The header of a pooled block, written into the block itself. */
typedef struct kept {
    struct kept *next, *prev;   /* in its class, latest first */
    struct kept *older, *newer; /* among all pooled blocks */
    size_t bytes;
    int pool_class;
} kept;

/* A batch of small blocks. The first word of each block points to the next block; the second word
 * of the first block points to the next batch. */
typedef struct batch {
    struct batch *next_block;
    struct batch *next_batch;
} batch;

static struct {
    mxl_mutex lock;
    kept *top[POOL_CLASSES];
    kept *oldest, *newest;
    batch *batches[MXL_BLOCK_CLASSES];
    int64_t bytes;
    int64_t cap; /* -1: not read yet */
} pool = {.lock = MXL_MUTEX_INIT, .cap = -1};

/* ---- sizes ---- */

/* The class of blocks of `last` + 1 bytes, and the logarithm of the class's step. */
static int class_of(size_t last, int *step)
{
    int top = 63 - __builtin_clzll((unsigned long long)last | 1);

    *step = top - 2;
    return 4 * (top - POOL_FIRST) + (int)((last >> *step) & 3);
}

int mxl_pool_class(size_t bytes, size_t *rounded)
{
    size_t last = bytes - 1;
    int step, found;

    if (!MXL_MEM_KEEPS) {
        *rounded = bytes;
        return -1;
    }
    if (bytes <= SMALL_LIMIT || (uint64_t)last >> POOL_LAST > 0) {
        *rounded = (bytes + 63) & ~(size_t)63;
        return -1;
    }
    if (bytes > LARGE)
        last |= MXL_HEAP_UNIT - 1;
    found = class_of(last, &step);
    *rounded = bytes > LARGE ? last + 1 : ((last >> step) + 1) << step;
    return found;
}

int mxl_depot_batch(size_t block_class)
{
    return SMALL_KEEP / 2 / 64 / (int)(block_class + 1);
}

/* ---- the pool ---- */

/* Functions with "held" in their names are called with pool.lock held. */

/* Takes a block out; one of the heap becomes a run in use. */
static void held_unlink(kept *block)
{
    if (mxl_heap_holds(block))
        mxl_heap_mark(block, block->bytes, MXL_RUN_USED);
    if (block->prev != NULL)
        block->prev->next = block->next;
    else
        pool.top[block->pool_class] = block->next;
    if (block->next != NULL)
        block->next->prev = block->prev;
    if (block->newer != NULL)
        block->newer->older = block->older;
    else
        pool.newest = block->older;
    if (block->older != NULL)
        block->older->newer = block->newer;
    else
        pool.oldest = block->newer;
    pool.bytes -= (int64_t)block->bytes;
}

/* Puts a block in, a free run of the heap or a block of its own. */
static void held_link(kept *block, size_t bytes)
{
    kept *top;
    int step;

    if (mxl_heap_holds(block))
        mxl_heap_mark(block, bytes, MXL_RUN_FREE);
    block->bytes = bytes;
    block->pool_class = class_of(bytes - 1, &step);
    top = pool.top[block->pool_class];
    block->prev = NULL;
    block->next = top;
    if (top != NULL)
        top->prev = block;
    pool.top[block->pool_class] = block;
    block->newer = NULL;
    block->older = pool.newest;
    if (pool.newest != NULL)
        pool.newest->newer = block;
    else
        pool.oldest = block;
    pool.newest = block;
    pool.bytes += (int64_t)block->bytes;
}

/* Removes the oldest blocks until the pool fits `cap`. Returns them as a list linked by `next`. */
static kept *held_evict(int64_t cap)
{
    kept *out = NULL;

    while (pool.bytes > cap && pool.oldest != NULL) {
        kept *block = pool.oldest;

        held_unlink(block);
        block->next = out;
        out = block;
    }
    return out;
}

int64_t mxl_pool_default_cap(uint64_t memory)
{
    return memory > 0 && memory / 8 < (uint64_t)most_cap ? (int64_t)(memory / 8) : most_cap;
}

static void held_read_cap(void)
{
    int64_t mb = mxl_env_number("MXLITE_POOL_MB", -1);

    pool.cap = mxl_pool_default_cap(mxl_pages_machine());
    if (mb >= 0 && mb < INT64_MAX >> 20)
        pool.cap = mb << 20;
}

static void give_back(void *block, size_t bytes)
{
    if (!mxl_heap_holds(block)) {
        mxl_mem_give_back(block, bytes);
        return;
    }
    mxl_heap_discard(block, bytes);
    mxl_pool_put_clean(block, bytes);
}

static void give_back_kept(kept *list)
{
    while (list != NULL) {
        kept *next = list->next;

        give_back(list, list->bytes);
        list = next;
    }
}

/* The block for a size: one of that size, else the smallest run of the heap beyond it, or NULL. */
static kept *held_find(size_t rounded, int pool_class)
{
    kept *best = NULL;

    for (int c = pool_class; c < POOL_CLASSES && best == NULL; c++) {
        for (kept *block = pool.top[c]; block != NULL; block = block->next) {
            if (block->bytes == rounded)
                return block;
            if (block->bytes > rounded && (best == NULL || block->bytes < best->bytes) &&
                mxl_heap_holds(block))
                best = block;
        }
        if (rounded <= LARGE)
            break;
    }
    return best;
}

/* Takes out blocks of as many bytes as are about to be taken anew, where enough are free, though
 * none is large enough: what the process holds does not grow. */
static kept *held_trade(size_t bytes)
{
    return bytes >= TRADED && pool.bytes >= (int64_t)bytes + TRADED
               ? held_evict(pool.bytes - (int64_t)bytes)
               : NULL;
}

/* The last free run of the heap with units behind it, where it is shorter than the size; NULL:
 * there is none. */
static kept *held_extend(size_t rounded, kept **out)
{
    size_t bytes;
    kept *block = rounded > LARGE ? mxl_heap_last_free(&bytes) : NULL;

    if (block == NULL)
        return NULL;
    held_unlink(block);
    if (mxl_heap_extend(block, bytes, rounded - bytes)) {
        *out = held_trade(rounded - bytes);
        return block;
    }
    held_link(block, bytes);
    return NULL;
}

void *mxl_pool_take(size_t rounded, int pool_class)
{
    kept *block, *out = NULL;

    mxl_mutex_lock(&pool.lock);
    block = held_find(rounded, pool_class);
    if (block != NULL) {
        size_t bytes = block->bytes;

        held_unlink(block);
        if (bytes > rounded) {
            mxl_heap_mark(block, rounded, MXL_RUN_USED);
            held_link((kept *)(void *)((char *)block + rounded), bytes - rounded);
        }
    } else {
        block = held_extend(rounded, &out);
    }
    mxl_mutex_unlock(&pool.lock);
    give_back_kept(out);
    return block;
}

/* The run that a block of the heap makes with its free neighbours, which leave the pool. */
static kept *held_merge(void *block, size_t *bytes)
{
    size_t more;
    void *before = mxl_heap_free_before(block, &more), *behind;

    if (before != NULL) {
        held_unlink(before);
        *bytes += more;
        block = before;
    }
    behind = mxl_heap_free_behind((char *)block + *bytes, &more);
    if (behind != NULL) {
        held_unlink(behind);
        *bytes += more;
    }
    return block;
}

void mxl_pool_keep(void *block, size_t rounded)
{
    kept *out;

    mxl_mutex_lock(&pool.lock);
    if (pool.cap < 0)
        held_read_cap();
    if ((int64_t)rounded > pool.cap) {
        mxl_mutex_unlock(&pool.lock);
        give_back(block, rounded);
        return;
    }
    if (mxl_heap_holds(block))
        block = held_merge(block, &rounded);
    held_link(block, rounded);
    out = held_evict(pool.cap);
    mxl_mutex_unlock(&pool.lock);
    give_back_kept(out);
}

void *mxl_pool_take_clean(size_t rounded)
{
    void *block;
    kept *out;

    if (rounded <= LARGE)
        return NULL;
    mxl_mutex_lock(&pool.lock);
    out = held_trade(rounded);
    block = mxl_heap_take(rounded);
    mxl_mutex_unlock(&pool.lock);
    give_back_kept(out);
    return block;
}

void *mxl_pool_take_apart(size_t rounded)
{
    void *block;

    if (rounded <= LARGE)
        return NULL;
    mxl_mutex_lock(&pool.lock);
    block = mxl_heap_take_apart(rounded);
    mxl_mutex_unlock(&pool.lock);
    return block;
}

void mxl_pool_put_clean(void *block, size_t rounded)
{
    mxl_mutex_lock(&pool.lock);
    mxl_heap_put(block, rounded);
    mxl_mutex_unlock(&pool.lock);
}

bool mxl_pool_is_fresh(const void *block)
{
    bool fresh;

    mxl_mutex_lock(&pool.lock);
    fresh = mxl_heap_is_fresh(block);
    mxl_mutex_unlock(&pool.lock);
    return fresh;
}

/* ---- the depot ---- */

bool mxl_depot_take(mxl_block_cache *cache, size_t block_class)
{
    int count = mxl_depot_batch(block_class);
    batch *first;

    mxl_mutex_lock(&pool.lock);
    first = pool.batches[block_class];
    if (first != NULL) {
        pool.batches[block_class] = first->next_batch;
        pool.bytes -= (int64_t)count * 64 * (int64_t)(block_class + 1);
    }
    mxl_mutex_unlock(&pool.lock);
    if (first == NULL)
        return false;
    cache->top = first;
    cache->room -= count;
    return true;
}

void mxl_depot_keep(mxl_block_cache *cache, size_t block_class)
{
    size_t rounded = 64 * (block_class + 1);
    int count = mxl_depot_batch(block_class);
    batch *first = cache->top;
    batch *last = first;
    bool fits;

    for (int i = 1; i < count; i++)
        last = last->next_block;
    cache->top = last->next_block;
    cache->room += count;
    last->next_block = NULL;

    mxl_mutex_lock(&pool.lock);
    if (pool.cap < 0)
        held_read_cap();
    fits = pool.bytes + (int64_t)rounded * count <= pool.cap;
    if (fits) {
        first->next_batch = pool.batches[block_class];
        pool.batches[block_class] = first;
        pool.bytes += (int64_t)rounded * count;
    }
    mxl_mutex_unlock(&pool.lock);
    if (!fits)
        mxl_mem_give_back_chain(first, rounded);
}

/* ---- both ---- */

void mxl_pool_empty(void)
{
    batch *batches[MXL_BLOCK_CLASSES];
    kept *out;

    mxl_mutex_lock(&pool.lock);
    memcpy(batches, pool.batches, sizeof batches);
    memset(pool.batches, 0, sizeof pool.batches);
    for (size_t i = 0; i < MXL_BLOCK_CLASSES; i++)
        for (batch *at = batches[i]; at != NULL; at = at->next_batch)
            pool.bytes -= (int64_t)mxl_depot_batch(i) * 64 * (int64_t)(i + 1);
    out = held_evict(0);
    mxl_mutex_unlock(&pool.lock);
    give_back_kept(out);
    for (size_t i = 0; i < MXL_BLOCK_CLASSES; i++) {
        while (batches[i] != NULL) {
            batch *next = batches[i]->next_batch;

            mxl_mem_give_back_chain(batches[i], 64 * (i + 1));
            batches[i] = next;
        }
    }
}

int64_t mxl_mem_set_cap(int64_t bytes)
{
    kept *out;
    int64_t before;

    mxl_mutex_lock(&pool.lock);
    if (pool.cap < 0)
        held_read_cap();
    before = pool.cap;
    pool.cap = bytes;
    if (bytes < 0)
        held_read_cap();
    out = held_evict(pool.cap);
    mxl_mutex_unlock(&pool.lock);
    give_back_kept(out);
    return before;
}

int64_t mxl_mem_kept_bytes(void)
{
    int64_t bytes;

    mxl_mutex_lock(&pool.lock);
    bytes = pool.bytes;
    mxl_mutex_unlock(&pool.lock);
    return bytes;
}

void mxl_mem_fork_lock(void)
{
    mxl_mutex_lock(&pool.lock);
}

void mxl_mem_fork_unlock(void)
{
    mxl_mutex_unlock(&pool.lock);
}
