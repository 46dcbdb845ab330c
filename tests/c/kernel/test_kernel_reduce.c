/* Reductions and argmax against plain loops; the same bits for any number of threads. */
#include <math.h>
#include <stdlib.h>

#include "base/dtype.h"
#include "base/half.h"
#include "base/thread.h"
#include "harness.h"
#include "kernel/reduce/argmax.h"
#include "kernel/copy/cast.h"
#include "kernel/reduce/reduce.h"
#include "kernel/target.h"

enum { ROOM = 1 << 19, NDIM = 4 };

static double element(int dtype, const void *data, int64_t i)
{
    const void *in = (const char *)data + i * (int64_t)mxl_dtype_size(dtype);
    double v = 0;
    int64_t step = 1;

    mxl_cast_loop(dtype, MXL_F64)(&v, &in, &step, 1, NULL);
    return v;
}

typedef struct problem {
    int dtype;
    int64_t shape[NDIM], strides[NDIM], start;
    bool reduced[NDIM];
} problem;

static int64_t problem_outputs(const problem *p)
{
    int64_t n = 1;

    for (int axis = 0; axis < NDIM; axis++)
        n *= p->reduced[axis] ? 1 : p->shape[axis];
    return n;
}

/* Strides of a random permutation of the axes, some of them backwards. */
static void problem_strides(problem *p, uint64_t *seed)
{
    int order[NDIM] = {0, 1, 2, 3};
    int64_t stride = 1;

    p->start = 0;
    for (int i = NDIM - 1; i > 0; i--) {
        int j = (int)(harness_random(seed) % (uint64_t)(i + 1)), t = order[i];

        order[i] = order[j];
        order[j] = t;
    }
    for (int i = 0; i < NDIM; i++) {
        bool back = harness_random(seed) % 4 == 0;

        p->strides[order[i]] = back ? -stride : stride;
        p->start += back ? stride * (p->shape[order[i]] - 1) : 0;
        stride *= p->shape[order[i]];
    }
}

static void problem_row_major(problem *p)
{
    int64_t stride = 1;

    p->start = 0;
    for (int axis = NDIM - 1; axis >= 0; axis--) {
        p->strides[axis] = stride;
        stride *= p->shape[axis];
    }
}

static double root_of_squares(int dtype, const void *in, int64_t n)
{
    char out[8];

    CHECK_INT(mxl_reduce(MXL_REDUCE_NORM2, dtype, 1, (int64_t[]){n}, (int64_t[]){1}, (bool[]){true},
                         in, out),
              0);
    return element(dtype, out, 0);
}

/* Sums of squares that no int64 holds. A root that is none of the dtype is its smallest number. */
TEST(norms_of_large_integers)
{
    const int64_t l[] = {INT64_C(1) << 40, INT64_C(-1) << 40, INT64_MIN, INT64_MIN};
    const int32_t i[] = {INT32_MAX, 1, 1, INT32_MAX};
    const uint8_t u[] = {255, 255};

    CHECK_NEAR(root_of_squares(MXL_I64, l, 2), 1554944255987, 0);
    CHECK_NEAR(root_of_squares(MXL_I64, l + 2, 2), (double)INT64_MIN, 0);
    CHECK_NEAR(root_of_squares(MXL_I32, i, 3), INT32_MAX, 0);
    CHECK_NEAR(root_of_squares(MXL_I32, i, 4), INT32_MIN, 0);
    CHECK_NEAR(root_of_squares(MXL_U8, u, 2), 360 - 256, 0);
}

static void plain(const problem *p, mxl_reduction kind, const void *in, double *out)
{
    int64_t total = 1, n = problem_outputs(p);

    for (int axis = 0; axis < NDIM; axis++)
        total *= p->shape[axis];
    for (int64_t i = 0; i < n; i++)
        out[i] = kind == MXL_REDUCE_MAX ? -(double)INFINITY : 0;
    for (int64_t i = 0; i < total; i++) {
        int64_t rest = i, at = p->start, to = 0, scale = 1;
        double v;

        for (int axis = NDIM - 1; axis >= 0; axis--) {
            int64_t index = rest % p->shape[axis];

            rest /= p->shape[axis];
            at += index * p->strides[axis];
            if (!p->reduced[axis]) {
                to += index * scale;
                scale *= p->shape[axis];
            }
        }
        v = element(p->dtype, in, at);
        if (kind == MXL_REDUCE_MAX)
            out[to] = v > out[to] ? v : out[to];
        else
            out[to] += v;
    }
    for (int64_t i = 0; i < n && kind == MXL_REDUCE_MEAN; i++)
        out[i] /= (double)(total / n);
}

