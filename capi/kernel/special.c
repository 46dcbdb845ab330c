/* Special functions, see special.h: Euler-Maclaurin sums for the polygamma functions. */
#define _GNU_SOURCE 1 /* lgamma_r */
#include "kernel/special.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

double mxl_log_gamma(double x)
{
    int sign;

    return lgamma_r(x, &sign);
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

/* cot(pi x), with pi x in two parts. */
static double cotangent(double x)
{
    double turn = x - rint(x), high = PI * turn, t = tan(high);
    double low = fma(PI, turn, -high) + 1.2246467991473532e-16 * turn;

    return fabs(turn) == 0.5 ? 0 : 1 / (t + low * (1 + t * t));
}

/* The n-th derivative of cot(pi x), over pi^n: a polynomial in the cotangent with whole
 * coefficients, p' = -pi (1 + c^2) dp/dc. */
static double cotangent_derivative(int n, double x)
{
    double p[MXL_POLYGAMMA_MOST + 3] = {0, 1}, q[MXL_POLYGAMMA_MOST + 3];
    double c = cotangent(x), value;

    for (int k = 0; k < n; k++) {
        for (int i = 0; i <= n + 1; i++) {
            double up = i + 1 <= n + 1 ? (i + 1) * p[i + 1] : 0;
            double down = i >= 1 ? (i - 1) * p[i - 1] : 0;

            q[i] = -(up + down);
        }
        for (int i = 0; i <= n + 1; i++)
            p[i] = q[i];
    }
    value = p[n + 1];
    for (int i = n; i >= 0; i--)
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
    return (n % 2 == 0 ? 1 : -1) * polygamma_positive(n, 1 - x) -
           pow(PI, n + 1) * cotangent_derivative(n, x);
}
