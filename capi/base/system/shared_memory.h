/* Memory that processes share: a descriptor, which other processes can get, and mappings of it. */
#ifndef MXL_BASE_SYSTEM_SHARED_MEMORY_H
#define MXL_BASE_SYSTEM_SHARED_MEMORY_H

#include <stddef.h>

/* New memory of at least `bytes` bytes (one for 0), reserved, which cannot shrink. Its descriptor,
 * closed by exec; -1 with the error set. */
int mxl_shared_memory_new(size_t bytes);

/* Checks that a descriptor has at least `bytes` bytes; -1 with the error set. */
int mxl_shared_memory_check(int fd, size_t bytes);

/* Maps `bytes` (at least 1) of a descriptor, which the caller keeps. NULL with the error set. */
void *mxl_shared_memory_map(int fd, size_t bytes);
void mxl_shared_memory_unmap(void *start, size_t bytes);

/* Another descriptor of the same memory, closed by exec; -1 with the error set. */
int mxl_shared_memory_duplicate(int fd);
void mxl_shared_memory_close(int fd);

#endif
