/* Threads, locks and calls made once. */
#ifndef MXL_BASE_SYSTEM_THREADS_H
#define MXL_BASE_SYSTEM_THREADS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/system/system.h"

#if defined(MXL_NO_THREADS)
typedef struct mxl_mutex {
    bool held;
} mxl_mutex;
typedef struct mxl_cond {
    char unused;
} mxl_cond;
typedef bool mxl_once_flag;
typedef int mxl_thread;
typedef int mxl_thread_key;
typedef int mxl_signals;
#define MXL_MUTEX_INIT {false}
#define MXL_COND_INIT  {0}
#define MXL_ONCE_INIT  false
#elif defined(MXL_WINDOWS)
/* An SRWLOCK, a CONDITION_VARIABLE and an INIT_ONCE, each a pointer that begins as NULL. */
typedef struct mxl_mutex {
    void *word;
} mxl_mutex;
typedef struct mxl_cond {
    void *word;
} mxl_cond;
typedef struct mxl_once_flag {
    void *word;
} mxl_once_flag;
typedef void *mxl_thread;
typedef unsigned long mxl_thread_key;
typedef int mxl_signals;
#define MXL_MUTEX_INIT {NULL}
#define MXL_COND_INIT  {NULL}
#define MXL_ONCE_INIT  {NULL}
#else
#include <pthread.h>
#include <signal.h>
typedef pthread_mutex_t mxl_mutex;
typedef pthread_cond_t mxl_cond;
typedef pthread_once_t mxl_once_flag;
typedef pthread_t mxl_thread;
typedef pthread_key_t mxl_thread_key;
typedef sigset_t mxl_signals;
#define MXL_MUTEX_INIT PTHREAD_MUTEX_INITIALIZER
#define MXL_COND_INIT  PTHREAD_COND_INITIALIZER
#define MXL_ONCE_INIT  PTHREAD_ONCE_INIT
#endif

void mxl_mutex_init(mxl_mutex *mutex);
void mxl_mutex_destroy(mxl_mutex *mutex);
void mxl_mutex_lock(mxl_mutex *mutex);
/* False: another thread, or this one, holds it. */
bool mxl_mutex_try(mxl_mutex *mutex);
void mxl_mutex_unlock(mxl_mutex *mutex);

void mxl_cond_destroy(mxl_cond *cond);
void mxl_cond_wait(mxl_cond *cond, mxl_mutex *mutex);
void mxl_cond_signal(mxl_cond *cond);
void mxl_cond_broadcast(mxl_cond *cond);

void mxl_once(mxl_once_flag *flag, void (*run)(void));

/* Lets another thread run. */
void mxl_thread_yield(void);

/* Starts a thread with a stack of at least `stack` bytes, or of the system's size for 0. False: the
 * system gives none. The caller joins or detaches it. */
bool mxl_thread_start(mxl_thread *thread, size_t stack, void *(*run)(void *), void *data);
void mxl_thread_join(mxl_thread thread);
void mxl_thread_detach(mxl_thread thread);

/* Threads that are started in between get no signals: the program's own threads handle them. */
void mxl_signals_block(mxl_signals *before);
void mxl_signals_restore(const mxl_signals *before);

/* A value for each thread. A thread that ends calls `end` with its value, if that is not NULL; so
 * the library that has `end` stays in the process. False: the process has no key left, or no
 * memory. */
bool mxl_thread_key_make(mxl_thread_key *key, void (*end)(void *value));
bool mxl_thread_key_set(mxl_thread_key key, void *value);

/* Calls these around each fork from now on: before it, then after it in the parent and in the
 * child. False: there is no memory. */
bool mxl_system_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void));

#endif
