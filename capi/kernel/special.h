/* Special functions that C's library lacks, in double: the inverse error function and the polygamma
 * functions. About 1e-14 relative (polygamma near its zeros absolute). For ops/special.c. */
#ifndef MXL_KERNEL_SPECIAL_H
#define MXL_KERNEL_SPECIAL_H

enum { MXL_POLYGAMMA_MOST = 60 }; /* the highest order of mxl_polygamma */

/* erf(mxl_erfinv(x)) = x; infinite at -1 and 1, NaN outside of them. */
double mxl_erfinv(double x);

/* log |gamma(x)|; like lgamma, without its global variable. */
double mxl_log_gamma(double x);

/* The n-th derivative of digamma, the derivative of log gamma; 0 <= n <= MXL_POLYGAMMA_MOST.
 * Infinite at 0, -1, -2, ... */
double mxl_polygamma(int n, double x);

#endif
