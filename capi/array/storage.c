/* Storage: one block with the header and, 64 bytes after its start, the data; for foreign bytes the
 * block has the release function instead. Large data have a block of their own, so that it can be
 * exchanged while an expression waits. */
#include "array/storage.h"

#include <string.h>

#include "array/failure.h"
#include "array/remake.h"
#include "base/error.h"
#include "base/memory/mem.h"

enum {
    HEADER_BYTES = 64,
    LARGE_BYTES = 64 * 1024, /* data whose first bytes are put to different lines of the caches: */
    TURNS = 13,
    TURN_BYTES = 320
};

_Static_assert(sizeof(mxl_storage) <= HEADER_BYTES, "the data begins behind the header");

/* The extra of storages that are exposed and have no other need of one. */
static mxl_extra only_exposed = {.exposed = true};

/* Called for storages whose extra is not NULL. Returns whether the block is address space: a pass
 * of another thread may commit it until mxl_storage_forsake has waited for its end. */
static bool free_extra(mxl_storage *storage, mxl_extra *extra)
{
    mxl_storage *share;
    bool reserved;

    if (extra == &only_exposed)
        return false;
    if (atomic_load_explicit(&extra->waits, memory_order_acquire))
        mxl_storage_forsake(storage);
    mxl_ref_release((mxl_ref *)atomic_load_explicit(&extra->again, memory_order_acquire));
    share = atomic_load_explicit(&extra->share, memory_order_acquire);
    if (share != NULL)
        mxl_ref_release(&share->ref);
    mxl_ref_release(extra->parts);
    mxl_failure_release(atomic_load_explicit(&extra->failure, memory_order_acquire));
    reserved = extra->reserved;
    mxl_free(extra, sizeof(*extra));
    return reserved;
}

static inline bool release_extra(mxl_storage *storage)
{
    mxl_extra *extra = atomic_load_explicit(&storage->extra, memory_order_acquire);

    return extra != NULL && free_extra(storage, extra);
}

static void storage_release(mxl_ref *ref)
{
    mxl_storage *storage = (mxl_storage *)ref;

    (void)release_extra(storage);
    mxl_free(storage, (size_t)((char *)storage->data - (char *)storage) + storage->bytes);
}

/* A storage whose data have a block of their own. */
typedef struct large {
    mxl_storage storage;
    void *block;
    size_t block_bytes;
} large;

static void large_release(mxl_ref *ref)
{
    large *l = (large *)ref;

    if (release_extra(&l->storage))
        mxl_mem_free_reserved(l->block, l->block_bytes);
    else
        mxl_free(l->block, l->block_bytes);
    mxl_free(l, sizeof(*l));
}

static void foreign_release(mxl_ref *ref)
{
    mxl_storage *storage = (mxl_storage *)ref;
    void (*give_back)(void *) = storage->foreign->release;
    void *payload = storage->foreign->payload;

    (void)release_extra(storage);
    mxl_free(storage, HEADER_BYTES + sizeof(mxl_foreign));
    if (give_back != NULL)
        give_back(payload);
}

static void storage_init(mxl_storage *storage, void *data, size_t bytes, void (*release)(mxl_ref *))
{
    mxl_ref_init(&storage->ref, release);
    storage->data = data;
    storage->bytes = bytes;
    storage->foreign = NULL;
    atomic_init(&storage->version,
                mxl_state_here != NULL && mxl_state_here->inference ? MXL_INFERENCE : 0);
    atomic_init(&storage->extra, NULL);
}

static mxl_storage *blank(size_t skip, size_t behind, void (*release)(mxl_ref *))
{
    mxl_storage *storage = mxl_alloc(skip + behind);

    if (storage != NULL)
        storage_init(storage, (char *)storage + skip, behind, release);
    return storage;
}

/* Where the data begin. Large blocks begin at pages; were all data 64 bytes further on, the same
 * elements of all operands of a loop would compete for the same few lines of the caches. */
static size_t data_offset(size_t bytes)
{
    static atomic_uint turn;

    if (bytes < LARGE_BYTES)
        return HEADER_BYTES;
    return HEADER_BYTES +
           TURN_BYTES * (atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) % TURNS);
}

static mxl_storage *large_new(size_t bytes)
{
    size_t offset = data_offset(bytes);
    large *l = mxl_alloc(sizeof(*l));

    if (l == NULL)
        return NULL;
    l->block_bytes = offset + bytes;
    l->block = mxl_alloc(l->block_bytes);
    if (l->block == NULL) {
        mxl_free(l, sizeof(*l));
        return NULL;
    }
    storage_init(&l->storage, (char *)l->block + offset, bytes, large_release);
    return &l->storage;
}

mxl_storage *mxl_storage_new(size_t bytes)
{
    if (bytes > (size_t)INT64_MAX - HEADER_BYTES)
        return mxl_error_null("an array of %zu bytes is too large", bytes);
    mxl_storage_limit_left();
    if (bytes >= MXL_OWN_BLOCK)
        return large_new(bytes);
    return blank(data_offset(bytes), bytes, storage_release);
}

