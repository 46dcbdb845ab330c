/* A file that is written beside another and takes its place when it is whole; for array/file.c. */
#ifndef MXL_ARRAY_REPLACE_H
#define MXL_ARRAY_REPLACE_H

#include <stdbool.h>
#include <stdio.h>

enum { MXL_PATH_ROOM = 4096 };

typedef struct mxl_replace {
    FILE *file; /* to write to */
    int lock;   /* descriptor that holds the lock on the temporary file; -1: there is none, what
                   stands at `path` is written to as it is */
    char path[MXL_PATH_ROOM];
    char temporary[MXL_PATH_ROOM];
} mxl_replace;

/* Opens what will stand at `path`; a link is followed, also to where nothing is yet. The new file
 * is `path.PID-N.tmp`, locked by flock while it is written; those that nobody has locked are what
 * dead processes left, and are removed. It gets the old file's permissions, and its owner and group
 * where the process may give them. What is no regular file, or has no name any more, is written to
 * as it is. -1 with the error set. */
int mxl_replace_begin(mxl_replace *r, const char *path);

/* Closes. `whole`: the file is synced and renamed to `path`, and the folder synced; else, and on
 * failure, the temporary file is removed. -1 with the error set, which is the caller's where the
 * file is not whole. */
int mxl_replace_end(mxl_replace *r, bool whole);

#endif
