/* Loops by way of float32, over more elements than a tile holds. */
#include <math.h>

#include "harness.h"
#include "kernel/row.h"

enum { N = 2500 };

MXL_MATH_KERNELS(half_root, MXL_UNARY_ROW, sqrt(x) / 2);
MXL_MATH_KERNELS(less, MXL_BINARY_ROW, x - y);
MXL_MATH_KERNELS(over, MXL_SCALAR_ROW, x / s);

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

HARNESS_MAIN(ENTRY(every_tile_and_its_rest), ENTRY(a_single_element_on_either_side),
             ENTRY(the_scalar_is_one_of_the_dtype))
