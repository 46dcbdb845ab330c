/* Memory behind the inline paths of mem.h: the allocator, the depot of small blocks that threads
 * exchange in batches, and the pool of larger freed blocks. */
#define _GNU_SOURCE 1 /* posix_memalign, mmap, MADV_HUGEPAGE */
#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif
#include <unistd.h>

#include "base/error.h"

enum {
    SMALL_LIMIT = 64 * MXL_BLOCK_CLASSES, /* blocks up to here are cached per thread */
    SMALL_KEEP = 64 * 1024,               /* bytes a thread keeps of each small class */
    POOL_FIRST = 10,                      /* pool classes: four per doubling from 2^10 ... */
    POOL_LAST = 42,                       /* ... up to 2^42 */
    POOL_CLASSES = 4 * (POOL_LAST - POOL_FIRST)
};

/* Unless told otherwise: an eighth of the machine's memory, and at most this. */
static const int64_t most_cap = INT64_C(1) << 30;

/* The head of a block that the pool keeps; it lies in the block. */
typedef struct kept {
    struct kept *next, *prev;   /* of its class, latest first */
    struct kept *older, *newer; /* of all */
    size_t bytes;
    int pool_class;
} kept;

/* A batch of small blocks: word 0 of each leads to the next, word 1 of the first to the next batch.
 */
typedef struct batch {
    struct batch *next_block;
    struct batch *next_batch;
} batch;

static struct {
    pthread_mutex_t lock;
    kept *top[POOL_CLASSES];
    kept *oldest, *newest;
    batch *batches[MXL_BLOCK_CLASSES];
    int64_t bytes;
    int64_t cap; /* -1: not read yet */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .cap = -1};

static void *system_alloc(void *payload, size_t bytes, size_t align);
static void system_free(void *payload, void *block, size_t bytes);

/* Changes only while no other thread is in the library. */
static struct {
    mxl_alloc_fn alloc;
    mxl_free_fn release;
    void *payload;
    bool keep;
} allocator = {system_alloc, system_free, NULL, MXL_MEM_KEEPS};

#if defined(__linux__)
static const size_t huge_page = (size_t)1 << 21;

/* Large blocks are mapped, so that what is given back leaves the process at once, and in huge
 * pages: first writes to fresh memory cost more than most kernels. */
static bool is_mapped(size_t bytes)
{
    return bytes >= 2 * huge_page && MXL_MEM_KEEPS;
}

static size_t whole_pages(size_t bytes)
{
    const size_t most = (size_t)1 << 16; /* the largest pages there are, huge ones apart */

    return (bytes + most - 1) & ~(most - 1);
}

