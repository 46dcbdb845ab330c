/* Convolutions and the two products of their derivatives against the plain sum over all taps, at
 * every vector level and with one to three threads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/system/process.h"
#include "base/error.h"
#include "base/thread.h"
#include "harness.h"
#include "kernel/conv/conv.h"
#include "kernel/winograd/winograd.h"
#include "kernel/copy/cast.h"
#include "kernel/target.h"

static int64_t product(const int64_t *v)
{
    return v[0] * v[1] * v[2];
}

/* The elements of x, w and y. */
static void counts(const mxl_conv *v, int64_t n[3])
{
    n[0] = v->batch * v->groups * v->in * product(v->x_size);
    n[1] = v->groups * v->out * v->in * product(v->kernel);
    n[2] = v->batch * v->groups * v->out * product(v->y_size);
}

/* Calls `term` for every product x[i] * w[j] * y[k] of the trilinear form; `which` is the operand
 * whose derivative is asked for. */
static void plain(const mxl_conv *v, int which, const double *const *in, double *out)
{
    int64_t x_plane = product(v->x_size), y_plane = product(v->y_size), taps = product(v->kernel);
    int64_t at[3], o[3], t[3];

    for (int64_t image = 0; image < v->batch * v->groups; image++)
        for (int64_t p = 0; p < y_plane; p++)
            for (int64_t tap = 0; tap < taps; tap++) {
                int64_t spatial = 0;
                bool inside = true;

                o[2] = p % v->y_size[2];
                o[1] = p / v->y_size[2] % v->y_size[1];
                o[0] = p / v->y_size[2] / v->y_size[1];
                t[2] = tap % v->kernel[2];
                t[1] = tap / v->kernel[2] % v->kernel[1];
                t[0] = tap / v->kernel[2] / v->kernel[1];
                for (int i = 0; i < 3; i++) {
                    at[i] = o[i] * v->stride[i] + t[i] * v->dilate[i] - v->pad[i];
                    inside = inside && at[i] >= 0 && at[i] < v->x_size[i];
                    spatial = spatial * v->x_size[i] + at[i];
                }
                for (int64_t k = 0; k < v->out && inside; k++)
                    for (int64_t c = 0; c < v->in; c++) {
                        int64_t x = (image * v->in + c) * x_plane + spatial;
                        int64_t w = ((image % v->groups * v->out + k) * v->in + c) * taps + tap;
                        int64_t y = (image * v->out + k) * y_plane + p;

                        if (which == 0)
                            out[x] += in[1][w] * in[2][y];
                        else if (which == 1)
                            out[w] += in[0][x] * in[2][y];
                        else
                            out[y] += in[0][x] * in[1][w];
                    }
            }
}

enum { TAIL = 3, LOW = -3, HIGH = 5 }; /* the product by y with a tail: see mxl_conv_tail */

/* The scale and the bias of a channel of y. */
static double tail_scale(int64_t k)
{
    return k % 3 == 0 ? -2 : 1;
}

static double tail_bias(int64_t k)
{
    return (double)(k % 5) - 2;
}

/* What a tail makes of the sums in y, where `add` are the values of y. */
static void plain_tail(const mxl_conv *v, const double *add, double *y)
{
    int64_t plane = product(v->y_size), channels = v->groups * v->out;

    for (int64_t i = 0; i < v->batch * channels * plane; i++) {
        int64_t k = i / plane % channels;

        y[i] = fmin(fmax(tail_scale(k) * y[i] + tail_bias(k) + add[i], LOW), HIGH);
    }
}

static void cast(int from, int to, const void *in, void *out, int64_t n)
{
    int64_t step = 1;

    mxl_cast_loop(from, to)(out, &in, &step, n, NULL);
}

