/* Special functions, see special.h. Polygamma functions from the third on are Euler-Maclaurin sums,
 * computed for a tile of numbers at a time; the first two are in math_gamma.h. */
#define _GNU_SOURCE 1 /* lgamma_r */
#include "kernel/math/special.h"

#include <math.h>
#include <stdbool.h>

#include "kernel/math/math_gamma.h"

enum { TILE = 128 };

/* The outer loop vectorises only if this one is unrolled. */
#if defined(__GNUC__) && !defined(__clang__)
#define UNROLL _Pragma("GCC unroll 16")
#else
#define UNROLL
#endif

/* lgamma writes a variable that threads share. */
#if defined(__linux__)
#define MXL_LGAMMA_R 1
#elif defined(__APPLE__)
#define MXL_LGAMMA_R 1
double lgamma_r(double x, int *sign); /* hidden from C17 by the header */
#endif

double mxl_log_gamma(double x)
{
#if defined(MXL_LGAMMA_R)
    int sign;

    return lgamma_r(x, &sign);
#else
    return lgamma(x);
#endif
}

#define ROW_PARAMETERS (int64_t n, const double *x, double *out)

MXL_INLINE void digamma_at(int level, int64_t n, const double *x, double *out)
{
    MXL_IVDEP
    for (int64_t i = 0; i < n; i++)
        out[i] = mxl_digamma_f64(level, x[i]);
}
MXL_BY_LEVEL(digamma, ROW_PARAMETERS, n, x, out)

MXL_INLINE void trigamma_at(int level, int64_t n, const double *x, double *out)
{
    MXL_IVDEP
    for (int64_t i = 0; i < n; i++)
        out[i] = mxl_trigamma_f64(level, x[i]);
}
MXL_BY_LEVEL(trigamma, ROW_PARAMETERS, n, x, out)

/* ---- the sum of 1 / (x + k)^(n + 1) over k = 0, 1, ..., times n! ---- */

/* B(2j) / (2j)! for j = 1, 2, ... */
static const double BERNOULLI[] = {
    8.3333333333333333e-02,  -1.3888888888888889e-03, 3.3068783068783069e-05,
    -8.2671957671957672e-07, 2.0876756987868099e-08,  -5.2841901386874932e-10,
    1.3382536530684679e-11,  -3.3896802963225829e-13, 8.5860620562778446e-15,
    -2.1748686985580619e-16,
};
enum { TERMS = sizeof(BERNOULLI) / sizeof(BERNOULLI[0]) };

typedef struct series {
    double order;       /* n */
    double factorial;   /* n! */
    double from;        /* numbers from here on need no explicit terms of the sum */
    double scale, rest; /* a power of 2; n! scale^n, at most 1: n! x^-n is rest (scale x)^-n */
    double c[TERMS +
             1]; /* x^n times the sum from x on is c[0] + 1 / 2x + c[1] / x^2 + c[2] / x^4 ... */
} series;

static void series_init(series *s, int n)
{
    double factor = 1;
    int exponent;

    s->order = n;
    s->factorial = tgamma(n + 1.0);
    s->from = 13 + n;
    frexp(s->factorial, &exponent);
    exponent = (exponent + n - 1) / n;
    s->scale = ldexp(1, -exponent);
    s->rest = ldexp(s->factorial, -exponent * n);
    s->c[0] = 1.0 / n;
    for (int j = 0; j < TERMS; j++) {
        factor *= j == 0 ? n + 1.0 : (n + 2.0 * j) * (n + 2.0 * j + 1);
        s->c[j + 1] = BERNOULLI[j] * factor;
    }
}

/* z^-n, z > 0. */
MXL_INLINE double inverse_power(int level, double z, double n)
{
    double more, normal = mxl_normal_f64(z, &more), low, high, p, p_low;

    if (level == MXL_BASELINE)
        return pow(z, -n);
    high = mxl_log_parts_f64(level, normal, more, &low);
    p = mxl_product_f64(level, high, -n, &p_low);
    p_low = fabs(p) < 1000.0 ? mxl_fma(level, low, -n, p_low) : 0.0;
    return mxl_exp_sum_f64(level, p, p_low);
}

/* Adds the k-th term, n! / z^(n + 1) with z = x + k; a few multiplications suffice for small n. */
#define ADD_TERM(value)                                                                            \
    MXL_IVDEP                                                                                      \
    for (int64_t i = 0; i < n; i++) {                                                              \
        double z = x[i] + k, term = value;                                                         \
                                                                                                   \
        sum[i] += z < from ? term : 0;                                                             \
    }

