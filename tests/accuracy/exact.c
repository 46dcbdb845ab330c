/* What float32 results are measured with: each function in double (or long double), some 2^-45 off
 * at most, and the comparison with it. Built as a shared library and called by measure.py.
 *
 * The C library gives most functions, good to a few units of a double; the rest is made here:
 * digamma and its derivatives by Euler-Maclaurin sums, the inverse error function by Newton steps.
 * gamma and its logarithm are cut short where their value needs no computing, because all 2^32
 * floats are gone through. */
#define _GNU_SOURCE 1 /* lgamma_r */
#include <math.h>
#include <stdint.h>
#include <string.h>

static const double PI = 3.14159265358979323846, ROOT_HALF = 0.70710678118654752440;

/* ---- functions that the C library lacks ---- */

/* exp, which takes its time to overflow. */
static double exponential(double x)
{
    return x > 750 ? INFINITY : x < -750 ? 0 : exp(x);
}

static double sigmoid(double x)
{
    double e = exponential(-fabs(x));

    return (x < 0 ? e : 1) / (1 + e);
}

static double softrelu(double x)
{
    return (x < 0 ? 0 : x) + log1p(exponential(-fabs(x)));
}

static double softsign(double x)
{
    return x / (1 + fabs(x));
}

/* x P(X < x) of the standard normal distribution; far below 0 the limit -0, not -inf * 0. */
static double gelu(double x)
{
    return x == -INFINITY ? -0.0 : x * erfc(-x * ROOT_HALF) / 2;
}

static double elu(double x)
{
    return x > 0 ? x : 0.25 * expm1(x);
}

static double selu(double x)
{
    return 1.05070098735548049342 * (x > 0 ? x : 1.67326324235437728482 * expm1(x));
}

static double leaky(double x)
{
    return x > 0 ? x : 0.25 * x;
}

/* rrelu where nothing is drawn: the mean of its bounds, taken in float32. */
static double rrelu(double x)
{
    return x > 0 ? x : (double)(float)((0.125 + 0.333999991) / 2) * x;
}

static double hard_sigmoid(double x)
{
    double y = 0.200000003 * x + 0.5;

    return y > 1 ? 1 : y < 0 ? 0 : y;
}

static double smooth_l1(double x)
{
    return fabs(x) < 1 ? 0.5 * x * x : fabs(x) - 0.5;
}

static double quadratic(double x)
{
    return (x + 2) * x + 3;
}

static double rsqrt(double x)
{
    return 1 / sqrt(x);
}

static double rcbrt(double x)
{
    return 1 / cbrt(x);
}

static double reciprocal(double x)
{
    return 1 / x;
}

static double square(double x)
{
    return x * x;
}

static double degrees(double x)
{
    return (double)((long double)x * 57.295779513082320876798154814105170L);
}

static double radians(double x)
{
    return (double)((long double)x * 0.017453292519943295769236907684886127L);
}

/* Winitzki's estimate, then Newton steps; near 1 the distance to it has the digits. */
static double erfinv(double x)
{
    const double a = 0.147;
    double size = fabs(x), log_term, t, w;

    if (!(size < 1))
        return size == 1 ? copysign(INFINITY, x) : NAN;
    if (size < 1e-5) /* the next term is below 2^-66 of the first */
        return x * (0.88622692545275801365 + 0.23201366653465449 * x * x);
    log_term = log1p(-size * size);
    t = 2 / (PI * a) + log_term / 2;
    w = sqrt(sqrt(t * t - log_term / a) - t);
    for (int i = 0; i < 3; i++) {
        double off = size < 0.5 ? erf(w) - size : (1 - size) - erfc(w);
        double step = off * 0.88622692545275801365 * exp(w * w);

        w -= step / (1 + w * step);
    }
    return copysign(w, x);
}

static double gamma_function(double x)
{
    if (x < 0 && x == floor(x))
        return NAN; /* the C library says so too, and takes its time */
    if (fabs(x) < 1e-7)
        return 1 / x - 0.57721566490153286061 + 0.98905599532797255540 * x;
    if (x > 40)
        return INFINITY;
    if (x < -60) /* far below the smallest float; the sign is that of the pole on the left */
        return fmod(floor(x), 2) == 0 ? 1e-80 : -1e-80;
    return tgamma(x);
}

