/* Shared memory of POSIX systems: anonymous files in memory. */
#define _GNU_SOURCE 1 /* syscall, F_ADD_SEALS */
#include "base/system/shared_memory.h"

#include "base/system/system.h"

#if defined(MXL_POSIX)
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

static int failed(const char *what)
{
    return mxl_error("shared memory: %s failed: %s", what, strerror(errno));
}

#if defined(__linux__)
#include <sys/syscall.h>
#if !defined(MFD_CLOEXEC)
#include <linux/memfd.h>
#endif

/* The file is sealed against shrinking, so that readers in other processes are safe. By its number,
 * as glibc has a function for the call since 2.27. */
static int new_file(void)
{
    return (int)syscall(SYS_memfd_create, "mxlite", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

static void seal(int fd)
{
    (void)fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL);
}

/* Reserves the memory too: writing to a page without memory would raise a signal. */
static int reserve(int fd, off_t length)
{
    return posix_fallocate(fd, 0, length);
}
#else
#include <stdatomic.h>

static int new_file(void)
{
    static atomic_uint counter;
    char name[64];
    int fd;

    (void)snprintf(name, sizeof(name), "/mxlite-%ld-%u", (long)getpid(),
                   atomic_fetch_add(&counter, 1));
    fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd >= 0) {
        (void)shm_unlink(name);
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    return fd;
}

static void seal(int fd)
{
    (void)fd;
}

static int reserve(int fd, off_t length)
{
    return ftruncate(fd, length) == 0 ? 0 : errno;
}
#endif

int mxl_shared_memory_new(size_t bytes)
{
    int fd = new_file(), problem;

    if (fd < 0)
        return failed("making it");
    problem = reserve(fd, bytes == 0 ? 1 : (off_t)bytes);
    if (problem == 0) {
        seal(fd);
        return fd;
    }
    (void)close(fd);
    return mxl_error("shared memory: %zu bytes: %s", bytes, strerror(problem));
}

/* Whether what has this mode is memory, or a file. macOS gives memory the mode of no kind. */
static bool has_bytes(mode_t mode)
{
#if defined(__APPLE__)
    if ((mode & S_IFMT) == 0)
        return true;
#endif
    return S_ISREG(mode);
}

int mxl_shared_memory_check(int fd, size_t bytes)
{
    struct stat info;
    bool regular;

    if (fstat(fd, &info) != 0)
        return mxl_error("shared memory: descriptor %d: %s", fd, strerror(errno));
    regular = has_bytes(info.st_mode);
    if (!regular || info.st_size < 0 || (uint64_t)info.st_size < bytes)
        return mxl_error("shared memory: descriptor %d has %lld bytes, the shape wants %zu", fd,
                         regular ? (long long)info.st_size : 0LL, bytes);
    return 0;
}

void *mxl_shared_memory_map(int fd, size_t bytes)
{
    void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return start == MAP_FAILED ? ((void)failed("mapping"), NULL) : start;
}

void mxl_shared_memory_unmap(void *start, size_t bytes)
{
    (void)munmap(start, bytes);
}

int mxl_shared_memory_duplicate(int fd)
{
    int made = fcntl(fd, F_DUPFD_CLOEXEC, 0);

    return made < 0 ? failed("duplicating it") : made;
}

void mxl_shared_memory_close(int fd)
{
    (void)close(fd);
}
#endif
