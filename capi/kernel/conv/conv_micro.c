/* Micro kernels of convolutions: one source for all instruction sets. */
#include "kernel/conv/conv_micro.h"

#include "kernel/target.h"
#include "kernel/vectors.h"

enum { FAR_BYTES = 8192 }; /* how far ahead weights are prefetched */

#define UNROLL _Pragma("GCC unroll 16")

/* SET##_end is what a vector of sums becomes, in row i and at a place of the output. */
#define ENDS(SET, ISA)                                                                             \
    enum { SET##_HAS_ENDS = true };                                                                \
    ISA MXL_INLINE SET##_v SET##_end(SET##_v x, const mxl_conv_end *end, int i, int64_t at)        \
    {                                                                                              \
        if (end == NULL)                                                                           \
            return x;                                                                              \
        if (end->bias != NULL)                                                                     \
            x = SET##_add(x, SET##_splat(end->bias[i]));                                           \
        if (end->add != NULL)                                                                      \
            x = SET##_add(x, SET##_load(end->add + at));                                           \
        return SET##_limit(x, SET##_splat(end->low), SET##_splat(end->high));                      \
    }
enum {
    base_f32_HAS_ENDS,
    base_f64_HAS_ENDS = 0,
    neon_f64_HAS_ENDS = 0,
    avx2_f64_HAS_ENDS = 0,
    avx512_f64_HAS_ENDS = 0
};
#define base_f32_end(x, end, i, at)   (x)
#define base_f64_end(x, end, i, at)   (x)
#define neon_f64_end(x, end, i, at)   (x)
#define avx2_f64_end(x, end, i, at)   (x)
#define avx512_f64_end(x, end, i, at) (x)

/* Narrow tiles: lanes are rows here. With fewer than eight chains of sums their latency would be
 * the time. any_columns is for one level. */
#define COLUMNS(SET, ISA)                                                                          \
    ISA static void SET##_columns(int64_t k, int tiles, int columns, const void *a, const void *b, \
                                  const int64_t *offsets, void *out)                               \
    {                                                                                              \
        const float *w = a;                                                                        \
        float *to = out;                                                                           \
                                                                                                   \
        for (int some; tiles > 0; tiles -= some) {                                                 \
            some = tiles >= 8 && columns == 1  ? 8                                                 \
                   : tiles >= 4 && columns < 3 ? 4                                                 \
                   : tiles >= 2                ? 2                                                 \
                                               : 1;                                                \
            switch (8 * some + columns) {                                                          \
                CASE(8, 1)                                                                         \
                CASE(4, 1)                                                                         \
                CASE(4, 2)                                                                         \
                CASE(2, 1)                                                                         \
                CASE(2, 2)                                                                         \
                CASE(2, 3)                                                                         \
                CASE(2, 4)                                                                         \
                CASE(1, 1)                                                                         \
                CASE(1, 2)                                                                         \
                CASE(1, 3)                                                                         \
                CASE(1, 4)                                                                         \
            default:                                                                               \
                break;                                                                             \
            }                                                                                      \
            w += some * k * MXL_CONV_HEIGHT;                                                       \
            to += some * MXL_CONV_HEIGHT * MXL_CONV_COLUMNS;                                       \
        }                                                                                          \
    }
#define CASE(t, c)                                                                                 \
    case 8 * (t) + (c):                                                                            \
        any_columns(t, c, k, w, b, offsets, to);                                                   \
        break;

#if MXL_HAS_NEON
ENDS(neon_f32, )

MXL_INLINE void any_columns(int tiles, int columns, int64_t k, const float *a, const float *b,
                            const int64_t *offsets, float *out)
{
    enum { HALVES = MXL_CONV_HEIGHT / 4 };
    float32x4_t sum[8 * HALVES * 2];

    UNROLL for (int i = 0; i < tiles * HALVES * columns; i++) sum[i] = vdupq_n_f32(0);
    for (int64_t p = 0; p < k; p++) {
        const float *at = b + offsets[p];

        UNROLL for (int i = 0; i < tiles; i++)
        {
            UNROLL for (int h = 0; h < HALVES; h++)
            {
                float32x4_t w = vld1q_f32(a + (i * k + p) * MXL_CONV_HEIGHT + 4 * h);

                UNROLL for (int c = 0; c < columns; c++)
                {
                    float32x4_t *to = &sum[(i * HALVES + h) * columns + c];

                    *to = fma_one_f32(at[c], w, *to);
                }
            }
        }
    }
    UNROLL for (int i = 0; i < tiles * HALVES * columns; i++)
    {
        UNROLL for (int r = 0; r < 4; r++)
            out[(i / columns * 4 + r) * MXL_CONV_COLUMNS + i % columns] = sum[i][r];
    }
}

