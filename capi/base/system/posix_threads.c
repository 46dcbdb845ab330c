/* Threads and fork handlers of POSIX systems. */
#define _GNU_SOURCE 1 /* sigset_t */
#include "base/system/threads.h"

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

bool mxl_system_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    return pthread_atfork(prepare, parent, child) == 0;
}
