/* The gamma function of doubles, its logarithm, and the first two derivatives of that; see
 * math_f64.h. Floats are computed in double too, the logarithm by a shorter way. For
 * ops/elementwise/special.c and special.c.
 *
 * Below 8 the argument is moved up by 8, through x (x+1) ... (x+7), which is a polynomial in
 * t = x (x + 7): t (t + 6) (t + 10) (t + 12). From 8 on there are Stirling's series and its
 * derivatives. Negative arguments are reflected, through sin(pi x). */
#ifndef MXL_KERNEL_MATH_MATH_GAMMA_H
#define MXL_KERNEL_MATH_MATH_GAMMA_H

#include "kernel/math/math_pow_f64.h"
#include "kernel/math/special.h"

/* sin(pi a) / pi, a >= 0; *cosine is cos(pi a). Good to 2^-59. The sine is 0 only at integers, and
 * so everywhere from 2^52 on. */
MXL_INLINE double mxl_sin_pi_f64(int level, double a, double *cosine)
{
    const double whole = 4503599627370496.0; /* 2^52: adding it rounds to an integer */
    double near = a < whole ? a : 0.0, sum = near + whole, f = near - (sum - whole), g = f * f;
    uint64_t odd = mxl_double_bits(sum) << 63;
    double p = -4.856607673307964e-09, q = -1.0948757662360898e-07;

    p = mxl_fma(level, p, g, 2.5049724829445327e-07);
    p = mxl_fma(level, p, g, -6.974667062067169e-06);
    p = mxl_fma(level, p, g, 0.00014842849239880902);
    p = mxl_fma(level, p, g, -0.002346080991864457);
    p = mxl_fma(level, p, g, 0.026147847813965404);
    p = mxl_fma(level, p, g, -0.1907518241219113);
    p = mxl_fma(level, p, g, 0.8117424252833497);
    p = mxl_fma(level, p, g, -1.6449340668482264);
    q = mxl_fma(level, q, g, 4.273289051200972e-06);
    q = mxl_fma(level, q, g, -0.00010462481970103449);
    q = mxl_fma(level, q, g, 0.00192957107230764);
    q = mxl_fma(level, q, g, -0.025806890928493764);
    q = mxl_fma(level, q, g, 0.23533063032027587);
    q = mxl_fma(level, q, g, -1.335262768852791);
    q = mxl_fma(level, q, g, 4.058712126416728);
    q = mxl_fma(level, q, g, -4.934802200544679);
    *cosine = mxl_double_of_bits(mxl_double_bits(mxl_fma(level, q, g, 1.0)) ^ odd);
    return mxl_double_of_bits(mxl_double_bits(mxl_fma(level, p * g, f, f)) ^ odd);
}

/* log(gamma(a)) for a >= 8, else log(gamma(a + 8)); in two parts, good to 2^-56: with z the
 * argument, (z - 1/2) (log(z) - 1) + log(2 pi)/2 - 1/2 + 1/(12 z) - ... Only for levels with an
 * fma. */
MXL_INLINE double mxl_stirling_f64(int level, double a, double *low)
{
    double z = a < 8.0 ? a + 8.0 : a, lost = a < 8.0 ? a - (z - 8.0) : 0.0, inverse = 1.0 / z;
    double w = inverse * inverse, log_low, log_z = mxl_log_parts_f64(level, z, 0.0, &log_low);
    double p = 0.004974047118709506, product, rest, sum;

    p = mxl_fma(level, p, w, -0.0018857626947810279);
    p = mxl_fma(level, p, w, 0.0008413806980964717);
    p = mxl_fma(level, p, w, -0.0005952357542888954);
    p = mxl_fma(level, p, w, 0.0007936507860028355);
    p = mxl_fma(level, p, w, -0.0027777777777667264);
    p = mxl_fma(level, p, w, 0.08333333333333333);
    product = mxl_product_f64(level, log_z - 1.0, z - 0.5, &rest);
    rest += mxl_fma(level, log_low, z - 0.5, mxl_fma(level, p, inverse, lost * log_z));
    rest += 0.4189385332046727;
    sum = product + rest;
    *low = product < INFINITY ? rest - (sum - product) : 0.0;
    return product < INFINITY ? sum : product; /* keeps NaN */
}

