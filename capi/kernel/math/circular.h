/* Sine, cosine and tangent of doubles beyond MXL_CIRCULAR_F64 (math_trig_f64.h), one number at a
 * time, within 2.5 ULP. The C library is less accurate for x close to a multiple of pi / 2. For
 * ops/elementwise/trig.c. */
#ifndef MXL_KERNEL_MATH_CIRCULAR_H
#define MXL_KERNEL_MATH_CIRCULAR_H

/* |x| >= 1; NaN if x is not finite. */
double mxl_far_sin(double x);
double mxl_far_cos(double x);
double mxl_far_tan(double x);

#endif
