/* Sine, cosine, tangent of doubles and their inverses; see math_f64.h. Sine, cosine and tangent are
 * accurate up to MXL_CIRCULAR_F64; beyond it ops/elementwise/trig.c uses circular.h. */
#ifndef MXL_KERNEL_MATH_MATH_TRIG_F64_H
#define MXL_KERNEL_MATH_MATH_TRIG_F64_H

#include "kernel/math/math_f64.h"

#define MXL_CIRCULAR_F64 1e6

/* a - b in two parts. */
MXL_INLINE double mxl_difference_f64(double a, double b, double *low)
{
    double d = a - b, other = d - a;

    *low = (a - (d - other)) - (b + other);
    return d;
}

/* x minus the nearest multiple of pi / 2: the rest, at most pi / 4, in two parts; the low bits of
 * *quarters count the multiple. pi / 2 is in parts of 33 bits, whose multiples are exact (Cody and
 * Waite); there are enough parts for the double up to MXL_CIRCULAR_F64 that is nearest to a
 * multiple. */
MXL_INLINE double mxl_quarter_f64(int level, double x, double *low, uint64_t *quarters)
{
    double t = mxl_fma(level, x, 0.6366197723675814, MXL_SHIFT_F64), k = t - MXL_SHIFT_F64;
    double l1, l2, high;
    double r = mxl_difference_f64(x - k * 1.5707963267341256, k * 6.077100506303966e-11, &l1);

    r = mxl_difference_f64(r, k * 2.0222662487111665e-21, &l2);
    l1 = mxl_fma(level, k, -8.4784276603689e-32, l1 + l2);
    high = r + l1;
    *low = l1 - (high - r);
    *quarters = mxl_double_bits(t);
    return high;
}

/* sin(r + low), |r| <= pi / 4; good to 2^-57. */
MXL_INLINE double mxl_sin_near_f64(int level, double r, double low)
{
    double z = r * r, p = -7.578526688929898e-13;

    p = mxl_fma(level, p, z, 1.605836289468296e-10);
    p = mxl_fma(level, p, z, -2.5052104879763917e-08);
    p = mxl_fma(level, p, z, 2.7557319214056964e-06);
    p = mxl_fma(level, p, z, -0.00019841269841254784);
    p = mxl_fma(level, p, z, 0.008333333333333323);
    p = mxl_fma(level, p, z, -0.16666666666666666);
    return r + mxl_fma(level, p * z, r, low * (1.0 - 0.5 * z));
}

/* cos(r + low), |r| <= pi / 4; good to 2^-64. */
MXL_INLINE double mxl_cos_near_f64(int level, double r, double low)
{
    double z = r * r, half = 0.5 * z, w = 1.0 - half, p = -1.1358515970659663e-11;

    p = mxl_fma(level, p, z, 2.0875700474444467e-09);
    p = mxl_fma(level, p, z, -2.7557314176859175e-07);
    p = mxl_fma(level, p, z, 2.480158728884443e-05);
    p = mxl_fma(level, p, z, -0.0013888888888873047);
    p = mxl_fma(level, p, z, 0.041666666666666595);
    return w + (1.0 - w - half + (p * (z * z) - r * low));
}

/* `odd` if quarters is odd, else `even`; selected by bit operations, which every level has for 64
 * bits. */
MXL_INLINE double mxl_by_quarter_f64(uint64_t quarters, double even, double odd)
{
    uint64_t mask = 0 - (quarters & 1);

    return mxl_double_of_bits((mxl_double_bits(even) & ~mask) | (mxl_double_bits(odd) & mask));
}

/* x, negated if bit 1 of quarters is set. */
MXL_INLINE double mxl_turned_f64(uint64_t quarters, double x)
{
    return mxl_double_of_bits(mxl_double_bits(x) ^ (quarters & 2) << 62);
}

/* The sine of r + low plus `quarters` quarter turns; one more quarter turn gives the cosine. */
MXL_INLINE double mxl_sin_turned_f64(int level, double r, double low, uint64_t quarters)
{
    double s = mxl_sin_near_f64(level, r, low), c = mxl_cos_near_f64(level, r, low);

    return mxl_turned_f64(quarters, mxl_by_quarter_f64(quarters, s, c));
}

MXL_INLINE double mxl_tan_turned_f64(int level, double r, double low, uint64_t quarters)
{
    double s = mxl_sin_near_f64(level, r, low), c = mxl_cos_near_f64(level, r, low);

    return mxl_by_quarter_f64(quarters, s, -c) / mxl_by_quarter_f64(quarters, c, s);
}