static void check_problem(const problem *p, mxl_reduction kind, const void *in)
{
    static double want[ROOM];
    static char got[2][ROOM * 8];
    int64_t n = problem_outputs(p), wrong = 0;
    size_t size = mxl_dtype_size(p->dtype);
    double tolerance = p->dtype == MXL_F16 ? 1e-3 : p->dtype == MXL_F32 ? 1e-6 : 1e-12;
    int before = mxl_thread_set_count(1);

    plain(p, kind, in, want);
    for (int threads = 1; threads <= 3; threads += 2) {
        mxl_thread_set_count(threads);
        CHECK_INT(mxl_reduce(kind, p->dtype, NDIM, p->shape, p->strides, p->reduced,
                             (const char *)in + p->start * (int64_t)size, got[threads / 2]),
                  0);
    }
    CHECK(memcmp(got[0], got[1], (size_t)n * size) == 0);
    for (int64_t i = 0; i < n; i++) {
        double v = element(p->dtype, got[0], i);
        double w = mxl_dtype_is_float(p->dtype) ? want[i] : trunc(want[i]);

        wrong += !(fabs(v - w) <= tolerance * fmax(1, fabs(w)));
    }
    CHECK_INT(wrong, 0);
    mxl_thread_set_count(before);
}

TEST(against_plain_loops)
{
    static const int64_t shapes[][NDIM] = {{1, 1, 1, 1}, {2, 3, 4, 5},     {1, 17, 1, 33},
                                           {4, 4, 1, 1}, {600, 3, 7, 2},   {3, 40, 5, 600},
                                           {7, 1, 9, 1}, {20000, 1, 10, 1}};
    static const int dtypes[] = {MXL_F32, MXL_F64, MXL_F16, MXL_I32, MXL_I64};
    static double data[ROOM];
    static char in[ROOM * 8];
    uint64_t seed = 11;

    for (int d = 0; d < 5; d++) {
        const void *from = data;
        int64_t step = 1;

        for (int i = 0; i < ROOM; i++)
            data[i] = dtypes[d] == MXL_I32 || dtypes[d] == MXL_I64
                          ? (double)(harness_random(&seed) % 200) - 100
                          : (double)(harness_random(&seed) % 1000) / 1e4;
        mxl_cast_loop(MXL_F64, dtypes[d])(in, &from, &step, ROOM, NULL);
        for (size_t s = 0; s < sizeof(shapes) / sizeof(*shapes); s++) {
            for (int axes = 0; axes < 1 << NDIM; axes += s > 4 && d > 1 ? 5 : 1) {
                problem p = {.dtype = dtypes[d]};

                memcpy(p.shape, shapes[s], sizeof(p.shape));
                for (int axis = 0; axis < NDIM; axis++)
                    p.reduced[axis] = axes >> axis & 1;
                if (axes % 3 == 0)
                    problem_strides(&p, &seed);
                else
                    problem_row_major(&p);
                check_problem(&p, (mxl_reduction)(axes % 3), in);
                if (s < 5)
                    check_problem(&p, (mxl_reduction)((axes + 1) % 3), in);
            }
        }
    }
}

/* Gaps (2), neighbours that overlap (1), elements that repeat (0); axes that run backwards. */
static void problem_gaps(problem *p, int64_t inner, int64_t outer, bool back)
{
    p->start = 0;
    for (int axis = 0; axis < NDIM; axis++) {
        int64_t stride = axis == NDIM - 1 ? inner : outer * p->shape[NDIM - 1];

        p->strides[axis] = back ? -stride : stride;
        p->start += back ? stride * (p->shape[axis] - 1) : 0;
    }
}

