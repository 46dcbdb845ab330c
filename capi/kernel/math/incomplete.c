/* Complements of erf, incomplete gamma functions, zeta and polynomials, see incomplete.h. */
#include "kernel/math/incomplete.h"

#include <math.h>
#include <stdbool.h>

#include "kernel/math/special.h"

static const double PI = 3.14159265358979323846, ROOT_HALF = 0.70710678118654752440;

/* ---- the normal distribution ---- */

double mxl_erfcx(double x)
{
    double square = x * x, rest, by, term = 1, sum = 1;

    if (x < -27)
        return HUGE_VAL;
    if (!(x > 25)) {
        rest = fma(x, x, -square); /* what x^2 lacks, for the exponential makes much of it */
        return exp(square) * erfc(x) * (1 + rest);
    }
    by = -0.5 / square;
    for (int k = 1; k < 12; k++) {
        term *= (2 * k - 1) * by;
        sum += term;
    }
    return sum / (x * sqrt(PI));
}

double mxl_log_ndtr(double x)
{
    if (x < 0)
        return log(mxl_erfcx(-x * ROOT_HALF) / 2) - x * x / 2;
    return log1p(-erfc(x * ROOT_HALF) / 2);
}

/* Of a p up to 1/2: a rational guess (Abramowitz and Stegun 26.2.23), and steps of Newton's and
 * Halley's on the logarithm. */
static double ndtri_lower(double p)
{
    double wanted = log(p), t = sqrt(-2 * wanted);
    double x = (2.515517 + t * (0.802853 + t * 0.010328)) /
                   (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) -
               t;

    for (int k = 0; k < 3; k++) {
        double slope = sqrt(2 / PI) / mxl_erfcx(-x * ROOT_HALF), gap = mxl_log_ndtr(x) - wanted;
        double step = gap / slope;

        x -= step / (1 + step * (x + slope) / 2);
    }
    return x;
}

/* Of 1/2 + p, where that is near 1/2: by the error function, which loses no digits there. */
static double ndtri_middle(double p)
{
    double x = p * sqrt(2 * PI);

    for (int k = 0; k < 5; k++) {
        double step = (erf(x * ROOT_HALF) / 2 - p) * sqrt(2 * PI) * exp(x * x / 2);

        x -= step / (1 + step * x / 2);
    }
    return x;
}

double mxl_ndtri(double x)
{
    if (!(x >= 0 && x <= 1))
        return NAN;
    if (x == 0 || x == 1)
        return x == 0 ? -HUGE_VAL : HUGE_VAL;
    if (fabs(x - 0.5) < 0.4)
        return ndtri_middle(x - 0.5);
    return x < 0.5 ? ndtri_lower(x) : -ndtri_lower(1 - x);
}

/* ---- incomplete gamma functions ---- */

/* a P by the series, for x below a + 1, without the factor that both ways have. */
static double lower_series(double a, double x, int most)
{
    double term = 1, sum = term;

    for (int k = 1; k < most && term > sum * 1e-17; k++) {
        term *= x / (a + k);
        sum += term;
    }
    return sum;
}

/* Q by the continued fraction, by Lentz's method. */
static double upper_fraction(double a, double x, int most)
{
    double b = x + 1 - a, c = 1e300, d = 1 / (b == 0 ? 1e-300 : b), found = d;

    for (int k = 1; k < most; k++) {
        double step = -k * (k - a), before = found;

        b += 2;
        d = 1 / (step * d + b);
        c = b + step / c;
        found *= c * d;
        if (fabs(found - before) <= fabs(found) * 1e-16)
            break;
    }
    return found;
}

