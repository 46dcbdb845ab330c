/* Matrix products of all shapes, orders and dtypes against the plain triple loop. */
#include <math.h>

#include "backend/openblas.h"
#include "base/dtype.h"
#include "base/error.h"
#include "base/thread.h"
#include "harness.h"
#include "kernel/copy/cast.h"
#include "kernel/gemm/gemm.h"
#include "kernel/target.h"

enum {
    ROOM = 1 << 20,
    BEYOND = 4096 /* elements behind a result, in which nothing may be written */
};

static double da[ROOM], db[ROOM], dc[ROOM], want[ROOM], got[ROOM];
static char a[ROOM * 8], b[ROOM * 8], c[3][ROOM * 8];

static void cast(int from, int to, void *out, const void *in, int64_t count)
{
    int64_t step = 1;

    mxl_cast_loop(from, to)(out, &in, &step, count, NULL);
}

/* Integers in [-8, 8]: exact in every dtype, so that any order of additions gives the same. */
static void refill(uint64_t *seed, int dtype)
{
    for (int i = 0; i < ROOM; i++) {
        da[i] = (double)(harness_random(seed) % 17) - 8;
        db[i] = (double)(harness_random(seed) % 17) - 8;
        dc[i] = (double)(i % 9);
    }
    cast(MXL_F64, dtype, a, da, ROOM);
    cast(MXL_F64, dtype, b, db, ROOM);
}

static void check(int dtype, int64_t m, int64_t n, int64_t k)
{
    static const int pads[] = {0, 3};

    for (int mode = 0; mode < 8; mode++) {
        bool ta = mode & 1, tb = mode & 2, add = mode & 4;
        int64_t pad = pads[mode == 1 || mode == 6];
        int64_t lda = (ta ? m : k) + pad, ldb = (tb ? k : n) + pad, ldc = n + pad;
        int64_t used = m * ldc + BEYOND, wrong = 0;
        size_t bytes = (size_t)used * mxl_dtype_size(dtype);

        memcpy(want, dc, (size_t)used * sizeof(*dc));
        for (int64_t i = 0; i < m; i++) {
            for (int64_t j = 0; j < n; j++) {
                double sum = add ? want[i * ldc + j] : 0;

                for (int64_t p = 0; p < k; p++)
                    sum += (ta ? da[p * lda + i] : da[i * lda + p]) *
                           (tb ? db[j * ldb + p] : db[p * ldb + j]);
                want[i * ldc + j] = sum;
            }
        }
        for (int threads = 1; threads <= 3; threads++) {
            mxl_thread_set_count(threads);
            cast(MXL_F64, dtype, c[threads - 1], dc, used);
            CHECK_INT(mxl_gemm(dtype, ta, tb, m, n, k, a, lda, b, ldb, c[threads - 1], ldc, add),
                      0);
        }
        mxl_thread_set_count(0);
        CHECK(memcmp(c[0], c[1], bytes) == 0);
        CHECK(memcmp(c[0], c[2], bytes) == 0);
        cast(dtype, MXL_F64, got, c[0], used);
        for (int64_t i = 0; i < used; i++)
            wrong += got[i] != want[i];
        CHECK_INT(wrong, 0);
    }
}

/* Every way through the kernels, and the borders of tiles, strips, units and blocks. */
TEST(shapes)
{
    static const int64_t shapes[][3] = {
        {1, 1, 1},    {4, 4, 4},     {3, 5, 7},    {16, 16, 16},  {1, 40, 33},    {40, 1, 33},
        {17, 18, 19}, {12, 32, 5},   {2, 70, 9},   {70, 2, 300},  {1, 1, 700},    {600, 1, 40},
        {1, 700, 5},  {33, 47, 2},   {31, 64, 1},  {5, 3, 1},     {100, 130, 60}, {24, 96, 3},
        {13, 33, 17}, {64, 10, 100}, {8, 300, 40}, {25, 17, 260}, {6, 260, 130},  {97, 70, 150}};
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
    check(MXL_F32, 5, 3100, 40);
    check(MXL_F32, 500, 35, 1030);
    check(MXL_F32, 7, 500, 2050);
    check(MXL_F32, 61, 270, 1030); /* strips packed as they are needed, twice */
    check(MXL_F32, 29, 1024, 140); /* rows of B that clash */
    refill(&seed, MXL_F64);
    check(MXL_F64, 300, 20, 1100);
    check(MXL_F64, 1, 5000, 9);
}

