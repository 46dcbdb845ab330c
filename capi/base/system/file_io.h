/* Files, where the C library's streams do not suffice. Errors are errno's. */
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
 * pipe. `kind` and `size` (of a regular file) may be NULL. */
FILE *mxl_file_open(const char *path, bool wait, mxl_file_kind *kind, size_t *size);

/* Whether the stream has no positions: a pipe. */
bool mxl_file_is_pipe(FILE *file);

/* Reads at most `wanted` bytes at a position, without the stream's buffer and without moving it; of
 * a pipe the next ones. The number of bytes, 0 at the end, or -1 with errno set. */
int64_t mxl_file_read_at(FILE *file, bool pipe, void *to, size_t wanted, uint64_t at);

/* Cuts a file that is written at a position, and goes there; the stream's buffer is empty. */
void mxl_file_cut(FILE *file, uint64_t at);

/* The descriptor of a stream. */
int mxl_file_descriptor(FILE *file);

#endif
