/* Loops that run whole vectors, for any number of elements, at every vector level. Arrays end where
 * accessible memory does, so that reading or writing beyond one fails. */
#ifndef TAILS_KIT_H
#define TAILS_KIT_H

#include "harness.h"

#include <stdlib.h>
#include <string.h>

#include "base/system/pages.h"
#include "kernel/target.h"

enum { ARRAYS = 3, ROOM = 1 << 16, GUARD = 64, MOST = 2050 };

static const int64_t counts[] = {0,   1,   2,   3,   4,   5,    7,    8,   9,  15,
                                 16,  17,  31,  32,  33,  47,   63,   64,  65, 127,
                                 128, 129, 511, 512, 513, 1000, 1024, MOST};
enum { COUNTS = sizeof(counts) / sizeof(*counts) };

/* ---- arrays before memory that is not accessible, where the system has such ---- */

static char *rooms[ARRAYS];

static inline void open_rooms(void)
{
    for (int i = 0; i < ARRAYS; i++) {
        rooms[i] = mxl_pages_reserve((size_t)2 * ROOM);
        if (rooms[i] == NULL)
            rooms[i] = calloc(1, ROOM);
        else
            CHECK(mxl_pages_open(rooms[i], ROOM, false));
    }
}

/* An array of `bytes` bytes; those before it have a mark. */
static inline void *array_of(int i, size_t bytes)
{
    char *at = rooms[i] + ROOM - bytes;

    memset(at - GUARD, 0x5a, GUARD);
    return at;
}

static inline bool is_marked(const void *array)
{
    const unsigned char *at = array;
    int marked = 0;

    for (int i = 1; i <= GUARD; i++)
        marked += *(at - i) == 0x5a;
    return marked == GUARD;
}

/* Calls `check` with each number of elements at each level of this processor. */
static inline void at_levels(void (*check)(int64_t n))
{
    if (rooms[0] == NULL)
        open_rooms();
    for (int level = MXL_BASELINE; level < MXL_LEVELS; level++) {
        if (mxl_level_set(level) != 0)
            continue;
        for (int i = 0; i < COUNTS; i++)
            check(counts[i]);
    }
    mxl_level_set(mxl_level_find());
}

#endif
