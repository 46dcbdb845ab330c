/* take, pick, one_hot, scatter and softmax against plain loops. */
#include <math.h>
#include <stdlib.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/half.h"
#include "base/thread.h"
#include "harness.h"
#include "kernel/copy/cast.h"
#include "kernel/index/gather.h"
#include "kernel/index/scatter.h"
#include "kernel/reduce/softmax.h"

/* As measured on MXNet 1.9.1. */
TEST(indices)
{
    float f[9] = {INFINITY, -INFINITY, NAN, 1e10f, -1e10f, -0.5f, 5.7f, -1.5f, 0.9f};
    int64_t clip[9] = {0, 0, 0, 3, 0, 0, 3, 0, 0}, wrap[9] = {0, 0, 0, 0, 0, 0, 1, 3, 0}, at[9];
    int32_t i[3] = {-5, 3, 4};
    uint8_t b[2] = {1, 0};

    CHECK_INT(mxl_index_resolve(MXL_F32, f, 9, 4, MXL_INDEX_CLIP, at), 0);
    CHECK(memcmp(at, clip, sizeof(at)) == 0);
    CHECK_INT(mxl_index_resolve(MXL_F32, f, 9, 4, MXL_INDEX_WRAP, at), 0);
    CHECK(memcmp(at, wrap, sizeof(at)) == 0);
    CHECK_INT(mxl_index_resolve(MXL_I32, i, 3, 4, MXL_INDEX_KEEP, at), 0);
    CHECK(at[0] == -5 && at[2] == 4);
    CHECK_INT(mxl_index_resolve(MXL_I32, i + 1, 1, 4, MXL_INDEX_RAISE, at), 0);
    CHECK_INT(at[0], 3);
    CHECK_INT(mxl_index_resolve(MXL_I32, i + 1, 2, 4, MXL_INDEX_RAISE, at), -1);
    CHECK_HAS(mxl_error_text(), "index 4 is out of bounds");
    CHECK_INT(mxl_index_resolve(MXL_BOOL, b, 2, 4, MXL_INDEX_CLIP, at), 0);
    CHECK(at[0] == 1 && at[1] == 0);
    CHECK_INT(mxl_index_resolve(MXL_I32, i, 1, 0, MXL_INDEX_CLIP, at), -1);
    CHECK_INT(mxl_index_resolve(MXL_I32, i, 0, 0, MXL_INDEX_CLIP, at), 0);
}

enum { ROOM = 1 << 18 };

static unsigned char in[ROOM * 8], out[ROOM * 8], want[ROOM * 8];
static int64_t index_of[ROOM];

static void fill_index(uint64_t *seed, int64_t n, int64_t extent)
{
    for (int64_t i = 0; i < n; i++)
        index_of[i] = (int64_t)(harness_random(seed) % (uint64_t)extent);
    for (size_t i = 0; i < sizeof(in); i++)
        in[i] = (unsigned char)harness_random(seed);
}

TEST(take)
{
    static const int64_t shapes[][3] = {{1, 7, 5}, {3, 4, 9}, {2, 100, 9000}};
    static const int64_t pieces[] = {1, 2, 4, 8, 12};
    uint64_t seed = 1;
    int before = mxl_thread_set_count(2);

    for (int s = 0; s < 3; s++) {
        int64_t outer = shapes[s][0], extent = shapes[s][1], n = shapes[s][2];

        fill_index(&seed, n, extent);
        for (int p = 0; p < 5; p++) {
            int64_t bytes = pieces[p];

            for (int64_t o = 0; o < outer; o++) {
                for (int64_t j = 0; j < n; j++)
                    memcpy(want + (o * n + j) * bytes, in + (o * extent + index_of[j]) * bytes,
                           (size_t)bytes);
            }
            mxl_take(outer, extent, bytes, in, n, index_of, out);
            CHECK(memcmp(out, want, (size_t)(outer * n * bytes)) == 0);
        }
    }
    mxl_thread_set_count(before);
}

