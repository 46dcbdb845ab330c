/* Calls that a forked process finds whole; see data/whole.h. */
#include "data/whole.h"

#include <stdbool.h>

#include "base/fork.h"
#include "base/system/threads.h"

static mxl_mutex lock = MXL_MUTEX_INIT; /* held during a fork */
static mxl_cond changed = MXL_COND_INIT;
static int running; /* calls */
static bool forking;

static void fork_prepare(void)
{
    mxl_mutex_lock(&lock);
    while (forking) /* by another thread */
        mxl_cond_wait(&changed, &lock);
    forking = true;
    while (running > 0)
        mxl_cond_wait(&changed, &lock);
}

static void fork_parent(void)
{
    forking = false;
    mxl_cond_broadcast(&changed);
    mxl_mutex_unlock(&lock);
}

static void fork_child(void)
{
    changed = (mxl_cond)MXL_COND_INIT; /* who waited does not exist here */
    fork_parent();
}

__attribute__((constructor)) static void start(void)
{
    mxl_fork_guard(MXL_FORK_DATA, fork_prepare, fork_parent, fork_child);
}

void mxl_whole_begin(void)
{
    mxl_mutex_lock(&lock);
    while (forking)
        mxl_cond_wait(&changed, &lock);
    running++;
    mxl_mutex_unlock(&lock);
}

void mxl_whole_end(void)
{
    mxl_mutex_lock(&lock);
    if (--running == 0)
        mxl_cond_broadcast(&changed);
    mxl_mutex_unlock(&lock);
}
