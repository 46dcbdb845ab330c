/* The parts of mem.c's allocator: the pool and the depot of freed blocks (mem_pool.c), and the
 * system's memory (mem_system.c). */
#ifndef MXL_BASE_MEMORY_MEM_POOL_H
#define MXL_BASE_MEMORY_MEM_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/state.h"

/* ---- mem_system.c: a mxl_alloc_fn and its mxl_free_fn ---- */

void *mxl_system_alloc(void *payload, size_t bytes, size_t align);
void mxl_system_free(void *payload, void *block, size_t bytes);

/* ---- mem.c: frees to the current allocator ---- */

void mxl_mem_give_back(void *block, size_t rounded);
/* A chain of blocks; each begins with the address of the next. */
void mxl_mem_give_back_chain(void *chain, size_t rounded);

/* ---- mem_pool.c ---- */

/* The pool class of a size (> 0); sets *rounded to the size of a block for it. -1 for sizes that
 * are not pooled. */
int mxl_pool_class(size_t bytes, size_t *rounded);

/* The default cap on a machine with so many bytes of memory (0: unknown). */
int64_t mxl_pool_default_cap(uint64_t memory);

/* Takes a block for a size of mxl_pool_class, or NULL. */
void *mxl_pool_take(size_t rounded, int pool_class);

/* Adds a block. If the pool exceeds the cap, the oldest blocks, or this one, go back to the
 * allocator. */
void mxl_pool_keep(void *block, size_t rounded);

/* A new block of the heap, which has no pages until it is written to; NULL: blocks of this size are
 * not there, or there is no room. The second frees one that has not been written to. */
void *mxl_pool_take_clean(size_t rounded);
/* The same, of address space apart from blocks, which is hardly ever written to. */
void *mxl_pool_take_apart(size_t rounded);
void mxl_pool_put_clean(void *block, size_t rounded);

/* Whether a block that has just been taken has no pages. */
bool mxl_pool_is_fresh(const void *block);

/* The number of blocks of 64 * (block_class + 1) bytes that threads exchange at once. */
int mxl_depot_batch(size_t block_class);

/* Fills an empty cache from the depot; false when the depot has no batch. */
bool mxl_depot_take(mxl_block_cache *cache, size_t block_class);

/* Moves a batch of a full cache to the depot, or back to the allocator if the cap is exceeded. */
void mxl_depot_keep(mxl_block_cache *cache, size_t block_class);

/* Gives all blocks of pool and depot back to the allocator. */
void mxl_pool_empty(void);

#endif