TEST(scatter_add)
{
    static const int dtypes[] = {MXL_F32, MXL_F64, MXL_F16, MXL_U8, MXL_I8, MXL_I32, MXL_I64};
    int64_t outer = 2, extent = 5, inner = 700, n = 20, step = 1;
    static double values[ROOM], sums[ROOM], got[ROOM];
    uint64_t seed = 2;
    int before = mxl_thread_set_count(2);

    fill_index(&seed, n, extent);
    for (int i = 0; i < ROOM; i++)
        values[i] = (double)(harness_random(&seed) % 5);
    for (int64_t k = 0; k < outer * extent * inner; k++)
        sums[k] = 1;
    for (int64_t o = 0; o < outer; o++) {
        for (int64_t j = 0; j < n; j++) {
            for (int64_t i = 0; i < inner; i++)
                sums[(o * extent + index_of[j]) * inner + i] += values[(o * n + j) * inner + i];
        }
    }
    for (int d = 0; d < 7; d++) {
        const void *from = values;
        int64_t wrong = 0;

        mxl_cast_loop(MXL_F64, dtypes[d])(in, &from, &step, ROOM, NULL);
        for (int64_t k = 0; k < outer * extent * inner; k++)
            mxl_cast_scalar(1, dtypes[d], out + (size_t)k * mxl_dtype_size(dtypes[d]));
        CHECK_INT(mxl_scatter_add(dtypes[d], outer, extent, inner, out, n, index_of, in), 0);
        from = out;
        mxl_cast_loop(dtypes[d], MXL_F64)(got, &from, &step, outer * extent * inner, NULL);
        for (int64_t k = 0; k < outer * extent * inner; k++)
            wrong += got[k] != sums[k];
        CHECK_INT(wrong, 0);
    }
    CHECK_INT(mxl_scatter_add(MXL_BOOL, 1, 1, 1, out, 1, index_of, in), -1);
    /* Nothing to add, however often: done at once. */
    CHECK_INT(mxl_scatter_add(MXL_F32, INT64_C(1) << 50, 1, 1, out, 0, index_of, in), 0);
    mxl_thread_set_count(before);
}

TEST(pick)
{
    static const size_t widths[] = {1, 2, 4, 8};
    int64_t outer = 3, extent = 4, inner = 6;
    const mxl_scatter at = {.ndim = 3,
                            .axis = 1,
                            .shape = (int64_t[]){outer, 1, inner},
                            .index = index_of,
                            .strides = (int64_t[]){extent * inner, inner, 1},
                            .source_strides = (int64_t[]){inner, inner, 1}};
    uint64_t seed = 3;

    fill_index(&seed, outer * inner, extent);
    for (int w = 0; w < 4; w++) {
        size_t width = widths[w];

        for (int64_t k = 0; k < outer * inner; k++)
            memcpy(want + (size_t)k * width,
                   in + (size_t)((k / inner * extent + index_of[k]) * inner + k % inner) * width,
                   width);
        mxl_scatter_read(width, &at, in, out);
        CHECK(memcmp(out, want, (size_t)(outer * inner) * width) == 0);
        memset(want, 0, (size_t)(outer * extent * inner) * width);
        for (int64_t k = 0; k < outer * inner; k++)
            memcpy(want + (size_t)((k / inner * extent + index_of[k]) * inner + k % inner) * width,
                   in + (size_t)k * width, width);
        memset(out, 0, (size_t)(outer * extent * inner) * width);
        mxl_scatter_write(width, &at, out, in);
        CHECK(memcmp(out, want, (size_t)(outer * extent * inner) * width) == 0);
    }
}

TEST(one_hot)
{
    int64_t at[4] = {2, -1, 0, 3};
    int16_t on = 7, off = -2, rows[4][3];

    mxl_one_hot(2, 4, 3, at, &on, &off, rows);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 3; j++)
            CHECK_INT(rows[i][j], at[i] == j ? 7 : -2);
    }
    mxl_one_hot(2, 4, 0, at, &on, &off, rows);
    CHECK_INT(rows[0][2], 7);
}

/* ---- softmax ---- */

static double element(int dtype, const void *data, int64_t i)
{
    const void *from = (const char *)data + i * (int64_t)mxl_dtype_size(dtype);
    double v = 0;
    int64_t step = 1;

    mxl_cast_loop(dtype, MXL_F64)(&v, &from, &step, 1, NULL);
    return v;
}

