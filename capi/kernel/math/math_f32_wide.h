/* Functions of floats computed in double, as straight-line code that compilers vectorise. Results
 * are the exact ones rounded, but for a few hundredths of an ULP; float's denormals and overflow
 * need no care. Polynomials are minimax fits by tools/fit_polynomial.py, with errors of 2^-33 or
 * less. For loop expressions, through kernel/math/math.h. */
#ifndef MXL_KERNEL_MATH_MATH_F32_WIDE_H
#define MXL_KERNEL_MATH_MATH_F32_WIDE_H

#include "kernel/math/math_f32.h"
#include "kernel/math/math_f64.h"
#include "kernel/math/math_trig_f64.h"

static const double MXL_LN_2 = 0.69314718055994530942, MXL_HALF_PI = 1.57079632679489661923;

/* ---- exponentials ---- */

/* e^x = 2^k (1 + t): returns t, and 2^k in *scale. |x| < 700. */
MXL_INLINE double mxl_wide_exp(int level, double x, double *scale)
{
    const double shift = MXL_SHIFT_F64 + 1023;
    double n = mxl_fma(level, x, 1 / MXL_LN_2, shift);
    double r = mxl_fma(level, n - shift, -MXL_LN_2, x), p;

    *scale = mxl_double_of_bits(mxl_double_bits(n) << 52);
    p = mxl_fma(level, 1.9323894871130276e-5, r, 1.9899291547745785e-4);
    p = mxl_fma(level, p, r, 1.3900489640346924e-3);
    p = mxl_fma(level, p, r, 8.3332984700687385e-3);
    p = mxl_fma(level, p, r, 4.1666596868304109e-2);
    p = mxl_fma(level, p, r, 0.16666666718986381);
    p = mxl_fma(level, p, r, 0.50000000104716691);
    return mxl_fma(level, p, r * r, r);
}

MXL_INLINE float mxl_cosh_f32(int level, float x)
{
    double a = fabs((double)x), scale, t;

    t = mxl_wide_exp(level, a > 100.0 ? 100.0 : a, &scale);
    t = mxl_fma(level, t, scale, scale);
    return (float)(0.5 * (t + 1.0 / t));
}

/* With t = e^|x| - 1: (t + t / (t + 1)) / 2. */
MXL_INLINE float mxl_sinh_f32(int level, float x)
{
    double a = fabs((double)x), scale, t;

    t = mxl_wide_exp(level, a > 100.0 ? 100.0 : a, &scale);
    t = mxl_fma(level, t, scale, scale - 1.0);
    return copysignf((float)(0.5 * (t + t / (t + 1.0))), x);
}

/* ---- logarithms ---- */

/* log(1 + f), sqrt(1/2) <= 1 + f < sqrt(2): with s = f / (2 + f), 2 atanh(s). */
MXL_INLINE double mxl_wide_log_near_1(int level, double f)
{
    double s = f / (2.0 + f), z = s * s, p;

    p = mxl_fma(level, 0.19586998420302767, z, 0.22176004109776853);
    p = mxl_fma(level, p, z, 0.28572113237032287);
    p = mxl_fma(level, p, z, 0.39999995586819342);
    p = mxl_fma(level, p, z, 0.66666666675892705);
    return s * mxl_fma(level, p, z, 2.0);
}

/* x = 2^e (1 + f) with f as above: returns f. x is positive and no denormal. */
MXL_INLINE double mxl_wide_split(double x, double *e)
{
    const uint64_t least = 0x3fe6a09e667f3bcdu; /* bits of sqrt(1/2) */
    uint64_t bits = mxl_double_bits(x) - least + (UINT64_C(1023) << 52);

    *e = mxl_double_of_bits(bits >> 52 | UINT64_C(0x4330000000000000)) - (0x1p52 + 1023.0);
    return mxl_double_of_bits((bits & 0x000fffffffffffffu) + least) - 1.0;
}

