/* Files of POSIX systems. */
#define _GNU_SOURCE 1 /* fseeko, ftruncate, pread, fdopen */
#include "base/system/file_io.h"

#include "base/system/system.h"

#if defined(MXL_POSIX) && !defined(MXL_NO_FILES)
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

bool mxl_file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

FILE *mxl_file_open(const char *path, bool wait, mxl_file_kind *kind, size_t *size)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | (wait ? 0 : O_NONBLOCK)), why;
    FILE *file = NULL;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &info) == 0)
        file = fdopen(fd, "rb");
    if (file == NULL) {
        why = errno;
        (void)close(fd);
        errno = why;
        return NULL;
    }
    if (kind != NULL)
        *kind = S_ISREG(info.st_mode)   ? MXL_FILE_REGULAR
                : S_ISDIR(info.st_mode) ? MXL_FILE_FOLDER
                                        : MXL_FILE_OTHER;
    if (size != NULL)
        *size = (size_t)info.st_size;
    return file;
}

bool mxl_file_is_pipe(FILE *file)
{
    return lseek(fileno(file), 0, SEEK_CUR) < 0;
}

int64_t mxl_file_read_at(FILE *file, bool pipe, void *to, size_t wanted, uint64_t at)
{
    int fd = fileno(file);
    ssize_t n;

    do
        n = pipe ? read(fd, to, wanted) : pread(fd, to, wanted, (off_t)at);
    while (n < 0 && errno == EINTR);
    return n;
}

void mxl_file_cut(FILE *file, uint64_t at)
{
    clearerr(file);
    if (ftruncate(fileno(file), (off_t)at) == 0)
        (void)fseeko(file, (off_t)at, SEEK_SET);
}

int mxl_file_descriptor(FILE *file)
{
    return fileno(file);
}
#endif
