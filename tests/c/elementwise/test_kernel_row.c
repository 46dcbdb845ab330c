/* Element-wise loops from expressions, and the strided walk against plain index arithmetic. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/thread.h"
#include "harness.h"
#include "kernel/elementwise/loop.h"

MXL_FLOAT_KERNELS(tanh, MXL_UNARY_LOOP, mxl_loop_tanh(x));
MXL_MATH_KERNELS(exp, MXL_UNARY_LOOP, mxl_loop_exp(x));
MXL_MATH_KERNELS(power, MXL_SCALAR_LOOP, pow(x, s));
MXL_ARITH_KERNELS(sub, MXL_BINARY_LOOP, x - y);
MXL_ARITH_KERNELS(divide, MXL_BINARY_LOOP, mxl_quotient(x, y));
MXL_ARITH_KERNELS(plus, MXL_SCALAR_LOOP, x + s);
MXL_ARITH_KERNELS(abs, MXL_UNARY_LOOP, x < 0 ? -x : x);

static const int64_t step_v[2] = {1, 1}, step_vs[2] = {1, 0}, step_sv[2] = {0, 1};

TEST(unary)
{
    float x[37], y[37];
    double d[3] = {0.5, -2, 40}, e[3];
    mxl_half h[2] = {mxl_half_from_float(1), mxl_half_from_float(-0.25f)};
    const void *in = x;

    for (int i = 0; i < 37; i++)
        x[i] = (float)(i - 18) / 4;
    tanh_kernels.row[MXL_F32](y, &in, step_v, 37, NULL);
    for (int i = 0; i < 37; i++)
        CHECK_NEAR(y[i], tanh((double)x[i]), 1e-6);
    tanh_kernels.row[MXL_F32](x, &in, step_v, 37, NULL); /* in place */
    CHECK(memcmp(x, y, sizeof(x)) == 0);
    in = d;
    tanh_kernels.row[MXL_F64](e, &in, step_v, 3, NULL);
    CHECK_NEAR(e[0], tanh(0.5), 1e-15);
    CHECK(e[2] == 1);
    in = h;
    tanh_kernels.row[MXL_F16](h, &in, step_v, 2, NULL);
    CHECK_NEAR(mxl_half_to_float(h[1]), tanh(-0.25), 1e-3);
    CHECK(tanh_kernels.row[MXL_I32] == NULL && tanh_kernels.row[MXL_BOOL] == NULL);
    CHECK(exp_kernels.row[MXL_BOOL] == NULL && sub_kernels.row[MXL_BOOL] == NULL);
}

TEST(integers)
{
    uint8_t u[4] = {0, 1, 3, 200}, v[4] = {1, 0, 200, 7}, w[4];
    int8_t c[3] = {-128, 5, -7};
    int32_t i[4] = {7, -7, INT32_MIN, 5}, j[4] = {2, 2, -1, 0};
    int64_t l[2] = {INT64_MIN, 9}, m[2] = {-1, 0};
    const void *in[2] = {u, v};

    sub_kernels.row[MXL_U8](w, in, step_v, 4, NULL);
    CHECK(w[0] == 255 && w[1] == 1 && w[2] == 59 && w[3] == 193);
    divide_kernels.row[MXL_U8](w, in, step_v, 4, NULL);
    CHECK(w[0] == 0 && w[1] == 0 && w[2] == 0 && w[3] == 28);
    exp_kernels.row[MXL_U8](w, in, step_v, 3, NULL);
    CHECK(w[0] == 1 && w[1] == 2 && w[2] == 20);
    in[0] = c;
    abs_kernels.row[MXL_I8](c, in, step_v, 3, NULL);
    CHECK(c[0] == -128 && c[1] == 5 && c[2] == 7);
    in[0] = i;
    in[1] = j;
    divide_kernels.row[MXL_I32](i, in, step_v, 4, NULL);
    CHECK(i[0] == 3 && i[1] == -3 && i[2] == INT32_MIN && i[3] == 0);
    in[0] = l;
    in[1] = m;
    divide_kernels.row[MXL_I64](l, in, step_v, 2, NULL);
    CHECK(l[0] == INT64_MIN && l[1] == 0);
}

