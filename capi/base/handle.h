/* Handles: the numbers that callers hold instead of pointers. One integer of kind, slot and
 * generation, odd and below 2^53. A stale, foreign or random handle is detected in constant time
 * without a lock, even while another thread frees it. */
#ifndef MXL_BASE_HANDLE_H
#define MXL_BASE_HANDLE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/ref.h"
#include "base/system/single.h"
#include "base/state.h"

typedef enum mxl_kind {
    MXL_KIND_NONE,
    MXL_KIND_ARRAY,
    MXL_KIND_OP,   /* not counted: the slot number is the operator's number */
    MXL_KIND_CALL, /* prepared calls */
    MXL_KIND_NODE,
    MXL_KIND_HOOK,
    MXL_KIND_PROFILE,
    MXL_KIND_SYMBOL,
    MXL_KIND_CACHED_OP,
    MXL_KIND_EXECUTOR,
    MXL_KIND_STORE,    /* key-value stores */
    MXL_KIND_RECORD,   /* readers and writers of record files */
    MXL_KIND_ITERATOR, /* data iterators; and their makers, not counted: api/data/iterators.c */
    MXL_KIND_PREDICTOR,
    MXL_KIND_LIST,   /* arrays of a file */
    MXL_KIND_OBJECT, /* of packed functions */
    MXL_KIND_COUNT   /* at most 16 */
} mxl_kind;

/* The bits of a handle, from the lowest: 1 that is always set, 4 of kind, 26 of slot, 22 of
 * generation. Where pointers, in which callers hold handles, have 32 bits: 20 of slot, 7 of
 * generation, which begin again after the last. */
enum {
    MXL_HANDLE_SLOT_AT = 5,
    MXL_HANDLE_SLOT_BITS = sizeof(void *) < 8 ? 20 : 26,
    MXL_HANDLE_GENERATION_AT = MXL_HANDLE_SLOT_AT + MXL_HANDLE_SLOT_BITS,
    MXL_HANDLE_GENERATION_LAST = (1 << (sizeof(void *) < 8 ? 7 : 22)) - 1,
    MXL_HANDLE_KIND_MASK = (1 << MXL_HANDLE_SLOT_AT) - 1, /* kind, and the bit that is set */
    MXL_HANDLE_WORD_AT = 32 + MXL_HANDLE_SLOT_AT, /* of the generation in the word of a slot */
    MXL_HANDLE_CHUNK_BITS = 12,                   /* slots are allocated 4096 at a time */
    MXL_HANDLE_CHUNKS = 1 << (MXL_HANDLE_SLOT_BITS - MXL_HANDLE_CHUNK_BITS)
};

/* One slot. The upper half of `word` is generation, kind and a bit that is set while the slot is
 * open, in a layout that one comparison checks against a handle. The lower half counts pins. */
typedef struct mxl_handle_slot {
    _Atomic uint64_t word;
    union {
        mxl_ref *object; /* while open or pinned */
        uint32_t next;   /* while free */
    } u;
} mxl_handle_slot;

/* Chunks of slots, allocated on demand and never freed. */
extern _Atomic(mxl_handle_slot *) mxl_handle_chunks[MXL_HANDLE_CHUNKS];

/* A new handle. Takes over the caller's reference to `object`. 0 with the error set; then the
 * reference stays with the caller. */
uint64_t mxl_handle_new(mxl_kind kind, mxl_ref *object);

/* The slow path of mxl_handle_pin: sets the error for an invalid handle. Returns NULL. */
mxl_ref *mxl_handle_refuse(mxl_kind kind, uint64_t handle);
/* The slow path of mxl_handle_unpin: releases the object of a closed slot without pins. */
void mxl_handle_finish(uint64_t handle);

static inline mxl_handle_slot *mxl_handle_find(uint64_t handle)
{
    uint32_t slot = (uint32_t)(handle >> MXL_HANDLE_SLOT_AT) & ((1u << MXL_HANDLE_SLOT_BITS) - 1);
    mxl_handle_slot *chunk = atomic_load_explicit(&mxl_handle_chunks[slot >> MXL_HANDLE_CHUNK_BITS],
                                                  memory_order_acquire);

    return chunk != NULL ? chunk + (slot & ((1u << MXL_HANDLE_CHUNK_BITS) - 1)) : NULL;
}

/* The upper half that the word of a handle's open slot has. No slot's word matches a handle of 2^53
 * or more, whose tag does not fit. */
static inline uint64_t mxl_handle_tag(uint64_t handle)
{
    return (handle >> MXL_HANDLE_GENERATION_AT) << MXL_HANDLE_SLOT_AT |
           (handle & MXL_HANDLE_KIND_MASK);
}

/* Pins and returns the object (borrowed until mxl_handle_unpin), or NULL with the error set: "NULL
 * where an array handle was expected", "... was never given out", "... is a handle of an operator,
 * an array was expected", "invalid array handle ...: it has been freed". */
static inline mxl_ref *mxl_handle_pin(mxl_kind kind, uint64_t handle)
{
    mxl_handle_slot *slot = mxl_handle_find(handle);

    if (slot != NULL && (handle & MXL_HANDLE_KIND_MASK) == ((uint64_t)kind << 1 | 1)) {
        uint64_t tag = mxl_handle_tag(handle);
        uint64_t word = atomic_load_explicit(&slot->word, memory_order_relaxed);

        if (mxl_single_thread() && word >> 32 == tag) {
            atomic_store_explicit(&slot->word, word + 1, memory_order_relaxed);
            return slot->u.object;
        }
        while (word >> 32 == tag)
            if (atomic_compare_exchange_weak_explicit(&slot->word, &word, word + 1,
                                                      memory_order_acquire, memory_order_relaxed))
                return slot->u.object;
    }
    return mxl_handle_refuse(kind, handle);
}

/* Ends a pin. If the handle was freed meanwhile, the last unpin releases the object. */
static inline void mxl_handle_unpin(uint64_t handle)
{
    mxl_handle_slot *slot = mxl_handle_find(handle);
    uint64_t word;

    if (mxl_single_thread()) {
        word = atomic_load_explicit(&slot->word, memory_order_relaxed);
        atomic_store_explicit(&slot->word, word - 1, memory_order_relaxed);
    } else {
        word = atomic_fetch_sub_explicit(&slot->word, 1, memory_order_acq_rel);
    }
    if ((word & (UINT64_C(1) << 32)) == 0 && (uint32_t)word == 1)
        mxl_handle_finish(handle);
}

/* Closes the handle and releases its reference once no pin is left. 0 (NULL) is legal. -1 with the
 * error set for anything but a live handle of the kind. */
int mxl_handle_free(mxl_kind kind, uint64_t handle);

/* Uncounted handles of permanent objects: converts a number (below the limit of slots) to a handle
 * and back. -1 with the error set when `handle` is of another kind or its number is not below
 * `count`. */
uint64_t mxl_handle_permanent(mxl_kind kind, uint32_t number);
int64_t mxl_handle_number(mxl_kind kind, uint64_t handle, uint32_t count);

/* The number of live counted handles, over all threads. */
int64_t mxl_handle_live(void);

/* For tests: moves a live handle's slot to its last generation. Returns the new handle. */
uint64_t mxl_handle_age(uint64_t handle);

/* For state.c: takes an ending thread's free slots; locks the table over a fork. */
void mxl_handle_state_end(mxl_state *state);
void mxl_handle_fork_lock(void);
void mxl_handle_fork_unlock(void);

#endif
