/* Local files, as MXNet's functions name them, their whole content, and words for how they begin.
 */
#ifndef MXL_BASE_CONTENT_H
#define MXL_BASE_CONTENT_H

#include <stddef.h>

/* The bytes of a file; mxl_content_free frees them. */
typedef struct mxl_content {
    char *bytes; /* a 0 follows the last */
    size_t size;
} mxl_content;

/* The path within "path" or "file://path"; NULL with the error set for other protocols. */
const char *mxl_local_path(const char *uri);

/* Reads a file. -1 with the error set. */
int mxl_content_read(const char *uri, mxl_content *content);
void mxl_content_free(mxl_content *content);

enum { MXL_BEGINNING_ROOM = 96 };

/* How bytes begin, for the error of a reader that expected others: `begins as a zip archive does`,
 * `begins with the text "epoch,loss"`, `begins with the bytes 00 ff`. Returns `room`. */
const char *mxl_beginning(char room[MXL_BEGINNING_ROOM], const void *bytes, size_t size);

#endif