/* y, which is log(x) or a function of it, corrected for x = 0, infinity, NaN and negative x. */
MXL_INLINE double mxl_wide_log_ends(double x, double y)
{
    y = x < (double)INFINITY ? y : x; /* keeps NaN */
    y = x == 0.0 ? -(double)INFINITY : y;
    return x < 0.0 ? (double)NAN : y;
}

MXL_INLINE float mxl_log2_f32(int level, float x)
{
    double e, f = mxl_wide_split((double)x, &e);

    f = mxl_fma(level, mxl_wide_log_near_1(level, f), 1 / MXL_LN_2, e);
    return (float)mxl_wide_log_ends((double)x, f);
}

MXL_INLINE float mxl_log10_f32(int level, float x)
{
    double e, f = mxl_wide_split((double)x, &e);

    f = mxl_wide_log_near_1(level, f) * 0.43429448190325182765;
    return (float)mxl_wide_log_ends((double)x, mxl_fma(level, e, 0.30102999566398119521, f));
}

/* log(1 + x); near 0 all digits of x count. */
MXL_INLINE double mxl_wide_log1p(int level, double x)
{
    double e, f = mxl_wide_split(1.0 + x, &e);

    f = fabs(x) < 0.25 ? x : f;
    f = mxl_fma(level, e, MXL_LN_2, mxl_wide_log_near_1(level, f));
    return mxl_wide_log_ends(1.0 + x, f);
}

MXL_INLINE float mxl_log1p_f32(int level, float x)
{
    float y = (float)mxl_wide_log1p(level, (double)x);

    return x == 0.0f ? x : y;
}

/* log(1 + e^x) */
MXL_INLINE float mxl_softrelu_f32(int level, float x)
{
    double a = -fabs((double)x), above = x > 0.0f ? (double)x : 0.0, scale, t;

    t = mxl_wide_exp(level, a < -200.0 ? -200.0 : a, &scale);
    return (float)(above + mxl_wide_log1p(level, mxl_fma(level, t, scale, scale)));
}

/* log(a + sqrt(a^2 + 1)), a = |x|, written for log1p. */
MXL_INLINE float mxl_asinh_f32(int level, float x)
{
    double a = fabs((double)x), y;

    y = mxl_wide_log1p(level, a + a * a / (1.0 + sqrt(mxl_fma(level, a, a, 1.0))));
    return copysignf((float)(a < (double)INFINITY ? y : a), x);
}

/* log(x + sqrt(x^2 - 1)), written for log1p. */
MXL_INLINE float mxl_acosh_f32(int level, float x)
{
    double t = (double)x - 1.0, y = mxl_wide_log1p(level, t + sqrt(t * (t + 2.0)));

    return (float)(x < 1.0f ? (double)NAN : y);
}

MXL_INLINE float mxl_atanh_f32(int level, float x)
{
    double a = fabs((double)x), y = 0.5 * mxl_wide_log1p(level, 2.0 * a / (1.0 - a));

    return copysignf((float)y, x);
}

/* ---- angles ---- */

/* The largest argument of sin, cos and tan here. Beyond it the reduction by multiples of pi/2 runs
 * out of digits, and ops/elementwise/trig.c calls the C library. */
#define MXL_CIRCULAR_F32 1048576.0f

/* x = k pi/2 + r, |r| <= pi/4: returns r, and k modulo 4 in the low bits of *quarter. pi/2 is in
 * three parts, the first two of 33 bits, so that their multiples are exact (Cody and Waite). */
MXL_INLINE double mxl_wide_quarter(int level, double x, uint64_t *quarter)
{
    double n = mxl_fma(level, x, 1 / MXL_HALF_PI, MXL_SHIFT_F64), k = n - MXL_SHIFT_F64;
    double r = mxl_fma(level, k, -1.57079632673412561417, x);

    *quarter = mxl_double_bits(n);
    r = mxl_fma(level, k, -6.07710050630396597660e-11, r);
    return mxl_fma(level, k, -2.02226624879595063154e-21, r);
}

