/* The handle table. Slots lie in chunks that are never freed. Each thread has a chain of free slots
 * and moves batches of them from and to a shared list. */
#include "base/handle.h"

#include "base/error.h"
#include "base/system/threads.h"

enum {
    SLOT_LIMIT = 1 << MXL_HANDLE_SLOT_BITS,
    CHUNK_SLOTS = 1 << MXL_HANDLE_CHUNK_BITS,
    KIND_MASK = MXL_HANDLE_KIND_MASK >> 1,
    BATCH = 64,          /* slots that a thread takes or returns at once */
    GENERATION_FIRST = 1 /* small integers are never handles */
};

_Atomic(mxl_handle_slot *) mxl_handle_chunks[MXL_HANDLE_CHUNKS];

static mxl_mutex lock = MXL_MUTEX_INIT;
static uint32_t shared_free; /* a chain of free slots; under `lock` */
static uint32_t fresh = 1;   /* slots from this one on were never used; under `lock` */

static const char *const kind_name[MXL_KIND_COUNT] = {"thing",
                                                      "array",
                                                      "operator",
                                                      "prepared call",
                                                      "node",
                                                      "hook",
                                                      "profiler",
                                                      "symbol",
                                                      "cached operator",
                                                      "executor",
                                                      "key-value store",
                                                      "record file",
                                                      "data iterator",
                                                      "predictor",
                                                      "list of arrays",
                                                      "packed object"};
static const char *const kind_article[MXL_KIND_COUNT] = {"a", "an", "an", "a", "a", "a", "a", "a",
                                                         "a", "an", "a",  "a", "a", "a", "a", "a"};

static mxl_handle_slot *slot_at(uint32_t number)
{
    return mxl_handle_find((uint64_t)number << MXL_HANDLE_SLOT_AT);
}

static void count_live(mxl_state *state, int64_t n)
{
    if (state != NULL)
        mxl_count_add(&state->live_handles, n);
    else
        atomic_fetch_add_explicit(&mxl_state_rest_handles, n, memory_order_relaxed);
}

/* Prepares a slot that was never used; 0 if there is none. Called with the lock held. */
static uint32_t held_fresh(void)
{
    _Atomic(mxl_handle_slot *) *edge = &mxl_handle_chunks[fresh >> MXL_HANDLE_CHUNK_BITS];
    mxl_handle_slot *slot;

    if (fresh >= SLOT_LIMIT)
        return 0;
    if (atomic_load_explicit(edge, memory_order_relaxed) == NULL) {
        mxl_handle_slot *chunk = mxl_state_system_memory(CHUNK_SLOTS * sizeof *chunk);

        if (chunk == NULL)
            return 0;
        atomic_store_explicit(edge, chunk, memory_order_release);
    }
    slot = slot_at(fresh);
    atomic_store_explicit(&slot->word, (uint64_t)GENERATION_FIRST << MXL_HANDLE_WORD_AT,
                          memory_order_relaxed);
    return fresh++;
}

/* Takes up to `want` slots as a chain. Returns their number. */
static int take_shared(int want, uint32_t *chain)
{
    int count = 0;

    *chain = 0;
    mxl_mutex_lock(&lock);
    while (count < want) {
        uint32_t number = shared_free;

        if (number != 0)
            shared_free = slot_at(number)->u.next;
        else if ((number = held_fresh()) == 0)
            break;
        slot_at(number)->u.next = *chain;
        *chain = number;
        count++;
    }
    mxl_mutex_unlock(&lock);
    return count;
}

/* Puts a chain of slots on the shared list; `last` is its last slot. */
static void give_shared(uint32_t first, uint32_t last)
{
    mxl_mutex_lock(&lock);
    slot_at(last)->u.next = shared_free;
    shared_free = first;
    mxl_mutex_unlock(&lock);
}

