/* Guarantees of reductions beyond a right answer: the same bits for every number of threads and
 * vector level, and error bounds of sums, for every kind and dtype. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/dtype.h"
#include "base/thread.h"
#include "harness.h"
#include "kernel/copy/cast.h"
#include "kernel/reduce/reduce.h"
#include "kernel/target.h"

enum { ROOM = 1 << 18, KINDS = MXL_REDUCE_SQUARES + 1 };

/* (outer, n, inner) with the axis in the middle reduced, or both others. */
typedef struct problem {
    int64_t shape[3];
    bool reduced[3];
} problem;

static const problem problems[] = {
    {{1, 1, 1}, {true, true, true}},        {{3, 7, 1}, {false, true, false}},
    {{1, 100, 3}, {false, true, false}},    {{1, 4000, 3}, {false, true, false}},
    {{40, 1, 333}, {false, false, true}},   {{5, 64, 16}, {false, true, false}},
    {{300, 1, 63}, {true, false, false}},   {{4, 33, 49}, {true, false, true}},
    {{1, 200001, 1}, {false, true, false}}, {{1, 130, 1500}, {false, true, false}},
    {{2, 1025, 65}, {true, false, true}},   {{1, 9, 700}, {false, true, false}},
    {{20000, 1, 3}, {false, false, true}},  {{70, 5, 4}, {false, true, false}},
    {{1, 2, 60000}, {false, false, true}},  {{1, 6, 47}, {false, true, false}},
    {{3, 32, 130}, {false, true, false}},   {{2, 33, 100}, {false, true, false}},
};
enum { PROBLEMS = sizeof(problems) / sizeof(*problems) };

static int64_t reduce(const problem *p, mxl_reduction kind, int dtype, const void *in, void *out)
{
    const int64_t *s = p->shape, strides[3] = {s[1] * s[2], s[2], 1};
    int64_t n = 1;

    CHECK_INT(mxl_reduce(kind, dtype, 3, s, strides, p->reduced, in, out), 0);
    for (int axis = 0; axis < 3; axis++)
        n *= p->reduced[axis] ? 1 : s[axis];
    return n;
}

/* ---- every kind of every dtype ---- */

static long double empty_of(mxl_reduction kind)
{
    return kind == MXL_REDUCE_MAX                                  ? -(long double)INFINITY
           : kind == MXL_REDUCE_MIN                                ? (long double)INFINITY
           : kind == MXL_REDUCE_PROD || kind == MXL_REDUCE_NANPROD ? 1
                                                                   : 0;
}

static long double joined(mxl_reduction kind, long double a, long double v)
{
    switch (kind) {
    case MXL_REDUCE_MAX:
        return v > a || isnan(v) ? v : a;
    case MXL_REDUCE_MIN:
        return v < a || isnan(v) ? v : a;
    case MXL_REDUCE_PROD:
        return a * v;
    case MXL_REDUCE_NANPROD:
        return isnan(v) ? a : a * v;
    case MXL_REDUCE_NANSUM:
        return isnan(v) ? a : a + v;
    case MXL_REDUCE_NORM1:
        return a + fabsl(v);
    case MXL_REDUCE_NORM2:
    case MXL_REDUCE_SQUARES:
        return a + v * v;
    default:
        return a + v;
    }
}

static long double finished(mxl_reduction kind, int dtype, long double a, int64_t count)
{
    if (dtype == MXL_BOOL)
        return a != 0;
    if (dtype == MXL_I8 && kind != MXL_REDUCE_NORM2)
        a = (int8_t)(int64_t)a;
    if (kind == MXL_REDUCE_MEAN)
        a /= count;
    if (kind == MXL_REDUCE_NORM2)
        a = sqrtl(a);
    if (dtype == MXL_I8)
        return (int8_t)(int64_t)a;
    if (dtype == MXL_F16 && a > 65504)
        return INFINITY;
    return mxl_dtype_is_float(dtype) ? a : truncl(a);
}

