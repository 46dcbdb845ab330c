/* Storage that processes share: anonymous files in memory, mapped by each process that has a
 * descriptor. */
#define _GNU_SOURCE 1 /* memfd_create, F_ADD_SEALS */
#include "array/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array/copy.h"
#include "base/error.h"
#include "base/memory/mem.h"

typedef struct mapping {
    void *start;
    size_t bytes; /* at least 1: an empty mapping is not allowed */
    int fd;
} mapping;

static void mapping_release(void *payload)
{
    mapping *m = payload;

    (void)munmap(m->start, m->bytes);
    if (m->fd >= 0)
        (void)close(m->fd);
    mxl_free(m, sizeof(*m));
}

static int failed(const char *what)
{
    return mxl_error("shared memory: %s failed: %s", what, strerror(errno));
}

#if defined(__linux__)
/* The file is sealed against shrinking, so that readers in other processes are safe. */
static int new_file(void)
{
    return memfd_create("mxlite", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

static void seal(int fd)
{
    (void)fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL);
}
#else
static int new_file(void)
{
    static atomic_uint counter;
    char name[64];
    int fd;

    (void)snprintf(name, sizeof(name), "/mxlite-%ld-%u", (long)getpid(),
                   atomic_fetch_add(&counter, 1));
    fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd >= 0)
        (void)shm_unlink(name);
    return fd;
}

static void seal(int fd)
{
    (void)fd;
}
#endif

/* Maps a descriptor, which the caller keeps. */
static mxl_storage *map(int fd, size_t bytes)
{
    mapping *m = mxl_alloc(sizeof(*m));
    mxl_storage *storage;

    if (m == NULL)
        return NULL;
    m->fd = -1;
    m->bytes = bytes == 0 ? 1 : bytes;
    m->start = mmap(NULL, m->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (m->start == MAP_FAILED) {
        (void)failed("mapping");
        mxl_free(m, sizeof(*m));
        return NULL;
    }
    storage = mxl_storage_foreign(m->start, bytes, mapping_release, m);
    if (storage == NULL) {
        (void)munmap(m->start, m->bytes);
        mxl_free(m, sizeof(*m));
    }
    return storage;
}

mxl_storage *mxl_shared_new(size_t bytes)
{
    off_t length = bytes == 0 ? 1 : (off_t)bytes;
    mxl_storage *storage = NULL;
    int fd = new_file(), problem;

    if (fd < 0)
        return (void)failed("making it"), NULL;
    /* Reserves the memory too: writing to a page without memory would raise a signal. */
    problem = posix_fallocate(fd, 0, length);
    if (problem != 0) {
        (void)mxl_error("shared memory: %zu bytes: %s", bytes, strerror(problem));
    } else {
        seal(fd);
        storage = map(fd, bytes);
    }
    if (storage == NULL)
        (void)close(fd);
    else
        mxl_shared_take(storage, fd);
    return storage;
}

void mxl_shared_take(mxl_storage *storage, int fd)
{
    ((mapping *)storage->foreign->payload)->fd = fd;
}

mxl_storage *mxl_shared_open(int fd, size_t bytes)
{
    struct stat info;

    if (fstat(fd, &info) != 0)
        return (void)mxl_error("shared memory: descriptor %d: %s", fd, strerror(errno)), NULL;
    if (!S_ISREG(info.st_mode) || info.st_size < 0 || (uint64_t)info.st_size < bytes)
        return mxl_error_null("shared memory: descriptor %d has %lld bytes, the shape wants %zu",
                              fd, S_ISREG(info.st_mode) ? (long long)info.st_size : 0LL, bytes);
    return map(fd, bytes);
}

static int fd_of(const mxl_storage *storage)
{
    if (storage->foreign == NULL || storage->foreign->release != mapping_release)
        return -1;
    return ((const mapping *)storage->foreign->payload)->fd;
}

/* The descriptor of the array's own memory, if that is shared and begins with its elements; or -1.
 */
static int own_fd(const mxl_array *array)
{
    return array->contiguous && array->offset == 0 ? fd_of(array->storage) : -1;
}

/* The array's elements in C order, with their number of bytes. New; NULL with the error set. */
static mxl_array *straight_of(mxl_array *array, size_t *bytes)
{
    *bytes = (size_t)array->size * mxl_dtype_size(array->dtype);
    return mxl_array_contiguous(array);
}

/* New shared storage with these bytes; NULL with the error set. */
static mxl_storage *shared_copy(const void *from, size_t bytes)
{
    mxl_storage *copy = mxl_shared_new(bytes);

    if (copy != NULL && bytes > 0)
        memcpy(copy->data, from, bytes);
    return copy;
}

/* Keeps a copy as the storage's only one. */
static void keep(mxl_extra *extra, mxl_storage *copy)
{
    mxl_storage *before = atomic_exchange(&extra->share, copy);

    if (before != NULL)
        mxl_ref_release(&before->ref);
}

int mxl_shared_fd(mxl_array *array)
{
    int fd = own_fd(array);
    mxl_extra *extra = fd >= 0 ? NULL : mxl_storage_extra(array->storage);
    mxl_array *straight;
    mxl_storage *before, *copy;
    const void *data;
    size_t bytes;

    if (fd >= 0 || extra == NULL)
        return fd;
    straight = straight_of(array, &bytes);
    if (straight == NULL)
        return -1;
    data = mxl_array_read(straight);
    before = atomic_exchange(&extra->share, NULL); /* taken: no other thread frees it meanwhile */
    if (before != NULL && before->bytes == bytes && memcmp(before->data, data, bytes) == 0) {
        copy = before;
    } else {
        copy = shared_copy(data, bytes);
        if (before != NULL)
            mxl_ref_release(&before->ref); /* not earlier: the new one has another number */
    }
    if (copy != NULL) {
        fd = fd_of(copy);
        keep(extra, copy);
    }
    mxl_array_release(straight);
    return fd;
}

/* As dup, closed by exec; -1 with the error set. */
static int duplicate(int fd)
{
    int made = fcntl(fd, F_DUPFD_CLOEXEC, 0);

    return made < 0 ? failed("duplicating it") : made;
}

int mxl_shared_dup(mxl_array *array)
{
    int fd = own_fd(array);
    mxl_storage *copy;
    mxl_array *straight;
    size_t bytes;

    if (fd >= 0)
        return duplicate(fd);
    straight = straight_of(array, &bytes);
    if (straight == NULL)
        return -1;
    copy = shared_copy(mxl_array_read(straight), bytes);
    mxl_array_release(straight);
    if (copy == NULL)
        return -1;
    fd = duplicate(fd_of(copy));
    mxl_ref_release(&copy->ref);
    return fd;
}
