/* Functions of doubles for row expressions, through kernel/math.h: the C library's, a call for each
 * element. */
#ifndef MXL_KERNEL_MATH_F64_H
#define MXL_KERNEL_MATH_F64_H

#include <math.h>

static inline double mxl_exp_f64(double x)
{
    return exp(x);
}

static inline double mxl_expm1_f64(double x)
{
    return expm1(x);
}

static inline double mxl_log_f64(double x)
{
    return log(x);
}

static inline double mxl_log2_f64(double x)
{
    return log2(x);
}

static inline double mxl_log10_f64(double x)
{
    return log10(x);
}

static inline double mxl_log1p_f64(double x)
{
    return log1p(x);
}

static inline double mxl_sqrt_f64(double x)
{
    return sqrt(x);
}

static inline double mxl_rsqrt_f64(double x)
{
    return 1.0 / sqrt(x);
}

static inline double mxl_cbrt_f64(double x)
{
    return cbrt(x);
}

static inline double mxl_rcbrt_f64(double x)
{
    return 1.0 / cbrt(x);
}

static inline double mxl_sin_f64(double x)
{
    return sin(x);
}

static inline double mxl_cos_f64(double x)
{
    return cos(x);
}

static inline double mxl_tan_f64(double x)
{
    return tan(x);
}

static inline double mxl_asin_f64(double x)
{
    return asin(x);
}

static inline double mxl_acos_f64(double x)
{
    return acos(x);
}

static inline double mxl_atan_f64(double x)
{
    return atan(x);
}

static inline double mxl_sinh_f64(double x)
{
    return sinh(x);
}

static inline double mxl_cosh_f64(double x)
{
    return cosh(x);
}

static inline double mxl_tanh_f64(double x)
{
    return tanh(x);
}

static inline double mxl_asinh_f64(double x)
{
    return asinh(x);
}

static inline double mxl_acosh_f64(double x)
{
    return acosh(x);
}

static inline double mxl_atanh_f64(double x)
{
    return atanh(x);
}

static inline double mxl_erf_f64(double x)
{
    return erf(x);
}

static inline double mxl_sigmoid_f64(double x)
{
    double e = exp(-fabs(x)); /* never overflows */

    return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

/* log(1 + e^x) */
static inline double mxl_softrelu_f64(double x)
{
    return (x < 0.0 ? 0.0 : x) + log1p(exp(-fabs(x)));
}

/* x P(Z <= x) for a normal Z */
static inline double mxl_gelu_f64(double x)
{
    return x * erfc(-x * 0.70710678118654752440) / 2.0;
}

static inline double mxl_pow_f64(double x, double y)
{
    return pow(x, y);
}

static inline double mxl_hypot_f64(double x, double y)
{
    return hypot(x, y);
}

#endif