mxl_storage *mxl_storage_new_later(size_t bytes)
{
    if (bytes >= MXL_LATER_BYTES && bytes <= (size_t)INT64_MAX - HEADER_BYTES)
        return large_new(bytes);
    return mxl_storage_new(bytes);
}

/* Its first reference is the library's, which is never released. */
static mxl_storage no_memory = {.ref.count = 1};

mxl_storage *mxl_storage_new_meta(size_t bytes)
{
    (void)bytes;
    mxl_ref_retain(&no_memory.ref);
    return &no_memory;
}

static void put_into(large *l, void *block)
{
    l->storage.data = (char *)block + ((char *)l->storage.data - (char *)l->block);
    l->block = block;
}

void mxl_storage_reserve(mxl_storage *storage)
{
    mxl_extra *extra = atomic_load_explicit(&storage->extra, memory_order_acquire);
    large *l = (large *)storage;
    void *reserved;

    if (storage->ref.release != large_release || extra->reserved)
        return;
    reserved = mxl_mem_reserve(l->block, l->block_bytes);
    if (reserved == NULL)
        return;
    put_into(l, reserved);
    extra->reserved = true;
}

void mxl_storage_commit(mxl_storage *storage)
{
    mxl_extra *extra = atomic_load_explicit(&storage->extra, memory_order_acquire);
    large *l = (large *)storage;

    if (extra->reserved)
        put_into(l, mxl_mem_commit(l->block, l->block_bytes));
    extra->reserved = false;
}

void mxl_storage_commit_from(mxl_storage *storage, mxl_storage *donor)
{
    mxl_extra *extra = atomic_load_explicit(&storage->extra, memory_order_acquire);
    mxl_extra *others = atomic_load_explicit(&donor->extra, memory_order_acquire);
    large *to = (large *)storage, *from = (large *)donor, swapped = *to;

    storage->data = donor->data;
    to->block = from->block;
    to->block_bytes = from->block_bytes;
    donor->data = swapped.storage.data;
    from->block = swapped.block;
    from->block_bytes = swapped.block_bytes;
    extra->reserved = false;
    others->reserved = true;
}

bool mxl_storage_is_exchangeable(const mxl_storage *storage)
{
    mxl_extra *extra =
        atomic_load_explicit(&((mxl_storage *)(size_t)storage)->extra, memory_order_acquire);

    return storage->ref.release == large_release &&
           (extra == NULL ||
            (!atomic_load_explicit(&extra->exposed, memory_order_relaxed) && !extra->reserved &&
             !atomic_load_explicit(&extra->waits, memory_order_acquire)));
}

bool mxl_storage_exchange(mxl_storage *storage, mxl_storage *other)
{
    large *to = (large *)storage, *from = (large *)other, before;

    if (!mxl_storage_is_exchangeable(storage) || !mxl_storage_is_exchangeable(other) ||
        storage->bytes != other->bytes)
        return false;
    before = *to;
    storage->data = other->data;
    to->block = from->block;
    to->block_bytes = from->block_bytes;
    other->data = before.storage.data;
    from->block = before.block;
    from->block_bytes = before.block_bytes;
    return true;
}

void mxl_storage_clear(mxl_storage *storage)
{
    if (storage->ref.release != large_release || !mxl_mem_is_fresh(((large *)storage)->block))
        memset(storage->data, 0, storage->bytes);
    mxl_storage_bump(storage);
}

mxl_storage *mxl_storage_foreign(void *data, size_t bytes, void (*release)(void *), void *payload)
{
    mxl_storage *storage = blank(HEADER_BYTES, sizeof(mxl_foreign), foreign_release);

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

mxl_extra *mxl_storage_extra(mxl_storage *storage)
{
    mxl_extra *extra = atomic_load_explicit(&storage->extra, memory_order_acquire), *made;

    if (extra != NULL && extra != &only_exposed)
        return extra;
    made = mxl_alloc_zero(sizeof(*made));
    if (made == NULL)
        return NULL;
    atomic_init(&made->exposed, extra != NULL);
    while (!atomic_compare_exchange_weak(&storage->extra, &extra, made)) {
        if (extra != NULL && extra != &only_exposed) {
            mxl_free(made, sizeof(*made));
            return extra;
        }
        atomic_store(&made->exposed, extra != NULL);
    }
    return made;
}

void mxl_storage_expose(mxl_storage *storage)
{
    mxl_extra *extra = NULL;

    if (storage->foreign != NULL ||
        atomic_compare_exchange_strong(&storage->extra, &extra, &only_exposed))
        return;
    if (extra != &only_exposed)
        atomic_store(&extra->exposed, true);
    if (mxl_storage_waits(storage))
        mxl_storage_settle(storage, true);
}
