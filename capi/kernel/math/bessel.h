/* Functions of Bessel and Airy, one number at a time, in double. For ops/elementwise/functions.c.
 */
#ifndef MXL_KERNEL_MATH_BESSEL_H
#define MXL_KERNEL_MATH_BESSEL_H

/* J_n and Y_n of order n, 0 or 1; Y_n is -inf at 0 and NaN below. */
double mxl_bessel_j(int n, double x);
double mxl_bessel_y(int n, double x);

/* I_n, and exp(-|x|) I_n, of order 0 or 1. */
double mxl_bessel_i(int n, double x);
double mxl_bessel_i_scaled(int n, double x);

/* K_n, and exp(x) K_n, of order 0 or 1: inf at 0, NaN below. */
double mxl_bessel_k(int n, double x);
double mxl_bessel_k_scaled(int n, double x);

double mxl_spherical_j0(double x); /* sin(x) / x, 1 at 0 */

/* Ai. Near -8 the error is some units of the twelfth digit. */
double mxl_airy_ai(double x);

#endif
