/* Files by the C library alone, and none. */
#include "base/system/file_io.h"

#include <errno.h>
#include <string.h>

#include "base/system/replace.h"
#include "base/system/system.h"

#if defined(MXL_BARE) && !defined(MXL_NO_FILES)
bool mxl_file_exists(const char *path)
{
    FILE *file = fopen(path, "rb");

    if (file != NULL)
        (void)fclose(file);
    return file != NULL;
}

/* The size of a file that has positions; -1 for others. */
static long size_of(FILE *file)
{
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;

    return fseek(file, 0, SEEK_SET) == 0 ? size : -1;
}

/* What a file without positions is: a folder opens, and cannot be read. */
static mxl_file_kind kind_of(FILE *file)
{
    int first = fgetc(file);

    if (first == EOF && ferror(file))
        return MXL_FILE_FOLDER;
    (void)ungetc(first, file);
    return MXL_FILE_OTHER;
}

FILE *mxl_file_open(const char *path, bool wait, mxl_file_kind *kind, size_t *size)
{
    FILE *file = fopen(path, "rb");
    long bytes = file == NULL ? -1 : size_of(file);

    (void)wait;
    if (kind != NULL)
        *kind = bytes >= 0 || file == NULL ? MXL_FILE_REGULAR : kind_of(file);
    if (size != NULL)
        *size = bytes < 0 ? 0 : (size_t)bytes;
    return file;
}

bool mxl_file_is_pipe(FILE *file)
{
    return ftell(file) < 0;
}

int64_t mxl_file_read_at(FILE *file, bool pipe, void *to, size_t wanted, uint64_t at)
{
    size_t got;

    if (!pipe && fseek(file, (long)at, SEEK_SET) != 0)
        return -1;
    got = fread(to, 1, wanted, file);
    return got == 0 && ferror(file) ? -1 : (int64_t)got;
}

/* The C library cannot cut a file: what is behind stays, and is written over. */
void mxl_file_cut(FILE *file, uint64_t at)
{
    clearerr(file);
    (void)fseek(file, (long)at, SEEK_SET);
}

int mxl_file_descriptor(FILE *file)
{
    (void)file;
    return -1;
}

/* ---- replacing ---- */

static int begin(mxl_replace *r, const char *path, bool itself)
{
    r->owner = 0;
    r->lock = itself ? -1 : 0;
    if (strlen(path) >= MXL_REPLACE_ROOM) {
        errno = ENAMETOOLONG;
        return mxl_replace_failed(path, "cannot be opened for writing");
    }
    strcpy(r->path, path);
    mxl_replace_name(r, 0, 0);
    r->file = fopen(itself ? r->path : r->temporary, "wb");
    return r->file != NULL ? 0 : mxl_replace_failed(path, "cannot be opened for writing");
}

int mxl_replace_begin(mxl_replace *r, const char *path)
{
    return begin(r, path, false);
}

int mxl_replace_begin_stream(mxl_replace *r, const char *path)
{
    FILE *old = fopen(path, "rb");
    bool lost = old != NULL && fgetc(old) != EOF;

    if (old != NULL)
        (void)fclose(old);
    return begin(r, path, !lost);
}

int mxl_replace_end(mxl_replace *r, bool whole)
{
    bool closed = fclose(r->file) == 0;
    int why;

    if (r->lock < 0) /* `path` itself was written */
        return !whole ? -1 : closed ? 0 : mxl_replace_failed(r->path, "writing failed");
    if (whole && closed && rename(r->temporary, r->path) == 0)
        return 0;
    if (whole)
        (void)mxl_replace_failed(r->path, closed ? "cannot be replaced" : "writing failed");
    why = errno;
    (void)remove(r->temporary);
    errno = why;
    return -1;
}
#endif

#if defined(MXL_NO_FILES)
const char *mxl_file_why(int number)
{
    return number == ENOSYS ? "this build of mxlite has no files (MXL_NO_FILES)" : strerror(number);
}

bool mxl_file_exists(const char *path)
{
    (void)path;
    return false;
}

FILE *mxl_file_open(const char *path, bool wait, mxl_file_kind *kind, size_t *size)
{
    (void)path;
    (void)wait;
    if (kind != NULL)
        *kind = MXL_FILE_OTHER;
    if (size != NULL)
        *size = 0;
    errno = ENOSYS;
    return NULL;
}

bool mxl_file_is_pipe(FILE *file)
{
    (void)file;
    return true;
}

int64_t mxl_file_read_at(FILE *file, bool pipe, void *to, size_t wanted, uint64_t at)
{
    (void)file;
    (void)pipe;
    (void)to;
    (void)wanted;
    (void)at;
    errno = ENOSYS;
    return -1;
}

void mxl_file_cut(FILE *file, uint64_t at)
{
    (void)file;
    (void)at;
}

int mxl_file_descriptor(FILE *file)
{
    (void)file;
    return -1;
}

size_t mxl_file_get(FILE *file, void *to, size_t size)
{
    (void)file;
    (void)to;
    (void)size;
    return 0;
}

size_t mxl_file_put(FILE *file, const void *from, size_t size)
{
    (void)file;
    (void)from;
    (void)size;
    return 0;
}

bool mxl_file_failed(FILE *file)
{
    (void)file;
    return true;
}

int mxl_file_flush(FILE *file)
{
    (void)file;
    return EOF;
}

int mxl_file_close(FILE *file)
{
    (void)file;
    return EOF;
}

int mxl_replace_begin(mxl_replace *r, const char *path)
{
    r->file = NULL;
    errno = ENOSYS;
    return mxl_replace_failed(path, "cannot be opened for writing");
}

int mxl_replace_begin_stream(mxl_replace *r, const char *path)
{
    return mxl_replace_begin(r, path);
}

int mxl_replace_end(mxl_replace *r, bool whole)
{
    (void)r;
    (void)whole;
    errno = ENOSYS;
    return -1;
}
#else
const char *mxl_file_why(int number)
{
    return strerror(number);
}
#endif