COLUMNS(neon_f32, )
#endif
#if MXL_HAS_WIDE
ENDS(avx2_f32, MXL_TARGET_AVX2)
ENDS(avx512_f32, MXL_TARGET_AVX512)

MXL_TARGET_AVX512 MXL_INLINE void any_columns(int tiles, int columns, int64_t k, const float *a,
                                              const float *b, const int64_t *offsets, float *out)
{
    __m256 sum[8 * MXL_CONV_COLUMNS];

    UNROLL for (int i = 0; i < tiles * columns; i++) sum[i] = _mm256_setzero_ps();
    for (int64_t p = 0; p < k; p++) {
        const float *at = b + offsets[p];

        UNROLL for (int i = 0; i < tiles; i++)
        {
            __m256 w = _mm256_loadu_ps(a + (i * k + p) * MXL_CONV_HEIGHT);

            UNROLL for (int c = 0; c < columns; c++) sum[i * columns + c] =
                _mm256_fmadd_ps(w, _mm256_set1_ps(at[c]), sum[i * columns + c]);
        }
    }
    UNROLL for (int i = 0; i < tiles * columns; i++)
    {
        float rows[MXL_CONV_HEIGHT];

        _mm256_storeu_ps(rows, sum[i]);
        UNROLL for (int r = 0; r < MXL_CONV_HEIGHT; r++)
            out[(i / columns * MXL_CONV_HEIGHT + r) * MXL_CONV_COLUMNS + i % columns] = rows[r];
    }
}

COLUMNS(avx512_f32, MXL_TARGET_AVX512)
#endif
#define base_f32_columns   NULL
#define base_f64_columns   NULL
#define neon_f64_columns   NULL
#define avx2_f32_columns   NULL
#define avx2_f64_columns   NULL
#define avx512_f64_columns NULL

/* SET names an instruction set of kernel/vectors.h, T its element, ISA the attribute of its
 * functions. All sums are in registers. */
