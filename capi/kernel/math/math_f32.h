/* Functions of floats as straight-line code that compilers vectorise, in float arithmetic: those in
 * which networks spend most time. The others are in math_f32_wide.h. NaN, infinities, signed zeros
 * and denormals give correct results. Each function's comment has its worst error in ULP over all
 * 2^32 arguments (test_kernel_math.c checks them). Polynomials without a source are minimax
 * fits by tools/fit_polynomial.py. For loop expressions, through kernel/math/math.h. */
#ifndef MXL_KERNEL_MATH_MATH_F32_H
#define MXL_KERNEL_MATH_MATH_F32_H

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

/* ---- e^x and functions of it ---- */

/* Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits. With an exponent's bias
 * added too, those bits shifted to the left are a power of two. */
#define MXL_ROUND_F32 12582912.0f

/* r = x - k ln 2, with ln 2 in two parts, the first of 10 bits (Cody and Waite). */
MXL_INLINE float mxl_exp_reduce_f32(int level, float x, float k)
{
    return mxl_fma(level, k, 2.12194440e-4f, mxl_fma(level, k, -0.693359375f, x));
}

/* e^r - 1 for |r| <= ln(2) / 2, relative to e^r within 2^-28. */
MXL_INLINE float mxl_exp_rest_f32(int level, float r)
{
    float p = mxl_fma(level, 1.38274743e-3f, r, 8.36904813e-3f);

    p = mxl_fma(level, p, r, 4.16681319e-2f);
    p = mxl_fma(level, p, r, 0.166665167f);
    p = mxl_fma(level, p, r, 0.49999994f);
    return mxl_fma(level, p, r * r, r);
}

/* The same relative to e^r - 1 within 2^-31. */
MXL_INLINE float mxl_expm1_rest_f32(int level, float r)
{
    float p = mxl_fma(level, 1.96620575e-4f, r, 1.39350432e-3f);

    p = mxl_fma(level, p, r, 8.3336439e-3f);
    p = mxl_fma(level, p, r, 4.16664667e-2f);
    p = mxl_fma(level, p, r, 0.166666657f);
    p = mxl_fma(level, p, r, 0.5f);
    return mxl_fma(level, p, r * r, r);
}

/* e^x = 2^k e^r; 2^k in two factors, so that denormals and the largest values need no branch. */
MXL_INLINE float mxl_exp_f32(int level, float x)
{
    const float shift = MXL_ROUND_F32 + 2 * 127;
    float c = x < -104.0f ? -104.0f : x, t, p, half;
    uint32_t n;

    c = c > 89.0f ? 89.0f : c;
    t = mxl_fma(level, c, 1.44269504f, shift);
    p = mxl_exp_rest_f32(level, mxl_exp_reduce_f32(level, c, t - shift));
    n = mxl_float_bits(t);
    half = mxl_float_of_bits(n >> 1 << 23);
    return mxl_fma(level, p, half, half) * mxl_float_of_bits((n + 1) >> 1 << 23);
}

/* 2^k (e^r - 1) + (2^k - 1), halved so that 2^k is a float wherever the result is. */
MXL_INLINE float mxl_expm1_f32(int level, float x)
{
    const float shift = MXL_ROUND_F32 + 126;
    float c = x < -20.0f ? -20.0f : x, t, p, scale;

    c = c > 89.0f ? 89.0f : c;
    t = mxl_fma(level, c, 1.44269504f, shift);
    p = mxl_expm1_rest_f32(level, mxl_exp_reduce_f32(level, c, t - shift));
    scale = mxl_float_of_bits(mxl_float_bits(t) << 23);
    p = 2.0f * mxl_fma(level, p, scale, scale - 0.5f);
    return fabsf(x) < 1e-8f ? x : p; /* halves of denormals are not exact */
}

/* |x| < 1/2: an odd polynomial, else 1 - 2 / (e^2|x| + 1), where the reduction may be coarse. */
MXL_INLINE float mxl_tanh_f32(int level, float x)
{
    const float shift = MXL_ROUND_F32 + 127;
    float a = fabsf(x), c = a > 10.0f ? 10.0f : a, z = x * x;
    float t = mxl_fma(level, c, 2.88539008f, shift);
    float far = mxl_exp_rest_f32(level, mxl_fma(level, t - shift, -0.693147182f, c + c));
    float scale = mxl_float_of_bits(mxl_float_bits(t) << 23), p;

    far = 1.0f - 2.0f / mxl_fma(level, far, scale, scale + 1.0f);
    p = mxl_fma(level, -6.26809057e-3f, z, 2.10597683e-2f);
    p = mxl_fma(level, p, z, -5.3848058e-2f);
    p = mxl_fma(level, p, z, 0.133325443f);
    p = mxl_fma(level, p, z, -0.333333164f);
    p = mxl_fma(level, p * z, a, a);
    return copysignf(a < 0.55f ? p : far, x);
}

