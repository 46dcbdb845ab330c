/* The error function of doubles and the Gaussian error linear unit; see math_f64.h. */
#ifndef MXL_KERNEL_MATH_ERF_F64_H
#define MXL_KERNEL_MATH_ERF_F64_H

#include "kernel/math_f64.h"

/* erf(y) for 0 <= y <= 1, good to 2^-62: y + y (2 / sqrt(pi) - 1 + y^2 P(y^2)). */
MXL_INLINE double mxl_erf_near_f64(int level, double y)
{
    double z = y * y, p = 5.952864177016401e-11;

    p = mxl_fma(level, p, z, -1.1370572995413703e-09);
    p = mxl_fma(level, p, z, 1.4659272662719966e-08);
    p = mxl_fma(level, p, z, -1.635025381137649e-07);
    p = mxl_fma(level, p, z, 1.6460996807077715e-06);
    p = mxl_fma(level, p, z, -1.4925595187987424e-05);
    p = mxl_fma(level, p, z, 0.000120553311166295);
    p = mxl_fma(level, p, z, -0.0008548326981281489);
    p = mxl_fma(level, p, z, 0.005223977624833627);
    p = mxl_fma(level, p, z, -0.026866170645079655);
    p = mxl_fma(level, p, z, 0.11283791670954905);
    p = mxl_fma(level, p, z, -0.3761263890318375);
    p = mxl_fma(level, p, z, 0.1283791670955126);
    return mxl_fma(level, y, p, y);
}

/* c e^(c^2/2) times the share of the normal distribution below -c, which is erfc(c / sqrt(2)) / 2;
 * 1 <= c <= 39, good to 2^-56. A polynomial in t = (c - 6) / (c + 6). */
MXL_INLINE double mxl_normal_tail_f64(int level, double c)
{
    double t = (c - 6.0) / (c + 6.0), p = -1.2976288848870242e-08;

    p = mxl_fma(level, p, t, -8.39482921399663e-09);
    p = mxl_fma(level, p, t, 1.4865120356383491e-07);
    p = mxl_fma(level, p, t, -7.078143754640027e-08);
    p = mxl_fma(level, p, t, -1.106759103290068e-06);
    p = mxl_fma(level, p, t, 2.5058444504433966e-06);
    p = mxl_fma(level, p, t, 3.932280199819286e-06);
    p = mxl_fma(level, p, t, -3.1841305289490474e-05);
    p = mxl_fma(level, p, t, 5.830532056691805e-05);
    p = mxl_fma(level, p, t, 0.00010711602901539791);
    p = mxl_fma(level, p, t, -0.0010493678093982325);
    p = mxl_fma(level, p, t, 0.003949107582336819);
    p = mxl_fma(level, p, t, -0.010477747407874227);
    p = mxl_fma(level, p, t, 0.022093300093776896);
    p = mxl_fma(level, p, t, -0.03875415819957395);
    p = mxl_fma(level, p, t, 0.0576470068878699);
    p = mxl_fma(level, p, t, -0.07296466996690222);
    p = mxl_fma(level, p, t, 0.07753265301961436);
    p = mxl_fma(level, p, t, -0.06602006888804186);
    p = mxl_fma(level, p, t, 0.03817137115124819);
    return mxl_fma(level, p, t, 0.3886758859466811);
}

/* From 1 on 1 - erfc(a). Worst 1.6. */
MXL_INLINE double mxl_erf_f64(int level, double x)
{
    double a = fabs(x), y = a > 6.0 ? 6.0 : a;
    double tail = mxl_normal_tail_f64(level, 1.4142135623730951 * y) / y;
    double far = 1.0 - 1.4142135623730951 * mxl_exp_f64(level, -y * y) * tail;

    return copysign(y < 1.0 ? mxl_erf_near_f64(level, y) : far, x);
}

/* x times the share of the normal distribution below x. The square of x is taken in two parts: the
 * exponential far out needs more digits of it than a double has. Worst 3.6. */
MXL_INLINE double mxl_gelu_f64(int level, double x)
{
    double a = fabs(x), c = a > 39.0 ? 39.0 : a;
    double head = mxl_double_of_bits(mxl_double_bits(c) & UINT64_C(0xfffffffff8000000));
    double square = 0.5 * head * head, rest = 0.5 * (c - head) * (c + head);
    double share = c * (0.5 - 0.5 * mxl_erf_near_f64(level, 0.7071067811865476 * c));
    double far = mxl_exp_sum_f64(level, -square, -rest) * mxl_normal_tail_f64(level, c);

    share = c < 1.06 ? share : far; /* a times the share below -a */
    share = x < 0.0 ? -share : x - share;
    return x == -INFINITY ? NAN : share;
}

#endif