TEST(scalars)
{
    mxl_scalar_params p = {2.5, 0}, tenth = {0.1, 0}, huge = {1e10, 0}, minus = {-1, 1};
    int32_t i[2] = {1, 3};
    float f[2] = {1, 3};
    mxl_half h = mxl_half_from_float(0);
    const void *in = i;

    plus_kernels.row[MXL_I32](i, &in, step_v, 2, &p);
    CHECK(i[0] == 3 && i[1] == 5); /* the scalar becomes an int32 first */
    plus_kernels.row[MXL_I32](i, &in, step_v, 1, &huge);
    CHECK_INT(i[0], INT32_MIN + 3);
    i[0] = 4;
    power_kernels.row[MXL_I32](i, &in, step_v, 1, &minus);
    CHECK_INT(i[0], 0);
    in = f;
    plus_kernels.row[MXL_F32](f, &in, step_v, 2, &p);
    CHECK(f[0] == 3.5f && f[1] == 5.5f);
    in = &h;
    plus_kernels.row[MXL_F16](&h, &in, step_v, 1, &tenth);
    CHECK_INT(h, mxl_half_from_float(0.1f));
}

TEST(steps)
{
    float x[21], y[21], z[21];
    const void *in[2] = {x, y};

    for (int i = 0; i < 21; i++) {
        x[i] = (float)i;
        y[i] = (float)(100 * i + 7);
    }
    sub_kernels.row[MXL_F32](z, in, step_v, 21, NULL);
    for (int i = 0; i < 21; i++)
        CHECK(z[i] == x[i] - y[i]);
    sub_kernels.row[MXL_F32](z, in, step_vs, 21, NULL);
    for (int i = 0; i < 21; i++)
        CHECK(z[i] == x[i] - y[0]);
    sub_kernels.row[MXL_F32](z, in, step_sv, 21, NULL);
    for (int i = 0; i < 21; i++)
        CHECK(z[i] == x[0] - y[i]);
}

/* out[i...] = a[i...] - b[i...] over random shapes and strides. */
static void random_case(uint64_t *seed, int64_t most, bool out_strided)
{
    enum { ROOM = 70000 };
    static int32_t data[2][2 * ROOM], got[2 * ROOM], want[2 * ROOM];
    int ndim = (int)(harness_random(seed) % 5);
    int64_t shape[5], strides[3][5], total = 1;
    const int64_t *in_strides[2] = {strides[1], strides[2]};
    const void *in[2];
    const size_t size[2] = {4, 4};
    int64_t start[3] = {0, 0, 0};

    for (int axis = 0; axis < ndim; axis++) {
        int64_t left = most / total;

        shape[axis] = left < 1 ? 1 : 1 + (int64_t)(harness_random(seed) % (uint64_t)left);
        if (axis < ndim - 1 && shape[axis] > 40)
            shape[axis] = 1 + shape[axis] % 40;
        total *= shape[axis];
    }
    for (int k = 0; k < 3; k++) {
        int64_t stride = 1 + (int64_t)(k == 0 && !out_strided ? 0 : harness_random(seed) % 2);
        bool reversed = harness_random(seed) % 2;

        for (int a = 0; a < ndim; a++) {
            int axis = reversed && (k > 0 || out_strided) ? a : ndim - 1 - a;
            uint64_t how = harness_random(seed) % 4;

            strides[k][axis] = stride;
            stride *= shape[axis];
            if (k > 0 && how == 0)
                strides[k][axis] = 0;
            if ((k > 0 || out_strided) && how == 1) {
                start[k] += strides[k][axis] * (shape[axis] - 1);
                strides[k][axis] = -strides[k][axis];
            }
        }
    }
    for (int64_t i = 0; i < 2 * ROOM; i++) {
        data[0][i] = (int32_t)(harness_random(seed) % 100000);
        data[1][i] = (int32_t)(harness_random(seed) % 100000);
        got[i] = want[i] = -1;
    }
    for (int64_t i = 0; i < total; i++) {
        int64_t at[3] = {start[0], start[1], start[2]}, rest = i;

        for (int axis = ndim - 1; axis >= 0; axis--) {
            for (int k = 0; k < 3; k++)
                at[k] += rest % shape[axis] * strides[k][axis];
            rest /= shape[axis];
        }
        want[at[0]] = data[0][at[1]] - data[1][at[2]];
    }
    in[0] = data[0] + start[1];
    in[1] = data[1] + start[2];
    CHECK_INT(mxl_loops(sub_kernels.row[MXL_I32], 1, ndim, shape, got + start[0], strides[0], 4, 2,
                        in, in_strides, size, NULL),
              0);
    CHECK(memcmp(got, want, sizeof(got)) == 0);
}