/* Worst 0.8. */
MXL_INLINE double mxl_sin_f64(int level, double x)
{
    uint64_t quarters;
    double low, r = mxl_quarter_f64(level, x, &low, &quarters);

    return x == 0.0 ? x : mxl_sin_turned_f64(level, r, low, quarters);
}

/* Worst 0.8. */
MXL_INLINE double mxl_cos_f64(int level, double x)
{
    uint64_t quarters;
    double low, r = mxl_quarter_f64(level, x, &low, &quarters);

    return mxl_sin_turned_f64(level, r, low, quarters + 1);
}

/* Worst 2.2. */
MXL_INLINE double mxl_tan_f64(int level, double x)
{
    uint64_t quarters;
    double low, r = mxl_quarter_f64(level, x, &low, &quarters);

    return x == 0.0 ? x : mxl_tan_turned_f64(level, r, low, quarters);
}

/* (asin(s) / s - 1) / s^2 of z = s^2 <= 1/4; with it asin is good to 2^-56. */
MXL_INLINE double mxl_asin_tail_f64(int level, double z)
{
    double p = 0.03191218115922329;

    p = mxl_fma(level, p, z, -0.016224123473523925);
    p = mxl_fma(level, p, z, 0.019528183313896035);
    p = mxl_fma(level, p, z, 0.006528004768423051);
    p = mxl_fma(level, p, z, 0.012169204973458355);
    p = mxl_fma(level, p, z, 0.013885236453970069);
    p = mxl_fma(level, p, z, 0.017359704665631432);
    p = mxl_fma(level, p, z, 0.022371758056832818);
    p = mxl_fma(level, p, z, 0.03038195913670003);
    p = mxl_fma(level, p, z, 0.04464285682833491);
    p = mxl_fma(level, p, z, 0.07500000000337007);
    return mxl_fma(level, p, z, 0.16666666666665408);
}

/* From 1/2 on: pi/2 - 2 asin(sqrt((1 - a) / 2)). Worst 1.8. */
MXL_INLINE double mxl_asin_f64(int level, double x)
{
    double a = fabs(x), z = a < 0.5 ? a * a : 0.5 * (1.0 - a), s = a < 0.5 ? a : sqrt(z);
    double tail = s * (z * mxl_asin_tail_f64(level, z));
    double far = 1.5707963267948966 - 2.0 * (s + (tail - 3.061616997868383e-17));

    return copysign(a < 0.5 ? s + tail : far, x);
}

/* Worst 1.2. */
MXL_INLINE double mxl_acos_f64(int level, double x)
{
    double a = fabs(x), z = a < 0.5 ? a * a : 0.5 * (1.0 - a), s = a < 0.5 ? x : sqrt(z);
    double tail = s * (z * mxl_asin_tail_f64(level, z)), twice = 2.0 * (s + tail);
    double near = 1.5707963267948966 - (s - (6.123233995736766e-17 - tail));
    double far = x < 0.0 ? 3.141592653589793 - (twice - 1.2246467991473532e-16) : twice;

    return a < 0.5 ? near : far;
}

/* -1 / x or (x - 1) / (x + 1) brings |x| to at most tan(pi/8) and subtracts pi/2 or pi/4 from the
 * angle. Worst 1.6. */
MXL_INLINE double mxl_atan_f64(int level, double x)
{
    double a = fabs(x);
    int far = a > 2.414213562373095, middle = a > 0.4142135623730951;
    double t = (far ? -1.0 : middle ? a - 1.0 : a) / (far ? a : middle ? a + 1.0 : 1.0), z = t * t;
    double high = far ? 1.5707963267948966 : middle ? 0.7853981633974483 : 0.0;
    double low = far ? 6.123233995736766e-17 : middle ? 3.061616997868383e-17 : 0.0;
    double p = -0.017902036684789114;

    p = mxl_fma(level, p, z, 0.038059450627580614);
    p = mxl_fma(level, p, z, -0.050390867912213845);
    p = mxl_fma(level, p, z, 0.058478368000804894);
    p = mxl_fma(level, p, z, -0.0666309619350595);
    p = mxl_fma(level, p, z, 0.07692059460131885);
    p = mxl_fma(level, p, z, -0.0909089771125479);
    p = mxl_fma(level, p, z, 0.11111110781686505);
    p = mxl_fma(level, p, z, -0.14285714280157608);
    p = mxl_fma(level, p, z, 0.19999999999953164);
    p = mxl_fma(level, p, z, -0.333333333333332);
    return copysign(high + (t + mxl_fma(level, p * z, t, low)), x);
}

#endif