static int run_tail(const mxl_conv *v, void *const *arrays, void *out)
{
    int64_t channels = v->groups * v->out;
    double *numbers = malloc((size_t)channels * 4 * sizeof(double));
    void *scale = numbers + 2 * channels, *bias = numbers + 3 * channels;
    mxl_conv_tail tail = {.scale = scale, .add = arrays[2], .low = LOW, .high = HIGH};
    mxl_conv with = *v;
    int status;

    if (numbers == NULL)
        return -1;
    for (int64_t k = 0; k < channels; k++) {
        numbers[k] = tail_scale(k);
        numbers[channels + k] = tail_bias(k);
    }
    cast(MXL_F64, v->dtype == MXL_F16 ? MXL_F32 : v->dtype, numbers, scale, channels);
    cast(MXL_F64, v->dtype, numbers + channels, bias, channels);
    with.tail = &tail;
    status = mxl_conv_forward(&with, arrays[0], arrays[1], bias, out);
    free(numbers);
    return status;
}

static int run(const mxl_conv *v, int which, void *const *arrays, void *out)
{
    if (which == TAIL)
        return run_tail(v, arrays, out);
    if (which == 0)
        return mxl_conv_data(v, arrays[2], arrays[1], NULL, out);
    if (which == 1)
        return mxl_conv_weight(v, arrays[0], arrays[2], out);
    return mxl_conv_forward(v, arrays[0], arrays[1], NULL, out);
}

/* A kernel, a stride or a dilate that is not given is 1. */
static void fill(mxl_conv *v)
{
    for (int i = 0; i < 3; i++) {
        v->kernel[i] += v->kernel[i] == 0;
        v->stride[i] += v->stride[i] == 0;
        v->dilate[i] += v->dilate[i] == 0;
    }
}

/* All three products of small integers, whose sums are exact, and the last one with a tail. */
static void check(mxl_conv v, int dtype)
{
    double *values[3], *want, *got;
    void *arrays[3], *out;
    int64_t n[3], most;
    uint64_t seed = 7;

    fill(&v);
    v.dtype = dtype;
    for (int i = 0; i < 3; i++)
        v.y_size[i] =
            (v.x_size[i] + 2 * v.pad[i] - (v.kernel[i] - 1) * v.dilate[i] - 1) / v.stride[i] + 1;
    counts(&v, n);
    most = n[0] > n[1] ? n[0] : n[1];
    most = n[2] > most ? n[2] : most;
    for (int i = 0; i < 3; i++) {
        values[i] = malloc((size_t)n[i] * sizeof(double) + 1);
        arrays[i] = malloc((size_t)n[i] * sizeof(double) + 1);
        REQUIRE(values[i] != NULL && arrays[i] != NULL);
        for (int64_t k = 0; k < n[i]; k++)
            values[i][k] = (double)(harness_random(&seed) % 3) - 1;
        cast(MXL_F64, dtype, values[i], arrays[i], n[i]);
    }
    want = malloc((size_t)most * sizeof(double) + 1);
    got = malloc((size_t)most * sizeof(double) + 1);
    out = malloc((size_t)most * sizeof(double) + 1);
    REQUIRE(want != NULL && got != NULL && out != NULL);
    for (int which = 0; which <= TAIL; which++) {
        int64_t count = n[which < TAIL ? which : 2];

        memset(want, 0, (size_t)count * sizeof(double));
        plain(&v, which < TAIL ? which : 2, (const double *const *)values, want);
        if (which == TAIL)
            plain_tail(&v, values[2], want);
        for (int level = MXL_BASELINE; level < MXL_LEVELS; level++) {
            int64_t wrong = 0;

            if (mxl_level_set(level) != 0)
                continue;
            mxl_thread_set_count(level + 1);
            memset(out, 0x55, (size_t)count * mxl_dtype_size(dtype));
            CHECK_INT(run(&v, which, arrays, out), 0);
            cast(dtype, MXL_F64, out, got, count);
            for (int64_t k = 0; k < count; k++)
                wrong += got[k] != want[k];
            if (!CHECK_INT(wrong, 0))
                printf("    %s, product %d, level %d: %lld x %lld channels\n",
                       mxl_dtype_name(dtype), which, level, (long long)v.in, (long long)v.out);
        }
    }
    mxl_thread_set_count(0);
    mxl_level_set(mxl_level_find());
    for (int i = 0; i < 3; i++) {
        free(values[i]);
        free(arrays[i]);
    }
    free(want);
    free(got);
    free(out);
}