TEST(walker)
{
    uint64_t seed = 1;
    int before;

    for (int i = 0; i < 150; i++)
        random_case(&seed, i < 100 ? 300 : 3000, i % 2);
    before = mxl_thread_set_count(3);
    for (int i = 0; i < 30; i++)
        random_case(&seed, 70000, i % 2);
    mxl_thread_set_count(before);
}

/* Two inputs that broadcast along any of three axes, of every width, on one thread and on three. */
typedef struct broadcast {
    int64_t shape[3], strides[3][3];
} broadcast;

static void broadcast_strides(broadcast *b, int k, unsigned int mask)
{
    int64_t stride = 1;

    for (int axis = 2; axis >= 0; axis--) {
        b->strides[k][axis] = mask >> axis & 1 ? 0 : stride;
        stride *= mask >> axis & 1 ? 1 : b->shape[axis];
    }
}

#define BROADCAST_CASE(T, dtype)                                                                   \
    static void broadcast_##T(const broadcast *b, const void *const *data)                         \
    {                                                                                              \
        static T got[2][BROADCAST_ROOM];                                                           \
        const int64_t *const strides[2] = {b->strides[1], b->strides[2]};                          \
        const size_t size[2] = {sizeof(T), sizeof(T)};                                             \
        int64_t total = b->shape[0] * b->shape[1] * b->shape[2], wrong = 0;                        \
        const T *x = data[0], *y = data[1];                                                        \
                                                                                                   \
        for (int i = 0; i < 2; i++) {                                                              \
            memset(got[i], 0x5a, sizeof got[i]);                                                   \
            mxl_thread_set_count(1 + 2 * i);                                                       \
            CHECK_INT(mxl_loops(sub_kernels.row[dtype], 8, 3, b->shape, got[i], b->strides[0],     \
                                sizeof(T), 2, data, strides, size, NULL),                          \
                      0);                                                                          \
        }                                                                                          \
        for (int64_t i = 0; i < total; i++) {                                                      \
            int64_t at[3] = {i / (b->shape[1] * b->shape[2]), i / b->shape[2] % b->shape[1],       \
                             i % b->shape[2]};                                                     \
            int64_t p = 0, q = 0;                                                                  \
                                                                                                   \
            for (int axis = 0; axis < 3; axis++) {                                                 \
                p += at[axis] * b->strides[1][axis];                                               \
                q += at[axis] * b->strides[2][axis];                                               \
            }                                                                                      \
            wrong += got[0][i] != (T)(x[p] - y[q]);                                                \
        }                                                                                          \
        CHECK_INT(wrong, 0);                                                                       \
        CHECK(memcmp(got[0], got[1], sizeof got[0]) == 0);                                         \
        CHECK_INT(((unsigned char *)(got[0] + total))[0], 0x5a);                                   \
    }

enum { BROADCAST_ROOM = 60001 };
BROADCAST_CASE(uint8_t, MXL_U8)
BROADCAST_CASE(int32_t, MXL_I32)
BROADCAST_CASE(float, MXL_F32)
BROADCAST_CASE(double, MXL_F64)

TEST(broadcasting)
{
    static const int64_t shapes[][3] = {
        {1, 1, 1},     {7, 5, 3},    {3, 5, 7},   {2, 2, 1000}, {2, 1000, 2},  {1000, 2, 2},
        {30, 31, 32},  {1, 200, 17}, {5, 1, 300}, {13, 600, 1}, {2, 3, 5000},  {3000, 3, 5},
        {100, 24, 25}, {10, 8, 8},   {9, 40, 23}, {4, 512, 8},  {20000, 1, 3}, {1, 1, 60000},
    };
    static int32_t wide[2][2 * BROADCAST_ROOM];
    static float real[2][BROADCAST_ROOM];
    static double real64[2][BROADCAST_ROOM];
    const void *ints[2] = {wide[0], wide[1]}, *floats[2] = {real[0], real[1]};
    const void *doubles[2] = {real64[0], real64[1]};
    uint64_t seed = 8;

    for (int i = 0; i < BROADCAST_ROOM; i++) {
        for (int k = 0; k < 2; k++) {
            wide[k][i] = (int32_t)harness_random(&seed);
            real[k][i] = (float)(wide[k][i] % 1000);
            real64[k][i] = (double)wide[k][i];
        }
    }
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (unsigned int mask = 0; mask < 64; mask++) {
            broadcast b;

            memcpy(b.shape, shapes[i], sizeof b.shape);
            broadcast_strides(&b, 0, 0);
            broadcast_strides(&b, 1, mask & 7);
            broadcast_strides(&b, 2, mask >> 3);
            broadcast_int32_t(&b, ints);
            if (mask % 3 == i % 3) {
                broadcast_uint8_t(&b, ints);
                broadcast_float(&b, floats);
                broadcast_double(&b, doubles);
            }
        }
    }
    mxl_thread_set_count(0);
}