/* a + b in two parts. */
MXL_INLINE double mxl_sum_f64(double a, double b, double *low)
{
    double s = a + b, other = s - a;

    *low = (a - (s - other)) + (b - other);
    return s;
}

/* (a + 1) (a + 2) ... (a + 7); *share is its relative rounding error. */
MXL_INLINE double mxl_rising_f64(int level, double a, double *share)
{
    double s_low, s = mxl_sum_f64(a, 7.0, &s_low), t_low, t = mxl_product_f64(level, a, s, &t_low);
    double b_low, b = mxl_sum_f64(t, 6.0, &b_low), c_low, c = mxl_sum_f64(t, 10.0, &c_low);
    double d_low, d = mxl_sum_f64(t, 12.0, &d_low), p, p_low, q, q_low, r, r_low;

    t_low = mxl_fma(level, a, s_low, t_low);
    p = mxl_product_f64(level, s, b, &p_low);
    p_low += mxl_fma(level, s, b_low + t_low, s_low * b);
    q = mxl_product_f64(level, c, d, &q_low);
    q_low += mxl_fma(level, c, d_low + t_low, (c_low + t_low) * d);
    r = mxl_product_f64(level, p, q, &r_low);
    *share = (r_low + mxl_fma(level, p, q_low, p_low * q)) / r;
    return r;
}

/* NaN at -1, -2, ... With r = (a + 1) ... (a + 7) and a = |x|:
 * gamma(a) = gamma(a + 8) / (a r), gamma(-a) = -r / (sin(pi a) / pi) / gamma(a + 8). Worst 3.2. */
MXL_INLINE double mxl_gamma_f64(int level, double x)
{
    double a = fabs(x), near = a > 200.0 ? 200.0 : a, share, r, cosine, above, below, y;
    double sine = mxl_sin_pi_f64(level, a, &cosine), low, high;
    int small = near < 8.0, negative = x < 0.0, whole = x == floor(x);

    if (level == MXL_BASELINE)
        return !whole ? tgamma(x) : negative ? NAN : rint(tgamma(x));
    high = mxl_stirling_f64(level, near, &low);
    r = mxl_rising_f64(level, near, &share);
    low = small ? low - share : low;
    above = negative ? (small ? -r : -1.0) : 1.0;
    below = negative ? (small ? sine : near * sine) : (small ? near * r : 1.0);
    y = mxl_exp_times_f64(level, above / below, negative ? -high : high, negative ? -low : low);
    y = negative && sine == 0.0 ? NAN : y;
    y = whole ? rint(y)
              : y; /* a factorial: conversion to an integer dtype would truncate a rounding error */
    return a < 1e-17 ? 1.0 / x : y;
}

/* log(gamma(1 + t)) / t, |t| <= 1/4; good to 2^-54. */
MXL_INLINE double mxl_gammaln_near_f64(int level, double t)
{
    double p = 0.0740814970228115;

    p = mxl_fma(level, p, t, -0.07614285548419336);
    p = mxl_fma(level, p, t, 0.059921186278682446);
    p = mxl_fma(level, p, t, -0.06453309219048405);
    p = mxl_fma(level, p, t, 0.07162490207355138);
    p = mxl_fma(level, p, t, -0.0770710324527494);
    p = mxl_fma(level, p, t, 0.0833454039821834);
    p = mxl_fma(level, p, t, -0.09094883252062752);
    p = mxl_fma(level, p, t, 0.10009968161012843);
    p = mxl_fma(level, p, t, -0.11133437930131704);
    p = mxl_fma(level, p, t, 0.12550966601731847);
    p = mxl_fma(level, p, t, -0.1440498953787331);
    p = mxl_fma(level, p, t, 0.16955717702729936);
    p = mxl_fma(level, p, t, -0.20738555103719256);
    p = mxl_fma(level, p, t, 0.2705808084276679);
    p = mxl_fma(level, p, t, -0.40068563438651134);
    p = mxl_fma(level, p, t, 0.8224670334241133);
    return mxl_fma(level, p, t, -0.5772156649015329);
}

