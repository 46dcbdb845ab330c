/* Special functions that C's library lacks, in double, one number at a time: the polygamma
 * functions, within 8 ULP or, near their zeros, 1e-15. For ops/special.c. */
#ifndef MXL_KERNEL_SPECIAL_H
#define MXL_KERNEL_SPECIAL_H

enum { MXL_POLYGAMMA_MOST = 60 }; /* the highest order of mxl_polygamma */

/* log |gamma(x)|; like lgamma, without its global variable. */
double mxl_log_gamma(double x);

/* The n-th derivative of digamma, the derivative of log gamma; 0 <= n <= MXL_POLYGAMMA_MOST.
 * Infinite at 0, -1, -2, ... */
double mxl_polygamma(int n, double x);

#endif