/* Blocks of a row each, which four axes before it step through in every combination. */
TEST(rows_of_five_axes)
{
    enum { TOTAL = 3 * 2 * 4 * 3 * 30 };
    static const int64_t shape[5] = {3, 2, 4, 3, 30};
    static int32_t x[TOTAL], y[TOTAL], got[TOTAL];
    const int64_t out_strides[5] = {720, 360, 90, 30, 1};
    const void *in[2] = {x, y};
    const size_t size[2] = {4, 4};
    int before = mxl_thread_set_count(2);

    for (int i = 0; i < TOTAL; i++) {
        x[i] = 7 * i;
        y[i] = i * i;
    }
    for (unsigned int mask = 0; mask < 256; mask++) {
        int64_t strides[2][5], wrong = 0;
        const int64_t *const in_strides[2] = {strides[0], strides[1]};

        for (int axis = 0; axis < 5; axis++) {
            strides[0][axis] = axis < 4 && mask >> axis & 1 ? 0 : out_strides[axis];
            strides[1][axis] = axis < 4 && mask >> (axis + 4) & 1 ? 0 : out_strides[axis];
        }
        CHECK_INT(mxl_loops(sub_kernels.row[MXL_I32], mask % 2 ? MXL_LOOP_UNIT / 7 : 1, 5, shape,
                            got, out_strides, 4, 2, in, in_strides, size, NULL),
                  0);
        for (int64_t i = 0; i < TOTAL; i++) {
            int64_t p = 0, q = 0;

            for (int axis = 0; axis < 5; axis++) {
                int64_t at = i / out_strides[axis] % shape[axis];

                p += at * strides[0][axis];
                q += at * strides[1][axis];
            }
            wrong += got[i] != x[p] - y[q];
        }
        CHECK_INT(wrong, 0);
    }
    mxl_thread_set_count(before);
}

TEST(walker_limits)
{
    int64_t shape[2] = {0, 3}, strides[2] = {3, 1};
    const int64_t *in_strides[9] = {strides};
    float x = 1;
    const void *in[9] = {&x};
    size_t size[9] = {4};

    CHECK_INT(
        mxl_loops(tanh_kernels.row[0], 4, 2, shape, &x, strides, 4, 1, in, in_strides, size, NULL),
        0);
    CHECK(x == 1);
    CHECK_INT(
        mxl_loops(tanh_kernels.row[0], 4, 0, shape, &x, strides, 4, 1, in, in_strides, size, NULL),
        0);
    CHECK_NEAR(x, tanh(1.0), 1e-6);
    CHECK_INT(
        mxl_loops(tanh_kernels.row[0], 4, 0, shape, &x, strides, 4, 9, in, in_strides, size, NULL),
        -1);
    CHECK_HAS(mxl_error_text(), "inputs");
}

TEST(large_runs)
{
    int64_t n = 3 * MXL_LOOP_GRAIN + 11;
    float *x = malloc((size_t)n * 4), *y = malloc((size_t)n * 4);
    float s = 3;
    const void *in[2] = {x, &s};
    const size_t size[2] = {4, 4};
    int before = mxl_thread_set_count(2);
    int64_t wrong = 0;

    REQUIRE(x != NULL && y != NULL);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)i;
    mxl_loop_run(sub_kernels.row[MXL_F32], 1, n, y, 4, 2, in, step_vs, size, NULL);
    for (int64_t i = 0; i < n; i++)
        wrong += y[i] != x[i] - 3;
    CHECK_INT(wrong, 0);
    mxl_thread_set_count(before);
    free(x);
    free(y);
}

HARNESS_MAIN(ENTRY(unary), ENTRY(integers), ENTRY(scalars), ENTRY(steps), ENTRY(walker),
             ENTRY(broadcasting), ENTRY(rows_of_five_axes), ENTRY(walker_limits), ENTRY(large_runs))
