/* Files, for all that reads them (replace.h writes them). Functions that fail set errno. A build
 * with MXL_NO_FILES has these functions, all of which fail, and no stream of the C library. */
#ifndef MXL_BASE_SYSTEM_FILE_IO_H
#define MXL_BASE_SYSTEM_FILE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What a path leads to. */
typedef enum mxl_file_kind { MXL_FILE_REGULAR, MXL_FILE_FOLDER, MXL_FILE_OTHER } mxl_file_kind;

bool mxl_file_exists(const char *path);

/* A stream to read bytes from, closed by exec; NULL with errno set. `wait`: for the other end of a
 * pipe. Sets `kind` and, of a regular file, `size`; either may be NULL. On Windows a folder is an
 * error where `kind` is NULL. */
FILE *mxl_file_open(const char *path, bool wait, mxl_file_kind *kind, size_t *size);

/* Whether the stream has no positions: a pipe. */
bool mxl_file_is_pipe(FILE *file);

/* Reads at most `wanted` bytes at a position; of a pipe the next ones. The caller reads the file in
 * no other way: the stream has a buffer of its own, and some systems move its position. The number
 * of bytes, 0 at the end, or -1 with errno set. */
int64_t mxl_file_read_at(FILE *file, bool pipe, void *to, size_t wanted, uint64_t at);

/* Cuts a file that is written at a position, and goes there, as if no writing had failed; the
 * stream's buffer is empty. */
void mxl_file_cut(FILE *file, uint64_t at);

/* The descriptor of a stream. */
int mxl_file_descriptor(FILE *file);

/* The reason of an error of files that has this number. */
const char *mxl_file_why(int number);

/* ---- streams: the number of bytes; whether one failed; 0 or EOF ---- */

#if !defined(MXL_NO_FILES)
static inline size_t mxl_file_get(FILE *file, void *to, size_t size)
{
    return fread(to, 1, size, file);
}

static inline size_t mxl_file_put(FILE *file, const void *from, size_t size)
{
    return size > 0 ? fwrite(from, 1, size, file) : 0;
}

static inline bool mxl_file_failed(FILE *file)
{
    return ferror(file) != 0;
}

static inline int mxl_file_flush(FILE *file)
{
    return fflush(file);
}

static inline int mxl_file_close(FILE *file)
{
    return fclose(file);
}
#else
size_t mxl_file_get(FILE *file, void *to, size_t size);
size_t mxl_file_put(FILE *file, const void *from, size_t size);
bool mxl_file_failed(FILE *file);
int mxl_file_flush(FILE *file);
int mxl_file_close(FILE *file);
#endif

#endif
