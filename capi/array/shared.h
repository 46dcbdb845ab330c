/* Storage in memory that processes share through a file descriptor. Called by api/api_shared.c. */
#ifndef MXL_ARRAY_SHARED_H
#define MXL_ARRAY_SHARED_H

#include "array/array.h"

/* New shared storage of `bytes`, filled with zeros; NULL with the error set. */
mxl_storage *mxl_shared_new(size_t bytes);

/* New storage over the first `bytes` of a descriptor's file. On success it takes over the
 * descriptor. NULL with the error set. */
mxl_storage *mxl_shared_open(int fd, size_t bytes);
void mxl_shared_take(mxl_storage *storage, int fd);

/* A descriptor for the elements of an array in C order, lent: of the array's own memory if that is
 * shared and begins with the elements, open as long as it lives; else of a copy that the storage
 * keeps until it is freed or offered again with other elements. -1 with the error set. */
int mxl_shared_fd(mxl_array *array);

/* As mxl_shared_fd, new: the caller closes it, and nothing else keeps a copy. */
int mxl_shared_dup(mxl_array *array);

#endif