static void check_kind(const problem *p, mxl_reduction kind, int dtype, const void *in,
                       const double *value)
{
    static double got[ROOM];
    static long double want[ROOM];
    static char out[ROOM * 8];
    int64_t n = reduce(p, kind, dtype, in, out), wrong = 0, one = 1;
    int64_t size = p->shape[0] * p->shape[1] * p->shape[2];
    double tolerance = dtype == MXL_F16 ? 1e-3 : dtype == MXL_F32 ? 3e-7 : 1e-12;
    const void *from = out;

    mxl_cast_loop(dtype, MXL_F64)(got, &from, &one, n, NULL);
    for (int64_t i = 0; i < n; i++)
        want[i] = empty_of(kind);
    for (int64_t i = 0; i < size; i++) {
        int64_t at[3] = {i / p->shape[2] / p->shape[1], i / p->shape[2] % p->shape[1],
                         i % p->shape[2]};
        int64_t to = 0;

        for (int axis = 0; axis < 3; axis++)
            to = p->reduced[axis] ? to : to * p->shape[axis] + at[axis];
        want[to] = joined(kind, want[to], value[i]);
    }
    for (int64_t i = 0; i < n; i++) {
        long double w = finished(kind, dtype, want[i], size / n);

        wrong += isnan(w)   ? !isnan(got[i])
                 : isinf(w) ? got[i] != (double)w
                            : !(fabsl(got[i] - w) <= tolerance * fmaxl(1, fabsl(w)));
    }
    CHECK_INT(wrong, 0);
}

/* Values whose sums and products stay small; with NaNs where `nans` says and the dtype has them. */
static void fill(int dtype, bool nans, uint64_t *seed, char *in, double *value)
{
    const void *from = value;
    int64_t one = 1;

    for (int i = 0; i < ROOM; i++) {
        uint64_t r = harness_random(seed);

        if (mxl_dtype_is_float(dtype))
            value[i] =
                nans && r % 97 == 0 ? NAN : (r % 2 ? 1 : -1) * (1 + (double)(r % 31) / 65536);
        else
            value[i] = dtype == MXL_U8 || dtype == MXL_BOOL ? r % 3000 == 0 : (double)(r % 3) - 1;
    }
    mxl_cast_loop(MXL_F64, dtype)(in, &from, &one, ROOM, NULL);
    from = in;
    mxl_cast_loop(dtype, MXL_F64)(value, &from, &one, ROOM, NULL);
}

TEST(every_kind)
{
    static double value[ROOM];
    static char in[ROOM * 8];
    uint64_t seed = 3;

    for (int dtype = 0; dtype < MXL_DTYPE_LOOPS; dtype++) {
        for (int nans = 0; nans < 2; nans++) {
            fill(dtype, nans, &seed, in, value);
            for (int kind = 0; kind < KINDS; kind++) {
                for (int i = 0; i < PROBLEMS; i++)
                    check_kind(&problems[i], (mxl_reduction)kind, dtype, in, value);
            }
        }
    }
}

/* ---- the same bits ---- */

TEST(same_bits)
{
    static const int dtypes[] = {MXL_F32, MXL_F64, MXL_F16, MXL_I32};
    static char in[ROOM * 8], first[ROOM * 8], out[ROOM * 8];
    static double value[ROOM];
    int before = mxl_thread_set_count(1), level = mxl_level();
    uint64_t seed = 8;

    for (int d = 0; d < 4; d++) {
        fill(dtypes[d], false, &seed, in, value);
        for (int i = 0; i < PROBLEMS; i++) {
            for (int kind = 0; kind < KINDS; kind++) {
                size_t bytes = 0;

                for (int way = 0; way < 4 * MXL_LEVELS; way++) {
                    static const int threads[4] = {1, 2, 3, 5};

                    if (mxl_level_set(way / 4) != 0)
                        continue;
                    mxl_thread_set_count(threads[way % 4]);
                    bytes = (size_t)reduce(&problems[i], (mxl_reduction)kind, dtypes[d], in,
                                           way == 0 ? first : out) *
                            mxl_dtype_size(dtypes[d]);
                    CHECK(way == 0 || memcmp(first, out, bytes) == 0);
                }
            }
        }
    }
    mxl_level_set(level);
    mxl_thread_set_count(before);
}

/* ---- how far off ---- */

TEST(ones)
{
    int64_t shape[2] = {10000, 10000}, still[2] = {0, 0};
    bool reduced[2] = {true, true};
    float one = 1, sum = 0;
    double mean = 0, half = 0.5;

    CHECK_INT(mxl_reduce(MXL_REDUCE_SUM, MXL_F32, 2, shape, still, reduced, &one, &sum), 0);
    CHECK(sum == 1e8f);
    CHECK_INT(mxl_reduce(MXL_REDUCE_MEAN, MXL_F64, 2, shape, still, reduced, &half, &mean), 0);
    CHECK(mean == 0.5);
}

/* Numbers of all sizes and both signs, so that most of them cancels. */
static void rough(double *value, int64_t n, uint64_t *seed)
{
    for (int64_t i = 0; i < n; i++) {
        int exponent = (int)(harness_random(seed) % 60) - 30;
        double v = ldexp((double)(harness_random(seed) % (1 << 24)) / (1 << 24), exponent);

        value[i] =
            i % 2 == 0 ? v : -value[i - 1] * (1 + (double)(harness_random(seed) % 64) * 1e-9);
    }
}

