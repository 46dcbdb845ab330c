/* Loops that run whole vectors, for any number of elements, at every vector level, against plain
 * loops. Arrays end where accessible memory does, so that reading or writing beyond one fails. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/pages.h"
#include "base/thread.h"
#include "harness.h"
#include "kernel/copy/cast.h"
#include "kernel/elementwise/loop.h"
#include "kernel/quantized/bytes.h"
#include "kernel/quantized/dots.h"
#include "kernel/target.h"

enum { ARRAYS = 3, ROOM = 1 << 16, GUARD = 64, MOST = 2050 };

static const int64_t counts[] = {0,   1,   2,   3,   4,   5,    7,    8,   9,  15,
                                 16,  17,  31,  32,  33,  47,   63,   64,  65, 127,
                                 128, 129, 511, 512, 513, 1000, 1024, MOST};
enum { COUNTS = sizeof(counts) / sizeof(*counts) };

/* ---- arrays before memory that is not accessible, where the system has such ---- */

static char *rooms[ARRAYS];

static void open_rooms(void)
{
    for (int i = 0; i < ARRAYS; i++) {
        rooms[i] = mxl_pages_reserve((size_t)2 * ROOM);
        if (rooms[i] == NULL)
            rooms[i] = calloc(1, ROOM);
        else
            CHECK(mxl_pages_open(rooms[i], ROOM, false));
    }
}

/* An array of `bytes` bytes; those before it have a mark. */
static void *array_of(int i, size_t bytes)
{
    char *at = rooms[i] + ROOM - bytes;

    memset(at - GUARD, 0x5a, GUARD);
    return at;
}

static bool is_marked(const void *array)
{
    const unsigned char *at = array;
    int marked = 0;

    for (int i = 1; i <= GUARD; i++)
        marked += *(at - i) == 0x5a;
    return marked == GUARD;
}

/* Calls `check` with each number of elements at each level of this processor. */
static void at_levels(void (*check)(int64_t n))
{
    if (rooms[0] == NULL)
        open_rooms();
    for (int level = MXL_BASELINE; level < MXL_LEVELS; level++) {
        if (mxl_level_set(level) != 0)
            continue;
        for (int i = 0; i < COUNTS; i++)
            check(counts[i]);
    }
    mxl_level_set(mxl_level_find());
}

/* ---- loops of functions ---- */

MXL_FLOAT_KERNELS(curve, MXL_UNARY_LOOP, 1 / (x * x + 2));
MXL_FLOAT_KERNELS(bent, MXL_NEAR_LOOP, 100, x + 1, x - 1);
MXL_FLOAT_KERNELS(slope, MXL_BINARY_LOOP, x / (y * y + 1));
MXL_FLOAT_KERNELS(moved, MXL_SCALAR_LOOP, x * s - 1);
MXL_ARITH_KERNELS(less, MXL_BINARY_LOOP, x - y);

/* Runs a loop into an array of its own and in place of each input, and compares it with the
 * expression. */
#define FUNCTION(T, dtype, name, ...)                                                              \
    static void T##_##name(int64_t n, const int64_t *step)                                         \
    {                                                                                              \
        static T want[MOST];                                                                       \
        const mxl_scalar_params params = {.scalar = 0.75};                                         \
        const T first = 300, second = -3, s = (T)0.75;                                             \
        size_t bytes = (size_t)n * sizeof(T);                                                      \
        T *arrays[ARRAYS];                                                                         \
                                                                                                   \
        (void)s;                                                                                   \
        for (int place = 0; place < ARRAYS; place++) {                                             \
            const void *in[2];                                                                     \
                                                                                                   \
            for (int i = 0; i < ARRAYS; i++)                                                       \
                arrays[i] = array_of(i, bytes);                                                    \
            for (int64_t i = 0; i < n; i++) {                                                      \
                arrays[0][i] = (T)(i - n / 2) / 4;                                                 \
                arrays[1][i] = (T)(i % 7 - 3);                                                     \
            }                                                                                      \
            in[0] = step[0] == 0 ? &first : arrays[0];                                             \
            in[1] = step[1] == 0 ? &second : arrays[1];                                            \
            for (int64_t i = 0; i < n; i++) {                                                      \
                const T x = ((const T *)in[0])[i * step[0]];                                       \
                const T y = ((const T *)in[1])[i * step[1]];                                       \
                                                                                                   \
                (void)y;                                                                           \
                want[i] = __VA_ARGS__;                                                             \
            }                                                                                      \
            name##_kernels.row[dtype](arrays[place], in, step, n, &params);                        \
            CHECK(memcmp(arrays[place], want, bytes) == 0 && is_marked(arrays[place]));            \
        }                                                                                          \
    }

