/* Per-thread state: made at a thread's first call, freed by a key's destructor at its end.
 * All locks of base that matter to a fork are taken and released here, in one order. */
#include "base/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/handle.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "base/system/threads.h"

_Thread_local mxl_state *mxl_state_here;

_Atomic int64_t mxl_state_rest_bytes;
_Atomic int64_t mxl_state_rest_handles;
atomic_bool mxl_state_system_fails;

static mxl_once_flag once = MXL_ONCE_INIT;
static mxl_thread_key key;
static bool key_made;

static mxl_mutex lock = MXL_MUTEX_INIT;
static mxl_state *all; /* under `lock` */

static mxl_state emergency;
static _Thread_local bool in_emergency; /* this thread's last error may be in `emergency` */

void *mxl_state_system_memory(size_t bytes)
{
    if (atomic_load_explicit(&mxl_state_system_fails, memory_order_relaxed))
        return NULL;
    return calloc(1, bytes);
}

static void free_slots(mxl_state *state)
{
    for (int i = 0; i < MXL_STATE_SLOTS; i++) {
        void *slot = state->slots[i];

        state->slots[i] = NULL;
        if (slot != NULL && state->slot_free[i] != NULL)
            state->slot_free[i](slot);
    }
}

static const int lent[] = {MXL_SLOT_SAVED_HOOKS, MXL_SLOT_RECORD_HOOK, MXL_SLOT_ANOMALY};

static void move_slots(mxl_state *to, mxl_state *from)
{
    for (size_t i = 0; i < sizeof(lent) / sizeof(*lent); i++) {
        to->slots[lent[i]] = from->slots[lent[i]];
        to->slot_free[lent[i]] = from->slot_free[lent[i]];
        from->slots[lent[i]] = NULL;
    }
    to->watch = from->watch;
    to->record_hook_paused = from->record_hook_paused;
    to->anomaly = from->anomaly;
}

void mxl_state_lend(mxl_state *to, mxl_state *from)
{
    to->recording = from->recording;
    to->training = from->training;
    to->numpy_shape = from->numpy_shape;
    to->follow_edits = from->follow_edits;
    to->grad_off = from->grad_off;
    to->inference = from->inference;
    to->bulk_size = from->bulk_size;
    to->origin = from->origin != NULL ? from->origin : from;
    move_slots(to, from);
}

void mxl_state_return(mxl_state *to, mxl_state *from)
{
    move_slots(from, to);
}

void mxl_state_clear_slots(void)
{
    if (mxl_state_here != NULL)
        free_slots(mxl_state_here);
}

static void end_thread(void *data)
{
    mxl_state *state = data;

    free_slots(state);
    mxl_mem_state_end(state);
    mxl_handle_state_end(state);
    mxl_state_here = NULL;
    mxl_mutex_lock(&lock);
    if (state->prev != NULL)
        state->prev->next = state->next;
    else
        all = state->next;
    if (state->next != NULL)
        state->next->prev = state->prev;
    /* Under the lock, so that no sum counts the thread twice or misses it. */
    atomic_fetch_add(&mxl_state_rest_bytes, atomic_load(&state->live_bytes));
    atomic_fetch_add(&mxl_state_rest_handles, atomic_load(&state->live_handles));
    mxl_mutex_unlock(&lock);
    free(state);
}

static void fork_prepare(void)
{
    mxl_thread_fork_prepare();
    mxl_mutex_lock(&lock);
    mxl_handle_fork_lock();
    mxl_mem_fork_lock();
}

static void fork_parent(void)
{
    mxl_mem_fork_unlock();
    mxl_handle_fork_unlock();
    mxl_mutex_unlock(&lock);
}

static void fork_child(void)
{
    fork_parent();
    mxl_thread_fork_child();
}

static void start(void)
{
    key_made = mxl_thread_key_make(&key, end_thread);
}

__attribute__((constructor)) static void guard_forks(void)
{
    mxl_fork_guard(MXL_FORK_STATE, fork_prepare, fork_parent, fork_child);
}

static mxl_state *use_emergency(void)
{
    emergency.recording = emergency.training = emergency.numpy_shape = false;
    emergency.bulk_size = 0;
    in_emergency = true;
    return &emergency;
}

mxl_state *mxl_state_make(void)
{
    mxl_state *state;

    mxl_once(&once, start);
    state = mxl_state_system_memory(sizeof *state);
    if (state == NULL)
        return use_emergency();
    /* Without a key (a process may run out of them) the state works, but is not freed with its
     * thread. */
    if (key_made && !mxl_thread_key_set(key, state)) {
        free(state);
        return use_emergency();
    }
    state->bulk_size = MXL_BULK_SIZE;
    mxl_mem_state_begin(state);
    if (in_emergency)
        memcpy(state->error, emergency.error, sizeof state->error);
    in_emergency = false;
    mxl_mutex_lock(&lock);
    state->next = all;
    if (all != NULL)
        all->prev = state;
    all = state;
    mxl_mutex_unlock(&lock);
    mxl_state_here = state;
    return state;
}

void mxl_state_sums(int64_t *bytes, int64_t *handles)
{
    mxl_mutex_lock(&lock);
    *bytes = atomic_load(&mxl_state_rest_bytes);
    *handles = atomic_load(&mxl_state_rest_handles);
    for (mxl_state *state = all; state != NULL; state = state->next) {
        *bytes += atomic_load_explicit(&state->live_bytes, memory_order_relaxed);
        *handles += atomic_load_explicit(&state->live_handles, memory_order_relaxed);
    }
    mxl_mutex_unlock(&lock);
}

void mxl_state_each(void (*visit)(mxl_state *state))
{
    mxl_mutex_lock(&lock);
    for (mxl_state *state = all; state != NULL; state = state->next)
        visit(state);
    mxl_mutex_unlock(&lock);
}
