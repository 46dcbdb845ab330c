/* Local files, as MXNet's functions name them, and their whole content. For data/ and ops/vision.
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

#endif
