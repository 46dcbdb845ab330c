/* The float functions of kernel/math.h against double ones, over a walk through all floats. */
#include <float.h>
#include <math.h>

#include "harness.h"
#include "kernel/math.h"

/* A prime, so that the walk meets all exponents with changing mantissas. */
#ifdef MXL_SANITIZER
enum { STRIDE = 65537 };
#else
enum { STRIDE = 1009 };
#endif

/* Distance of `got` from `want` in units of the last place of a float. */
static double ulps(float got, double want)
{
    double unit;
    int exponent;

    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got) ? 0 : 1e9;
    if (isinf((float)want) || isinf(got))
        return (float)want == got || fabs(want) > FLT_MAX ? 0 : 1e9;
    frexp(want, &exponent);
    unit = fmax(ldexp(1, exponent - 24), 1.401298464324817e-45);
    return fabs((double)got - want) / unit;
}

static double sigmoid(double x)
{
    return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}

static void walk(float (*fn)(float), double (*exact)(double), double most)
{
    double worst = 0;

    for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += STRIDE) {
        float x = mxl_float_of_bits((uint32_t)bits);

        worst = fmax(worst, ulps(fn(x), exact((double)x)));
    }
    CHECK_NEAR(worst, 0, most);
}

static int level; /* under test; fmaf stands in where the processor has no such instruction */

static float exp_f32(float x)
{
    return mxl_exp_f32(level, x);
}

static float log_f32(float x)
{
    return mxl_log_f32(level, x);
}

static float tanh_f32(float x)
{
    return mxl_tanh_f32(level, x);
}

static float sigmoid_f32(float x)
{
    return mxl_sigmoid_f32(level, x);
}

TEST(all_floats)
{
    for (level = MXL_BASELINE; level < MXL_LEVELS; level++) {
        walk(exp_f32, exp, 1);
        walk(log_f32, log, 1);
        walk(tanh_f32, tanh, 1.5);
        walk(sigmoid_f32, sigmoid, 2.5);
    }
}

TEST(edges)
{
    level = MXL_BASELINE;
    CHECK(exp_f32(0) == 1 && exp_f32(-0.0f) == 1);
    CHECK(isinf(exp_f32(INFINITY)) && exp_f32(-INFINITY) == 0 && isnan(exp_f32(NAN)));
    CHECK(isinf(exp_f32(88.73f)) && exp_f32(88.72f) < INFINITY);
    CHECK(exp_f32(-103.0f) > 0 && exp_f32(-104.5f) == 0); /* the smallest denormal */
    CHECK(log_f32(1) == 0 && log_f32(0) == -INFINITY && log_f32(-0.0f) == -INFINITY);
    CHECK(isnan(log_f32(-1)) && isnan(log_f32(-INFINITY)) && isnan(log_f32(NAN)));
    CHECK(log_f32(INFINITY) == INFINITY);
    CHECK_NEAR(log_f32(1e-45f), -103.27893, 1e-6);
    CHECK(tanh_f32(0) == 0 && !signbit(tanh_f32(0)) && signbit(tanh_f32(-0.0f)));
    CHECK(tanh_f32(INFINITY) == 1 && tanh_f32(-INFINITY) == -1 && isnan(tanh_f32(NAN)));
    CHECK(tanh_f32(1e-40f) == 1e-40f);
    CHECK(sigmoid_f32(0) == 0.5f && sigmoid_f32(INFINITY) == 1 && sigmoid_f32(-INFINITY) == 0);
    CHECK(sigmoid_f32(-100) > 0 && isnan(sigmoid_f32(NAN)));
    CHECK_NEAR(mxl_sigmoid_f64(level, -30.0), sigmoid(-30), 1e-25);
    CHECK_NEAR(mxl_exp_f64(level, 0.5), exp(0.5), 0);
}

HARNESS_MAIN(ENTRY(all_floats), ENTRY(edges))
