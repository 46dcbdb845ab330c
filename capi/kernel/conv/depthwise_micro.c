/* Micro kernels of depthwise convolutions: one source for all instruction sets. */
#include "kernel/conv/depthwise_micro.h"

#include <stdbool.h>

#include "kernel/vectors.h"

#define UNROLL _Pragma("GCC unroll 16")

/* Makes the compiler read a vector from memory once, not in each instruction that has it. */
#if defined(__x86_64__)
#define IN_REGISTER(v) __asm__("" : "+v"(v))
#elif defined(__aarch64__)
#define IN_REGISTER(v) __asm__("" : "+w"(v))
#else
#define IN_REGISTER(v) (void)(v)
#endif

enum {
    TALL = 4, /* rows that share the rows of the image that they read */
    NINE = 9  /* taps whose weights stay in registers */
};

/* How many of a vector's elements: 0 to n. */
static int64_t least(int64_t left, int64_t n)
{
    return left < 0 ? 0 : left < n ? left : n;
}

/* The elements of two vectors with even numbers, and with odd ones. */
MXL_INLINE base_f32_v base_f32_evens(base_f32_v a, base_f32_v b)
{
    return (base_f32_v){a[0], a[2], b[0], b[2]};
}
MXL_INLINE base_f32_v base_f32_odds(base_f32_v a, base_f32_v b)
{
    return (base_f32_v){a[1], a[3], b[1], b[3]};
}

#if MXL_HAS_NEON
#define neon_f32_evens vuzp1q_f32
#define neon_f32_odds  vuzp2q_f32
#endif

#if MXL_HAS_WIDE
#define AVX2_TURNS(name, which)                                                                    \
    MXL_TARGET_AVX2 MXL_INLINE __m256 avx2_f32_##name(__m256 a, __m256 b)                          \
    {                                                                                              \
        __m256d found = _mm256_castps_pd(_mm256_shuffle_ps(a, b, which));                          \
                                                                                                   \
        return _mm256_castpd_ps(_mm256_permute4x64_pd(found, 0xd8));                               \
    }
AVX2_TURNS(evens, 0x88)
AVX2_TURNS(odds, 0xdd)

#define AVX512_TURNS(name, first)                                                                  \
    MXL_TARGET_AVX512 MXL_INLINE __m512 avx512_f32_##name(__m512 a, __m512 b)                      \
    {                                                                                              \
        const __m512i steps =                                                                      \
            _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);          \
                                                                                                   \
        return _mm512_permutex2var_ps(a, _mm512_add_epi32(steps, _mm512_set1_epi32(first)), b);    \
    }
AVX512_TURNS(evens, 0)
AVX512_TURNS(odds, 1)
#endif

/* SET names an instruction set of kernel/vectors.h, ISA the attribute of its functions, SQUARES
 * whether it has loops of its own for 3 x 3 taps. */
