/* Casts at the limits of types, where C leaves the conversion undefined: values that do not fit
 * give the smallest integer, 8-bit integers go through int32 and wrap. Also run under the
 * sanitizers. */
#include <math.h>

#include "base/dtype.h"
#include "base/half.h"
#include "harness.h"
#include "kernel/copy/cast.h"
#include "kernel/copy/convert.h"
#include "kernel/target.h"

/* One value of dtype `from` as dtype `to`. */
static void cast(int from, const void *in, int to, void *out)
{
    int64_t step = 1;

    mxl_cast_loop(from, to)(out, &in, &step, 1, NULL);
}

/* Past its element the loop writes nothing. */
static int64_t as_integer(int from, const void *in, int to)
{
    union {
        uint8_t u8;
        int8_t i8;
        int32_t i32;
        int64_t i64;
        unsigned char bytes[16];
    } room;
    size_t width = mxl_dtype_size(to);

    memset(&room, 0x5a, sizeof(room));
    cast(from, in, to, &room);
    for (size_t i = width; i < sizeof(room); i++)
        CHECK(room.bytes[i] == 0x5a);
    return to == MXL_I64 ? room.i64 : to == MXL_I32 ? room.i32 : to == MXL_I8 ? room.i8 : room.u8;
}

typedef struct border {
    double value;
    int64_t i64, i32;
    int i8, u8;
} border;

static const border BORDERS[] = {
    {0x1p31, INT64_C(1) << 31, INT32_MIN, 0, 0},
    {-0x1p31, -(INT64_C(1) << 31), INT32_MIN, 0, 0},
    {0x1p32, INT64_C(1) << 32, INT32_MIN, 0, 0},
    {0x1p62, INT64_C(1) << 62, INT32_MIN, 0, 0},
    {0x1p63, INT64_MIN, INT32_MIN, 0, 0},
    {-0x1p63, INT64_MIN, INT32_MIN, 0, 0},
    {0x1p64, INT64_MIN, INT32_MIN, 0, 0},
    {-0x1p64, INT64_MIN, INT32_MIN, 0, 0},
    {INFINITY, INT64_MIN, INT32_MIN, 0, 0},
    {-INFINITY, INT64_MIN, INT32_MIN, 0, 0},
    {NAN, INT64_MIN, INT32_MIN, 0, 0},
    {255, 255, 255, -1, 255},
    {256.75, 256, 256, 0, 0},
    {-1.75, -1, -1, -1, 255},
    {-129, -129, -129, 127, 127},
    {-0.5, 0, 0, 0, 0},
};

static void check_border(int from, const void *in, const border *b)
{
    CHECK_INT(as_integer(from, in, MXL_I64), b->i64);
    CHECK_INT(as_integer(from, in, MXL_I32), b->i32);
    CHECK_INT(as_integer(from, in, MXL_I8), b->i8);
    CHECK_INT(as_integer(from, in, MXL_U8), b->u8);
    CHECK_INT(as_integer(from, in, MXL_BOOL), 1); /* none of them is 0, and NaN is not either */
}

/* Every border is a float too. */
TEST(borders_of_integers)
{
    for (size_t i = 0; i < sizeof(BORDERS) / sizeof(BORDERS[0]); i++) {
        const border *b = &BORDERS[i];
        float narrow = (float)b->value;

        check_border(MXL_F64, &b->value, b);
        check_border(MXL_F32, &narrow, b);
    }
}

/* The last numbers that fit, and the first that do not. */
TEST(neighbours_of_borders)
{
    float f = nextafterf(0x1p31f, 0);
    double d = nextafter(0x1p63, 0);

    CHECK_INT(mxl_i32_from_f32(f), INT32_MAX - 127);
    CHECK_INT(mxl_i32_from_f32(nextafterf(-0x1p31f, -INFINITY)), INT32_MIN);
    CHECK_INT(mxl_i32_from_f64(2147483647.75), INT32_MAX);
    CHECK_INT(mxl_i32_from_f64(-2147483648.75), INT32_MIN);
    CHECK_INT(mxl_i32_from_f64(-2147483649.0), INT32_MIN);
    CHECK_INT(mxl_i64_from_f64(d), INT64_MAX - 1023);
    CHECK_INT(mxl_i64_from_f32(nextafterf(0x1p63f, 0)), INT64_MAX - ((INT64_C(1) << 39) - 1));
    CHECK_INT(mxl_i64_from_f64(nextafter(-0x1p63, -INFINITY)), INT64_MIN);
}

