/* What C17 or POSIX have and Windows has not, for tests. */
#ifndef MXL_TEST_PORTABLE_H
#define MXL_TEST_PORTABLE_H

#include <stddef.h>
#include <stdlib.h>
#if defined(_WIN32)
#include <malloc.h>
#endif

/* Memory at a multiple of `align`; free it by kit_free. */
static inline void *kit_alloc(size_t bytes, size_t align)
{
    size_t whole = (bytes + align - 1) / align * align;

#if defined(_WIN32)
    return _aligned_malloc(whole, align);
#else
    return aligned_alloc(align, whole);
#endif
}

static inline void kit_free(void *block)
{
#if defined(_WIN32)
    _aligned_free(block);
#else
    free(block);
#endif
}

#endif
