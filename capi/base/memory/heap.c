/* The region and its runs. A table has an entry for each unit; those of the first and the last unit
 * of a run say how long it is, so that a run finds its neighbours. */
#include "base/memory/heap.h"

#include <stdatomic.h>
#include <stdint.h>

#include "base/memory/mem.h"
#include "base/system/pages.h"

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

/* Twice the machine's memory, since runs leave gaps; a part of what a limit on address space
 * leaves. */
static size_t region_size(void)
{
    uint64_t memory = mxl_pages_machine(), limit = mxl_pages_limit();
    uint64_t size = memory > 0 ? 2 * memory : MOST;

    if (limit > 0 && limit / 4 < size)
        size = limit / 4;
    return (size_t)(size < MOST ? size : MOST) / STEP * STEP;
}

static void open_region(void)
{
    size_t size, table = 0;
    char *room = NULL, *base;

    heap.tried = true;
    for (size = region_size(); size >= LEAST; size = size / 2 / STEP * STEP) {
        table = (size / MXL_HEAP_UNIT * sizeof(unit) + MXL_HUGE_PAGE - 1) / MXL_HUGE_PAGE *
                MXL_HUGE_PAGE;
        room = mxl_pages_reserve(table + size + MXL_HUGE_PAGE);
        if (room != NULL)
            break;
    }
    if (room == NULL)
        return;
    if (!mxl_pages_open(room, table, false)) {
        mxl_pages_release(room, table + size + MXL_HUGE_PAGE);
        return;
    }
    base = room + table;
    base += (MXL_HUGE_PAGE - (uintptr_t)base % MXL_HUGE_PAGE) % MXL_HUGE_PAGE;
    heap.table = (unit *)(void *)room;
    heap.units = (uint32_t)(size / MXL_HEAP_UNIT);
    atomic_store(&heap.end, base + size);
    atomic_store(&heap.base, base);
}

/* Makes `bytes` from the base on accessible. */
static bool reach(size_t bytes)
{
    size_t more;

    if (bytes <= heap.accessible)
        return true;
    more = (bytes - heap.accessible + STEP - 1) / STEP * STEP;
    if (!mxl_pages_open(heap.base + heap.accessible, more, true))
        return false;
    heap.accessible += more;
    return true;
}

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
    mxl_pages_discard(block, bytes);
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
