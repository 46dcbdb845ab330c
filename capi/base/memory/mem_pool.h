/* The parts behind mem.c: where freed blocks wait (mem_pool.c), and the system's memory
 * (mem_system.c). */
#ifndef MXL_BASE_MEMORY_MEM_POOL_H
#define MXL_BASE_MEMORY_MEM_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/state.h"

/* ---- mem_system.c: a mxl_alloc_fn and its mxl_free_fn ---- */

void *mxl_system_alloc(void *payload, size_t bytes, size_t align);
void mxl_system_free(void *payload, void *block, size_t bytes);

/* ---- mem.c: to the allocator in force ---- */

void mxl_mem_give_back(void *block, size_t rounded);
/* Blocks each of which begins with the next one's address. */
void mxl_mem_give_back_chain(void *chain, size_t rounded);

/* ---- mem_pool.c ---- */

/* The pool class of a size (> 0), and the size rounded up to its class's; -1 where it is not
 * pooled. */
int mxl_pool_class(size_t bytes, size_t *rounded);

/* The cap where nobody sets one, of a machine with so many pages of so many bytes (-1: unknown). */
int64_t mxl_pool_default_cap(int64_t pages, int64_t page);

/* A kept block of the class, or NULL. */
void *mxl_pool_take(int pool_class);

/* Keeps a block. The oldest go back to the allocator where all are above the cap, or this one. */
void mxl_pool_keep(void *block, size_t rounded, int pool_class);

/* Blocks of 64 * (block_class + 1) bytes that threads exchange at once. */
int mxl_depot_batch(size_t block_class);

/* Fills an empty cache from the depot; false when it has nothing. */
bool mxl_depot_take(mxl_block_cache *cache, size_t block_class);

/* Moves a batch of a full cache to the depot, or back to the allocator where it is above the cap.
 */
void mxl_depot_keep(mxl_block_cache *cache, size_t block_class);

/* Gives everything in pool and depot back. */
void mxl_pool_empty(void);

#endif