#define FUNCTIONS(T, dtype)                                                                        \
    FUNCTION(T, dtype, curve, 1 / (x * x + 2))                                                     \
    FUNCTION(T, dtype, bent, fabs(x) > 100 ? x - 1 : x + 1)                                        \
    FUNCTION(T, dtype, slope, x / (y * y + 1))                                                     \
    FUNCTION(T, dtype, moved, x *s - 1)                                                            \
    FUNCTION(T, dtype, less, x - y)                                                                \
    static void T##_functions(int64_t n)                                                           \
    {                                                                                              \
        static const int64_t steps[3][2] = {{1, 1}, {1, 0}, {0, 1}};                               \
                                                                                                   \
        T##_curve(n, steps[0]);                                                                    \
        T##_bent(n, steps[0]);                                                                     \
        T##_moved(n, steps[0]);                                                                    \
        for (int i = 0; i < 3; i++) {                                                              \
            T##_slope(n, steps[i]);                                                                \
            T##_less(n, steps[i]);                                                                 \
        }                                                                                          \
    }

FUNCTIONS(float, MXL_F32)
FUNCTIONS(double, MXL_F64)

TEST(functions_of_any_number_of_elements)
{
    at_levels(float_functions);
    at_levels(double_functions);
}

/* ---- casts of 16 bits ---- */