/* 1 / (1 + e^-x), both parts of the fraction times 2^-24, so that e^-x cannot overflow. */
MXL_INLINE float mxl_sigmoid_f32(int level, float x)
{
    const float tiny = 0x1p-24f, shift = MXL_ROUND_F32 + 127 - 24;
    float c = x < -104.0f ? 104.0f : -x, t, p, scale, sum, low;

    c = c < -30.0f ? -30.0f : c;
    t = mxl_fma(level, c, 1.44269504f, shift);
    p = mxl_exp_rest_f32(level, mxl_exp_reduce_f32(level, c, t - shift));
    scale = mxl_float_of_bits(mxl_float_bits(t) << 23);
    sum = scale + tiny;
    low = scale - sum + tiny; /* the rounding error of the sum */
    return tiny / (sum + mxl_fma(level, p, scale, low));
}

/* 1 - e^-L(|x|) with a polynomial for L(a) = -log(erfc(a)). */
MXL_INLINE float mxl_erf_f32(int level, float x)
{
    const float shift = MXL_ROUND_F32 + 127;
    float a = fabsf(x), p, t, scale;

    a = a > 3.93f ? 3.93f : a;
    p = mxl_fma(level, -9.22642539e-6f, a, 1.17725729e-4f);
    p = mxl_fma(level, p, a, -6.34346332e-4f);
    p = mxl_fma(level, p, a, 1.67191413e-3f);
    p = mxl_fma(level, p, a, -1.67319929e-4f);
    p = mxl_fma(level, p, a, -1.91482902e-2f);
    p = mxl_fma(level, p, a, 0.102776304f);
    p = mxl_fma(level, p, a, 0.636619568f);
    p = mxl_fma(level, p, a, 0.128379166f);
    p = mxl_fma(level, -p, a, -a);
    t = mxl_fma(level, p, 1.44269504f, shift);
    p = mxl_expm1_rest_f32(level, mxl_exp_reduce_f32(level, p, t - shift));
    scale = mxl_float_of_bits(mxl_float_bits(t) << 23);
    return copysignf(mxl_fma(level, p, scale, scale - 1.0f), x);
}

/* Borders mxl_gelu_f32 (up to it) and mxl_gelu_far_f32 (beyond). */
#define MXL_GELU_NEAR_F32 4.5f

/* a * b + c rounded once at every level. */
MXL_INLINE float mxl_fused_f32(int level, float a, float b, float c)
{
    return level > MXL_BASELINE ? mxl_fma(level, a, b, c)
                                : (float)((double)a * (double)b + (double)c);
}

/* x P(Z < x) = max(x, 0) - |x| P(Z < -|x|) for a normal Z, P(Z < -a) = e^(-a^2/2 - a/2 - a g(a)) /
 * 2. g is small: a polynomial in v = a - 2.57..., its zero. `low` is the rounding error of `sum`,
 * the two larger terms: an error of the exponent is a relative error of the result. */
MXL_INLINE float mxl_gelu_f32(int level, float x)
{
    const float shift = MXL_ROUND_F32 + 126;
    float a = fabsf(x), above = x < 0.0f ? -0.0f : x, half = -0.5f * a, square = half * a;
    float sum = square + half, low = square - sum + half, v = a - 2.5747807f, g, t, r, share;

    low += mxl_fused_f32(level, half, a, -square);
    g = mxl_fma(level, -2.97154878e-09f, v, 2.08573354e-08f);
    g = mxl_fma(level, g, v, -7.58812533e-08f);
    g = mxl_fma(level, g, v, 9.96318548e-08f);
    g = mxl_fma(level, g, v, 1.77475363e-06f);
    g = mxl_fma(level, g, v, -2.48989309e-05f);
    g = mxl_fma(level, g, v, 0.000221901108f);
    g = mxl_fma(level, g, v, -0.00164569041f);
    g = mxl_fma(level, g, v, 0.0110534076f);
    g = mxl_fma(level, g, v, -0.0713811144f);
    g *= v;
    t = mxl_fma(level, mxl_fma(level, -a, g, sum), 1.44269504f, shift);
    r = mxl_fma(level, t - shift, -0.693359375f, sum); /* exact */
    r = mxl_fma(level, -a, g, r) + mxl_fma(level, t - shift, 2.12194440e-4f, low);
    share = a * mxl_float_of_bits(mxl_float_bits(t) << 23);
    return mxl_fused_f32(level, -mxl_exp_rest_f32(level, r), share, above - share);
}

/* For |x| of 4.4 and more: |x| P(Z < -|x|) is e^(-x^2/2), the square in two parts, times a
 * polynomial in 1 / x^2. 2^k in two factors, as in mxl_exp_f32. */
