/* What the files of this folder share about items. */
#ifndef MXL_KVSTORE_ITEM_H
#define MXL_KVSTORE_ITEM_H

#include "kvstore/store.h"

enum { MXL_STORE_KEY_ROOM = 16 };

/* The text of key i, or of an item's key, for an error; may be written to `room`. */
const char *mxl_store_key_text(mxl_store_keys keys, uint32_t i, char *room);
const char *mxl_store_item_text(const mxl_store_item *item, char *room);

/* The item of key i, retained; NULL with the error set. */
mxl_store_item *mxl_store_find(mxl_store *store, mxl_store_keys keys, uint32_t i);

/* An item's array, retained. */
mxl_array *mxl_store_take(mxl_store *store, const mxl_store_item *item);

#endif
