/* Shared by the files of api/kvstore: handles to stores, and the keys and arrays of a call. */
#ifndef MXL_API_KVSTORE_PIN_H
#define MXL_API_KVSTORE_PIN_H

#include "api/common.h"
#include "kvstore/store.h"

/* Pins a store (borrowed until api_store_unpin); NULL with the error set. */
mxl_store *api_store_pin(const void *handle, const char *function);

static inline void api_store_unpin(const void *handle)
{
    mxl_handle_unpin(api_number(handle));
}

#endif