#define BODIES(SET, T, ISA)                                                                        \
    ISA MXL_INLINE void SET##_any_tile(int height, int vectors, int64_t k, const void *left,       \
                                       const void *right, const int64_t *offsets, int64_t ahead,   \
                                       void *out, int64_t ldc, const mxl_conv_end *end)            \
    {                                                                                              \
        enum { N = sizeof(SET##_v) / sizeof(T) };                                                  \
        const T *a = left;                                                                         \
        T *c = out;                                                                                \
        SET##_v acc[MXL_CONV_HEIGHT][MXL_CONV_LINE];                                               \
                                                                                                   \
        UNROLL for (int i = 0; i < height; i++)                                                    \
        {                                                                                          \
            UNROLL for (int v = 0; v < vectors; v++) acc[i][v] = SET##_splat(0);                   \
            /* The output has time to come until the sums are done. */                             \
            UNROLL for (int v = 0; v < vectors; v++) __builtin_prefetch(c + i * ldc + v * N, 1);   \
            __builtin_prefetch(c + i * ldc + vectors * N - 1, 1);                                  \
        }                                                                                          \
        for (int64_t p = 0; p < k; p++, a += height) {                                             \
            const T *b = (const T *)right + offsets[p];                                            \
            SET##_v row[MXL_CONV_LINE];                                                            \
                                                                                                   \
            __builtin_prefetch(b + ahead);                                                         \
            if (vectors <= MXL_CONV_VECTORS) /* weights come from memory */                        \
                __builtin_prefetch((const char *)a + FAR_BYTES);                                   \
            UNROLL for (int v = 0; v < vectors; v++) row[v] = SET##_load(b + v * N);               \
            UNROLL for (int i = 0; i < height; i++)                                                \
            {                                                                                      \
                SET##_one s = SET##_one_at(a + i);                                                 \
                                                                                                   \
                UNROLL for (int v = 0; v < vectors; v++) acc[i][v] =                               \
                    SET##_fma_one(s, row[v], acc[i][v]);                                           \
            }                                                                                      \
        }                                                                                          \
        UNROLL for (int i = 0; i < height; i++)                                                    \
        {                                                                                          \
            UNROLL for (int v = 0; v < vectors; v++)                                               \
                SET##_store(c + i * ldc + v * N, SET##_end(acc[i][v], end, i, i * ldc + v * N));   \
        }                                                                                          \
        (void)end;                                                                                 \
    }                                                                                              \
                                                                                                   \
    ISA MXL_INLINE void SET##_any_weight(int height, int vectors, const mxl_conv_positions *at,    \
                                         const void *const *left, const void *right, void *out)    \
    {                                                                                              \
        enum { N = sizeof(SET##_v) / sizeof(T) };                                                  \
        const T *a[MXL_CONV_HEIGHT], *b = right;                                                   \
        T *c = out;                                                                                \
        SET##_v acc[MXL_CONV_HEIGHT][MXL_CONV_VECTORS];                                            \
                                                                                                   \
        UNROLL for (int i = 0; i < height; i++)                                                    \
        {                                                                                          \
            a[i] = left[i];                                                                        \
            UNROLL for (int v = 0; v < vectors; v++) acc[i][v] = SET##_splat(0);                   \
        }                                                                                          \
        for (int64_t r = 0; r < at->rows; r++) {                                                   \
            for (int64_t p = r * at->pitch, end = p + at->run; p < end; p++, b += vectors * N) {   \
                SET##_v row[MXL_CONV_VECTORS];                                                     \
                                                                                                   \
                UNROLL for (int v = 0; v < vectors; v++) row[v] = SET##_load(b + v * N);           \
                UNROLL for (int i = 0; i < height; i++)                                            \
                {                                                                                  \
                    SET##_one s = SET##_one_at(a[i] + p);                                          \
                                                                                                   \
                    UNROLL for (int v = 0; v < vectors; v++) acc[i][v] =                           \
                        SET##_fma_one(s, row[v], acc[i][v]);                                       \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        UNROLL for (int i = 0; i < height; i++)                                                    \
        {                                                                                          \
            UNROLL for (int v = 0; v < vectors; v++)                                               \
            {                                                                                      \
                T *to = c + (i * vectors + v) * N;                                                 \
                                                                                                   \
                SET##_store(to, SET##_add(SET##_load(to), acc[i][v]));                             \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    ISA MXL_INLINE void SET##_any_dots(int taps, const mxl_conv_positions *at,                     \
                                       const void *const *left, const void *right, void *out)      \
    {                                                                                              \
        enum { N = sizeof(SET##_v) / sizeof(T) };                                                  \
        const T *b = right;                                                                        \
        T *sums = out;                                                                             \
        int64_t whole = at->run - at->run % N, rest = at->run - whole;                             \
        SET##_v acc[MXL_CONV_DOTS];                                                                \
                                                                                                   \
        UNROLL for (int t = 0; t < taps; t++) acc[t] = SET##_splat(0);                             \
        for (int64_t r = 0; r < at->rows; r++, b += at->run) {                                     \
            int64_t row = r * at->pitch;                                                           \
                                                                                                   \
            for (int64_t p = 0; p < whole; p += N) {                                               \
                SET##_v y = SET##_load(b + p);                                                     \
                                                                                                   \
                UNROLL for (int t = 0; t < taps; t++) acc[t] =                                     \
                    SET##_fma(SET##_load((const T *)left[t] + row + p), y, acc[t]);                \
            }                                                                                      \
            if (rest > 0) {                                                                        \
                SET##_v y = SET##_load_part(b + whole, rest);                                      \
                                                                                                   \
                UNROLL for (int t = 0; t < taps; t++) acc[t] =                                     \
                    SET##_fma(SET##_load_part((const T *)left[t] + row + whole, rest), y, acc[t]); \
            }                                                                                      \
        }                                                                                          \
        UNROLL for (int t = 0; t < taps; t++) sums[t] += SET##_sum(acc[t]);                        \
    }                                                                                              \
    ISA static void SET##_dots(const mxl_conv_positions *at, const void *const *a, const void *b,  \
                               void *sums)                                                         \
    {                                                                                              \
        SET##_any_dots(MXL_CONV_DOTS, at, a, b, sums);                                             \
    }                                                                                              \
    ISA static void SET##_few_dots(const mxl_conv_positions *at, const void *const *a,             \
                                   const void *b, void *sums)                                      \
    {                                                                                              \
        SET##_any_dots(MXL_CONV_FEW_DOTS, at, a, b, sums);                                         \
    }

#define ONE(SET, ISA, height, vectors)                                                             \
    ISA static void SET##_tile_##height##_##vectors(                                               \
        int64_t k, const void *a, const void *b, const int64_t *offsets, int64_t ahead, void *out, \
        int64_t ldc, const mxl_conv_end *end)                                                      \
    {                                                                                              \
        SET##_any_tile(height, vectors, k, a, b, offsets, ahead, out, ldc, end);                   \
    }
#define BOTH(SET, ISA, height, vectors)                                                            \
    ONE(SET, ISA, height, vectors)                                                                 \
    ISA static void SET##_weight_##height##_##vectors(                                             \
        const mxl_conv_positions *at, const void *const *a, const void *b, void *out)              \
    {                                                                                              \
        SET##_any_weight(height, vectors, at, a, b, out);                                          \
    }
#define HEIGHT(SET, ISA, height)                                                                   \
    BOTH(SET, ISA, height, 1)                                                                      \
    BOTH(SET, ISA, height, 2)                                                                      \
    BOTH(SET, ISA, height, 3)
#define AT(SET, kind, height)                                                                      \
    [height] = {SET##_##kind##_##height##_1, SET##_##kind##_##height##_2,                          \
                SET##_##kind##_##height##_3}
#define SHARED(SET, T, ISA)                                                                        \
    BODIES(SET, T, ISA)                                                                            \
    HEIGHT(SET, ISA, 1)                                                                            \
    HEIGHT(SET, ISA, 2)                                                                            \
    HEIGHT(SET, ISA, 4)                                                                            \
    ONE(SET, ISA, 1, 8)
#define TABLE(SET, T)                                                                              \
    static const mxl_conv_micro SET##_micro = {sizeof(SET##_v) / sizeof(T),                        \
                                               SET##_HAS_ENDS,                                     \
                                               SET##_heights,                                      \
                                               SET##_tiles,                                        \
                                               SET##_weights,                                      \
                                               SET##_tile_1_8,                                     \
                                               SET##_columns,                                      \
                                               SET##_dots,                                         \
                                               SET##_few_dots};

/* The registers of a set hold 12 or 24 vectors of sums, three of an image and one weight. */
#define TWELVE_SUMS(SET, T, ISA)                                                                   \
    SHARED(SET, T, ISA)                                                                            \
    static const int SET##_heights[] = {4, 2, 1};                                                  \
    static const mxl_conv_tile SET##_tiles[][MXL_CONV_VECTORS] = {                                 \
        AT(SET, tile, 1), AT(SET, tile, 2), AT(SET, tile, 4)};                                     \
    static const mxl_conv_weight_tile SET##_weights[][MXL_CONV_VECTORS] = {                        \
        AT(SET, weight, 1), AT(SET, weight, 2), AT(SET, weight, 4)};                               \
    TABLE(SET, T)
#define TWENTY_FOUR_SUMS(SET, T, ISA)                                                              \
    SHARED(SET, T, ISA)                                                                            \
    HEIGHT(SET, ISA, 8)                                                                            \
    static const int SET##_heights[] = {8, 4, 2, 1};                                               \
    static const mxl_conv_tile SET##_tiles[][MXL_CONV_VECTORS] = {                                 \
        AT(SET, tile, 1), AT(SET, tile, 2), AT(SET, tile, 4), AT(SET, tile, 8)};                   \
    static const mxl_conv_weight_tile SET##_weights[][MXL_CONV_VECTORS] = {                        \
        AT(SET, weight, 1), AT(SET, weight, 2), AT(SET, weight, 4), AT(SET, weight, 8)};           \
    TABLE(SET, T)

TWELVE_SUMS(base_f32, float, )
TWELVE_SUMS(base_f64, double, )

#if MXL_HAS_NEON
TWENTY_FOUR_SUMS(neon_f32, float, )
TWENTY_FOUR_SUMS(neon_f64, double, )
#define LEVELS(T) {&base_##T##_micro, &neon_##T##_micro, &neon_##T##_micro}
#elif MXL_HAS_WIDE
TWELVE_SUMS(avx2_f32, float, MXL_TARGET_AVX2)
TWELVE_SUMS(avx2_f64, double, MXL_TARGET_AVX2)
TWENTY_FOUR_SUMS(avx512_f32, float, MXL_TARGET_AVX512)
TWENTY_FOUR_SUMS(avx512_f64, double, MXL_TARGET_AVX512)
#define LEVELS(T) {&base_##T##_micro, &avx2_##T##_micro, &avx512_##T##_micro}
#else
#define LEVELS(T) {&base_##T##_micro, &base_##T##_micro, &base_##T##_micro}
#endif

const mxl_conv_micro *mxl_conv_micro_f32(void)
{
    static const mxl_conv_micro *const micro[MXL_LEVELS] = LEVELS(f32);

    return micro[mxl_level()];
}

const mxl_conv_micro *mxl_conv_micro_f64(void)
{
    static const mxl_conv_micro *const micro[MXL_LEVELS] = LEVELS(f64);

    return micro[mxl_level()];
}