MXL_INLINE void term_at(int level, const series *s, double k, int64_t n, const double *x,
                        double *sum)
{
    const double order = s->order, from = s->from, factorial = s->factorial;

    if (order == 2)
        ADD_TERM(2 / (z * z * z))
    else if (order == 3)
        ADD_TERM(6 / (z * z * (z * z)))
    else
        ADD_TERM(factorial * (inverse_power(level, z, order) / z))
}

/* The rest of the sum, from the first x + k on that term_at leaves out. */
MXL_INLINE void rest_at(int level, const series *given, int64_t n, const double *x, double *rest)
{
    const series s = *given;

    MXL_IVDEP
    for (int64_t i = 0; i < n; i++) {
        double k = x[i] < s.from ? ceil(s.from - x[i]) : 0, z, w, p = s.c[TERMS];

        k -= k > 0 && x[i] + (k - 1) >= s.from ? 1 : 0; /* corrects for rounded differences */
        k += x[i] + k < s.from ? 1 : 0;
        z = x[i] + k;
        w = 1 / (z * z);
        UNROLL
        for (int j = TERMS - 1; j >= 0; j--)
            p = mxl_fma(level, p, w, s.c[j]);
        rest[i] = (p + 0.5 / z) * (s.rest * inverse_power(level, z * s.scale, s.order));
    }
}

/* For x > 0; adds the small terms first. */
MXL_INLINE void sum_at(int level, const series *s, int64_t n, const double *x, double *sum)
{
    double least = INFINITY;

    for (int64_t i = 0; i < n; i++)
        least = x[i] < least ? x[i] : least;
    rest_at(level, s, n, x, sum);
    for (double k = s->from; k >= 0; k--)
        if (least + k < s->from)
            term_at(level, s, k, n, x, sum);
}
MXL_BY_LEVEL(sum, (const series *s, int64_t n, const double *x, double *out), s, n, x, out)

/* The sum from 1 + f on, |f| <= 1/2. For large n the rounding error of 1 + f would matter; the
 * derivative of the first term corrects it. */
static void sum_beside(const series *s, int64_t n, const double *f, double *out)
{
    double beside[TILE] = {0};

    for (int64_t i = 0; i < n; i++)
        beside[i] = 1 + f[i];
    sum(s, n, beside, out);
    for (int64_t i = 0; i < n; i++)
        out[i] -= out[i] * ((s->order + 1) * (f[i] - (beside[i] - 1)) / beside[i]);
}

/* The sum over all integers k, with f = x minus the nearest integer: n! / f^(n + 1), the sum from 1
 * + f on, and the sum from 1 - f on with the sign (-1)^(n + 1). */
static void sum_everywhere(const series *s, double sign, int64_t n, const double *f, double *out)
{
    double turned[TILE] = {0}, right[TILE], left[TILE];

    for (int64_t i = 0; i < n; i++)
        turned[i] = -f[i];
    sum_beside(s, n, f, right);
    sum_beside(s, n, turned, left);
    for (int64_t i = 0; i < n; i++)
        out[i] = s->factorial * (pow(f[i], -s->order) / f[i]) + (right[i] + sign * left[i]);
    for (int64_t i = 0; i < n && sign < 0; i++) /* the two sides cancel */
        out[i] = fabs(f[i]) == 0.5 ? 0 : out[i];
}

/* For x below 0: the sum over all integers minus that over the negative ones. */
static void tile(const series *s, int64_t n, const double *x, double *out)
{
    double sign = fmod(s->order, 2) == 0 ? -1 : 1;
    double above[TILE] = {0}, sums[TILE], f[TILE] = {0}, all[TILE];
    bool any = false;

    for (int64_t i = 0; i < n; i++) {
        any |= x[i] <= 0;
        above[i] = x[i] <= 0 ? 1 - x[i] : x[i];
        f[i] = x[i] <= 0 ? x[i] - rint(x[i]) : 0.25;
    }
    sum(s, n, above, sums);
    if (any)
        sum_everywhere(s, sign, n, f, all);
    for (int64_t i = 0; i < n; i++)
        if (x[i] <= 0)
            out[i] = f[i] == 0 ? INFINITY : sign * all[i] - sums[i];
        else
            out[i] = sign * sums[i];
}

void mxl_polygamma(int order, int64_t n, const double *x, double *out)
{
    series s;

    if (order == 0) {
        digamma(n, x, out);
        return;
    }
    if (order == 1) {
        trigamma(n, x, out);
        return;
    }
    series_init(&s, order);
    for (int64_t i = 0; i < n; i += TILE)
        tile(&s, n - i < TILE ? n - i : TILE, x + i, out + i);
}
