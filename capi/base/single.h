/* Whether this process has one thread only: then a count needs no locked instruction, which costs
 * as much as everything else a handle does. (libstdc++'s shared_ptr asks the same question.) */
#ifndef MXL_BASE_SINGLE_H
#define MXL_BASE_SINGLE_H

#include <stdbool.h>

#if defined(__linux__) && defined(__has_include)
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define MXL_KNOWS_SINGLE 1
#endif
#endif

/* False where the C library does not tell. Only the calling thread could end this, by starting
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