#define CONV(n, g, ci, co, ...) {.batch = n, .groups = g, .in = ci, .out = co, __VA_ARGS__}

/* Tiles of every height and width, packed and unpacked vectors, phases, three axes. */
TEST(shapes)
{
    static const mxl_conv cases[] = {
        CONV(1, 1, 1, 1, .x_size = {1, 1, 1}),
        CONV(2, 1, 3, 15, .x_size = {1, 9, 11}, .kernel = {1, 3, 3}, .pad = {0, 1, 1}),
        CONV(3, 1, 40, 70, .x_size = {1, 7, 7}, .kernel = {1, 3, 3}, .pad = {0, 1, 1}),
        CONV(1, 1, 130, 9, .x_size = {1, 5, 6}, .kernel = {1, 3, 3}, .pad = {0, 1, 1}),
        CONV(2, 2, 5, 7, .x_size = {1, 13, 30}, .kernel = {1, 5, 2}, .stride = {1, 2, 3}),
        CONV(2, 1, 4, 6, .x_size = {1, 12, 17}, .kernel = {1, 3, 3}, .stride = {1, 4, 5}),
        CONV(1, 1, 4, 6, .x_size = {1, 15, 14}, .kernel = {1, 3, 2}, .dilate = {1, 2, 4},
             .stride = {1, 3, 2}, .pad = {0, 2, 3}),
        CONV(2, 9, 1, 1, .x_size = {1, 20, 33}, .kernel = {1, 3, 3}, .pad = {0, 1, 1}),
        CONV(2, 5, 1, 1, .x_size = {1, 1, 700}, .kernel = {1, 1, 9}, .stride = {1, 1, 2}),
        CONV(2, 4, 1, 3, .x_size = {1, 10, 10}, .kernel = {1, 3, 3}),
        CONV(1, 1, 3, 5, .x_size = {6, 5, 7}, .kernel = {3, 2, 3}, .pad = {1, 0, 1},
             .stride = {2, 1, 1}),
        CONV(1, 1, 2, 3, .x_size = {1, 1, 1300}, .kernel = {1, 1, 3}, .pad = {0, 0, 1}),
        CONV(1, 1, 2, 3, .x_size = {1, 8, 5}, .pad = {0, 3, 6}),
        CONV(2, 1, 3, 21, .x_size = {1, 9, 64}, .kernel = {1, 3, 3}, .pad = {0, 1, 1},
             .stride = {1, 2, 2}),
        CONV(1, 1, 5, 17, .x_size = {2, 3, 48}, .kernel = {1, 3, 3}, .pad = {0, 1, 1}),
        CONV(2, 7, 1, 1, .x_size = {1, 7, 7}, .kernel = {1, 3, 3}, .pad = {0, 1, 1}),
        CONV(1, 33, 1, 2, .x_size = {1, 14, 15}, .kernel = {1, 3, 3}, .pad = {0, 1, 1},
             .stride = {1, 2, 2}),
        CONV(1, 5, 1, 1, .x_size = {1, 9, 3}, .kernel = {1, 3, 3}, .pad = {0, 2, 2},
             .dilate = {1, 2, 2}),
        CONV(1, 6, 1, 1, .x_size = {4, 6, 40}, .kernel = {2, 3, 3}, .pad = {1, 1, 1},
             .stride = {1, 1, 3}),
        CONV(1, 4, 1, 2, .x_size = {1, 12, 66}, .kernel = {1, 5, 7}, .pad = {0, 2, 3}),
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check(cases[i], MXL_F32);
        check(cases[i], MXL_F64);
        check(cases[i], MXL_F16);
    }
}

/* Images that are read where they are: of odd and even planes, one and many. */
TEST(points)
{
    for (int64_t side = 1; side < 12; side++) {
        mxl_conv v = CONV(1 + side % 3, 1, 5, 9, .x_size = {1, side, side + 1});

        check(v, MXL_F32);
        check(v, MXL_F64);
        v.kernel[2] = side < 2 ? 1 : 2; /* no pad, so that these are their own planes too */
        check(v, MXL_F32);
    }
}

