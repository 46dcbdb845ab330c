/* Means and variances against sums in long double; large means, single elements and numbers near a
 * dtype's limits; the same bits for every number of threads and vector level. */
#include <float.h>
#include <math.h>

#include "base/dtype.h"
#include "base/half.h"
#include "base/thread.h"
#include "harness.h"
#include "kernel/copy/cast.h"
#include "kernel/reduce/moments.h"
#include "kernel/target.h"

enum { ROOM = 1 << 18 };

/* Three axes of which some are reduced; `turned`: the first one lies innermost, and backwards. */
typedef struct problem {
    int64_t shape[3];
    bool reduced[3];
    bool turned;
} problem;

static const problem problems[] = {
    {{1, 1, 1}, {true, true, true}, false},       {{3, 7, 1}, {false, true, false}, false},
    {{1, 4000, 3}, {false, true, false}, false},  {{1, 80000, 3}, {false, true, false}, true},
    {{40, 1, 333}, {false, false, true}, false},  {{5, 64, 16}, {false, true, false}, true},
    {{300, 1, 63}, {true, false, false}, false},  {{4, 33, 49}, {true, false, true}, false},
    {{1, 200001, 1}, {false, true, false}, true}, {{1, 130, 1500}, {false, true, false}, false},
    {{2, 1025, 65}, {true, false, true}, true},   {{1, 9, 700}, {false, true, false}, true},
    {{20000, 1, 3}, {false, false, true}, false}, {{70, 5, 4}, {true, true, false}, true},
    {{1, 2, 60000}, {false, false, true}, true},  {{8, 15000, 2}, {true, false, true}, false},
    {{700, 1, 300}, {true, false, false}, true},
};
enum { PROBLEMS = sizeof(problems) / sizeof(*problems) };

static void strides_of(const problem *p, int64_t *strides, int64_t *start)
{
    const int64_t *s = p->shape;

    strides[0] = p->turned ? -1 : s[1] * s[2];
    strides[1] = p->turned ? s[2] * s[0] : s[2];
    strides[2] = p->turned ? s[0] : 1;
    *start = p->turned ? s[0] - 1 : 0;
}

/* The number of outputs. */
static int64_t moments(const problem *p, int dtype, const void *in, void *mean, void *variance)
{
    int64_t strides[3], start, n = 1;

    strides_of(p, strides, &start);
    CHECK_INT(mxl_moments(dtype, 3, p->shape, strides, p->reduced,
                          (const char *)in + start * (int64_t)mxl_dtype_size(dtype), mean,
                          variance),
              0);
    for (int axis = 0; axis < 3; axis++)
        n *= p->reduced[axis] ? 1 : p->shape[axis];
    return n;
}

/* n numbers of random bits about `centre`, the first far away; as `dtype` has them, also in
 * `value`. */
static void fill(int dtype, double centre, double width, int64_t n, char *in, double *value)
{
    uint64_t seed = 17;
    const void *from = value;
    int64_t one = 1;

    for (int64_t i = 0; i < n; i++) {
        double v = centre + width * ((double)(harness_random(&seed) % 65536) / 32768 - 1);

        value[i] = mxl_dtype_is_float(dtype) ? v : rint(v);
    }
    if (mxl_dtype_is_float(dtype))
        value[0] = 0;
    mxl_cast_loop(MXL_F64, dtype)(in, &from, &one, n, NULL);
    from = in;
    mxl_cast_loop(dtype, MXL_F64)(value, &from, &one, n, NULL);
}

/* `go` 0: sums; 1: sums of squares about the means. */
static void plain(const problem *p, int go, const double *value, const long double *mean,
                  long double *out)
{
    const int64_t *s = p->shape;
    int64_t strides[3], start;

    strides_of(p, strides, &start);
    for (int64_t i = 0; i < s[0] * s[1] * s[2]; i++) {
        int64_t at[3] = {i / s[2] / s[1], i / s[2] % s[1], i % s[2]}, to = 0, from = start;
        long double v;

        for (int axis = 0; axis < 3; axis++) {
            to = p->reduced[axis] ? to : to * s[axis] + at[axis];
            from += at[axis] * strides[axis];
        }
        v = value[from] - (go == 1 ? mean[to] : 0);
        out[to] += go == 1 ? v * v : v;
    }
}

