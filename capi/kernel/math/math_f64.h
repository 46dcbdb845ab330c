/* Exponentials, logarithms, hyperbolic functions and roots of doubles, as straight-line code that
 * vectorises: for loop expressions, through kernel/math/math.h. NaN, infinities, signed zeros and
 * denormals give correct results at every level. The polynomials are minimax fits (Remez exchange
 * in mpmath). Each function's comment has its worst error in ULP over 10^6 arguments
 * (docs/accuracy.md describes how the tables are made). */
#ifndef MXL_KERNEL_MATH_MATH_F64_H
#define MXL_KERNEL_MATH_MATH_F64_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernel/target.h"

static inline uint64_t mxl_double_bits(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static inline double mxl_double_of_bits(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* 1.5 * 2^52: adding it rounds to an integer, which is then in the low bits. (No vector instruction
 * before AVX-512 converts a double to a 64-bit integer, or shifts one with its sign.) */
#define MXL_SHIFT_F64      6755399441055744.0
#define MXL_SHIFT_BITS_F64 UINT64_C(0x4338000000000000)

static const double MXL_LN2_HI = 0.693147180369123816; /* 32 bits: times an exponent is exact */
static const double MXL_LN2_LO = 1.9082149292705877e-10;

/* p * 2^n, |n| < 2046, for t = n + MXL_SHIFT_F64; in two factors, of which only the second rounds.
 */
MXL_INLINE double mxl_scale_f64(double p, double t)
{
    uint64_t n = mxl_double_bits(t) - MXL_SHIFT_BITS_F64 + 2046, half = n >> 1;

    return p * mxl_double_of_bits(half << 52) * mxl_double_of_bits((n - half) << 52);
}

/* 2^-n for t = n + MXL_SHIFT_F64, 0 if n is above 60; n > -1024. */
MXL_INLINE double mxl_two_to_minus(double t)
{
    double power = mxl_double_of_bits((MXL_SHIFT_BITS_F64 + 1023 - mxl_double_bits(t)) << 52);

    return t > MXL_SHIFT_F64 + 60.0 ? 0.0 : power;
}

/* (e^r - 1 - r) / r^2, |r| <= ln(2)/2; e^r - 1 computed from it is good to 2^-58. */
MXL_INLINE double mxl_exp_tail_f64(int level, double r)
{
    double p = 1.7687680267023671e-09;

    p = mxl_fma(level, p, r, 2.510519422227151e-08);
    p = mxl_fma(level, p, r, 2.7567927335827085e-07);
    p = mxl_fma(level, p, r, 2.7557255461782194e-06);
    p = mxl_fma(level, p, r, 2.480157453791779e-05);
    p = mxl_fma(level, p, r, 0.00019841269874765153);
    p = mxl_fma(level, p, r, 0.0013888888895597217);
    p = mxl_fma(level, p, r, 0.008333333333326153);
    p = mxl_fma(level, p, r, 0.04166666666665229);
    p = mxl_fma(level, p, r, 0.1666666666666667);
    return mxl_fma(level, p, r, 0.5000000000000001);
}

/* by e^(x + more), more small beside 1, |x| < 1400: 2^k e^r, |r| <= ln(2)/2. Handles results that
 * overflow or are denormal although neither factor is. */
MXL_INLINE double mxl_exp_times_f64(int level, double by, double x, double more)
{
    double t = mxl_fma(level, x, 1.4426950408889634, MXL_SHIFT_F64), k = t - MXL_SHIFT_F64;
    double high = x - k * MXL_LN2_HI, low = more - k * MXL_LN2_LO, r = high + low;

    low = low - (r - high);
    low = mxl_fma(level, r * r, mxl_exp_tail_f64(level, r), low);
    return mxl_scale_f64((1.0 + (r + low)) * by, t);
}

/* e^(x + more), more small beside 1. */
MXL_INLINE double mxl_exp_sum_f64(int level, double x, double more)
{
    double c = x < -746.0 ? -746.0 : x;

    return mxl_exp_times_f64(level, 1.0, c > 710.0 ? 710.0 : c, more);
}

/* Worst 0.9. */
MXL_INLINE double mxl_exp_f64(int level, double x)
{
    return mxl_exp_sum_f64(level, x, 0.0);
}

/* 2^k ((e^r - 1) + (1 - 2^-k)). Worst 2.0. */
MXL_INLINE double mxl_expm1_f64(int level, double x)
{
    double c = x < -40.0 ? -40.0 : x;
    double t, k, r, p;

    c = c > 710.0 ? 710.0 : c;
    t = mxl_fma(level, c, 1.4426950408889634, MXL_SHIFT_F64);
    k = t - MXL_SHIFT_F64;
    r = c - k * MXL_LN2_HI - k * MXL_LN2_LO;
    p = mxl_fma(level, r * r, mxl_exp_tail_f64(level, r), r);
    p = mxl_scale_f64(p + (1.0 - mxl_two_to_minus(t)), t);
    return copysign(p, x); /* the sum loses the sign of a zero */
}

/* 1 / (1 + e^-x), as e^x / (1 + e^x) below 0. Worst 2.3. */
MXL_INLINE double mxl_sigmoid_f64(int level, double x)
{
    double e = mxl_exp_f64(level, -fabs(x)); /* never overflows */

    return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

/* ---- hyperbolic functions ----
 * a = k ln(2) + r, so that by the addition theorems
 *     sinh a = 2^(k-1) ((1 - s) cosh r + (1 + s) sinh r),
 *     cosh a = 2^(k-1) ((1 + s) cosh r + (1 - s) sinh r),  s = 2^-2k,
 * with polynomials for cosh r - 1 and sinh r, which lose no digits near 0. */
typedef struct mxl_hyperbolic {
    double minus, plus;    /* 1 - s, 1 + s */
    double sine, cosine_1; /* sinh r, cosh r - 1 */
    double t;              /* k - 1 + MXL_SHIFT_F64 */
} mxl_hyperbolic;

/* Of a in [0, 712]. */
MXL_INLINE mxl_hyperbolic mxl_hyperbolic_f64(int level, double a)
{
    mxl_hyperbolic h;
    double t = mxl_fma(level, a, 1.4426950408889634, MXL_SHIFT_F64), k = t - MXL_SHIFT_F64;
    double r = a - k * MXL_LN2_HI - k * MXL_LN2_LO, z = r * r;
    double half = mxl_two_to_minus(t), s = half * half;
    double p = 2.5109042499633614e-08, q = 2.0921641446307988e-09;

    p = mxl_fma(level, p, z, 2.7557244192590903e-06);
    p = mxl_fma(level, p, z, 0.00019841269886143535);
    p = mxl_fma(level, p, z, 0.008333333333321624);
    p = mxl_fma(level, p, z, 0.16666666666666677);
    q = mxl_fma(level, q, z, 2.7557252203484155e-07);
    q = mxl_fma(level, q, z, 2.4801587348796422e-05);
    q = mxl_fma(level, q, z, 0.0013888888888873461);
    q = mxl_fma(level, q, z, 0.041666666666666685);
    h.sine = mxl_fma(level, p * z, r, r);
    h.cosine_1 = mxl_fma(level, q * z, z, 0.5 * z);
    h.minus = 1.0 - s;
    h.plus = 1.0 + s;
    h.t = t - 1.0;
    return h;
}

/* 2^(1-k) sinh a and cosh a. */
MXL_INLINE double mxl_sinh_part_f64(int level, mxl_hyperbolic h)
{
    return h.minus + mxl_fma(level, h.minus, h.cosine_1, h.plus * h.sine);
}

MXL_INLINE double mxl_cosh_part_f64(int level, mxl_hyperbolic h)
{
    return h.plus + mxl_fma(level, h.plus, h.cosine_1, h.minus * h.sine);
}

/* Worst 2.2. */
MXL_INLINE double mxl_sinh_f64(int level, double x)
{
    double a = fabs(x);
    mxl_hyperbolic h = mxl_hyperbolic_f64(level, a > 712.0 ? 712.0 : a);

    return copysign(mxl_scale_f64(mxl_sinh_part_f64(level, h), h.t), x);
}

/* Worst 1.6. */
MXL_INLINE double mxl_cosh_f64(int level, double x)
{
    double a = fabs(x);
    mxl_hyperbolic h = mxl_hyperbolic_f64(level, a > 712.0 ? 712.0 : a);

    return mxl_scale_f64(mxl_cosh_part_f64(level, h), h.t);
}

/* sinh / cosh; from 1 on 1 - (cosh - sinh) / cosh. Worst 2.7. */
MXL_INLINE double mxl_tanh_f64(int level, double x)
{
    double a = fabs(x);
    mxl_hyperbolic h = mxl_hyperbolic_f64(level, a > 22.0 ? 22.0 : a);
    double rest = (h.plus - h.minus) * (1.0 + (h.cosine_1 - h.sine));
    double q = (a < 1.0 ? mxl_sinh_part_f64(level, h) : rest) / mxl_cosh_part_f64(level, h);

    return copysign(a < 1.0 ? q : 1.0 - q, x);
}

/* ---- logarithms ----
 * x = 2^e (1 + f), sqrt(1/2) <= 1 + f < sqrt(2); log(1 + f) = f - (f^2/2 - s (f^2/2 + R(s^2))) with
 * s = f / (2 + f), as FreeBSD's msun (e_log.c) does. */

/* R: (log((1 + s) / (1 - s)) - 2 s) / s, good to 2^-59 of the logarithm. */
MXL_INLINE double mxl_log_tail_f64(int level, double z)
{
    double p = 0.14796261168009292;

    p = mxl_fma(level, p, z, 0.15314021118750684);
    p = mxl_fma(level, p, z, 0.18183565407248337);
    p = mxl_fma(level, p, z, 0.22222198553785505);
    p = mxl_fma(level, p, z, 0.28571428742562144);
    p = mxl_fma(level, p, z, 0.39999999999413965);
    p = mxl_fma(level, p, z, 0.6666666666666734);
    return p * z;
}

/* e and the significand of x; *unit is 2^(1-e), or 0 for the largest e. x is in (0, inf) and not
 * denormal. */
MXL_INLINE double mxl_split_f64(double x, double *e, double *unit)
{
    const uint64_t root = UINT64_C(0x3fe6a09e667f3bcd); /* bits of sqrt(1/2) */
    uint64_t bits = mxl_double_bits(x) + (UINT64_C(0x3ff0000000000000) - root);
    uint64_t exponent = bits >> 52;

    /* 2^52 + exponent, as a double */
    *e = mxl_double_of_bits(UINT64_C(0x4330000000000000) | exponent) - (4503599627370496.0 + 1023);
    *unit = mxl_double_of_bits((2047 - exponent) << 52);
    return mxl_double_of_bits((bits & UINT64_C(0x000fffffffffffff)) + root);
}

/* log(x + c) + more * ln(2), where c is at most an ULP of x (less unless x is near 1), and x is not
 * denormal or negative. -inf at 0; x itself if it is infinite or NaN. */
MXL_INLINE double mxl_log_sum_f64(int level, double x, double c, double more)
{
    double e, unit, f = mxl_split_f64(x, &e, &unit) - 1.0, s, half, p;

    f = mxl_fma(level, c, 0.5 * unit, f);
    e += more;
    s = f / (2.0 + f);
    half = 0.5 * f * f;
    p = mxl_fma(level, s, half + mxl_log_tail_f64(level, s * s), e * MXL_LN2_LO);
    p = mxl_fma(level, e, MXL_LN2_HI, f - (half - p));
    p = x < INFINITY ? p : x; /* keeps NaN */
    return x == 0.0 ? -INFINITY : p;
}

/* A denormal x times 2^54, with the correction of its exponent in *more; other x unchanged. */
MXL_INLINE double mxl_normal_f64(double x, double *more)
{
    int small = x < 2.2250738585072014e-308;

    *more = small ? -54.0 : 0.0;
    return x * (small ? 18014398509481984.0 : 1.0);
}

/* Worst 0.9. */
MXL_INLINE double mxl_log_f64(int level, double x)
{
    double more, normal = mxl_normal_f64(x, &more);
    double p = mxl_log_sum_f64(level, normal, 0.0, more);

    return x < 0.0 ? NAN : p;
}

/* log(u + c), where u is 1 + x rounded and c is the rounding error. Worst 1.4. */
MXL_INLINE double mxl_log1p_f64(int level, double x)
{
    double u = 1.0 + x, c = x - (u - 1.0);
    double p = mxl_log_sum_f64(level, u, fabs(x) < 9007199254740992.0 ? c : 0.0, 0.0);

    return x < -1.0 ? NAN : copysign(p, x); /* the sum loses the sign of a zero */
}

/* e * (two_high + two_low) + log(1 + f) * (base_high + base_low), with log(1 + f) in two parts. The
 * high parts have few bits, so that their products are exact. As msun's e_log2.c, e_log10.c. */
MXL_INLINE double mxl_log_base_f64(int level, double x, double base_high, double base_low,
                                   double two_high, double two_low)
{
    double more, e, unit, normal = mxl_normal_f64(x, &more);
    double f = mxl_split_f64(normal, &e, &unit) - 1.0, s = f / (2.0 + f), half = 0.5 * f * f;
    double high, low, sum, rest, p;

    high = mxl_double_of_bits(mxl_double_bits(f - half) & UINT64_C(0xffffffff00000000));
    low = mxl_fma(level, s, half + mxl_log_tail_f64(level, s * s), f - high - half);
    e += more;
    rest = mxl_fma(level, low + high, base_low, e * two_low);
    rest = mxl_fma(level, low, base_high, rest);
    high *= base_high;
    sum = e * two_high + high;
    p = rest + (e * two_high - sum + high) + sum;
    p = x < INFINITY ? p : x; /* keeps NaN */
    p = x == 0.0 ? -INFINITY : p;
    return x < 0.0 ? NAN : p;
}

/* Worst 0.8. */
MXL_INLINE double mxl_log2_f64(int level, double x)
{
    return mxl_log_base_f64(level, x, 1.4426946640014648, 3.768874985636099e-07, 1.0, 0.0);
}

/* Worst 0.7. */
MXL_INLINE double mxl_log10_f64(int level, double x)
{
    return mxl_log_base_f64(level, x, 0.4342944622039795, 1.9699272335463627e-08,
                            0.30102999566383914, 1.42050232272661e-13);
}

/* log(1 + (high + low)), high >= 0; or log(2 far) if far is not 0. */
MXL_INLINE double mxl_log1p_sum_f64(int level, double high, double low, double far)
{
    double u = 1.0 + high, c = low + (high < 1.0 ? high - (u - 1.0) : 1.0 - (u - high));

    return mxl_log_sum_f64(level, far != 0.0 ? far : u, far != 0.0 ? 0.0 : c,
                           far != 0.0 ? 1.0 : 0.0);
}

/* log(1 + e^x) = max(x, 0) + log(1 + e^-|x|). Worst 1.6. */
MXL_INLINE double mxl_softrelu_f64(int level, double x)
{
    double e = mxl_exp_f64(level, -fabs(x)), u = 1.0 + e;

    return (x < 0.0 ? 0.0 : x) + mxl_log_sum_f64(level, u, e - (u - 1.0), 0.0);
}

/* log1p(a + a^2 / (1 + sqrt(1 + a^2))); for large a log(2 a). Worst 1.5. */
MXL_INLINE double mxl_asinh_f64(int level, double x)
{
    double a = fabs(x), near = a < 1e8 ? a : 0.0, far = a < 1e8 ? 0.0 : a;
    double square = near * near, w = square / (1.0 + sqrt(1.0 + square)), y = near + w;
    double low = w - (y - near), p;

    low = near < w ? near - (y - w) : low;
    p = mxl_log1p_sum_f64(level, y, low, far);
    return copysign(p, x);
}

/* t = x - 1: log1p(t + sqrt(t (t + 2))); for large x log(2 x). Worst 2.5. */
MXL_INLINE double mxl_acosh_f64(int level, double x)
{
    double t = x < 1e8 ? x - 1.0 : 0.0, w = sqrt(t * (t + 2.0)), y = t + w, low = t - (y - w);
    double p = mxl_log1p_sum_f64(level, y, low, x < 1e8 ? 0.0 : x);

    return x < 1.0 ? NAN : p;
}

/* log1p(2 a + 2 a^2 / (1 - a)) / 2. Worst 1.6. */
MXL_INLINE double mxl_atanh_f64(int level, double x)
{
    double a = fabs(x), twice = a + a, w = twice * a / (1.0 - a), y = twice + w;
    double low = twice < w ? twice - (y - w) : w - (y - twice), p;

    p = 0.5 * mxl_log1p_sum_f64(level, y, low, 0.0);
    p = a == 1.0 ? INFINITY : p;
    return copysign(a > 1.0 ? NAN : p, x);
}

/* ---- roots ---- */

/* x| = 2^3k m, 1/2 <= m < 4: a polynomial for the root of the significand, cut to its 26 leading
 * bits (so that its square is exact), and one step of Halley's, which triples the digits. Worst
 * 0.7.
 */
MXL_INLINE double mxl_cbrt_f64(int level, double x)
{
    double a = fabs(x), more, normal = mxl_normal_f64(a, &more), e, k, m, p, r;
    uint64_t bits = mxl_double_bits(normal);

    e = mxl_double_of_bits(UINT64_C(0x4330000000000000) | bits >> 52) - (4503599627370496.0 + 1023);
    m = mxl_double_of_bits((bits & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x3ff0000000000000));
    k = mxl_fma(level, e, 1.0 / 3, MXL_SHIFT_F64);
    e = e - 3.0 * (k - MXL_SHIFT_F64); /* -1, 0, 1 */
    p = 0.00534852721237367;
    p = mxl_fma(level, p, m, -0.05038638682984547);
    p = mxl_fma(level, p, m, 0.20277677715005446);
    p = mxl_fma(level, p, m, -0.46922805334040946);
    p = mxl_fma(level, p, m, 0.8381595486302311);
    p = mxl_fma(level, p, m, 0.47333081793752346);
    m *= e == 0.0 ? 1.0 : e > 0.0 ? 2.0 : 0.5;
    p *= e == 0.0 ? 1.0 : e > 0.0 ? 1.2599210498948732 : 0.7937005259840998;
    p = mxl_double_of_bits(mxl_double_bits(p) & UINT64_C(0xfffffffff8000000));
    r = m / (p * p);
    p = mxl_fma(level, p, (r - p) / (p + p + r), p);
    p *= mxl_double_of_bits((mxl_double_bits(k) - MXL_SHIFT_BITS_F64 + 1023) << 52);
    p *= more < 0.0 ? 1.0 / 262144 : 1.0;
    p = a < INFINITY ? p : a; /* keeps NaN */
    return copysign(a == 0.0 ? 0.0 : p, x);
}

/* Worst 1.8. */
MXL_INLINE double mxl_rcbrt_f64(int level, double x)
{
    return 1.0 / mxl_cbrt_f64(level, x);
}

MXL_INLINE double mxl_sqrt_f64(int level, double x)
{
    (void)level;
    return sqrt(x);
}

/* Worst 1.5. */
MXL_INLINE double mxl_rsqrt_f64(int level, double x)
{
    (void)level;
    return 1.0 / sqrt(x);
}

MXL_INLINE double mxl_hypot_f64(int level, double x, double y)
{
    (void)level;
    return hypot(x, y);
}

#endif