static void *map(size_t bytes)
{
    size_t size = whole_pages(bytes);
    char *room =
        mmap(NULL, size + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t before;

    if (room == MAP_FAILED)
        return NULL;
    before = (huge_page - (uintptr_t)room % huge_page) % huge_page;
    if (before > 0)
        (void)munmap(room, before);
    if (before < huge_page)
        (void)munmap(room + before + size, huge_page - before);
    (void)madvise(room + before, bytes, MADV_HUGEPAGE);
    return room + before;
}
#endif

static void *system_alloc(void *payload, size_t bytes, size_t align)
{
    void *block = NULL;

    (void)payload;
#if defined(__linux__)
    if (is_mapped(bytes))
        return map(bytes);
#endif
    return posix_memalign(&block, align, bytes) == 0 ? block : NULL;
}

static void system_free(void *payload, void *block, size_t bytes)
{
    (void)payload;
    (void)bytes;
#if defined(__linux__)
    if (is_mapped(bytes)) {
        (void)munmap(block, whole_pages(bytes));
        return;
    }
#endif
    free(block);
}

/* The pool class of a size, and the size rounded up to its class's; -1 where it is not pooled. */
static int class_of(size_t bytes, size_t *rounded)
{
    size_t last = bytes - 1;
    int top = 63 - __builtin_clzll((unsigned long long)last | 1);

    if (!MXL_MEM_KEEPS) {
        *rounded = bytes;
        return -1;
    }
    if (bytes <= SMALL_LIMIT || top >= POOL_LAST) {
        *rounded = (bytes + 63) & ~(size_t)63;
        return -1;
    }
    *rounded = ((last >> (top - 2)) + 1) << (top - 2);
    return 4 * (top - POOL_FIRST) + (int)((last >> (top - 2)) & 3);
}

static int batch_count(size_t block_class)
{
    return SMALL_KEEP / 2 / 64 / (int)(block_class + 1);
}

static void count_live(int64_t n)
{
    mxl_state *state = mxl_state_here;

    if (state != NULL)
        mxl_count_add(&state->live_bytes, n);
    else
        atomic_fetch_add_explicit(&mxl_state_rest_bytes, n, memory_order_relaxed);
}

static void give_back(void *block, size_t rounded)
{
    allocator.release(allocator.payload, block, rounded);
}

static void give_back_chain(void *chain, size_t rounded)
{
    while (chain != NULL) {
        void *next = *(void **)chain;

        give_back(chain, rounded);
        chain = next;
    }
}

/* Below, "held" functions are called with pool.lock held. */

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

/* Takes out the oldest blocks until `cap` holds; returns them as a list by `next`. */
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

static void held_read_cap(void)
{
    const char *text = getenv("MXLITE_POOL_MB");
    char *end = NULL;
    long long mb = text != NULL ? strtoll(text, &end, 10) : -1;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

    pool.cap = most_cap;
    if (pages > 0 && page > 0 && pages / 8 < most_cap / page)
        pool.cap = (int64_t)pages / 8 * page;
    if (text != NULL && end != text && *end == '\0' && mb >= 0 && mb < INT64_MAX >> 20)
        pool.cap = mb << 20;
}

static void give_back_kept(kept *list)
{
    while (list != NULL) {
        kept *next = list->next;

        give_back(list, list->bytes);
        list = next;
    }
}

/* A kept block of the class, or NULL. */
static void *pool_take(int pool_class)
{
    kept *block;

    pthread_mutex_lock(&pool.lock);
    block = pool.top[pool_class];
    if (block != NULL)
        held_unlink(block);
    pthread_mutex_unlock(&pool.lock);
    return block;
}

static void pool_keep(void *block, size_t rounded, int pool_class)
{
    kept *head = block;
    kept *out;

    pthread_mutex_lock(&pool.lock);
    if (pool.cap < 0)
        held_read_cap();
    if ((int64_t)rounded > pool.cap) {
        pthread_mutex_unlock(&pool.lock);
        give_back(block, rounded);
        return;
    }
    head->bytes = rounded;
    head->pool_class = pool_class;
    held_link(head);
    out = held_evict(pool.cap);
    pthread_mutex_unlock(&pool.lock);
    give_back_kept(out);
}

/* Fills an empty cache from the depot; false when it has nothing. */
static bool depot_take(mxl_block_cache *cache, size_t block_class)
{
    int count = batch_count(block_class);
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

/* Moves a batch of a full cache to the depot, or back to the allocator where it is above the cap.
 */
static void depot_keep(mxl_block_cache *cache, size_t block_class)
{
    size_t rounded = 64 * (block_class + 1);
    int count = batch_count(block_class);
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
        give_back_chain(first, rounded);
}

static void empty_pool(void)
{
    batch *batches[MXL_BLOCK_CLASSES];
    kept *out;

    pthread_mutex_lock(&pool.lock);
    memcpy(batches, pool.batches, sizeof batches);
    memset(pool.batches, 0, sizeof pool.batches);
    for (size_t i = 0; i < MXL_BLOCK_CLASSES; i++)
        for (batch *at = batches[i]; at != NULL; at = at->next_batch)
            pool.bytes -= (int64_t)batch_count(i) * 64 * (int64_t)(i + 1);
    out = held_evict(0);
    pthread_mutex_unlock(&pool.lock);
    give_back_kept(out);
    for (size_t i = 0; i < MXL_BLOCK_CLASSES; i++) {
        while (batches[i] != NULL) {
            batch *next = batches[i]->next_batch;

            give_back_chain(batches[i], 64 * (i + 1));
            batches[i] = next;
        }
    }
}

void *mxl_mem_alloc_slow(size_t bytes)
{
    mxl_state *state;
    size_t rounded, block_class;
    int pool_class;
    void *block = NULL;

    if (bytes == 0)
        bytes = 1;
    if (bytes > PTRDIFF_MAX / 2) {
        mxl_error_memory(bytes);
        return NULL;
    }
    (void)mxl_state_get();
    state = mxl_state_here;
    pool_class = class_of(bytes, &rounded);
    block_class = (bytes - 1) / 64;
    if (allocator.keep && pool_class >= 0)
        block = pool_take(pool_class);
    else if (allocator.keep && block_class < MXL_BLOCK_CLASSES && state != NULL &&
             state->blocks[block_class].top == NULL &&
             depot_take(&state->blocks[block_class], block_class))
        return mxl_alloc(bytes);
    if (block == NULL)
        block = allocator.alloc(allocator.payload, rounded, 64);
    if (block == NULL && mxl_mem_kept_bytes() > 0) {
        empty_pool();
        block = allocator.alloc(allocator.payload, rounded, 64);
    }
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
    pool_class = class_of(bytes, &rounded);
    block_class = (bytes - 1) / 64;
    if (allocator.keep && block_class < MXL_BLOCK_CLASSES && state != NULL) {
        if (state->blocks[block_class].room == 0)
            depot_keep(&state->blocks[block_class], block_class);
        mxl_free(block, bytes);
        return;
    }
    count_live(-(int64_t)bytes);
    if (allocator.keep && pool_class >= 0)
        pool_keep(block, rounded, pool_class);
    else
        give_back(block, rounded);
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
    (void)class_of(old_bytes > 0 ? old_bytes : 1, &old_rounded);
    (void)class_of(new_bytes > 0 ? new_bytes : 1, &new_rounded);
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

void mxl_mem_state_begin(mxl_state *state)
{
    for (int i = 0; i < MXL_BLOCK_CLASSES; i++)
        state->blocks[i].room = allocator.keep ? 2 * batch_count((size_t)i) : 0;
}

void mxl_mem_state_end(mxl_state *state)
{
    for (size_t i = 0; i < MXL_BLOCK_CLASSES; i++) {
        void *chain = state->blocks[i].top;

        state->blocks[i].top = NULL;
        state->blocks[i].room = 0;
        give_back_chain(chain, 64 * (i + 1));
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
    empty_pool();
}

int mxl_mem_set_allocator(mxl_alloc_fn alloc, mxl_free_fn release, void *payload, bool keep)
{
    int64_t live = mxl_mem_live_bytes();

    if ((alloc == NULL) != (release == NULL))
        return mxl_error(
            "set allocator: one function of the two is NULL, both or none were expected");
    if (alloc == NULL) {
        alloc = system_alloc;
        release = system_free;
        payload = NULL;
    }
    if (live != 0 &&
        (alloc != allocator.alloc || release != allocator.release || payload != allocator.payload))
        return mxl_error("set allocator: %lld bytes of the present allocator are still in use",
                         (long long)live);
    mxl_state_each(mxl_mem_state_end);
    empty_pool();
    allocator.alloc = alloc;
    allocator.release = release;
    allocator.payload = payload;
    allocator.keep = keep && MXL_MEM_KEEPS;
    mxl_state_each(mxl_mem_state_begin);
    return 0;
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

int64_t mxl_mem_live_bytes(void)
{
    int64_t bytes, handles;

    mxl_state_sums(&bytes, &handles);
    return bytes;
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
