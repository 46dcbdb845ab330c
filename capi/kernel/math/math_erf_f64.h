/* The error function of doubles, its inverse, and the Gaussian error linear unit; see math_f64.h.
 */
#ifndef MXL_KERNEL_MATH_MATH_ERF_F64_H
#define MXL_KERNEL_MATH_MATH_ERF_F64_H

#include "kernel/math/math_f64.h"

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

/* c e^(c^2/2) P(Z < -c) for a normal Z, where P(Z < -c) = erfc(c / sqrt(2)) / 2; 1 <= c <= 39, good
 * to 2^-56. A polynomial in t = (c - 6) / (c + 6). */
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

/* x P(Z < x) for a normal Z. The square of x is computed in two parts, because the exponential of
 * large squares needs more digits than a double has. Worst 3.6. */
MXL_INLINE double mxl_gelu_f64(int level, double x)
{
    double a = fabs(x), c = a > 39.0 ? 39.0 : a;
    double head = mxl_double_of_bits(mxl_double_bits(c) & UINT64_C(0xfffffffff8000000));
    double square = 0.5 * head * head, rest = 0.5 * (c - head) * (c + head);
    double share = c * (0.5 - 0.5 * mxl_erf_near_f64(level, 0.7071067811865476 * c));
    double far = mxl_exp_sum_f64(level, -square, -rest) * mxl_normal_tail_f64(level, c);

    share = c < 1.06 ? share : far; /* a P(Z < -a) */
    return x < 0.0 ? -share : x - share;
}

/* c[0] + c[1] x + ... + c[7] x^7 */
MXL_INLINE double mxl_poly7_f64(int level, double x, const double c[8])
{
    double p = c[7];

    for (int i = 6; i >= 0; i--)
        p = mxl_fma(level, p, x, c[i]);
    return p;
}

static const double MXL_ERFINV_ABOVE[3][8] = {
    {1.0845597967968248, 7.160921199707379, 18.039487150473597, 21.727106021614006,
     12.832151510619875, 3.408658782601145, 0.31730417194039606, 0.004629517836199464},
    {0.6367161372189678, 2.64457955792694, 4.589348476058511, 4.292253733738423, 2.2977419641252013,
     0.6778195130408574, 0.09540357219410894, 0.004610727546074203},
    {2.714760997939285, 6.43350658839713, 5.766117546278292, 2.6054264800559426, 0.6441309633776088,
     0.08635814356669541, 0.005688362141833712, 0.00013634881300981415}};
static const double MXL_ERFINV_BELOW[3][8] = {
    {1.0, 7.121354241112377, 19.70783200731746, 26.78300806716227, 18.607684554381887,
     6.247619308964538, 0.8535064285470091, 0.030108495873496597},
    {1.0, 2.617433209035837, 2.998872993634902, 1.8260664744565893, 0.5968922867912596,
     0.09086999115363621, 0.004609304876144059, 2.2312107916897504e-08},
    {1.0, 1.986087899166948, 1.3638575680230753, 0.4403199141550156, 0.07085376378430529,
     0.00528055404716671, 0.0001363363993917285, 1.0597268846454785e-10}};

/* The inverse of erf; infinite at -1 and 1, NaN outside. Quotients of polynomials, good to 2^-55:
 * in 0.5625 - a^2 up to a = 3/4; beyond in s - 1 up to s = 3, else s - 3, with s = sqrt(-log(1 -
 * a)). (Interpolated at Chebyshev nodes; the cut at 3/4 as in Wichura's AS 241.) Worst 5.8. */
MXL_INLINE double mxl_erfinv_f64(int level, double x)
{
    double a = fabs(x), s = sqrt(-mxl_log_f64(level, 1.0 - a)), near = 0.5625 - a * a;
    double above = mxl_poly7_f64(level, near, MXL_ERFINV_ABOVE[0]);
    double below = mxl_poly7_f64(level, near, MXL_ERFINV_BELOW[0]);
    double above_1 = mxl_poly7_f64(level, s - 1.0, MXL_ERFINV_ABOVE[1]);
    double below_1 = mxl_poly7_f64(level, s - 1.0, MXL_ERFINV_BELOW[1]);
    double above_2 = mxl_poly7_f64(level, s - 3.0, MXL_ERFINV_ABOVE[2]);
    double below_2 = mxl_poly7_f64(level, s - 3.0, MXL_ERFINV_BELOW[2]);

    above = a < 0.75 ? a * above : s < 3.0 ? above_1 : above_2;
    below = a < 0.75 ? below : s < 3.0 ? below_1 : below_2;
    return copysign(a == 1.0 ? INFINITY : above / below, x);
}

#endif
