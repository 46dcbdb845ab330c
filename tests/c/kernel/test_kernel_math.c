/* The float functions of kernel/math/math.h at every vector level, compared with the C library's
 * for double: loops of them over a walk through all floats and over special values, and single
 * calls. STRIDE=1 in CFLAGS walks through every float. */
#include <float.h>
#include <math.h>

#include "harness.h"
#include "kernel/math/erf.h"
#include "kernel/math/gelu.h"
#include "kernel/math/math.h"

/* A prime, so that the walk meets all exponents with changing mantissas. */
#ifndef STRIDE
#ifdef MXL_SANITIZER
#define STRIDE 262147
#else
#define STRIDE 10007
#endif
#endif

enum { BLOCK = 4096 };

/* Distance of `got` from `want` in units of the last place of a float. */
static double ulps(float got, double want)
{
    double unit;
    int exponent;

    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got) ? 0 : 1e9;
    if (got == 0 && want == 0)
        return !signbit(got) == !signbit(want) ? 0 : 1e9;
    if (isinf((float)want) || isinf(got))
        return (float)want == got || (fabs(want) > 3.4028234e38 && !isinf(want)) ? 0 : 1e9;
    frexp(want, &exponent);
    unit = fmax(ldexp(1, exponent - 24), 1.401298464324817e-45);
    return fabs((double)got - want) / unit;
}

/* ---- the functions: a loop for each level, and one number ---- */

#define LOOP(fn, ...)                                                                              \
    MXL_INLINE void fn##_row_at(int level, float *out, const float *in, int64_t n)                 \
    {                                                                                              \
        MXL_IVDEP                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const float x = in[i];                                                                 \
            out[i] = __VA_ARGS__;                                                                  \
        }                                                                                          \
    }                                                                                              \
    MXL_BY_LEVEL(fn##_row, (float *out, const float *in, int64_t n), out, in, n)                   \
    static float fn##_one(int level, float x)                                                      \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }
#define FUNCTION(fn) LOOP(fn, mxl_##fn##_f32(level, x))
#define EXACT(fn, ...)                                                                             \
    static double exact_##fn(double x)                                                             \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }

FUNCTION(exp)
FUNCTION(expm1)
FUNCTION(log)
FUNCTION(log2)
FUNCTION(log10)
FUNCTION(log1p)
FUNCTION(sqrt)
FUNCTION(rsqrt)
FUNCTION(cbrt)
FUNCTION(rcbrt)
FUNCTION(sin)
FUNCTION(cos)
FUNCTION(tan)
FUNCTION(asin)
FUNCTION(acos)
FUNCTION(atan)
FUNCTION(sinh)
FUNCTION(cosh)
FUNCTION(tanh)
FUNCTION(asinh)
FUNCTION(acosh)
FUNCTION(atanh)
FUNCTION(sigmoid)
FUNCTION(softrelu)
FUNCTION(erfinv)
LOOP(gammaln_from_3, mxl_gammaln_f32(level, x < 3 ? 3 : x)) /* no zeros there */
LOOP(to_minus_3, mxl_pow_f32(level, x, -3))
LOOP(to_2_7, mxl_pow_f32(level, x, 2.7f))
LOOP(of_1_01, mxl_pow_f32(level, 1.01f, x))
LOOP(of_minus_3, mxl_pow_f32(level, -3, x))
LOOP(hypot_3, mxl_hypot_f32(level, x, -3))

/* A function with a table of loops of its own, which run at the level in force. */
#define KERNELS(fn)                                                                                \
    static void fn##_row(float *out, const float *in, int64_t n)                                   \
    {                                                                                              \
        const void *const inputs[] = {in};                                                         \
        const int64_t step = 1;                                                                    \
                                                                                                   \
        mxl_##fn##_kernels.row[MXL_F32](out, inputs, &step, n, NULL);                              \
    }                                                                                              \
    static float fn##_one(int level, float x)                                                      \
    {                                                                                              \
        (void)level;                                                                               \
        fn##_row(&x, &x, 1);                                                                       \
        return x;                                                                                  \
    }

KERNELS(erf)
KERNELS(gelu)

EXACT(rsqrt, 1 / sqrt(x))
EXACT(rcbrt, 1 / cbrt(x))
EXACT(sigmoid, x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)))
EXACT(softrelu, fmax(x, 0) + log1p(exp(-fabs(x))))
EXACT(gelu, x == -INFINITY ? -0.0 : x * erfc(-x * 0.70710678118654752440) / 2)
EXACT(erfinv, mxl_erfinv_f64(MXL_BASELINE, x)) /* test_kernel_math_f64.c has that */
EXACT(gammaln_from_3, lgamma(x < 3 ? 3 : x))
EXACT(to_minus_3, pow(x, -3))
EXACT(to_2_7, pow(x, (double)2.7f))
EXACT(of_1_01, pow((double)1.01f, x))
EXACT(of_minus_3, pow(-3, x))
EXACT(hypot_3, hypot(x, -3))