/* A slot for a thread that has an empty chain or no state. 0 with the error set. */
static uint32_t take_slot(mxl_state *state)
{
    uint32_t number;
    int count = take_shared(state != NULL ? BATCH : 1, &number);

    if (count == 0) {
        mxl_error("out of memory: no room for a handle beside the %lld in use",
                  (long long)mxl_handle_live());
        return 0;
    }
    if (state != NULL) {
        state->free_slot = slot_at(number)->u.next;
        state->free_slots = count - 1;
    }
    return number;
}

uint64_t mxl_handle_new(mxl_kind kind, mxl_ref *object)
{
    mxl_state *state = mxl_state_here;
    mxl_handle_slot *slot;
    uint32_t number;
    uint64_t generation, tag;

    if (state == NULL) {
        (void)mxl_state_make();
        state = mxl_state_here;
    }
    if (state != NULL && state->free_slot != 0) {
        number = state->free_slot;
        slot = slot_at(number);
        state->free_slot = slot->u.next;
        state->free_slots--;
    } else {
        number = take_slot(state);
        if (number == 0)
            return 0;
        slot = slot_at(number);
    }
    generation = atomic_load_explicit(&slot->word, memory_order_relaxed) >> MXL_HANDLE_WORD_AT;
    tag = (uint64_t)kind << 1 | 1;
    slot->u.object = object;
    atomic_store_explicit(&slot->word, (generation << MXL_HANDLE_SLOT_AT | tag) << 32,
                          memory_order_release);
    count_live(state, 1);
    return generation << MXL_HANDLE_GENERATION_AT | (uint64_t)number << MXL_HANDLE_SLOT_AT | tag;
}

/* Returns a batch of a thread's free slots to the shared list. */
static void return_batch(mxl_state *state)
{
    uint32_t first = state->free_slot;
    uint32_t last = first;

    for (int i = 1; i < BATCH; i++)
        last = slot_at(last)->u.next;
    state->free_slot = slot_at(last)->u.next;
    state->free_slots -= BATCH;
    give_shared(first, last);
}

static inline void recycle(mxl_handle_slot *slot, uint32_t number, uint64_t generation)
{
    mxl_state *state = mxl_state_here;

    count_live(state, -1);
    if (generation == MXL_HANDLE_GENERATION_LAST) {
        /* The generations are used up. The slot stays closed for ever: a repeated generation would
         * make a stale handle valid. A handle of 32 bits has too few for that. */
        if (sizeof(void *) == 8)
            return;
        generation = GENERATION_FIRST - 1;
    }
    atomic_store_explicit(&slot->word, (generation + 1) << MXL_HANDLE_WORD_AT,
                          memory_order_relaxed);
    if (state == NULL) {
        give_shared(number, number);
        return;
    }
    slot->u.next = state->free_slot;
    state->free_slot = number;
    if (++state->free_slots >= 4 * BATCH)
        return_batch(state);
}

/* Releases the object of a closed slot without pins. */
static inline void finish(mxl_handle_slot *slot, uint64_t handle)
{
    uint32_t number = (uint32_t)(handle >> MXL_HANDLE_SLOT_AT) & (SLOT_LIMIT - 1);
    mxl_ref *object = slot->u.object;

    recycle(slot, number, handle >> MXL_HANDLE_GENERATION_AT);
    mxl_ref_release(object);
}

void mxl_handle_finish(uint64_t handle)
{
    finish(mxl_handle_find(handle), handle);
}

int mxl_handle_free(mxl_kind kind, uint64_t handle)
{
    mxl_handle_slot *slot = mxl_handle_find(handle);

    if (handle == 0)
        return 0;
    if (slot != NULL && (handle & MXL_HANDLE_KIND_MASK) == ((uint64_t)kind << 1 | 1)) {
        uint64_t tag = mxl_handle_tag(handle);
        uint64_t word = atomic_load_explicit(&slot->word, memory_order_relaxed);

        while (word >> 32 == tag) {
            uint64_t closed = word & ~(UINT64_C(1) << 32);

            if (mxl_single_thread())
                atomic_store_explicit(&slot->word, closed, memory_order_relaxed);
            else if (!atomic_compare_exchange_weak_explicit(
                         &slot->word, &word, closed, memory_order_acq_rel, memory_order_relaxed))
                continue;
            if ((uint32_t)word == 0)
                finish(slot, handle);
            return 0;
        }
    }
    (void)mxl_handle_refuse(kind, handle);
    return -1;
}

