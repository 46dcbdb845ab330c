/* Element-wise loops of other dtypes through float32 or float64. */
#include "kernel/copy/cast.h"
#include "kernel/elementwise/loop.h"

enum { TILE_BYTES = 4096, MOST_INPUTS = 2 };

void mxl_loop_via(mxl_loop row, int via, int dtype, int num_in, void *out, const void *const *in,
                  const int64_t *step, int64_t n, const void *params)
{
    const mxl_loop to_float = mxl_cast_loop(dtype, via), from_float = mxl_cast_loop(via, dtype);
    const int64_t one = 1, size = (int64_t)mxl_dtype_size(dtype);
    const int64_t most = TILE_BYTES / (int64_t)mxl_dtype_size(via);
    _Alignas(64) char tile[MOST_INPUTS + 1][TILE_BYTES];
    const void *const result = tile[MOST_INPUTS];
    const void *given[MOST_INPUTS];

    for (int k = 0; k < num_in; k++)
        given[k] = tile[k];
    for (int64_t i = 0; i < n; i += most) {
        int64_t part = n - i < most ? n - i : most;

        for (int k = 0; k < num_in; k++) {
            const void *from = (const char *)in[k] + i * step[k] * size;

            to_float(tile[k], &from, &one, step[k] == 0 ? 1 : part, NULL);
        }
        row(tile[MOST_INPUTS], given, step, part, params);
        from_float((char *)out + i * size, &result, &one, part, NULL);
    }
}

void mxl_scalar_loop_via(mxl_loop row, int via, int dtype, int num_in, void *out,
                         const void *const *in, const int64_t *step, int64_t n, const void *params)
{
    mxl_scalar_params rounded = *(const mxl_scalar_params *)params;
    const int64_t one = 1;
    _Alignas(8) char stored[8];
    const void *const kept = stored;

    mxl_cast_scalar(rounded.scalar, dtype, stored);
    mxl_cast_loop(dtype, MXL_F64)(&rounded.scalar, &kept, &one, 1, NULL);
    mxl_loop_via(row, via, dtype, num_in, out, in, step, n, &rounded);
}
