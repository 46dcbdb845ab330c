/* An allocator that fails on demand: MXLSetAllocator(counted, counted_free, NULL, 0). For
 * walk_kit.h. */
#ifndef FAILING_H
#define FAILING_H

#include <stdint.h>
#include <stdlib.h>

#include "harness.h"

static int64_t until_failure = -1; /* allocations that still succeed; -1: all */
static int64_t failed;

static void *counted(void *payload, size_t bytes, size_t align)
{
    (void)payload;
    if (until_failure == 0) {
        failed++;
        return NULL;
    }
    if (until_failure > 0)
        until_failure--;
    return kit_alloc(bytes, align);
}

static void counted_free(void *payload, void *block, size_t bytes)
{
    (void)payload;
    (void)bytes;
    kit_free(block);
}

#endif
