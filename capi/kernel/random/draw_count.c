/* Samplers of counts: Poisson and negative binomial numbers; see draw.h. */
#include <math.h>

#include "kernel/random/draw.h"
#include "kernel/math/special.h"

enum { TRIES = 4096, LONGEST = 1024 };

static const double SMALL = 10; /* rates below it use inversion */
static const double LARGE =
    1e5; /* rates above it use Stirling's series, whose terms do not cancel */
static const double TWO_PI = 6.28318530717958647692;

/* Inversion: the first count whose cumulative probability exceeds a uniform number. For the rates
 * it is called with, the sum is 1 to the last digit long before LONGEST. */
static double poisson_small(mxl_draws *d, double rate)
{
    double u = mxl_draw_unit(d), p = exp(-rate), sum = p;
    int k = 0;

    while (u >= sum && k < LONGEST) {
        k++;
        p *= rate / k;
        sum += p;
    }
    return k;
}

/* (1 + x) log(1 + x) - x, by its series near 0. */
static double deviance(double x)
{
    double sum = 0, power = x * x;

    if (fabs(x) > 0.01)
        return (1 + x) * log1p(x) - x;
    for (int n = 2; n <= 8; n++, power *= -x)
        sum += power / (n * (n - 1.0));
    return sum;
}

/* The logarithm of the probability of k >= 0; NaN for k = 0 at a large rate. */
static double poisson_log(double k, double rate)
{
    if (rate < LARGE)
        return k * log(rate) - rate - mxl_log_gamma(k + 1);
    return -rate * deviance((k - rate) / rate) - 0.5 * log(TWO_PI * k) - 1 / (12 * k);
}

/* Transformed rejection with squeeze (PTRS): Hoermann, "The transformed rejection method for
 * generating Poisson random variables", 1993; rate >= 10. */
static double poisson_large(mxl_draws *d, double rate)
{
    double b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b;
    double inverse = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);

    for (int i = 0; i < TRIES; i++) {
        double u = mxl_draw_unit(d) - 0.5, v = 1 - mxl_draw_unit(d), us = 0.5 - fabs(u);
        double k = floor((2 * a / us + b) * u + rate + 0.43);

        if (us >= 0.07 && v <= v_r)
            return k;
        if (!(k >= 0) || isinf(k) || (us < 0.013 && v > us))
            continue;
        if (log(v * inverse / (a / (us * us) + b)) <= poisson_log(k, rate))
            return k;
    }
    return floor(rate);
}

double mxl_draw_poisson(mxl_draws *d, double rate, double unused)
{
    (void)unused;
    if (!(rate > 0))
        return isnan(rate) ? NAN : 0;
    if (isinf(rate))
        return rate;
    return rate < SMALL ? poisson_small(d, rate) : poisson_large(d, rate);
}

/* A Poisson number whose rate is a gamma number. */
double mxl_draw_negative_binomial(mxl_draws *d, double k, double p)
{
    return mxl_draw_poisson(d, mxl_draw_gamma(d, k, (1 - p) / p), 0);
}

double mxl_draw_generalized_negative_binomial(mxl_draws *d, double mean, double dispersion)
{
    if (isinf(1 / dispersion)) /* no dispersion in the limit */
        return mxl_draw_poisson(d, mean, 0);
    return mxl_draw_poisson(d, mxl_draw_gamma(d, 1 / dispersion, dispersion * mean), 0);
}
