/* Writing arrays as bytes. (Reading: file_read.c.) A list is: magic and a reserved word, the number
 * of arrays and the arrays, the number of names and the names, each with its length before it. */
#define _GNU_SOURCE 1 /* fdopen, realpath */
#include "array/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array/copy.h"
#include "array/file_format.h"
#include "base/error.h"
#include "base/mem.h"

void mxl_file_list_clear(mxl_file_list *list)
{
    for (int64_t i = 0; i < list->count; i++)
        mxl_array_drop(list->arrays[i]);
    mxl_free(list->arrays, list->arrays_room * sizeof(*list->arrays));
    mxl_free(list->names, list->names_room);
    memset(list, 0, sizeof(*list));
}

/* ---- one array ---- */

/* What stands before an array's values, into `to` (HEADER_MAX bytes); its length. */
static size_t header_write(const mxl_array *array, bool numpy_shape, char *to)
{
    uint32_t magic = numpy_shape ? MAGIC_V3 : MAGIC_V2;
    int32_t words[3] = {STYPE_DENSE, array->ndim, 0}, tail[3] = {DEVICE_CPU, 0, array->dtype};
    size_t axes = (size_t)array->ndim * sizeof(int64_t), at = 0;

    memcpy(to, &magic, sizeof(magic));
    at += sizeof(magic);
    memcpy(to + at, words, 2 * sizeof(int32_t));
    at += 2 * sizeof(int32_t);
    memcpy(to + at, array->shape, axes);
    at += axes;
    memcpy(to + at, tail, sizeof(tail));
    return at + sizeof(tail);
}

static int check_writable(const mxl_array *array, bool numpy_shape)
{
    if (array->storage == NULL)
        return mxl_error("the array has no shape yet: it was created empty and never written");
    if (array->ndim == 0 && !numpy_shape)
        return mxl_error("the array has no axes; such can be saved in numpy-shape mode alone");
    return 0;
}

static size_t data_bytes(const mxl_array *array)
{
    return (size_t)array->size * mxl_dtype_size(array->dtype);
}

int64_t mxl_file_array_bytes(const mxl_array *array, bool numpy_shape)
{
    char header[HEADER_MAX];

    if (check_writable(array, numpy_shape) != 0)
        return -1;
    return (int64_t)(header_write(array, numpy_shape, header) + data_bytes(array));
}

int mxl_file_array_write(mxl_array *array, bool numpy_shape, char *to)
{
    mxl_array *straight;

    if (check_writable(array, numpy_shape) != 0)
        return -1;
    straight = mxl_array_contiguous(array);
    if (straight == NULL)
        return -1;
    to += header_write(array, numpy_shape, to);
    memcpy(to, mxl_array_read(straight), data_bytes(array));
    mxl_array_drop(straight);
    return 0;
}

/* ---- a list ---- */

static int put(FILE *file, const void *bytes, size_t size)
{
    if (size > 0 && fwrite(bytes, 1, size, file) != size)
        return mxl_error("writing failed: %s", strerror(errno));
    return 0;
}

static int put_array(FILE *file, mxl_array *array, bool numpy_shape)
{
    char header[HEADER_MAX];
    mxl_array *straight = mxl_array_contiguous(array);
    int status = -1;

    if (straight == NULL)
        return -1;
    if (put(file, header, header_write(array, numpy_shape, header)) == 0)
        status = put(file, mxl_array_read(straight), data_bytes(array));
    mxl_array_drop(straight);
    return status;
}

static int put_list(FILE *file, int64_t count, mxl_array *const *arrays, const char *const *names,
                    bool numpy_shape)
{
    uint64_t head[3] = {LIST_MAGIC, 0, (uint64_t)count},
             named = names == NULL ? 0 : (uint64_t)count;

    if (put(file, head, sizeof(head)) != 0)
        return -1;
    for (int64_t i = 0; i < count; i++) {
        if (put_array(file, arrays[i], numpy_shape) != 0)
            return -1;
    }
    if (put(file, &named, sizeof(named)) != 0)
        return -1;
    for (uint64_t i = 0; i < named; i++) {
        uint64_t length = strlen(names[i]);

        if (put(file, &length, sizeof(length)) != 0 || put(file, names[i], (size_t)length) != 0)
            return -1;
    }
    return 0;
}

/* ---- the file ---- */

