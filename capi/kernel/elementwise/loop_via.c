/* Element-wise loops of other dtypes through float32 or float64, and loops of whole vectors for any
 * number of elements. */
#include <stdbool.h>
#include <string.h>

#include "kernel/copy/cast.h"
#include "kernel/elementwise/loop.h"

#if MXL_HAS_WIDE
#include <immintrin.h>
#endif

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

/* ---- whole vectors ---- */

enum { WHOLE = MXL_LOOP_WHOLE_BYTES };

static const int64_t ones[MOST_INPUTS] = {1, 1};

#if MXL_HAS_WIDE
/* One vector of which `bytes` exist, by masked loads and stores: a copy in smaller pieces would
 * have to reach the memory before a load of the whole. An operand with step 0 is repeated already.
 */
#define REST_PARAMETERS                                                                            \
    (mxl_loop row, size_t size, size_t bytes, int num_in, void *out, const void *const *in,        \
     const int64_t *step, const void *params)
#define REST_OF(LOAD, STORE)                                                                       \
    _Alignas(WHOLE) char room[MOST_INPUTS + 1][WHOLE];                                             \
    const void *given[MOST_INPUTS] = {room[0], room[1]};                                           \
                                                                                                   \
    for (int k = 0; k < num_in; k++) {                                                             \
        if (step[k] == 0)                                                                          \
            given[k] = in[k];                                                                      \
        else                                                                                       \
            LOAD(room[k], in[k]);                                                                  \
    }                                                                                              \
    row(room[MOST_INPUTS], given, ones, WHOLE / (int64_t)size, params);                            \
    STORE(out, room[MOST_INPUTS]);

MXL_TARGET_AVX512 static void rest_512 REST_PARAMETERS
{
    const __mmask16 here = (__mmask16)((1u << bytes / sizeof(float)) - 1);

#define LOAD(to, from)  _mm512_store_si512(to, _mm512_maskz_loadu_epi32(here, from))
#define STORE(to, from) _mm512_mask_storeu_epi32(to, here, _mm512_load_si512(from))
    REST_OF(LOAD, STORE)
#undef LOAD
#undef STORE
}

MXL_TARGET_AVX2 static void rest_256 REST_PARAMETERS
{
    static const int32_t marks[2 * WHOLE / sizeof(int32_t)] = {-1, -1, -1, -1, -1, -1, -1, -1,
                                                               -1, -1, -1, -1, -1, -1, -1, -1};
    const int32_t *const mark = marks + (WHOLE - bytes) / sizeof(int32_t);
    const __m256i low = _mm256_loadu_si256((const __m256i *)mark);
    const __m256i high = _mm256_loadu_si256((const __m256i *)(mark + 8));

#define HALF(pointer, i) ((void *)((char *)(uintptr_t)(pointer) + (i) * WHOLE / 2))
#define MOVE(to, from, i, mask)                                                                    \
    _mm256_store_si256(HALF(to, i), _mm256_maskload_epi32(HALF(from, i), mask))
#define LOAD(to, from) (MOVE(to, from, 0, low), MOVE(to, from, 1, high))
#define PUT(to, from, i, mask)                                                                     \
    _mm256_maskstore_epi32(HALF(to, i), mask, _mm256_load_si256(HALF(from, i)))
#define STORE(to, from) (PUT(to, from, 0, low), PUT(to, from, 1, high))
    REST_OF(LOAD, STORE)
}

static inline void rest REST_PARAMETERS
{
    if (mxl_level() == MXL_AVX512)
        rest_512(row, size, bytes, num_in, out, in, step, params);
    else
        rest_256(row, size, bytes, num_in, out, in, step, params);
}
#endif

/* Writes an element of 4 or 8 bytes as often as whole vectors of `bytes` hold it. */
static void repeat(char *room, const void *from, size_t size, size_t bytes)
{
    char one[WHOLE];

    for (size_t i = 0; i < WHOLE; i += sizeof(double)) {
        memcpy(one + i, from, sizeof(float));
        memcpy(one + i + sizeof(float), (const char *)from + size - sizeof(float), sizeof(float));
    }
    for (size_t i = 0; i < bytes; i += WHOLE)
        memcpy(room + i, one, WHOLE);
}

static __attribute__((noinline)) void repeated(mxl_loop row, size_t size, int num_in, void *out,
                                               const void *const *in, const int64_t *step,
                                               int64_t n, const void *params)
{
    const size_t all = (size_t)n * size;
    const size_t whole = MXL_TAKES_ANY(mxl_level()) ? all : all & -(size_t)WHOLE;
    _Alignas(WHOLE) char room[MOST_INPUTS][TILE_BYTES];

    for (int k = 0; k < num_in; k++) {
        if (step[k] == 0)
            repeat(room[k], in[k], size, all < TILE_BYTES ? all : TILE_BYTES);
    }
    for (size_t i = 0, part; i < all; i += part) {
        const void *given[MOST_INPUTS];
        void *const to = (char *)out + i;

        for (int k = 0; k < num_in; k++)
            given[k] = step[k] == 0 ? room[k] : (const char *)in[k] + i;
        part = i == whole ? all - i : whole - i < TILE_BYTES ? whole - i : TILE_BYTES;
#if MXL_HAS_WIDE
        if (i == whole) {
            rest(row, size, part, num_in, to, given, step, params);
            break;
        }
#endif
        row(to, given, ones, (int64_t)(part / size), params);
    }
}

void mxl_loop_whole(mxl_loop row, size_t size, int num_in, void *out, const void *const *in,
                    const int64_t *step, int64_t n, const void *params)
{
#if MXL_HAS_WIDE
    const size_t all = (size_t)n * size, part = all % WHOLE, whole = all - part;
    const void *given[MOST_INPUTS];

    if (step[0] != 0 && (num_in == 1 || step[1] != 0)) {
        if (whole == 0) {
            rest(row, size, part, num_in, out, in, step, params);
            return;
        }
        /* The rest first: the steps of one vector wait for each other, and those of others do not
         * wait for them. */
        for (int k = 0; k < num_in; k++)
            given[k] = (const char *)in[k] + whole;
        rest(row, size, part, num_in, (char *)out + whole, given, step, params);
        row(out, in, step, (int64_t)(whole / size), params);
        return;
    }
#endif
    repeated(row, size, num_in, out, in, step, n, params);
}
