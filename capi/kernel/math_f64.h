/* Functions of doubles for row expressions, through kernel/math.h: the C library's, a call for each
 * element. */
#ifndef MXL_KERNEL_MATH_F64_H
#define MXL_KERNEL_MATH_F64_H

#include <math.h>

#include "kernel/target.h"

MXL_INLINE double mxl_exp_f64(int level, double x)
{
    (void)level;
    return exp(x);
}

MXL_INLINE double mxl_expm1_f64(int level, double x)
{
    (void)level;
    return expm1(x);
}

MXL_INLINE double mxl_log_f64(int level, double x)
{
    (void)level;
    return log(x);
}

MXL_INLINE double mxl_log2_f64(int level, double x)
{
    (void)level;
    return log2(x);
}

MXL_INLINE double mxl_log10_f64(int level, double x)
{
    (void)level;
    return log10(x);
}

MXL_INLINE double mxl_log1p_f64(int level, double x)
{
    (void)level;
    return log1p(x);
}

MXL_INLINE double mxl_sqrt_f64(int level, double x)
{
    (void)level;
    return sqrt(x);
}

MXL_INLINE double mxl_rsqrt_f64(int level, double x)
{
    (void)level;
    return 1.0 / sqrt(x);
}

MXL_INLINE double mxl_cbrt_f64(int level, double x)
{
    (void)level;
    return cbrt(x);
}

MXL_INLINE double mxl_rcbrt_f64(int level, double x)
{
    (void)level;
    return 1.0 / cbrt(x);
}

MXL_INLINE double mxl_sin_f64(int level, double x)
{
    (void)level;
    return sin(x);
}

MXL_INLINE double mxl_cos_f64(int level, double x)
{
    (void)level;
    return cos(x);
}

MXL_INLINE double mxl_tan_f64(int level, double x)
{
    (void)level;
    return tan(x);
}

MXL_INLINE double mxl_asin_f64(int level, double x)
{
    (void)level;
    return asin(x);
}

MXL_INLINE double mxl_acos_f64(int level, double x)
{
    (void)level;
    return acos(x);
}

MXL_INLINE double mxl_atan_f64(int level, double x)
{
    (void)level;
    return atan(x);
}

MXL_INLINE double mxl_sinh_f64(int level, double x)
{
    (void)level;
    return sinh(x);
}

MXL_INLINE double mxl_cosh_f64(int level, double x)
{
    (void)level;
    return cosh(x);
}

MXL_INLINE double mxl_tanh_f64(int level, double x)
{
    (void)level;
    return tanh(x);
}

MXL_INLINE double mxl_asinh_f64(int level, double x)
{
    (void)level;
    return asinh(x);
}

MXL_INLINE double mxl_acosh_f64(int level, double x)
{
    (void)level;
    return acosh(x);
}

MXL_INLINE double mxl_atanh_f64(int level, double x)
{
    (void)level;
    return atanh(x);
}

MXL_INLINE double mxl_erf_f64(int level, double x)
{
    (void)level;
    return erf(x);
}

MXL_INLINE double mxl_sigmoid_f64(int level, double x)
{
    double e = exp(-fabs(x)); /* never overflows */

    (void)level;
    return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

/* log(1 + e^x) */
MXL_INLINE double mxl_softrelu_f64(int level, double x)
{
    (void)level;
    return (x < 0.0 ? 0.0 : x) + log1p(exp(-fabs(x)));
}

/* x P(Z <= x) for a normal Z */
MXL_INLINE double mxl_gelu_f64(int level, double x)
{
    (void)level;
    return x * erfc(-x * 0.70710678118654752440) / 2.0;
}

MXL_INLINE double mxl_pow_f64(int level, double x, double y)
{
    (void)level;
    return pow(x, y);
}

MXL_INLINE double mxl_hypot_f64(int level, double x, double y)
{
    (void)level;
    return hypot(x, y);
}

#endif
