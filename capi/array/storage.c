/* Storage: one block holds the header and, 64 bytes behind it, the data. */
#include "array/storage.h"

#include "base/error.h"
#include "base/mem.h"

enum { HEADER_BYTES = 64 };

_Static_assert(sizeof(mxl_storage) <= HEADER_BYTES, "the data begins behind the header");

static void storage_release(mxl_ref *ref)
{
    mxl_storage *storage = (mxl_storage *)ref;

    mxl_free(storage, HEADER_BYTES + storage->bytes);
}

mxl_storage *mxl_storage_new(size_t bytes)
{
    mxl_storage *storage;

    if (bytes > (size_t)INT64_MAX - HEADER_BYTES)
        return mxl_error_null("an array of %zu bytes is too large", bytes);
    storage = mxl_alloc(HEADER_BYTES + bytes);
    if (storage == NULL)
        return NULL;
    mxl_ref_init(&storage->ref, storage_release);
    storage->data = (char *)storage + HEADER_BYTES;
    storage->bytes = bytes;
    atomic_init(&storage->version, 0);
    return storage;
}
