/* Arrays as bytes, the way MXNet 1.9.1 writes them: one array (raw bytes), and a list of arrays
 * with or without names (a .params file). Numbers are little-endian, as the machines we run on.
 * Called by api/api_io.c. */
#ifndef MXL_ARRAY_FILE_H
#define MXL_ARRAY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "array/array.h"

/* What a file held. `names` are `count` texts one behind the other, each with its end, or NULL
 * where the file has none. */
typedef struct mxl_file_list {
    int64_t count;
    mxl_array **arrays; /* new */
    char *names;
    size_t names_bytes;
    size_t arrays_room; /* elements allocated */
    size_t names_room;
} mxl_file_list;

/* Frees what a list holds; a list of zeros is legal. */
void mxl_file_list_clear(mxl_file_list *list);

/* The bytes of one array: how many, and writing them to `to`. `numpy_shape`: written as in
 * numpy-shape mode, where an array may have no axes. -1 with the error set for an array without
 * shape, or without axes outside that mode. */
int64_t mxl_file_array_bytes(const mxl_array *array, bool numpy_shape);
int mxl_file_array_write(mxl_array *array, bool numpy_shape, char *to);

/* Writes a list to `path`: into a new file of the same folder, which takes its place when it is
 * whole, so that a failure leaves the old file as it was (array/replace.h). `names` may be NULL. -1
 * with the error set. */
int mxl_file_save(const char *path, int64_t count, mxl_array *const *arrays,
                  const char *const *names, bool numpy_shape);

/* Reads a list from a regular file (anything else is an error at once), or from memory. Formats of
 * every version are known; dense arrays only. Nothing larger than a small multiple of what is there
 * to read is allocated, whatever the bytes say. -1 with the error set and the list empty. */
int mxl_file_load(const char *path, bool numpy_shape, mxl_file_list *list);
int mxl_file_parse(const void *bytes, size_t size, bool numpy_shape, mxl_file_list *list);

/* Reads one array from memory; what stands behind it is ignored. New; NULL with the error set. */
mxl_array *mxl_file_array_parse(const void *bytes, size_t size, bool numpy_shape);

#endif
