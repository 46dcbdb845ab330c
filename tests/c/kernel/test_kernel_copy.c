/* Strided copies and casts, on raw memory and on arrays; element-wise compute on arrays. */
#include <math.h>
#include <stdlib.h>

#include "array/array.h"
#include "array/copy.h"
#include "base/error.h"
#include "base/half.h"
#include "base/thread.h"
#include "harness.h"
#include "kernel/copy/cast.h"
#include "kernel/copy/strided_copy.h"
#include "op/op.h"

enum { ROOM = 1 << 17 };

static void random_copy(uint64_t *seed, size_t width, const int64_t *shape, int ndim)
{
    static unsigned char in[ROOM * 8], got[ROOM * 8], want[ROOM * 8];
    int64_t strides[2][5], start[2] = {0, 0}, total = 1;
    int order[5];

    for (int k = 0; k < 2; k++) {
        int64_t stride = 1;

        for (int i = 0; i < ndim; i++)
            order[i] = i;
        for (int i = ndim - 1; i > 0; i--) {
            int j = (int)(harness_random(seed) % (uint64_t)(i + 1)), t = order[i];
            order[i] = order[j];
            order[j] = t;
        }
        for (int i = 0; i < ndim; i++) {
            bool back = harness_random(seed) % 5 == 0;

            strides[k][order[i]] = back ? -stride : stride;
            start[k] += back ? stride * (shape[order[i]] - 1) : 0;
            stride *= shape[order[i]];
        }
    }
    for (size_t i = 0; i < sizeof(in); i++)
        in[i] = (unsigned char)harness_random(seed);
    memset(got, 0xee, sizeof(got));
    memset(want, 0xee, sizeof(want));
    for (int axis = 0; axis < ndim; axis++)
        total *= shape[axis];
    for (int64_t i = 0; i < total; i++) {
        int64_t at[2] = {start[0], start[1]}, rest = i;

        for (int axis = ndim - 1; axis >= 0; axis--) {
            at[0] += rest % shape[axis] * strides[0][axis];
            at[1] += rest % shape[axis] * strides[1][axis];
            rest /= shape[axis];
        }
        memcpy(want + (size_t)at[0] * width, in + (size_t)at[1] * width, width);
    }
    mxl_copy_strided(width, ndim, shape, got + start[0] * (int64_t)width, strides[0],
                     in + start[1] * (int64_t)width, strides[1]);
    CHECK(memcmp(got, want, sizeof(got)) == 0);
}

TEST(strided)
{
    static const int64_t shapes[][4] = {{1, 1, 1, 1},    {3, 1, 5, 2},     {33, 40, 2, 3},
                                        {2, 3, 65, 70},  {300, 1, 1, 301}, {7, 7, 7, 7},
                                        {2, 9000, 3, 1}, {5000, 2, 5, 2},  {3, 2, 17, 900}};
    static const size_t widths[] = {1, 2, 4, 8};
    uint64_t seed = 7;
    static const int threads[] = {2, 1, 5, 2};
    int before = mxl_thread_count();

    for (int round = 0; round < 4; round++) {
        mxl_thread_set_count(threads[round]);
        for (size_t s = 0; s < sizeof(shapes) / sizeof(*shapes); s++) {
            for (int w = 0; w < 4; w++)
                random_copy(&seed, widths[w], shapes[s], 4);
        }
    }
    mxl_thread_set_count(before);
}

