/* softmax, log_softmax and their gradients against sums in long double: short and long rows,
 * columns, every dtype; the same bits for every number of threads. */
#include <math.h>

#include "base/dtype.h"
#include "base/thread.h"
#include "harness.h"
#include "kernel/copy/cast.h"
#include "kernel/reduce/softmax.h"

enum { ROOM = 1 << 17 };

static const int64_t shapes[][3] = {
    {1, 1, 1},    {3, 7, 1},    {130, 10, 1}, {700, 3, 1}, {5, 63, 1},   {40, 64, 1},  {9, 1000, 1},
    {2, 2048, 1}, {3, 2049, 1}, {1, 9001, 1}, {2, 5, 3},   {1, 33, 128}, {2, 17, 300}, {4, 6, 129},
};
enum { SHAPES = sizeof(shapes) / sizeof(*shapes) };

static double value[ROOM], other[ROOM], got[ROOM];
static char in[ROOM * 8], second[ROOM * 8], out[2][ROOM * 8];

/* Random numbers as elements of `dtype` at `to`; as doubles in `v`, as they were rounded. */
static void fill(int dtype, double *v, char *to, uint64_t *seed)
{
    const void *from = v;
    int64_t step = 1;

    for (int i = 0; i < ROOM; i++)
        v[i] = (double)(harness_random(seed) % 2001) / 200 - 5;
    mxl_cast_loop(MXL_F64, dtype)(to, &from, &step, ROOM, NULL);
    from = to;
    mxl_cast_loop(dtype, MXL_F64)(v, &from, &step, ROOM, NULL);
}

static void as_doubles(int dtype, const void *from, int64_t n)
{
    int64_t step = 1;

    mxl_cast_loop(dtype, MXL_F64)(got, &from, &step, n, NULL);
}

static double tolerance(int dtype)
{
    return dtype == MXL_F64 ? 1e-14 : dtype == MXL_F32 ? 3e-6 : 3e-3;
}

/* The number of elements of `got` that are not the softmax of `value`. */
static int64_t wrong_softmax(bool take_log, int dtype, const int64_t *s, double temperature,
                             const int64_t *length)
{
    int64_t wrong = 0, n = s[1], inner = s[2];

    for (int64_t row = 0; row < s[0] * inner; row++) {
        const int64_t begin = row / inner * n * inner + row % inner;
        int64_t counted = length == NULL ? n : length[row];
        long double top = -(long double)INFINITY, sum = 0;

        for (int64_t i = 0; i < counted; i++)
            top = fmaxl(top, value[begin + i * inner] / temperature);
        for (int64_t i = 0; i < counted; i++)
            sum += expl(value[begin + i * inner] / temperature - top);
        for (int64_t i = 0; i < n; i++) {
            long double v = value[begin + i * inner] / temperature - top - logl(sum);
            double g = got[begin + i * inner];

            if (i >= counted)
                wrong += take_log ? !(isinf(g) && g < 0) : g != 0;
            else if (take_log)
                wrong += !(fabsl(g - v) <= tolerance(dtype) * fmaxl(1, fabsl(v)));
            else
                wrong += !(fabsl(g - expl(v)) <= tolerance(dtype) * expl(v) + 1e-7);
        }
    }
    return wrong;
}

TEST(values)
{
    static const int dtypes[] = {MXL_F32, MXL_F64, MXL_F16};
    static const double temperatures[] = {1, 1, 2.5, -0.5};
    uint64_t seed = 4;
    int before = mxl_thread_count();

    for (int k = 0; k < 3 * SHAPES * 4; k++) {
        int dtype = dtypes[k % 3];
        const int64_t *s = shapes[k / 3 % SHAPES];
        double temperature = temperatures[k / 3 / SHAPES];
        int64_t size = s[0] * s[1] * s[2];
        size_t bytes = (size_t)size * mxl_dtype_size(dtype);
        bool take_log = k % 2 == 0;

        fill(dtype, value, in, &seed);
        for (int threads = 1; threads <= 3; threads += 2) {
            mxl_thread_set_count(threads);
            CHECK_INT(mxl_softmax(take_log, dtype, s[0], s[1], s[2], temperature, NULL, in,
                                  out[threads / 2]),
                      0);
        }
        CHECK(memcmp(out[0], out[1], bytes) == 0);
        as_doubles(dtype, out[0], size);
        CHECK_INT(wrong_softmax(take_log, dtype, s, temperature, NULL), 0);
        CHECK_INT(mxl_softmax(take_log, dtype, s[0], s[1], s[2], temperature, NULL, in, in), 0);
        CHECK(memcmp(out[0], in, bytes) == 0);
    }
    mxl_thread_set_count(before);
    CHECK_INT(mxl_softmax(false, MXL_I32, 1, 1, 1, 1, NULL, in, out[0]), -1);
}