static void check_softmax(bool take_log, int dtype, int64_t outer, int64_t n, int64_t inner,
                          double temperature, const int64_t *length)
{
    double tolerance = dtype == MXL_F64 ? 1e-14 : dtype == MXL_F32 ? 1e-6 : 2e-3;
    int64_t wrong = 0;

    CHECK_INT(mxl_softmax(take_log, dtype, outer, n, inner, temperature, length, in, out), 0);
    for (int64_t k = 0; k < outer * inner; k++) {
        int64_t first = k / inner * n * inner + k % inner;
        int64_t count = length == NULL ? n : length[k] < 0 ? 0 : length[k] > n ? n : length[k];
        double sum = 0;

        for (int64_t i = 0; i < count; i++)
            sum += exp(element(dtype, in, first + i * inner) / temperature);
        for (int64_t i = 0; i < n; i++) {
            double v = element(dtype, in, first + i * inner) / temperature;
            double w = take_log ? v - log(sum) : exp(v) / sum;
            double got = element(dtype, out, first + i * inner);

            if (i >= count)
                wrong += take_log ? got != -(double)INFINITY : got != 0;
            else
                wrong += !(fabs(got - w) <= tolerance * fmax(1, fabs(w)));
        }
    }
    CHECK_INT(wrong, 0);
}

TEST(softmax)
{
    static const int64_t shapes[][3] = {{1, 1, 1}, {2, 3, 1}, {3, 100, 1}, {2, 9, 5}, {2, 4, 300}};
    static const int dtypes[] = {MXL_F32, MXL_F64, MXL_F16};
    static double values[ROOM];
    int64_t length[600], step = 1;
    uint64_t seed = 4;
    int before = mxl_thread_set_count(2);

    for (int i = 0; i < 600; i++)
        length[i] = (int64_t)(harness_random(&seed) % 14) - 2;
    for (int i = 0; i < ROOM; i++)
        values[i] = (double)(harness_random(&seed) % 20000) / 1000 - 10;
    for (int d = 0; d < 3; d++) {
        const void *from = values;

        mxl_cast_loop(MXL_F64, dtypes[d])(in, &from, &step, ROOM, NULL);
        for (int s = 0; s < 5; s++) {
            const int64_t *shape = shapes[s];

            for (int mode = 0; mode < 4; mode++)
                check_softmax(mode & 1, dtypes[d], shape[0], shape[1], shape[2],
                              mode == 3 ? -2.5 : 1, mode & 2 ? length : NULL);
        }
    }
    mxl_thread_set_count(before);
}

TEST(softmax_edges)
{
    float big[3] = {1000, 1001, 999}, inf[3] = {-INFINITY, -INFINITY, -INFINITY}, y[3];
    float nan[3] = {1, NAN, 2}, some[3] = {-INFINITY, 0, 0};

    CHECK_INT(mxl_softmax(false, MXL_F32, 1, 3, 1, 1, NULL, big, y), 0);
    CHECK_NEAR(y[0], 0.24472847, 1e-6);
    CHECK_INT(mxl_softmax(true, MXL_F32, 1, 3, 1, 1, NULL, big, big), 0); /* in place */
    CHECK_NEAR(big[0], -1.40760596, 1e-6);
    CHECK_INT(mxl_softmax(false, MXL_F32, 1, 3, 1, 1, NULL, inf, y), 0);
    CHECK(isnan(y[0]) && isnan(y[2]));
    CHECK_INT(mxl_softmax(false, MXL_F32, 1, 3, 1, 1, NULL, nan, y), 0);
    CHECK(isnan(y[0]) && isnan(y[1]) && isnan(y[2]));
    CHECK_INT(mxl_softmax(false, MXL_F32, 1, 3, 1, 1, NULL, some, y), 0);
    CHECK(y[0] == 0 && y[1] == 0.5f);
    CHECK_INT(mxl_softmax(false, MXL_I32, 1, 3, 1, 1, NULL, y, y), -1);
    CHECK_HAS(mxl_error_text(), "dtype int32 is not supported");
}

HARNESS_MAIN(ENTRY(indices), ENTRY(take), ENTRY(scatter_add), ENTRY(pick), ENTRY(one_hot),
             ENTRY(softmax), ENTRY(softmax_edges))
