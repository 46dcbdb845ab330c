/* The region and its runs. A table has an entry for each unit; those of the first and the last unit
 * of a run say how long it is, so that a run finds its neighbours. */
#define _GNU_SOURCE 1 /* MADV_HUGEPAGE */
#include "base/memory/heap.h"

#include <stdatomic.h>
#include <stdint.h>

#if defined(__linux__)
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

#include "base/memory/mem.h"

/* An entry of the table. Clean runs are linked through those of their first units. */
typedef struct unit {
    uint32_t length; /* of the run, in units */
    uint32_t state;
    uint32_t next, prev; /* units of clean runs, or NONE */
} unit;

#define NONE  UINT32_MAX
#define STEP  ((size_t)1 << 26) /* the region becomes accessible in steps of this size */
#define LEAST ((size_t)1 << 28) /* the smallest region, ... */
#define MOST  ((size_t)1 << 46) /* ... and the largest, of less units than NONE */

static struct {
    _Atomic(char *) base; /* of unit 0; NULL: there is no region */
    _Atomic(char *) end;
    unit *table;
    uint32_t units, top; /* units from the top on belong to no run yet */
    size_t accessible;   /* bytes from the base that may be written */
    uint32_t clean;      /* the first clean run, or NONE */
    bool tried;
} heap = {.clean = NONE};

static uint32_t unit_of(const void *at)
{
    return (uint32_t)(((uintptr_t)at - (uintptr_t)heap.base) / MXL_HEAP_UNIT);
}

static char *address_of(uint32_t first)
{
    return heap.base + (size_t)first * MXL_HEAP_UNIT;
}

static void mark(uint32_t first, uint32_t length, mxl_run state)
{
    unit *begin = &heap.table[first], *end = &heap.table[first + length - 1];

    begin->length = end->length = length;
    begin->state = end->state = state;
}

/* ---- the region ---- */

#if defined(__linux__)
/* Twice the machine's memory, since runs leave gaps; a part of what a limit on address space
 * leaves. */
static size_t region_size(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    size_t size = pages > 0 && page > 0 ? 2 * (size_t)pages * (size_t)page : MOST;
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur / 4 < size)
        size = (size_t)limit.rlim_cur / 4;
    return (size < MOST ? size : MOST) / STEP * STEP;
}

