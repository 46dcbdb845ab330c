/* Storages without bytes: let go, made once more by one thread while others wait. */
#include "array/remake.h"

#include <string.h>

#include "array/array.h"
#include "array/failure.h"
#include "base/fork.h"
#include "base/system/threads.h"

static mxl_mutex lock = MXL_MUTEX_INIT;
static mxl_cond ended = MXL_COND_INIT;
static int running; /* under the lock: how many are made now */

/* A child is forked while none is made: the thread that makes it would not exist there. */
static void fork_prepare(void)
{
    mxl_mutex_lock(&lock);
    while (running > 0)
        mxl_cond_wait(&ended, &lock);
}

static void fork_done(void)
{
    mxl_mutex_unlock(&lock);
}

static void fork_child(void)
{
    ended = (mxl_cond)MXL_COND_INIT;
    fork_done();
}

__attribute__((constructor)) static void start(void)
{
    mxl_fork_guard(MXL_FORK_REMAKES, fork_prepare, fork_done, fork_child);
}

/* ---- letting go ---- */

bool mxl_remake_later(mxl_storage *storage, mxl_remake *remake)
{
    mxl_extra *extra;

    if (storage->foreign != NULL || storage->bytes < MXL_OWN_BLOCK)
        return false;
    extra = mxl_storage_extra(storage);
    if (extra == NULL || atomic_load_explicit(&extra->exposed, memory_order_relaxed) ||
        atomic_load_explicit(&extra->waits, memory_order_acquire) || extra->parts != NULL ||
        atomic_load_explicit(&extra->share, memory_order_relaxed) != NULL ||
        atomic_load_explicit(&extra->failure, memory_order_relaxed) != NULL)
        return false;
    mxl_storage_reserve(storage);
    if (!extra->reserved)
        return false;
    mxl_ref_retain(&remake->ref);
    atomic_store_explicit(&extra->again, remake, memory_order_release);
    atomic_store_explicit(&extra->waits, true, memory_order_release);
    return true;
}

static int make_zeros(mxl_remake *remake, mxl_storage *storage)
{
    (void)remake;
    mxl_storage_commit(storage);
    memset(storage->data, 0, storage->bytes);
    return 0;
}

bool mxl_remake_zeros_later(mxl_storage *storage)
{
    /* Its first reference is the library's, which is never released. */
    static mxl_remake zeros = {.ref.count = 1, .make = make_zeros};

    return mxl_remake_later(storage, &zeros);
}

/* ---- making ---- */

/* The storage's remake, which this thread now runs; NULL: the bytes are there. */
static mxl_remake *begin(mxl_extra *extra)
{
    mxl_remake *remake;

    mxl_mutex_lock(&lock);
    while ((remake = atomic_load(&extra->again)) != NULL && extra->remaking)
        mxl_cond_wait(&ended, &lock);
    if (remake != NULL) {
        extra->remaking = true;
        running++;
    }
    mxl_mutex_unlock(&lock);
    return remake;
}

static void end(mxl_storage *storage, mxl_extra *extra, mxl_remake *remake, bool made)
{
    mxl_mutex_lock(&lock);
    extra->remaking = false;
    running--;
    if (made)
        atomic_store(&extra->again, NULL);
    mxl_cond_broadcast(&ended);
    mxl_mutex_unlock(&lock);
    if (made) {
        mxl_storage_note(storage);
        mxl_ref_release(&remake->ref);
    }
}

static int make(mxl_storage *storage, bool or_zeros)
{
    mxl_extra *extra = mxl_storage_extra(storage);
    mxl_remake *remake = begin(extra);
    int status;

    if (remake == NULL)
        return 0;
    status = remake->make(remake, storage);
    if (status != 0 && or_zeros)
        (void)make_zeros(remake, storage);
    end(storage, extra, remake, status == 0 || or_zeros);
    return status;
}

int mxl_remake_now(mxl_storage *storage)
{
    return mxl_storage_is_gone(storage) ? make(storage, false) : 0;
}

bool mxl_remake_exchange(mxl_storage *storage, mxl_storage *other)
{
    mxl_remake *remake = NULL;

    if (!mxl_storage_is_gone(storage))
        return mxl_storage_exchange(storage, other);
    if (storage->bytes == other->bytes && mxl_storage_is_exchangeable(other) &&
        mxl_storage_extra(other) != NULL)
        remake = begin(mxl_storage_extra(storage));
    if (remake == NULL)
        return false;
    mxl_storage_commit_from(storage, other);
    end(storage, mxl_storage_extra(storage), remake, true);
    return true;
}

void mxl_remake_settle(mxl_storage *storage)
{
    if (mxl_storage_is_gone(storage) && make(storage, true) != 0) {
        mxl_array all = {.storage = storage,
                         .dtype = MXL_U8,
                         .size = (int64_t)storage->bytes,
                         .contiguous = true};
        mxl_array *list = &all;

        (void)mxl_failure_keep(1, &list);
    }
}
