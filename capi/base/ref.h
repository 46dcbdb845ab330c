/* Reference counts with a release function: the first member of every counted object. Objects that
 * a release function drops in turn wait on a list of the thread for the outermost release, so that
 * long chains of objects cause no recursion. */
#ifndef MXL_BASE_REF_H
#define MXL_BASE_REF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/system/single.h"

typedef struct mxl_ref {
    atomic_int count;
    atomic_uint note; /* for the object's own use: a storage's last writer */
    void (*release)(
        struct mxl_ref *self); /* called once, at zero: releases its members, frees itself */
    struct mxl_ref *next;      /* used only while waiting for release */
} mxl_ref;

static inline void mxl_ref_init(mxl_ref *ref, void (*release)(mxl_ref *))
{
    atomic_init(&ref->count, 1);
    atomic_init(&ref->note, 0);
    ref->release = release;
}

static inline void mxl_ref_retain(mxl_ref *ref)
{
    if (mxl_single_thread())
        atomic_store_explicit(&ref->count,
                              atomic_load_explicit(&ref->count, memory_order_relaxed) + 1,
                              memory_order_relaxed);
    else
        atomic_fetch_add_explicit(&ref->count, 1, memory_order_relaxed);
}

/* True when the caller holds the only reference. */
static inline bool mxl_ref_is_unique(const mxl_ref *ref)
{
    return atomic_load_explicit(&((mxl_ref *)(size_t)ref)->count, memory_order_acquire) == 1;
}

/* Releases an object whose count reached zero, now or when the outermost release of this thread
 * gets to it. */
void mxl_ref_last_released(mxl_ref *ref);

/* Drops one reference; NULL is legal. */
static inline void mxl_ref_release(mxl_ref *ref)
{
    if (ref == NULL)
        return;
    /* With one reference no other thread can change the count, so no locked instruction is needed.
     */
    if (mxl_ref_is_unique(ref) ||
        atomic_fetch_sub_explicit(&ref->count, 1, memory_order_acq_rel) == 1)
        mxl_ref_last_released(ref);
}

#endif
