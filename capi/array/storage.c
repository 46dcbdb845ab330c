/* Storage: one block with the header and, 64 bytes after its start, the data; for foreign bytes the
 * block has the release function instead. */
#include "array/storage.h"

#include "base/error.h"
#include "base/memory/mem.h"

enum { HEADER_BYTES = 64 };

_Static_assert(sizeof(mxl_storage) <= HEADER_BYTES, "the data begins behind the header");

static void release_share(mxl_storage *storage)
{
    mxl_storage *share = atomic_load_explicit(&storage->share, memory_order_acquire);

    if (share != NULL)
        mxl_ref_release(&share->ref);
}

static void storage_release(mxl_ref *ref)
{
    mxl_storage *storage = (mxl_storage *)ref;

    release_share(storage);
    mxl_free(storage, HEADER_BYTES + storage->bytes);
}

static void foreign_release(mxl_ref *ref)
{
    mxl_storage *storage = (mxl_storage *)ref;
    void (*give_back)(void *) = storage->foreign->release;
    void *payload = storage->foreign->payload;

    release_share(storage);
    mxl_free(storage, HEADER_BYTES + sizeof(mxl_foreign));
    if (give_back != NULL)
        give_back(payload);
}

static mxl_storage *blank(size_t behind, void (*release)(mxl_ref *))
{
    mxl_storage *storage = mxl_alloc(HEADER_BYTES + behind);

    if (storage == NULL)
        return NULL;
    mxl_ref_init(&storage->ref, release);
    storage->data = (char *)storage + HEADER_BYTES;
    storage->bytes = behind;
    storage->foreign = NULL;
    atomic_init(&storage->version, 0);
    atomic_init(&storage->share, NULL);
    return storage;
}

mxl_storage *mxl_storage_new(size_t bytes)
{
    if (bytes > (size_t)INT64_MAX - HEADER_BYTES)
        return mxl_error_null("an array of %zu bytes is too large", bytes);
    return blank(bytes, storage_release);
}

mxl_storage *mxl_storage_foreign(void *data, size_t bytes, void (*release)(void *), void *payload)
{
    mxl_storage *storage = blank(sizeof(mxl_foreign), foreign_release);

    if (storage == NULL)
        return NULL;
    storage->foreign = storage->data;
    storage->foreign->release = release;
    storage->foreign->payload = payload;
    atomic_init(&storage->foreign->read_only, false);
    storage->data = data;
    storage->bytes = bytes;
    return storage;
}
