/* Probability densities and their logarithms, element by element in double. For
 * ops/random/density.c. */
#ifndef MXL_KERNEL_RANDOM_DENSITY_H
#define MXL_KERNEL_RANDOM_DENSITY_H

#include <stdbool.h>
#include <stdint.h>

/* The density at x, or its logarithm, with up to two parameters. Gives NaN or infinity wherever
 * MXNet 1.9.1's formula does: x is not checked. */
typedef double (*mxl_density)(double x, double a, double b, bool is_log);

double mxl_density_uniform(double x, double low, double high, bool is_log);
double mxl_density_normal(double x, double mean, double deviation, bool is_log);
double mxl_density_gamma(double x, double shape, double rate, bool is_log);
double mxl_density_exponential(double x, double rate, double unused, bool is_log);
double mxl_density_poisson(double x, double mean, double unused, bool is_log);
double mxl_density_negative_binomial(double x, double k, double p, bool is_log);
double mxl_density_generalized_negative_binomial(double x, double mean, double dispersion,
                                                 bool is_log);

/* out[i] = density(x[i], a[i / repeat], b[i / repeat]) for n elements; x, a, b (or NULL) and out
 * have one floating dtype. -1 with the error set for other dtypes. */
int mxl_density_fill(mxl_density density, bool is_log, int dtype, int64_t n, const void *x,
                     const void *a, const void *b, int64_t repeat, void *out);

/* The Dirichlet density: out[i] of row x[i][k] with the parameters alpha[i / repeat][k]. */
int mxl_density_dirichlet(bool is_log, int dtype, int64_t n, int64_t k, const void *x,
                          const void *alpha, int64_t repeat, void *out);

#endif
