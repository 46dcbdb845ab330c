/* Random numbers drawn one by one: sequences, bounds, samplers at extreme parameters.
 * Tests of fit are in tests/python/ndarray/test_random_fit.py. */
#include <math.h>
#include <stdlib.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/half.h"
#include "base/thread.h"
#include "harness.h"
#include "kernel/random/draw.h"

/* Sequences are Philox at (element, block, stream), and none is part of another. */
TEST(sequences)
{
    mxl_rng rng = {0x123456789abcdef0u, 0xfedcba9876543210u};
    uint32_t key[2] = {0x9abcdef0u, 0x12345678u}, out[4];
    mxl_draws draws, other;
    uint64_t seen[64];

    mxl_draws_begin(&draws, rng, 0x12345678901u);
    for (uint32_t block = 0; block < 3; block++) {
        uint32_t counter[4] = {0x45678901u, 0x123u | block << 12 | 0x80000000u, 0x76543210u,
                               0xfedcba98u};

        mxl_philox(counter, key, out);
        CHECK(mxl_draw_bits(&draws) == ((uint64_t)out[2] << 32 | out[3]));
        CHECK(mxl_draw_bits(&draws) == ((uint64_t)out[0] << 32 | out[1]));
    }
    mxl_draws_begin(&draws, rng, 5);
    for (int i = 0; i < 64; i++)
        seen[i] = mxl_draw_bits(&draws);
    mxl_draws_begin(&other, rng, 6);
    for (int i = 0; i < 64; i++) {
        uint64_t bits = mxl_draw_bits(&other);

        for (int j = 0; j < 64; j++)
            CHECK(bits != seen[j] && (i == j || seen[i] != seen[j]));
    }
}

TEST(integers)
{
    mxl_rng rng = {3, 4};
    mxl_draws draws;
    int counts[7] = {0}, high = 0;
    int64_t wide[1000];
    int32_t narrow[1000];

    mxl_draws_begin(&draws, rng, 0);
    for (int i = 0; i < 7000; i++)
        counts[mxl_draw_below(&draws, 7)]++;
    for (int i = 0; i < 7; i++)
        CHECK(counts[i] > 850 && counts[i] < 1150);
    for (int i = 0; i < 4000; i++) {
        CHECK_INT((int64_t)mxl_draw_below(&draws, 1), 0);
        /* Three quarters of all numbers: the rest is drawn again. */
        CHECK(mxl_draw_below(&draws, UINT64_C(3) << 62) < UINT64_C(3) << 62);
        high += mxl_draw_below(&draws, UINT64_C(3) << 62) >> 63 != 0;
        CHECK(mxl_draw_unit(&draws) < 1);
    }
    CHECK(high > 1200 && high < 1470); /* a third of them; a quarter if none were drawn again */
    CHECK_INT(mxl_draw_integers(rng, MXL_I64, INT64_MIN, 0, 1000, wide), 0);
    CHECK_INT(mxl_draw_integers(rng, MXL_I32, -5, 3, 1000, narrow), 0);
    high = 0;
    for (int i = 0; i < 1000; i++) {
        high += wide[i] > 0;
        CHECK(narrow[i] >= -5 && narrow[i] <= -3);
    }
    CHECK(high > 420 && high < 580);
    CHECK_INT(mxl_draw_integers(rng, MXL_I32, INT32_MIN, UINT64_C(1) << 32, 1000, narrow), 0);
    CHECK_INT(mxl_draw_integers(rng, MXL_I32, 0, 1, 0, NULL), 0);
    CHECK_INT(mxl_draw_integers(rng, MXL_F32, 0, 1, 3, narrow), -1);
    CHECK_HAS(mxl_error_text(), "float32");
}