/* float16 holds no number that an int32 does not, but infinities and NaN. */
TEST(halves)
{
    static const border halves[] = {
        {65504, 65504, 65504, -32, 224},
        {INFINITY, INT64_MIN, INT32_MIN, 0, 0},
        {-INFINITY, INT64_MIN, INT32_MIN, 0, 0},
        {NAN, INT64_MIN, INT32_MIN, 0, 0},
    };

    for (size_t i = 0; i < sizeof(halves) / sizeof(halves[0]); i++) {
        mxl_half h = mxl_half_from_float((float)halves[i].value);

        check_border(MXL_F16, &h, &halves[i]);
    }
}

TEST(integers_to_floats)
{
    int64_t large[] = {INT64_MAX, INT64_MIN};
    int32_t small[] = {INT32_MAX, INT32_MIN};
    double d = 0;
    float f = 0;
    mxl_half h = {0};

    cast(MXL_I64, &large[0], MXL_F64, &d);
    CHECK(d == 0x1p63);
    cast(MXL_I64, &large[1], MXL_F32, &f);
    CHECK(f == -0x1p63f);
    cast(MXL_I32, &small[0], MXL_F32, &f);
    CHECK(f == 0x1p31f);
    cast(MXL_I32, &small[1], MXL_F16, &h);
    CHECK(mxl_half_to_float(h) == -INFINITY);
    d = 1e300;
    cast(MXL_F64, &d, MXL_F32, &f);
    CHECK(f == INFINITY);
}

/* A scalar takes the same way. */
TEST(scalars)
{
    int64_t whole = 1;
    uint8_t byte = 1;

    mxl_cast_scalar(0x1p63, MXL_I64, &whole);
    CHECK_INT(whole, INT64_MIN);
    mxl_cast_scalar(-1, MXL_U8, &byte);
    CHECK_INT(byte, 255);
}

/* Rows of every length up to several vectors, at every level, are what their elements are alone. */
TEST(rows)
{
    enum { N = 1100 };
    static unsigned char in[N * 8], got[N * 8], want[N * 8];
    uint64_t seed = 9;

    for (int level = 0; level < MXL_LEVELS; level++) {
        if (mxl_level_set(level) != 0)
            continue;
        for (int from = 0; from < MXL_DTYPE_COUNT; from++) {
            for (int to = 0; to < MXL_DTYPE_COUNT; to++) {
                size_t wide = mxl_dtype_size(from), width = mxl_dtype_size(to);
                int64_t step = 1, n = (int64_t)(harness_random(&seed) % (N - 1));
                const void *row = in + wide;

                for (size_t i = 0; i < sizeof(in); i++)
                    in[i] = (unsigned char)harness_random(&seed);
                for (size_t i = 3; from == MXL_F32 && i < sizeof(in); i += 4)
                    in[i] = (unsigned char)(i % 3 ? 0x3e + i % 8 : in[i]);
                memset(got, 0x5a, sizeof(got));
                memset(want, 0x5a, sizeof(want));
                for (size_t i = 0; i < (size_t)n; i++)
                    cast(from, in + wide * (i + 1), to, want + width * (i + 1));
                mxl_cast_loop(from, to)(got + width, &row, &step, n, NULL);
                CHECK(memcmp(got, want, sizeof(got)) == 0);
            }
        }
    }
}

/* The processor's instructions for float16, where it has them, give the bits of base/half.h. */
TEST(every_half)
{
    static mxl_half halves[65536], back[65536];
    static float floats[65536];
    const void *in = halves, *between = floats;
    int64_t step = 1;

    for (unsigned h = 0; h < 65536; h++)
        halves[h] = (mxl_half)h;
    for (int level = 0; level < MXL_LEVELS; level++) {
        if (mxl_level_set(level) != 0)
            continue;
        mxl_cast_half_to_float(floats, &in, &step, 65536, NULL);
        mxl_cast_float_to_half(back, &between, &step, 65536, NULL);
        for (unsigned h = 0; h < 65536; h++) {
            float one = mxl_half_to_float((mxl_half)h);

            CHECK(memcmp(&floats[h], &one, sizeof one) == 0);
            CHECK_INT(back[h], mxl_half_from_float(one));
        }
        /* Between two halves, and beside the middle. */
        for (unsigned h = 0; h < 65536; h++)
            floats[h] = mxl_half_to_float((mxl_half)h) * (1 + (float)((int)(h % 7) - 3) * 0x1p-12f);
        mxl_cast_float_to_half(back, &between, &step, 65536, NULL);
        for (unsigned h = 0; h < 65536; h++)
            CHECK_INT(back[h], mxl_half_from_float(floats[h]));
    }
}

HARNESS_MAIN(ENTRY(rows), ENTRY(every_half), ENTRY(borders_of_integers),
             ENTRY(neighbours_of_borders), ENTRY(halves), ENTRY(integers_to_floats), ENTRY(scalars))
