/* Matrix products of all shapes, orders and dtypes against the plain triple loop. */
#include <math.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/thread.h"
#include "harness.h"
#include "kernel/cast.h"
#include "kernel/gemm.h"

enum { ROOM = 1 << 20 };

static double da[ROOM], db[ROOM], dc[ROOM], want[ROOM], got[ROOM];
static char a[ROOM * 8], b[ROOM * 8], c[2][ROOM * 8];

static void cast(int from, int to, void *out, const void *in)
{
    int64_t step = 1;

    mxl_cast_row(from, to)(out, &in, &step, ROOM, NULL);
}

/* Integers in [-8, 8]: exact in every dtype, so that any order of additions gives the same. */
static void refill(uint64_t *seed, int dtype)
{
    for (int i = 0; i < ROOM; i++) {
        da[i] = (double)(harness_random(seed) % 17) - 8;
        db[i] = (double)(harness_random(seed) % 17) - 8;
        dc[i] = (double)(i % 9);
    }
    cast(MXL_F64, dtype, a, da);
    cast(MXL_F64, dtype, b, db);
}

static void check(int dtype, int64_t m, int64_t n, int64_t k)
{
    static const int pads[] = {0, 3};

    for (int mode = 0; mode < 8; mode++) {
        bool ta = mode & 1, tb = mode & 2, add = mode & 4;
        int64_t pad = pads[mode == 1 || mode == 6];
        int64_t lda = (ta ? m : k) + pad, ldb = (tb ? k : n) + pad, ldc = n + pad;
        int64_t wrong = 0;

        memcpy(want, dc, sizeof(dc));
        for (int64_t i = 0; i < m; i++) {
            for (int64_t j = 0; j < n; j++) {
                double sum = add ? want[i * ldc + j] : 0;

                for (int64_t p = 0; p < k; p++)
                    sum += (ta ? da[p * lda + i] : da[i * lda + p]) *
                           (tb ? db[j * ldb + p] : db[p * ldb + j]);
                want[i * ldc + j] = sum;
            }
        }
        for (int threads = 1; threads <= 2; threads++) {
            mxl_thread_set_count(threads);
            cast(MXL_F64, dtype, c[threads - 1], dc);
            CHECK_INT(mxl_gemm(dtype, ta, tb, m, n, k, a, lda, b, ldb, c[threads - 1], ldc, add),
                      0);
        }
        mxl_thread_set_count(0);
        CHECK(memcmp(c[0], c[1], sizeof(c[0])) == 0);
        cast(dtype, MXL_F64, got, c[0]);
        for (int64_t i = 0; i < ROOM; i++)
            wrong += got[i] != want[i];
        CHECK_INT(wrong, 0);
    }
}

TEST(shapes)
{
    static const int64_t shapes[][3] = {{1, 1, 1},   {4, 4, 4},     {3, 5, 7},    {16, 16, 16},
                                        {1, 40, 33}, {40, 1, 33},   {17, 18, 19}, {12, 32, 5},
                                        {2, 70, 9},  {70, 2, 300},  {1, 1, 700},  {600, 1, 40},
                                        {1, 700, 5}, {100, 130, 60}};
    static const int dtypes[] = {MXL_F32, MXL_F64, MXL_I32, MXL_I64, MXL_F16};
    uint64_t seed = 3;

    for (int d = 0; d < 5; d++) {
        refill(&seed, dtypes[d]);
        /* float16 holds integers up to 2048 exactly */
        for (size_t s = 0; s < (dtypes[d] == MXL_F16 ? 4 : sizeof(shapes) / sizeof(*shapes)); s++)
            check(dtypes[d], shapes[s][0], shapes[s][1], shapes[s][2]);
    }
}

TEST(several_blocks)
{
    uint64_t seed = 4;

    refill(&seed, MXL_F32);
    check(MXL_F32, 5, 1100, 600);
    check(MXL_F32, 1000, 35, 270);
    refill(&seed, MXL_F64);
    check(MXL_F64, 1000, 20, 300);
}

TEST(empty_and_refused)
{
    float x[4] = {1, 2, 3, 4}, y[4] = {5, 5, 5, 5};

    CHECK_INT(mxl_gemm(MXL_F32, false, false, 2, 2, 0, x, 0, x, 2, y, 2, true), 0);
    CHECK(y[0] == 5 && y[3] == 5);
    CHECK_INT(mxl_gemm(MXL_F32, false, false, 2, 2, 0, x, 0, x, 2, y, 2, false), 0);
    CHECK(y[0] == 0 && y[3] == 0);
    CHECK_INT(mxl_gemm(MXL_F32, false, false, 0, 2, 2, x, 2, x, 2, y, 2, false), 0);
    CHECK_INT(mxl_gemm(MXL_U8, false, false, 2, 2, 2, x, 2, x, 2, y, 2, false), -1);
    CHECK_HAS(mxl_error_text(), "dtype uint8 is not supported");
}

TEST(not_a_number)
{
    float x[4] = {NAN, 2, 3, 4}, y[4] = {0, 0, 0, 0}, z[4];

    CHECK_INT(mxl_gemm(MXL_F32, false, false, 2, 2, 2, x, 2, y, 2, z, 2, false), 0);
    CHECK(isnan(z[0]) && isnan(z[1]) && z[2] == 0);
}

HARNESS_MAIN(ENTRY(shapes), ENTRY(several_blocks), ENTRY(empty_and_refused), ENTRY(not_a_number))
