/* The process, clocks, the environment and opened libraries of POSIX systems. */
#define _GNU_SOURCE 1 /* setenv, clock_gettime, dladdr, RTLD_NOLOAD */
#include "base/system/process.h"

#include "base/system/dynamic.h"
#include "base/system/system.h"

#if defined(MXL_POSIX)
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#if !defined(MXL_NO_FILES)
#include <dlfcn.h>
#endif
#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

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

/* ---- libraries ---- */

#if !defined(MXL_NO_FILES)
void *mxl_library_open(const char *path, const char **why)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    *why = library == NULL ? dlerror() : NULL;
    return library;
}

void *mxl_library_symbol(void *library, const char *name)
{
    return dlsym(library, name);
}

void mxl_library_close(void *library)
{
    (void)dlclose(library);
}

void mxl_library_path(const void *address, char *path, size_t room)
{
    Dl_info info;
    const char *name = dladdr(address, &info) != 0 ? info.dli_fname : NULL;

    (void)snprintf(path, room, "%s", name == NULL ? "" : name);
}

void mxl_library_stay(const void *address)
{
    Dl_info self;

    if (dladdr(address, &self) != 0)
        (void)dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}
#endif

#if defined(__aarch64__)
bool mxl_processor_has_dot_products(void)
{
#if defined(__linux__)
    return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#elif defined(__APPLE__)
    return true; /* all of Apple's that run macOS */
#else
    return false;
#endif
}
#endif
#endif
