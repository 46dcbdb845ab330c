/* Special functions, see special.h: an estimate with Halley steps for the inverse error function,
 * Euler-Maclaurin sums for the polygamma functions. */
#define _GNU_SOURCE 1 /* lgamma_r */
#include "kernel/special.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

double mxl_log_gamma(double x)
{
    int sign;

    return lgamma_r(x, &sign);
}

/* Winitzki's estimate, good to a few thousandths. */
static double erfinv_estimate(double x)
{
    const double a = 0.147;
    double log_term = log1p(-x * x), t = 2 / (PI * a) + log_term / 2;

    return sqrt(sqrt(t * t - log_term / a) - t);
}

double mxl_erfinv(double x)
{
    double size = fabs(x), w;

    if (!(size < 1))
        return size == 1 ? copysign(INFINITY, x) : NAN;
    if (size < 1e-8)
        return x * (sqrt(PI) / 2);
    w = erfinv_estimate(size);
    for (int i = 0; i < 3; i++) {
        /* Near 1 the distance to it has the digits. */
        double off = size < 0.5 ? erf(w) - size : (1 - size) - erfc(w);
        double step = off / (2 / sqrt(PI) * exp(-w * w));

        w -= step / (1 + w * step);
    }
    return copysign(w, x);
}

/* B(2j) / (2j)! for j = 1, 2, ... */
static const double BERNOULLI[] = {
    8.3333333333333333e-02,  -1.3888888888888889e-03, 3.3068783068783069e-05,
    -8.2671957671957672e-07, 2.0876756987868099e-08,  -5.2841901386874932e-10,
    1.3382536530684679e-11,  -3.3896802963225829e-13, 8.5860620562778446e-15,
    -2.1748686985580619e-16,
};
enum { TERMS = sizeof(BERNOULLI) / sizeof(BERNOULLI[0]) };

/* digamma(x), x > 0: upwards to 12, then the asymptotic series. */
static double digamma_positive(double x)
{
    double sum = 0, power, factorial = 1;

    for (; x < 12; x++)
        sum -= 1 / x;
    power = 1 / (x * x);
    sum += log(x) - 0.5 / x;
    for (int j = 0; j < TERMS; j++) {
        /* B(2j) / (2j) = (B(2j) / (2j)!) (2j - 1)! */
        factorial *= j == 0 ? 1 : (2.0 * j + 1) * (2.0 * j);
        sum -= BERNOULLI[j] * factorial * power;
        power /= x * x;
    }
    return sum;
}

/* The sum of (x + k)^-s over k = 0, 1, ...; x > 0, s >= 2. */
static double zeta(int s, double x)
{
    double sum = 0, factor, last = 12 + s;

    for (; x < last; x++)
        sum += pow(x, -s);
    sum += pow(x, 1 - s) / (s - 1) + 0.5 * pow(x, -s);
    factor = s * pow(x, -s - 1);
    for (int j = 0; j < TERMS; j++) {
        sum += BERNOULLI[j] * factor;
        factor *= (s + 2.0 * j + 1) * (s + 2.0 * j + 2) / (x * x);
    }
    return sum;
}

static double polygamma_positive(int n, double x)
{
    if (n == 0)
        return digamma_positive(x);
    return (n % 2 == 0 ? -1 : 1) * tgamma(n + 1.0) * zeta(n + 1, x);
}

/* The n-th derivative of cot(pi x): a polynomial in the cotangent, p' = -pi (1 + c^2) dp/dc. */
static double cotangent_derivative(int n, double x)
{
    double p[MXL_POLYGAMMA_MOST + 3] = {0, 1}, q[MXL_POLYGAMMA_MOST + 3];
    double turn = x - floor(x), c = turn == 0.5 ? 0 : 1 / tan(PI * turn), value = 0;

    for (int k = 0; k < n; k++) {
        for (int i = 0; i <= n + 1; i++) {
            double up = i + 1 <= n + 1 ? (i + 1) * p[i + 1] : 0;
            double down = i >= 1 ? (i - 1) * p[i - 1] : 0;

            q[i] = -PI * (up + down);
        }
        for (int i = 0; i <= n + 1; i++)
            p[i] = q[i];
    }
    for (int i = n + 1; i >= 0; i--)
        value = value * c + p[i];
    return value;
}

double mxl_polygamma(int n, double x)
{
    if (isnan(x) || x == -INFINITY)
        return NAN;
    if (x == INFINITY)
        return n == 0 ? x : 0;
    if (x > 0)
        return polygamma_positive(n, x);
    if (x == floor(x))
        return INFINITY;
    /* Reflection: the series needs a positive argument. */
    return (n % 2 == 0 ? 1 : -1) * polygamma_positive(n, 1 - x) - PI * cotangent_derivative(n, x);
}
