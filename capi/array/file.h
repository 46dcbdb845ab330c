/* Arrays as bytes in the format of MXNet 1.9.1: one array (raw bytes), or a list of arrays with or
 * without names (a .params file). Numbers are little-endian, like this machine's. Called by
 * api/api_io.c. */
#ifndef MXL_ARRAY_FILE_H
#define MXL_ARRAY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "array/array.h"

/* The contents of a file. `names` are `count` zero-terminated texts one after another, or NULL if
 * the file has none. */
typedef struct mxl_file_list {
    int64_t count;
    mxl_array **arrays; /* new */
    char *names;
    size_t names_bytes;
    size_t arrays_room; /* elements allocated */
    size_t names_room;
} mxl_file_list;

/* Frees the contents of a list; a list of zeros is legal. */
void mxl_file_list_clear(mxl_file_list *list);

/* Serialises one array: the number of bytes, and writing them to `to`. With `numpy_shape` the
 * format is that of numpy-shape mode, where an array may have no dimensions. -1 with the error set
 * for a none array, or for one without dimensions outside that mode. */
int64_t mxl_file_array_bytes(const mxl_array *array, bool numpy_shape);
int mxl_file_array_write(mxl_array *array, bool numpy_shape, char *to);

/* Writes a list to `path`: first into a new file in the same folder, which then replaces `path`, so
 * that a failure leaves the old file unchanged (base/system/replace.h). `names` may be NULL. -1
 * with the error set. */
int mxl_file_save(const char *path, int64_t count, mxl_array *const *arrays,
                  const char *const *names, bool numpy_shape);

/* Reads a list from a regular file (any other file is an error at once), or from memory. Knows all
 * versions of the format. Allocates at most a small multiple of the input's
 * size, whatever the input says. -1 with the error set and the list empty. */
int mxl_file_load(const char *path, bool numpy_shape, mxl_file_list *list);
int mxl_file_parse(const void *bytes, size_t size, bool numpy_shape, mxl_file_list *list);

/* Reads one array from memory and ignores any bytes after it. New; NULL with the error set. */
mxl_array *mxl_file_array_parse(const void *bytes, size_t size, bool numpy_shape);

#endif
