/* Freed blocks that all threads share: a pool of large blocks, and a depot of small blocks that
 * threads exchange in batches. One lock and one cap for both. */
#define _GNU_SOURCE 1 /* _SC_PHYS_PAGES */
#include "base/memory/mem_pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/env.h"
#include "base/memory/mem.h"

enum {
    SMALL_LIMIT = 64 * MXL_BLOCK_CLASSES, /* blocks up to this size are cached per thread */
    SMALL_KEEP = 64 * 1024,               /* bytes that a thread caches of each small class */
    POOL_FIRST = 10,                      /* pool classes: four for each doubling from 2^10 ... */
    POOL_LAST = 42,                       /* ... up to 2^42 */
    POOL_CLASSES = 4 * (POOL_LAST - POOL_FIRST),
    LARGE = 1 << 20,   /* classes beyond have this much more, so that data of a */
    SLACK = 1 << 16,   /* power of two, with a header, need no larger class */
    MOST_RESERVED = 64 /* regions of address space that are kept */
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
    pthread_mutex_t lock;
    kept *top[POOL_CLASSES];
    kept *oldest, *newest;
    batch *batches[MXL_BLOCK_CLASSES];
    kept *reserved; /* address space, linked by `next`; not counted in `bytes` */
    int num_reserved;
    int64_t bytes;
    int64_t cap; /* -1: not read yet */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .cap = -1};

/* ---- sizes ---- */

int mxl_pool_class(size_t bytes, size_t *rounded)
{
    size_t last = bytes - 1, slack = bytes > LARGE ? SLACK : 0;
    int top;

    if (!MXL_MEM_KEEPS) {
        *rounded = bytes;
        return -1;
    }
    if (slack > 0)
        last = last >= LARGE + SLACK ? last - SLACK : LARGE;
    top = 63 - __builtin_clzll((unsigned long long)last | 1);
    if (bytes <= SMALL_LIMIT || top >= POOL_LAST) {
        *rounded = (bytes + 63) & ~(size_t)63;
        return -1;
    }
    *rounded = (((last >> (top - 2)) + 1) << (top - 2)) + slack;
    return 4 * (top - POOL_FIRST) + (int)((last >> (top - 2)) & 3);
}

int mxl_depot_batch(size_t block_class)
{
    return SMALL_KEEP / 2 / 64 / (int)(block_class + 1);
}

/* ---- the pool ---- */

/* Functions with "held" in their names are called with pool.lock held. */