/* Axes that repeat the input, and an output with gaps, which stay as they are. */
TEST(repeated_and_spaced)
{
    static const int64_t shapes[][3] = {{40, 30, 3}, {3, 500, 10}, {700, 1, 17}, {2, 2, 5000}};
    static uint32_t in[ROOM], got[ROOM], want[ROOM];
    uint64_t seed = 5;

    for (size_t i = 0; i < ROOM; i++)
        in[i] = (uint32_t)harness_random(&seed);
    for (int round = 0; round < 64; round++) {
        const int64_t *shape = shapes[round / 2 % 4];
        int64_t from[3], to[3], in_step = 1, out_step = 1 + round % 2;

        for (int axis = 2; axis >= 0; axis--) {
            bool repeats = harness_random(&seed) % 3 == 0;

            from[axis] = repeats ? 0 : in_step;
            to[axis] = out_step;
            in_step *= repeats ? 1 : shape[axis];
            out_step *= shape[axis];
        }
        memset(got, 0xee, sizeof(got));
        memset(want, 0xee, sizeof(want));
        for (int64_t i = 0; i < shape[0] * shape[1] * shape[2]; i++) {
            int64_t a = i / shape[2] / shape[1], b = i / shape[2] % shape[1], c = i % shape[2];

            want[a * to[0] + b * to[1] + c * to[2]] = in[a * from[0] + b * from[1] + c * from[2]];
        }
        mxl_copy_strided(4, 3, shape, got, to, in, from);
        CHECK(memcmp(got, want, sizeof(got)) == 0);
    }
}

/* Larger than what is worth keeping in the caches: in one block, and rows of more. */
TEST(large)
{
    const int64_t shape[2] = {1700, 2001}, out_strides[2] = {2001, 1}, in_strides[2] = {2003, 1};
    size_t n = 1701 * 2003, wrong = 0;
    uint32_t *a = malloc(n * 4), *b = malloc(n * 4);

    REQUIRE(a != NULL && b != NULL);
    for (size_t i = 0; i < n; i++)
        a[i] = (uint32_t)(i * 2654435761u);
    memset(b, 0, n * 4);
    mxl_copy_bytes(b + 1, a, (n - 1) * 4);
    CHECK(memcmp(b + 1, a, (n - 1) * 4) == 0);
    memset(b, 0, n * 4);
    mxl_copy_strided(4, 2, shape, b, out_strides, a + 1, in_strides);
    for (size_t i = 0; i < 1700 * 2001; i++)
        wrong += b[i] != a[1 + i / 2001 * 2003 + i % 2001];
    CHECK_INT(wrong, 0);
    CHECK_INT(b[1700 * 2001], 0);
    free(a);
    free(b);
}

TEST(fills_and_blocks)
{
    size_t n = 3000000;
    uint16_t *a = malloc(n * 2), *b = malloc(n * 2), v = 0xabcd;
    int before = mxl_thread_set_count(2);
    size_t wrong = 0;

    REQUIRE(a != NULL && b != NULL);
    mxl_fill(2, a, &v, (int64_t)n);
    mxl_copy_bytes(b, a, n * 2);
    for (size_t i = 0; i < n; i++)
        wrong += b[i] != 0xabcd;
    CHECK_INT(wrong, 0);
    mxl_thread_set_count(before);
    free(a);
    free(b);
}

static void cast(int from, int to, void *out, const void *in, int64_t n)
{
    int64_t step = 1;

    mxl_cast_loop(from, to)(out, &in, &step, n, NULL);
}