/* ---- against plain sums ---- */

/* No element is beyond `most`. */
static void check_floats(const problem *p, int dtype, const void *in, const double *value,
                         double most)
{
    static char out[2][ROOM * 8];
    static double got[2][ROOM];
    static long double want[2][ROOM];
    int64_t n = moments(p, dtype, in, out[0], out[1]), wrong = 0, one = 1;
    long double count = (long double)(p->shape[0] * p->shape[1] * p->shape[2]) / n;
    /* What is promised, and the rounding of the result. */
    long double rounding = dtype == MXL_F64 ? 0 : dtype == MXL_F32 ? 0x1p-24L : 0x1p-11L;
    long double of_mean = dtype == MXL_F64 ? 0x1p-50L : 0x1p-23L;
    long double of_variance = dtype == MXL_F64 ? 0x1p-48L : 0x1p-21L;

    memset(want, 0, sizeof(want));
    for (int go = 0; go < 2; go++) {
        const void *from = out[go];

        mxl_cast_loop(dtype, MXL_F64)(got[go], &from, &one, n, NULL);
        plain(p, go, value, want[0], want[go]);
        for (int64_t j = 0; j < n; j++) {
            long double w = want[go][j] / count, bound = of_mean * most;

            want[go][j] = w;
            if (go == 1)
                bound = of_variance * w + 0x1p-51L * fabsl(want[0][j]) * sqrtl(w);
            wrong += !(fabsl(got[go][j] - w) <= bound + rounding * fabsl(w));
        }
    }
    CHECK_INT(wrong, 0);
}

TEST(floats)
{
    static const struct {
        int dtype;
        double centre, width;
    } kinds[] = {{MXL_F32, 0.25, 1},  {MXL_F32, 1e4, 1}, {MXL_F32, 1e4, 0.004},
                 {MXL_F32, -7, 1e-6}, {MXL_F64, 1e4, 1}, {MXL_F64, 1e9, 0.1},
                 {MXL_F16, 100, 1},   {MXL_F16, 3, 3}};
    static char in[ROOM * 8];
    static double value[ROOM];

    for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
        fill(kinds[k].dtype, kinds[k].centre, kinds[k].width, ROOM, in, value);
        for (int i = 0; i < PROBLEMS; i++)
            check_floats(&problems[i], kinds[k].dtype, in, value,
                         fabs(kinds[k].centre) + kinds[k].width);
    }
}

/* In int64 of which `bits` are kept. */
static int64_t cut(int dtype, int64_t v)
{
    return dtype == MXL_U8    ? (uint8_t)v
           : dtype == MXL_I8  ? (int8_t)v
           : dtype == MXL_I32 ? (int32_t)v
                              : v;
}

static void check_integers(const problem *p, int dtype, const void *in, const double *value)
{
    static char out[2][ROOM * 8];
    static double got[2][ROOM];
    static int64_t want[2][ROOM];
    int64_t n = moments(p, dtype, in, out[0], out[1]), wrong = 0, one = 1, strides[3], start;
    int64_t size = p->shape[0] * p->shape[1] * p->shape[2];

    strides_of(p, strides, &start);
    memset(want, 0, sizeof(want));
    for (int go = 0; go < 2; go++) {
        const void *from = out[go];

        mxl_cast_loop(dtype, MXL_F64)(got[go], &from, &one, n, NULL);
        for (int64_t i = 0; i < size; i++) {
            const int64_t *s = p->shape;
            int64_t at[3] = {i / s[2] / s[1], i / s[2] % s[1], i % s[2]}, to = 0, x = start, d;

            for (int axis = 0; axis < 3; axis++) {
                to = p->reduced[axis] ? to : to * s[axis] + at[axis];
                x += at[axis] * strides[axis];
            }
            d = cut(dtype, (int64_t)value[x] - want[0][to]);
            want[go][to] += go == 0 ? (int64_t)value[x] : d * d;
        }
        for (int64_t j = 0; j < n; j++) {
            want[go][j] = cut(dtype, want[go][j]) / (size / n);
            wrong += got[go][j] != (double)want[go][j];
        }
    }
    CHECK_INT(wrong, 0);
}