/* What is no distribution: NaN or a limit, and an end. */
TEST(odd_parameters)
{
    static const double values[] = {0,      -0.0,     -1,        0.5,   1,    1.5,   NAN,
                                    1e-320, INFINITY, -INFINITY, 1e308, 1e30, 1e-30, -1e308};
    static const mxl_sampler samplers[] = {mxl_draw_uniform,
                                           mxl_draw_normal,
                                           mxl_draw_exponential,
                                           mxl_draw_gamma,
                                           mxl_draw_poisson,
                                           mxl_draw_negative_binomial,
                                           mxl_draw_generalized_negative_binomial};
    enum { COUNT = sizeof(values) / sizeof(values[0]) };
    mxl_draws d;

    for (int s = 0; s < 7; s++) {
        for (int i = 0; i < COUNT * COUNT; i++) {
            double a = values[i / COUNT], b = values[i % COUNT], v;

            mxl_draws_begin(&d, (mxl_rng){1, 2}, (uint64_t)i);
            v = samplers[s](&d, a, b);
            CHECK(d.block < 100); /* it ended soon */
            if (s >= 4)           /* counts */
                CHECK(isnan(v) || (v >= 0 && (isinf(v) || v == floor(v))));
        }
    }
    CHECK(mxl_draw_gamma(&d, 0, NAN) == 0 && isnan(mxl_draw_gamma(&d, -1, 1)));
    CHECK(isnan(mxl_draw_gamma(&d, NAN, 1)) && mxl_draw_gamma(&d, INFINITY, 2) == INFINITY);
    CHECK(mxl_draw_poisson(&d, -1, 0) == 0 && isnan(mxl_draw_poisson(&d, NAN, 0)));
    CHECK(mxl_draw_poisson(&d, INFINITY, 0) == INFINITY);
    CHECK(mxl_draw_negative_binomial(&d, 3, 0) == INFINITY);
    CHECK(mxl_draw_negative_binomial(&d, 0, 0) == 0);
    CHECK(mxl_draw_negative_binomial(&d, 3, 1.5) == 0);
    CHECK(mxl_draw_generalized_negative_binomial(&d, 2, INFINITY) == 0);
    CHECK(isnan(mxl_draw_generalized_negative_binomial(&d, 2, -1)));
    CHECK_NEAR(mxl_draw_generalized_negative_binomial(&d, 1e12, 1e-320) / 1e12, 1, 1e-5);
    CHECK_NEAR(mxl_draw_poisson(&d, 1e300, 0) / 1e300, 1, 1e-12);
    CHECK_NEAR(mxl_draw_gamma(&d, 1e300, 2) / 2e300, 1, 1e-12);
}

/* The formulas, by the uniform numbers of the same sequence: a sign would not change distributions.
 */
TEST(formulas)
{
    mxl_draws d;
    double u[2];

    mxl_draws_begin(&d, (mxl_rng){5, 6}, 7);
    u[0] = mxl_draw_unit(&d);
    u[1] = mxl_draw_unit(&d);
    CHECK(u[0] != u[1] && u[0] > 0 && u[1] > 0);
    mxl_draws_begin(&d, (mxl_rng){5, 6}, 7);
    CHECK_NEAR(mxl_draw_normal(&d, 3, 2),
               3 + 2 * sqrt(-2 * log(1 - u[0])) * cos(2 * acos(-1.0) * u[1]), 1e-12);
    mxl_draws_begin(&d, (mxl_rng){5, 6}, 7);
    CHECK_NEAR(mxl_draw_uniform(&d, 3, 5), 3 + 2 * u[0], 1e-15);
    CHECK_NEAR(mxl_draw_exponential(&d, 4, 0), -log(1 - u[1]) / 4, 1e-15);
}

enum { N = 5003 };

TEST(fills)
{
    static double one[N], two[N];
    static const int32_t means[] = {10, 20, 30};
    mxl_rng rng = {7, 7};
    mxl_half half[3 * 5];
    float f[6];
    int before = mxl_thread_set_count(1);
    double a = 2, b = 3;

    CHECK_INT(mxl_draw_fill(rng, mxl_draw_gamma, MXL_F64, N, one, MXL_F64, &a, &b, N), 0);
    mxl_thread_set_count(3);
    CHECK_INT(mxl_draw_fill(rng, mxl_draw_gamma, MXL_F64, N, two, MXL_F64, &a, &b, N), 0);
    CHECK(memcmp(one, two, sizeof(one)) == 0);
    mxl_thread_set_count(before);
    for (int i = 0; i < N; i++) {
        mxl_draws d;

        mxl_draws_begin(&d, rng, (uint64_t)i);
        CHECK(one[i] == mxl_draw_gamma(&d, 2, 3));
    }
    CHECK_INT(mxl_draw_fill(rng, mxl_draw_normal, MXL_F16, 15, half, MXL_I32, means, NULL, 5), 0);
    for (int i = 0; i < 15; i++)
        CHECK(mxl_half_to_float(half[i]) == (float)means[i / 5]);
    CHECK_INT(mxl_draw_fill(rng, mxl_draw_normal, MXL_F32, 6, f, MXL_I32, means, NULL, 2), 0);
    CHECK(f[0] == 10 && f[1] == 10 && f[2] == 20 && f[5] == 30);
    CHECK_INT(mxl_draw_fill(rng, mxl_draw_normal, MXL_F32, 0, f, MXL_I32, means, NULL, 0), 0);
    CHECK_INT(mxl_draw_fill(rng, mxl_draw_normal, MXL_I32, 6, f, MXL_I32, means, NULL, 2), -1);
    CHECK_HAS(mxl_error_text(), "int32");
    CHECK_INT(mxl_draw_fill(rng, mxl_draw_normal, MXL_F32, 6, f, MXL_BOOL, means, NULL, 2), -1);
    CHECK_HAS(mxl_error_text(), "bool");
}

HARNESS_MAIN(ENTRY(sequences), ENTRY(integers), ENTRY(odd_parameters), ENTRY(formulas),
             ENTRY(fills))