typedef struct function {
    const char *name;
    void (*row)(float *out, const float *in, int64_t n);
    float (*one)(int level, float x);
    double (*exact)(double x);
    double most; /* the worst error in ULP */
} function;

#define ROW(fn, exact, most) {#fn, fn##_row, fn##_one, exact, most}
static const function functions[] = {
    ROW(exp, exp, 1),
    ROW(expm1, expm1, 1.5),
    ROW(log, log, 0.8),
    ROW(log2, log2, 0.51),
    ROW(log10, log10, 0.51),
    ROW(log1p, log1p, 0.51),
    ROW(sqrt, sqrt, 0.5),
    ROW(rsqrt, exact_rsqrt, 1.5),
    ROW(cbrt, cbrt, 0.51),
    ROW(rcbrt, exact_rcbrt, 0.51),
    ROW(sin, sin, 0.51),
    ROW(cos, cos, 0.51),
    ROW(tan, tan, 0.51),
    ROW(asin, asin, 0.51),
    ROW(acos, acos, 0.51),
    ROW(atan, atan, 0.51),
    ROW(sinh, sinh, 0.51),
    ROW(cosh, cosh, 0.51),
    ROW(tanh, tanh, 1.4),
    ROW(asinh, asinh, 0.51),
    ROW(acosh, acosh, 0.51),
    ROW(atanh, atanh, 0.51),
    ROW(sigmoid, exact_sigmoid, 1.7),
    ROW(softrelu, exact_softrelu, 0.51),
    ROW(erf, erf, 1.9),
    ROW(erfinv, exact_erfinv, 3),
    ROW(gammaln_from_3, exact_gammaln_from_3, 0.51),
    ROW(gelu, exact_gelu, 1.8),
    ROW(to_minus_3, exact_to_minus_3, 0.51),
    ROW(to_2_7, exact_to_2_7, 0.51),
    ROW(of_1_01, exact_of_1_01, 0.51),
    ROW(of_minus_3, exact_of_minus_3, 0.51),
    ROW(hypot_3, exact_hypot_3, 0.51),
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static bool has_level(int level)
{
    return mxl_level_set(level) == 0;
}

/* Whether x is for the operators' loops (ops/elementwise/trig.c) rather than for the function. */
static bool beyond(const function *f, float x)
{
    return (f->exact == sin || f->exact == cos || f->exact == tan) && !isinf(x) &&
           fabsf(x) > MXL_CIRCULAR_F32;
}

static void check(const function *f, const float *in, int n)
{
    static double want[BLOCK];
    static float out[BLOCK];

    for (int i = 0; i < n; i++)
        want[i] = f->exact((double)in[i]);
    for (int level = MXL_BASELINE; level < MXL_LEVELS && has_level(level); level++) {
        double worst = 0, at = 0;

        f->row(out, in, n);
        for (int i = 0; i < n; i++) {
            double off = beyond(f, in[i]) ? 0 : ulps(out[i], want[i]);

            at = off > worst ? (double)in[i] : at;
            worst = fmax(worst, off);
        }
        if (!CHECK(worst <= f->most))
            CHECK_STR(f->name, mxl_level_name(level)), CHECK_NEAR(worst, at, 0);
    }
}

TEST(all_floats)
{
    static float in[BLOCK];

    for (int k = 0; k < FUNCTIONS; k++) {
        uint64_t bits = 0;

        while (bits < UINT64_C(1) << 32) {
            int n = 0;

            for (; n < BLOCK && bits < UINT64_C(1) << 32; bits += STRIDE)
                in[n++] = mxl_float_of_bits((uint32_t)bits);
            check(&functions[k], in, n);
        }
    }
}

static const float EDGES[] = {
    0,
    -0.0f,
    1,
    -1,
    0.5f,
    -0.5f,
    INFINITY,
    -INFINITY,
    NAN,
    1e-45f,
    -1e-45f,
    1e-40f,
    -1e-40f,
    FLT_MIN,
    -FLT_MIN,
    FLT_MAX,
    1e-20f,
    -FLT_MAX,
    -1e-20f,
    88.72283f,
    88.72284f,
    -103.97208f,
    -103.97209f,
    -87.34f,
    89.41598f,
    89.41599f,
    -89.5f,
    16777216,
    16777218,
    -16777215,
    1e6f,
    -1e6f,
    1.5707964f,
    3.1415927f,
    0.75f,
    1.06f,
    -3,
    3,
    2,
    -2,
    -2.5f,
    0.99999994f,
    1.0000001f,
    -1.0000001f,
    8,
    27,
    -0.99999994f,
    1000,
    0.70710678f,
    1.4142135f,
    0.41421357f,
    9.1f,
    -9.1f,
    3.93f,
    -14.3f,
    4.4296875f,
    -4.4296875f,
    4.42f,
    -4.42f,
    -4.6f,
    0.0703125f,
    -0.0703125f,
    -14.5f,
    -14.6f,
    -13.2f,
    1e-8f,
    -1e-8f,
    16.6f,
    -16.6f,
    0x1.5d5e2ap35f,
    0x1.6ac5b2p+9f,
};
enum { COUNT = sizeof EDGES / sizeof *EDGES };

/* NaN, infinities, zeros, denormals, ends of the ranges: what the C library says of them too. */
TEST(edges)
{
    for (int k = 0; k < FUNCTIONS; k++)
        check(&functions[k], EDGES, COUNT);
}

/* A loop gives the bits that the function gives for one number, at any position. */
TEST(loops_and_tails)
{
    enum { MOST = 37 };
    float out[MOST + 2];

    for (int k = 0; k < FUNCTIONS; k++) {
        const function *f = &functions[k];

        for (int level = MXL_BASELINE; level < MXL_LEVELS && has_level(level); level++) {
            for (int n = 0; n <= MOST; n++) {
                out[n + 1] = 42;
                f->row(out + 1, EDGES + 9, n);
                for (int i = 0; i < n; i++)
                    CHECK(ulps(out[i + 1], (double)f->one(level, EDGES[i + 9])) == 0);
                CHECK(out[n + 1] == 42);
            }
        }
    }
}

/* Near and far numbers in one vector, written over themselves. */
TEST(gelu_in_place)
{
    for (int level = MXL_BASELINE; level < MXL_LEVELS && has_level(level); level++) {
        float x[COUNT], want[COUNT];

        memcpy(x, EDGES, sizeof x);
        gelu_row(want, EDGES, COUNT);
        gelu_row(x, x, COUNT);
        CHECK(memcmp(x, want, sizeof x) == 0);
    }
}

/* Whole powers are exact, and all pairs of edges are as C's. */
TEST(powers)
{
    for (int level = MXL_BASELINE; level <= MXL_AVX2; level++) {
        for (int i = 0; i < COUNT; i++) {
            for (int j = 0; j < COUNT; j++) {
                float x = EDGES[i], y = EDGES[j], got = mxl_pow_f32(level, x, y);
                double power = pow((double)x, (double)y);

                if (!CHECK(ulps(got, power) <= 0.51))
                    CHECK_NEAR(x, y, 0), CHECK_NEAR(got, power, 0);
                CHECK(ulps(mxl_hypot_f32(level, x, y), hypot((double)x, (double)y)) <= 0.51);
            }
        }
        for (int x = 1; x <= 60; x++) {
            float power = 1;

            for (int y = 0; power < 16777216; y++, power *= (float)x) {
                CHECK(mxl_pow_f32(level, (float)x, (float)y) == power);
                CHECK(mxl_pow_f32(level, (float)-x, (float)y) == (y % 2 ? -power : power));
                if (x == 1 && y > 9)
                    break;
            }
        }
    }
}

/* cos^2 + sin^2 = 1, and the quarters are exact. */
TEST(turns)
{
    float c, s;

    for (int i = 0; i <= 1000; i++) {
        double turn = i / 1000.0 * 6.28318530717958647692;

        mxl_turn_f32((float)i / 1000, &c, &s);
        CHECK_NEAR(c, cos(turn), 4e-7);
        CHECK_NEAR(s, sin(turn), 4e-7);
    }
    mxl_turn_f32(0.25f, &c, &s);
    CHECK(c == 0 && s == 1);
    mxl_turn_f32(0.5f, &c, &s);
    CHECK(c == -1 && s == 0);
}

HARNESS_MAIN(ENTRY(all_floats), ENTRY(edges), ENTRY(loops_and_tails), ENTRY(gelu_in_place),
             ENTRY(powers), ENTRY(turns))
