/* float16 to float32 and back, by the processor's instructions if it has them, with the same bits
 * as base/half.h. For cast.c. */
#include "kernel/copy/cast.h"
#include "kernel/target.h"

#if MXL_HAS_WIDE || MXL_HAS_NEON
/* Functions below convert whole vectors of n numbers (two at a time to float), and return how many
 * numbers they converted. A signalling NaN must stay one, but the instruction would quiet it:
 * vectors with a NaN are left to the loop. */
static void plain_to_floats(float *out, const mxl_half *in, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = mxl_half_to_float(in[i]);
}
#endif

#if MXL_HAS_NEON
#include <arm_neon.h>

static int64_t to_floats_neon(float *out, const mxl_half *in, int64_t n)
{
    enum { N = 8 };
    const uint16x8_t magnitude = vdupq_n_u16(0x7FFF), infinity = vdupq_n_u16(0x7C00);
    int64_t i = 0;

    for (; i + N <= n; i += N) {
        uint16x8_t bits = vld1q_u16(in + i);
        float16x8_t v = vreinterpretq_f16_u16(bits);

        if (vmaxvq_u16(vcgtq_u16(vandq_u16(bits, magnitude), infinity)) != 0) {
            plain_to_floats(out + i, in + i, N);
            continue;
        }
        vst1q_f32(out + i, vcvt_f32_f16(vget_low_f16(v)));
        vst1q_f32(out + i + N / 2, vcvt_high_f32_f16(v));
    }
    return i;
}

static int64_t to_halves_neon(mxl_half *out, const float *in, int64_t n)
{
    enum { N = 8 };
    int64_t i = 0;

    for (; i + N <= n; i += N) {
        float16x4_t low = vcvt_f16_f32(vld1q_f32(in + i));

        vst1q_u16(out + i,
                  vreinterpretq_u16_f16(vcvt_high_f16_f32(low, vld1q_f32(in + i + N / 2))));
    }
    return i;
}

#define AT_LEVEL(fn, out, in, n) (mxl_level() >= MXL_NEON ? fn##_neon(out, in, n) : 0)
#elif MXL_HAS_WIDE
#include <immintrin.h>

#define VECTORS(LEVEL, N, load_halves, store_halves, to_half, to_float, NANS, ...)                 \
    MXL_TARGET_##LEVEL static int64_t to_floats_##LEVEL(float *out, const mxl_half *in, int64_t n) \
    {                                                                                              \
        int64_t i = 0;                                                                             \
                                                                                                   \
        for (; i + 2 * N <= n; i += 2 * N) {                                                       \
            __VA_ARGS__ v = to_float(load_halves((const void *)(in + i)));                         \
            __VA_ARGS__ w = to_float(load_halves((const void *)(in + i + N)));                     \
                                                                                                   \
            memcpy(out + i, &v, sizeof v);                                                         \
            memcpy(out + i + N, &w, sizeof w);                                                     \
            if (NANS(v, w) != 0)                                                                   \
                plain_to_floats(out + i, in + i, 2 * N);                                           \
        }                                                                                          \
        return i;                                                                                  \
    }                                                                                              \
                                                                                                   \
    MXL_TARGET_##LEVEL static int64_t to_halves_##LEVEL(mxl_half *out, const float *in, int64_t n) \
    {                                                                                              \
        int64_t i = 0;                                                                             \
                                                                                                   \
        for (; i + N <= n; i += N) {                                                               \
            __VA_ARGS__ v;                                                                         \
                                                                                                   \
            memcpy(&v, in + i, sizeof v);                                                          \
            store_halves((void *)(out + i), to_half(v, _MM_FROUND_TO_NEAREST_INT));                \
        }                                                                                          \
        return i;                                                                                  \
    }

#define NANS_8(v, w)  _mm256_movemask_ps(_mm256_cmp_ps(v, w, _CMP_UNORD_Q))
#define NANS_16(v, w) _mm512_cmp_ps_mask(v, w, _CMP_UNORD_Q)

VECTORS(AVX2, 8, _mm_loadu_si128, _mm_storeu_si128, _mm256_cvtps_ph, _mm256_cvtph_ps, NANS_8,
        __m256)
VECTORS(AVX512, 16, _mm256_loadu_si256, _mm256_storeu_si256, _mm512_cvtps_ph, _mm512_cvtph_ps,
        NANS_16, __m512)

#define AT_LEVEL(fn, out, in, n)                                                                   \
    (mxl_level() == MXL_AVX512 ? fn##_AVX512(out, in, n)                                           \
     : mxl_level() == MXL_AVX2 ? fn##_AVX2(out, in, n)                                             \
                               : 0)
#else
#define AT_LEVEL(fn, out, in, n) 0
#endif

void mxl_cast_half_to_float(void *out, const void *const *in, const int64_t *step, int64_t n,
                            const void *params)
{
    float *z = out;
    const mxl_half *a = in[0];

    (void)step;
    (void)params;
    for (int64_t i = AT_LEVEL(to_floats, z, a, n); i < n; i++)
        z[i] = mxl_half_to_float(a[i]);
}

void mxl_cast_float_to_half(void *out, const void *const *in, const int64_t *step, int64_t n,
                            const void *params)
{
    mxl_half *z = out;
    const float *a = in[0];

    (void)step;
    (void)params;
    for (int64_t i = AT_LEVEL(to_halves, z, a, n); i < n; i++)
        z[i] = mxl_half_from_float(a[i]);
}
