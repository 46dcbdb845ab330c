/* Replaces a file safely: writes a temporary file beside it, then renames it. All that the library
 * writes goes through here; Python's files too, by api/data/replace.c. */
#ifndef MXL_BASE_SYSTEM_REPLACE_H
#define MXL_BASE_SYSTEM_REPLACE_H

#include <stdbool.h>
#include <stdio.h>

enum { MXL_PATH_ROOM = 4096 };

typedef struct mxl_replace {
    FILE *file; /* to write to */
    int lock; /* descriptor that holds the lock on the temporary file; -1: no temporary file, `path`
                 itself is written to */
    long owner; /* the process that began; others close the file, and no more */
    char path[MXL_PATH_ROOM];
    char temporary[MXL_PATH_ROOM];
} mxl_replace;

/* Opens a replacement of `path`; links are followed, also to a file that does not exist yet (on
 * Windows the file takes the link's place). The temporary file is `path.PID-N.tmp`, on POSIX locked
 * by flock while it is written; temporary files that nobody writes are removed: unlocked ones, on
 * Windows those of processes that have ended. On POSIX it gets the old file's permissions, and its
 * owner and group if the process may set them. A `path` that is no regular file, or has no name any
 * more, is written directly. -1 with the error, which names the file and the reason, and errno set.
 */
int mxl_replace_begin(mxl_replace *r, const char *path);

/* The same for what is written little by little and may be read meanwhile. Where nothing would be
 * lost - there is no file, or it is empty - `path` itself is written, and a failure leaves what has
 * been written. */
int mxl_replace_begin_stream(mxl_replace *r, const char *path);

/* Writes to the file. -1 with the error and errno set. */
int mxl_replace_put(mxl_replace *r, const void *bytes, size_t size);

/* Closes the file. If it is `whole`, syncs it, renames it to `path` and syncs the folder;
 * otherwise, or on failure, removes it. -1 with the error and errno set; the caller's error stays
 * if the file is not whole. */
int mxl_replace_end(mxl_replace *r, bool whole);

/* ---- for the files of this folder ---- */

enum { MXL_REPLACE_ROOM = MXL_PATH_ROOM - 40 }; /* for a path whose temporary file has a name too */

/* Sets the error that names the file and the reason, which errno has now and afterwards. -1. */
int mxl_replace_failed(const char *path, const char *what);

/* Names the temporary file of r->path. */
void mxl_replace_name(mxl_replace *r, long process, unsigned number);

/* Whether `name` is such a name for the file `base` of the same folder. */
bool mxl_replace_is_temporary(const char *name, const char *base);

#endif
