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
/* ... and the largest, of less units than NONE */
#define MOST ((size_t)(SIZE_MAX > UINT32_MAX ? UINT64_C(1) << 46 : UINT64_C(1) << 30))

static struct {
    _Atomic(char *) base; /* of unit 0; NULL: there is no region */
    _Atomic(char *) end;
    unit *table;
    uint32_t units, top;   /* units from the top on belong to no run yet, ... */
    uint32_t bottom;       /* ... but from the bottom on to address space that is kept apart */
    size_t accessible;     /* bytes from the base that may be written */
    uint32_t low;          /* the first unit at the end that may be */
    uint32_t clean, apart; /* the first clean run below the top, and from the bottom on, or NONE */
    bool tried;
} heap = {.clean = NONE, .apart = NONE};

static uint32_t unit_of(const void *at)
{
    return (uint32_t)(((uintptr_t)at - (uintptr_t)heap.base) / MXL_HEAP_UNIT);
}

static char *address_of(uint32_t first)
{
    return heap.base + (size_t)first * MXL_HEAP_UNIT;
}

static void mark(uint32_t first, uint32_t length, mxl_heap_run state)
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
    heap.units = heap.bottom = heap.low = (uint32_t)(size / MXL_HEAP_UNIT);
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
/* The same of units from `first` to the end. */
static bool reach_down(uint32_t first)
{
    uint32_t low = first / (STEP / MXL_HEAP_UNIT) * (STEP / MXL_HEAP_UNIT);

    if (first >= heap.low)
        return true;
    if (!mxl_pages_open(address_of(low), (size_t)(heap.low - low) * MXL_HEAP_UNIT, true))
        return false;
    heap.low = low;
    return true;
}

bool mxl_heap_holds(const void *block)
{
    const char *at = block;

    return at >= atomic_load_explicit(&heap.base, memory_order_relaxed) &&
           at < atomic_load_explicit(&heap.end, memory_order_relaxed);
}

/* ---- clean runs ---- */

/* The list of clean runs that a unit's run belongs to. */
static uint32_t *list_of(uint32_t first)
{
    return first < heap.bottom ? &heap.clean : &heap.apart;
}

static void link_clean(uint32_t first, uint32_t length)
{
    unit *run = &heap.table[first];
    uint32_t *list = list_of(first);

    mark(first, length, MXL_RUN_CLEAN);
    run->prev = NONE;
    run->next = *list;
    if (*list != NONE)
        heap.table[*list].prev = first;
    *list = first;
}

static void unlink_clean(uint32_t first)
{
    unit *run = &heap.table[first];

    if (run->prev != NONE)
        heap.table[run->prev].next = run->next;
    else
        *list_of(first) = run->next;
    if (run->next != NONE)
        heap.table[run->next].prev = run->prev;
}

/* The shortest clean run of a list of at least `length` units, or NONE. */
static uint32_t find_clean(uint32_t list, uint32_t length)
{
    uint32_t best = NONE;

    for (uint32_t at = list; at != NONE; at = heap.table[at].next) {
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

    if (length > heap.bottom - heap.top || !reach((size_t)(first + length) * MXL_HEAP_UNIT))
        return NONE;
    heap.top += length;
    return first;
}

/* The same at the end of the region. */
static uint32_t take_bottom(uint32_t length)
{
    if (length > heap.bottom - heap.top || !reach_down(heap.bottom - length))
        return NONE;
    heap.bottom -= length;
    return heap.bottom;
}

/* A run of that many units: a clean one of a list, whose rest stays, or one that `more` gives. */
static void *take(uint32_t list, size_t bytes, uint32_t (*more)(uint32_t))
{
    uint32_t length = (uint32_t)(bytes / MXL_HEAP_UNIT), first = find_clean(list, length);

    if (first == NONE) {
        first = more(length);
        if (first == NONE)
            return NULL;
    } else {
        uint32_t rest = heap.table[first].length - length;

        unlink_clean(first);
        if (rest > 0)
            link_clean(first + length, rest);
    }
    mark(first, length, MXL_RUN_FRESH);
    if (mxl_pages_reopen(address_of(first), bytes))
        return address_of(first);
    mxl_heap_put(address_of(first), bytes);
    return NULL;
}

static bool fits(size_t bytes)
{
    if (!heap.tried)
        open_region();
    return heap.base != NULL && bytes / MXL_HEAP_UNIT <= heap.units;
}

void *mxl_heap_take(size_t bytes)
{
    return fits(bytes) ? take(heap.clean, bytes, take_top) : NULL;
}

void *mxl_heap_take_apart(size_t bytes)
{
    return fits(bytes) ? take(heap.apart, bytes, take_bottom) : NULL;
}

void *mxl_heap_last_free(size_t *bytes)
{
    return heap.top == 0 ? NULL : mxl_heap_free_before(address_of(heap.top), bytes);
}

bool mxl_heap_extend(void *block, size_t bytes, size_t more)
{
    if (take(NONE, more, take_top) == NULL)
        return false;
    mark(unit_of(block), (uint32_t)((bytes + more) / MXL_HEAP_UNIT), MXL_RUN_USED);
    return true;
}

void mxl_heap_put(void *block, size_t bytes)
{
    uint32_t first = unit_of(block), end = first + (uint32_t)(bytes / MXL_HEAP_UNIT);

    bool apart = first >= heap.bottom;

    if (first > (apart ? heap.bottom : 0) && heap.table[first - 1].state == MXL_RUN_CLEAN) {
        first -= heap.table[first - 1].length;
        unlink_clean(first);
    }
    if (end < (apart ? heap.units : heap.top) && heap.table[end].state == MXL_RUN_CLEAN) {
        unlink_clean(end);
        end += heap.table[end].length;
    }
    if (end == heap.top)
        heap.top = first;
    else if (first == heap.bottom)
        heap.bottom = end;
    else
        link_clean(first, end - first);
}

void mxl_heap_discard(void *block, size_t bytes)
{
    mxl_pages_discard(block, bytes);
}

/* ---- runs in use, and free ones ---- */

bool mxl_heap_is_fresh(const void *block)
{
    return mxl_heap_holds(block) && heap.table[unit_of(block)].state == MXL_RUN_FRESH;
}

void mxl_heap_mark(void *block, size_t bytes, mxl_heap_run state)
{
    mark(unit_of(block), (uint32_t)(bytes / MXL_HEAP_UNIT), state);
}

void *mxl_heap_free_before(const void *at, size_t *bytes)
{
    uint32_t end = unit_of(at);
    const unit *last;

    if (end == 0 || end == heap.bottom)
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

    if ((first >= heap.top && first < heap.bottom) || first == heap.units ||
        heap.table[first].state != MXL_RUN_FREE)
        return NULL;
    *bytes = (size_t)heap.table[first].length * MXL_HEAP_UNIT;
    return at;
}
