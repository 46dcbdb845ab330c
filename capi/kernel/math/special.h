/* Special functions, in double: the logarithm of the gamma function one number at a time, and the
 * polygamma functions of arrays. For ops/elementwise/special.c and densities. */
#ifndef MXL_KERNEL_MATH_SPECIAL_H
#define MXL_KERNEL_MATH_SPECIAL_H

#include <stdint.h>

enum { MXL_POLYGAMMA_MOST = 60 }; /* the highest order of mxl_polygamma */

/* log |gamma(x)|; like lgamma, without its global variable. */
double mxl_log_gamma(double x);

/* out[i] = the order-th derivative of digamma, the derivative of log gamma, at x[i]; 0 <= order <=
 * MXL_POLYGAMMA_MOST. Infinite at 0, -1, -2, ... Within 8 ULP; near the zeros that functions of
 * even order have below 0, within 8 units of the last digit of order! 2^(order + 1). `out` may be
 * `x`. */
void mxl_polygamma(int order, int64_t n, const double *x, double *out);

#endif
