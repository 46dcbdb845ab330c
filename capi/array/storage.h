/* Storage: a counted block of bytes that arrays share, with the version that saved tensors are
 * checked against. The bytes are the library's own, foreign, or shared between processes. */
#ifndef MXL_ARRAY_STORAGE_H
#define MXL_ARRAY_STORAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/ref.h"
#include "base/state.h"

/* The owner of foreign bytes. */
typedef struct mxl_foreign {
    void (*release)(void *payload); /* called once, by the last release, on any thread */
    void *payload;
    atomic_bool read_only; /* the library may not write to the bytes */
} mxl_foreign;

/* Data of so many bytes have a block of their own, which can be exchanged (storage.c), and let go
 * (array/remake.h); a result that waits for its expression leaves its block to others from
 * MXL_LATER_BYTES on. */
enum { MXL_OWN_BLOCK = 1 << 20, MXL_LATER_BYTES = 7 << 19 };

/* State that few storages need, allocated at the first need. */
typedef struct mxl_extra {
    _Atomic(struct mxl_storage *) share; /* kept; a copy that was offered to another process */
    atomic_bool exposed;                 /* a caller has the address of the bytes */
    atomic_bool waits; /* an expression makes the bytes, or reads them, or they are gone */
    _Atomic(struct mxl_remake *) again; /* kept; array/remake.h: makes the bytes, which are gone */
    bool remaking;                      /* array/remake.c: a thread makes them */
    bool reserved;                      /* the block is address space (mxl_mem_reserve) */
    struct mxl_expression *maker; /* array/expression.c: makes the bytes; NULL: they are there */
    struct mxl_operand *readers;  /* array/expression.c: read the bytes later */
    int num_readers;              /* each keeps the storage */
    _Atomic(struct mxl_failure *) failure; /* owned; array/failure.h */
    bool left;                             /* array/left.c: only the readers refer to the storage */
    bool listed;                           /* array/left.c: ... and its memory counts as left */
    bool owed; /* array/left.c: the bytes wait, and others than readers refer to them */
    struct mxl_storage *older, *newer; /* array/left.c: among those listed */
    atomic_flag parts_locked;          /* array/sparse/sparse.c */
    mxl_ref *parts; /* array/sparse/sparse.c: kept; what a sparse array is made of. NULL: dense */
} mxl_extra;

typedef struct mxl_storage {
    mxl_ref ref;
    void *data; /* aligned to 64; foreign bytes to their elements */
    size_t bytes;
    atomic_uint_fast64_t version; /* grows with every write; its highest bit: MXL_INFERENCE */
    mxl_foreign *foreign;         /* NULL: the library's own bytes */
    _Atomic(mxl_extra *) extra;   /* owned; NULL: none */
} mxl_storage;

/* New storage of `bytes` (0 is legal), its content uninitialised; NULL with the error set. Runs
 * expressions first where they own too much memory (array/left.c). */
mxl_storage *mxl_storage_new(size_t bytes);

/* The same for the result of a call that is about to be deferred: no expression runs where the
 * storage will take no memory meanwhile (mxl_storage_reserve). */
mxl_storage *mxl_storage_new_later(size_t bytes);

/* A reference to the storage of all arrays without memory (mxl_array_new_meta), whatever `bytes`
 * they would take. Nothing reads or writes it. */
mxl_storage *mxl_storage_new_meta(size_t bytes);

/* New storage over foreign bytes. `release` (may be NULL) is called when the last reference is
 * released. NULL with the error set; then `release` is not called. */
mxl_storage *mxl_storage_foreign(void *data, size_t bytes, void (*release)(void *), void *payload);

/* The storage's extra, made where there is none; NULL with the error set. */
mxl_extra *mxl_storage_extra(mxl_storage *storage);

/* Runs the expression that makes the bytes and, before a write, those that read them. */
__attribute__((cold)) void mxl_storage_settle(const mxl_storage *storage, bool write);

