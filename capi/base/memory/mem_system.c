/* The system's memory: mem.c's allocator unless an embedder replaces it. */
#define _GNU_SOURCE 1 /* posix_memalign, mmap, MADV_HUGEPAGE */
#include <stdlib.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "base/memory/mem.h"
#include "base/memory/mem_pool.h"

#if defined(__linux__)
static const size_t huge_page = (size_t)1 << 21;

/* Large blocks, where the heap has no room for them, are mapped, so that freed ones leave the
 * process at once. They use huge pages, as those of the heap. */
static bool is_mapped(size_t bytes)
{
    return bytes >= 2 * huge_page && MXL_MEM_KEEPS;
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
    char *room =
        mmap(NULL, size + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t before;

    if (room == MAP_FAILED)
        return NULL;
    before = (huge_page - (uintptr_t)room % huge_page) % huge_page;
    if (before > 0)
        (void)munmap(room, before);
    if (before < huge_page)
        (void)munmap(room + before + size, huge_page - before);
    (void)madvise(room + before, size, MADV_HUGEPAGE);
    return room + before;
}
#endif

void *mxl_system_alloc(void *payload, size_t bytes, size_t align)
{
    void *block = NULL;

    (void)payload;
#if defined(__linux__)
    if (is_mapped(bytes))
        return map(bytes);
#endif
    return posix_memalign(&block, align, bytes) == 0 ? block : NULL;
}

void mxl_system_free(void *payload, void *block, size_t bytes)
{
    (void)payload;
    (void)bytes;
#if defined(__linux__)
    if (is_mapped(bytes)) {
        (void)munmap(block, whole_pages(bytes));
        return;
    }
#endif
    free(block);
}
