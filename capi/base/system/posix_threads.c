/* Threads, processors and fork handlers of POSIX systems. */
#define _GNU_SOURCE 1 /* sigset_t, sched_getaffinity */
#include "base/system/processors.h"

#if defined(MXL_POSIX) && !defined(MXL_NO_THREADS)
#include <sched.h>
#include <unistd.h>

void mxl_mutex_init(mxl_mutex *mutex)
{
    (void)pthread_mutex_init(mutex, NULL);
}

void mxl_mutex_destroy(mxl_mutex *mutex)
{
    (void)pthread_mutex_destroy(mutex);
}

void mxl_mutex_lock(mxl_mutex *mutex)
{
    (void)pthread_mutex_lock(mutex);
}

bool mxl_mutex_try(mxl_mutex *mutex)
{
    return pthread_mutex_trylock(mutex) == 0;
}

void mxl_mutex_unlock(mxl_mutex *mutex)
{
    (void)pthread_mutex_unlock(mutex);
}

void mxl_cond_destroy(mxl_cond *cond)
{
    (void)pthread_cond_destroy(cond);
}

void mxl_cond_wait(mxl_cond *cond, mxl_mutex *mutex)
{
    (void)pthread_cond_wait(cond, mutex);
}

void mxl_cond_signal(mxl_cond *cond)
{
    (void)pthread_cond_signal(cond);
}

void mxl_cond_broadcast(mxl_cond *cond)
{
    (void)pthread_cond_broadcast(cond);
}

void mxl_once(mxl_once_flag *flag, void (*run)(void))
{
    (void)pthread_once(flag, run);
}

void mxl_thread_yield(void)
{
    (void)sched_yield();
}

bool mxl_thread_start(mxl_thread *thread, size_t stack, void *(*run)(void *), void *data)
{
    pthread_attr_t attributes;
    bool started;

    if (stack == 0)
        return pthread_create(thread, NULL, run, data) == 0;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    started = pthread_attr_setstacksize(&attributes, stack) == 0 &&
              pthread_create(thread, &attributes, run, data) == 0;
    (void)pthread_attr_destroy(&attributes);
    return started;
}

void mxl_thread_join(mxl_thread thread)
{
    (void)pthread_join(thread, NULL);
}

void mxl_thread_detach(mxl_thread thread)
{
    (void)pthread_detach(thread);
}

void mxl_signals_block(mxl_signals *before)
{
    mxl_signals every;

    (void)sigfillset(&every);
    (void)pthread_sigmask(SIG_SETMASK, &every, before);
}

void mxl_signals_restore(const mxl_signals *before)
{
    (void)pthread_sigmask(SIG_SETMASK, before, NULL);
}

bool mxl_thread_key_make(mxl_thread_key *key, void (*end)(void *value))
{
    return pthread_key_create(key, end) == 0;
}

bool mxl_thread_key_set(mxl_thread_key key, void *value)
{
    return pthread_setspecific(key, value) == 0;
}

bool mxl_system_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    return pthread_atfork(prepare, parent, child) == 0;
}

/* ---- processors ---- */

#if defined(__linux__)
_Static_assert(sizeof(mxl_processor_set) == sizeof(cpu_set_t), "a set has the system's size");

static cpu_set_t *system_set(mxl_processor_set *set)
{
    return (cpu_set_t *)(void *)set->words;
}

bool mxl_processors_allowed(mxl_processor_set *allowed)
{
    return sched_getaffinity(0, sizeof(*allowed), system_set(allowed)) == 0;
}

bool mxl_processors_but_here(const mxl_processor_set *set, mxl_processor_set *others)
{
    int here = sched_getcpu();

    if (here < 0)
        return false;
    *others = *set;
    CPU_CLR((unsigned)here, system_set(others));
    return CPU_COUNT(system_set(others)) > 0;
}

bool mxl_processors_bind(const mxl_thread *thread, const mxl_processor_set *set)
{
    mxl_processor_set copy = *set;

    return thread == NULL ? sched_setaffinity(0, sizeof(copy), system_set(&copy)) == 0
                          : pthread_setaffinity_np(*thread, sizeof(copy), system_set(&copy)) == 0;
}
#endif

int mxl_processors(void)
{
    mxl_processor_set set;
    int found = 0;

    if (mxl_processors_allowed(&set)) {
        for (int i = 0; i < 16; i++)
            found += __builtin_popcountll(set.words[i]);
    }
    if (found < 1)
        found = (int)sysconf(_SC_NPROCESSORS_ONLN);
    return found < 1 ? 1 : found;
}
#endif