static void held_unlink(kept *block)
{
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

static void held_link(kept *block)
{
    kept *top = pool.top[block->pool_class];

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

int64_t mxl_pool_default_cap(int64_t pages, int64_t page)
{
    return pages > 0 && page > 0 && pages / 8 < most_cap / page ? pages / 8 * page : most_cap;
}

static void held_read_cap(void)
{
    int64_t mb = mxl_env_number("MXLITE_POOL_MB", -1);

    pool.cap = mxl_pool_default_cap(sysconf(_SC_PHYS_PAGES), sysconf(_SC_PAGESIZE));
    if (mb >= 0 && mb < INT64_MAX >> 20)
        pool.cap = mb << 20;
}

static void give_back_kept(kept *list)
{
    while (list != NULL) {
        kept *next = list->next;

        mxl_mem_give_back(list, list->bytes);
        list = next;
    }
}

void *mxl_pool_take(int pool_class)
{
    kept *block;

    pthread_mutex_lock(&pool.lock);
    block = pool.top[pool_class];
    if (block != NULL)
        held_unlink(block);
    pthread_mutex_unlock(&pool.lock);
    return block;
}

void *mxl_pool_take_large(size_t bytes, size_t *rounded)
{
    kept *block = NULL;

    if (bytes <= LARGE)
        return NULL;
    pthread_mutex_lock(&pool.lock);
    for (int c = mxl_pool_class(bytes, rounded); c < POOL_CLASSES && block == NULL; c++)
        block = pool.top[c];
    if (block != NULL) {
        held_unlink(block);
        *rounded = block->bytes;
    }
    pthread_mutex_unlock(&pool.lock);
    return block;
}

void mxl_pool_keep(void *block, size_t rounded, int pool_class)
{
    kept *head = block;
    kept *out;

    pthread_mutex_lock(&pool.lock);
    if (pool.cap < 0)
        held_read_cap();
    if ((int64_t)rounded > pool.cap) {
        pthread_mutex_unlock(&pool.lock);
        mxl_mem_give_back(block, rounded);
        return;
    }
    head->bytes = rounded;
    head->pool_class = pool_class;
    held_link(head);
    out = held_evict(pool.cap);
    pthread_mutex_unlock(&pool.lock);
    give_back_kept(out);
}

/* ---- address space ---- */

void *mxl_pool_take_reserved(size_t rounded)
{
    kept *found;

    pthread_mutex_lock(&pool.lock);
    for (kept **link = &pool.reserved; (found = *link) != NULL; link = &found->next) {
        if (found->bytes == rounded) {
            *link = found->next;
            pool.num_reserved--;
            break;
        }
    }
    pthread_mutex_unlock(&pool.lock);
    return found == NULL ? mxl_system_reserve(rounded) : found;
}

void mxl_pool_keep_reserved(void *reserved, size_t rounded)
{
    kept *region = reserved;
    bool fits;

    region->bytes = rounded;
    pthread_mutex_lock(&pool.lock);
    fits = pool.num_reserved < MOST_RESERVED;
    if (fits) {
        region->next = pool.reserved;
        pool.reserved = region;
        pool.num_reserved++;
    }
    pthread_mutex_unlock(&pool.lock);
    if (!fits)
        mxl_system_free(NULL, reserved, rounded);
}

/* ---- the depot ---- */

bool mxl_depot_take(mxl_block_cache *cache, size_t block_class)
{
    int count = mxl_depot_batch(block_class);
    batch *first;

    pthread_mutex_lock(&pool.lock);
    first = pool.batches[block_class];
    if (first != NULL) {
        pool.batches[block_class] = first->next_batch;
        pool.bytes -= (int64_t)count * 64 * (int64_t)(block_class + 1);
    }
    pthread_mutex_unlock(&pool.lock);
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

    pthread_mutex_lock(&pool.lock);
    if (pool.cap < 0)
        held_read_cap();
    fits = pool.bytes + (int64_t)rounded * count <= pool.cap;
    if (fits) {
        first->next_batch = pool.batches[block_class];
        pool.batches[block_class] = first;
        pool.bytes += (int64_t)rounded * count;
    }
    pthread_mutex_unlock(&pool.lock);
    if (!fits)
        mxl_mem_give_back_chain(first, rounded);
}

/* ---- both ---- */

void mxl_pool_empty(void)
{
    batch *batches[MXL_BLOCK_CLASSES];
    kept *out, *reserved;

    pthread_mutex_lock(&pool.lock);
    memcpy(batches, pool.batches, sizeof batches);
    memset(pool.batches, 0, sizeof pool.batches);
    for (size_t i = 0; i < MXL_BLOCK_CLASSES; i++)
        for (batch *at = batches[i]; at != NULL; at = at->next_batch)
            pool.bytes -= (int64_t)mxl_depot_batch(i) * 64 * (int64_t)(i + 1);
    out = held_evict(0);
    reserved = pool.reserved;
    pool.reserved = NULL;
    pool.num_reserved = 0;
    pthread_mutex_unlock(&pool.lock);
    give_back_kept(out);
    while (reserved != NULL) {
        kept *next = reserved->next;

        mxl_system_free(NULL, reserved, reserved->bytes);
        reserved = next;
    }
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

    pthread_mutex_lock(&pool.lock);
    if (pool.cap < 0)
        held_read_cap();
    before = pool.cap;
    pool.cap = bytes;
    if (bytes < 0)
        held_read_cap();
    out = held_evict(pool.cap);
    pthread_mutex_unlock(&pool.lock);
    give_back_kept(out);
    return before;
}

int64_t mxl_mem_kept_bytes(void)
{
    int64_t bytes;

    pthread_mutex_lock(&pool.lock);
    bytes = pool.bytes;
    pthread_mutex_unlock(&pool.lock);
    return bytes;
}

void mxl_mem_fork_lock(void)
{
    pthread_mutex_lock(&pool.lock);
}

void mxl_mem_fork_unlock(void)
{
    pthread_mutex_unlock(&pool.lock);
}