/* log |gamma(x)|. Near its zeros 1 and 2 a polynomial; from 8 on Stirling's series; else the
 * logarithm of 1 / |gamma(x)|, which loses no digits near the zeros below 0. Worst 4.7 (in ULP of 1
 * if the result is smaller). */
MXL_INLINE double mxl_gammaln_f64(int level, double x)
{
    double a = fabs(x), t = a * (a + 7.0), r, cosine, sine, low, high, far, e, above, below, more;
    double from_1 = x - 1.0, from_2 = x - 2.0, u, c;
    int small = a < 8.0, negative = x < 0.0, by_exp = a < (negative ? 24.0 : 8.0);
    int near_1 = fabs(from_1) <= 0.25, near_2 = fabs(from_2) <= 0.25;

    if (level == MXL_BASELINE)
        return mxl_log_gamma(x);
    r = (a + 7.0) * (t + 6.0) * ((t + 10.0) * (t + 12.0));
    high = mxl_stirling_f64(level, a, &low);
    e = mxl_exp_sum_f64(level, by_exp ? high : 0.0, by_exp ? low : 0.0);
    sine = fabs(mxl_sin_pi_f64(level, a, &cosine));
    above = negative ? (small ? sine * e : a * sine * e) : (small ? a * r : 1.0);
    below = small ? (negative ? r : e) : 1.0;
    u = mxl_normal_f64(above / below, &more);
    u = near_1 ? 1.0 : near_2 ? 1.0 + from_2 : u;
    c = near_2 ? from_2 - (u - 1.0) : 0.0;
    u = mxl_log_sum_f64(level, u, c, near_1 || near_2 ? 0.0 : more);
    far = (by_exp ? 0.0 : negative ? -high : high) - u;
    far = negative && sine == 0.0 ? INFINITY : far;
    t = near_1 ? from_1 : from_2;
    return near_1 || near_2 ? mxl_fma(level, t, mxl_gammaln_near_f64(level, t), u) : far;
}

/* The same for a float: the digits lost where two logarithms cancel are below a float's precision.
 */
MXL_INLINE float mxl_gammaln_f32(int level, float x)
{
    double a = fabs((double)x), t = a * (a + 7.0), z = a < 8.0 ? a + 8.0 : a, inverse = 1.0 / z;
    double r = (a + 7.0) * (t + 6.0) * ((t + 10.0) * (t + 12.0)), w = inverse * inverse;
    double cosine, sine = fabs(mxl_sin_pi_f64(level, a, &cosine)), above, below, y;
    double p = 0.0007663491860789234;
    int small = a < 8.0, negative = x < 0.0f;

    p = mxl_fma(level, p, w, -0.0005940957334790604);
    p = mxl_fma(level, p, w, 0.0007936431116379426);
    p = mxl_fma(level, p, w, -0.0027777777565805148);
    p = mxl_fma(level, p, w, 0.08333333333331693);
    p = mxl_fma(level, p, inverse, 0.4189385332046727);
    y = mxl_fma(level, z - 0.5, mxl_log_sum_f64(level, z, 0.0, 0.0) - 1.0, p);
    above = negative ? (small ? sine : a * sine) : (small ? a * r : 1.0);
    below = negative && small ? r : 1.0;
    y = (negative ? -y : y) - mxl_log_sum_f64(level, above / below, 0.0, 0.0);
    y = negative && sine == 0.0 ? INFINITY : y;
    return x == 1.0f || x == 2.0f ? 0.0f : (float)y;
}

/* digamma(x) for u = x - (its zero above 0), |u| <= 1/4; good to 2^-54. */
MXL_INLINE double mxl_digamma_near_f64(int level, double u)
{
    double p = -0.0018009230031878702;

    p = mxl_fma(level, p, u, 0.00259514223494094);
    p = mxl_fma(level, p, u, -0.003343133401726031);
    p = mxl_fma(level, p, u, 0.0048965951967095975);
    p = mxl_fma(level, p, u, -0.007206206856455085);
    p = mxl_fma(level, p, u, 0.010540408647762744);
    p = mxl_fma(level, p, u, -0.015424706093674119);
    p = mxl_fma(level, p, u, 0.022597600468169797);
    p = mxl_fma(level, p, u, -0.03316112769415976);
    p = mxl_fma(level, p, u, 0.048804288928504636);
    p = mxl_fma(level, p, u, -0.07219956124317639);
    p = mxl_fma(level, p, u, 0.10782405068526357);
    p = mxl_fma(level, p, u, -0.16394270544247208);
    p = mxl_fma(level, p, u, 0.25849976095566896);
    p = mxl_fma(level, p, u, -0.442763168983592);
    p = mxl_fma(level, p, u, 0.9676722454476212);
    return p * u;
}