/* As measured on MXNet 1.9.1. */
TEST(float_to_int)
{
    float f[16] = {-1.5f,  -0.5f, 0.5f, 1.5f,  2.5f,  127.9f, 200.7f,   255.5f,
                   300.2f, -129,  3e9f, -3e9f, 1e19f, NAN,    INFINITY, -INFINITY};
    int32_t want32[16] = {-1,        0,         0,         1,        2,         127,
                          200,       255,       300,       -129,     INT32_MIN, INT32_MIN,
                          INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN};
    uint8_t want8[16] = {255, 0, 0, 1, 2, 127, 200, 255, 44, 127, 0, 0, 0, 0, 0, 0};
    double d[16];
    int32_t i32[16];
    int64_t i64[16];
    uint8_t u8[16], b[16];
    int8_t i8[16];

    for (int k = 0; k < 2; k++) {
        int from = k == 0 ? MXL_F32 : MXL_F64;
        const void *in = k == 0 ? (const void *)f : d;

        for (int i = 0; i < 16; i++)
            d[i] = (double)f[i];
        cast(from, MXL_I32, i32, in, 16);
        cast(from, MXL_I64, i64, in, 16);
        cast(from, MXL_U8, u8, in, 16);
        cast(from, MXL_I8, i8, in, 16);
        cast(from, MXL_BOOL, b, in, 16);
        for (int i = 0; i < 16; i++) {
            CHECK_INT(i32[i], want32[i]);
            CHECK_INT(u8[i], want8[i]);
            CHECK_INT(i8[i], (int8_t)want8[i]);
            CHECK_INT(b[i], 1);
        }
        CHECK(i64[10] == 3000000000 && i64[12] == INT64_MIN && i64[13] == INT64_MIN);
    }
    d[0] = 2147483647.9;
    d[1] = -2147483648.9;
    d[2] = 0.0;
    cast(MXL_F64, MXL_I32, i32, d, 2);
    CHECK(i32[0] == INT32_MAX && i32[1] == INT32_MIN);
    cast(MXL_F64, MXL_BOOL, b, d + 2, 1);
    CHECK_INT(b[0], 0);
}

TEST(other_casts)
{
    int32_t i[4] = {-1, 256, 300, 16777217};
    int64_t l[2] = {(INT64_C(1) << 33) + 5, (INT64_C(1) << 53) + 1};
    uint8_t u[4], two = 2, one;
    float f[4];
    double d[2];
    mxl_half h[2];

    cast(MXL_I32, MXL_U8, u, i, 3);
    CHECK(u[0] == 255 && u[1] == 0 && u[2] == 44);
    cast(MXL_I32, MXL_F32, f, i, 4);
    CHECK(f[3] == 16777216.0f);
    cast(MXL_I64, MXL_I32, i, l, 1);
    CHECK_INT(i[0], 5);
    cast(MXL_I64, MXL_F64, d, l, 2);
    CHECK(d[1] == 9007199254740992.0);
    cast(MXL_U8, MXL_BOOL, &one, &two, 1);
    CHECK_INT(one, 1);
    cast(MXL_BOOL, MXL_F32, f, &two, 1);
    CHECK(f[0] == 1);
    f[0] = 200.7f;
    f[1] = 1e9f;
    cast(MXL_F32, MXL_F16, h, f, 2);
    cast(MXL_F16, MXL_F64, d, h, 2);
    CHECK(d[0] == 200.75 && isinf(d[1]));
    mxl_cast_scalar(2.5, MXL_I64, l);
    CHECK_INT(l[0], 2);
    for (int a = 0; a < MXL_DTYPE_LOOPS; a++) {
        for (int b = 0; b < MXL_DTYPE_LOOPS; b++) {
            unsigned char x[8], y[8];
            double back = 0;

            mxl_cast_scalar(1, a, x);
            cast(a, b, y, x, 1);
            cast(b, MXL_F64, &back, y, 1);
            CHECK(back == 1);
        }
    }
}

/* A view of the array with two axes exchanged; the caller drops it. */
static mxl_array *transposed(mxl_array *array, int a, int b)
{
    mxl_array *view = mxl_array_alias(array);
    int64_t t;

    if (view == NULL)
        return NULL;
    t = view->shape[a], view->shape[a] = view->shape[b], view->shape[b] = t;
    t = view->strides[a], view->strides[a] = view->strides[b], view->strides[b] = t;
    view->contiguous = false;
    return view;
}

static mxl_array *counting(int dtype, int ndim, const int64_t *shape)
{
    mxl_array *array = mxl_array_new(dtype, ndim, shape);
    char *data = array == NULL ? NULL : mxl_array_write(array);

    for (int64_t i = 0; data != NULL && i < array->size; i++)
        mxl_cast_scalar((double)i, dtype, data + i * (int64_t)mxl_dtype_size(dtype));
    return array;
}

