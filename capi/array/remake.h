/* Bytes that are let go and made once more when they are needed: results that backward computes
 * again (symbol/passes/remat.h), gradients that are about to be replaced. A thread that reads or
 * writes them makes them first, or waits for the one that does (mxl_storage_settle). */
#ifndef MXL_ARRAY_REMAKE_H
#define MXL_ARRAY_REMAKE_H

#include "array/storage.h"

/* How bytes are made once more; counted. */
typedef struct mxl_remake {
    mxl_ref ref;
    /* Commits the storage, which has address space alone (mxl_storage_commit), and fills it. -1
     * with the error set, and the storage as it was. Called without locks. */
    int (*make)(struct mxl_remake *remake, mxl_storage *storage);
} mxl_remake;

/* Lets the storage's block go; `remake`, of which it takes a reference, will make the bytes. False,
 * with nothing changed: the block is small or another library's, its address has been given to
 * a caller, or a deferred call reads it. No other thread may be reading or writing the bytes. */
bool mxl_remake_later(mxl_storage *storage, mxl_remake *remake);

/* The same of a storage whose bytes are zeros from then on. */
bool mxl_remake_zeros_later(mxl_storage *storage);

/* Makes bytes that were let go; 0 where they are there. -1 with the error set: they are still gone.
 */
int mxl_remake_now(mxl_storage *storage);

/* The same; where it fails the bytes are zeros, and the error is kept (array/failure.h). */
void mxl_remake_settle(mxl_storage *storage);

/* Gives the storage the bytes of another one of the same size, whose own are any from then on:
 * their blocks are exchanged. False, with nothing changed, as mxl_storage_exchange; bytes that are
 * gone are not made. */
bool mxl_remake_exchange(mxl_storage *storage, mxl_storage *other);

static inline bool mxl_storage_is_gone(const mxl_storage *storage)
{
    mxl_extra *extra =
        atomic_load_explicit(&((mxl_storage *)(size_t)storage)->extra, memory_order_acquire);

    return extra != NULL && atomic_load_explicit(&extra->again, memory_order_acquire) != NULL;
}

#endif
