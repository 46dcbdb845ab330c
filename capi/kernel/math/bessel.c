/* Functions of Bessel and Airy, see bessel.h: power series near 0, asymptotic ones far from it, and
 * between them integrals by the trapezoidal rule, whose error falls faster than any power of the
 * step for functions as smooth as these. J and Y are the C library's. */
#define _GNU_SOURCE 1 /* j0, y0 ... */
#include "kernel/math/bessel.h"

#include <math.h>

static const double PI = 3.14159265358979323846, EULER = 0.57721566490153286061;
static const double FAR = 25; /* asymptotic series are exact to the last digit from here on */

double mxl_bessel_j(int n, double x)
{
    return n == 0 ? j0(x) : j1(x);
}

double mxl_bessel_y(int n, double x)
{
    if (!(x > 0))
        return x == 0 ? -HUGE_VAL : NAN;
    return n == 0 ? y0(x) : y1(x);
}

/* ---- modified functions ---- */

/* I_n near 0; all terms have one sign. */
static double i_series(int n, double x)
{
    double term = n == 0 ? 1 : x / 2, sum = term, by = x * x / 4;

    for (int k = 1; k < 100 && term > 1e-18 * sum; k++) {
        term *= by / ((double)k * (k + n));
        sum += term;
    }
    return sum;
}

/* exp(-x) I_n far from 0. */
static double i_far(int n, double x)
{
    double term = 1, sum = 1;

    for (int k = 1; k < 40 && fabs(term) > 1e-18; k++) {
        term *= -(4.0 * n * n - (2 * k - 1.0) * (2 * k - 1.0)) / (8 * k * x);
        sum += term;
    }
    return sum / sqrt(2 * PI * x);
}

double mxl_bessel_i_scaled(int n, double x)
{
    double size = fabs(x), found;

    if (isnan(x))
        return x;
    found = size <= FAR ? i_series(n, size) * exp(-size) : isinf(x) ? 0 : i_far(n, size);
    return n == 1 && x < 0 ? -found : found;
}

double mxl_bessel_i(int n, double x)
{
    double size = fabs(x), half = exp(size / 2), found;

    if (isnan(x))
        return x;
    found = size <= FAR ? i_series(n, size) : isinf(x) ? HUGE_VAL : i_far(n, size) * half * half;
    return n == 1 && x < 0 ? -found : found;
}

/* K_n near 0: I_n times a logarithm, and a sum of its terms with harmonic numbers. */
static double k_near(int n, double x)
{
    double term = n == 0 ? 1 : x / 2, sum = 0, by = x * x / 4, harmonic = n - 2 * EULER;
    double sign = n == 0 ? -1 : 1;

    for (int k = 0; k < 24; k++) {
        sum += harmonic * term;
        term *= by / ((k + 1.0) * (k + 1 + n));
        harmonic += 1.0 / (k + 1) + 1.0 / (k + 1 + n);
    }
    return (n == 0 ? 0 : 1 / x) + sign * (log(x / 2) * i_series(n, x) - sum / 2);
}

/* exp(x) K_n, of any order, from 0.6 on: the integral of exp(x - x cosh t) cosh(n t). */
static double k_integral(double n, double x)
{
    double step = x < 9 ? 0.2 : 0.6 / sqrt(x), sum = 0.5;

    for (int k = 1; k < 100; k++) {
        double half = sinh(k * step / 2), power = 2 * x * half * half;

        if (power > 46)
            break;
        sum += exp(-power) * cosh(n * k * step);
    }
    return sum * step;
}

double mxl_bessel_k_scaled(int n, double x)
{
    if (!(x > 0) || isinf(x))
        return x == 0 ? HUGE_VAL : x > 0 ? 0 : NAN;
    return x <= 2 ? k_near(n, x) * exp(x) : k_integral(n, x);
}

double mxl_bessel_k(int n, double x)
{
    if (!(x > 0) || isinf(x))
        return x == 0 ? HUGE_VAL : x > 0 ? 0 : NAN;
    return x <= 2 ? k_near(n, x) : k_integral(n, x) * exp(-x);
}

double mxl_spherical_j0(double x)
{
    return x == 0 ? 1 : isinf(x) ? 0 : sin(x) / x;
}

/* ---- Airy's ---- */

/* Far below 0 the terms of the two sums cancel, which `long double` has digits for. */
static double airy_near(double x)
{
    long double cube = (long double)x * x * x, one = 0.35502805388781723926L;
    long double other = -0.25881940379280679841L * x, sum = one + other;

    for (int k = 1; k < 90; k++) {
        one *= cube / ((3 * k - 1) * (3 * k));
        other *= cube / ((3 * k) * (3 * k + 1));
        sum += one + other;
    }
    return (double)sum;
}

/* Below -8: waves, by an asymptotic series. */
static double airy_waves(double x)
{
    double zeta = 2.0 / 3 * -x * sqrt(-x), term = 1, even = 1, odd = 0;
    double angle = zeta + PI / 4;

    for (int k = 1; k < 22; k++) {
        term *= (6.0 * k - 5) * (6.0 * k - 3) * (6.0 * k - 1) / (216 * k * (2.0 * k - 1) * zeta);
        *(k % 2 == 0 ? &even : &odd) += k % 4 < 2 ? term : -term;
    }
    return (sin(angle) * even - cos(angle) * odd) / (sqrt(PI) * sqrt(sqrt(-x)));
}

double mxl_airy_ai(double x)
{
    double zeta;

    if (isnan(x) || x == -HUGE_VAL)
        return NAN;
    if (x < -8)
        return airy_waves(x);
    if (x <= 1)
        return airy_near(x);
    zeta = 2.0 / 3 * x * sqrt(x);
    return x > 1e3 ? 0 : sqrt(x / 3) / PI * k_integral(1.0 / 3, zeta) * exp(-zeta);
}
