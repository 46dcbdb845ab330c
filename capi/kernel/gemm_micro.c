/* Micro kernels: portable ones, which the compiler vectorises for any processor, and x86 ones for
 * AVX2 and AVX-512, chosen when first asked for. */
#include "kernel/gemm_micro.h"

#include "kernel/target.h"

#define PORTABLE(T)                                                                                \
    static void portable_##T(int64_t k, const void *packed_a, const void *packed_b, void *out,     \
                             int64_t ldc, int add)                                                 \
    {                                                                                              \
        const T *restrict a = packed_a;                                                            \
        const T *restrict b = packed_b;                                                            \
        T *restrict c = out;                                                                       \
        T acc[4][8] = {{0}};                                                                       \
                                                                                                   \
        for (int64_t p = 0; p < k; p++, a += 4, b += 8) {                                          \
            for (int i = 0; i < 4; i++) {                                                          \
                for (int j = 0; j < 8; j++)                                                        \
                    acc[i][j] += a[i] * b[j];                                                      \
            }                                                                                      \
        }                                                                                          \
        for (int i = 0; i < 4; i++) {                                                              \
            for (int j = 0; j < 8; j++)                                                            \
                c[i * ldc + j] = add ? c[i * ldc + j] + acc[i][j] : acc[i][j];                     \
        }                                                                                          \
    }

PORTABLE(float)
PORTABLE(double)

static const mxl_gemm_micro micro_float = {4, 8, portable_float};
static const mxl_gemm_micro micro_double = {4, 8, portable_double};

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define UNROLL _Pragma("GCC unroll 16")

/* MR rows of two vectors: 2 * MR accumulators stay in registers. */
#define X86(name, isa, T, V, MR, ZERO, LOAD, STORE, SPLAT, ADD, FMA)                               \
    __attribute__((target(isa))) static void name(                                                 \
        int64_t k, const void *packed_a, const void *packed_b, void *out, int64_t ldc, int add)    \
    {                                                                                              \
        enum { N = sizeof(V) / sizeof(T) };                                                        \
        const T *restrict a = packed_a;                                                            \
        const T *restrict b = packed_b;                                                            \
        T *restrict c = out;                                                                       \
        V acc[MR][2];                                                                              \
                                                                                                   \
        UNROLL for (int i = 0; i < MR; i++) acc[i][0] = acc[i][1] = ZERO();                        \
        for (int64_t p = 0; p < k; p++, a += MR, b += 2 * N) {                                     \
            V b0 = LOAD(b), b1 = LOAD(b + N);                                                      \
            UNROLL for (int i = 0; i < MR; i++)                                                    \
            {                                                                                      \
                V s = SPLAT(a[i]);                                                                 \
                acc[i][0] = FMA(s, b0, acc[i][0]);                                                 \
                acc[i][1] = FMA(s, b1, acc[i][1]);                                                 \
            }                                                                                      \
        }                                                                                          \
        UNROLL for (int i = 0; i < MR; i++, c += ldc)                                              \
        {                                                                                          \
            STORE(c, add ? ADD(LOAD(c), acc[i][0]) : acc[i][0]);                                   \
            STORE(c + N, add ? ADD(LOAD(c + N), acc[i][1]) : acc[i][1]);                           \
        }                                                                                          \
    }

X86(avx2_f32, "avx2,fma", float, __m256, 6, _mm256_setzero_ps, _mm256_loadu_ps, _mm256_storeu_ps,
    _mm256_set1_ps, _mm256_add_ps, _mm256_fmadd_ps)
X86(avx2_f64, "avx2,fma", double, __m256d, 6, _mm256_setzero_pd, _mm256_loadu_pd, _mm256_storeu_pd,
    _mm256_set1_pd, _mm256_add_pd, _mm256_fmadd_pd)
X86(avx512_f32, "avx512f", float, __m512, 12, _mm512_setzero_ps, _mm512_loadu_ps, _mm512_storeu_ps,
    _mm512_set1_ps, _mm512_add_ps, _mm512_fmadd_ps)
X86(avx512_f64, "avx512f", double, __m512d, 12, _mm512_setzero_pd, _mm512_loadu_pd,
    _mm512_storeu_pd, _mm512_set1_pd, _mm512_add_pd, _mm512_fmadd_pd)

static const mxl_gemm_micro micro_avx2_f32 = {6, 16, avx2_f32};
static const mxl_gemm_micro micro_avx2_f64 = {6, 8, avx2_f64};
static const mxl_gemm_micro micro_avx512_f32 = {12, 32, avx512_f32};
static const mxl_gemm_micro micro_avx512_f64 = {12, 16, avx512_f64};

const mxl_gemm_micro *mxl_gemm_micro_f32(void)
{
    static const mxl_gemm_micro *const micro[MXL_LEVELS] = {&micro_float, &micro_avx2_f32,
                                                            &micro_avx512_f32};

    return micro[mxl_level()];
}

const mxl_gemm_micro *mxl_gemm_micro_f64(void)
{
    static const mxl_gemm_micro *const micro[MXL_LEVELS] = {&micro_double, &micro_avx2_f64,
                                                            &micro_avx512_f64};

    return micro[mxl_level()];
}

#else

const mxl_gemm_micro *mxl_gemm_micro_f32(void)
{
    return &micro_float;
}

const mxl_gemm_micro *mxl_gemm_micro_f64(void)
{
    return &micro_double;
}

#endif