static double gammaln(double x)
{
    int sign;

    if (x <= 0 && x == floor(x))
        return INFINITY;
    if (fabs(x) < 1e-9) /* log(1 / x) - 0.577... x */
        return -log(fabs(x)) - 0.57721566490153286061 * x;
    return lgamma_r(x, &sign);
}

/* B(2j) / (2j)! for j = 1, 2, ... */
static const double BERNOULLI[] = {
    1.0 / 12,
    -1.0 / 720,
    1.0 / 30240,
    -1.0 / 1209600,
    1.0 / 47900160,
    -691.0 / 1307674368000.0,
    1.0 / 74724249600.0,
    -3617.0 / 10670622842880000.0,
};

/* x^-s, s >= 1 */
static double inverse_power(double x, int s)
{
    double power = 1 / x;

    for (int i = 1; i < s; i++)
        power /= x;
    return power;
}

/* The sum of (x + k)^-s over k = 0, 1, ...; x > 0, s >= 2. */
static double zeta(int s, double x)
{
    double sum = 0, factor;

    if (x < 1e-9) /* the others are nearly constant, or below 2^-60 of it */
        return inverse_power(x, s) + (s == 2 ? 1.64493406684822643647 : 0);
    for (; x < 14 + s; x++)
        sum += inverse_power(x, s);
    sum += inverse_power(x, s - 1) / (s - 1) + 0.5 * inverse_power(x, s);
    factor = s * inverse_power(x, s + 1);
    for (int j = 0; j < 8; j++) {
        sum += BERNOULLI[j] * factor;
        factor *= (s + 2.0 * j + 1) * (s + 2.0 * j + 2) / (x * x);
    }
    return sum;
}

static double digamma_positive(double x)
{
    double sum = 0, power, factorial = 1;

    for (; x < 16; x++)
        sum -= 1 / x;
    power = 1 / (x * x);
    sum += log(x) - 0.5 / x;
    for (int j = 0; j < 8; j++) {
        factorial *= j == 0 ? 1 : (2.0 * j + 1) * (2.0 * j);
        sum -= BERNOULLI[j] * factorial * power;
        power /= x * x;
    }
    return sum;
}

/* x less the nearest integer, which is exact, times pi. */
static double turn(double x)
{
    return PI * (x - rint(x));
}

/* psi(x) = psi(1 - x) - pi cot(pi x); the operators call the poles infinite, which C and NumPy have
 * no word on. */
static double digamma(double x)
{
    if (isnan(x) || x == -INFINITY)
        return NAN;
    if (x == INFINITY)
        return INFINITY;
    if (x > 0)
        return x < 1e-9 ? -1 / x - 0.57721566490153286061 : digamma_positive(x);
    if (x == floor(x))
        return INFINITY;
    if (x > -1e-9)
        return -1 / x - 0.57721566490153286061;
    return digamma_positive(1 - x) - PI / tan(turn(x));
}

static double trigamma(double x)
{
    double sine;

    if (isnan(x) || x == -INFINITY)
        return NAN;
    if (x == INFINITY)
        return 0;
    if (x > 0)
        return zeta(2, x);
    if (x == floor(x))
        return INFINITY;
    sine = sin(turn(x));
    return PI * PI / (sine * sine) - zeta(2, 1 - x);
}

/* The n-th derivative of digamma, (-1)^(n + 1) n! times the sum of 1 / (x + k)^(n + 1); below 0
 * that over all integers k, less that over the negative ones. */
static double polygamma(int n, double x)
{
    double sign = n % 2 == 0 ? -1 : 1, factorial = tgamma(n + 1.0), f = x - rint(x), everywhere;

    if (isnan(x) || x == -INFINITY)
        return NAN;
    if (x == INFINITY)
        return sign * 0;
    if (x > 0)
        return sign * factorial * zeta(n + 1, x);
    if (f == 0)
        return INFINITY;
    everywhere = inverse_power(f, n + 1) + zeta(n + 1, 1 + f) + sign * zeta(n + 1, 1 - f);
    if (fabs(f) == 0.5 && sign < 0) /* the two sides cancel */
        everywhere = 0;
    return sign * factorial * everywhere - factorial * zeta(n + 1, 1 - x);
}

