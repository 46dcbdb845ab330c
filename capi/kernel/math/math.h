/* Functions of one or two numbers for loop expressions. mxl_loop_exp(x), ... has the type of x:
 * float (math_f32.h) or double (math_f64.h). `level`, the vector level (target.h), must be in
 * scope. */
#ifndef MXL_KERNEL_MATH_MATH_H
#define MXL_KERNEL_MATH_MATH_H

#include "kernel/math/math_erf_f64.h"
#include "kernel/math/math_f32.h"
#include "kernel/math/math_f32_wide.h"
#include "kernel/math/math_f64.h"
#include "kernel/math/math_gamma.h"
#include "kernel/math/math_pow_f64.h"
#include "kernel/math/math_trig_f64.h"

#define MXL_MATH(name, x)                                                                          \
    _Generic((x), float: mxl_##name##_f32, default: mxl_##name##_f64)(level, x)
#define MXL_MATH2(name, x, y)                                                                      \
    _Generic((x), float: mxl_##name##_f32, default: mxl_##name##_f64)(level, x, y)

#define mxl_loop_exp(x)      MXL_MATH(exp, x)
#define mxl_loop_expm1(x)    MXL_MATH(expm1, x)
#define mxl_loop_log(x)      MXL_MATH(log, x)
#define mxl_loop_log2(x)     MXL_MATH(log2, x)
#define mxl_loop_log10(x)    MXL_MATH(log10, x)
#define mxl_loop_log1p(x)    MXL_MATH(log1p, x)
#define mxl_loop_sqrt(x)     MXL_MATH(sqrt, x)
#define mxl_loop_rsqrt(x)    MXL_MATH(rsqrt, x)
#define mxl_loop_cbrt(x)     MXL_MATH(cbrt, x)
#define mxl_loop_rcbrt(x)    MXL_MATH(rcbrt, x)
#define mxl_loop_sin(x)      MXL_MATH(sin, x)
#define mxl_loop_cos(x)      MXL_MATH(cos, x)
#define mxl_loop_tan(x)      MXL_MATH(tan, x)
#define mxl_loop_asin(x)     MXL_MATH(asin, x)
#define mxl_loop_acos(x)     MXL_MATH(acos, x)
#define mxl_loop_atan(x)     MXL_MATH(atan, x)
#define mxl_loop_sinh(x)     MXL_MATH(sinh, x)
#define mxl_loop_cosh(x)     MXL_MATH(cosh, x)
#define mxl_loop_tanh(x)     MXL_MATH(tanh, x)
#define mxl_loop_asinh(x)    MXL_MATH(asinh, x)
#define mxl_loop_acosh(x)    MXL_MATH(acosh, x)
#define mxl_loop_atanh(x)    MXL_MATH(atanh, x)
#define mxl_loop_sigmoid(x)  MXL_MATH(sigmoid, x)
#define mxl_loop_softrelu(x) MXL_MATH(softrelu, x)
#define mxl_loop_erf(x)      MXL_MATH(erf, x)
#define mxl_loop_erfinv(x)   MXL_MATH(erfinv, x)
#define mxl_loop_gammaln(x)  MXL_MATH(gammaln, x)
#define mxl_loop_pow(x, y)   MXL_MATH2(pow, x, y)
#define mxl_loop_hypot(x, y) MXL_MATH2(hypot, x, y)

#endif
