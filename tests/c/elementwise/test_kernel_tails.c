/* Loops of functions and casts of 16 bits with any number of elements, against plain loops. */
#include <math.h>
#include <string.h>

#include "kernel/copy/cast.h"
#include "kernel/elementwise/loop.h"
#include "tails_kit.h"

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

HARNESS_MAIN(ENTRY(functions_of_any_number_of_elements), ENTRY(casts_of_any_number_of_elements))