MXL_INLINE double mxl_wide_sin(int level, double r)
{
    double z = r * r, p;

    p = mxl_fma(level, 2.7180840803208528e-6, z, -1.983930834812505e-4);
    p = mxl_fma(level, p, z, 8.3333292927073761e-3);
    p = mxl_fma(level, p, z, -0.16666666640692837);
    return r * mxl_fma(level, p, z, 1.0);
}

MXL_INLINE double mxl_wide_cos(int level, double r)
{
    double z = r * r, p;

    p = mxl_fma(level, 2.4432783597157524e-5, z, -1.3887313051070809e-3);
    p = mxl_fma(level, p, z, 4.1666645618642972e-2);
    p = mxl_fma(level, p, z, -0.5);
    return mxl_fma(level, p, z, 1.0);
}

MXL_INLINE float mxl_sin_f32(int level, float x)
{
    uint64_t quarter;
    double r = mxl_wide_quarter(level, (double)x, &quarter);
    double s = mxl_wide_sin(level, r), c = mxl_wide_cos(level, r);

    return (float)mxl_turned_f64(quarter, mxl_by_quarter_f64(quarter, s, c));
}

MXL_INLINE float mxl_cos_f32(int level, float x)
{
    uint64_t quarter;
    double r = mxl_wide_quarter(level, (double)x, &quarter);
    double s = mxl_wide_sin(level, r), c = mxl_wide_cos(level, r);

    return (float)mxl_turned_f64(quarter + 1, mxl_by_quarter_f64(quarter, c, s));
}

MXL_INLINE float mxl_tan_f32(int level, float x)
{
    uint64_t quarter;
    double r = mxl_wide_quarter(level, (double)x, &quarter);
    double s = mxl_wide_sin(level, r), c = mxl_wide_cos(level, r);

    return (float)(mxl_by_quarter_f64(quarter, s, -c) / mxl_by_quarter_f64(quarter, c, s));
}

/* Above 1: pi/2 - atan(1 / a). */
MXL_INLINE float mxl_atan_f32(int level, float x)
{
    double a = fabs((double)x);
    double t = (a > 1.0 ? -1.0 : a) / (a > 1.0 ? a : 1.0), z = t * t, p;

    p = mxl_fma(level, -6.9794293387470522e-4, z, 4.9262775545675539e-3);
    p = mxl_fma(level, p, z, -1.6299260666142651e-2);
    p = mxl_fma(level, p, z, 3.4475616966599711e-2);
    p = mxl_fma(level, p, z, -5.4515747992587411e-2);
    p = mxl_fma(level, p, z, 7.2594262616690428e-2);
    p = mxl_fma(level, p, z, -8.9854349982576354e-2);
    p = mxl_fma(level, p, z, 0.11094502801558209);
    p = mxl_fma(level, p, z, -0.14284167126857786);
    p = mxl_fma(level, p, z, 0.1999992723745172);
    p = mxl_fma(level, p, z, -0.33333332133619714);
    p = t * mxl_fma(level, p, z, 1.0);
    return copysignf((float)(a > 1.0 ? p + MXL_HALF_PI : p), x);
}

/* asin(a) for a <= 1/2. Above 1/2: asin(sqrt((1 - a) / 2)), and asin(a) is pi/2 minus twice that.
 */
MXL_INLINE double mxl_wide_asin(int level, double a)
{
    double z = a > 0.5 ? 0.5 * (1.0 - a) : a * a, p;

    p = mxl_fma(level, 3.4646828736843292e-2, z, 7.5090322602059676e-3);
    p = mxl_fma(level, p, z, 2.4604865332643455e-2);
    p = mxl_fma(level, p, z, 3.0112498957101788e-2);
    p = mxl_fma(level, p, z, 4.4659974470125374e-2);
    p = mxl_fma(level, p, z, 7.4999488886109009e-2);
    p = mxl_fma(level, p, z, 0.16666667180358516);
    return (a > 0.5 ? sqrt(z) : a) * mxl_fma(level, p, z, 1.0);
}