/* Address space alone: it takes no memory, and counts against no limit on that. */
static void open_region(void)
{
    const size_t page = (size_t)1 << 21; /* a huge page */
    size_t size, table = 0;
    char *room = MAP_FAILED, *base;

    heap.tried = true;
    for (size = region_size(); size >= LEAST; size = size / 2 / STEP * STEP) {
        table = (size / MXL_HEAP_UNIT * sizeof(unit) + page - 1) / page * page;
        room = mmap(NULL, table + size + page, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (room != MAP_FAILED)
            break;
    }
    if (room == MAP_FAILED)
        return;
    if (mprotect(room, table, PROT_READ | PROT_WRITE) != 0) {
        (void)munmap(room, table + size + page);
        return;
    }
    base = room + table;
    base += (page - (uintptr_t)base % page) % page;
    heap.table = (unit *)(void *)room;
    heap.units = (uint32_t)(size / MXL_HEAP_UNIT);
    atomic_store(&heap.end, base + size);
    atomic_store(&heap.base, base);
}

/* Makes `bytes` from the base on accessible. Huge pages: the first writes to fresh memory cost more
 * than most kernels. */
static bool reach(size_t bytes)
{
    size_t more;

    if (bytes <= heap.accessible)
        return true;
    more = (bytes - heap.accessible + STEP - 1) / STEP * STEP;
    if (mprotect(heap.base + heap.accessible, more, PROT_READ | PROT_WRITE) != 0)
        return false;
    (void)madvise(heap.base + heap.accessible, more, MADV_HUGEPAGE);
    heap.accessible += more;
    return true;
}
#else
static void open_region(void)
{
    heap.tried = true;
}

static bool reach(size_t bytes)
{
    (void)bytes;
    return false;
}
#endif

bool mxl_heap_holds(const void *block)
{
    const char *at = block;

    return at >= atomic_load_explicit(&heap.base, memory_order_relaxed) &&
           at < atomic_load_explicit(&heap.end, memory_order_relaxed);
}

/* ---- clean runs ---- */

static void link_clean(uint32_t first, uint32_t length)
{
    unit *run = &heap.table[first];

    mark(first, length, MXL_RUN_CLEAN);
    run->prev = NONE;
    run->next = heap.clean;
    if (heap.clean != NONE)
        heap.table[heap.clean].prev = first;
    heap.clean = first;
}

static void unlink_clean(uint32_t first)
{
    unit *run = &heap.table[first];

    if (run->prev != NONE)
        heap.table[run->prev].next = run->next;
    else
        heap.clean = run->next;
    if (run->next != NONE)
        heap.table[run->next].prev = run->prev;
}

/* The shortest clean run of at least `length` units, or NONE. */
static uint32_t find_clean(uint32_t length)
{
    uint32_t best = NONE;

    for (uint32_t at = heap.clean; at != NONE; at = heap.table[at].next) {
        uint32_t found = heap.table[at].length;

        if (found >= length && (best == NONE || found < heap.table[best].length))
            best = at;
    }
    return best;
}

/* Units behind all runs, or NONE. */
static uint32_t take_top(uint32_t length)
{
    uint32_t first = heap.top;

    if (length > heap.units - heap.top || !reach((size_t)(first + length) * MXL_HEAP_UNIT))
        return NONE;
    heap.top += length;
    return first;
}

void *mxl_heap_take(size_t bytes)
{
    uint32_t length, first;

    if (!heap.tried)
        open_region();
    if (heap.base == NULL || bytes / MXL_HEAP_UNIT > heap.units)
        return NULL;
    length = (uint32_t)(bytes / MXL_HEAP_UNIT);
    first = find_clean(length);
    if (first == NONE) {
        first = take_top(length);
        if (first == NONE)
            return NULL;
    } else {
        uint32_t rest = heap.table[first].length - length;

        unlink_clean(first);
        if (rest > 0)
            link_clean(first + length, rest);
    }
    mark(first, length, MXL_RUN_USED);
    return address_of(first);
}

void mxl_heap_put(void *block, size_t bytes)
{
    uint32_t first = unit_of(block), end = first + (uint32_t)(bytes / MXL_HEAP_UNIT);

    if (first > 0 && heap.table[first - 1].state == MXL_RUN_CLEAN) {
        first -= heap.table[first - 1].length;
        unlink_clean(first);
    }
    if (end < heap.top && heap.table[end].state == MXL_RUN_CLEAN) {
        unlink_clean(end);
        end += heap.table[end].length;
    }
    if (end == heap.top)
        heap.top = first;
    else
        link_clean(first, end - first);
}

void mxl_heap_discard(void *block, size_t bytes)
{
#if defined(__linux__)
    (void)madvise(block, bytes, MADV_DONTNEED);
#else
    (void)block;
    (void)bytes;
#endif
}

/* ---- runs in use, and free ones ---- */

void mxl_heap_mark(void *block, size_t bytes, mxl_run state)
{
    mark(unit_of(block), (uint32_t)(bytes / MXL_HEAP_UNIT), state);
}

void *mxl_heap_free_before(const void *at, size_t *bytes)
{
    uint32_t end = unit_of(at);
    const unit *last;

    if (end == 0)
        return NULL;
    last = &heap.table[end - 1];
    if (last->state != MXL_RUN_FREE)
        return NULL;
    *bytes = (size_t)last->length * MXL_HEAP_UNIT;
    return address_of(end - last->length);
}

void *mxl_heap_free_behind(void *at, size_t *bytes)
{
    uint32_t first = unit_of(at);

    if (first >= heap.top || heap.table[first].state != MXL_RUN_FREE)
        return NULL;
    *bytes = (size_t)heap.table[first].length * MXL_HEAP_UNIT;
    return at;
}
