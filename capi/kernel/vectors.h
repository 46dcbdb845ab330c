/* The vectors of each instruction set, under names that macros can compose: for a set and an
 * element type, SET##_v is the type, and SET##_load, _store, _splat, _add, _fma(a, b, c) = a * b +
 * c and _sum of a vector's elements are its operations; _load_part and _store_part have the first n
 * elements, _limit(x, low, high) is between them, or NaN. SET##_one is a number for all elements,
 * of _one_at(pointer), and _fma_one(s, b, c) = s * b + c: a vector, unless instructions take a
 * number. For the micro kernels of products and convolutions, which are written once for all sets.
 */
#ifndef MXL_KERNEL_VECTORS_H
#define MXL_KERNEL_VECTORS_H

#include <stddef.h>
#include <stdint.h>

#include "kernel/target.h"

/* ---- the baseline: 16-byte vectors that the compiler supports on any processor ---- */
#define BASELINE(SET, T)                                                                           \
    typedef T SET##_v __attribute__((vector_size(16)));                                            \
    typedef T SET##_here __attribute__((vector_size(16), aligned(sizeof(T)), may_alias));          \
                                                                                                   \
    MXL_INLINE SET##_v SET##_load(const T *from)                                                   \
    {                                                                                              \
        return *(const SET##_here *)from;                                                          \
    }                                                                                              \
    MXL_INLINE SET##_v SET##_load_part(const T *from, int64_t n)                                   \
    {                                                                                              \
        SET##_v v = {0};                                                                           \
                                                                                                   \
        for (int64_t i = 0; i < n; i++)                                                            \
            v[i] = from[i];                                                                        \
        return v;                                                                                  \
    }                                                                                              \
    MXL_INLINE void SET##_store(T *to, SET##_v v)                                                  \
    {                                                                                              \
        *(SET##_here *)to = v;                                                                     \
    }                                                                                              \
    MXL_INLINE void SET##_store_part(T *to, SET##_v v, int64_t n)                                  \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++)                                                            \
            to[i] = v[i];                                                                          \
    }                                                                                              \
    MXL_INLINE SET##_v SET##_limit(SET##_v x, SET##_v low, SET##_v high)                           \
    {                                                                                              \
        for (size_t i = 0; i < sizeof(x) / sizeof(T); i++)                                         \
            x[i] = x[i] > high[i] ? high[i] : x[i] < low[i] ? low[i] : x[i];                       \
        return x;                                                                                  \
    }                                                                                              \
    MXL_INLINE SET##_v SET##_splat(T x)                                                            \
    {                                                                                              \
        return (SET##_v){0} + x;                                                                   \
    }                                                                                              \
    MXL_INLINE SET##_v SET##_add(SET##_v a, SET##_v b)                                             \
    {                                                                                              \
        return a + b;                                                                              \
    }                                                                                              \
    MXL_INLINE T SET##_sum(SET##_v v)                                                              \
    {                                                                                              \
        T sum = 0;                                                                                 \
                                                                                                   \
        for (size_t i = 0; i < sizeof(v) / sizeof(T); i++)                                         \
            sum += v[i];                                                                           \
        return sum;                                                                                \
    }

BASELINE(base_f32, float)
BASELINE(base_f64, double)
#undef BASELINE

#define base_f32_fma(a, b, c) ((a) * (b) + (c))
#define base_f64_fma(a, b, c) ((a) * (b) + (c))

typedef base_f32_v base_f32_one;
typedef base_f64_v base_f64_one;
#define base_f32_one_at(from) base_f32_splat(*(from))
#define base_f64_one_at(from) base_f64_splat(*(from))
#define base_f32_fma_one      base_f32_fma
#define base_f64_fma_one      base_f64_fma

/* ---- aarch64: the same vectors, with fused multiply-adds ---- */
#if MXL_HAS_NEON
#include <arm_neon.h>

/* (From a number in a register the compiler would make a vector, by an instruction that takes the
 * place of a multiplication.) */
MXL_INLINE float32x4_t fma_one_f32(float s, float32x4_t b, float32x4_t c)
{
    __asm__("fmla %0.4s, %1.4s, %2.s[0]" : "+w"(c) : "w"(b), "w"(s));
    return c;
}

MXL_INLINE float64x2_t fma_one_f64(double s, float64x2_t b, float64x2_t c)
{
    __asm__("fmla %0.2d, %1.2d, %2.d[0]" : "+w"(c) : "w"(b), "w"(s));
    return c;
}

/* (NaN stays: vminq and vmaxq give it.) */
MXL_INLINE float32x4_t limit_neon(float32x4_t x, float32x4_t low, float32x4_t high)
{
    return vminq_f32(vmaxq_f32(x, low), high);
}

typedef float32x4_t neon_f32_v;
typedef float neon_f32_one;
#define neon_f32_load         vld1q_f32
#define neon_f32_load_part    (float32x4_t) base_f32_load_part
#define neon_f32_store        vst1q_f32
#define neon_f32_store_part   base_f32_store_part
#define neon_f32_limit        limit_neon
#define neon_f32_splat        vdupq_n_f32
#define neon_f32_add          vaddq_f32
#define neon_f32_fma(a, b, c) vfmaq_f32(c, a, b)
#define neon_f32_sum          vaddvq_f32
#define neon_f32_one_at(from) (*(from))
#define neon_f32_fma_one      fma_one_f32

typedef float64x2_t neon_f64_v;
typedef double neon_f64_one;
#define neon_f64_load         vld1q_f64
#define neon_f64_load_part    (float64x2_t) base_f64_load_part
#define neon_f64_store        vst1q_f64
#define neon_f64_splat        vdupq_n_f64
#define neon_f64_add          vaddq_f64
#define neon_f64_fma(a, b, c) vfmaq_f64(c, a, b)
#define neon_f64_sum          vaddvq_f64
#define neon_f64_one_at(from) (*(from))
#define neon_f64_fma_one      fma_one_f64
#endif

/* ---- x86-64 ---- */
#if MXL_HAS_WIDE
#include <immintrin.h>

MXL_TARGET_AVX2 MXL_INLINE float sum_256(__m256 v)
{
    __m128 half = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));

    half = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
}

