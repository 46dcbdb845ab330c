/* Offsets from indices along several axes; see index_offsets.h. */
#include "kernel/index/index_offsets.h"

#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "kernel/copy/cast.h"

enum { RUN = 256 };

/* at = at * extent + index; indices of axis `axis` count from either end. */
static int fold(int64_t n, const int64_t *index, int axis, int64_t extent, int64_t *at)
{
    for (int64_t j = 0; j < n; j++) {
        int64_t v = index[j] < 0 ? index[j] + extent : index[j];

        if (v < 0 || v >= extent)
            return mxl_error("IndexError: index %lld is out of bounds for axis %d of extent %lld",
                             (long long)index[j], axis, (long long)extent);
        at[j] = at[j] * extent + v;
    }
    return 0;
}

int mxl_index_offsets(int dtype, const void *index, int depth, int64_t n, const int64_t *shape,
                      int64_t *at)
{
    mxl_loop cast = mxl_cast_loop(dtype, MXL_I64);
    int64_t width = (int64_t)mxl_dtype_size(dtype), step = 1, row[RUN];

    for (int64_t j = 0; j < n; j += RUN) {
        int64_t count = n - j < RUN ? n - j : RUN;

        for (int64_t k = 0; k < count; k++)
            at[j + k] = 0;
        for (int axis = 0; axis < depth; axis++) {
            const void *from = (const char *)index + (axis * n + j) * width;

            cast(row, &from, &step, count, NULL);
            if (fold(count, row, axis, shape[axis], at + j) != 0)
                return -1;
        }
    }
    return 0;
}

/* A piece may lie at any multiple of its element's size; a copy of constant size is one move
 * anyway. */
#define PUT_EACH(size)                                                                             \
    for (int64_t j = 0; j < n; j++)                                                                \
    memcpy((char *)out + at[j] * (size), (const char *)in + j * (size), (size_t)(size))

void mxl_index_offsets_put(int64_t bytes, void *out, int64_t n, const int64_t *at, const void *in)
{
    if (bytes == 4)
        PUT_EACH(4);
    else if (bytes == 8)
        PUT_EACH(8);
    else if (bytes > 0)
        PUT_EACH(bytes);
}

void mxl_index_offsets_pull(int64_t bytes, void *in, int64_t n, const int64_t *at, void *out)
{
    if (bytes == 0)
        return;
    for (int64_t j = n - 1; j >= 0; j--) {
        memcpy((char *)out + j * bytes, (const char *)in + at[j] * bytes, (size_t)bytes);
        memset((char *)in + at[j] * bytes, 0, (size_t)bytes);
    }
}
