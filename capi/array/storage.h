/* Storage: a counted block of bytes that arrays share, with the version that saved tensors are
 * checked against. The bytes are the library's own, foreign, or shared between processes. */
#ifndef MXL_ARRAY_STORAGE_H
#define MXL_ARRAY_STORAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/ref.h"

/* The owner of foreign bytes. */
typedef struct mxl_foreign {
    void (*release)(void *payload); /* called once, by the last release, on any thread */
    void *payload;
    atomic_bool read_only; /* the library may not write to the bytes */
} mxl_foreign;

typedef struct mxl_storage {
    mxl_ref ref;
    void *data; /* aligned to 64; foreign bytes to their elements */
    size_t bytes;
    atomic_uint_fast64_t version;        /* grows with every write */
    mxl_foreign *foreign;                /* NULL: the library's own bytes */
    _Atomic(struct mxl_storage *) share; /* kept; a copy that was offered to another process */
} mxl_storage;

/* New storage of `bytes` (0 is legal), its content uninitialised; NULL with the error set. */
mxl_storage *mxl_storage_new(size_t bytes);

/* New storage over foreign bytes. `release` (may be NULL) is called when the last reference is
 * released. NULL with the error set; then `release` is not called. */
mxl_storage *mxl_storage_foreign(void *data, size_t bytes, void (*release)(void *), void *payload);

static inline bool mxl_storage_read_only(const mxl_storage *storage)
{
    return storage->foreign != NULL &&
           atomic_load_explicit(&storage->foreign->read_only, memory_order_relaxed);
}

static inline uint64_t mxl_storage_version(const mxl_storage *storage)
{
    return atomic_load_explicit(&storage->version, memory_order_relaxed);
}

/* Notes a change of the bytes. Two concurrent writers race on the bytes themselves; the version
 * only has to change. */
static inline void mxl_storage_bump(mxl_storage *storage)
{
    uint64_t version = atomic_load_explicit(&storage->version, memory_order_relaxed);

    atomic_store_explicit(&storage->version, version + 1, memory_order_relaxed);
}

/* Sets the number of the operator, given by upper layers, that last edited the bytes in place; 0:
 * unknown. */
static inline void mxl_storage_set_writer(mxl_storage *storage, unsigned writer)
{
    atomic_store_explicit(&storage->ref.note, writer, memory_order_relaxed);
}

static inline unsigned mxl_storage_writer(const mxl_storage *storage)
{
    return atomic_load_explicit(&((mxl_storage *)(size_t)storage)->ref.note, memory_order_relaxed);
}

/* Sets the version after an operator wrote, perhaps in several steps: front ends that show the
 * version to users count edits. */
static inline void mxl_storage_set_version(mxl_storage *storage, uint64_t version)
{
    atomic_store_explicit(&storage->version, version, memory_order_relaxed);
}

#endif