MXL_INLINE float mxl_gelu_far_f32(int level, float x)
{
    const float shift = MXL_ROUND_F32 + 2 * 127;
    float a = fabsf(x), above = x < 0.0f ? -0.0f : x, c = a > 14.6f ? 14.6f : a;
    float square = c * c, low = mxl_fused_f32(level, c, c, -square), z = 1.0f / square, p, t, r;
    uint32_t n;

    p = mxl_fma(level, -95.7017593f, z, 29.249836f);
    p = mxl_fma(level, p, z, -5.65173912f);
    p = mxl_fma(level, p, z, 1.19209599f);
    p = mxl_fma(level, p, z, -0.398910075f);
    p = mxl_fma(level, p, z, 0.398942202f);
    t = mxl_fma(level, square, -0.5f * 1.44269504f, shift);
    r = mxl_exp_reduce_f32(level, -0.5f * square, t - shift);
    r = mxl_exp_rest_f32(level, mxl_fma(level, -0.5f, low, r));
    n = mxl_float_bits(t);
    p *= mxl_float_of_bits(n >> 1 << 23);
    return above - mxl_fma(level, r, p, p) * mxl_float_of_bits((n + 1) >> 1 << 23);
}

/* ---- logarithm ---- */

/* x = 2^e m with sqrt(1/2) <= m < sqrt(2); log m by a polynomial in m - 1 (Cephes' logf). */
MXL_INLINE float mxl_log_f32(int level, float x)
{
    float small = x < 1.17549435e-38f ? 8388608.0f : 1.0f; /* denormals: times 2^23 */
    float e = x < 1.17549435e-38f ? -23.0f : 0.0f;
    uint32_t bits = mxl_float_bits(x * small) - 0x3f3504f3u; /* of sqrt(1/2) */
    float m = mxl_float_of_bits((bits & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
    float z = m * m, p;

    e += (float)((int32_t)bits >> 23);
    p = mxl_fma(level, 7.0376836292e-2f, m, -1.1514610310e-1f);
    p = mxl_fma(level, p, m, 1.1676998740e-1f);
    p = mxl_fma(level, p, m, -1.2420140846e-1f);
    p = mxl_fma(level, p, m, 1.4249322787e-1f);
    p = mxl_fma(level, p, m, -1.6668057665e-1f);
    p = mxl_fma(level, p, m, 2.0000714765e-1f);
    p = mxl_fma(level, p, m, -2.4999993993e-1f);
    p = mxl_fma(level, p, m, 3.3333331174e-1f);
    p = mxl_fma(level, p * m, z, e * -2.12194440e-4f);
    p = mxl_fma(level, z, -0.5f, p);
    p = m + p;
    p = mxl_fma(level, e, 0.693359375f, p);
    p = x < INFINITY ? p : x; /* keeps NaN */
    p = x == 0.0f ? -INFINITY : p;
    return x < 0.0f ? NAN : p;
}

/* The inverse of erf; infinite at -1 and 1, NaN outside: x times a polynomial in w = -log(1 - x^2),
 * from w = 5 on in sqrt(w) - 3. Worst 3.0. */
MXL_INLINE float mxl_erfinv_f32(int level, float x)
{
    float a = fabsf(x), w = -mxl_log_f32(level, (1.0f - a) * (1.0f + a)), s = sqrtf(w) - 3.0f;
    float p = -5.98616001e-09f, q = -0.000303851499f;

    p = mxl_fma(level, p, w, 1.57909994e-07f);
    p = mxl_fma(level, p, w, -1.38764096e-06f);
    p = mxl_fma(level, p, w, 1.04009473e-06f);
    p = mxl_fma(level, p, w, 5.30696416e-05f);
    p = mxl_fma(level, p, w, -0.000141765486f);
    p = mxl_fma(level, p, w, -0.00232101046f);
    p = mxl_fma(level, p, w, 0.0115425894f);
    p = mxl_fma(level, p, w, 0.23201485f);
    p = mxl_fma(level, p, w, 0.886226892f);
    q = mxl_fma(level, q, s, 0.000204184529f);
    q = mxl_fma(level, q, s, 0.00146323384f);
    q = mxl_fma(level, q, s, -0.00378151634f);
    q = mxl_fma(level, q, s, 0.00569942035f);
    q = mxl_fma(level, q, s, -0.00759045221f);
    q = mxl_fma(level, q, s, 0.00944368169f);
    q = mxl_fma(level, q, s, 1.00167179f);
    q = mxl_fma(level, q, s, 2.83297682f);
    p = w < 5.0f ? p : q;
    return x * (a == 1.0f ? INFINITY : p);
}

/* ---- roots ---- */

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

/* ---- angles in turns ---- */

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

#endif
