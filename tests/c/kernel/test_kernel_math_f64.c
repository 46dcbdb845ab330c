/* The double functions of kernel/math/math.h at every vector level, compared with the C library's
 * for long double: loops of them (vectorised if the level is), single calls of the same functions,
 * and special values. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "harness.h"
#include "kernel/math/circular.h"
#include "kernel/math/math.h"

#ifdef MXL_SANITIZER
enum { COUNT = 2003 };
#else
enum { COUNT = 40009 };
#endif

/* Where long double is double, the reference itself may be wrong by that. */
static const double SLACK = LDBL_MANT_DIG > 53 ? 0 : 2;

typedef long double wide;

/* Distance of `got` from `want` in units of the last place of a double. */
static double ulps(double got, wide want)
{
    int exponent;
    wide off;

    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got) ? 0 : 1e9;
    if (got == 0 && want == 0)
        return !signbit(got) == !signbit(want) ? 0 : 1e9;
    if (isinf((double)want) || isinf(got))
        return got == (double)want ? 0 : 1e9;
    frexpl(want, &exponent);
    off = fabsl((wide)got - want);
    return (double)ldexpl(off, exponent - 53 < -1074 ? 1074 : 53 - exponent);
}

/* fn_loop(level, out, in, n) runs the loop of a level, fn_one(level, x) does one number. */
#define FUNCTION(fn)                                                                               \
    MXL_INLINE void fn##_row_at(int level, double *out, const double *in, int64_t n)               \
    {                                                                                              \
        MXL_IVDEP                                                                                  \
        for (int64_t i = 0; i < n; i++)                                                            \
            out[i] = mxl_##fn##_f64(level, in[i]);                                                 \
    }                                                                                              \
    MXL_BY_LEVEL(fn##_row, (double *out, const double *in, int64_t n), out, in, n)                 \
    static double fn##_one(int level, double x)                                                    \
    {                                                                                              \
        return level > MXL_BASELINE ? mxl_##fn##_f64(MXL_AVX2, x)                                  \
                                    : mxl_##fn##_f64(MXL_BASELINE, x);                             \
    }

FUNCTION(exp)
FUNCTION(expm1)
FUNCTION(sigmoid)
FUNCTION(softrelu)
FUNCTION(sinh)
FUNCTION(cosh)
FUNCTION(tanh)
FUNCTION(log)
FUNCTION(log1p)
FUNCTION(log2)
FUNCTION(log10)
FUNCTION(asinh)
FUNCTION(acosh)
FUNCTION(atanh)
FUNCTION(cbrt)
FUNCTION(rcbrt)
FUNCTION(rsqrt)
FUNCTION(erf)
FUNCTION(erfinv)
FUNCTION(gelu)
FUNCTION(sin)
FUNCTION(cos)
FUNCTION(tan)
FUNCTION(asin)
FUNCTION(acos)
FUNCTION(atan)
FUNCTION(gamma)

/* The logarithm of gamma has no zeros from 3 on. */
MXL_INLINE double mxl_gammaln_from_3_f64(int level, double x)
{
    return mxl_gammaln_f64(level, x < 3 ? 3 : x);
}
FUNCTION(gammaln_from_3)

static wide exact_gammaln_from_3(wide x)
{
    return lgammal(x < 3 ? 3 : x);
}

static wide exact_sigmoid(wide x)
{
    return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x));
}

static wide exact_softrelu(wide x)
{
    return fmaxl(x, 0) + log1pl(expl(-fabsl(x)));
}

static wide exact_rcbrt(wide x)
{
    return 1 / cbrtl(x);
}

static wide exact_rsqrt(wide x)
{
    return 1 / sqrtl(x);
}

static wide exact_gelu(wide x)
{
    return isinf(x) ? (x < 0 ? -0.0L : x) : x * erfcl(-x * 0.70710678118654752440084436210485L) / 2;
}

/* By Halley's steps, from what is tested; near 1 the distance to it has the digits. */
static wide exact_erfinv(wide x)
{
    wide a = fabsl(x), y = mxl_erfinv_f64(MXL_BASELINE, (double)a);

    if (!(a < 1) || a < 1e-10L)
        return a < 1    ? x * 0.88622692545275801364908374167057L
               : a == 1 ? copysignl(INFINITY, x)
                        : (wide)NAN;
    for (int i = 0; i < 4; i++) {
        wide off = a < 0.5L ? erfl(y) - a : (1 - a) - erfcl(y);
        wide step = off / (1.12837916709551257389615890312155L * expl(-y * y));

        y -= step / (1 + y * step);
    }
    return copysignl(y, x);
}

typedef struct function {
    const char *name;
    void (*row)(double *out, const double *in, int64_t n);
    double (*one)(int level, double x);
    wide (*exact)(wide x);
    double from, to, around, most; /* what is walked, a hard point, and the worst error in ULP */
} function;