TEST(at_every_level)
{
    int before = mxl_level();
    uint64_t seed = 6;

    for (int level = 0; level < MXL_LEVELS; level++) {
        if (mxl_level_set(level) != 0)
            continue;
        for (int dtype = MXL_F32; dtype <= MXL_F64; dtype++) {
            refill(&seed, dtype);
            check(dtype, 29, 45, 70);
            check(dtype, 2, 130, 33);
            check(dtype, 1, 77, 50);
            check(dtype, 40, 30, 2);
        }
    }
    CHECK_INT(mxl_level_set(before), 0);
}

/* Sums that are rounded: their bits do not depend on the number of threads either (OpenBLAS's do).
 */
TEST(bits)
{
    static const int64_t shapes[][3] = {{200, 210, 220}, {1, 5000, 70}, {5000, 1, 70},
                                        {9, 300, 500},   {64, 64, 900}, {70, 10, 600},
                                        {700, 3, 200},   {500, 600, 2}, {61, 700, 300}};

    CHECK_INT(mxl_openblas_set(NULL), 0);
    for (int dtype = MXL_F32; dtype <= MXL_F64; dtype++) {
        for (int i = 0; i < ROOM; i++)
            da[i] = db[i] = 1.0 / (1 + i % 1237);
        cast(MXL_F64, dtype, a, da, ROOM);
        cast(MXL_F64, dtype, b, db, ROOM);
        for (size_t s = 0; s < 4 * sizeof(shapes) / sizeof(*shapes); s++) {
            const int64_t *shape = shapes[s / 4], m = shape[0], n = shape[1], k = shape[2];
            bool ta = s & 1, tb = s & 2;
            size_t bytes = (size_t)(m * n) * mxl_dtype_size(dtype);

            for (int threads = 1; threads <= 3; threads++) {
                mxl_thread_set_count(threads);
                CHECK_INT(mxl_gemm(dtype, ta, tb, m, n, k, a, ta ? m : k, b, tb ? k : n,
                                   c[threads - 1], n, false),
                          0);
            }
            mxl_thread_set_count(0);
            CHECK(memcmp(c[0], c[1], bytes) == 0);
            CHECK(memcmp(c[0], c[2], bytes) == 0);
        }
    }
}

/* Many products, each with the bias of all; more of them than threads, and fewer. */
TEST(many)
{
    static const int64_t shapes[][3] = {
        {3, 4, 5}, {1, 9, 20}, {9, 1, 20}, {30, 40, 2}, {33, 37, 500}};
    uint64_t seed = 7;

    for (int dtype = MXL_F32; dtype <= MXL_F64; dtype++) {
        refill(&seed, dtype);
        for (int i = 0; i < 20; i++) {
            const int64_t *shape = shapes[i / 4], m = shape[0], n = shape[1], k = shape[2];
            mxl_product p = {.dtype = dtype,
                             .tb = i & 1,
                             .count = i & 2 ? 1 : 5,
                             .m = m,
                             .n = n,
                             .k = k,
                             .a = a,
                             .b = b,
                             .c = c[0],
                             .lda = k,
                             .ldb = i & 1 ? k : n,
                             .ldc = n,
                             .a_next = m * k + 1,
                             .b_next = n * k + 2,
                             .c_next = m * n + 3,
                             .bias = b};
            int64_t wrong = 0;

            CHECK_INT(mxl_products(&p), 0);
            cast(dtype, MXL_F64, got, c[0], ROOM);
            for (int64_t at = 0; at < p.count * m * n; at++) {
                int64_t one = at / (m * n), row = at / n % m, column = at % n;
                double sum = db[column];

                for (int64_t q = 0; q < k; q++)
                    sum += da[one * p.a_next + row * k + q] *
                           db[one * p.b_next + (p.tb ? column * k + q : q * n + column)];
                wrong += got[one * p.c_next + row * n + column] != sum;
            }
            CHECK_INT(wrong, 0);
        }
    }
}

