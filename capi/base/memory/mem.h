/* Every allocation of the library. Freed small blocks (up to 1024 bytes) are cached per thread,
 * larger ones in a shared pool with a cap. New blocks come from the allocator, which an embedder
 * may replace, or, where it is the system's and they have more than 1 MiB, from the heap; when it
 * fails, the pool is emptied and it is asked again. Blocks are aligned to 64. Under
 * AddressSanitizer no freed block is cached and sizes are not rounded, so that it sees every
 * misuse. */
#ifndef MXL_BASE_MEMORY_MEM_H
#define MXL_BASE_MEMORY_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/state.h"

/* 0 in builds that never cache a freed block. */
#if defined(__SANITIZE_ADDRESS__)
#define MXL_MEM_KEEPS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MXL_MEM_KEEPS 0
#endif
#endif
#if !defined(MXL_MEM_KEEPS)
#define MXL_MEM_KEEPS 1
#endif

/* Returns `bytes` (> 0) of memory aligned to `align`, or NULL. May be called from any thread. */
typedef void *(*mxl_alloc_fn)(void *payload, size_t bytes, size_t align);
/* Takes back a block of the alloc function, with the same size. */
typedef void (*mxl_free_fn)(void *payload, void *block, size_t bytes);

/* The slow paths of mxl_alloc and mxl_free: all but the calling thread's block cache. */
void *mxl_mem_alloc_slow(size_t bytes);
void mxl_mem_free_slow(void *block, size_t bytes);

/* New memory, uninitialised, aligned to 64; NULL with the error set. `bytes` 0 counts as 1. The
 * caller frees it with mxl_free and the same size. (Both are inlined always: as calls they cost a
 * recorded call and its backward 4 % of their instructions.) */
__attribute__((always_inline)) static inline void *mxl_alloc(size_t bytes)
{
    mxl_state *state = mxl_state_here;
    size_t block_class = (bytes - 1) / 64;

    if (state != NULL && block_class < MXL_BLOCK_CLASSES) {
        mxl_block_cache *cache = &state->blocks[block_class];
        void **block = (void **)cache->top;

        if (block != NULL) {
            cache->top = *block;
            cache->room++;
            mxl_count_add(&state->live_bytes, (int64_t)bytes);
            return block;
        }
    }
    return mxl_mem_alloc_slow(bytes);
}

/* The same, filled with zeros. */
void *mxl_alloc_zero(size_t bytes);

/* Frees a block; `bytes` is the size of its allocation. NULL is legal. */
__attribute__((always_inline)) static inline void mxl_free(void *block, size_t bytes)
{
    mxl_state *state = mxl_state_here;
    size_t block_class = (bytes - 1) / 64;

    if (block == NULL)
        return;
    if (state != NULL && block_class < MXL_BLOCK_CLASSES) {
        mxl_block_cache *cache = &state->blocks[block_class];

        if (cache->room > 0) {
            *(void **)block = cache->top;
            cache->top = block;
            cache->room--;
            mxl_count_add(&state->live_bytes, -(int64_t)bytes);
            return;
        }
    }
    mxl_mem_free_slow(block, bytes);
}

/* Resizes a block; the content stays, up to the smaller size. `block` NULL with size 0 makes a new
 * one. NULL with the error set leaves the block as it was. */
void *mxl_realloc(void *block, size_t old_bytes, size_t new_bytes);

/* Whether a new block, to which nobody has written, holds zeros, and has no memory yet. */
bool mxl_mem_is_fresh(const void *block);

/* A block that is written later, if at all: exchanges an allocated block, whose content is lost,
 * for address space of the same size, which does not count as live, and lets others have the block.
 * NULL, with the block as it was: blocks of this size, or of this allocator, stay. */
void *mxl_mem_reserve(void *block, size_t bytes);

/* Exchanges address space of mxl_mem_reserve, whose content is lost, for a block of the pool or a
 * new one, or makes it a block itself. Never fails. The result is freed with mxl_free. */
void *mxl_mem_commit(void *reserved, size_t bytes);

/* Frees address space of mxl_mem_reserve that was not committed. */
void mxl_mem_free_reserved(void *reserved, size_t bytes);

/* Makes room for one more item in a list of `count` items; a full list doubles. Sets the list's
 * pointer and its room (lvalues; NULL and 0: an empty list). Pointers into the list become invalid.
 * -1 with the error set, the list unchanged. */
#define MXL_GROW(list, count, room)                                                                \
    ((count) < (room) ? 0 : mxl_grow((void *)&(list), sizeof(*(list)), &(room)))

/* The function of MXL_GROW; `list` is the address of the pointer to the items. */
int mxl_grow(void *list, size_t item, size_t *room);

/* Replaces the allocator; NULL, NULL restores the system's. `pool` false turns all caching of freed
 * blocks off, so that every mxl_alloc reaches the allocator (for tests that make each allocation
 * fail). Cached blocks of all threads are given back first. No other thread may be in the library
 * meanwhile. -1 with the error set while blocks of the present allocator are live, unless the new
 * one is the same. */
int mxl_mem_set_allocator(mxl_alloc_fn alloc, mxl_free_fn release, void *payload, bool pool);

/* Sets what is called when the allocator fails with an empty pool, before an allocation fails:
 * `run` frees what it can, with any of its caller's locks held, and returns whether the allocator
 * is to be asked once more. */
void mxl_mem_set_last_resort(bool (*run)(void));

/* Sets the bytes of freed blocks that the shared pool may hold; negative restores the default
 * (MXLITE_POOL_MB, else an eighth of the machine's memory and at most 1 GiB). Blocks above the new
 * cap are freed. Returns the cap before. */
int64_t mxl_mem_set_cap(int64_t bytes);

/* Gives the free blocks of this thread and of the shared pool back to the allocator. */
void mxl_mem_trim(void);

/* Bytes allocated and not freed, over all threads. Cached free blocks do not count. */
int64_t mxl_mem_live_bytes(void);

/* Bytes that the shared pool holds now. */
int64_t mxl_mem_kept_bytes(void);

/* For state.c: initialises a new thread's caches; gives back an ending thread's; locks over a fork.
 */
void mxl_mem_state_begin(mxl_state *state);
void mxl_mem_state_end(mxl_state *state);
void mxl_mem_fork_lock(void);
void mxl_mem_fork_unlock(void);

#endif
