/* Storage that processes share, mapped by each process that has a descriptor. */
#include "array/shared.h"

#include <string.h>

#include "array/copy.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "base/system/shared_memory.h"

typedef struct mapping {
    void *start;
    size_t bytes; /* at least 1: an empty mapping is not allowed */
    int fd;
} mapping;

static void mapping_release(void *payload)
{
    mapping *m = payload;

    mxl_shared_memory_unmap(m->start, m->bytes);
    if (m->fd >= 0)
        mxl_shared_memory_close(m->fd);
    mxl_free(m, sizeof(*m));
}

/* Maps a descriptor, which the caller keeps. */
static mxl_storage *map(int fd, size_t bytes)
{
    mapping *m = mxl_alloc(sizeof(*m));
    mxl_storage *storage;

    if (m == NULL)
        return NULL;
    m->fd = -1;
    m->bytes = bytes == 0 ? 1 : bytes;
    m->start = mxl_shared_memory_map(fd, m->bytes);
    storage = m->start == NULL ? NULL : mxl_storage_foreign(m->start, bytes, mapping_release, m);
    if (storage == NULL) {
        if (m->start != NULL)
            mxl_shared_memory_unmap(m->start, m->bytes);
        mxl_free(m, sizeof(*m));
    }
    return storage;
}

mxl_storage *mxl_shared_new(size_t bytes)
{
    int fd = mxl_shared_memory_new(bytes);
    mxl_storage *storage = fd < 0 ? NULL : map(fd, bytes);

    if (storage != NULL)
        mxl_shared_take(storage, fd);
    else if (fd >= 0)
        mxl_shared_memory_close(fd);
    return storage;
}

void mxl_shared_take(mxl_storage *storage, int fd)
{
    ((mapping *)storage->foreign->payload)->fd = fd;
}

mxl_storage *mxl_shared_open(int fd, size_t bytes)
{
    return mxl_shared_memory_check(fd, bytes) == 0 ? map(fd, bytes) : NULL;
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

int mxl_shared_dup(mxl_array *array)
{
    int fd = own_fd(array);
    mxl_storage *copy;
    mxl_array *straight;
    size_t bytes;

    if (fd >= 0)
        return mxl_shared_memory_duplicate(fd);
    straight = straight_of(array, &bytes);
    if (straight == NULL)
        return -1;
    copy = shared_copy(mxl_array_read(straight), bytes);
    mxl_array_release(straight);
    if (copy == NULL)
        return -1;
    fd = mxl_shared_memory_duplicate(fd_of(copy));
    mxl_ref_release(&copy->ref);
    return fd;
}