TEST(empty_and_refused)
{
    float x[4] = {1, 2, 3, 4}, y[4] = {5, 5, 5, 5};
    mxl_product p = {
        .dtype = MXL_F32, .count = 1, .m = 2, .n = 2, .a = x, .b = x, .c = y, .ldc = 2};

    CHECK_INT(mxl_gemm(MXL_F32, false, false, 2, 2, 0, x, 0, x, 2, y, 2, true), 0);
    CHECK(y[0] == 5 && y[3] == 5);
    CHECK_INT(mxl_gemm(MXL_F32, false, false, 2, 2, 0, x, 0, x, 2, y, 2, false), 0);
    CHECK(y[0] == 0 && y[3] == 0);
    CHECK_INT(mxl_gemm(MXL_F32, false, false, 0, 2, 2, x, 2, x, 2, y, 2, false), 0);
    CHECK_INT(mxl_gemm(MXL_U8, false, false, 2, 2, 2, x, 2, x, 2, y, 2, false), -1);
    CHECK_HAS(mxl_error_text(), "dtype uint8 is not supported");
    p.bias = x + 2;
    CHECK_INT(mxl_products(&p), 0);
    CHECK(y[0] == 3 && y[1] == 4 && y[2] == 3 && y[3] == 4);
    p.dtype = MXL_I32;
    CHECK_INT(mxl_products(&p), -1);
    CHECK_HAS(mxl_error_text(), "bias of dtype int32");
    p.dtype = MXL_F32;
    p.count = 0;
    y[0] = 9;
    CHECK_INT(mxl_products(&p), 0);
    CHECK(y[0] == 9);
}

/* 0 times NaN or an infinity is NaN, whichever way is taken, and reaches its own row alone. */
TEST(not_a_number)
{
    static const int64_t shapes[][3] = {{2, 2, 2},  {1, 40, 5},  {40, 1, 5},   {3, 50, 70},
                                        {50, 3, 7}, {20, 30, 2}, {30, 50, 100}};
    static float x[1 << 14], y[1 << 14], z[1 << 14];

    for (size_t s = 0; s < 8 * sizeof(shapes) / sizeof(*shapes); s++) {
        const int64_t *shape = shapes[s / 8], m = shape[0], n = shape[1], k = shape[2];
        bool ta = s & 1, tb = s & 2;
        int64_t wrong = 0;

        memset(x, 0, sizeof(x));
        memset(y, 0, sizeof(y));
        x[ta ? (k - 1) * m : k - 1] = s & 4 ? NAN : INFINITY;
        CHECK_INT(mxl_gemm(MXL_F32, ta, tb, m, n, k, x, ta ? m : k, y, tb ? k : n, z, n, false), 0);
        for (int64_t i = 0; i < m * n; i++)
            wrong += i < n ? !isnan(z[i]) : z[i] != 0;
        CHECK_INT(wrong, 0);
    }
}

/* A packed B gives the bits of tiles, in blocks of every kind, for any number of rows and threads.
 */
static void check_packed(int dtype, bool tb, int64_t n, int64_t k)
{
    mxl_gemm_packed *packed = mxl_gemm_pack(dtype, tb, n, k, b, tb ? k : n);
    size_t width = mxl_dtype_size(dtype);

    CHECK(packed != NULL);
    for (int64_t m = 1; m <= 35; m += 17) {
        mxl_product p = {.dtype = dtype,
                         .tb = tb,
                         .count = 1,
                         .m = m,
                         .n = n,
                         .k = k,
                         .a = a,
                         .b = b,
                         .c = c[0],
                         .lda = k,
                         .ldb = tb ? k : n,
                         .ldc = n};

        mxl_thread_set_count(1);
        CHECK_INT(mxl_products(&p), 0);
        p.packed = packed;
        p.back = m % 2 != 0;
        p.b = NULL;
        for (int threads = 1; threads <= 2; threads++) {
            mxl_thread_set_count(threads);
            p.c = c[threads];
            p.accumulate = false;
            CHECK_INT(mxl_products(&p), 0);
            CHECK(memcmp(c[0], c[threads], (size_t)(m * n) * width) == 0);
        }
    }
    mxl_thread_set_count(0);
    mxl_gemm_unpack(packed);
}