TEST(arrays)
{
    int64_t shape[2] = {2, 3}, flat[1] = {6}, other[2] = {6, 1}, five[1] = {5};
    mxl_array *a = counting(MXL_F32, 2, shape), *t = transposed(a, 0, 1);
    mxl_array *c = mxl_array_contiguous(t), *same = mxl_array_contiguous(a);
    mxl_array *i = counting(MXL_I64, 1, flat), *o = counting(MXL_U8, 2, other);
    mxl_array *none = mxl_array_new_none(), *short_one = counting(MXL_F32, 1, five);
    mxl_array *b = counting(MXL_F32, 2, shape), *bt = transposed(b, 0, 1);
    const float *f = mxl_array_read(c);
    const int64_t *l = mxl_array_read(i);
    uint64_t version = mxl_storage_version(i->storage);

    CHECK(same == a && c != t && c->contiguous);
    CHECK(f[0] == 0 && f[1] == 3 && f[2] == 1 && f[3] == 4 && f[4] == 2 && f[5] == 5);
    CHECK_INT(mxl_array_copy_into(i, t), 0);
    CHECK(l[1] == 3 && l[2] == 1 && l[5] == 5);
    CHECK(mxl_storage_version(i->storage) != version);
    CHECK_INT(mxl_array_copy_into(o, i), 0);
    CHECK_INT(((const uint8_t *)mxl_array_read(o))[1], 3);
    CHECK_INT(mxl_array_copy_into(bt, i), 0); /* contiguous into strided, another shape */
    CHECK(((const float *)mxl_array_read(b))[1] == 1);
    CHECK(((const float *)mxl_array_read(b))[3] == 3);
    CHECK_INT(mxl_array_copy_into(short_one, a), -1);
    CHECK_HAS(mxl_error_text(), "6 elements");
    CHECK_INT(mxl_array_copy_into(none, a), -1);
    {
        int64_t cube[3] = {1, 2, 3};
        mxl_array *u = counting(MXL_F64, 3, cube), *ut = transposed(u, 1, 2);

        /* both strided, shapes differ: (3,2) into (1,3,2) */
        CHECK_INT(mxl_array_copy_into(ut, t), 0);
        CHECK(((const double *)mxl_array_read(u))[1] == 1);
        CHECK(((const double *)mxl_array_read(u))[3] == 3);
        mxl_array_release(u);
        mxl_array_release(ut);
    }
    mxl_array_release(a), mxl_array_release(t), mxl_array_release(c), mxl_array_release(same);
    mxl_array_release(i), mxl_array_release(o), mxl_array_release(none),
        mxl_array_release(short_one);
    mxl_array_release(b), mxl_array_release(bt);
}

MXL_ARITH_KERNELS(sub, MXL_BINARY_LOOP, x - y);
static const mxl_op sub_op = {.name = "sub", .compute = mxl_run_loops, .kernels = &sub_kernels};

static int run_sub(mxl_array *out, mxl_array *x, mxl_array *y)
{
    mxl_array *in[2] = {x, y};
    mxl_call call = {.op = &sub_op, .num_inputs = 2, .num_outputs = 1, .in = in, .out = &out};

    return mxl_run_loops(&call);
}

static double at(const mxl_array *array, int64_t i)
{
    double v = 0;

    cast(array->dtype, MXL_F64, &v,
         (const char *)mxl_array_read(array) + i * (int64_t)mxl_dtype_size(array->dtype), 1);
    return v;
}