static double incomplete(double a, double x, bool upper)
{
    double part;
    int most;

    if (((a == 0) && x > 0) || (isinf(x) && x > 0 && a >= 0 && !isinf(a)))
        return upper ? 0 : 1;
    if ((x == 0 && a > 0) || (isinf(a) && a > 0 && x >= 0 && !isinf(x)))
        return upper ? 1 : 0;
    if (!(a > 0 && x > 0) || isinf(a) || isinf(x))
        return NAN;
    most = 3000 + (int)fmin(8 * sqrt(a), 1e6);
    if (x < a + 1) {
        part = exp(a * log(x) - x - mxl_log_gamma(a + 1)) * lower_series(a, x, most);
        return upper ? 1 - part : part;
    }
    part = exp(a * log(x) - x - mxl_log_gamma(a)) * upper_fraction(a, x, most);
    return upper ? part : 1 - part;
}

double mxl_gamma_lower(double a, double x)
{
    return incomplete(a, x, false);
}

double mxl_gamma_upper(double a, double x)
{
    return incomplete(a, x, true);
}

double mxl_gamma_slope(double a, double x)
{
    double power = a == 1 && x >= 0 ? 0 : (a - 1) * log(x);

    return exp(power - x - mxl_log_gamma(a));
}

/* ---- zeta ---- */

/* Twelve terms of the sum, and Euler and Maclaurin's formula for the rest. */
static double zeta_sum(double x, double q)
{
    /* B(2k) / (2k)! */
    static const double bernoulli[] = {
        1 / 12.,       -1 / 720.,           1 / 30240.,       -1 / 1209600.,
        1 / 47900160., -691 / 1307674368e3, 1 / 74724249600., -3617 / 10670622842880e3,
    };
    double sum = 0, end = q + 12, rising = x, power = pow(end, -x - 1);

    for (int k = 0; k < 12; k++)
        sum += pow(q + k, -x);
    sum += pow(end, 1 - x) / (x - 1) + 0.5 * pow(end, -x);
    for (int k = 0; k < 8; k++) {
        sum += bernoulli[k] * rising * power;
        rising *= (x + 2 * k + 1) * (x + 2 * k + 2);
        power /= end * end;
    }
    return sum;
}

double mxl_zeta(double x, double q)
{
    if (x == 1)
        return HUGE_VAL;
    if (isnan(x) || isnan(q) || x < 1)
        return NAN;
    if (q <= 0 && q == floor(q))
        return HUGE_VAL;
    if (q <= 0 && x != floor(x))
        return NAN;
    if (isinf(x))
        return q > 1 ? 0 : q == 1 ? 1 : HUGE_VAL;
    return zeta_sum(x, q);
}

/* ---- polynomials ---- */

/* The polynomial of order 1. */
static double first_order(mxl_polynomial kind, double x)
{
    switch (kind) {
    case MXL_CHEBYSHEV_U:
    case MXL_HERMITE_H:
        return 2 * x;
    case MXL_CHEBYSHEV_V:
        return 2 * x - 1;
    case MXL_CHEBYSHEV_W:
        return 2 * x + 1;
    case MXL_LAGUERRE:
        return 1 - x;
    default:
        return x;
    }
}

/* That of order k + 1, of those of orders k and k - 1. */
static double next_order(mxl_polynomial kind, double x, double k, double at, double before)
{
    switch (kind) {
    case MXL_HERMITE_H:
        return 2 * x * at - 2 * k * before;
    case MXL_HERMITE_HE:
        return x * at - k * before;
    case MXL_LAGUERRE:
        return ((2 * k + 1 - x) * at - k * before) / (k + 1);
    case MXL_LEGENDRE:
        return ((2 * k + 1) * x * at - k * before) / (k + 1);
    default:
        return 2 * x * at - before;
    }
}

double mxl_polynomial_at(mxl_polynomial kind, double x, double n)
{
    double order = trunc(n), before = 1, at = first_order(kind, x);

    if (!(order > 0))
        return order == 0 ? 1 : 0;
    for (double k = 1; k < order; k++) {
        double next = next_order(kind, x, k, at, before);

        before = at;
        at = next;
        if (isnan(at))
            break;
    }
    return at;
}