static uint16_t brain_of(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof(bits));
    if (isnan(x))
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float float_of(uint16_t brain)
{
    uint32_t bits = (uint32_t)brain << 16;
    float x;

    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* Infinities and NaN of either kind among other numbers. */
static void casts(int64_t n)
{
    const int64_t one = 1;
    float *x = array_of(0, (size_t)n * sizeof(float)), *back = array_of(1, (size_t)n * 4);
    uint16_t *narrow = array_of(2, (size_t)n * 2);
    const void *from = x, *between = narrow;
    int wrong = 0;

    for (int64_t i = 0; i < n; i++)
        x[i] = i % 11 == 5 ? NAN : i % 13 == 6 ? -INFINITY : (float)(i * i) * 1.0009f - 77;
    mxl_cast_float_to_half(narrow, &from, &one, n, NULL);
    mxl_cast_half_to_float(back, &between, &one, n, NULL);
    for (int64_t i = 0; i < n; i++) {
        float want = mxl_half_to_float(narrow[i]);

        wrong += narrow[i] != mxl_half_from_float(x[i]) || memcmp(&back[i], &want, 4) != 0;
    }
    for (int64_t i = 0; i < n; i += 9)
        narrow[i] = 0x7c01; /* a signalling NaN */
    mxl_cast_half_to_float(back, &between, &one, n, NULL);
    for (int64_t i = 0; i < n; i++) {
        float want = mxl_half_to_float(narrow[i]);

        wrong += memcmp(&back[i], &want, 4) != 0;
    }
    mxl_cast_float_to_brain(narrow, &from, &one, n, NULL);
    mxl_cast_brain_to_float(back, &between, &one, n, NULL);
    for (int64_t i = 0; i < n; i++) {
        float want = float_of(narrow[i]);

        wrong += narrow[i] != brain_of(x[i]) || memcmp(&back[i], &want, 4) != 0;
    }
    CHECK(wrong == 0 && is_marked(narrow) && is_marked(back));
}

TEST(casts_of_any_number_of_elements)
{
    at_levels(casts);
}

/* ---- bytes ---- */

static int number(int dtype, const void *x, int64_t i)
{
    return dtype == MXL_U8 ? ((const uint8_t *)x)[i] : ((const int8_t *)x)[i];
}

static int byte_of(int dtype, float x)
{
    float low = dtype == MXL_U8 ? 0 : -128, high = dtype == MXL_U8 ? 255 : 127;

    x = rintf(x);
    return (int)(x < low ? low : x > high ? high : x);
}

static void fill(void *bytes, int64_t n, int seed)
{
    for (int64_t i = 0; i < n; i++)
        ((uint8_t *)bytes)[i] = (uint8_t)(i * 37 + i / 7 * seed + seed);
}

static void scales(int64_t n)
{
    float *x = array_of(0, (size_t)n * 4);
    int32_t *wide = array_of(1, (size_t)n * 4);
    uint8_t *y = array_of(2, (size_t)n);

    for (int64_t i = 0; i < n; i++) {
        x[i] = (float)(i % 601 - 300) * 0.5f;
        wide[i] = (int32_t)(i % 601 - 300) * 1001;
    }
    for (int to = MXL_U8; to <= MXL_I8; to += MXL_I8 - MXL_U8) {
        int wrong = 0;

        mxl_quantized_scale(MXL_F32, to, x, y, n, 1.25f);
        for (int64_t i = 0; i < n; i++)
            wrong += number(to, y, i) != byte_of(to, x[i] * 1.25f);
        mxl_quantized_scale(MXL_I32, to, wide, y, n, 1e-3f);
        for (int64_t i = 0; i < n; i++)
            wrong += number(to, y, i) != byte_of(to, (float)wide[i] * 1e-3f);
        CHECK(wrong == 0 && is_marked(y));
    }
}

/* Of bytes: to bytes, to float32, to int32, and within limits. */
static void bytes(int64_t n)
{
    int8_t *x = array_of(0, (size_t)n), *y = array_of(2, (size_t)n);
    float *real = array_of(1, (size_t)n * 4);
    int32_t *wide = (int32_t *)(void *)real;

    fill(x, n, 3);
    for (int kinds = 0; kinds < 4; kinds++) {
        const int from = kinds & 1 ? MXL_U8 : MXL_I8, to = kinds & 2 ? MXL_U8 : MXL_I8;
        const mxl_quantized_limit limit = {from, to, x, y, 0.5f, -20, 30, 3};
        int wrong = 0;

        mxl_quantized_scale(from, to, x, y, n, 1.5f);
        for (int64_t i = 0; i < n; i++)
            wrong += number(to, y, i) != byte_of(to, (float)number(from, x, i) * 1.5f);
        mxl_quantized_scale(from, MXL_F32, x, real, n, 0.3f);
        for (int64_t i = 0; i < n; i++)
            wrong += real[i] != (float)number(from, x, i) * 0.3f;
        mxl_quantized_within(&limit, n);
        for (int64_t i = 0; i < n; i++)
            wrong += number(to, y, i) !=
                     byte_of(to, fminf(fmaxf((float)number(from, x, i) * 0.5f, -20), 30) * 3);
        CHECK(wrong == 0 && is_marked(y) && is_marked(real));
    }
    mxl_quantized_cut(x, wide, n, 0.3f);
    mxl_quantized_relu(x, y, n);
    for (int64_t i = 0; i < n; i++)
        CHECK(wide[i] == (int32_t)((float)x[i] * 0.3f) && y[i] == (x[i] > 0 ? x[i] : 0));
    mxl_quantized_relu(x, x, n); /* in place */
    CHECK(memcmp(x, y, (size_t)n) == 0);
}

static void pairs(int64_t n)
{
    uint8_t *a = array_of(0, (size_t)n), *b = array_of(1, (size_t)n);
    void *y = array_of(2, (size_t)n * 4);

    fill(a, n, 3);
    fill(b, n, 5);
    for (int kinds = 0; kinds < 8; kinds++) {
        mxl_quantized_pair p = {.a_dtype = kinds & 1 ? MXL_U8 : MXL_I8,
                                .b_dtype = kinds & 2 ? MXL_U8 : MXL_I8,
                                .to = kinds & 4 ? MXL_U8 : MXL_I8,
                                .a = a,
                                .b = b,
                                .y = y,
                                .a_scale = 0.5f,
                                .b_scale = 0.75f};
        int wrong = 0, to = p.to;

        mxl_quantized_add(&p, n);
        for (int64_t i = 0; i < n; i++)
            wrong += number(to, y, i) != byte_of(to, (float)number(p.a_dtype, a, i) * 0.5f +
                                                         (float)number(p.b_dtype, b, i) * 0.75f);
        mxl_quantized_mul(&p, n);
        for (int64_t i = 0; i < n; i++)
            wrong += number(to, y, i) !=
                     byte_of(to, 0.5f * (float)(number(p.a_dtype, a, i) * number(p.b_dtype, b, i)));
        p.to = MXL_I32;
        mxl_quantized_mul(&p, n);
        for (int64_t i = 0; i < n; i++)
            wrong += ((int32_t *)y)[i] != number(p.a_dtype, a, i) * number(p.b_dtype, b, i);
        p.to = MXL_F32;
        mxl_quantized_mul(&p, n);
        for (int64_t i = 0; i < n; i++)
            wrong += ((float *)y)[i] !=
                     0.5f * (float)(number(p.a_dtype, a, i) * number(p.b_dtype, b, i));
        CHECK(wrong == 0 && is_marked(y));
    }
}

/* Five rows of n weights. */
static void inner_products(int64_t n)
{
    enum { ROWS = 5 };
    uint8_t *x = array_of(0, (size_t)n);
    int8_t *w = array_of(1, (size_t)(ROWS * n));
    int32_t *sums = array_of(2, ROWS * sizeof(*sums));

    fill(x, n, 3);
    fill(w, ROWS * n, 5);
    for (int dtype = MXL_U8; dtype <= MXL_I8; dtype += MXL_I8 - MXL_U8) {
        mxl_dots_rows(dtype == MXL_U8, n, x, w, ROWS, sums);
        for (int r = 0; r < ROWS; r++) {
            int32_t sum = 0;

            for (int64_t i = 0; i < n; i++)
                sum += number(dtype, x, i) * w[r * n + i];
            CHECK_INT(sums[r], sum);
        }
        CHECK(is_marked(sums));
    }
}

TEST(bytes_of_any_number)
{
    at_levels(scales);
    at_levels(bytes);
    at_levels(pairs);
    at_levels(inner_products);
}

HARNESS_MAIN(ENTRY(functions_of_any_number_of_elements), ENTRY(casts_of_any_number_of_elements),
             ENTRY(bytes_of_any_number))