TEST(packed_once)
{
    static const int64_t sizes[][2] = {{1, 1}, {3, 5}, {33, 7}, {100, 130}, {70, 2100}, {3100, 40}};
    uint64_t seed = 5;

    for (int dtype = MXL_F32; dtype <= MXL_F64; dtype++) {
        refill(&seed, dtype);
        for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
            check_packed(dtype, false, sizes[s][0], sizes[s][1]);
            check_packed(dtype, true, sizes[s][0], sizes[s][1]);
        }
    }
    mxl_gemm_unpack(NULL);
}

/* ---- tails ---- */

typedef struct seen {
    int dtype;
    int64_t n, ldc;
    _Atomic int times[ROOM];
} seen;

/* Counts each element, and adds 1 to it. */
static void add_one(const void *context, void *from, int64_t row, int64_t rows, int64_t column,
                    int64_t columns)
{
    seen *s = (seen *)(uintptr_t)context;

    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            s->times[(row + i) * s->n + column + j]++;
            if (s->dtype == MXL_F32)
                ((float *)from)[i * s->ldc + j] += 1;
            else if (s->dtype == MXL_F64)
                ((double *)from)[i * s->ldc + j] += 1;
        }
    }
}

/* A tail sees each complete element once, whatever way a product takes. */
TEST(tails)
{
    static const int64_t sizes[][3] = {{1, 1, 1},     {4, 7, 3},      {1, 100, 40},   {300, 1, 50},
                                       {3, 200, 900}, {40, 70, 2100}, {50, 3100, 20}, {200, 90, 1},
                                       {70, 65, 0},   {300, 400, 30}, {20, 30, 40}};
    static seen s;
    uint64_t seed = 8;

    for (int dtype = MXL_F32; dtype <= MXL_F16; dtype++) {
        refill(&seed, dtype);
        for (int i = 0; i < 44; i++) {
            int64_t m = sizes[i / 4][0], n = sizes[i / 4][1], k = sizes[i / 4][2], wrong = 0;
            mxl_product_tail tail = {add_one, &s};
            mxl_gemm_packed *packed = NULL;
            mxl_product p = {.dtype = dtype,
                             .tb = true,
                             .count = 1,
                             .m = m,
                             .n = n,
                             .k = k,
                             .alone = i % 4 == 3,
                             .a = a,
                             .b = b,
                             .c = c[0],
                             .lda = k,
                             .ldb = k,
                             .ldc = n + 2,
                             .bias = i % 4 == 2 ? b : NULL};

            CHECK_INT(mxl_products(&p), 0);
            cast(dtype, MXL_F64, want, c[0], m * (n + 2));
            if (i % 4 == 1 && dtype != MXL_F16 && k > 0)
                p.packed = packed = mxl_gemm_pack(dtype, true, n, k, b, k);
            memset(&s, 0, sizeof(s));
            s.dtype = dtype;
            s.n = n;
            s.ldc = n + 2;
            p.tail = &tail;
            mxl_thread_set_count(1 + i % 3);
            CHECK_INT(mxl_products(&p), 0);
            mxl_thread_set_count(0);
            mxl_gemm_unpack(packed);
            cast(dtype, MXL_F64, got, c[0], m * (n + 2));
            for (int64_t e = 0; e < m * n; e++)
                wrong += s.times[e] != 1 || got[e / n * (n + 2) + e % n] !=
                                                want[e / n * (n + 2) + e % n] + (dtype != MXL_F16);
            CHECK_INT(wrong, 0);
        }
    }
}

HARNESS_MAIN(ENTRY(shapes), ENTRY(several_blocks), ENTRY(at_every_level), ENTRY(bits), ENTRY(many),
             ENTRY(empty_and_refused), ENTRY(not_a_number), ENTRY(packed_once), ENTRY(tails))