static bool was_given_out(uint64_t handle)
{
    mxl_handle_slot *slot = mxl_handle_find(handle);
    uint64_t generation = handle >> MXL_HANDLE_GENERATION_AT;
    uint64_t word;

    if (slot == NULL || generation < GENERATION_FIRST || generation > MXL_HANDLE_GENERATION_LAST)
        return false;
    word = atomic_load_explicit(&slot->word, memory_order_relaxed);
    /* A free slot's word has the generation of its next handle and kind 0. */
    return generation < word >> MXL_HANDLE_WORD_AT ||
           (generation == word >> MXL_HANDLE_WORD_AT && (word >> 33 & KIND_MASK) != 0);
}

mxl_ref *mxl_handle_refuse(mxl_kind kind, uint64_t handle)
{
    unsigned own = (unsigned)(handle >> 1 & KIND_MASK);
    unsigned long long value = (unsigned long long)handle;
    const char *name = kind_name[kind], *article = kind_article[kind];

    if (handle == 0)
        return mxl_error_null("NULL where %s %s handle was expected", article, name);
    if ((handle & 1) == 0 || own == MXL_KIND_NONE || own >= MXL_KIND_COUNT ||
        (own != MXL_KIND_OP && !was_given_out(handle)) ||
        (own == MXL_KIND_OP && handle >> MXL_HANDLE_GENERATION_AT != GENERATION_FIRST))
        return mxl_error_null("invalid %s handle 0x%llx: mxlite never gave it out", name, value);
    if (own != (unsigned)kind)
        return mxl_error_null("0x%llx is a handle of %s %s, %s %s was expected", value,
                              kind_article[own], kind_name[own], article, name);
    return mxl_error_null("invalid %s handle 0x%llx: it has been freed", name, value);
}

uint64_t mxl_handle_permanent(mxl_kind kind, uint32_t number)
{
    return (uint64_t)GENERATION_FIRST << MXL_HANDLE_GENERATION_AT |
           (uint64_t)number << MXL_HANDLE_SLOT_AT | (uint64_t)kind << 1 | 1;
}

int64_t mxl_handle_number(mxl_kind kind, uint64_t handle, uint32_t count)
{
    uint32_t number = (uint32_t)(handle >> MXL_HANDLE_SLOT_AT) & (SLOT_LIMIT - 1);

    if (number < count && handle == mxl_handle_permanent(kind, number))
        return number;
    if (handle == 0 || (handle >> 1 & KIND_MASK) != (uint64_t)kind)
        (void)mxl_handle_refuse(kind, handle);
    else
        mxl_error("invalid %s handle 0x%llx: mxlite never gave it out", kind_name[kind],
                  (unsigned long long)handle);
    return -1;
}

int64_t mxl_handle_live(void)
{
    int64_t bytes, handles;

    mxl_state_sums(&bytes, &handles);
    return handles;
}

uint64_t mxl_handle_age(uint64_t handle)
{
    mxl_handle_slot *slot = mxl_handle_find(handle);
    uint64_t rest = handle & ((UINT64_C(1) << MXL_HANDLE_GENERATION_AT) - 1);
    uint64_t aged = (uint64_t)MXL_HANDLE_GENERATION_LAST << MXL_HANDLE_GENERATION_AT | rest;

    atomic_store(&slot->word, mxl_handle_tag(aged) << 32);
    return aged;
}

void mxl_handle_state_end(mxl_state *state)
{
    uint32_t last = state->free_slot;

    if (last == 0)
        return;
    while (slot_at(last)->u.next != 0)
        last = slot_at(last)->u.next;
    give_shared(state->free_slot, last);
    state->free_slot = 0;
    state->free_slots = 0;
}

void mxl_handle_fork_lock(void)
{
    mxl_mutex_lock(&lock);
}

void mxl_handle_fork_unlock(void)
{
    mxl_mutex_unlock(&lock);
}
