/* Large blocks of the system's memory: runs of whole units in one region of address space, which
 * split and merge. Every unit below the top belongs to a run: one in use, a free one whose pages
 * the process still has (mem_pool.c lists those), or a clean one, without pages.
 *
 * The pool's lock is held in all calls but mxl_heap_holds and mxl_heap_discard. Sizes are in bytes,
 * multiples of MXL_HEAP_UNIT. */
#ifndef MXL_BASE_MEMORY_HEAP_H
#define MXL_BASE_MEMORY_HEAP_H

#include <stdbool.h>
#include <stddef.h>

enum { MXL_HEAP_UNIT = 1 << 16 };

typedef enum mxl_heap_run { MXL_RUN_USED, MXL_RUN_FREE, MXL_RUN_CLEAN, MXL_RUN_FRESH } mxl_heap_run;

/* Whether a block that has just been taken has no pages: its bytes are zeros. */
bool mxl_heap_is_fresh(const void *block);

/* Whether a block lies in the region. */
bool mxl_heap_holds(const void *block);

/* A run without pages, in use and fresh from now on; NULL: the region is full, there is none, or
 * the system has no memory. */
void *mxl_heap_take(size_t bytes);

/* The free run behind which no run is, or NULL; and makes it longer, once it is in use: false where
 * the region is full, or the system has no memory. So a larger block takes less new memory. */
void *mxl_heap_last_free(size_t *bytes);
bool mxl_heap_extend(void *block, size_t bytes, size_t more);

/* The same at the end of the region, for address space that no block may ever lie in: neighbours of
 * blocks would get pages with them, as pages are huge. */
void *mxl_heap_take_apart(size_t bytes);

/* Makes a run in use clean. Its pages have been discarded, or were never written. */
void mxl_heap_put(void *block, size_t bytes);

/* Gives the pages of a run in use back to the system. */
void mxl_heap_discard(void *block, size_t bytes);

/* Says that these units are one run: in use, or free. */
void mxl_heap_mark(void *block, size_t bytes, mxl_heap_run state);

/* The free run that ends, or begins, at an address; NULL: there is none. Sets its size. */
void *mxl_heap_free_before(const void *at, size_t *bytes);
void *mxl_heap_free_behind(void *at, size_t *bytes);

#endif
