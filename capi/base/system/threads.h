/* Threads, locks and calls made once: POSIX threads under names of our own. */
#ifndef MXL_BASE_SYSTEM_THREADS_H
#define MXL_BASE_SYSTEM_THREADS_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

typedef pthread_mutex_t mxl_mutex;
typedef pthread_cond_t mxl_cond;
typedef pthread_once_t mxl_once_flag;
typedef pthread_t mxl_thread;
typedef pthread_key_t mxl_thread_key;
typedef sigset_t mxl_signals;

#define MXL_MUTEX_INIT PTHREAD_MUTEX_INITIALIZER
#define MXL_COND_INIT  PTHREAD_COND_INITIALIZER
#define MXL_ONCE_INIT  PTHREAD_ONCE_INIT

static inline void mxl_mutex_init(mxl_mutex *mutex)
{
    (void)pthread_mutex_init(mutex, NULL);
}

static inline void mxl_mutex_destroy(mxl_mutex *mutex)
{
    (void)pthread_mutex_destroy(mutex);
}

static inline void mxl_mutex_lock(mxl_mutex *mutex)
{
    (void)pthread_mutex_lock(mutex);
}

/* False: another thread, or this one, holds it. */
static inline bool mxl_mutex_try(mxl_mutex *mutex)
{
    return pthread_mutex_trylock(mutex) == 0;
}

static inline void mxl_mutex_unlock(mxl_mutex *mutex)
{
    (void)pthread_mutex_unlock(mutex);
}

static inline void mxl_cond_destroy(mxl_cond *cond)
{
    (void)pthread_cond_destroy(cond);
}

static inline void mxl_cond_wait(mxl_cond *cond, mxl_mutex *mutex)
{
    (void)pthread_cond_wait(cond, mutex);
}

static inline void mxl_cond_signal(mxl_cond *cond)
{
    (void)pthread_cond_signal(cond);
}

static inline void mxl_cond_broadcast(mxl_cond *cond)
{
    (void)pthread_cond_broadcast(cond);
}

static inline void mxl_once(mxl_once_flag *flag, void (*run)(void))
{
    (void)pthread_once(flag, run);
}

/* Lets another thread run. */
static inline void mxl_thread_yield(void)
{
    (void)sched_yield();
}

/* Starts a thread with a stack of at least `stack` bytes, or of the system's size for 0. False: the
 * system gives none. Each is joined or detached. */
bool mxl_thread_start(mxl_thread *thread, size_t stack, void *(*run)(void *), void *data);

static inline void mxl_thread_join(mxl_thread thread)
{
    (void)pthread_join(thread, NULL);
}

static inline void mxl_thread_detach(mxl_thread thread)
{
    (void)pthread_detach(thread);
}

/* Threads that are started in between get no signals: the program's own threads handle them. */
void mxl_signals_block(mxl_signals *before);
void mxl_signals_restore(const mxl_signals *before);

/* A value for each thread; `end` gets it when the thread ends, if it is not NULL. False: the
 * process has no key left, or no memory. */
static inline bool mxl_thread_key_make(mxl_thread_key *key, void (*end)(void *value))
{
    return pthread_key_create(key, end) == 0;
}

static inline bool mxl_thread_key_set(mxl_thread_key key, const void *value)
{
    return pthread_setspecific(key, value) == 0;
}

/* Calls these around each fork from now on: before it, then after it in the parent and in the
 * child. False: there is no memory. */
bool mxl_system_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void));

#endif
