/* Philox against its published answers; fills: ranges, moments, independence of threads. */
#include <math.h>
#include <stdlib.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/half.h"
#include "base/thread.h"
#include "harness.h"
#include "kernel/math/math.h"
#include "kernel/random/rng.h"

/* Random123's kat_vectors, philox4x32 with 10 rounds. */
TEST(known_answers)
{
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };

    for (int i = 0; i < 3; i++) {
        uint32_t out[4];

        mxl_philox(known[i].counter, known[i].key, out);
        CHECK(memcmp(out, known[i].out, sizeof(out)) == 0);
    }
}

/* The fill is Philox at (i, stream) with the seed as key: blocks of 64 counters, word by word. */
TEST(fill_is_philox)
{
    mxl_rng rng = {0x123456789abcdef0u, 0xfedcba9876543210u};
    uint32_t key[2] = {0x9abcdef0u, 0x12345678u};
    float f[600];
    double d[300];

    CHECK_INT(mxl_rng_uniform(rng, MXL_F32, 0, 1, 600, f), 0);
    CHECK_INT(mxl_rng_uniform(rng, MXL_F64, 0, 1, 300, d), 0);
    for (uint32_t i = 0; i < 600; i++) {
        uint32_t counter[4] = {i / 256 * 64 + i % 64, 0, 0x76543210u, 0xfedcba98u}, out[4];

        mxl_philox(counter, key, out);
        CHECK(f[i] == (float)(out[i % 256 / 64] >> 8) * 0x1p-24f);
        if (i < 300) {
            uint64_t bits;

            counter[0] = i / 128 * 64 + i % 64;
            mxl_philox(counter, key, out);
            bits = (uint64_t)out[i % 128 / 64 * 2] << 32 | out[i % 128 / 64 * 2 + 1];
            CHECK(d[i] == (double)(bits >> 11) * 0x1p-53);
        }
    }
}

/* Box and Muller's pair of the words of a counter: each word of the first, then each of the second,
 * of words 0 and 1, then of 2 and 3; in float64 one pair of all four. */
TEST(normals_are_turned_words)
{
    const double turn = 6.283185307179586;
    mxl_rng rng = {11, 5};
    uint32_t key[2] = {11, 0};
    float f[256];
    double d[128];

    CHECK_INT(mxl_rng_normal(rng, MXL_F32, 3, 2, 256, f), 0);
    CHECK_INT(mxl_rng_normal(rng, MXL_F64, 3, 2, 128, d), 0);
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t counter[4] = {i, 0, 5, 0}, out[4];
        double u[2], radius;

        mxl_philox(counter, key, out);
        for (int w = 0; w < 4; w += 2) {
            u[0] = (out[w] >> 8) * 0x1p-24;
            u[1] = (out[w + 1] >> 8) * 0x1p-24;
            radius = sqrt(-2 * log(1 - u[0]));
            CHECK_NEAR(f[w * 64 + (int)i], 3 + 2 * radius * cos(turn * u[1]), 1e-5);
            CHECK_NEAR(f[(w + 1) * 64 + (int)i], 3 + 2 * radius * sin(turn * u[1]), 1e-5);
        }
        for (int w = 0; w < 4; w += 2)
            u[w / 2] = (double)(((uint64_t)out[w] << 32 | out[w + 1]) >> 11) * 0x1p-53;
        radius = sqrt(-2 * log(1 - u[0]));
        CHECK_NEAR(d[i], 3 + 2 * radius * cos(turn * u[1]), 1e-12);
        CHECK_NEAR(d[64 + i], 3 + 2 * radius * sin(turn * u[1]), 1e-12);
    }
}

enum { N = 200003 };

static double read(int dtype, const void *data, int64_t i)
{
    return dtype == MXL_F32   ? (double)((const float *)data)[i]
           : dtype == MXL_F64 ? ((const double *)data)[i]
                              : (double)mxl_half_to_float(((const mxl_half *)data)[i]);
}

typedef int (*fill_fn)(mxl_rng, int, double, double, int64_t, void *);

