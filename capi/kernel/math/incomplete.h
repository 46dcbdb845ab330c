/* The complements of the error function, incomplete gamma functions, Hurwitz's zeta function and
 * orthogonal polynomials, one number at a time, in double. For ops/elementwise/functions.c. */
#ifndef MXL_KERNEL_MATH_INCOMPLETE_H
#define MXL_KERNEL_MATH_INCOMPLETE_H

double mxl_erfcx(double x);    /* exp(x^2) erfc(x) */
double mxl_log_ndtr(double x); /* of the normal distribution: the function's logarithm, */
double mxl_ndtri(double x);    /* and its inverse: NaN outside of [0, 1] */

/* The regularised incomplete gamma functions P(a, x) and Q(a, x) = 1 - P. */
double mxl_gamma_lower(double a, double x);
double mxl_gamma_upper(double a, double x);
double mxl_gamma_slope(double a, double x); /* the derivative of P by x */

/* The sum of 1 / (q + k)^x over k = 0, 1, ...: inf at x = 1 and at q = 0, -1, ..., NaN for x
 * below 1. */
double mxl_zeta(double x, double q);

/* Orthogonal polynomials of order n, cut to an integer; 0 of one below 0. */
typedef enum mxl_polynomial {
    MXL_CHEBYSHEV_T,
    MXL_CHEBYSHEV_U,
    MXL_CHEBYSHEV_V,
    MXL_CHEBYSHEV_W,
    MXL_HERMITE_H,
    MXL_HERMITE_HE,
    MXL_LAGUERRE,
    MXL_LEGENDRE
} mxl_polynomial;

double mxl_polynomial_at(mxl_polynomial kind, double x, double n);

#endif
