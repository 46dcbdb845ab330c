/* Replaces a file safely: writes a temporary file beside it, then renames it; for array/file.c. */
#ifndef MXL_ARRAY_REPLACE_H
#define MXL_ARRAY_REPLACE_H

#include <stdbool.h>
#include <stdio.h>

enum { MXL_PATH_ROOM = 4096 };

typedef struct mxl_replace {
    FILE *file; /* to write to */
    int lock; /* descriptor that holds the lock on the temporary file; -1: no temporary file, `path`
                 itself is written to */
    char path[MXL_PATH_ROOM];
    char temporary[MXL_PATH_ROOM];
} mxl_replace;

/* Opens a replacement of `path`; links are followed, also to a file that does not exist yet. The
 * temporary file is `path.PID-N.tmp`, locked by flock while it is written; unlocked temporary files
 * of dead processes are removed. It gets the old file's permissions, and its owner and group if the
 * process may set them. A `path` that is no regular file, or has no name any more, is written
 * directly. -1 with the error set. */
int mxl_replace_begin(mxl_replace *r, const char *path);

/* Closes the file. If it is `whole`, syncs it, renames it to `path` and syncs the folder;
 * otherwise, or on failure, removes it. -1 with the error set; the caller's error stays if the file
 * is not whole. */
int mxl_replace_end(mxl_replace *r, bool whole);

#endif