#define DEPTHWISE(SET, ISA, SQUARES)                                                               \
    /* What is the same for all vectors of a channel. */                                           \
    typedef struct SET##_ends {                                                                    \
        SET##_v bias, low, high;                                                                   \
    } SET##_ends;                                                                                  \
    /* The end of a vector of sums: n elements of it are stored. */                                \
    ISA MXL_INLINE void SET##_end(const SET##_ends *ends, SET##_v sum, const float *add,           \
                                  float *dst, int64_t n)                                           \
    {                                                                                              \
        enum { N = sizeof(SET##_v) / sizeof(float) };                                              \
                                                                                                   \
        sum = SET##_add(sum, ends->bias);                                                          \
        if (add != NULL)                                                                           \
            sum = SET##_add(sum, n == N ? SET##_load(add) : SET##_load_part(add, n));              \
        sum = SET##_limit(sum, ends->low, ends->high);                                             \
        if (n == N)                                                                                \
            SET##_store(dst, sum);                                                                 \
        else                                                                                       \
            SET##_store_part(dst, sum, n);                                                         \
    }                                                                                              \
    /* `tall` rows of one vector, of 3 x 3 taps: each row of the image is read once. */            \
    ISA MXL_INLINE void SET##_square(int tall, const mxl_depthwise_rows *r,                        \
                                     const SET##_ends *ends, const SET##_v *w, const float *x,     \
                                     const float *add, float *dst, int64_t n)                      \
    {                                                                                              \
        SET##_v sum[TALL];                                                                         \
                                                                                                   \
        UNROLL for (int i = 0; i < tall; i++) sum[i] = SET##_splat(0);                             \
        UNROLL for (int row = 0; row < tall + 2; row++)                                            \
        {                                                                                          \
            UNROLL for (int j = 0; j < 3; j++)                                                     \
            {                                                                                      \
                SET##_v some = SET##_load(x + row * r->square + j);                                \
                IN_REGISTER(some);                                                                 \
                                                                                                   \
                UNROLL for (int i = 0; i < tall; i++)                                              \
                {                                                                                  \
                    if (row - i >= 0 && row - i < 3)                                               \
                        sum[i] = SET##_fma(w[3 * (row - i) + j], some, sum[i]);                    \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        UNROLL for (int i = 0; i < tall; i++) SET##_end(                                           \
            ends, sum[i], add != NULL ? add + i * r->dst_pitch : NULL, dst + i * r->dst_pitch, n); \
    }                                                                                              \
    /* All rows, of 3 x 3 taps. The last tall ones may overlap those before. */                    \
    ISA MXL_INLINE void SET##_squares(int tall, const mxl_depthwise_rows *r,                       \
                                      const SET##_ends *ends, const float *x, const float *w,      \
                                      const float *add, float *dst)                                \
    {                                                                                              \
        enum { N = sizeof(SET##_v) / sizeof(float) };                                              \
        SET##_v taps[9];                                                                           \
                                                                                                   \
        UNROLL for (int t = 0; t < 9; t++) taps[t] = SET##_splat(w[t]);                            \
        for (int64_t from = 0; from < r->rows; from += tall) {                                     \
            int64_t h = r->rows - from < tall ? r->rows - tall : from;                             \
                                                                                                   \
            for (int64_t i = 0; i < r->n; i += N) {                                                \
                int64_t at = h * r->dst_pitch + i;                                                 \
                                                                                                   \
                SET##_square(tall, r, ends, taps, x + h * r->pitch + i,                            \
                             add != NULL ? add + at : NULL, dst + at,                              \
                             r->n - i < N ? r->n - i : N);                                         \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    /* All rows, of `taps` taps, or r->taps if that is 0: those that are a constant are held. */   \
    ISA MXL_INLINE void SET##_any(int taps, const mxl_depthwise_rows *r, const SET##_ends *ends,   \
                                  const float *planes, const float *w, const float *add,           \
                                  float *dst)                                                      \
    {                                                                                              \
        enum { N = sizeof(SET##_v) / sizeof(float) };                                              \
        int64_t offsets[NINE];                                                                     \
        SET##_v held[NINE];                                                                        \
                                                                                                   \
        UNROLL for (int t = 0; t < taps; t++)                                                      \
        {                                                                                          \
            held[t] = SET##_splat(w[t]);                                                           \
            offsets[t] = r->offsets[t];                                                            \
        }                                                                                          \
        for (int64_t h = 0; h < r->rows; h++) {                                                    \
            for (int64_t i = 0; i < r->n; i += N) {                                                \
                const float *x = planes + h * r->pitch + i;                                        \
                int64_t at = h * r->dst_pitch + i;                                                 \
                SET##_v sum = SET##_splat(0);                                                      \
                                                                                                   \
                UNROLL for (int t = 0; t < taps; t++) sum =                                        \
                    SET##_fma(held[t], SET##_load(x + offsets[t]), sum);                           \
                for (int64_t t = 0; t < r->taps && taps == 0; t++)                                 \
                    sum = SET##_fma(SET##_splat(w[t]), SET##_load(x + r->offsets[t]), sum);        \
                SET##_end(ends, sum, add != NULL ? add + at : NULL, dst + at,                      \
                          r->n - i < N ? r->n - i : N);                                            \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    ISA static void SET##_depthwise(const mxl_depthwise_rows *r, float bias, const float *planes,  \
                                    const float *w, const float *add, float *dst)                  \
    {                                                                                              \
        SET##_ends ends = {SET##_splat(bias), SET##_splat(r->low), SET##_splat(r->high)};          \
                                                                                                   \
        if (SQUARES && r->square != 0 && r->rows >= TALL)                                          \
            SET##_squares(TALL, r, &ends, planes, w, add, dst);                                    \
        else if (SQUARES && r->square != 0)                                                        \
            SET##_squares(1, r, &ends, planes, w, add, dst);                                       \
        else if (SQUARES && r->taps == NINE)                                                       \
            SET##_any(NINE, r, &ends, planes, w, add, dst);                                        \
        else                                                                                       \
            SET##_any(0, r, &ends, planes, w, add, dst);                                           \
    }                                                                                              \
    ISA static void SET##_split(const mxl_depthwise_split *s, const float *from, float *even,      \
                                float *odd)                                                        \
    {                                                                                              \
        enum { N = sizeof(SET##_v) / sizeof(float) };                                              \
        int64_t n = s->evens > s->odds ? s->evens : s->odds, all = s->evens + s->odds;             \
                                                                                                   \
        for (int64_t r = 0; r < s->rows; r++) {                                                    \
            int64_t i = 0;                                                                         \
                                                                                                   \
            for (; all - 2 * i >= 2 * N; i += N) {                                                 \
                SET##_v a = SET##_load(from + 2 * i), b = SET##_load(from + 2 * i + N);            \
                                                                                                   \
                SET##_store(even + i, SET##_evens(a, b));                                          \
                SET##_store(odd + i, SET##_odds(a, b));                                            \
            }                                                                                      \
            for (; i < n; i += N) {                                                                \
                SET##_v a = SET##_load_part(from + 2 * i, least(all - 2 * i, N));                  \
                SET##_v b = SET##_load_part(from + 2 * i + N, least(all - 2 * i - N, N));          \
                                                                                                   \
                SET##_store_part(even + i, SET##_evens(a, b), least(s->evens - i, N));             \
                SET##_store_part(odd + i, SET##_odds(a, b), least(s->odds - i, N));                \
            }                                                                                      \
            from += s->from_pitch;                                                                 \
            even += s->pitch;                                                                      \
            odd += s->pitch;                                                                       \
        }                                                                                          \
    }

/* (Small at the baseline, as other loops of many forms.) */
DEPTHWISE(base_f32, , 0)
#if MXL_HAS_NEON
DEPTHWISE(neon_f32, , 1)
#define LEVELS                                                                                     \
    {                                                                                              \
        {base_f32_depthwise, base_f32_split},                                                      \
        {neon_f32_depthwise, neon_f32_split},                                                      \
        {neon_f32_depthwise, neon_f32_split},                                                      \
    }
#elif MXL_HAS_WIDE
DEPTHWISE(avx2_f32, MXL_TARGET_AVX2, 1)
DEPTHWISE(avx512_f32, MXL_TARGET_AVX512, 1)
#define LEVELS                                                                                     \
    {                                                                                              \
        {base_f32_depthwise, base_f32_split},                                                      \
        {avx2_f32_depthwise, avx2_f32_split},                                                      \
        {avx512_f32_depthwise, avx512_f32_split},                                                  \
    }
#else
#define BASE   {base_f32_depthwise, base_f32_split}
#define LEVELS {BASE, BASE, BASE}
#endif

const mxl_depthwise_micro *mxl_depthwise_micro_f32(void)
{
    static const mxl_depthwise_micro micro[MXL_LEVELS] = LEVELS;

    return &micro[mxl_level()];
}
