/* The process, clocks and the environment of POSIX systems. */
#define _GNU_SOURCE 1 /* setenv, clock_gettime */
#include "base/system/process.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

long mxl_process_id(void)
{
    return (long)getpid();
}

static int64_t read_clock(clockid_t which)
{
    struct timespec t;

    (void)clock_gettime(which, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t mxl_clock(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t mxl_clock_date(void)
{
    return read_clock(CLOCK_REALTIME);
}

int mxl_environment_set(const char *name, const char *value)
{
    return value == NULL ? unsetenv(name) : setenv(name, value, 1);
}
