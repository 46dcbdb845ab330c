/* Storage: counted bytes that arrays look at. Carries the version that saved values are checked
 * against. The bytes are ours, or someone else's (foreign), or such that processes share. */
#ifndef MXL_ARRAY_STORAGE_H
#define MXL_ARRAY_STORAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/ref.h"

/* How bytes that belong to someone else are given back. */
typedef struct mxl_foreign {
    void (*release)(void *payload); /* called once, from whatever thread drops the last reference */
    void *payload;
    atomic_bool read_only; /* nothing here may write to them */
} mxl_foreign;

typedef struct mxl_storage {
    mxl_ref ref;
    void *data; /* aligned to 64; foreign ones to their elements */
    size_t bytes;
    atomic_uint_fast64_t version;        /* grows with every write */
    mxl_foreign *foreign;                /* NULL: the bytes are ours */
    _Atomic(struct mxl_storage *) share; /* kept; a copy that another process was offered */
} mxl_storage;

/* New storage of `bytes` (0 is legal), its content uninitialised; NULL with the error set. */
mxl_storage *mxl_storage_new(size_t bytes);

/* New storage over bytes that belong to someone else, who is told by `release` (may be NULL) when
 * nobody needs them any more. NULL with the error set, nothing released. */
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

/* Tells that the bytes changed. Two writers at once are a race on the bytes anyway; the version
 * only has to move. */
static inline void mxl_storage_bump(mxl_storage *storage)
{
    uint64_t version = atomic_load_explicit(&storage->version, memory_order_relaxed);

    atomic_store_explicit(&storage->version, version + 1, memory_order_relaxed);
}

/* What edited the bytes last, while others looked at them: a number of the layers above, 0 for
 * unknown. */
static inline void mxl_storage_set_writer(mxl_storage *storage, unsigned writer)
{
    atomic_store_explicit(&storage->ref.note, writer, memory_order_relaxed);
}

static inline unsigned mxl_storage_writer(const mxl_storage *storage)
{
    return atomic_load_explicit(&((mxl_storage *)(size_t)storage)->ref.note, memory_order_relaxed);
}

/* The version after an operator wrote, which may have been in several steps: what dialects that
 * show it to users count is edits. */
static inline void mxl_storage_set_version(mxl_storage *storage, uint64_t version)
{
    atomic_store_explicit(&storage->version, version, memory_order_relaxed);
}

#endif
