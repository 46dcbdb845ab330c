/* Storage in memory that processes share: a file descriptor, which another process maps too. Called
 * by api/api_shared.c. */
#ifndef MXL_ARRAY_SHARED_H
#define MXL_ARRAY_SHARED_H

#include "array/array.h"

/* New shared storage of `bytes`, filled with zeros; NULL with the error set. */
mxl_storage *mxl_shared_new(size_t bytes);

/* New storage over the first `bytes` behind a descriptor, which stays the caller's until the
 * storage takes it over. NULL with the error set. */
mxl_storage *mxl_shared_open(int fd, size_t bytes);
void mxl_shared_take(mxl_storage *storage, int fd);

/* A descriptor for the elements of an array in C order, open as long as its storage lives: of its
 * own memory where that is shared and begins with them, else of a copy. -1 with the error set. */
int mxl_shared_fd(mxl_array *array);

#endif
