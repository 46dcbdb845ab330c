/* Memory of POSIX systems. Huge pages, limits of reserved space and mapped blocks are Linux's. */
#define _GNU_SOURCE 1 /* posix_memalign, MAP_ANONYMOUS, MADV_HUGEPAGE, _SC_PHYS_PAGES */
#include "base/system/pages.h"

#include "base/system/system.h"

#if defined(MXL_POSIX)
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/memory/mem.h"

uint64_t mxl_pages_machine(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}

uint64_t mxl_pages_limit(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
               ? (uint64_t)limit.rlim_cur
               : 0;
}

/* ---- reserved address space ---- */

static const int flags_reserve = MAP_PRIVATE | MAP_ANONYMOUS
#if defined(MAP_NORESERVE)
                                 | MAP_NORESERVE
#endif
    ;

void *mxl_pages_reserve(size_t bytes)
{
    void *room = mmap(NULL, bytes, PROT_NONE, flags_reserve, -1, 0);

    return room == MAP_FAILED ? NULL : room;
}

static void use_huge_pages(void *at, size_t bytes)
{
#if defined(MADV_HUGEPAGE)
    (void)madvise(at, bytes, MADV_HUGEPAGE);
#else
    (void)at;
    (void)bytes;
#endif
}

bool mxl_pages_open(void *at, size_t bytes, bool huge)
{
    if (mprotect(at, bytes, PROT_READ | PROT_WRITE) != 0)
        return false;
    if (huge)
        use_huge_pages(at, bytes);
    return true;
}

void mxl_pages_discard(void *at, size_t bytes)
{
#if defined(__linux__)
    (void)madvise(at, bytes, MADV_DONTNEED);
#else
    /* Elsewhere advice may leave the pages as they are: new ones take their place. */
    (void)mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
#endif
}

/* Here they stay open. */
bool mxl_pages_reopen(void *at, size_t bytes)
{
    (void)at;
    (void)bytes;
    return true;
}

void mxl_pages_release(void *at, size_t bytes)
{
    (void)munmap(at, bytes);
}

/* ---- blocks ---- */

/* Large blocks, where the heap has no room for them, are mapped. */
static bool is_mapped(size_t bytes)
{
    return bytes >= 2 * MXL_HUGE_PAGE && MXL_MEM_KEEPS;
}

static size_t whole_pages(size_t bytes)
{
    const size_t most = (size_t)1 << 16; /* the largest page size, except huge pages */

    return (bytes + most - 1) & ~(most - 1);
}

/* Begins with a huge page. */
static void *map(size_t bytes)
{
    size_t size = whole_pages(bytes);
    char *room = mmap(NULL, size + MXL_HUGE_PAGE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t before;

    if (room == MAP_FAILED)
        return NULL;
    before = (MXL_HUGE_PAGE - (uintptr_t)room % MXL_HUGE_PAGE) % MXL_HUGE_PAGE;
    if (before > 0)
        (void)munmap(room, before);
    if (before < MXL_HUGE_PAGE)
        (void)munmap(room + before + size, MXL_HUGE_PAGE - before);
    use_huge_pages(room + before, size);
    return room + before;
}

void *mxl_pages_alloc(size_t bytes, size_t align)
{
    void *block = NULL;

    if (is_mapped(bytes))
        return map(bytes);
    return posix_memalign(&block, align, bytes) == 0 ? block : NULL;
}

void mxl_pages_free(void *block, size_t bytes)
{
    if (is_mapped(bytes))
        (void)munmap(block, whole_pages(bytes));
    else
        free(block);
}
#endif
