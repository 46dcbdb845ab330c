/* The system's memory: mem.c's allocator unless an embedder replaces it. */
#include "base/memory/mem.h"
#include "base/memory/mem_pool.h"
#include "base/system/pages.h"

void *mxl_system_alloc(void *payload, size_t bytes, size_t align)
{
    (void)payload;
    return mxl_pages_alloc(bytes, align);
}

void mxl_system_free(void *payload, void *block, size_t bytes)
{
    (void)payload;
    mxl_pages_free(block, bytes);
}
