/* Loops over bytes with any number of elements, against plain loops. */
#include <math.h>
#include <string.h>

#include "kernel/quantized/bytes.h"
#include "kernel/quantized/dots.h"
#include "../elementwise/tails_kit.h"
#include "bytes_kit.h"

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
            wrong += byte_at(to, y, i) != to_byte(to, x[i] * 1.25f);
        mxl_quantized_scale(MXL_I32, to, wide, y, n, 1e-3f);
        for (int64_t i = 0; i < n; i++)
            wrong += byte_at(to, y, i) != to_byte(to, (float)wide[i] * 1e-3f);
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
            wrong += byte_at(to, y, i) != to_byte(to, (float)byte_at(from, x, i) * 1.5f);
        mxl_quantized_scale(from, MXL_F32, x, real, n, 0.3f);
        for (int64_t i = 0; i < n; i++)
            wrong += real[i] != (float)byte_at(from, x, i) * 0.3f;
        mxl_quantized_within(&limit, n);
        for (int64_t i = 0; i < n; i++)
            wrong += byte_at(to, y, i) !=
                     to_byte(to, fminf(fmaxf((float)byte_at(from, x, i) * 0.5f, -20), 30) * 3);
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
            wrong += byte_at(to, y, i) != to_byte(to, (float)byte_at(p.a_dtype, a, i) * 0.5f +
                                                          (float)byte_at(p.b_dtype, b, i) * 0.75f);
        mxl_quantized_mul(&p, n);
        for (int64_t i = 0; i < n; i++)
            wrong +=
                byte_at(to, y, i) !=
                to_byte(to, 0.5f * (float)(byte_at(p.a_dtype, a, i) * byte_at(p.b_dtype, b, i)));
        p.to = MXL_I32;
        mxl_quantized_mul(&p, n);
        for (int64_t i = 0; i < n; i++)
            wrong += ((int32_t *)y)[i] != byte_at(p.a_dtype, a, i) * byte_at(p.b_dtype, b, i);
        p.to = MXL_F32;
        mxl_quantized_mul(&p, n);
        for (int64_t i = 0; i < n; i++)
            wrong += ((float *)y)[i] !=
                     0.5f * (float)(byte_at(p.a_dtype, a, i) * byte_at(p.b_dtype, b, i));
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
                sum += byte_at(dtype, x, i) * w[r * n + i];
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

HARNESS_MAIN(ENTRY(bytes_of_any_number))
