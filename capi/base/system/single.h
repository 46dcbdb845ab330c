/* Whether this process has only one thread: then a count needs no locked instruction, which costs
 * as much as the rest of a handle's work. (libstdc++'s shared_ptr does the same.) */
#ifndef MXL_BASE_SYSTEM_SINGLE_H
#define MXL_BASE_SYSTEM_SINGLE_H

#include <stdbool.h>

#if defined(__linux__) && defined(__has_include)
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define MXL_KNOWS_SINGLE 1
#endif
#endif

/* False if the C library does not tell. A true answer holds until the calling thread itself starts
 * another one. */
static inline bool mxl_single_thread(void)
{
#if defined(MXL_KNOWS_SINGLE)
    return __libc_single_threaded != 0;
#else
    return false;
#endif
}

#endif