#define ROW(fn, exact, from, to, around, most)                                                     \
    {#fn, fn##_row, fn##_one, exact, from, to, around, most}
static const function functions[] = {
    ROW(exp, expl, -750, 712, 0, 1),
    ROW(expm1, expm1l, -50, 712, 0, 2.1),
    ROW(sigmoid, exact_sigmoid, -750, 750, 0, 2.5),
    ROW(softrelu, exact_softrelu, -750, 100, 0, 1.8),
    ROW(sinh, sinhl, -712, 712, 0, 2.5),
    ROW(cosh, coshl, -712, 712, 0, 1.8),
    ROW(tanh, tanhl, -25, 25, 0, 3),
    ROW(log, logl, 0, 1e4, 1, 1),
    ROW(log1p, log1pl, -1, 1e4, 0, 1.5),
    ROW(log2, log2l, 0, 1e4, 1, 1),
    ROW(log10, log10l, 0, 1e4, 1, 1),
    ROW(asinh, asinhl, -1e9, 1e9, 0, 1.8),
    ROW(acosh, acoshl, 1, 1e9, 1, 2.7),
    ROW(atanh, atanhl, -1, 1, 0, 1.8),
    ROW(cbrt, cbrtl, -1e300, 1e300, 0, 0.8),
    ROW(rcbrt, exact_rcbrt, -1e300, 1e300, 0, 2),
    ROW(rsqrt, exact_rsqrt, 0, 1e300, 0, 1.6),
    ROW(erf, erfl, -7, 7, 0, 1.8),
    ROW(erfinv, exact_erfinv, -1, 1, 1, 6),
    ROW(gelu, exact_gelu, -39, 10, 0, 3.8),
    ROW(sin, sinl, -MXL_CIRCULAR_F64, MXL_CIRCULAR_F64, 0, 1),
    ROW(cos, cosl, -MXL_CIRCULAR_F64, MXL_CIRCULAR_F64, 0, 1),
    ROW(tan, tanl, -MXL_CIRCULAR_F64, MXL_CIRCULAR_F64, 0, 2.4),
    ROW(asin, asinl, -1, 1, 0, 2),
    ROW(acos, acosl, -1, 1, 1, 1.4),
    ROW(atan, atanl, -100, 100, 0, 1.8),
    ROW(gamma, tgammal, -184, 172, 1, 6),
    ROW(gammaln_from_3, exact_gammaln_from_3, -10, 1e300, 8, 8),
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static bool has_level(int level)
{
    return mxl_level_set(level) == 0;
}

static double unit(uint64_t *seed)
{
    return (double)(harness_random(seed) >> 11) * 0x1p-53;
}

/* Any double of the walk, one near its hard point, one of moderate size, or evenly. */
static double argument(const function *f, uint64_t *seed)
{
    uint64_t way = harness_random(seed) % 8;
    double x = f->from + (f->to - f->from) * unit(seed);

    if (way < 2)
        x = mxl_double_of_bits(harness_random(seed));
    else if (way < 4)
        x = f->around + (unit(seed) - 0.5) * ldexp(1, -(int)(harness_random(seed) % 60));
    else if (way < 6)
        x = (unit(seed) - 0.5) * 40;
    else if (way < 7)
        x = trunc(x / 1.5707963267948966) * 1.5707963267948966;
    return x >= f->from && x <= f->to ? x : fabs(x) <= f->to ? fabs(x) : f->to * unit(seed);
}

TEST(within_their_bounds)
{
    double *in = malloc(COUNT * sizeof *in), *out = malloc(COUNT * sizeof *out);
    wide *want = malloc(COUNT * sizeof *want);

    for (int k = 0; k < FUNCTIONS; k++) {
        const function *f = &functions[k];
        uint64_t seed = 1 + (uint64_t)k;

        for (int i = 0; i < COUNT; i++) {
            in[i] = argument(f, &seed);
            want[i] = f->exact(in[i]);
        }
        for (int level = MXL_BASELINE; level < MXL_LEVELS && has_level(level); level++) {
            double worst = 0, at = 0;

            f->row(out, in, COUNT);
            for (int i = 0; i < COUNT; i++) {
                double off = ulps(out[i], want[i]);

                at = off > worst ? in[i] : at;
                worst = fmax(worst, off);
            }
            if (!CHECK(worst <= f->most + SLACK))
                CHECK_STR(f->name, mxl_level_name(level)), CHECK_NEAR(worst, at, 0);
        }
    }
    free(in);
    free(out);
    free(want);
}

/* A loop gives the bits that the function gives for one number, at any position. */
TEST(loops_and_tails)
{
    enum { MOST = 37 };
    double in[MOST + 1], out[MOST + 2];

    for (int k = 0; k < FUNCTIONS; k++) {
        const function *f = &functions[k];
        uint64_t seed = 99 + (uint64_t)k;

        for (int i = 0; i <= MOST; i++)
            in[i] = argument(f, &seed);
        for (int level = MXL_BASELINE; level < MXL_LEVELS && has_level(level); level++) {
            for (int n = 0; n <= MOST; n++) {
                out[n + 1] = 42;
                f->row(out + 1, in + 1, n);
                for (int i = 0; i < n; i++)
                    CHECK(mxl_double_bits(out[i + 1]) == mxl_double_bits(f->one(level, in[i + 1])));
                CHECK(out[n + 1] == 42);
            }
        }
    }
}

/* Of whole numbers up to 18: of integers nothing is cut off. */
TEST(factorials)
{
    enum { MOST = 18 };
    double in[MOST], out[MOST];

    for (int i = 0; i < MOST; i++)
        in[i] = i + 1;
    for (int level = MXL_BASELINE; level < MXL_LEVELS && has_level(level); level++) {
        double product = 1;

        gamma_row(out, in, MOST);
        for (int i = 0; i < MOST; i++) {
            CHECK(out[i] == product && gamma_one(level, in[i]) == product);
            product *= in[i];
        }
    }
}

/* NaN, infinities, zeros, denormals, ends of the ranges: what the C library says of them too. */
TEST(edges)
{
    static const double edges[] = {
        0.0,
        -0.0,
        1,
        -1,
        0.5,
        -0.5,
        INFINITY,
        -INFINITY,
        NAN,
        5e-324,
        -5e-324,
        1e-310,
        -1e-310,
        DBL_MIN,
        -DBL_MIN,
        DBL_MAX,
        -DBL_MAX,
        1e-20,
        -1e-20,
        709.782712893384,
        709.78271289338409,
        -745.13321910194111,
        -745.13321910194122,
        -708.5,
        710.47586007394386,
        710.47586007394398,
        -710.47586007394398,
        1e8,
        -1e8,
        1.5707963267948966,
        3.141592653589793,
        0.75,
        1.06,
        -1.06,
        6,
        -6,
        22,
        -40,
        1e300,
        -38.5,
        0.99999999999999989,
        1.0000000000000002,
        -0.99999999999999989,
        -1.0000000000000002,
        0.7071067811865475,
        0.7071067811865476,
        0.41421356237309509,
        2.4142135623730951,
        1e6,
        -1e6,
    };
    enum { EDGES = sizeof edges / sizeof *edges };
    double out[EDGES];

    for (int k = 0; k < FUNCTIONS; k++) {
        const function *f = &functions[k];

        for (int level = MXL_BASELINE; level < MXL_LEVELS && has_level(level); level++) {
            f->row(out, edges, EDGES);
            for (int i = 0; i < EDGES; i++) {
                if (f->to == MXL_CIRCULAR_F64 && fabs(edges[i]) > f->to && !isinf(edges[i]))
                    continue; /* the operators' loops do these */
                if (!CHECK(ulps(out[i], f->exact(edges[i])) <= f->most + SLACK))
                    CHECK_STR(f->name, mxl_level_name(level)), CHECK_NEAR(out[i], edges[i], 0);
            }
        }
    }
}

/* Numbers too large for the loops; with digits from mpmath where they are close to a multiple of a
 * quarter turn, and against the C library elsewhere. */
TEST(far_circular)
{
    uint64_t seed = 5;

    CHECK_NEAR(mxl_far_sin(1e22), -0.85220084976718880, 2e-16);
    CHECK_NEAR(mxl_far_cos(1e22), 0.52321478539513894, 2e-16);
    CHECK_NEAR(mxl_far_cos(6381956970095103 * 0x1p797) / -4.6871659242546277e-19, 1, 2e-16);
    CHECK_NEAR(mxl_far_tan(6381956970095103 * 0x1p797) * 4.6871659242546277e-19, -1, 4e-16);
    CHECK(mxl_far_sin(5.319372648326541e255) == 1);
    CHECK(isnan(mxl_far_sin(INFINITY)) && isnan(mxl_far_cos(-INFINITY)) && isnan(mxl_far_tan(NAN)));
    for (int i = 0; i < 20000; i++) {
        double x = ldexp(1 + unit(&seed), (int)(harness_random(&seed) % 1023)) + 1;

        x = i % 2 ? -x : x;
        CHECK(ulps(mxl_far_sin(x), sinl(x)) <= 1 + SLACK);
        CHECK(ulps(mxl_far_cos(x), cosl(x)) <= 1 + SLACK);
        CHECK(ulps(mxl_far_tan(x), tanl(x)) <= 2.4 + SLACK);
    }
    CHECK_NEAR(mxl_far_sin(DBL_MAX) / 0.0049619547891840618, 1, 2e-16);
}

HARNESS_MAIN(ENTRY(within_their_bounds), ENTRY(loops_and_tails), ENTRY(factorials), ENTRY(edges),
             ENTRY(far_circular))