TEST(lengths)
{
    static int64_t length[4096];
    uint64_t seed = 6;

    for (int k = 0; k < 2 * SHAPES; k++) {
        const int64_t *s = shapes[k / 2];
        bool take_log = k % 2 == 0;

        fill(MXL_F32, value, in, &seed);
        for (int64_t i = 0; i < s[0] * s[2]; i++)
            length[i] = (int64_t)(harness_random(&seed) % (uint64_t)(s[1] + 1));
        CHECK_INT(mxl_softmax(take_log, MXL_F32, s[0], s[1], s[2], 1, length, in, out[0]), 0);
        as_doubles(MXL_F32, out[0], s[0] * s[1] * s[2]);
        CHECK_INT(wrong_softmax(take_log, MXL_F32, s, 1, length), 0);
    }
}

TEST(not_numbers)
{
    float x[2][3] = {{1, NAN, 2}, {1, -INFINITY, 1}}, y[2][3];

    mxl_softmax(false, MXL_F32, 2, 3, 1, 1, NULL, x, y);
    CHECK(isnan(y[0][0]) && isnan(y[0][1]) && isnan(y[0][2]));
    CHECK(y[1][0] == 0.5f && y[1][1] == 0 && y[1][2] == 0.5f);
    mxl_softmax(true, MXL_F32, 2, 3, 1, 1, NULL, x, y);
    CHECK(isnan(y[0][0]) && isinf(y[1][1]) && y[1][1] < 0);
    mxl_softmax(false, MXL_F32, 1, 2, 3, 1, NULL, x, y);
    CHECK(y[0][0] == 0.5f && isnan(y[0][1]) && isnan(y[1][1]) && y[1][2] < y[0][2]);
}

/* ---- gradients ---- */

static int64_t wrong_gradient(bool of_log, int dtype, const int64_t *s, double temperature)
{
    int64_t wrong = 0, n = s[1], inner = s[2];

    for (int64_t row = 0; row < s[0] * inner; row++) {
        const int64_t begin = row / inner * n * inner + row % inner;
        long double sum = 0, size = 0;

        for (int64_t i = 0; i < n; i++) {
            long double v = other[begin + i * inner] * (of_log ? 1 : value[begin + i * inner]);

            sum += v;
            size += fabsl(v);
        }
        for (int64_t i = 0; i < n; i++) {
            long double y = value[begin + i * inner], dy = other[begin + i * inner];
            long double dx = (of_log ? dy - expl(y) * sum : y * (dy - sum)) / temperature;
            long double scale = (of_log ? expl(y) : fabsl(y)) * size + fabsl(dy) + fabsl(y * dy);

            wrong += !(fabsl(got[begin + i * inner] - dx) <= tolerance(dtype) * scale * 2);
        }
    }
    return wrong;
}

TEST(gradients)
{
    uint64_t seed = 9;
    int before = mxl_thread_count();

    for (int k = 0; k < 2 * SHAPES * 4; k++) {
        int dtype = k % 2 == 0 ? MXL_F32 : MXL_F64;
        const int64_t *s = shapes[k / 2 % SHAPES];
        bool of_log = k / 2 / SHAPES % 2;
        double temperature = k / 4 / SHAPES ? 0.5 : 1;
        int64_t size = s[0] * s[1] * s[2];

        fill(dtype, value, in, &seed);
        fill(dtype, other, second, &seed);
        for (int threads = 1; threads <= 2; threads++) {
            mxl_thread_set_count(threads);
            CHECK(mxl_softmax_back(of_log, dtype, s[0], s[1], s[2], temperature, in, second,
                                   out[threads - 1]));
        }
        CHECK(memcmp(out[0], out[1], (size_t)size * mxl_dtype_size(dtype)) == 0);
        as_doubles(dtype, out[0], size);
        CHECK_INT(wrong_gradient(of_log, dtype, s, temperature), 0);
    }
    mxl_thread_set_count(before);
    CHECK(!mxl_softmax_back(false, MXL_F16, 1, 1, 1, 1, in, second, out[0]));
}

HARNESS_MAIN(ENTRY(values), ENTRY(lengths), ENTRY(not_numbers), ENTRY(gradients))