/* More images than one chunk of planes holds. */
TEST(chunks)
{
    const mxl_conv padded =
        CONV(3, 1, 96, 1, .x_size = {1, 130, 200}, .kernel = {1, 1, 2}, .pad = {0, 0, 1});
    const mxl_conv panels =
        CONV(90, 1, 130, 17, .x_size = {1, 7, 7}, .kernel = {1, 3, 3}, .pad = {0, 1, 1});

    check(padded, MXL_F32);
    check(panels, MXL_F32);
}

/* Planes whose elements cannot be counted are refused. */
TEST(sizes)
{
    mxl_conv v = CONV(1, 1, 1, 1, .x_size = {1, 1, 1}, .kernel = {2, 2, 2}, .y_size = {1, 1, 1});
    float x = 1, w[8] = {1}, y = 0;

    for (int i = 0; i < 3; i++) {
        v.stride[i] = 1;
        v.dilate[i] = INT32_MAX;
        v.pad[i] = INT32_MAX;
    }
    v.dtype = MXL_F32;
    CHECK_INT(mxl_conv_forward(&v, &x, w, NULL, &y), -1);
    CHECK_HAS(mxl_error_text(), "out of memory");
}

/* ---- Winograd's convolutions ---- */

static const mxl_conv tiled[] = {
    CONV(2, 1, 48, 40, .x_size = {1, 24, 32}, .kernel = {1, 3, 3}, .pad = {0, 1, 1}),
    CONV(3, 1, 67, 50, .x_size = {1, 15, 21}, .kernel = {1, 3, 3}, .pad = {0, 1, 1}),
    CONV(1, 2, 33, 57, .x_size = {1, 31, 18}, .kernel = {1, 3, 3}),
    CONV(40, 1, 60, 61, .x_size = {1, 4, 4}, .kernel = {1, 3, 3}, .pad = {0, 1, 1}),
    CONV(2, 1, 40, 49, .x_size = {1, 12, 14}, .kernel = {1, 3, 3}, .pad = {0, 2, 3}),
    CONV(2, 1, 49, 42, .x_size = {1, 2, 200}, .kernel = {1, 3, 3}, .pad = {0, 5, 0}),
    CONV(1, 1, 34, 35, .x_size = {1, 140, 130}, .kernel = {1, 3, 3}, .pad = {0, 1, 1}),
    CONV(1, 1, 200, 208, .x_size = {1, 7, 7}, .kernel = {1, 3, 3}, .pad = {0, 1, 1}),
    CONV(1, 1, 96, 96, .x_size = {1, 14, 14}, .kernel = {1, 3, 3}, .pad = {0, 1, 1}),
};
enum { TILED = sizeof tiled / sizeof *tiled };

static void fill_sizes(mxl_conv *v)
{
    fill(v);
    v->dtype = MXL_F32;
    for (int i = 0; i < 3; i++)
        v->y_size[i] = v->x_size[i] + 2 * v->pad[i] - v->kernel[i] + 1;
}

/* Odd and even sizes, images of few and of many tiles, more than a chunk, pads of 0 to 5, groups, a
 * block that threads share, one of a few tiles more than vectors: each is computed so. The maps of
 * small integers are exact. */
TEST(winograd)
{
    for (int i = 0; i < TILED; i++) {
        mxl_conv v = tiled[i];

        fill_sizes(&v);
        CHECK(mxl_winograd_fits(&v, v.y_size[1], v.y_size[2]));
        check(v, MXL_F32);
    }
}

/* Random numbers from -1 to 1. */
static float *random_floats(int64_t n, uint64_t seed)
{
    float *values = malloc((size_t)n * sizeof(float));

    for (int64_t i = 0; values != NULL && i < n; i++)
        values[i] = (float)(harness_random(&seed) % 20001) / 10000 - 1;
    return values;
}