TEST(integers)
{
    static const int dtypes[] = {MXL_U8, MXL_I8, MXL_I32, MXL_I64};
    static char in[ROOM * 8];
    static double value[ROOM];

    for (int d = 0; d < 4; d++) {
        fill(dtypes[d], 60, dtypes[d] < MXL_I32 ? 60 : 3e4, ROOM, in, value);
        for (int i = 0; i < PROBLEMS; i++)
            check_integers(&problems[i], dtypes[d], in, value);
    }
}

/* ---- the same bits ---- */

TEST(same_bits)
{
    static const int dtypes[] = {MXL_F32, MXL_F64, MXL_F16, MXL_I32};
    static char in[ROOM * 8], first[2][ROOM * 8], out[2][ROOM * 8];
    static double value[ROOM];
    int before = mxl_thread_set_count(1), level = mxl_level();

    for (int d = 0; d < 4; d++) {
        fill(dtypes[d], 10, 3, ROOM, in, value);
        for (int i = 0; i < PROBLEMS; i++) {
            for (int way = 0; way < 3 * MXL_LEVELS; way++) {
                size_t bytes;

                if (mxl_level_set(way / 3) != 0)
                    continue;
                mxl_thread_set_count(1 + way % 3);
                bytes = (size_t)moments(&problems[i], dtypes[d], in, way == 0 ? first[0] : out[0],
                                        way == 0 ? first[1] : out[1]) *
                        mxl_dtype_size(dtypes[d]);
                CHECK(way == 0 || memcmp(first[0], out[0], bytes) == 0);
                CHECK(way == 0 || memcmp(first[1], out[1], bytes) == 0);
            }
        }
    }
    mxl_level_set(level);
    mxl_thread_set_count(before);
}

/* ---- special values ---- */

static void whole_f32(int64_t n, const float *x, float *mean, float *variance)
{
    int64_t one = 1;
    bool reduced = true;

    CHECK_INT(mxl_moments(MXL_F32, 1, &n, &one, &reduced, x, mean, variance), 0);
}

static void whole_f64(int64_t n, const double *x, double *mean, double *variance)
{
    int64_t one = 1;
    bool reduced = true;

    CHECK_INT(mxl_moments(MXL_F64, 1, &n, &one, &reduced, x, mean, variance), 0);
}

/* Equal elements have no variance, whatever they are and however many shares there are. */
TEST(equal)
{
    static float x[200000];
    static double wide[200000];

    for (int64_t n = 1; n <= 200000; n = n * 7 + 1) {
        float mean = 0, variance = 1;
        double wide_mean = 0, wide_variance = 1;

        for (int64_t i = 0; i < n; i++) {
            x[i] = 1234.567f;
            wide[i] = 1.0 / 3;
        }
        whole_f32(n, x, &mean, &variance);
        CHECK(mean == 1234.567f && variance == 0);
        whole_f64(n, wide, &wide_mean, &wide_variance);
        CHECK(fabs(wide_mean - 1.0 / 3) <= 0x1p-53);
        CHECK(wide_variance >= 0 && wide_variance <= 0x1p-106);
    }
}

/* A mean that is rounded leaves squares that cancel, never to less than nothing. */
TEST(not_negative)
{
    static double x[1000];
    int64_t wrong = 0;

    for (int k = 3; k < 40; k++) {
        for (int i = 0; i < 1000; i++)
            x[i] = 1.0 / k;
        for (int64_t n = 1; n < 1000; n += 7) {
            double mean = 0, variance = 0;

            whole_f64(n, x, &mean, &variance);
            wrong += !(variance >= 0 && !signbit(variance));
        }
    }
    CHECK_INT(wrong, 0);
}

TEST(rows_with_gaps)
{
    static float apart[40 * 400], close[40 * 333];
    int64_t shape[2] = {40, 333}, wide[2] = {400, 1}, narrow[2] = {333, 1};
    bool reduced[2] = {false, true};
    float got[2][40], want[2][40];

    for (int i = 0; i < 40 * 400; i++)
        apart[i] = (float)(i * 37 % 101);
    for (int i = 0; i < 40 * 333; i++)
        close[i] = apart[i / 333 * 400 + i % 333];
    CHECK_INT(mxl_moments(MXL_F32, 2, shape, wide, reduced, apart, got[0], got[1]), 0);
    CHECK_INT(mxl_moments(MXL_F32, 2, shape, narrow, reduced, close, want[0], want[1]), 0);
    CHECK(memcmp(got, want, sizeof(got)) == 0);
}