static double polygamma_2(double x)
{
    return polygamma(2, x);
}

static double polygamma_3(double x)
{
    return polygamma(3, x);
}

static double polygamma_4(double x)
{
    return polygamma(4, x);
}

static double polygamma_10(double x)
{
    return polygamma(10, x);
}

/* ---- two arguments ---- */

static double add(double x, double y)
{
    return x + y;
}

static double subtract(double x, double y)
{
    return x - y;
}

static double multiply(double x, double y)
{
    return x * y;
}

static double divide(double x, double y)
{
    return x / y;
}

/* With the sign of the divisor, as Python has it. */
static double modulo(double x, double y)
{
    double r;

    if (y == 0)
        return 0; /* 1.9.1's */
    r = fmod(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static double prelu(double x, double y)
{
    return x > 0 ? x : x * y;
}

/* ---- the functions by name ---- */

typedef struct unary {
    const char *name;
    double (*of)(double);
} unary;

typedef struct binary {
    const char *name;
    double (*of)(double, double);
} binary;

static const unary UNARY[] = {
    {"exp", exponential},
    {"expm1", expm1},
    {"log", log},
    {"log10", log10},
    {"log2", log2},
    {"log1p", log1p},
    {"sqrt", sqrt},
    {"rsqrt", rsqrt},
    {"cbrt", cbrt},
    {"rcbrt", rcbrt},
    {"reciprocal", reciprocal},
    {"square", square},
    {"sin", sin},
    {"cos", cos},
    {"tan", tan},
    {"arcsin", asin},
    {"arccos", acos},
    {"arctan", atan},
    {"sinh", sinh},
    {"cosh", cosh},
    {"tanh", tanh},
    {"arcsinh", asinh},
    {"arccosh", acosh},
    {"arctanh", atanh},
    {"degrees", degrees},
    {"radians", radians},
    {"sigmoid", sigmoid},
    {"softrelu", softrelu},
    {"softsign", softsign},
    {"hard_sigmoid", hard_sigmoid},
    {"gelu", gelu},
    {"elu", elu},
    {"selu", selu},
    {"leaky", leaky},
    {"rrelu", rrelu},
    {"smooth_l1", smooth_l1},
    {"quadratic", quadratic},
    {"erf", erf},
    {"erfinv", erfinv},
    {"gamma", gamma_function},
    {"gammaln", gammaln},
    {"digamma", digamma},
    {"trigamma", trigamma},
    {"polygamma_2", polygamma_2},
    {"polygamma_3", polygamma_3},
    {"polygamma_4", polygamma_4},
    {"polygamma_10", polygamma_10},
};

static const binary BINARY[] = {
    {"add", add},   {"subtract", subtract}, {"multiply", multiply}, {"divide", divide},
    {"power", pow}, {"hypot", hypot},       {"modulo", modulo},     {"prelu", prelu},
};

enum {
    UNARY_COUNT = sizeof(UNARY) / sizeof(*UNARY),
    BINARY_COUNT = sizeof(BINARY) / sizeof(*BINARY)
};

/* exact[i] = the function of x[i] (and y[i], where it has two). -1: there is none of that name. */
int accuracy_exact(const char *name, int64_t n, const double *x, const double *y, double *exact)
{
    for (int k = 0; k < UNARY_COUNT; k++)
        if (strcmp(UNARY[k].name, name) == 0) {
            for (int64_t i = 0; i < n; i++)
                exact[i] = UNARY[k].of(x[i]);
            return 0;
        }
    for (int k = 0; k < BINARY_COUNT; k++)
        if (strcmp(BINARY[k].name, name) == 0 && y != NULL) {
            for (int64_t i = 0; i < n; i++)
                exact[i] = BINARY[k].of(x[i], y[i]);
            return 0;
        }
    return -1;
}

enum { CHUNK = 2048 };

/* The same of floats. */
int accuracy_exact_f32(const char *name, int64_t n, const float *x, const float *y, double *exact)
{
    double a[CHUNK], b[CHUNK];
    int status = 0;

    for (int64_t first = 0; status == 0 && first < n; first += CHUNK) {
        int64_t count = n - first < CHUNK ? n - first : CHUNK;

        for (int64_t i = 0; i < count; i++)
            a[i] = x[first + i];
        for (int64_t i = 0; y != NULL && i < count; i++)
            b[i] = y[first + i];
        status = accuracy_exact(name, count, a, y == NULL ? NULL : b, exact + first);
    }
    return status;
}

/* ---- comparison ---- */

typedef struct accuracy_worst {
    double error;     /* the largest error, in units of the last place of the exact value */
    int64_t at;       /* where; -1: everywhere 0 */
    int64_t wrong;    /* how many results are NaN, infinite, or a zero of the other sign, and should
                         not be */
    int64_t wrong_at; /* the first of them; -1: none */
} accuracy_worst;

static uint64_t bits_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static double of_bits(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* One over the unit of the last place of a float of this size, 2^(23 - its exponent); the size is
 * at least `least`. */
static inline double places(double size, double least)
{
    const uint64_t exponent = UINT64_C(0x7ff) << 52;

    size = size < least ? least : size;
    size = size > 0x1p127 ? 0x1p127 : size;
    return of_bits((UINT64_C(2069) << 52) - (bits_of(size) & exponent));
}

/* The size beyond which a result is infinite: half a place above the largest float. */
static const double OVERFLOW = 0x1.ffffffp127;

/* The error of one result; an infinity counts as 2^128. Infinite where one is NaN and the other is
 * not, where one is infinite and the other is far from it, and at a zero or an infinity of the
 * wrong sign. */
static double error_of(double exact, float got, double least)
{
    double value = isinf(got) ? copysign(0x1p128, got) : got;

    if (isnan(exact) || isnan(got))
        return isnan(exact) && isnan(got) ? 0 : INFINITY;
    if ((got == 0 || isinf(got)) && !signbit(got) != !signbit(exact))
        return INFINITY;
    if (isinf(got) ? fabs(exact) < 0x1p127 : fabs(exact) > 0x1p129)
        return INFINITY;
    if (isinf(got) && fabs(exact) >= OVERFLOW)
        return 0;
    return fabs(value - exact) * places(fabs(exact), least);
}

/* The largest error of a chunk, in which NaN and overflows are where they should be, and signs too;
 * else infinity. In integers, so that the loop vectorises. */
static double glance(int64_t n, const double *exact, const float *got, double least)
{
    const int64_t infinity = (int64_t)bits_of(INFINITY), over = (int64_t)bits_of(OVERFLOW);
    int64_t worst = 0, odd = 0;

    for (int64_t i = 0; i < n; i++) {
        double value = got[i];
        int64_t want = (int64_t)bits_of(exact[i]), have = (int64_t)bits_of(value);
        int64_t size = want & INT64_MAX, length = have & INT64_MAX;
        int64_t error = (int64_t)bits_of((value - exact[i]) * places(fabs(exact[i]), least));
        int64_t overflows = size >= over, none = size > infinity, finite = -(int64_t)(size < over);

        odd |= (overflows ^ (length >= infinity)) | (none ^ (length > infinity)) |
               ((int64_t)((uint64_t)(want ^ have) >> 63) & (none ^ 1));
        error &= INT64_MAX & finite;
        worst = error > worst ? error : worst;
    }
    return odd ? INFINITY : of_bits((uint64_t)worst);
}

/* Adds what `got` is off to *worst. `least`: values below it are measured with its unit, an
 * absolute bound; at least that of the smallest normal float. */
void accuracy_compare(int64_t n, const double *exact, const float *got, double least,
                      accuracy_worst *worst)
{
    least = least < 0x1p-126 ? 0x1p-126 : least;
    for (int64_t first = 0; first < n; first += CHUNK) {
        int64_t last = n - first < CHUNK ? n : first + CHUNK;

        if (glance(last - first, exact + first, got + first, least) <= worst->error)
            continue;
        for (int64_t i = first; i < last; i++) {
            double error = error_of(exact[i], got[i], least);

            if (error == INFINITY && worst->wrong++ == 0)
                worst->wrong_at = i;
            if (error != INFINITY && error > worst->error) {
                worst->error = error;
                worst->at = i;
            }
        }
    }
}