static void check_fill(fill_fn fill, int dtype, double a, double b, double mean, double variance,
                       double kurtosis)
{
    static double one[N], two[N];
    mxl_rng rng = {42, 7}, other = {42, 8};
    size_t size = mxl_dtype_size(dtype);
    double m1 = 0, m2 = 0, m4 = 0, next = 0, same = 0;
    int before = mxl_thread_set_count(1);

    CHECK_INT(fill(rng, dtype, a, b, N, one), 0);
    mxl_thread_set_count(3);
    CHECK_INT(fill(rng, dtype, a, b, N, two), 0);
    CHECK(memcmp(one, two, N * size) == 0);
    CHECK_INT(fill(rng, dtype, a, b, 1000, two), 0); /* a prefix, whatever the length */
    CHECK(memcmp(one, two, 1000 * size) == 0);
    CHECK_INT(fill(other, dtype, a, b, N, two), 0);
    for (int64_t i = 0; i < N; i++) {
        double v = read(dtype, one, i) - mean;

        m1 += v;
        m2 += v * v;
        m4 += v * v * v * v;
        next += v * (read(dtype, one, (i + 1) % N) - mean);
        same += v * (read(dtype, two, i) - mean);
    }
    CHECK_NEAR(m1 / N / sqrt(variance), 0, 0.01);
    CHECK_NEAR(m2 / N / variance, 1, 0.02);
    CHECK_NEAR(m4 / N / (variance * variance), kurtosis, 0.03);
    CHECK_NEAR(next / N / variance, 0, 0.01);
    CHECK_NEAR(same / N / variance, 0, 0.01); /* streams are independent */
    mxl_thread_set_count(before);
}

static int exponential(mxl_rng rng, int dtype, double rate, double unused, int64_t n, void *out)
{
    (void)unused;
    return mxl_rng_exponential(rng, dtype, rate, n, out);
}

TEST(moments)
{
    static const int dtypes[] = {MXL_F32, MXL_F64, MXL_F16};

    for (int d = 0; d < 3; d++) {
        check_fill(mxl_rng_uniform, dtypes[d], -2, 4, 1, 3, 1.8);
        check_fill(mxl_rng_normal, dtypes[d], 1, 2, 1, 4, 3);
        check_fill(exponential, dtypes[d], 4, 0, 0.25, 0.0625, 9);
    }
}

TEST(ranges)
{
    static float f[N];
    static double d[300];
    mxl_rng rng = {1, 1};
    int64_t outside = 0;

    CHECK_INT(mxl_rng_uniform(rng, MXL_F32, 1, 1.0000001, N, f), 0); /* two floats wide */
    for (int64_t i = 0; i < N; i++)
        outside += f[i] < 1 || f[i] >= 1.0000001f;
    CHECK_INT(outside, 0);
    CHECK_INT(mxl_rng_uniform(rng, MXL_F32, 3, 3, 10, f), 0);
    CHECK(f[0] == 3 && f[9] == 3);
    CHECK_INT(mxl_rng_uniform(rng, MXL_F64, 5, 5 + 1e-15, 300, d), 0);
    for (int i = 0; i < 300; i++)
        outside += d[i] < 5 || d[i] >= 5 + 1e-15;
    CHECK_INT(outside, 0);
    CHECK_INT(mxl_rng_normal(rng, MXL_F32, 2, 0, 10, f), 0);
    CHECK(f[0] == 2 && f[9] == 2);
    CHECK_INT(mxl_rng_normal(rng, MXL_F32, 0, 1, 0, NULL), 0);
    CHECK_INT(mxl_rng_normal(rng, MXL_I32, 0, 1, 4, f), -1);
    CHECK_HAS(mxl_error_text(), "int32");
}

TEST(turns)
{
    double worst = 0;

    for (int i = 0; i <= 100000; i++) {
        float u = (float)i / 100000, c, s;
        double angle = 6.283185307179586 * (double)u;

        mxl_turn_f32(u, &c, &s);
        worst = fmax(worst, fmax(fabs((double)c - cos(angle)), fabs((double)s - sin(angle))));
    }
    CHECK_NEAR(worst, 0, 1.3e-7);
}

HARNESS_MAIN(ENTRY(known_answers), ENTRY(fill_is_philox), ENTRY(normals_are_turned_words),
             ENTRY(moments), ENTRY(ranges), ENTRY(turns))
