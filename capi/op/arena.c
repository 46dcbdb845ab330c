/* Memory for the tuples and strings of one call's parameters: a fixed buffer first, then blocks. */
#include "op/op.h"

#include "base/memory/mem.h"

enum { ARENA_ALIGN = 16, ARENA_BLOCK = 4096 };

struct mxl_arena_block {
    _Alignas(ARENA_ALIGN) struct mxl_arena_block *next;
    size_t used; /* this header included */
    size_t size;
};

void mxl_arena_init(mxl_arena *arena)
{
    arena->used = 0;
    arena->more = NULL;
    arena->kept = NULL;
}

static void *take(char *room, size_t size, size_t *used, size_t bytes)
{
    void *edge = room + *used;

    if (bytes > size - *used)
        return NULL;
    *used += bytes;
    return edge;
}

void *mxl_arena_alloc(mxl_arena *arena, size_t bytes)
{
    struct mxl_arena_block *block = arena->more;
    void *edge;
    size_t size;

    if (bytes > SIZE_MAX / 2) {
        mxl_error_memory(bytes);
        return NULL;
    }
    bytes = (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    edge = take(arena->room, sizeof arena->room, &arena->used, bytes);
    if (edge == NULL && block != NULL)
        edge = take((char *)block, block->size, &block->used, bytes);
    if (edge != NULL)
        return edge;

    size = sizeof *block + (bytes > ARENA_BLOCK ? bytes : ARENA_BLOCK);
    block = mxl_alloc(size);
    if (block == NULL)
        return NULL;
    block->next = arena->more;
    block->used = sizeof *block;
    block->size = size;
    arena->more = block;
    return take((char *)block, size, &block->used, bytes);
}

void mxl_arena_clear(mxl_arena *arena)
{
    while (arena->more != NULL) {
        struct mxl_arena_block *block = arena->more;

        arena->more = block->next;
        mxl_free(block, block->size);
    }
    arena->used = 0;
    mxl_ref_release(arena->kept);
    arena->kept = NULL;
}
