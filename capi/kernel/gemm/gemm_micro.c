/* Micro kernels: one source for all instruction sets, parametrised by the names of vector
 * operations. */
#include "kernel/gemm/gemm_micro.h"

#include <stdbool.h>
#include <stddef.h>

#include "kernel/target.h"
#include "kernel/vectors.h"

#define UNROLL _Pragma("GCC unroll 16")

/* An instruction set defines: SET, its name; T, its element; ISA, the attribute of its functions;
 * the vector type SET##_v; and SET##_load, _store, _splat, _add, _fma(a, b, c) = a * b + c and _sum
 * of a vector's elements. */
#define BODIES(SET, T, ISA)                                                                        \
    ISA MXL_INLINE void SET##_tile(int height, int vectors, bool is_down, int64_t k,               \
                                   const void *left, int64_t step, const void *right,              \
                                   int64_t b_step, const void *addend, int64_t ld_add, void *out,  \
                                   int64_t ldc)                                                    \
    {                                                                                              \
        enum { N = sizeof(SET##_v) / sizeof(T) };                                                  \
        const T *a = left, *b = right, *more = addend;                                             \
        T *c = out;                                                                                \
        int64_t down = is_down ? 1 : step, along = is_down ? step : 1;                             \
        SET##_v acc[MXL_GEMM_MR][2];                                                               \
                                                                                                   \
        /* C has time to come until the sums are done. */                                          \
        UNROLL for (int i = 0; i < height; i++)                                                    \
        {                                                                                          \
            acc[i][0] = acc[i][1] = SET##_splat(0);                                                \
            __builtin_prefetch(c + i * ldc, 1);                                                    \
            __builtin_prefetch(c + i * ldc + vectors * N - 1, 1);                                  \
        }                                                                                          \
        for (int64_t p = 0; p < k; p++, a += along, b += b_step) {                                 \
            SET##_v b0 = SET##_load(b), b1 = vectors > 1 ? SET##_load(b + N) : b0;                 \
                                                                                                   \
            UNROLL for (int i = 0; i < height; i++)                                                \
            {                                                                                      \
                SET##_one s = SET##_one_at(a + i * down);                                          \
                                                                                                   \
                acc[i][0] = SET##_fma_one(s, b0, acc[i][0]);                                       \
                if (vectors > 1)                                                                   \
                    acc[i][1] = SET##_fma_one(s, b1, acc[i][1]);                                   \
            }                                                                                      \
        }                                                                                          \
        UNROLL for (int i = 0; i < height; i++, c += ldc)                                          \
        {                                                                                          \
            UNROLL for (int v = 0; v < vectors; v++)                                               \
            {                                                                                      \
                if (addend != NULL)                                                                \
                    acc[i][v] = SET##_add(SET##_load(more + i * ld_add + v * N), acc[i][v]);       \
                SET##_store(c + v * N, acc[i][v]);                                                 \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    ISA MXL_INLINE void SET##_step(int rows, SET##_v(*acc)[MXL_GEMM_INNER], const T *const *a,     \
                                   const T *const *b, int64_t p)                                   \
    {                                                                                              \
        SET##_v y[MXL_GEMM_INNER];                                                                 \
                                                                                                   \
        UNROLL for (int j = 0; j < MXL_GEMM_INNER; j++) y[j] = SET##_load(b[j] + p);               \
        UNROLL for (int i = 0; i < rows; i++)                                                      \
        {                                                                                          \
            SET##_v x = SET##_load(a[i] + p);                                                      \
                                                                                                   \
            UNROLL for (int j = 0; j < MXL_GEMM_INNER; j++) acc[i][j] =                            \
                SET##_fma(x, y[j], acc[i][j]);                                                     \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    ISA MXL_INLINE void SET##_inner_products(int rows, int64_t k, const void *const *left,         \
                                             const void *const *right, void *to)                   \
    {                                                                                              \
        enum { N = sizeof(SET##_v) / sizeof(T), R = MXL_GEMM_INNER };                              \
        T *out = to, last_a[R][N], last_b[R][N];                                                   \
        const T *a[R], *b[R], *a_last[R], *b_last[R];                                              \
        int64_t whole = k - k % N;                                                                 \
        SET##_v acc[R][R];                                                                         \
                                                                                                   \
        UNROLL for (int i = 0; i < R; i++)                                                         \
        {                                                                                          \
            a[i] = left[i < rows ? i : 0];                                                         \
            b[i] = right[i];                                                                       \
            a_last[i] = last_a[i];                                                                 \
            b_last[i] = last_b[i];                                                                 \
            UNROLL for (int j = 0; j < R; j++) acc[i][j] = SET##_splat(0);                         \
        }                                                                                          \
        for (int64_t p = 0; p < whole; p += N)                                                     \
            SET##_step(rows, acc, a, b, p);                                                        \
        if (whole < k) {                                                                           \
            for (int i = 0; i < R; i++) {                                                          \
                for (int64_t l = 0; l < N; l++) {                                                  \
                    last_a[i][l] = whole + l < k ? a[i][whole + l] : 0;                            \
                    last_b[i][l] = whole + l < k ? b[i][whole + l] : 0;                            \
                }                                                                                  \
            }                                                                                      \
            SET##_step(rows, acc, a_last, b_last, 0);                                              \
        }                                                                                          \
        UNROLL for (int i = 0; i < rows; i++)                                                      \
        {                                                                                          \
            UNROLL for (int j = 0; j < R; j++) out[i * R + j] = SET##_sum(acc[i][j]);              \
        }                                                                                          \
    }

/* (Of float32 alone: recurrent layers of one row.) */
#define STRIPS(SET, T, ISA)                                                                        \
    ISA static void SET##_strips(int64_t k, const void *left, int64_t step, const void *right,     \
                                 int64_t b_next, const void *addend, void *out)                    \
    {                                                                                              \
        enum { N = sizeof(SET##_v) / sizeof(T), S = MXL_GEMM_STRIPS };                             \
        const T *a = left, *more = addend;                                                         \
        T *c = out;                                                                                \
        SET##_v acc[2 * S];                                                                        \
                                                                                                   \
        UNROLL for (int i = 0; i < 2 * S; i++) acc[i] = SET##_splat(0);                            \
        for (int64_t p = 0; p < k; p++) {                                                          \
            const T *b = (const T *)right + p * 2 * N;                                             \
            SET##_one s = SET##_one_at(a + p * step);                                              \
                                                                                                   \
            UNROLL for (int i = 0; i < 2 * S; i++) acc[i] =                                        \
                SET##_fma_one(s, SET##_load(b + i / 2 * b_next + i % 2 * N), acc[i]);              \
        }                                                                                          \
        UNROLL for (int i = 0; i < 2 * S; i++)                                                     \
        {                                                                                          \
            if (addend != NULL)                                                                    \
                acc[i] = SET##_add(SET##_load(more + i * N), acc[i]);                              \
            SET##_store(c + i * N, acc[i]);                                                        \
        }                                                                                          \
    }

#define base_f32_strips   NULL
#define base_f64_strips   NULL
#define neon_f64_strips   NULL
#define avx2_f64_strips   NULL
#define avx512_f64_strips NULL

#define ONE_TILE(SET, ISA, name, height, vectors, is_down)                                         \
    ISA static void SET##_##name(int64_t k, const void *a, int64_t step, const void *b,            \
                                 int64_t b_step, const void *addend, int64_t ld_add, void *c,      \
                                 int64_t ldc)                                                      \
    {                                                                                              \
        SET##_tile(height, vectors, is_down, k, a, step, b, b_step, addend, ld_add, c, ldc);       \
    }
#define TILES(SET, ISA, height)                                                                    \
    ONE_TILE(SET, ISA, down_##height##_1, height, 1, true)                                         \
    ONE_TILE(SET, ISA, down_##height##_2, height, 2, true)                                         \
    ONE_TILE(SET, ISA, along_##height##_1, height, 1, false)                                       \
    ONE_TILE(SET, ISA, along_##height##_2, height, 2, false)
#define INNER(SET, ISA, name, rows)                                                                \
    ISA static void SET##_##name(int64_t k, const void *const *a, const void *const *b, void *out) \
    {                                                                                              \
        SET##_inner_products(rows, k, a, b, out);                                                  \
    }
#define AT(SET, way, height) [height] = {SET##_##way##_##height##_1, SET##_##way##_##height##_2}
#define TABLE(SET, T)                                                                              \
    static const mxl_gemm_micro SET##_micro = {sizeof(SET##_v) / sizeof(T),                        \
                                               SET##_heights,                                      \
                                               SET##_down,                                         \
                                               SET##_along,                                        \
                                               SET##_inner,                                        \
                                               SET##_inner_row,                                    \
                                               SET##_strips};
#define SHARED(SET, T, ISA)                                                                        \
    BODIES(SET, T, ISA)                                                                            \
    INNER(SET, ISA, inner, MXL_GEMM_INNER)                                                         \
    INNER(SET, ISA, inner_row, 1)                                                                  \
    TILES(SET, ISA, 1)                                                                             \
    TILES(SET, ISA, 2)                                                                             \
    TILES(SET, ISA, 4)

/* The registers of a set hold 8, 12 or 24 vectors of sums and two vectors of B. */
#define EIGHT_SUMS(SET, T, ISA)                                                                    \
    SHARED(SET, T, ISA)                                                                            \
    static const int SET##_heights[] = {4, 2, 1};                                                  \
    static const mxl_gemm_tile SET##_down[][2] = {AT(SET, down, 1), AT(SET, down, 2),              \
                                                  AT(SET, down, 4)};                               \
    static const mxl_gemm_tile SET##_along[][2] = {AT(SET, along, 1), AT(SET, along, 2),           \
                                                   AT(SET, along, 4)};                             \
    TABLE(SET, T)
#define TWELVE_SUMS(SET, T, ISA)                                                                   \
    SHARED(SET, T, ISA)                                                                            \
    TILES(SET, ISA, 6)                                                                             \
    static const int SET##_heights[] = {6, 4, 2, 1};                                               \
    static const mxl_gemm_tile SET##_down[][2] = {AT(SET, down, 1), AT(SET, down, 2),              \
                                                  AT(SET, down, 4), AT(SET, down, 6)};             \
    static const mxl_gemm_tile SET##_along[][2] = {AT(SET, along, 1), AT(SET, along, 2),           \
                                                   AT(SET, along, 4), AT(SET, along, 6)};          \
    TABLE(SET, T)
#define TWENTY_FOUR_SUMS(SET, T, ISA)                                                              \
    SHARED(SET, T, ISA)                                                                            \
    TILES(SET, ISA, 8)                                                                             \
    TILES(SET, ISA, 12)                                                                            \
    static const int SET##_heights[] = {12, 8, 4, 2, 1};                                           \
    static const mxl_gemm_tile SET##_down[][2] = {AT(SET, down, 1), AT(SET, down, 2),              \
                                                  AT(SET, down, 4), AT(SET, down, 8),              \
                                                  AT(SET, down, 12)};                              \
    static const mxl_gemm_tile SET##_along[][2] = {AT(SET, along, 1), AT(SET, along, 2),           \
                                                   AT(SET, along, 4), AT(SET, along, 8),           \
                                                   AT(SET, along, 12)};                            \
    TABLE(SET, T)

/* ---- the baseline: 16-byte vectors that the compiler supports on any processor ---- */
EIGHT_SUMS(base_f32, float, )
EIGHT_SUMS(base_f64, double, )

/* ---- aarch64 ---- */
#if MXL_HAS_NEON
STRIPS(neon_f32, float, )
TWENTY_FOUR_SUMS(neon_f32, float, )

TWENTY_FOUR_SUMS(neon_f64, double, )
#define LEVELS(T) {&base_##T##_micro, &neon_##T##_micro, &neon_##T##_micro}

/* ---- x86-64 ---- */
#elif MXL_HAS_WIDE
STRIPS(avx2_f32, float, MXL_TARGET_AVX2)
TWELVE_SUMS(avx2_f32, float, MXL_TARGET_AVX2)

TWELVE_SUMS(avx2_f64, double, MXL_TARGET_AVX2)

STRIPS(avx512_f32, float, MXL_TARGET_AVX512)
TWENTY_FOUR_SUMS(avx512_f32, float, MXL_TARGET_AVX512)

TWENTY_FOUR_SUMS(avx512_f64, double, MXL_TARGET_AVX512)

#define LEVELS(T) {&base_##T##_micro, &avx2_##T##_micro, &avx512_##T##_micro}

#else
#define LEVELS(T) {&base_##T##_micro, &base_##T##_micro, &base_##T##_micro}
#endif

const mxl_gemm_micro *mxl_gemm_micro_f32(void)
{
    static const mxl_gemm_micro *const micro[MXL_LEVELS] = LEVELS(f32);

    return micro[mxl_level()];
}

const mxl_gemm_micro *mxl_gemm_micro_f64(void)
{
    static const mxl_gemm_micro *const micro[MXL_LEVELS] = LEVELS(f64);

    return micro[mxl_level()];
}