TEST(error_of_sums)
{
    static double value[ROOM];
    static float narrow[ROOM];
    uint64_t seed = 21;

    for (int round = 0; round < 20; round++) {
        problem p = {{1, ROOM >> round % 15, 1}, {false, true, false}};
        int64_t n = p.shape[1];
        long double sum = 0, size = 0, narrow_sum = 0, narrow_size = 0;
        double wide = 0;
        float f = 0;

        if (round % 2 == 1 && n > 8) /* as columns */
            p = (problem){{1, n / 8, 8}, {true, true, false}};
        rough(value, n, &seed);
        for (int64_t i = 0; i < n; i++) {
            if (p.shape[2] == 8 && i % 8 != 0)
                value[i] = 0;
            narrow[i] = (float)value[i];
            sum += value[i];
            size += fabsl(value[i]);
            narrow_sum += narrow[i];
            narrow_size += fabsl(narrow[i]);
        }
        if (p.shape[2] == 8) {
            static double many[8];
            static float few[8];

            reduce(&p, MXL_REDUCE_SUM, MXL_F64, value, many);
            reduce(&p, MXL_REDUCE_SUM, MXL_F32, narrow, few);
            wide = many[0];
            f = few[0];
        } else {
            reduce(&p, MXL_REDUCE_SUM, MXL_F64, value, &wide);
            reduce(&p, MXL_REDUCE_SUM, MXL_F32, narrow, &f);
        }
        CHECK(fabsl(wide - sum) <= size * 0x1p-50L);
        CHECK(fabsl(f - narrow_sum) <= narrow_size * 0x1p-23L + fabsl(narrow_sum) * 0x1p-24L);
    }
}

/* 2^53 and a million ones of which each alone would be lost. */
TEST(small_beside_large)
{
    static double value[ROOM];
    problem p = {{1, ROOM, 1}, {false, true, false}},
            columns = {{1, ROOM / 2, 2}, {true, true, false}};
    double sum = 0, two[2];

    for (int i = 0; i < ROOM; i++)
        value[i] = i % 64 < 32 ? 1 : 0;
    value[0] = 0x1p60;
    reduce(&p, MXL_REDUCE_SUM, MXL_F64, value, &sum);
    CHECK(fabs(sum - (0x1p60 + ROOM / 2 - 1)) <= 256);
    reduce(&columns, MXL_REDUCE_SUM, MXL_F64, value, two);
    CHECK(fabs(two[0] - (0x1p60 + ROOM / 4 - 1)) <= 256);
    CHECK(two[1] == ROOM / 4);
}

TEST(far_values)
{
    static float value[4096];
    static double wide[4096];
    problem p = {{1, 4096, 1}, {false, true, false}}, rows = {{64, 1, 64}, {false, false, true}};
    float f = 0, many[64];
    double d = 0;

    for (int i = 0; i < 4096; i++)
        value[i] = i % 64 < 32 ? FLT_MAX : -FLT_MAX;
    reduce(&p, MXL_REDUCE_SUM, MXL_F32, value, &f);
    CHECK(f == 0);
    reduce(&rows, MXL_REDUCE_SUM, MXL_F32, value, many);
    CHECK(many[0] == 0 && many[63] == 0);
    reduce(&p, MXL_REDUCE_NORM1, MXL_F32, value, &f);
    CHECK(isinf(f));
    for (int i = 0; i < 4096; i++)
        value[i] = FLT_MAX;
    reduce(&p, MXL_REDUCE_MEAN, MXL_F32, value, &f);
    CHECK(f == FLT_MAX);
    reduce(&p, MXL_REDUCE_SUM, MXL_F32, value, &f);
    CHECK(isinf(f));
    value[7] = NAN;
    reduce(&p, MXL_REDUCE_NANSUM, MXL_F32, value, &f);
    CHECK(isinf(f));
    for (int i = 0; i < 4096; i++)
        wide[i] = i == 99 ? INFINITY : (float)i;
    reduce(&p, MXL_REDUCE_SUM, MXL_F64, wide, &d);
    CHECK(isinf(d) && d > 0);
    wide[5] = -INFINITY;
    reduce(&p, MXL_REDUCE_SUM, MXL_F64, wide, &d);
    CHECK(isnan(d));
    value[0] = -0.0f;
    for (int i = 1; i < 4096; i++)
        value[i] = -1;
    reduce(&p, MXL_REDUCE_MAX, MXL_F32, value, &f);
    CHECK(f == 0 && signbit(f));
}

HARNESS_MAIN(ENTRY(every_kind), ENTRY(same_bits), ENTRY(ones), ENTRY(error_of_sums),
             ENTRY(small_beside_large), ENTRY(far_values))
