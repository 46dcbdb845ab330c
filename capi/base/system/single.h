/* Whether this process has only one thread: then a count needs no locked instruction, which costs
 * as much as the rest of a handle's work. (libstdc++'s shared_ptr does the same.) */
#ifndef MXL_BASE_SYSTEM_SINGLE_H
#define MXL_BASE_SYSTEM_SINGLE_H

#include <stdbool.h>

#if defined(__linux__)
#include <features.h>
#endif
#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 32) && !defined(MXL_OLD_GLIBC)
#include <sys/single_threaded.h>
#define MXL_SINGLE_THREADED (__libc_single_threaded != 0)
#else
/* Built for an older glibc (MXL_OLD_GLIBC: by the headers of a newer one), which has no such
 * variable; one that is found at run time may have it all the same. */
extern char __libc_single_threaded __attribute__((weak));
#define MXL_SINGLE_THREADED (&__libc_single_threaded && __libc_single_threaded != 0)
#endif
#endif

/* False if the C library does not tell. A true answer holds until the calling thread itself starts
 * another one. */
static inline bool mxl_single_thread(void)
{
#if defined(MXL_SINGLE_THREADED)
    return MXL_SINGLE_THREADED;
#else
    return false;
#endif
}

#endif
