/* Loops through float32 and float64, over more elements than a tile holds. */
#include <math.h>

#include "harness.h"
#include "kernel/elementwise/loop.h"

enum { N = 2500 };

MXL_MATH_KERNELS(half_root, MXL_UNARY_LOOP, sqrt(x) / 2);
MXL_MATH_KERNELS(less, MXL_BINARY_LOOP, x - y);
MXL_MATH_KERNELS(over, MXL_SCALAR_LOOP, x / s);

TEST(every_tile_and_its_rest)
{
    static mxl_half in[N], out[N];
    static int8_t small[N];
    const void *const data = in, *const ints = small;
    const int64_t step = 1;

    for (int i = 0; i < N; i++) {
        in[i] = mxl_half_from_float((float)i);
        small[i] = (int8_t)(i % 128);
    }
    half_root_kernels.row[MXL_F16](out, &data, &step, N, NULL);
    half_root_kernels.row[MXL_I8](small, &ints, &step, N, NULL); /* in place */
    for (int i = 0; i < N; i++) {
        float x = mxl_half_to_float(in[i]);

        CHECK_INT(out[i], mxl_half_from_float(sqrtf(x) / 2));
        CHECK_INT(small[i], (int8_t)(sqrtf((float)(i % 128)) / 2));
    }
}

TEST(a_single_element_on_either_side)
{
    static int32_t x[N], z[N];
    const int32_t seven = 7;
    const void *const left[2] = {&seven, x}, *const right[2] = {x, &seven};
    const int64_t still_first[2] = {0, 1}, still_second[2] = {1, 0};

    for (int i = 0; i < N; i++)
        x[i] = i;
    less_kernels.row[MXL_I32](z, left, still_first, N, NULL);
    for (int i = 0; i < N; i++)
        CHECK_INT(z[i], 7 - i);
    less_kernels.row[MXL_I32](z, right, still_second, N, NULL);
    for (int i = 0; i < N; i++)
        CHECK_INT(z[i], i - 7);
}

TEST(the_scalar_is_one_of_the_dtype)
{
    const mxl_scalar_params third = {.scalar = 10.0 / 3}; /* 3 of an integer */
    const int64_t step = 1;
    uint8_t x = 9, z;
    mxl_half h = mxl_half_from_float(1), g;
    const void *const data = &x, *const half = &h;

    over_kernels.row[MXL_U8](&z, &data, &step, 1, &third);
    CHECK_INT(z, 3);
    over_kernels.row[MXL_F16](&g, &half, &step, 1, &third);
    CHECK_INT(g, mxl_half_from_float(1 / mxl_half_to_float(mxl_half_from_float(10.0f / 3))));
}

/* float32 has not their digits. */
TEST(wide_integers_go_through_float64)
{
    int32_t x[3] = {99999999, 16777217, 2147483647}, y[3] = {1, 0, -1}, z[3];
    int64_t l[2] = {16777217, INT64_C(9007199254740991)}, m[2];
    const void *const in[2] = {x, y}, *const wide = l;
    const int64_t step[2] = {1, 1};

    half_root_kernels.row[MXL_I32](z, in, step, 3, NULL);
    CHECK(z[0] == 4999 && z[1] == 2048 && z[2] == 23170); /* of 9999.99995: not of 10000 */
    less_kernels.row[MXL_I32](z, in, step, 2, NULL);
    CHECK(z[0] == 99999998 && z[1] == 16777217);
    over_kernels.row[MXL_I64](m, &wide, step, 2, &(mxl_scalar_params){.scalar = 1});
    CHECK(m[0] == 16777217 && m[1] == INT64_C(9007199254740991));
}

HARNESS_MAIN(ENTRY(every_tile_and_its_rest), ENTRY(a_single_element_on_either_side),
             ENTRY(the_scalar_is_one_of_the_dtype), ENTRY(wide_integers_go_through_float64))