TEST(far_values)
{
    static float x[200000];
    static double wide[200000];
    float mean = 0, variance = 0;
    double wide_mean = 0, wide_variance = 0;

    for (int i = 0; i < 200000; i++)
        x[i] = 3e38f;
    whole_f32(200000, x, &mean, &variance);
    CHECK(mean == 3e38f && variance == 0);
    for (int i = 0; i < 200000; i++)
        x[i] = i % 2 == 0 ? 3e38f : -3e38f;
    whole_f32(200000, x, &mean, &variance);
    CHECK(mean == 0 && isinf(variance));
    /* Squares whose sums by fours do not fit, and whose mean does. */
    for (int i = 0; i < 200000; i++)
        x[i] = i % 2 == 0 ? 1e19f : -1e19f;
    whole_f32(200000, x, &mean, &variance);
    CHECK(mean == 0 && fabsf(variance - 1e38f) <= 1e32f);
    /* Of four neighbours of a lane one has a distance whose square does not fit. */
    for (int i = 0; i < 200000; i++)
        x[i] = i == 77777 ? 2e19f : 0;
    whole_f32(200000, x, &mean, &variance);
    CHECK(fabsf(mean - 1e14f) <= 1e8f && fabsf(variance - 1.99999e33f) <= 1e27f);
    for (int i = 0; i < 200000; i++)
        wide[i] = i == 0 ? 1e300 : 1;
    whole_f64(200000, wide, &wide_mean, &wide_variance);
    CHECK(fabs(wide_mean - 5e294) <= 1e282 && isinf(wide_variance));
}

TEST(not_numbers)
{
    static float x[200000];
    static double wide[200000];
    float mean = 0, variance = 0;
    double wide_mean = 0, wide_variance = 0;

    x[199999] = INFINITY;
    whole_f32(200000, x, &mean, &variance);
    CHECK(isinf(mean) && mean > 0 && isnan(variance));
    x[5] = INFINITY;
    whole_f32(200000, x, &mean, &variance);
    CHECK(isinf(mean) && mean > 0 && isnan(variance));
    x[5] = -INFINITY;
    whole_f32(200000, x, &mean, &variance);
    CHECK(isnan(mean) && isnan(variance));
    x[5] = 0;
    x[199999] = NAN;
    whole_f32(200000, x, &mean, &variance);
    CHECK(isnan(mean) && isnan(variance));
    wide[0] = -INFINITY;
    whole_f64(200000, wide, &wide_mean, &wide_variance);
    CHECK(isinf(wide_mean) && wide_mean < 0 && isnan(wide_variance));
    wide[199999] = INFINITY;
    whole_f64(200000, wide, &wide_mean, &wide_variance);
    CHECK(isnan(wide_mean) && isnan(wide_variance));
}

TEST(empty)
{
    int64_t shape[2] = {0, 3}, strides[2] = {3, 1};
    bool first[2] = {true, false}, second[2] = {false, true};
    float mean[3] = {7, 7, 7}, variance[3] = {7, 7, 7};
    int32_t ints[2][3] = {{7, 7, 7}, {7, 7, 7}};

    CHECK_INT(mxl_moments(MXL_F32, 2, shape, strides, second, mean, mean, variance), 0);
    CHECK(mean[0] == 7 && variance[0] == 7);
    CHECK_INT(mxl_moments(MXL_F32, 2, shape, strides, first, mean, mean, variance), 0);
    CHECK(isnan(mean[0]) && isnan(mean[2]) && isnan(variance[0]) && isnan(variance[2]));
    CHECK_INT(mxl_moments(MXL_I32, 2, shape, strides, first, ints, ints[0], ints[1]), 0);
    CHECK(ints[0][0] == 0 && ints[0][2] == 0 && ints[1][0] == 0 && ints[1][2] == 0);
}

HARNESS_MAIN(ENTRY(floats), ENTRY(integers), ENTRY(same_bits), ENTRY(equal), ENTRY(not_negative),
             ENTRY(rows_with_gaps), ENTRY(far_values), ENTRY(not_numbers), ENTRY(empty))
