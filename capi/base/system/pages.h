/* Memory of the system, in pages. */
#ifndef MXL_BASE_SYSTEM_PAGES_H
#define MXL_BASE_SYSTEM_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The size of a huge page, and the boundary at which regions for huge pages begin. */
#define MXL_HUGE_PAGE ((size_t)1 << 21)

/* The machine's memory in bytes; 0 where the system does not tell. */
uint64_t mxl_pages_machine(void);

/* The bytes of address space that this process may have; 0: there is no limit. */
uint64_t mxl_pages_limit(void);

/* Address space alone, which takes no memory and counts against no limit on that; NULL if there is
 * none. */
void *mxl_pages_reserve(size_t bytes);

/* Makes a part of reserved address space readable and writable: whole pages of zeros. `huge`: with
 * huge pages where the system has them, since the first writes to fresh memory cost more than most
 * kernels. */
bool mxl_pages_open(void *at, size_t bytes, bool huge);

/* Gives the memory of opened pages back. The caller opens them again before it reads or writes
 * them; then they are zeros. */
void mxl_pages_discard(void *at, size_t bytes);

/* Opens pages again, of which any may have been discarded. False: the system has no memory. */
bool mxl_pages_reopen(void *at, size_t bytes);

/* Gives reserved address space back, opened or not, all that was reserved at once. */
void mxl_pages_release(void *at, size_t bytes);

/* Memory that begins at a multiple of `align`, a power of two; NULL if there is none. Large blocks
 * use huge pages, and leave the process when they are freed. */
void *mxl_pages_alloc(size_t bytes, size_t align);
void mxl_pages_free(void *block, size_t bytes);

#endif