TEST(gaps_and_repetitions_of_every_length)
{
    static const int64_t lengths[] = {1, 2, 23, 24, 25, 63, 64, 65, 4095, 4096, 4097};
    static float in[ROOM];
    uint64_t seed = 12;

    for (int i = 0; i < ROOM; i++)
        in[i] = (float)(harness_random(&seed) % 1000) / 1e4f;
    for (size_t k = 0; k < sizeof(lengths) / sizeof(*lengths); k++) {
        for (int which = 0; which < 36; which++) {
            problem p = {.dtype = MXL_F32, .shape = {1, 2, 3, lengths[k]}};

            if (which % 2 == 1)
                p = (problem){.dtype = MXL_F32, .shape = {2, lengths[k], 1, 5}};
            problem_gaps(&p, which / 2 % 3, which / 6 % 3, which / 18 == 1);
            for (int axes = 1; axes < 1 << NDIM; axes += 3) {
                for (int axis = 0; axis < NDIM; axis++)
                    p.reduced[axis] = axes >> axis & 1;
                check_problem(&p, (mxl_reduction)(axes % 2 == 0 ? MXL_REDUCE_MAX : MXL_REDUCE_SUM),
                              in);
            }
        }
    }
}

static void whole(mxl_reduction kind, int dtype, int64_t n, const void *in, void *out)
{
    int64_t stride = 1;
    bool reduced = true;

    CHECK_INT(mxl_reduce(kind, dtype, 1, &n, &stride, &reduced, in, out), 0);
}

TEST(special_values)
{
    float big[9] = {16777216, 1, 1, 1, 1, 1, 1, 1, 1}, f = 0, n[40];
    mxl_half h[3], half = 0;
    uint8_t u[2] = {200, 101}, u8 = 0;
    int32_t i[2] = {-3, 0}, i32 = 0, deep[2] = {INT32_MAX, 5};
    int8_t c[3] = {-128, -127, -128}, i8 = 0;

    whole(MXL_REDUCE_SUM, MXL_F32, 9, big, &f);
    CHECK(f == 16777224);
    for (int at = 0; at < 40; at += 13) {
        for (int k = 0; k < 40; k++)
            n[k] = k == at ? NAN : (float)k;
        whole(MXL_REDUCE_MAX, MXL_F32, 40, n, &f);
        CHECK(isnan(f));
        whole(MXL_REDUCE_SUM, MXL_F32, 40, n, &f);
        CHECK(isnan(f));
    }
    n[0] = n[1] = -INFINITY;
    whole(MXL_REDUCE_MAX, MXL_F32, 2, n, &f);
    CHECK(isinf(f) && f < 0);
    for (int k = 0; k < 3; k++)
        h[k] = mxl_half_from_float(k < 2 ? 60000.0f : -60000.0f);
    whole(MXL_REDUCE_SUM, MXL_F16, 2, h, &half);
    CHECK(isinf(mxl_half_to_float(half)));
    whole(MXL_REDUCE_MEAN, MXL_F16, 2, h, &half);
    CHECK(half == h[0]);
    whole(MXL_REDUCE_SUM, MXL_U8, 2, u, &u8);
    CHECK_INT(u8, 45);
    whole(MXL_REDUCE_MEAN, MXL_U8, 2, u, &u8);
    CHECK_INT(u8, 22);
    whole(MXL_REDUCE_SUM, MXL_BOOL, 2, u, &u8);
    CHECK_INT(u8, 1);
    whole(MXL_REDUCE_MEAN, MXL_I32, 2, i, &i32);
    CHECK_INT(i32, -1);
    whole(MXL_REDUCE_SUM, MXL_I32, 2, deep, &i32);
    CHECK_INT(i32, INT32_MIN + 4);
    whole(MXL_REDUCE_MAX, MXL_I8, 3, c, &i8);
    CHECK_INT(i8, -127);
}

TEST(empty)
{
    int64_t shape[2] = {0, 3}, strides[2] = {3, 1};
    bool first[2] = {true, false}, second[2] = {false, true};
    float out[3] = {7, 7, 7};
    int32_t ints[3] = {7, 7, 7};

    CHECK_INT(mxl_reduce(MXL_REDUCE_SUM, MXL_F32, 2, shape, strides, second, out, out), 0);
    CHECK(out[0] == 7);
    CHECK_INT(mxl_reduce(MXL_REDUCE_SUM, MXL_F32, 2, shape, strides, first, out, out), 0);
    CHECK(out[0] == 0 && out[2] == 0);
    CHECK_INT(mxl_reduce(MXL_REDUCE_MEAN, MXL_F32, 2, shape, strides, first, out, out), 0);
    CHECK(isnan(out[0]) && isnan(out[2]));
    CHECK_INT(mxl_reduce(MXL_REDUCE_MEAN, MXL_I32, 2, shape, strides, first, ints, ints), 0);
    CHECK(ints[0] == 0 && ints[2] == 0);
}