/* Notes whether the storage still waits, after a remake. */
void mxl_storage_note(mxl_storage *storage);

/* Releases the expression that would make the bytes: the storage is no longer used. */
void mxl_storage_forsake(mxl_storage *storage);

/* Bytes of memory that only expressions refer to, and the most there may be when more is taken,
 * beside as many as the results take that wait: without deferral these would be there instead. */
extern _Atomic int64_t mxl_storage_left_bytes;
enum { MXL_MOST_LEFT = 32 << 20 };

/* Runs expressions until no more bytes than that are left to them. */
__attribute__((cold)) void mxl_storage_make_room(void);

/* The same, for a caller that takes memory or writes to it first. */
static inline void mxl_storage_limit_left(void)
{
    if (atomic_load_explicit(&mxl_storage_left_bytes, memory_order_relaxed) > MXL_MOST_LEFT)
        mxl_storage_make_room();
}

/* Releases the reference of an array to a storage that waits; see mxl_storage_release. */
__attribute__((cold)) void mxl_storage_leave(mxl_storage *storage);

/* Whether bytes of the storage wait. */
static inline bool mxl_storage_waits(const mxl_storage *storage)
{
    mxl_extra *extra =
        atomic_load_explicit(&((mxl_storage *)(size_t)storage)->extra, memory_order_acquire);

    return extra != NULL && atomic_load_explicit(&extra->waits, memory_order_acquire);
}

/* Releases a reference that no expression has: what waits may be all that still refers to it. */
static inline void mxl_storage_release(mxl_storage *storage)
{
    if (mxl_storage_waits(storage))
        mxl_storage_leave(storage);
    else
        mxl_ref_release(&storage->ref);
}

/* Lets the block of a large storage go, with its content, until mxl_storage_commit: the storage has
 * an extra, and an expression will make all its bytes. */
void mxl_storage_reserve(mxl_storage *storage);
void mxl_storage_commit(mxl_storage *storage);

/* Commits a storage with the block of another one, which has as many bytes and is left without a
 * block of its own as after mxl_storage_reserve. */
void mxl_storage_commit_from(mxl_storage *storage, mxl_storage *donor);

/* Whether a storage has a block of its own, and neither waits nor lent its address to a caller; and
 * exchanging the blocks of two such storages with as many bytes. False, with nothing changed: they
 * are not. No other thread may use them. */
bool mxl_storage_is_exchangeable(const mxl_storage *storage);
bool mxl_storage_exchange(mxl_storage *storage, mxl_storage *other);

/* Fills a new storage, to whose bytes nobody has written, with zeros: fresh memory of the system's
 * is left as it is, and taken when it is used. */
void mxl_storage_clear(mxl_storage *storage);

/* Makes the bytes ready for a caller who gets their address, and runs what reads them: from now on
 * no expression reads or writes them late. */
void mxl_storage_expose(mxl_storage *storage);

static inline bool mxl_storage_read_only(const mxl_storage *storage)
{
    return storage->foreign != NULL &&
           atomic_load_explicit(&storage->foreign->read_only, memory_order_relaxed);
}

static inline uint64_t mxl_storage_version(const mxl_storage *storage)
{
    return atomic_load_explicit(&storage->version, memory_order_relaxed);
}

/* Of storages that are made while the thread is in inference mode: no rule may save them. */
#define MXL_INFERENCE (UINT64_C(1) << 63)

static inline bool mxl_storage_inference(const mxl_storage *storage)
{
    return (mxl_storage_version(storage) & MXL_INFERENCE) != 0;
}

/* Whether the storage is of inference arrays, and this thread not in the mode that may edit it. */
static inline bool mxl_storage_is_frozen(const mxl_storage *storage)
{
    return mxl_storage_inference(storage) && !mxl_state_get()->inference;
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
    uint64_t mode = atomic_load_explicit(&storage->version, memory_order_relaxed) & MXL_INFERENCE;

    atomic_store_explicit(&storage->version, version | mode, memory_order_relaxed);
}

#endif