/* Makes a rename last: the folder is synced too. Where that cannot be had, the file is there all
 * the same. */
static void sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_ROOM];
    size_t length = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);
    int fd;

    memcpy(folder, slash == NULL ? "." : path, length);
    folder[length] = '\0';
    fd = open(folder, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)fsync(fd);
    (void)close(fd);
}

/* A new file beside `path`, its name in `temporary`; -1 with the error set. */
static int open_beside(const char *path, mode_t mode, char *temporary, size_t room)
{
    static atomic_uint counter;

    for (int tries = 0; tries < 100; tries++) {
        unsigned number = atomic_fetch_add(&counter, 1);
        int length = snprintf(temporary, room, "%s.%ld-%u.tmp", path, (long)getpid(), number), fd;

        if (length < 0 || (size_t)length >= room)
            return mxl_error("the name has %zu characters; %d are possible", strlen(path),
                             PATH_ROOM - TEMPORARY_ROOM);
        fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd >= 0)
            return fd;
        if (errno != EEXIST)
            return mxl_error("cannot be opened for writing: %s", strerror(errno));
    }
    return mxl_error("cannot be opened for writing: 100 temporary names are taken");
}

/* Writes and closes; `sync`: what is written has reached the disk. */
static int write_all(int fd, bool sync, int64_t count, mxl_array *const *arrays,
                     const char *const *names, bool numpy_shape)
{
    FILE *file = fdopen(fd, "wb");
    int status;

    if (file == NULL) {
        (void)close(fd);
        return mxl_error("cannot be opened for writing: %s", strerror(errno));
    }
    status = put_list(file, count, arrays, names, numpy_shape);
    if (status == 0 && (fflush(file) != 0 || (sync && fsync(fd) != 0)))
        status = mxl_error("writing failed: %s", strerror(errno));
    if (fclose(file) != 0 && status == 0)
        status = mxl_error("writing failed: %s", strerror(errno));
    return status;
}

static int save_beside(const char *path, const struct stat *old, int64_t count,
                       mxl_array *const *arrays, const char *const *names, bool numpy_shape)
{
    char temporary[PATH_ROOM];
    int fd = open_beside(path, old == NULL ? 0666 : 0600, temporary, sizeof(temporary));
    int status = 0;

    if (fd < 0)
        return -1;
    /* Who may read the old file may read the new one, and nobody else. */
    if (old != NULL && fchmod(fd, old->st_mode & 07777) != 0) {
        status = mxl_error("cannot be given its permissions: %s", strerror(errno));
        (void)close(fd);
    } else {
        status = write_all(fd, true, count, arrays, names, numpy_shape);
    }
    if (status == 0 && rename(temporary, path) != 0)
        status = mxl_error("cannot be replaced: %s", strerror(errno));
    if (status != 0)
        (void)unlink(temporary);
    else
        sync_folder(path);
    return status;
}

static int save_to(const char *path, int64_t count, mxl_array *const *arrays,
                   const char *const *names, bool numpy_shape)
{
    struct stat old;
    char *real;
    int status, fd;

    if (stat(path, &old) != 0)
        return save_beside(path, NULL, count, arrays, names, numpy_shape);
    if (!S_ISREG(old.st_mode)) {
        fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0)
            return mxl_error("cannot be opened for writing: %s", strerror(errno));
        return write_all(fd, false, count, arrays, names, numpy_shape);
    }
    if (access(path, W_OK) != 0)
        return mxl_error("cannot be opened for writing: %s", strerror(errno));
    real = realpath(path, NULL); /* A link stays a link: what it leads to is replaced. */
    if (real == NULL)
        return mxl_error("cannot be opened for writing: %s", strerror(errno));
    status = save_beside(real, &old, count, arrays, names, numpy_shape);
    free(real);
    return status;
}

int mxl_file_save(const char *path, int64_t count, mxl_array *const *arrays,
                  const char *const *names, bool numpy_shape)
{
    for (int64_t i = 0; i < count; i++) {
        char where[40];

        if (check_writable(arrays[i], numpy_shape) != 0) {
            (void)snprintf(where, sizeof(where), "array %lld", (long long)i);
            return mxl_error_prefix(where);
        }
    }
    if (save_to(path, count, arrays, names, numpy_shape) != 0)
        return mxl_error_prefix(path);
    return 0;
}