MXL_INLINE float mxl_asin_f32(int level, float x)
{
    double a = fabs((double)x), p = mxl_wide_asin(level, a);

    return copysignf((float)(a > 0.5 ? MXL_HALF_PI - 2.0 * p : p), x);
}

MXL_INLINE float mxl_acos_f32(int level, float x)
{
    double a = fabs((double)x), p = mxl_wide_asin(level, a);

    p = a > 0.5 ? 2.0 * p : MXL_HALF_PI - p;
    return (float)(x < 0.0f ? 2.0 * MXL_HALF_PI - p : p);
}

/* ---- powers and roots ---- */

/* x|^(-1/3); x is neither 0 nor infinite. A guess by dividing the exponent, then two Halley-like
 * steps, the first in float.
 */
MXL_INLINE double mxl_wide_rcbrt(int level, float x)
{
    float a = fabsf(x), small = a < 1.17549435e-38f ? 16777216.0f : 1.0f; /* denormals: 2^24 */
    float y, e;
    double w, d;

    a *= small;
    y = mxl_float_of_bits(0x54a2fa8cu - mxl_float_bits(a) / 3);
    e = mxl_fma(level, -(a * y), y * y, 1.0f);
    y = mxl_fma(level, y * e, mxl_fma(level, e, 0.222222222f, 0.333333333f), y);
    w = (double)(small > 1.0f ? y * 256.0f : y);
    d = mxl_fma(level, -(fabs((double)x) * w), w * w, 1.0);
    return mxl_fma(level, w * d, mxl_fma(level, d, 2.0 / 9, 1.0 / 3), w);
}

MXL_INLINE float mxl_cbrt_f32(int level, float x)
{
    double w = mxl_wide_rcbrt(level, x);
    float y = (float)(w * w * (double)x);

    return fabsf(x) < INFINITY ? y : x;
}

MXL_INLINE float mxl_rcbrt_f32(int level, float x)
{
    float a = fabsf(x), y = (float)mxl_wide_rcbrt(level, x);

    y = a < INFINITY ? y : 1.0f / a;
    return copysignf(a == 0.0f ? INFINITY : y, x);
}

/* e^(y log |x|); for x < 0 an odd y gives the sign. */
MXL_INLINE float mxl_pow_f32(int level, float x, float y)
{
    const double integer = 0x1p52; /* adding it rounds */
    double a = fabs((double)x), b = fabs((double)y), e, f = mxl_wide_split(a, &e), scale;
    double negative = copysign(1.0, (double)x), half;

    f = mxl_fma(level, e, MXL_LN_2, mxl_wide_log_near_1(level, f));
    f = (double)y * mxl_wide_log_ends(a, f);
    f = f < -200.0 ? -200.0 : f;
    f = f > 200.0 ? 200.0 : f;
    f = mxl_wide_exp(level, f, &scale);
    f = mxl_fma(level, f, scale, scale);
    f = a == 1.0 ? 1.0 : f; /* also for an infinite power */
    b = b > 0x1p25 ? 0x1p25 : b;
    half = 0.5 * b;
    f = negative < 0.0 && fabs(half + integer - integer - half) == 0.5 ? -f : f;
    f = x < 0.0f && a < (double)INFINITY && b + integer - integer != b ? (double)NAN : f;
    return x == 1.0f || y == 0.0f ? 1.0f : (float)f;
}

/* Squares of floats neither overflow nor underflow in double. */
MXL_INLINE float mxl_hypot_f32(int level, float x, float y)
{
    double square = mxl_fma(level, (double)x, (double)x, (double)y * (double)y);
    float r = (float)sqrt(square);

    r = fabsf(x) == INFINITY ? INFINITY : r; /* even with a NaN */
    return fabsf(y) == INFINITY ? INFINITY : r;
}

#endif