MXL_TARGET_AVX2 MXL_INLINE double sum_256d(__m256d v)
{
    __m128d half = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));

    return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
}

/* Masks of the first n elements begin n before the middle. */
static const int32_t mxl_mask_32[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
static const int64_t mxl_mask_64[8] = {-1, -1, -1, -1};

MXL_TARGET_AVX2 MXL_INLINE __m256 load_part_256(const float *from, int64_t n)
{
    return _mm256_maskload_ps(from, _mm256_loadu_si256((const __m256i *)(mxl_mask_32 + 8 - n)));
}

MXL_TARGET_AVX2 MXL_INLINE __m256d load_part_256d(const double *from, int64_t n)
{
    return _mm256_maskload_pd(from, _mm256_loadu_si256((const __m256i *)(mxl_mask_64 + 4 - n)));
}

MXL_TARGET_AVX2 MXL_INLINE void store_part_256(float *to, __m256 v, int64_t n)
{
    _mm256_maskstore_ps(to, _mm256_loadu_si256((const __m256i *)(mxl_mask_32 + 8 - n)), v);
}

/* (Of a maximum and a minimum with NaN, the processor's result is the second operand.) */
MXL_TARGET_AVX2 MXL_INLINE __m256 limit_256(__m256 x, __m256 low, __m256 high)
{
    return _mm256_min_ps(high, _mm256_max_ps(low, x));
}

MXL_TARGET_AVX512 MXL_INLINE void store_part_512(float *to, __m512 v, int64_t n)
{
    _mm512_mask_storeu_ps(to, (__mmask16)((1u << n) - 1), v);
}

MXL_TARGET_AVX512 MXL_INLINE __m512 limit_512(__m512 x, __m512 low, __m512 high)
{
    return _mm512_min_ps(high, _mm512_max_ps(low, x));
}

MXL_TARGET_AVX512 MXL_INLINE __m512 load_part_512(const float *from, int64_t n)
{
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), from);
}

MXL_TARGET_AVX512 MXL_INLINE __m512d load_part_512d(const double *from, int64_t n)
{
    return _mm512_maskz_loadu_pd((__mmask8)((1u << n) - 1), from);
}

typedef __m256 avx2_f32_v;
#define avx2_f32_load       _mm256_loadu_ps
#define avx2_f32_load_part  load_part_256
#define avx2_f32_store      _mm256_storeu_ps
#define avx2_f32_store_part store_part_256
#define avx2_f32_limit      limit_256
#define avx2_f32_splat      _mm256_set1_ps
#define avx2_f32_add        _mm256_add_ps
#define avx2_f32_fma        _mm256_fmadd_ps
#define avx2_f32_sum        sum_256
typedef __m256 avx2_f32_one;
#define avx2_f32_one_at(from) _mm256_set1_ps(*(from))
#define avx2_f32_fma_one      _mm256_fmadd_ps

typedef __m256d avx2_f64_v;
#define avx2_f64_load      _mm256_loadu_pd
#define avx2_f64_load_part load_part_256d
#define avx2_f64_store     _mm256_storeu_pd
#define avx2_f64_splat     _mm256_set1_pd
#define avx2_f64_add       _mm256_add_pd
#define avx2_f64_fma       _mm256_fmadd_pd
#define avx2_f64_sum       sum_256d
typedef __m256d avx2_f64_one;
#define avx2_f64_one_at(from) _mm256_set1_pd(*(from))
#define avx2_f64_fma_one      _mm256_fmadd_pd

typedef __m512 avx512_f32_v;
#define avx512_f32_load       _mm512_loadu_ps
#define avx512_f32_load_part  load_part_512
#define avx512_f32_store      _mm512_storeu_ps
#define avx512_f32_store_part store_part_512
#define avx512_f32_limit      limit_512
#define avx512_f32_splat      _mm512_set1_ps
#define avx512_f32_add        _mm512_add_ps
#define avx512_f32_fma        _mm512_fmadd_ps
#define avx512_f32_sum        _mm512_reduce_add_ps
typedef __m512 avx512_f32_one;
#define avx512_f32_one_at(from) _mm512_set1_ps(*(from))
#define avx512_f32_fma_one      _mm512_fmadd_ps

typedef __m512d avx512_f64_v;
#define avx512_f64_load      _mm512_loadu_pd
#define avx512_f64_load_part load_part_512d
#define avx512_f64_store     _mm512_storeu_pd
#define avx512_f64_splat     _mm512_set1_pd
#define avx512_f64_add       _mm512_add_pd
#define avx512_f64_fma       _mm512_fmadd_pd
#define avx512_f64_sum       _mm512_reduce_add_pd
typedef __m512d avx512_f64_one;
#define avx512_f64_one_at(from) _mm512_set1_pd(*(from))
#define avx512_f64_fma_one      _mm512_fmadd_pd

#endif

#endif