/* Every dtype of argmax and argmin against plain loops, on values with ties. */
static void check_arg(int dtype, int64_t outer, int64_t n, int64_t inner, const void *in,
                      const double *value)
{
    static int64_t out[2][ROOM];
    int64_t wrong = 0;

    REQUIRE(outer * n * inner <= ROOM);
    mxl_argmax(dtype, outer, n, inner, in, out[0]);
    mxl_argmin(dtype, outer, n, inner, in, out[1]);
    for (int64_t o = 0; o < outer; o++) {
        for (int64_t j = 0; j < inner; j++) {
            const double *x = value + o * n * inner + j;
            int64_t most = 0, least = 0;

            for (int64_t i = 1; i < n; i++) {
                bool nan = isnan(x[i * inner]);

                most =
                    x[i * inner] > x[most * inner] || (nan && !isnan(x[most * inner])) ? i : most;
                least = x[i * inner] < x[least * inner] || (nan && !isnan(x[least * inner]))
                            ? i
                            : least;
            }
            wrong += out[0][o * inner + j] != most;
            wrong += out[1][o * inner + j] != least;
        }
    }
    CHECK_INT(wrong, 0);
}

TEST(argmax)
{
    static const int64_t shapes[][3] = {
        {1, 1, 1},   {3, 17, 1},   {50, 15, 1},  {7, 16, 1},    {4, 63, 1},     {9, 256, 1},
        {9, 257, 1}, {5, 1000, 1}, {3, 4096, 1}, {2, 4097, 1},  {1, 300001, 1}, {3000, 40, 1},
        {5, 9, 7},   {1, 33, 128}, {1, 70, 129}, {2, 30, 1300}, {1, 400, 3},    {300, 2, 2},
    };
    static double value[ROOM];
    static char in[ROOM * 8];
    uint64_t seed = 5;
    int before = mxl_thread_set_count(2), level = mxl_level();

    for (int dtype = 0; dtype < MXL_DTYPE_LOOPS; dtype++) {
        for (int ties = 0; ties < 4; ties++) {
            const void *from = value;
            int64_t step = 1;

            for (int i = 0; i < ROOM; i++) {
                uint64_t r = harness_random(&seed);

                value[i] = (double)(r % (ties % 2 == 0 ? 3 : 120));
                if (ties > 1 && r % 701 == 0 && mxl_dtype_is_float(dtype))
                    value[i] = r % 2 ? NAN : -INFINITY;
            }
            mxl_cast_loop(MXL_F64, dtype)(in, &from, &step, ROOM, NULL);
            from = in;
            mxl_cast_loop(dtype, MXL_F64)(value, &from, &step, ROOM, NULL);
            for (size_t s = 0; s < sizeof(shapes) / sizeof(*shapes); s++) {
                mxl_level_set(dtype == MXL_F32 || s % 3 == 0 ? (int)(s % MXL_LEVELS) : level);
                check_arg(dtype, shapes[s][0], shapes[s][1], shapes[s][2], in, value);
            }
        }
    }
    mxl_level_set(level);
    mxl_thread_set_count(before);
}

TEST(argmax_of_nothing_else)
{
    float low[40], nans[3][3] = {{NAN, 1, 2}, {1, NAN, 2}, {1, 3, NAN}};
    int64_t at[3];

    for (int i = 0; i < 40; i++)
        low[i] = -INFINITY;
    mxl_argmax(MXL_F32, 1, 40, 1, low, at);
    CHECK_INT(at[0], 0);
    mxl_argmax(MXL_F32, 1, 20, 2, low, at);
    CHECK(at[0] == 0 && at[1] == 0);
    mxl_argmax(MXL_F32, 3, 3, 1, nans, at);
    CHECK(at[0] == 0 && at[1] == 1 && at[2] == 2);
    mxl_argmin(MXL_F32, 1, 3, 3, nans, at);
    CHECK(at[0] == 0 && at[1] == 1 && at[2] == 2);
    low[3] = 0.0f;
    low[2] = -0.0f;
    mxl_argmax(MXL_F32, 1, 40, 1, low, at);
    CHECK_INT(at[0], 2);
}

HARNESS_MAIN(ENTRY(against_plain_loops), ENTRY(norms_of_large_integers),
             ENTRY(gaps_and_repetitions_of_every_length), ENTRY(special_values), ENTRY(empty),
             ENTRY(argmax), ENTRY(argmax_of_nothing_else))
