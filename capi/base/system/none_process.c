/* The process, its memory and its libraries, where there is a C library and nothing else. */
#if defined(__wasi__)
#define _GNU_SOURCE 1 /* setenv */
#endif
#include "base/system/process.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/system/dynamic.h"
#include "base/system/pages.h"
#include "base/system/shared_memory.h"
#include "base/system/system.h"

#if defined(MXL_BARE)
long mxl_process_id(void)
{
    return 1;
}

/* C17 has no clock that never goes back. */
int64_t mxl_clock(void)
{
    return mxl_clock_date();
}

int64_t mxl_clock_date(void)
{
    struct timespec t = {0};

    (void)timespec_get(&t, TIME_UTC);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int mxl_environment_set(const char *name, const char *value)
{
#if defined(__wasi__)
    return value == NULL ? unsetenv(name) : setenv(name, value, 1);
#else
    (void)name;
    (void)value;
    errno = ENOSYS;
    return -1;
#endif
}

/* ---- memory ---- */

uint64_t mxl_pages_machine(void)
{
    return 0;
}

uint64_t mxl_pages_limit(void)
{
    return 0;
}

void *mxl_pages_reserve(size_t bytes)
{
    (void)bytes;
    return NULL;
}

bool mxl_pages_open(void *at, size_t bytes, bool huge)
{
    (void)at;
    (void)bytes;
    (void)huge;
    return false;
}

void mxl_pages_discard(void *at, size_t bytes)
{
    (void)at;
    (void)bytes;
}

bool mxl_pages_reopen(void *at, size_t bytes)
{
    (void)at;
    (void)bytes;
    return false;
}

void mxl_pages_release(void *at, size_t bytes)
{
    (void)at;
    (void)bytes;
}

void *mxl_pages_alloc(size_t bytes, size_t align)
{
    size_t whole = (bytes + align - 1) / align * align;

    return whole < bytes ? NULL : aligned_alloc(align, whole);
}

void mxl_pages_free(void *block, size_t bytes)
{
    (void)bytes;
    free(block);
}
#endif

/* ---- libraries ---- */

#if defined(MXL_BARE) || defined(MXL_NO_FILES)
void *mxl_library_open(const char *path, const char **why)
{
    (void)path;
    *why = "this build of mxlite opens no libraries";
    return NULL;
}

void *mxl_library_symbol(void *library, const char *name)
{
    (void)library;
    (void)name;
    return NULL;
}

void mxl_library_close(void *library)
{
    (void)library;
}

void mxl_library_path(const void *address, char *path, size_t room)
{
    (void)address;
    if (room > 0)
        path[0] = '\0';
}

void mxl_library_stay(const void *address)
{
    (void)address;
}
#endif

/* ---- shared memory ---- */

#if defined(MXL_BARE)
static int missing(void)
{
    return mxl_error("shared memory: mxlite has none on this system");
}

int mxl_shared_memory_new(size_t bytes)
{
    (void)bytes;
    return missing();
}

int mxl_shared_memory_check(int fd, size_t bytes)
{
    (void)fd;
    (void)bytes;
    return missing();
}

void *mxl_shared_memory_map(int fd, size_t bytes)
{
    (void)fd;
    (void)bytes;
    (void)missing();
    return NULL;
}

void mxl_shared_memory_unmap(void *start, size_t bytes)
{
    (void)start;
    (void)bytes;
}

int mxl_shared_memory_duplicate(int fd)
{
    (void)fd;
    return missing();
}

void mxl_shared_memory_close(int fd)
{
    (void)fd;
}

#if defined(__aarch64__)
bool mxl_processor_has_dot_products(void)
{
    return false; /* nobody could be asked */
}
#endif
#endif
