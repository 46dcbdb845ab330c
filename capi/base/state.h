/* The state of one thread: error text, flags, block caches, return buffers. A thread-local pointer
 * leads to it. It is made at the thread's first call and freed with the thread. */
#ifndef MXL_BASE_STATE_H
#define MXL_BASE_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MXL_ERROR_TEXT = 2048,  /* bytes of the last error, with the terminating zero */
    MXL_BLOCK_CLASSES = 16, /* cached block sizes: 64, 128, ..., 1024 bytes */
    MXL_STATE_SLOTS = 24    /* used by upper layers, see below */
};

/* A stack of free blocks of one size; each block's first word points to the next. */
typedef struct mxl_block_cache {
    void *top;
    int room; /* how many more blocks it may take; 0 while freed blocks are not cached */
} mxl_block_cache;

/* The maps over batches that a thread runs functions in (engine/batch/batch.h), innermost last. */
enum { MXL_BATCH_LEVELS = 16 };

/* What random operators do in one. */
typedef enum mxl_randomness {
    MXL_RANDOM_ERROR,
    MXL_RANDOM_DIFFERENT,
    MXL_RANDOM_SAME
} mxl_randomness;

typedef struct mxl_batch_levels {
    int open;
    uint8_t randomness[MXL_BATCH_LEVELS]; /* an mxl_randomness */
    int64_t size[MXL_BATCH_LEVELS];
} mxl_batch_levels;

typedef struct mxl_state {
    bool recording;
    bool training;
    bool numpy_shape;
    bool follow_edits;       /* MXNet's front end: edits in place are followed while recording */
    bool grad_off;           /* PyTorch's front end: grad mode is off; it is on at the start */
    bool inference;          /* PyTorch's front end: new storages are of inference arrays */
    uint8_t watch;           /* which hooks see recorded nodes: MXL_WATCH_*, 0 in a pause */
    bool record_hook_paused; /* engine/tape/record_hooks.h */
    bool in_operator;        /* the profiler: an operator is being measured */
    const char *custom;      /* the profiler: the name of the program's operator that runs, NULL */
    uint8_t anomaly;         /* what backward checks for: 0 nothing, 1 NaN, 2 infinities too */
    int bulk_size; /* the most element-wise calls that run together (array/expression.h) */
    uint32_t profile_thread; /* this thread's number in traces; 0: none yet */
    int64_t span_inner;      /* nanoseconds of spans within the one that is under way */
    uint32_t free_slot; /* first of a chain of handle slots cached for this thread, 0 for none */
    int free_slots;
    _Atomic int64_t live_bytes;   /* allocated minus freed by this thread; others read it */
    _Atomic int64_t live_handles; /* handles made minus handles freed by this thread */
    mxl_block_cache blocks[MXL_BLOCK_CLASSES];
    void *slots[MXL_STATE_SLOTS];
    void (*slot_free[MXL_STATE_SLOTS])(void *); /* called when the thread ends */
    const struct mxl_state *origin; /* the thread whose work this one continues; NULL: none */
    struct mxl_state *next, *prev;  /* all threads' states, under a lock */
    mxl_batch_levels batch;
    char error[MXL_ERROR_TEXT];
} mxl_state;

/* The owners of slots[]. */
enum {
    MXL_SLOT_RETURN_FIRST = 0, /* api/common: one growable buffer per kind */
    MXL_SLOT_RETURN_LAST = 15,
    MXL_SLOT_SAVED_HOOKS = 16, /* engine/tape/saved_hooks.h */
    MXL_SLOT_RECORD_HOOK = 17, /* engine/tape/record_hooks.h */
    MXL_SLOT_ANOMALY = 18      /* engine/tape/anomaly.h */
};

enum { MXL_WATCH_SAVED = 1, MXL_WATCH_RECORD = 2 };

enum { MXL_BULK_SIZE = 24 }; /* a thread's first bulk_size */

/* initial-exec: one load from the thread register instead of a call, however the file is compiled.
 * glibc keeps room for such variables of libraries that are opened later, others do not. */
#if defined(__GLIBC__)
#define MXL_TLS_FAST __attribute__((tls_model("initial-exec")))
#else
#define MXL_TLS_FAST
#endif

/* NULL until the thread's first call, and if its state could not be allocated. Only the inline
 * paths of mem.h and handle.h read it. No other thread writes to the state. */
extern _Thread_local mxl_state *mxl_state_here MXL_TLS_FAST;

/* Makes the state of this thread. Never NULL: without memory it returns a shared static emergency
 * state with all flags off; mxl_state_here stays NULL then, and the next call tries again. */
mxl_state *mxl_state_make(void);

/* The calling thread's state. */
static inline mxl_state *mxl_state_get(void)
{
    mxl_state *state = mxl_state_here;
    return state != NULL ? state : mxl_state_make();
}

/* For a thread that continues the work of another, waiting one. mxl_state_lend copies the other's
 * flags and hooks; mxl_state_return copies changed hooks back. */
void mxl_state_lend(mxl_state *to, mxl_state *from);
void mxl_state_return(mxl_state *to, mxl_state *from);

/* Frees what upper layers keep in slots[] of this thread, as at its end. */
void mxl_state_clear_slots(void);

/* Adds to a counter that one thread writes and others read, without a locked instruction. */
static inline void mxl_count_add(_Atomic int64_t *counter, int64_t n)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

/* The counts of ended threads and of threads without a state. */
extern _Atomic int64_t mxl_state_rest_bytes;
extern _Atomic int64_t mxl_state_rest_handles;

/* The sums over all threads, ended ones too. Exact while no other thread allocates or frees. */
void mxl_state_sums(int64_t *bytes, int64_t *handles);

/* Calls `visit` with every thread's state, under the lock. Only for times when no other thread is
 * in the library. */
void mxl_state_each(void (*visit)(mxl_state *state));

/* Zeroed memory from the system for objects that outlive any allocator (states, handle slots). It
 * does not count as live. NULL, without an error set, if there is none. Freed, if at all, with
 * free(). */
void *mxl_state_system_memory(size_t bytes);

/* For tests: true makes mxl_state_system_memory fail. */
extern atomic_bool mxl_state_system_fails;

#endif