/* The derivative of log gamma(x); infinite at 0, -1, ... Below 8, the sum of 1 / (x + k) is the
 * logarithmic derivative of x (x + 1) ... (x + 7). Worst 5 (in ULP of 4 for x below 0). */
MXL_INLINE double mxl_digamma_f64(int level, double x)
{
    double b = x < 0.0 ? 1.0 - x : x, t = b * (b + 7.0), z = b < 8.0 ? b + 8.0 : b;
    double inverse = 1.0 / z, w = inverse * inverse, p = 0.0615585637335938, cosine, sine, slope, y;
    double u = x - 1.4616321449683622 - 9.549995429965697e-17;

    p = mxl_fma(level, p, w, -0.020590220503867274);
    p = mxl_fma(level, p, w, 0.0075695053759459304);
    p = mxl_fma(level, p, w, -0.004166623281854476);
    p = mxl_fma(level, p, w, 0.003968253806271323);
    p = mxl_fma(level, p, w, -0.008333333333046313);
    p = mxl_fma(level, p, w, 0.08333333333333316);
    slope =
        (b + b + 7.0) * mxl_fma(level, mxl_fma(level, t + t + t + t + 84.0, t, 504.0), t, 720.0);
    slope /= t * mxl_fma(level, mxl_fma(level, t + 28.0, t, 252.0), t, 720.0);
    y = mxl_log_sum_f64(level, z, 0.0, 0.0) - mxl_fma(level, p, w, 0.5 * inverse);
    y = b < 8.0 ? y - slope : y;
    y = fabs(u) <= 0.25 ? mxl_digamma_near_f64(level, u) : y;
    sine = mxl_sin_pi_f64(level, fabs(x), &cosine);
    y = x < 0.0 ? y + cosine / sine : y;
    y = x <= 0.0 && sine == 0.0 ? INFINITY : y;
    return x == -INFINITY ? NAN : y;
}

/* The derivative of digamma; infinite at 0, -1, ... The sum of 1 / (x + k)^2 over k = 0 ... 7 is
 * computed in pairs, k and 7 - k. Worst 4. */
MXL_INLINE double mxl_trigamma_f64(int level, double x)
{
    double b = x < 0.0 ? 1.0 - x : x, t = b * (b + 7.0), z = b < 8.0 ? b + 8.0 : b;
    double inverse = 1.0 / z, w = inverse * inverse, p = 0.826843413963738, sum, next, cosine;
    double d0 = t, d1 = t + 6.0, d2 = t + 10.0, d3 = t + 12.0, sine, y;

    p = mxl_fma(level, p, w, -0.24533217860530313);
    p = mxl_fma(level, p, w, 0.07566101740810219);
    p = mxl_fma(level, p, w, -0.033332663143078665);
    p = mxl_fma(level, p, w, 0.023809521300788814);
    p = mxl_fma(level, p, w, -0.03333333332886171);
    p = mxl_fma(level, p, w, 0.16666666666666397);
    y = mxl_fma(level, p * w, inverse, 0.5 * w) + inverse;
    d0 *= d0, d1 *= d1, d2 *= d2, d3 *= d3;
    sum = mxl_fma(level, t + t + 49.0, d1, (t + t + 37.0) * d0) / (d0 * d1);
    next = mxl_fma(level, t + t + 29.0, d3, (t + t + 25.0) * d2) / (d2 * d3);
    y = b < 8.0 ? sum + (next + y) : y;
    sine = mxl_sin_pi_f64(level, fabs(x), &cosine);
    y = x < 0.0 ? 1.0 / (sine * sine) - y : y;
    y = x <= 0.0 && sine == 0.0 ? INFINITY : y;
    return x == -INFINITY ? NAN : y;
}

#endif
