/* Powers of doubles; see math_f64.h. */
#ifndef MXL_KERNEL_MATH_MATH_POW_F64_H
#define MXL_KERNEL_MATH_MATH_POW_F64_H

#include "kernel/math/math_f64.h"

/* a * b in two parts, if the level has an fma. */
MXL_INLINE double mxl_product_f64(int level, double a, double b, double *low)
{
    double p = a * b;

    *low = mxl_fma(level, a, b, -p);
    return p;
}

/* log(x) in two parts, good to 2^-64, x as in mxl_log_sum_f64: with s = f / (2 + f) in two parts, 2
 * s + s^3 (2/3 + s^2 Q(s^2)), where only Q is a single double. -inf at 0; x if it is infinite or
 * NaN. */
MXL_INLINE double mxl_log_parts_f64(int level, double x, double more, double *low)
{
    double e, unit, f = mxl_split_f64(x, &e, &unit) - 1.0;
    double d = 2.0 + f, d_low = f - (d - 2.0), s = f / d, s_low, z, z_low, c, c_low, q, t, t_low;
    double p, p_low, sum, rest, high;

    p = mxl_product_f64(level, s, d, &p_low);
    s_low = (f - p - p_low - s * d_low) / d;
    z = mxl_product_f64(level, s, s, &z_low);
    z_low = mxl_fma(level, 2.0 * s, s_low, z_low);
    c = mxl_product_f64(level, z, s, &c_low);
    c_low += mxl_fma(level, z, s_low, z_low * s);
    q = 0.13196469711344272;
    q = mxl_fma(level, q, z, 0.13256804976687103);
    q = mxl_fma(level, q, z, 0.15386757752786803);
    q = mxl_fma(level, q, z, 0.18181784361341835);
    q = mxl_fma(level, q, z, 0.22222222519942222);
    q = mxl_fma(level, q, z, 0.2857142857009977);
    q = mxl_fma(level, q, z, 0.40000000000002256);
    t = mxl_fma(level, q, z, 0.6666666666666666);
    t_low = mxl_fma(level, q, z, 0.6666666666666666 - t) + 3.700743415417188e-17;
    p = mxl_product_f64(level, c, t, &p_low);
    p_low += mxl_fma(level, c, t_low, c_low * t);
    sum = s + s + p;
    rest = s + s - sum + p + (p_low + (s_low + s_low));
    e += more;
    high = e * MXL_LN2_HI;
    p = high + sum; /* |high| > |sum|, or 0 */
    t = e == 0.0 ? 0.0 : high - p + sum;
    rest += mxl_fma(level, e, MXL_LN2_LO, t);
    sum = p + rest;
    *low = x > 0.0 && x < INFINITY ? p - sum + rest : 0.0;
    sum = x < INFINITY ? sum : x;
    return x == 0.0 ? -INFINITY : sum;
}

/* x^y as the C library defines it for zeros, infinities and NaN: e^(y log x). The baseline calls
 * the C library, because products in two parts would take four times as long without an fma. Worst
 * 0.9. */
MXL_INLINE double mxl_pow_f64(int level, double x, double y)
{
    const double whole = 4503599627370496.0; /* 2^52: doubles from it on are integers */
    double a = fabs(x), more, normal = mxl_normal_f64(a, &more), low, high, p, p_low;
    double b = fabs(y), half = 0.5 * b;
    int is_whole = b >= whole || b + whole - whole == b;
    int is_even = half >= whole || half + whole - whole == half;

    if (level == MXL_BASELINE)
        return pow(x, y);
    high = mxl_log_parts_f64(level, normal, more, &low);
    p = mxl_product_f64(level, high, y, &p_low);
    p_low = fabs(p) < 1000.0 ? mxl_fma(level, low, y, p_low) : 0.0;
    p = mxl_exp_sum_f64(level, p, p_low);
    p = is_whole && !is_even ? copysign(p, x) : p;
    p = x < 0.0 && a < INFINITY && !is_whole ? NAN : p;
    p = x == -1.0 && b == INFINITY ? 1.0 : p;
    return x == 1.0 || y == 0.0 ? 1.0 : p;
}

#endif
