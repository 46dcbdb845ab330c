/* Where there are no threads: locks only remember that they are held, and no thread is started. At
 * the end, what other systems lack too. */
#include "base/system/processors.h"

#if defined(MXL_NO_THREADS)
void mxl_mutex_init(mxl_mutex *mutex)
{
    mutex->held = false;
}

void mxl_mutex_destroy(mxl_mutex *mutex)
{
    (void)mutex;
}

void mxl_mutex_lock(mxl_mutex *mutex)
{
    mutex->held = true;
}

bool mxl_mutex_try(mxl_mutex *mutex)
{
    if (mutex->held)
        return false;
    mutex->held = true;
    return true;
}

void mxl_mutex_unlock(mxl_mutex *mutex)
{
    mutex->held = false;
}

void mxl_cond_destroy(mxl_cond *cond)
{
    (void)cond;
}

/* Nobody else could make true what is waited for: callers find it true already. */
void mxl_cond_wait(mxl_cond *cond, mxl_mutex *mutex)
{
    (void)cond;
    (void)mutex;
}

void mxl_cond_signal(mxl_cond *cond)
{
    (void)cond;
}

void mxl_cond_broadcast(mxl_cond *cond)
{
    (void)cond;
}

void mxl_once(mxl_once_flag *flag, void (*run)(void))
{
    if (*flag)
        return;
    *flag = true;
    run();
}

void mxl_thread_yield(void) {}

bool mxl_thread_start(mxl_thread *thread, size_t stack, void *(*run)(void *), void *data)
{
    (void)thread;
    (void)stack;
    (void)run;
    (void)data;
    return false;
}

void mxl_thread_join(mxl_thread thread)
{
    (void)thread;
}

void mxl_thread_detach(mxl_thread thread)
{
    (void)thread;
}

/* The only thread ends with the process, whose memory needs no release. */
bool mxl_thread_key_make(mxl_thread_key *key, void (*end)(void *value))
{
    *key = 0;
    (void)end;
    return true;
}

bool mxl_thread_key_set(mxl_thread_key key, void *value)
{
    (void)key;
    (void)value;
    return true;
}

int mxl_processors(void)
{
    return 1;
}
#endif

/* ---- where there are no signals and forks, or no way to choose processors ---- */

#if defined(MXL_NO_THREADS) || defined(MXL_WINDOWS)
void mxl_signals_block(mxl_signals *before)
{
    *before = 0;
}

void mxl_signals_restore(const mxl_signals *before)
{
    (void)before;
}

bool mxl_system_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    (void)prepare;
    (void)parent;
    (void)child;
    return true;
}
#endif

#if defined(MXL_NO_THREADS) || !defined(__linux__)
bool mxl_processors_allowed(mxl_processor_set *allowed)
{
    (void)allowed;
    return false;
}

bool mxl_processors_but_here(const mxl_processor_set *set, mxl_processor_set *others)
{
    (void)set;
    (void)others;
    return false;
}

bool mxl_processors_bind(const mxl_thread *thread, const mxl_processor_set *set)
{
    (void)thread;
    (void)set;
    return false;
}
#endif