/* Allocates the three arrays of a convolution, and room for a result beside each. */
static void allocate(const mxl_conv *v, int64_t n[3], float *arrays[3], float *results[3])
{
    counts(v, n);
    for (int i = 0; i < 3; i++) {
        arrays[i] = random_floats(n[i], (uint64_t)i + 3);
        results[i] = malloc((size_t)n[i] * sizeof(float));
        REQUIRE(arrays[i] != NULL && results[i] != NULL);
    }
}

static void release(float *arrays[3], float *results[3])
{
    for (int i = 0; i < 3; i++) {
        free(arrays[i]);
        free(results[i]);
    }
}

/* The bits do not depend on the number of threads, and errors are a few of those of sums of `n`
 * numbers in float32. */
TEST(winograd_of_random_numbers)
{
    for (int i = 0; i < TILED; i++) {
        mxl_conv v = tiled[i];
        float *arrays[3], *results[3];
        int64_t n[3];

        fill_sizes(&v);
        allocate(&v, n, arrays, results);
        for (int which = 0; which < 3; which++) {
            void *const in[3] = {arrays[0], arrays[1], arrays[2]};
            float *other = malloc((size_t)n[which] * sizeof(float));
            double largest = 0, error = 0;

            REQUIRE(other != NULL);
            mxl_thread_set_count(1);
            CHECK_INT(run(&v, which, in, results[which]), 0);
            for (int threads = 2; threads < 6; threads++) {
                mxl_thread_set_count(threads);
                CHECK_INT(run(&v, which, in, other), 0);
                CHECK(memcmp(results[which], other, (size_t)n[which] * sizeof(float)) == 0);
            }
            CHECK_INT(mxl_environment_set("MXLITE_WINOGRAD", "0"), 0);
            CHECK_INT(run(&v, which, in, other), 0);
            CHECK_INT(mxl_environment_set("MXLITE_WINOGRAD", NULL), 0);
            for (int64_t k = 0; k < n[which]; k++) {
                double apart = fabs((double)other[k] - (double)results[which][k]);

                error = apart > error ? apart : error;
                largest = fabs((double)other[k]) > largest ? fabs((double)other[k]) : largest;
            }
            CHECK(error < 4e-6 * largest);
            CHECK(error > 0 || which == 0); /* the two are not the same loops */
            free(other);
        }
        mxl_thread_set_count(0);
        release(arrays, results);
    }
}

/* A number that is not finite, or whose maps overflow, reaches no result that it is not part of. */
TEST(winograd_of_infinities)
{
    static const float values[] = {INFINITY, -INFINITY, NAN, 3e38f};

    for (int trial = 0; trial < 12; trial++) {
        mxl_conv v = tiled[trial % 3];
        float *arrays[3], *results[3];
        int64_t n[3];

        fill_sizes(&v);
        allocate(&v, n, arrays, results);
        arrays[trial / 4][n[trial / 4] / 2] = values[trial % 4];
        for (int which = 0; which < 3; which++) {
            void *const in[3] = {arrays[0], arrays[1], arrays[2]};
            float *direct = malloc((size_t)n[which] * sizeof(float));
            int64_t wrong = 0;

            REQUIRE(direct != NULL);
            CHECK_INT(run(&v, which, in, results[which]), 0);
            CHECK_INT(mxl_environment_set("MXLITE_WINOGRAD", "0"), 0);
            CHECK_INT(run(&v, which, in, direct), 0);
            CHECK_INT(mxl_environment_set("MXLITE_WINOGRAD", NULL), 0);
            for (int64_t k = 0; k < n[which]; k++)
                wrong += isfinite(direct[k]) != isfinite(results[which][k]) ||
                         isnan(direct[k]) != isnan(results[which][k]);
            CHECK_INT(wrong, 0);
            free(direct);
        }
        release(arrays, results);
    }
}

HARNESS_MAIN(ENTRY(shapes), ENTRY(points), ENTRY(chunks), ENTRY(sizes), ENTRY(winograd),
             ENTRY(winograd_of_random_numbers), ENTRY(winograd_of_infinities))