TEST(run_rows)
{
    int64_t shape[2] = {3, 4}, line[1] = {4}, column[2] = {3, 1}, one[1] = {1}, bad[1] = {3};
    mxl_array *x = counting(MXL_F32, 2, shape), *y = counting(MXL_F32, 2, shape);
    mxl_array *z = mxl_array_new(MXL_F32, 2, shape), *l = counting(MXL_F32, 1, line);
    mxl_array *c = counting(MXL_F32, 2, column), *s = counting(MXL_F32, 1, one);
    mxl_array *wrong = counting(MXL_F32, 1, bad), *b = counting(MXL_BOOL, 2, shape);
    int64_t square[2] = {3, 3};
    mxl_array *q = counting(MXL_F32, 2, square), *qt = transposed(q, 0, 1);

    *(float *)mxl_array_write(s) = 100;
    CHECK_INT(run_sub(z, x, y), 0);
    CHECK(at(z, 0) == 0 && at(z, 11) == 0);
    CHECK_INT(run_sub(z, x, s), 0);
    CHECK(at(z, 5) == -95);
    CHECK_INT(run_sub(z, s, x), 0);
    CHECK(at(z, 5) == 95);
    CHECK_INT(run_sub(z, x, l), 0);
    CHECK(at(z, 7) == 4 && at(z, 8) == 8);
    CHECK_INT(run_sub(z, c, x), 0);
    CHECK(at(z, 7) == -6 && at(z, 8) == -6 && at(z, 3) == -3);
    CHECK_INT(run_sub(z, x, wrong), -1);
    CHECK_HAS(mxl_error_text(), "sub: an input of shape (3,)");
    CHECK_INT(run_sub(b, b, b), -1);
    CHECK_STR(mxl_error_text(), "sub: dtype bool is not supported");
    CHECK_INT(run_sub(q, q, qt), 0); /* in place, and the second operand is a view of it */
    CHECK(at(q, 1) == 1 - 3 && at(q, 3) == 3 - 1 && at(q, 8) == 0);
    CHECK_INT(run_sub(x, x, l), 0); /* in place */
    CHECK(at(x, 7) == 4);
    mxl_array_release(x), mxl_array_release(y), mxl_array_release(z), mxl_array_release(l);
    mxl_array_release(c), mxl_array_release(s), mxl_array_release(wrong), mxl_array_release(b);
    mxl_array_release(q), mxl_array_release(qt);
}

TEST(run_rows_overlap)
{
    int64_t shape[1] = {1000}, part[1] = {999}, half[1] = {500}, one[1] = {1};
    mxl_array *x = counting(MXL_F32, 1, shape), *y = mxl_array_view(x, 1, 1, part);
    mxl_array *z = mxl_array_view(x, 0, 1, part), *first = mxl_array_view(x, 0, 1, one);

    CHECK_INT(run_sub(y, z, z), 0); /* x[1:] = x[:-1] - x[:-1] */
    CHECK(at(x, 0) == 0 && at(x, 1) == 0 && at(x, 999) == 0);
    for (int i = 0; i < 1000; i++)
        ((float *)mxl_array_write(x))[i] = (float)(i + 1);
    CHECK_INT(run_sub(x, x, first), 0); /* x -= x[0] */
    CHECK(at(x, 0) == 0 && at(x, 1) == 1 && at(x, 999) == 999);
    CHECK_INT(run_sub(y, z, y), 0); /* x[1:] = x[:-1] - x[1:] */
    CHECK(at(x, 0) == 0 && at(x, 1) == -1 && at(x, 500) == -1);
    mxl_array_release(y), mxl_array_release(z);
    for (int i = 0; i < 1000; i++)
        ((float *)mxl_array_write(x))[i] = (float)(i + 1);
    y = mxl_array_view(x, 400, 1, half);
    z = mxl_array_view(x, 0, 1, half);
    CHECK_INT(run_sub(y, z, first),
              0); /* far apart, the last hundred meet: x[400:900] = x[:500] - 1 */
    CHECK(at(x, 399) == 400 && at(x, 400) == 0 && at(x, 850) == 450 && at(x, 900) == 901);
    mxl_array_release(x), mxl_array_release(y), mxl_array_release(z), mxl_array_release(first);
}

HARNESS_MAIN(ENTRY(strided), ENTRY(repeated_and_spaced), ENTRY(large), ENTRY(fills_and_blocks),
             ENTRY(float_to_int), ENTRY(other_casts), ENTRY(arrays), ENTRY(run_rows),
             ENTRY(run_rows_overlap))
