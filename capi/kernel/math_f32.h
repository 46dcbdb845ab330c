/* Functions of floats as straight-line code that compilers vectorise. exp and log are within 1 ULP
 * of the exact value (tanh 1.5, sigmoid 2.5; tests/c/test_kernel_math.c walks the floats); NaN,
 * infinities, signed zeros and denormals come out right. For row expressions, through
 * kernel/math.h.
 */
#ifndef MXL_KERNEL_MATH_F32_H
#define MXL_KERNEL_MATH_F32_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernel/target.h"

static inline uint32_t mxl_float_bits(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static inline float mxl_float_of_bits(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* e^x = 2^k e^r with |r| <= ln(2)/2; 2^k in two factors, so that denormals and the largest values
 * need no branch. */
MXL_INLINE float mxl_exp_f32(int level, float x)
{
    const float shift =
        12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer in the low bits */
    float c = x < -104.0f ? -104.0f : x;
    float t, k, r, p;
    uint32_t n, half;

    (void)level;
    c = c > 89.0f ? 89.0f : c;
    t = c * 1.44269504f + shift;
    k = t - shift;
    n = mxl_float_bits(t) - mxl_float_bits(shift);
    r = c - k * 0.693359375f;
    r = r + k * 2.12194440e-4f;
    p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r + 1.0f;
    half = (uint32_t)((int32_t)n >> 1);
    p *= mxl_float_of_bits((half + 127) << 23);
    return p * mxl_float_of_bits((n - half + 127) << 23);
}

/* x = 2^e m with sqrt(1/2) <= m < sqrt(2); log m by a polynomial in m - 1. */
MXL_INLINE float mxl_log_f32(int level, float x)
{
    float small = x < 1.17549435e-38f ? 8388608.0f : 1.0f; /* denormals: times 2^23 */
    float e = x < 1.17549435e-38f ? -23.0f : 0.0f;
    uint32_t bits = mxl_float_bits(x * small) - 0x3f3504f3u; /* of sqrt(1/2) */
    float m = mxl_float_of_bits((bits & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
    float z = m * m, p;

    (void)level;
    e += (float)((int32_t)bits >> 23);
    p = 7.0376836292e-2f;
    p = p * m - 1.1514610310e-1f;
    p = p * m + 1.1676998740e-1f;
    p = p * m - 1.2420140846e-1f;
    p = p * m + 1.4249322787e-1f;
    p = p * m - 1.6668057665e-1f;
    p = p * m + 2.0000714765e-1f;
    p = p * m - 2.4999993993e-1f;
    p = p * m + 3.3333331174e-1f;
    p = p * m * z;
    p = p - e * 2.12194440e-4f;
    p = p - 0.5f * z;
    p = m + p;
    p = p + e * 0.693359375f;
    p = x < INFINITY ? p : x; /* and NaN */
    p = x == 0.0f ? -INFINITY : p;
    return x < 0.0f ? NAN : p;
}

/* |x| < 0.625: an odd polynomial, else 1 - 2 / (e^2|x| + 1). */
MXL_INLINE float mxl_tanh_f32(int level, float x)
{
    float a = fabsf(x), z = x * x;
    float far = 1.0f - 2.0f / (mxl_exp_f32(level, a + a) + 1.0f);
    float p;

    p = -5.70498872745e-3f;
    p = p * z + 2.06390887954e-2f;
    p = p * z - 5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z - 3.33332819422e-1f;
    p = p * z * x + x;
    return copysignf(a >= 0.625f ? far : p, x); /* p loses the sign of a zero */
}

MXL_INLINE float mxl_sigmoid_f32(int level, float x)
{
    float e = mxl_exp_f32(level, -fabsf(x)); /* never overflows */

    return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

/* Cosine and sine of u turns (2 pi u), u in [0, 1]: exact reduction to an eighth of a turn. */
static inline void mxl_turn_f32(float u, float *cosine, float *sine)
{
    const float shift = 12582912.0f;
    float t = u * 4.0f + shift;
    uint32_t quarter = mxl_float_bits(t);
    float r = (u * 4.0f - (t - shift)) * 1.57079637f, z = r * r;
    float s = ((-1.9515295891e-4f * z + 8.3321608736e-3f) * z - 1.6666654611e-1f) * z * r + r;
    float c =
        ((2.443315711e-5f * z - 1.388731625e-3f) * z + 4.166664568e-2f) * z * z - 0.5f * z + 1.0f;
    float x = quarter & 1 ? s : c, y = quarter & 1 ? c : s;

    *cosine = (quarter + 1) & 2 ? -x : x;
    *sine = quarter & 2 ? -y : y;
}

/* From here on the C library, one call for each element. */

MXL_INLINE float mxl_expm1_f32(int level, float x)
{
    (void)level;
    return expm1f(x);
}

MXL_INLINE float mxl_log2_f32(int level, float x)
{
    (void)level;
    return log2f(x);
}

MXL_INLINE float mxl_log10_f32(int level, float x)
{
    (void)level;
    return log10f(x);
}

MXL_INLINE float mxl_log1p_f32(int level, float x)
{
    (void)level;
    return log1pf(x);
}

MXL_INLINE float mxl_sqrt_f32(int level, float x)
{
    (void)level;
    return sqrtf(x);
}

MXL_INLINE float mxl_rsqrt_f32(int level, float x)
{
    (void)level;
    return 1.0f / sqrtf(x);
}

MXL_INLINE float mxl_cbrt_f32(int level, float x)
{
    (void)level;
    return cbrtf(x);
}

MXL_INLINE float mxl_rcbrt_f32(int level, float x)
{
    (void)level;
    return 1.0f / cbrtf(x);
}

MXL_INLINE float mxl_sin_f32(int level, float x)
{
    (void)level;
    return sinf(x);
}

MXL_INLINE float mxl_cos_f32(int level, float x)
{
    (void)level;
    return cosf(x);
}

MXL_INLINE float mxl_tan_f32(int level, float x)
{
    (void)level;
    return tanf(x);
}

MXL_INLINE float mxl_asin_f32(int level, float x)
{
    (void)level;
    return asinf(x);
}

MXL_INLINE float mxl_acos_f32(int level, float x)
{
    (void)level;
    return acosf(x);
}

MXL_INLINE float mxl_atan_f32(int level, float x)
{
    (void)level;
    return atanf(x);
}

MXL_INLINE float mxl_sinh_f32(int level, float x)
{
    (void)level;
    return sinhf(x);
}

MXL_INLINE float mxl_cosh_f32(int level, float x)
{
    (void)level;
    return coshf(x);
}

MXL_INLINE float mxl_asinh_f32(int level, float x)
{
    (void)level;
    return asinhf(x);
}

MXL_INLINE float mxl_acosh_f32(int level, float x)
{
    (void)level;
    return acoshf(x);
}

MXL_INLINE float mxl_atanh_f32(int level, float x)
{
    (void)level;
    return atanhf(x);
}

MXL_INLINE float mxl_erf_f32(int level, float x)
{
    (void)level;
    return erff(x);
}

MXL_INLINE float mxl_softrelu_f32(int level, float x)
{
    return (x < 0.0f ? 0.0f : x) + log1pf(mxl_exp_f32(level, -fabsf(x)));
}

MXL_INLINE float mxl_gelu_f32(int level, float x)
{
    (void)level;
    return x * erfcf(-x * 0.707106781f) / 2.0f;
}

MXL_INLINE float mxl_pow_f32(int level, float x, float y)
{
    (void)level;
    return powf(x, y);
}

MXL_INLINE float mxl_hypot_f32(int level, float x, float y)
{
    (void)level;
    return hypotf(x, y);
}

#endif
