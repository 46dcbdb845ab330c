/* Calls that a forked process finds whole; see data/whole.h. */
#include "data/whole.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/fork.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held during a fork */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int running; /* calls */
static bool forking;

static void fork_prepare(void)
{
    pthread_mutex_lock(&lock);
    while (forking) /* by another thread */
        pthread_cond_wait(&changed, &lock);
    forking = true;
    while (running > 0)
        pthread_cond_wait(&changed, &lock);
}

static void fork_parent(void)
{
    forking = false;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void fork_child(void)
{
    changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER; /* who waited does not exist here */
    fork_parent();
}

__attribute__((constructor)) static void start(void)
{
    mxl_fork_guard(MXL_FORK_DATA, fork_prepare, fork_parent, fork_child);
}

void mxl_whole_begin(void)
{
    pthread_mutex_lock(&lock);
    while (forking)
        pthread_cond_wait(&changed, &lock);
    running++;
    pthread_mutex_unlock(&lock);
}

void mxl_whole_end(void)
{
    pthread_mutex_lock(&lock);
    if (--running == 0)
        pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}
